"""`fairtrial dataset`, `scorecard`, `report` and `export` as commands: mistakes are one line and 2, files are whole."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fairtrial.__main__ import main
from fairtrial.contracts import records

from tests import fabricate

VERBS = ("dataset", "scorecard", "report", "export")
STAGES = VERBS[:3]
FILES = {
    "dataset": ("attempts", "checks", "commands", "tool_calls", "requests", "faults"),
    "scorecard": ("scorecard.parquet", "scorecard.csv", "scorecard.json", "comparisons.json"),
    "report": ("index.html", "report.md", "report.json", "summary.txt"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight attempts of two arms with tables, scorecard and report; copied by tests that change it."""
    root = tmp_path_factory.mktemp("made") / "results"
    fabricate.tree(root, tasks=2, repetitions=2, arms=fabricate.ARMS_3X2[:2])
    for verb in STAGES:
        assert main([verb, "--results", str(root)]) == 0
    return root


@pytest.fixture
def results(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to damage, seen from a folder without a configuration."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path / "results")
    return tmp_path / "results"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a refused command says: exit code 2, one line, nothing on stdout."""
    capsys.readouterr()
    try:
        code = main(list(arguments))
    except SystemExit as left:  # argparse: usage above its line
        return f"{left.code} {capsys.readouterr().err.splitlines()[-1]}"
    said = capsys.readouterr()
    assert said.out == ""
    assert all(line.startswith(("fairtrial: ", "results/")) for line in said.err.splitlines()), said.err
    return f"{code} {said.err}"


@pytest.mark.parametrize("verb", STAGES)
def test_each_stage_writes_its_files(results: Path, capsys: pytest.CaptureFixture[str], verb: str) -> None:
    """Deleted files come back with the bytes they had, and the command says where."""
    folder = results / "default" / verb
    names = [name if "." in name else f"{name}.parquet" for name in FILES[verb]]
    before = {name: (folder / name).read_bytes() for name in names if name != "report.json"}
    shutil.rmtree(folder)
    capsys.readouterr()
    assert main([verb]) == 0
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert "default" in capsys.readouterr().out


def test_exports_are_written_where_one_says(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each format writes below --out, and below the experiment without it."""
    for name, file in (("junit", "*.xml"), ("predictions", "*.jsonl"), ("trajectory", "**/*.json"),
                       ("evidence", "evidence.tar.gz")):  # fmt: skip
        assert main(["export", name, "--out", f"out-{name}"]) == 0
        assert list(Path(f"out-{name}").glob(file)), name
    assert main(["export", "junit"]) == 0
    assert list((results / "default" / "export" / "junit").glob("*.xml"))
    assert "junit" in capsys.readouterr().out


def test_chosen_attempts_need_no_experiment(results: Path) -> None:
    """report and export take attempts one by one; tables, scorecard and report of them stand below --out."""
    chosen = ",".join(str(path.parent) for path in sorted(results.glob("attempts/*/*/*/*/*/r*/sealed"))[:3])
    assert main(["report", "--attempts", chosen, "--out", "few", "--k", "1", "2"]) == 0
    assert json.loads(Path("few/report/report.json").read_bytes())["attempts"]["planned"] == 3
    assert json.loads(Path("few/scorecard/scorecard.json").read_bytes())["k"] == [1, 2]
    assert main(["export", "predictions", "--attempts", chosen, "--out", "lines"]) == 0
    assert sum(len(path.read_text().splitlines()) for path in Path("lines").glob("*.jsonl")) == 3


@pytest.mark.parametrize("verb", VERBS)
def test_a_missing_experiment_names_those_there_are(
    results: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    """Another name, an empty folder and no folder at all: the path, and what is there instead."""
    assert results.is_dir()
    call = ["export", "junit"] if verb == "export" else [verb]
    said = refused(capsys, *call, "--name", "secnod")
    assert said.startswith("2 ")
    assert "secnod/matrix.json: no such file; planned experiments: default" in said
    assert "planned experiments: none" in refused(capsys, *call, "--results", "nowhere")
    assert "../up" in refused(capsys, *call, "--name", "../up")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "default"}', "\x00\xff"])
def test_a_matrix_that_is_none_is_named(
    results: Path, capsys: pytest.CaptureFixture[str], verb: str, content: str
) -> None:
    """A foreign or torn matrix.json is one line with its path."""
    (results / "default" / "matrix.json").write_text(content)
    call = ["export", "junit"] if verb == "export" else [verb]
    assert "default/matrix.json" in refused(capsys, *call)


@pytest.mark.parametrize(("verb", "file", "content"), [
    ("scorecard", "dataset/attempts.parquet", "not a table"),
    ("scorecard", "dataset/attempts.parquet", ""),
    ("report", "dataset/attempts.parquet", "not a table"),
    ("report", "dataset/faults.parquet", "PAR1"),
    ("report", "dataset/problems.json", "{"),
    ("report", "scorecard/scorecard.json", "{"),
    ("report", "scorecard/scorecard.json", "[]"),
    ("report", "scorecard/comparisons.json", "{"),
    ("export junit", "dataset/attempts.parquet", "not a table"),
    ("export predictions", "dataset/attempts.parquet", ""),
])  # fmt: skip
def test_a_foreign_file_is_named_with_the_remedy(
    results: Path, capsys: pytest.CaptureFixture[str], verb: str, file: str, content: str
) -> None:
    """What an earlier stage did not write is one line: the file, and the command that makes it anew."""
    (results / "default" / file).write_text(content)
    said = refused(capsys, *verb.split())
    assert f"default/{file}" in said
    assert "`fairtrial " in said


@pytest.mark.parametrize(("verb", "file"), [
    ("scorecard", "dataset/attempts.parquet"), ("report", "dataset/attempts.parquet"),
    ("report", "scorecard/scorecard.json"),
])  # fmt: skip
def test_a_missing_stage_is_named(results: Path, capsys: pytest.CaptureFixture[str], verb: str, file: str) -> None:
    """Without the files of the stage before: which one, and what makes it."""
    (results / "default" / file).unlink()
    made_by = f"fairtrial {file.partition('/')[0]} --name default"
    assert f"{file}: no such file; `{made_by}` makes it" in refused(capsys, verb)


@pytest.mark.parametrize(("arguments", "words"), [
    (["scorecard", "--k", "0"], "k is 1 or more"),
    (["scorecard", "--k", "two"], "invalid int value: 'two'"),
    (["report", "--k", "-1"], "k is 1 or more"),
    (["report", "--so-far", "--attempts", "a"], "not allowed with argument"),
    (["report", "--attempts", "results"], "--out DIR"),
    (["report", "--manifest", "nowhere.json", "--out", "o"], "nowhere.json"),
    (["report", "--attempts", "nowhere", "--out", "o"], "nowhere: no such folder"),
    (["export", "xml"], "'xml'"),
    (["export", "junit", "--attempts", "results"], "--out DIR"),
    (["export", "junit", "--manifest", "config.yaml", "--out", "o"], "config.yaml"),
    (["dataset", "--from", "nowhere"], "nowhere"),
    (["dataset", "--frm", "x"], "unrecognized arguments"),
])  # fmt: skip
def test_wrong_arguments_are_one_line(
    results: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    """What is wrong with which option, exit code 2, and nothing is written."""
    assert results.is_dir()
    Path("config.yaml").write_text("tasks: [tiny]\n")
    before = sorted(Path.cwd().rglob("*"))
    said = refused(capsys, *arguments)
    assert said.startswith("2 ")
    assert words in said
    assert sorted(Path.cwd().rglob("*")) == before


def test_without_a_name_every_verb_takes_the_experiment_that_ran_last(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All six agree, also when a merge came later or the last run's plan is gone; they say which one it was."""
    shutil.copytree(results / "default", results / "second")
    matrix = results / "second" / "matrix.json"
    matrix.write_bytes(matrix.read_bytes().replace(b'"name": "default"', b'"name": "second"'))
    arms = sorted({"/".join(path.parts[-4:-2]) for path in results.glob("attempts/*/*/*/*/*/r*")})
    calls = [["report"], ["dataset"], ["scorecard"], ["export", "junit"], ["status"],
             ["compare", *(arm.partition("/")[0] for arm in arms[:2]), "--k", "1"]]  # fmt: skip

    def taken(call: list[str]) -> str:
        capsys.readouterr()
        assert main(call) == 0, (call, capsys.readouterr().err)
        said = capsys.readouterr()
        return said.out.partition(":")[0] if call == ["status"] else said.err.partition("experiment ")[2].strip()

    def ran(name: str, at: str) -> None:
        records.dump(
            results / "invocations" / at / "start.json", {"attempt_id": f"experiment {name}", "started_at": at}
        )

    ran("default", "2026-01-01")
    ran("second", "2026-01-02")
    for call in calls:
        assert taken(call) == ("second" if call == ["status"] else "second; --name takes another: default"), call
    records.dump(results / "default" / "merged.json", {"matrix": "other"})
    assert taken(["status"]) == "default"
    shutil.rmtree(results / "second")
    ran("second", "2026-01-03")
    assert taken(["status"]) == "default" and taken(["report"]) == ""


def test_the_order_of_parts_changes_no_byte(tmp_path: Path) -> None:
    """Two shards, and two selections, given either way round: every table, the scorecard and the report are equal."""
    parts = []
    for arm in fabricate.ARMS_3X2[:2]:
        parts.append(tmp_path / arm.harness)
        fabricate.tree(parts[-1], tasks=5, repetitions=3, arms=(arm,), settings=fabricate.Settings(faults=0.1))
    for number, order in enumerate((parts, parts[::-1])):
        where = ["--results", str(tmp_path / f"merged-{number}")]
        assert main(["dataset", *[word for part in order for word in ("--from", str(part))], *where]) == 0
        assert main(["scorecard", *where]) == main(["report", *where]) == 0
        chosen = ",".join(map(str, order))
        assert main(["report", "--attempts", chosen, "--out", str(tmp_path / f"chosen-{number}")]) == 0
    for name in ("merged", "chosen"):
        one, other = ({str(p.relative_to(tmp_path / f"{name}-{n}")): p.read_bytes()
                       for p in (tmp_path / f"{name}-{n}").rglob("*") if p.is_file()} for n in (0, 1))  # fmt: skip
        ignored = {path for path in one if "shards/" in path or path.endswith("report.json")}
        assert one.keys() == other.keys()
        assert [path for path in one.keys() - ignored if one[path] != other[path]] == []
        assert len(one) > 20


def test_a_merge_imports_no_pandas(results: Path) -> None:
    """Importing pandas costs a quarter of a merge, so nothing on its way may do it; prices with steps included."""
    shutil.rmtree(results / "default" / "dataset")
    code = "import sys; from fairtrial.__main__ import main; main(['dataset']); sys.exit('pandas' in sys.modules)"
    models = {"m-large": {"id": "m", "price": {"input": 1, "output": 1, "date": "2026-01-01", "up_to": 200_000}}}
    Path("models.yaml").write_text(json.dumps(models))
    given = {"raw": {"models_file": "models.yaml"}, "basedir": "."}
    environment = {**os.environ, "FAIRTRIAL_CONFIG": json.dumps(given)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
