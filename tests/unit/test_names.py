"""Names become folders: each has its own, or is refused before anything is planned (O18)."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.plan import config
from fairtrial.plan.matrix import Matrix, expand

from tests.lab import CHECKOUT, Lab, make_task

ODD = [
    "task 01 \u2014 na\u00efve", "A_B", "{x}", "-rf", "..x y", "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9"),
    "it's #1", "$(id)", "a:b", "a\nb", "new\n", "x" * 240,
]  # fmt: skip
IDS = ["vendor/model-v1.0:free", "vendor_model-v1.0_free", "prov/sub/model@2026-01-01", "--help", "..", "<b>'\"`{x}$"]


def planned(lab: Lab) -> Matrix:
    """What the configuration on disk expands to."""
    lab.write()
    raw = json.loads((lab.folder / "config.yaml").read_text())
    return expand(config.load(raw, CHECKOUT, lab.folder))


@pytest.mark.parametrize("what", ["harness", "model", "task", "suite", "experiment"])
@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_an_odd_name_is_refused_with_the_name(tmp_path: Path, what: str, name: str) -> None:
    """Blanks, quotes, braces, capitals, accents in two spellings, newlines at the end: one message, no folder."""
    lab = Lab(tmp_path, tasks=["one"])
    try:
        if what == "harness":
            lab.harnesses[name], lab.config["harnesses"] = {"adapter": "noop"}, [name]
        elif what == "model":
            lab.models[name], lab.config["models"] = {"id": "x"}, [name]
        elif what == "task":
            make_task(tmp_path / "suites" / "tiny", name)
        elif what == "suite":
            (tmp_path / "suites" / "tiny").rename(tmp_path / "suites" / name)
            lab.config["tasks"] = ["one"]
        else:
            lab.config["name"] = name
    except OSError:
        return  # this disk itself refuses it
    with pytest.raises(UserError) as said:
        planned(lab)
    assert name[:60] in str(said.value) or repr(name)[1:60] in str(said.value)


def test_names_at_their_limit_and_beyond(tmp_path: Path) -> None:
    """Sixty-four characters each are fine as far as the whole path is; past that the message says what to shorten."""
    long = {key: (key + "-" + "0123456789abcdefghijklmnopqrstuvwxyz" * 2)[:64] for key in ("h", "m", "t")}
    lab = Lab(tmp_path, tasks=["one"])
    lab.harnesses[long["h"]], lab.config["harnesses"] = {"adapter": "noop"}, [long["h"]]
    assert planned(lab).cells[0].attempt_id(1).split("/")[2] == long["h"]
    lab.models[long["m"]], lab.config["models"] = {"id": "x"}, [long["m"]]
    make_task(tmp_path / "suites" / "tiny", long["t"])
    with pytest.raises(UserError, match="longer than 200 characters; give the task, harness or model a shorter name"):
        planned(lab)


@pytest.mark.parametrize("what", ["harness", "model", "task", "suite"])
@pytest.mark.parametrize("name", ["x" * 20, "a-" + "01" * 25])
def test_a_name_that_snakemake_takes_for_a_recursion_is_refused(tmp_path: Path, what: str, name: str) -> None:
    """Twenty equal parts at the end: one line with the name; nineteen are fine."""
    lab = Lab(tmp_path, tasks=["one"])
    if what == "harness":
        lab.harnesses[name], lab.config["harnesses"] = {"adapter": "noop"}, [name]
    elif what == "model":
        lab.models[name], lab.config["models"] = {"id": "x"}, [name]
    elif what == "task":
        make_task(tmp_path / "suites" / "tiny", name)
    else:
        (tmp_path / "suites" / "tiny").rename(tmp_path / "suites" / name)
        lab.config["tasks"] = ["one"]
    with pytest.raises(UserError, match=f"{what} '{name}': ends in .* 20 times or more, which Snakemake refuses"):
        planned(lab)


def test_a_name_of_nineteen_equal_parts_is_a_name(tmp_path: Path) -> None:
    """Snakemake plans it."""
    lab = Lab(tmp_path, tasks=["one"], config={"repetitions": 1})
    lab.models["m" * 19], lab.config["models"] = {"id": "x"}, ["m" * 19]
    lab.write()
    assert lab.planned()["attempt"] == 1


def test_any_id_of_a_provider_is_a_cell_of_its_own(tmp_path: Path) -> None:
    """Ids that would be the same folder name are different recipes below slugs; the id stays as it was typed."""
    models: dict[str, Any] = {f"m{n}": {"id": text} for n, text in enumerate(IDS)}
    lab = Lab(tmp_path, tasks=["one"], config={"models": list(models)}, models=models)
    cells = planned(lab).cells
    assert [cell.row["model_id"] for cell in cells] == IDS
    assert len({cell.row["recipe"] for cell in cells}) == len(IDS)


@pytest.mark.parametrize("text", ["", "a\0b", "a\nb", "x" * 201])
def test_an_id_that_no_program_can_be_given_is_refused(tmp_path: Path, text: str) -> None:
    """Empty, with a NUL or a newline, or endless: named with its model."""
    lab = Lab(tmp_path, tasks=["one"], config={"models": ["m"]}, models={"m": {"id": text}})
    with pytest.raises(UserError, match=r"models.yaml: m.id: "):
        planned(lab)


def test_two_entries_of_one_adapter_are_two_arms(tmp_path: Path) -> None:
    """The same program under two names, also with equal options, shares no attempt."""
    same = {"adapter": "command", "free": True, "options": {"template": ["true"], "output": "none"}}
    lab = Lab(tmp_path, tasks=["one"], config={"harnesses": ["a", "b"]}, harnesses={"a": same, "b": same})
    ids = {cell.attempt_id(1) for cell in planned(lab).cells}
    assert len(ids) == 2
