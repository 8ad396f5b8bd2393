"""Running the agent under its instruments, and telling from stream and clock whether that is a result."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial import registry
from fairtrial.capture import unstarted
from fairtrial.capture.prepare import Prepared
from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.lean import field, lean, replaced
from fairtrial.contracts.protocols import Ending, FaultFound, Instrument, ProcessReport
from fairtrial.instruments.endpoint.merge import merged
from fairtrial.paths import Results
from fairtrial.wire.captured import STDERR, STDOUT, TIMES, streams

if TYPE_CHECKING:
    from fairtrial.instruments.endpoint.instrument import Endpoint


@lean
class Executed:
    """What is known of a run so far; fields fill up as it goes on."""

    prepared: Prepared | None = None
    began: bool = False  # the agent's process was let go
    report: ProcessReport | None = None
    events: dict[str, Any] | None = None
    ending: Ending | FaultFound = field(default_factory=lambda: FaultFound("other", "did not start"))
    facts: dict[str, Any] = field(default_factory=dict)
    load_start: float | None = None
    load_end: float | None = None

    @property
    def ran(self) -> bool:
        """May anything of the agent have run, and cost something?"""
        return self.began and (self.report is None or self.report.unstarted is None)

    @property
    def folder(self) -> Path:
        """Where the evidence is, before the seal."""
        if self.prepared is None:
            raise Fault("other", "nothing was prepared")
        return self.prepared.stage.folder

    def boxed(self, recipe: dict[str, Any]) -> bool:
        """Will the agent see the box's own paths?"""
        from fairtrial.instruments.sandbox import backends

        return backends.choose(recipe["isolation"]["policy"]).kind == "bwrap"

    def simulated(self, recipe: dict[str, Any]) -> bool:
        """No real model answers."""
        adapter: Any = registry.load("fairtrial.harnesses", recipe["harness"]["adapter"], "launch")
        return bool(adapter.SIMULATED or recipe["model"]["rehearsal"])


def load_per_cpu() -> float | None:
    """One-minute load average per CPU; None where the system does not say."""
    try:
        return round(os.getloadavg()[0] / (os.cpu_count() or 1), 3)
    except OSError:
        return None


def endpoint_of(prepared: Prepared) -> Endpoint | None:
    """The model endpoint, where the recipe puts one in the path."""
    if prepared.port is None:
        return None
    from fairtrial.instruments.endpoint.instrument import Endpoint

    request = prepared.request
    return Endpoint(
        prepared.port,
        own_caps=prepared.adapter.CAPS,
        solution=request.solution,
        workspace=request.workspace,
        seed=request.seed,
    )


def instruments(prepared: Prepared, endpoint: Endpoint | None = None) -> list[Instrument]:
    """What measures an attempt, in the order of preparation; stopped in the reverse order."""
    from fairtrial.instruments.snapshots.instrument import Snapshots
    from fairtrial.instruments.trace.instrument import Trace

    snapshots = Snapshots()
    recipe = prepared.stage.recipe
    toolset: Any = registry.load("fairtrial.toolsets", recipe["toolset"]["name"], "toolset")
    trace = Trace(
        toolset.policy(recipe["adoption"]),
        lambda span: snapshots.capture_now("command", span),
        boxed=prepared.request.boxed,
    )
    return [*([endpoint] if endpoint else []), trace, snapshots]


def execute(done: Executed, settings: Settings, results: Results) -> None:
    """Run, stop the instruments, read the stream, classify. Raises Fault when the machine fails."""
    from fairtrial.instruments.sandbox import disk

    prepared = done.prepared
    if prepared is None:
        raise Fault("other", "nothing was prepared")
    stage = prepared.stage
    disk.check_free(results.root, settings.min_free_bytes)
    done.load_start = load_per_cpu()
    endpoint = endpoint_of(prepared)
    measuring = instruments(prepared, endpoint)
    started: list[Instrument] = []
    try:
        for instrument in measuring:
            started.append(instrument)
            instrument.prepare(stage)
        done.report = run_measured(done, prepared, measuring, endpoint, settings.workspace_bytes)
    finally:
        for instrument in reversed(started):
            instrument.stop(stage)
    done.load_end = load_per_cpu()
    done.facts = {instrument.name: instrument.facts() for instrument in measuring}
    if done.report.unstarted is not None:
        raise unstarted.fault(stage.box, done.report.unstarted)
    collect(prepared)
    events, done.ending = interpret(stage.folder, stage.recipe, done.report)
    done.events = merged(events, done.facts.get("endpoint"))


def run_measured(
    done: Executed, prepared: Prepared, measuring: list[Instrument], endpoint: Endpoint | None, size_cap: int
) -> ProcessReport:
    """The agent in its box, from its start until nothing of it is alive."""
    from fairtrial.instruments.sandbox.run import run

    stage = prepared.stage

    def begin(main_pid: int, clock_ns: int) -> None:
        done.began = True
        for instrument in measuring:
            instrument.start(stage, main_pid, clock_ns)

    report = run(
        stage.box,
        stage.budget,
        stdout=stage.folder / STDOUT,
        stderr=stage.folder / STDERR,
        times=stage.folder / TIMES,
        policy=stage.recipe["isolation"]["policy"],
        is_final_event=prepared.launch.is_final_event,
        on_start=begin,
        stop_event=endpoint.stop_reason if endpoint else None,
        listener=(endpoint.port, endpoint.listen) if endpoint else None,
        size_cap=size_cap,
    )
    report = replaced(report, unstarted=unstarted.reason(stage.box, report))
    if endpoint and report.stopped_by is None:
        return replaced(report, stopped_by=endpoint.cap_reached())
    return report


def collect(prepared: Prepared) -> None:
    """Keep the files below HOME that the adapter names, and the prompt."""
    import shutil

    for name, below_home in prepared.launch.collect.items():
        source = prepared.stage.box.home / below_home
        if source.is_file() and not source.is_symlink():
            shutil.copyfile(source, prepared.stage.folder / name)


def interpret(
    folder: Path, recipe: dict[str, Any], report: ProcessReport
) -> tuple[dict[str, Any], Ending | FaultFound]:
    """The normalised events, and the ending or the fault they and the clock add up to."""
    reader: Any = registry.load("fairtrial.harnesses", recipe["harness"]["adapter"], "events")
    events = reader.read(streams(folder, recipe["harness"]["options"]))
    return events, reader.classify(events, report)
