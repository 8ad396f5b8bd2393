"""The seams between the parts of fairtrial: plain records and protocols, no behaviour.

An *instrument* measures one thing about an attempt, a *harness* says how one agent program is started and how
its output is read, a *toolset* prepares a version-control tool, a *metric* is one scorecard column and a
*section* is one part of the report. Each lives in a folder or file of its own; registry.py finds it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from fairtrial.contracts.lean import field, lean

# No slots here: every stage command imports this file, and a class with slots is built twice.
Json = dict[str, Any]
Network = Literal["none", "endpoint", "host"]
EndingName = Literal["completed", "timeout", "budget", "agent_error"]
FaultKind = Literal[
    "cli_missing", "version_mismatch", "not_logged_in", "auth", "quota", "rate_limited", "server_error",
    "no_events", "endpoint", "sandbox", "recipe_drift", "disk", "toolset", "spawn", "interrupted", "other",
]  # fmt: skip

DAMAGED = "evidence_damaged"  # begins the reason of a grade whose sealed files are not what was sealed
WORKSPACE = "/task"  # where the workspace stands inside the box
HOME = "/home/agent"
RUN = "/run/ft"  # fairtrial's own read-only files inside the box


@lean(frozen=True)
class Bind:
    """One host path made visible inside the box."""

    source: Path
    target: str
    writable: bool = False


@lean(frozen=True)
class Limits:
    """Resource limits inside the box; bytes and counts."""

    tmp_bytes: int = 2 << 30
    file_bytes: int = 8 << 30
    processes: int = 4096
    output_bytes: int = 50 << 20  # kept per stream; more is drained and counted


@lean
class Box:
    """Everything one boxed process will see. Instruments add to it in `prepare`, the sandbox runs it."""

    workspace: Path
    home: Path
    argv: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    binds: list[Bind] = field(default_factory=list)
    path: list[str] = field(default_factory=list)  # folders inside the box that come first on PATH
    network: Network = "none"
    limits: Limits = field(default_factory=Limits)
    hidden: list[Path] = field(default_factory=list)  # host paths a canary proves to be out of reach
    read_only: list[str] = field(default_factory=list)  # paths inside the box a canary proves to be read-only
    workspace_target: str = WORKSPACE
    home_target: str = HOME


@lean(frozen=True)
class Budget:
    """What one attempt may use; seconds, count, US dollars, tokens."""

    wall_seconds: float
    turns: int | None = None
    usd: float | None = None
    tokens: int | None = None
    grace_seconds: float = 2.0  # between TERM and KILL
    linger_seconds: float = 3.0  # after the final event


@lean(frozen=True)
class ProcessReport:
    """How the agent's process went; nanoseconds of the monotonic clock, bytes before any cap."""

    started_ns: int
    ended_ns: int
    exit_status: int | None
    signal: int | None
    timed_out: bool
    lingered: bool
    final_event_ns: int | None
    stdout_bytes: int
    stderr_bytes: int
    stdout_kept_bytes: int
    stderr_kept_bytes: int
    survivors_killed: int
    interrupted: bool
    isolation: Json  # what was in force: see schemas/evidence.schema.json#/$defs/isolation
    stopped_by: str | None = None  # an instrument's or the size cap's reason for ending it early
    unstarted: str | None = None  # why the system refused to start the program at all: nothing of it ran

    @property
    def agent_seconds(self) -> float:
        """Wall seconds from start to the final event, else to the end of the process."""
        return ((self.final_event_ns or self.ended_ns) - self.started_ns) / 1e9


@lean
class Stage:
    """One attempt while it is being measured."""

    attempt_id: str
    folder: Path  # where evidence files are written (a private folder until the seal)
    scratch: Path  # deleted afterwards
    box: Box
    budget: Budget
    recipe: Json
    secrets: Mapping[str, str] = field(default_factory=dict)


class Instrument(Protocol):
    """Measures one thing about an attempt. attempt.py iterates over a list of these."""

    name: str

    def prepare(self, stage: Stage) -> None:
        """Before the box starts: add binds, environment, helper threads. Raises contracts.errors.Fault."""

    def start(self, stage: Stage, main_pid: int, clock_ns: int) -> None:
        """The agent's main process exists (host pid); clock_ns is the monotonic origin of the attempt."""

    def stop(self, stage: Stage) -> None:
        """Nothing of the attempt is alive any more. Must be safe to call when prepare or start did not run."""

    def facts(self) -> Json:
        """What evidence.json holds under instruments.<name>; small, JSON."""


