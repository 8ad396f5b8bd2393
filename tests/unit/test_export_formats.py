"""Exports in the formats of others: no fault becomes a failure, and no secret leaves."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import subprocess
import tarfile
import zipfile
import zlib
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
from fairtrial.analysis import dataset
from fairtrial.analysis.export import _secrets, evidence, junit, predictions, trajectory
from fairtrial.analysis.export._source import Source
from fairtrial.contracts.errors import UserError

from tests import fabricate

KEY = 'sk-test/+ "q"\\n-4f9a8b7c6d5e'
TOKEN = "gh" + "p_" + "Ab1" * 12  # in two parts, so that no scanner takes this file for a leak


@pytest.fixture
def source(tmp_path):
    """A small run with faults, attempts not run, excluded and unscored ones."""
    root = tmp_path / "results"
    settings = fabricate.Settings(faults=0.1, missing=0.1, excluded=0.1, unscored=0.1)
    matrix = fabricate.tree(root, tasks=4, repetitions=3, arms=fabricate.ARMS_3X2[:3], settings=settings)
    dataset.build(root, matrix, root / "default" / "dataset")
    return Source(root, matrix, root / "default" / "dataset", secrets={"MY_KEY": KEY})


def some_attempt(source):
    """The folder of an attempt with a result."""
    return source.folder(next(source.with_result()))


def test_junit_tells_agent_and_infrastructure_apart(source, tmp_path):
    """failure = the agent, error = the infrastructure, skipped = not run; the counts add up."""
    tree = ET.parse(junit.export(source, tmp_path / "out")[0]).getroot()
    wanted = {"failure": 0, "error": 0, "skipped": 0, None: 0}
    for row in source.rows:
        kind = {"fault": "error", "not_run": "skipped", "excluded": "skipped"}.get(row["status"])
        if row["status"] == "done":
            kind = "error" if not row["scored"] else None if row["outcome"] == "green" else "failure"
        wanted[kind] += 1
    cases = list(tree.iter("testcase"))
    assert len(cases) == len(source.rows) == int(tree.get("tests"))
    for kind in ("failure", "error", "skipped"):
        assert sum(case.find(kind) is not None for case in cases) == wanted[kind]
    assert {case.get("name") for case in cases} == {"r1", "r2", "r3"}
    assert int(tree.get("errors")) == wanted["error"]


def test_junit_carries_any_text():
    """Characters that XML cannot hold do not break the file."""
    text = junit.text("x\x1b\x00\ud800y")
    assert ET.fromstring(f"<a>{text}</a>").text == "x\ufffd\ufffd\ufffdy"


def test_predictions_leave_faults_out(source, tmp_path):
    """One file per arm and repetition, ids unique within it, and no line for an attempt without a result."""
    paths = predictions.export(source, tmp_path / "out")
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    assert len(lines) == sum(1 for _ in source.with_result())
    for path in paths:
        ids = [json.loads(line)["instance_id"] for line in path.read_text().splitlines()]
        assert len(ids) == len(set(ids))
    assert all(set(line) == {"instance_id", "model_name_or_path", "model_patch"} for line in lines)
    assert all(line["model_patch"].startswith("diff --git") for line in lines)


def test_trajectory_obeys_the_format(source, tmp_path):
    """Step ids count from 1, agent-only fields stand on agent steps, observations name a call of their own step."""
    path = trajectory.export(source, tmp_path / "out")[0]
    record = json.loads(path.read_text())
    allowed = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics",
               "continued_trajectory_ref", "extra", "subagent_trajectories"}  # fmt: skip
    step_keys = {"step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content",
                 "tool_calls", "observation", "metrics", "is_copied_context", "llm_call_count", "extra"}  # fmt: skip
    assert record["schema_version"] == "ATIF-v1.8"
    assert set(record) <= allowed
    assert [step["step_id"] for step in record["steps"]] == list(range(1, len(record["steps"]) + 1))
    for step in record["steps"]:
        assert set(step) <= step_keys
        calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
        assert step["source"] == "agent" or not calls
        for result in step.get("observation", {}).get("results", []):
            assert result["source_call_id"] in calls
            assert set(result) <= {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
    assert record["final_metrics"]["total_steps"] == len(record["steps"])
    assert record["extra"]["fairtrial"]["ending"]


def test_evidence_bundle_is_whole_and_reproducible(source, tmp_path):
    """Every file of every attempt with a result, with its digest; equal input, equal bytes."""
    first = evidence.export(source, tmp_path / "a")[0]
    second = evidence.export(source, tmp_path / "b")[0]
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as tar:
        names = set(tar.getnames())
    record = json.loads((tmp_path / "a" / "evidence.json").read_text())
    assert {f"evidence/{name}" for name in record["files"]} | {"evidence/matrix.json"} == names
    folder = some_attempt(source)
    assert f"evidence/attempts/{'/'.join(folder.parts[-6:])}/evidence.json" in names
    assert "evidence/dataset/attempts.parquet" in names


def spellings():
    """The key as it may stand in a file."""
    raw = KEY.encode()
    return {
        "raw": raw, "url": quote(KEY, safe="").encode(), "json": json.dumps({"k": KEY}).encode(),
        "json in json": json.dumps(json.dumps({"k": KEY})).encode(), "hex": raw.hex().encode(),
        "base64": base64.b64encode(raw), "base64, one before": base64.b64encode(b"x" + raw + b"yz"),
        "base64, two before": base64.b64encode(b"xy" + raw + b"z"), "gzip": gzip.compress(raw),
        "url-safe base64": base64.urlsafe_b64encode(b"?>" + raw),
        "utf-16": KEY.encode("utf-16-le"), "wrapped base64": base64.encodebytes(b"x" * 50 + raw),
        "snapshot pack": b"ftpack1\nz" + bytes(32) + len(zlib.compress(raw)).to_bytes(8, "big") + zlib.compress(raw),
    }  # fmt: skip


@pytest.mark.parametrize("name", spellings())
def test_a_known_value_is_found_in_every_spelling(source, tmp_path, name):
    """Export is blocked, names the file and the secret's name, never the value, and writes nothing."""
    packed = name in ("gzip", "snapshot pack")
    content = spellings()[name] if packed else b"before " + spellings()[name] + b" after"
    (some_attempt(source) / "agent-stdout.txt").write_bytes(content)
    with pytest.raises(UserError) as caught:
        evidence.export(source, tmp_path / "out")
    said = str(caught.value)
    assert "agent-stdout.txt" in said
    assert "MY_KEY" in said
    assert KEY not in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("glue", ["{}", '"text\\n{}"', '{{"a": "\\t{}"}}', "https://{}@example.invalid", "\\u0041 {}"])
