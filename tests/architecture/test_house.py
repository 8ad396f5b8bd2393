"""The habits of the house, checked."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from fairtrial import __main__ as command
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
SOURCES = sorted(p for p in (ROOT / "workflow" / "fairtrial").rglob("*.py") if "_data" not in p.parts)
TESTS = sorted(p for p in (ROOT / "tests").rglob("*.py") if "data" not in p.parts)
SAFE = {
    "rerun-triggers": ["mtime", "params"],
    "ignore-incomplete": True,
    "nolock": True,
    "keep-going": True,
    "scheduler": "greedy",
    "scheduler-subsample": 64,
}


def tracked(pattern: str = "") -> list[Path]:
    """Tracked files whose name ends so."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if name.endswith(pattern) and (ROOT / name).is_file()]


@pytest.mark.parametrize("path", RULES, ids=lambda p: p.name)
def test_rules_are_thin(path: Path) -> None:
    """One shell line calling the CLI, with a log and a conda environment; no run:, no script:, no function."""
    text = path.read_text()
    assert not re.search(r"^\s+(run|script|notebook):", text, re.MULTILINE)
    assert not re.search(r"^\s*(def|lambda) ", text, re.MULTILINE)
    for directive in ("log:", "conda:", "shell:", "# INPUTS", "# OUTPUTS"):
        assert directive in text


@pytest.mark.parametrize("name", ["attempt", "grade"])
def test_what_costs_money_depends_on_no_time_and_no_parameter(name: str) -> None:
    """attempt and grade have ancient inputs only and no params."""
    text = (ROOT / "workflow" / "rules" / f"{name}.smk").read_text()
    assert "params:" not in text
    inputs = text.split("input:")[1].split("output:")[0].split()
    assert all(word.startswith(("PLAN.before_", "sealed=ancient(", "ancient(")) for word in inputs)


def test_profiles_hold_the_safe_keys() -> None:
    """The default profile and every shipped one."""
    profiles = [ROOT / "profiles" / "default", *(ROOT / "workflow" / "profiles").glob("*")]
    for folder in profiles:
        keys = yaml.safe_load((folder / "config.yaml").read_text())
        assert {key: keys.get(key) for key in SAFE} == SAFE, folder.name
        assert "rerun-incomplete" not in keys


def test_the_conda_environment_has_the_pins_of_pyproject() -> None:
    """environment.yml is what `make environment.yml` makes."""
    spec = importlib.util.spec_from_file_location("environment_yml", ROOT / ".ci" / "environment_yml.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.environment(ROOT / "pyproject.toml") == (ROOT / "environment.yml").read_text()


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_are_small(path: Path) -> None:
    """Files have at most 300 lines, functions at most 40."""
    text = path.read_text()
    assert text.count("\n") <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 40, f"{node.name} has more than 40 lines"


SCHEMAS = sorted((ROOT / "schemas").rglob("*.schema.json"))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda p: str(p.relative_to(ROOT / "schemas")))
def test_schemas_are_schemas_and_refuse_unknown_keys(path: Path) -> None:
    """Each is valid JSON Schema 2020-12, named by its path, and closed at the top."""
    schema = json.loads(path.read_bytes())
    Draft202012Validator.check_schema(schema)
    name = str(path.relative_to(ROOT / "schemas")).removesuffix(".schema.json")
    assert schema["$id"] == f"fairtrial/{name}"
    assert schema.get("additionalProperties", False) is False or isinstance(schema["additionalProperties"], dict)


def test_every_verb_explains_itself() -> None:
    """A file in cli/ is a verb: one line of help and its options."""
    for verb in command.verbs():
        module = command.module(verb)
        assert module.HELP
        assert "\n" not in module.HELP
        command.parser_of(verb)


def test_the_repository_speaks_of_itself_alone() -> None:
    """No path of a machine, no host of a package registry, no secret in a tracked text file."""
    forbidden = re.compile(
        r"/(root|home/(?!agent\b)\w+)/\.(pyenv|cache|cargo)|/work/(main|shared|team)\b|https?://(registry\.|files\.python|[a-z.]*debian\.)"
        r"|\bsk-ant-[A-Za-z0-9]{8}"
    )
    for path in tracked():
        if path == Path(__file__) or path.suffix in (".png", ".bin"):
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        found = forbidden.search(text)
        assert found is None, f"{path.relative_to(ROOT)}: {found and found[0]}"


def test_nothing_is_a_stub() -> None:
    """No NotImplementedError, no to-do, no switched-off test."""
    marks = re.compile(r"NotImplementedError|\bTODO\b|\bFIXME\b|pytest\.mark\.xfail|assert True\b")
    for path in [*tracked(".py"), *tracked(".smk")]:
        if path != Path(__file__) and ROOT / "tasks" not in path.parents:  # a task's product may hold anything
            assert not marks.search(path.read_text(encoding="utf-8")), path
