"""Stopped, capped or refused: what will not run is not started to find that out, and the same command goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lab import Lab, wait_until

SAID = {
    "type": "result", "subtype": "success", "is_error": False, "result": "ok", "num_turns": 1, "total_cost_usd": 0.02,
    "usage": {"input_tokens": 9, "output_tokens": 3},
}  # fmt: skip
MANY = 24


def agent(lab: Lab, name: str, script: str, **more: object) -> str:
    """Add a harness that is one shell script, run without a box."""
    options = {"template": ["sh", "-c", script], "output": "claude-json"}
    lab.harnesses[name] = {"adapter": "command", "network": "none", "options": options, **more}
    return name


def logs(lab: Lab) -> list[str]:
    """What the attempt commands said, of those that were started at all."""
    return [path.read_text() for path in lab.results.glob("logs/attempts/**/*.log")]


def test_stop_finishes_and_grades_what_runs_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """From another shell: status says so, the run ends with 1, its attempts are graded; nothing has to be lifted."""
    lab = Lab(tmp_path, config={"repetitions": 3, "trace": []})
    lab.config["harnesses"] = [lab.counted(seconds=3.0)]
    lab.write()
    process = lab.start()
    assert wait_until(lambda: lab.starts() == 2)
    done = lab.fairtrial("stop", "--reason", "the laptop goes home")
    assert done.returncode == 0, done.stderr
    assert "default: starts no further attempt; 2 attempts still running" in done.stdout
    assert "to go on afterwards: snakemake" in done.stdout
    assert "was told so before" in lab.fairtrial("stop", "default").stdout
    assert "stop    no further attempt starts: the laptop goes home" in lab.fairtrial("status").stdout
    assert process.wait(60) == 1
    assert [r["outcome"] for r in lab.graded()] == ["green", "green"]
    said = (lab.folder / "snakemake.log").read_text()
    assert "fairtrial: 4 attempts will not start: the laptop goes home" in said
    assert "4 attempts not run: the laptop goes home" in said
    assert len(logs(lab)) == lab.starts() == 2
    after = lab.fairtrial("status").stdout
    assert "2 of 6 attempts done; not running" in after
    assert "not run 4 attempts: the laptop goes home" in after
    assert "go on   snakemake -s" in after
    assert "2 of 6 attempts" in (lab.results / "default" / "so-far" / "report" / "report.md").read_text()
    before = lab.seals()
    again = lab.snakemake()
    assert again.returncode == 0, again.stderr
    assert lab.starts() == len(lab.seals()) == 6
    assert before.items() <= lab.seals().items()
    assert "\nnot run" not in lab.fairtrial("status").stdout


def test_stop_names_what_it_could_mean(tmp_path: Path) -> None:
    """Nothing that runs is exit code 2, with the name when one was given."""
    lab = Lab(tmp_path)
    for words, said in ((), "no experiment is being run in results"), (("x",), "experiment 'x' is not being run"):
        done = lab.fairtrial("stop", *words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_after_the_cap_the_rest_of_the_pair_is_not_started(tmp_path: Path) -> None:
    """Of 24 attempts two fit; a few more found out by themselves; a free arm beside them runs to its end."""
    lab = Lab(tmp_path, config={"repetitions": MANY // 2, "isolation": "none", "trace": []})
    agent(lab, "paid", f"echo 42 > answer.txt; echo '{json.dumps(SAID)}'")
    lab.config["harnesses"] = ["paid", "noop"]
    lab.config["spend"] = {"allow": True, "max_usd": 0.05, "per_attempt_usd": 0.02}
    lab.write()
    done = lab.snakemake()
    assert done.returncode == 1
    assert {(r["harness"], r["outcome"]) for r in lab.graded()} == {("paid", "green"), ("noop", "red")}
    assert sum(r["harness"] == "paid" for r in lab.graded()) == 2
    assert sum(r["harness"] == "noop" for r in lab.graded()) == MANY
    assert done.stderr.count("will not start: the cap is reached") == 1
    assert f"{MANY - 2} attempts not run: the cap is reached: 0.04 USD spent" in done.stderr
    assert sum("not run" in log for log in logs(lab)) <= 6


@pytest.mark.parametrize("faults", [3, 1])
def test_after_a_row_of_faults_the_rest_of_the_pair_is_not_started(tmp_path: Path, faults: int) -> None:
    """The program's own message once, with how many attempts it kept from running."""
    lab = Lab(tmp_path, config={"repetitions": MANY // 2, "trace": [], "faults": {"stop_after": faults}})
    agent(lab, "broken", "exit 1", free=True)
    lab.harnesses["broken"]["options"]["template"] = "no-such-program-here {prompt}"
    lab.config["harnesses"] = ["broken"]
    lab.write()
    done = lab.snakemake("--cores", "1")
    assert done.returncode == 1
    assert len(lab.faults()) == faults
    rest = MANY - faults
    noun = "attempt" if faults == 1 else "attempts"
    row = f"{faults} {noun} of this harness and model in a row ended in a fault: cli_missing: no-such-program-here"
    assert f"{rest} attempts not run: {row}" in done.stderr
    assert sum("not run" in log for log in logs(lab)) <= 4


def test_a_pause_before_the_next_try_notices_a_stop(tmp_path: Path) -> None:
    """An attempt that waits out a rate limit for an hour does not hold a stop up."""
    lab = Lab(tmp_path, tasks=["one"], config={"repetitions": 1, "isolation": "none", "trace": []})
    limited = {**SAID, "is_error": True, "result": "API Error: 429 rate limit reached, retry-after: 3000"}
    agent(lab, "limited", f"echo '{json.dumps(limited)}'", free=True)
    lab.config.update(harnesses=["limited"], faults={"retries": 1})
    lab.write()
    process = lab.start()
    assert wait_until(lambda: len(lab.faults()) == 1)
    assert lab.fairtrial("stop").returncode == 0
    assert process.wait(30) == 1
    assert len(lab.faults()) == 1
    assert (lab.results / "default" / "so-far" / "report" / "report.md").exists()