def test_patterns_see_through_json(glue):
    """A token after an escaped newline is found although no word begins there."""
    found = _secrets.scan_bytes("f", glue.format(TOKEN).encode(), {})
    assert _secrets.Finding("f", "GitHub token") in found


@pytest.mark.parametrize("text", ["sk-", "task-list-of-things", "AKIA is short", "eyJhbGciOi", "http://a:b@c", "hf_x"])
def test_ordinary_text_is_no_secret(text):
    """Short or plain words raise no alarm."""
    assert _secrets.scan_bytes("f", text.encode(), {}) == set()


def git_pack(folder, text):
    """The pack file of a repository in which a text was committed."""
    (folder / "f").write_text(text)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    for command in (["init", "-q"], ["add", "f"], [*who, "commit", "-qm", "m"], ["gc", "-q"]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return next(folder.glob(".git/objects/pack/*.pack")).read_bytes()


def as_zip(text):
    """A zip archive with a text in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("f", text)
    return out.getvalue()


def snapshot(content):
    """A snapshot pack with one object that was not worth compressing."""
    return b"ftpack1\nr" + bytes(32) + len(content).to_bytes(8, "big") + content


@pytest.mark.parametrize("how", ["git object", "git object in a snapshot", "git pack", "zip", "bzip2", "xz", "utf-16",
                                 "second gzip member", "gzip in gzip"])  # fmt: skip
def test_tokens_are_found_in_what_is_packed(tmp_path, how):
    """A token that only stands in something packed, once or twice, is found."""
    text = ("plain words " * 40 + TOKEN + "\n").encode()
    loose = zlib.compress(b"blob 516\0" + text)
    content = {
        "git object": lambda: loose, "git object in a snapshot": lambda: snapshot(loose),
        "git pack": lambda: git_pack(tmp_path, text.decode()), "zip": lambda: as_zip(text),
        "bzip2": lambda: bz2.compress(text), "xz": lambda: lzma.compress(text),
        "utf-16": lambda: text.decode().encode("utf-16"), "gzip in gzip": lambda: gzip.compress(gzip.compress(text)),
        "second gzip member": lambda: gzip.compress(b"first") + gzip.compress(text),
    }[how]()  # fmt: skip
    assert TOKEN.encode() not in content
    assert _secrets.Finding("f", "GitHub token") in _secrets.scan_bytes("f", content, {})


@pytest.mark.parametrize(
    "content", [b"PACK", b"PACKAGES\n", b"PK\x03\x04torn", b"BZh9", b"PAR1", b"\x1f\x8b", b"x\x9c"]
)
def test_what_only_begins_like_an_archive_is_no_error(content):
    """Torn or foreign content is looked at as it is."""
    assert _secrets.scan_bytes("f", content + b" \n" + TOKEN.encode(), {})


def test_what_only_the_matrix_or_a_table_holds_is_scanned(source, tmp_path):
    """A tag of the matrix and a fault's message block the export too, whatever else is in the table."""
    source.matrix["cells"][0]["tags"] = [TOKEN]
    with pytest.raises(UserError, match=r"matrix\.json: looks like GitHub token"):
        evidence.export(source, tmp_path / "out")
    source.matrix["cells"][0]["tags"] = []
    message = {"message": " ".join(f"refused {n} times" for n in range(2000)) + f" {TOKEN}"}
    for path in source.results.rglob("fault.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | message))
    dataset.build(source.results, source.matrix, source.dataset)
    with pytest.raises(UserError, match=r"dataset/faults\.parquet: looks like GitHub token"):
        evidence.export(source, tmp_path / "out")


@pytest.mark.parametrize("value", [KEY.replace("/", "-"), TOKEN])
def test_a_name_that_is_a_secret_is_not_shown(source, tmp_path, value):
    """The file is named with a mark where the secret stands."""
    source.secrets = {"MY_KEY": KEY.replace("/", "-")}
    (some_attempt(source) / f"odd {value}.txt").write_text("nothing")
    with pytest.raises(UserError) as caught:
        evidence.export(source, tmp_path / "out")
    assert "odd [...]" in str(caught.value)
    assert value not in str(caught.value)
