"""One start of Snakemake: refuses what may not be spent or is already being run; says what to do after faults."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings, from_environment
from fairtrial.capture.spend import bound, dead, gate, grades, invocation, ledger
from fairtrial.capture.spend.halt import Watch
from fairtrial.capture.spend.leases import Lease, identity, take
from fairtrial.capture.spend.progress import Reporter
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.plain import counted, plain
from fairtrial.contracts.records import load
from fairtrial.paths import Results
from fairtrial.plan.snake import Plan

ALLOW_FILE = "allow-spend.yaml"
SHOWN = 20  # kinds of faults named at the end: programs put the number of a request into their messages
_held: dict[Path, Lease] = {}
_threads: list[Reporter | Watch] = []


def begin(plan: Plan, cwd: Path, in_use: Sequence[str | Path] = ()) -> None:
    """Before the first job, not in a dry run: the spend gate, then this experiment's lock. Exits 2 when refused.

    in_use: the configuration files that were named on the command line or in a profile.
    """
    results = Results(cwd / "results")
    settings = from_environment()
    try:
        lines = _may_spend(results, plan, settings, in_use)
        _lock(results, plan.name, settings.invocation)
        invocation.announce(results, settings)
        buried = dead.sweep(results, settings)
    except (UserError, OSError) as error:
        _release()
        place = f"{results.root} must be a folder with room that can be written to"
        _say(f"{error.filename}: {error.strerror}; {place}" if isinstance(error, OSError) else str(error))
        sys.exit(2)
    if buried:
        _say(f"{counted(buried, 'attempt')} of an earlier run had died; what has no seal is kept under results/faults")
    for line in [*lines, *grades.mend(results, plan.matrix.record, cwd)]:
        _say(line)
    _threads.append(Reporter(results, plan.matrix.record, settings.max_usd, settings.invocation).start())
    _threads.append(Watch(results, settings.invocation).start())


def _may_spend(results: Results, plan: Plan, settings: Settings, in_use: Sequence[str | Path]) -> list[str]:
    """The forecast of what will be spent, as lines; UserError when it may not be."""
    cells, prices = plan.matrix.record["cells"], settings.prices
    command = invocation.command_line(more=ALLOW_FILE, in_use=in_use)
    forecast = gate.check(results, cells, settings.allow, prices, command, config=plan.config)
    if not forecast:
        return []
    rows = {row.arm for row in gate.costing(results, cells)}
    recipes = [cell.recipe for cell in plan.matrix.cells if gate.arm_of(cell.row) in rows]
    bound.refuse_unbounded(settings, recipes)
    return ["this run spends:", *forecast, *_cap(results, settings)]


def _cap(results: Results, settings: Settings) -> list[str]:
    if settings.max_usd is None:
        return ["  no cap: spend.max_usd is not set"]
    sums = ledger.balance(results, settings.name)
    said = f"  cap: {sums.counted:.2f} of {settings.max_usd:.2f} USD spent so far"
    more = f"; {counted(sums.unbounded, 'attempt')} of unknown cost on top, each counted at the bound of one to start"
    return [said + (more if sums.unbounded else "")]


def _lock(results: Results, name: str, own: str) -> None:
    path = results.experiment(name).folder / ".running.json"
    record = identity(f"experiment {name}", own)
    other = take(path, record, lambda gone: _stop_the_dead(results, gone))
    if other is not None:
        raise UserError(
            f"experiment {name!r} is being run by process {other.get('pid')} on {other.get('host')} "
            f"since {other.get('started_at')}; wait for it, or give this one another name: in the configuration"
        )
    _held[path] = Lease(path, record).__enter__()


def _stop_the_dead(results: Results, gone: dict[str, Any]) -> None:
    """What the jobs of a killed Snakemake have not started yet is this run's from now on, with its cap and its stop.

    On its own host they see that by themselves; jobs on other nodes cannot, and would go on for hours.
    """
    if gone.get("invocation"):
        who = f"process {gone.get('pid')} on {gone.get('host')}"
        invocation.stop(results, str(gone["invocation"]), f"its snakemake ({who}) is gone, another run goes on with it")


def _say(text: str) -> None:
    sys.stderr.write(f"fairtrial: {plain(text)}\n")
    sys.stderr.flush()


def end(plan: Plan, cwd: Path) -> None:
    """Everything is there."""
    _release()
    results = Results(cwd / "results")
    path = results.experiment(plan.name).report / "summary.txt"
    if path.exists():
        sys.stderr.write(f"{path.read_text(encoding='utf-8')}\nreport: {path.with_name('index.html')}\n")
    _say_unscored(results, plan)


def _say_unscored(results: Results, plan: Plan) -> None:
    line = grades.unscored(results, plan.matrix.record)
    if line is not None:
        _say(line)


def end_with_faults(plan: Plan, cwd: Path) -> None:
    """A rule failed or the run was stopped: build the report of what is there, say what failed and how to go on."""
    if not _held:
        return  # refused at the start: nothing ran
    _release()
    results, own = Results(cwd / "results"), from_environment().invocation
    _bury(results)
    faulted = {str(record["attempt_id"]) for record in _faults(results, own)}
    invocation.note_unreached(results, own, plan.attempts, faulted)
    command = [sys.executable, "-m", "fairtrial", "report", "--so-far"]
    subprocess.run(command, cwd=cwd, check=False, stdin=subprocess.DEVNULL)
    folder = results.experiment(plan.name).so_far / "report"
    for line in what_failed(results, own):
        _say(line)
    _say_unscored(results, plan)
    _say(f"not everything ended well; what is there so far: {folder / 'index.html'}")
    _say(f"to go on where this one stopped: {invocation.command_line()}")


def _bury(results: Results) -> None:
    """An attempt that was killed in this run is a fault of this run; the next start would find it too."""
    try:
        dead.sweep(results, from_environment())
    except (UserError, OSError) as error:
        _say(str(error))


def what_failed(results: Results, own: str) -> list[str]:
    """Faults and attempts that were not run in one invocation, each kind once with its message."""
    counts: Counter[tuple[str, str]] = Counter()
    for record in _faults(results, own):
        counts[f"{record['harness']} x {record['model']}", f"{record['kind']}: {record['message']}"] += 1
    lines = [f"{counted(n, 'fault')} of {pair}: {said}" for (pair, said), n in sorted(counts.most_common(SHOWN))]
    if len(counts) > SHOWN:
        lines.append(f"{counted(len(counts) - SHOWN, 'further kind')} of faults: below {results.root / 'faults'}")
    reasons = invocation.all_not_run(results, own)
    return lines + [f"{counted(n, 'attempt')} not run: {reason}" for reason, n in reasons.items()]


def _faults(results: Results, own: str) -> Iterator[dict[str, Any]]:
    """The readable records of one invocation's faults."""
    for path in results.fault_records():
        try:
            record = load(path)
        except UserError:
            continue  # the tables name it as a problem
        if record.get("invocation") == own:
            yield record


def _release() -> None:
    while _threads:
        _threads.pop().stop()
    while _held:
        _held.popitem()[1].__exit__()