@lean(frozen=True)
class LaunchRequest:
    """What a harness is given to build its start from. Paths are as the agent will see them."""

    prompt: str
    workspace: str
    home: str
    model: Json  # {name, id (None: pass no model flag), provider, options}
    options: Json  # the harness entry's options, by name
    budget: Budget
    endpoint_url: str | None  # loopback base URL when the endpoint is in the path
    secrets: Mapping[str, str]
    solution: Path | None  # host folder; only for harnesses with NEEDS_SOLUTION
    seed: int
    scratch: Path  # host folder for files to bind
    boxed: bool = True  # False: plain processes, so a Bind's target is not there
    toolset: str = "git"

    def shown(self, bind: Bind) -> str:
        """Where the agent will find what `bind` shows it."""
        return bind.target if self.boxed else str(bind.source)


@lean(frozen=True)
class Launch:
    """How to start one agent program."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    home_files: Mapping[str, bytes] = field(default_factory=dict)  # relative to HOME
    workspace_files: Mapping[str, bytes] = field(default_factory=dict)
    binds: Sequence[Bind] = ()
    is_final_event: Callable[[bytes], bool] | None = None  # one stdout line, without its newline
    collect: Mapping[str, str] = field(default_factory=dict)  # evidence file name -> path below HOME to keep


@lean(frozen=True)
class Streams:
    """The captured bytes a transcript reader gets; times are receipt times in ns from the start, per stdout line."""

    stdout: bytes
    stderr: bytes
    times_ns: Sequence[int] = ()
    extra: Mapping[str, bytes] = field(default_factory=dict)  # the files named in Launch.collect
    options: Json = field(default_factory=dict)  # the harness entry's options


@lean(frozen=True)
class Ending:
    """How an attempt that is a result ended."""

    ending: EndingName
    reason: str


@lean(frozen=True)
class FaultFound:
    """The stream or the process says the infrastructure failed: no result."""

    kind: FaultKind
    message: str


class Harness(Protocol):
    """A module `harnesses/<name>/launch.py`; its events.py is the transcript reader."""

    PROTOCOL: int
    SIMULATED: bool
    FREE: bool
    NEEDS_SOLUTION: bool
    CAPS: frozenset[str]  # of turns, usd, tokens: enforced by the CLI itself
    NETWORK: Network
    OPTIONS: Json  # JSON Schema of the options this adapter takes

    # Where a schema cannot say all: def check(options: Json) -> None, asked when a plan is made; raises UserError.

    def launch(self, request: LaunchRequest) -> Launch:
        """Pure but for files written below request.scratch. Raises contracts.errors.Fault."""

    def probe_version(self, options: Json) -> str | None:
        """Observed version of the program on this machine; None when it has none. Raises Fault('cli_missing')."""


class Transcript(Protocol):
    """A module `harnesses/<name>/events.py`."""

    PARSER: int

    def read(self, streams: Streams) -> Json:
        """Raw bytes to the events record of schemas/events.schema.json. Never raises on any bytes."""

    def classify(self, events: Json, report: ProcessReport) -> Ending | FaultFound:
        """The table 'Ending, verdict, outcome, fault' for this program."""


class Toolset(Protocol):
    """A module `toolsets/<name>/toolset.py`."""

    PROTOCOL: int
    BINARIES: Sequence[str]
    READS: frozenset[str]
    MUTATIONS: frozenset[str]

    def prepare(self, workspace: Path) -> None:
        """Before the clock: set the tool up in the workspace. Raises Fault('toolset')."""

    def policy(self, adoption: str) -> Json:
        """Which commands the shim refuses: {"refuse": [{"command", "subcommands", "why"}]}."""


class Metric(Protocol):
    """A module `analysis/metrics/<name>.py`: one or more scorecard columns from one arm's attempts."""

    GROUP: str  # execution | correctness | compliance | effort | time_cost
    COLUMNS: Mapping[str, str]  # name -> what it is and its unit

    def compute(self, attempts: Any, settings: Json) -> Json:
        """`attempts`: pandas frame of one arm's scored rows. Missing is None."""


class Section(Protocol):
    """A module `analysis/report/sections/<name>.py`: one numbered part of the report."""

    ORDER: int
    TITLE: str
    QUESTION: str

    def html(self, report: Any) -> str:
        """Escaped HTML of the section's body."""

    def markdown(self, report: Any) -> str:
        """The section for report.md, or ''."""
