"""Staging: a fresh workspace from frozen files, a private HOME, and how the agent will be started in its box."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.capture.secrets import copy_login, copy_personal, secrets_for
from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import HOME, RUN, WORKSPACE, Bind, Box, Budget, Launch, LaunchRequest, Limits, Stage
from fairtrial.contracts.records import digest, load
from fairtrial.instruments.sandbox.toolchains import binds_for
from fairtrial.paths import AttemptId, Results
from fairtrial.plan.files import FREEZE, place
from fairtrial.plan.freeze import frozen_prompt, repository_record
from fairtrial.toolsets._start import set_up

BASE_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "SHELL": "/bin/bash",
    "NO_COLOR": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "USER": "agent",
    "LOGNAME": "agent",
}
SKILLS = ".config/fairtrial/skills"
GIT_CONFIG = b"[user]\n\tname = agent\n\temail = agent@example.invalid\n[init]\n\tdefaultBranch = main\n"


@lean
class Prepared:
    """An attempt that is ready to run."""

    stage: Stage
    launch: Launch
    adapter: Any  # the harness's launch module
    version: str | None
    request: LaunchRequest
    port: int | None = None  # of the model endpoint, as the agent will reach it on loopback


def load_recipe(results: Results, attempt_id: AttemptId) -> tuple[dict[str, Any], str]:
    """The frozen recipe and its digest; one that is not what its name says is the fault `recipe_drift`."""
    path = results.recipe(attempt_id.recipe)
    if not path.exists():
        raise Fault("recipe_drift", f"{path}: the frozen recipe is missing; {FREEZE}")
    recipe = load(path)
    found = digest(recipe)
    if not found.startswith(attempt_id.recipe):
        raise Fault("recipe_drift", f"{path}: was changed; delete it and {FREEZE}")
    return recipe, found


def prepare(
    results: Results, attempt_id: AttemptId, recipe: dict[str, Any], settings: Settings, *, token: str, boxed: bool
) -> Prepared:
    """Lay everything out below results/scratch/<token>. Raises Fault."""
    scratch = results.scratch(token).absolute()
    for name in ("workspace", "home", "evidence", "more"):
        (scratch / name).mkdir(parents=True)
    scratch.chmod(0o700)
    adapter: Any = registry.load("fairtrial.harnesses", recipe["harness"]["adapter"], "launch")
    version = probe_version(adapter, recipe)
    stage_workspace(results, recipe, scratch)
    place_skills(results, recipe, adapter, scratch / "home")
    budget = budget_of(recipe)
    secrets = secrets_for(recipe, settings)
    copy_personal(recipe, adapter, scratch / "home")
    copy_login(recipe, settings, adapter, scratch / "home")
    port = endpoint_port(recipe, boxed)
    request = launch_request(
        results, attempt_id, recipe, scratch=scratch, budget=budget, boxed=boxed, secrets=secrets, port=port
    )
    launch: Launch = adapter.launch(request)
    for files, into in ((launch.home_files, scratch / "home"), (launch.workspace_files, scratch / "workspace")):
        lay_out(files, into)
    box = make_box(results, recipe, launch, scratch, settings)
    stage = Stage(str(attempt_id), scratch / "evidence", scratch / "more", box, budget, recipe, secrets)
    return Prepared(stage, launch, adapter, version, request, port)


def endpoint_port(recipe: dict[str, Any], boxed: bool) -> int | None:
    """Where the model endpoint will listen; None when the recipe puts none in the path."""
    if recipe["isolation"]["network"] != "endpoint":
        return None
    from fairtrial.instruments.endpoint.instrument import free_port

    return free_port(boxed)


def probe_version(adapter: Any, recipe: dict[str, Any]) -> str | None:
    """Observed version; another one than the pinned is the fault `version_mismatch`, before a prompt is sent."""
    observed: str | None = adapter.probe_version(recipe["harness"]["options"])
    pinned = recipe["harness"]["version"]
    if pinned is not None and observed != pinned:
        raise Fault(
            "version_mismatch", f"{recipe['harness']['name']}: version {pinned} is pinned, {observed} is installed"
        )
    return observed


def budget_of(recipe: dict[str, Any]) -> Budget:
    """The recipe's budget as a record."""
    return Budget(**{key: recipe["budget"][key] for key in ("wall_seconds", "turns", "usd", "tokens")})


def stage_workspace(results: Results, recipe: dict[str, Any], scratch: Path) -> None:
    """The start: frozen files, acceptance, a repository; for workspace.sh what the script builds."""
    workspace = scratch / "workspace"
    place(results, recipe["workspace"], workspace)
    if recipe["workspace_script"]:
        run_workspace_script(results, recipe["workspace_script"], scratch)
    if recipe["acceptance"]:
        place(results, recipe["acceptance"], workspace / "acceptance")
    if not recipe["workspace_script"]:
        record = repository_record(results, recipe["workspace"], recipe["acceptance"])
        if record.exists():
            place(results, load(record)["entries"], workspace / ".git")
    place(results, recipe["acceptance"], scratch / "acceptance")
    set_up(recipe["toolset"]["name"], workspace, scratch / "home", adoption=recipe["adoption"])


def place_skills(results: Results, recipe: dict[str, Any], adapter: Any, home: Path) -> None:
    """The toolset's skill files, where the agent program looks for such (SKILLS, a path below HOME); warm arms only."""
    if recipe["adoption"] == "warm" and recipe["toolset"]["skills"]:
        place(results, recipe["toolset"]["skills"], home / getattr(adapter, "SKILLS", SKILLS))


def run_workspace_script(results: Results, sha256: str, scratch: Path) -> None:
    """Build a repository with the task's workspace.sh, in a box without network. Raises Fault('toolset')."""
    from fairtrial.instruments.sandbox.run import run_simple

    script = scratch / "workspace.sh"
    script.write_bytes(results.blob(sha256).read_bytes())
    home = scratch / "script-home"
    home.mkdir()
    bind = Bind(script, f"{RUN}/workspace.sh")
    box = Box(scratch / "workspace", home, argv=["bash", bind.target], env=dict(BASE_ENVIRONMENT), binds=[bind])
    done = run_simple(box, 60)
    if done.status != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise Fault("toolset", f"workspace.sh ended with status {done.status}: {said}")


def launch_request(
    results: Results,
    attempt_id: AttemptId,
    recipe: dict[str, Any],
    *,
    scratch: Path,
    budget: Budget,
    boxed: bool,
    secrets: dict[str, str],
    port: int | None = None,
) -> LaunchRequest:
    """What the adapter is given; the solution only where the adapter plays it."""
    solution = None
    if recipe["solution"] is not None:
        solution = scratch / "solution"
        place(results, recipe["solution"], solution)
    workspace, home = scratch / "workspace", scratch / "home"
    return LaunchRequest(
        prompt=frozen_prompt(results, recipe),
        workspace=WORKSPACE if boxed else str(workspace.resolve()),
        home=HOME if boxed else str(home.resolve()),
        model=recipe["model"],
        options=recipe["harness"]["options"],
        budget=budget,
        endpoint_url=None if port is None else f"http://127.0.0.1:{port}",
        secrets=secrets,
        solution=solution.resolve() if solution else None,
        seed=seed_of(recipe, attempt_id),
        scratch=(scratch / "more").resolve(),
        boxed=boxed,
        toolset=recipe["toolset"]["name"],
    )


def seed_of(recipe: dict[str, Any], attempt_id: AttemptId) -> int:
    """Follows from the recipe and the repetition, so that a repetition keeps its seed when there are more of them."""
    return int(digest([recipe["seed"], attempt_id.recipe, attempt_id.repetition])[:12], 16)


def lay_out(files: Any, into: Path) -> None:
    """Write an adapter's own files; one that would leave the folder is refused."""
    for name, content in files.items():
        target = into / name
        if not target.resolve().is_relative_to(into.resolve()):
            raise Fault("spawn", f"file {name!r} would be placed outside of the folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o600)


def make_box(results: Results, recipe: dict[str, Any], launch: Launch, scratch: Path, settings: Settings) -> Box:
    """The box before instruments add to it."""
    home = scratch / "home"
    if not (home / ".gitconfig").exists():
        (home / ".gitconfig").write_bytes(GIT_CONFIG)
    shown, path = binds_for(recipe["requires"])
    binds = [*shown, *launch.binds]
    read_only = []
    if recipe["acceptance"]:
        binds.append(Bind((scratch / "acceptance").resolve(), f"{WORKSPACE}/acceptance"))
        read_only.append(f"{WORKSPACE}/acceptance")
    return Box(
        workspace=(scratch / "workspace").resolve(),
        home=home.resolve(),
        argv=list(launch.argv),
        env={**BASE_ENVIRONMENT, **launch.env},
        stdin=launch.stdin,
        binds=binds,
        path=[
            *sorted({str(Path(b.target)) for b in launch.binds if b.target == str(b.source) and b.source.is_dir()}),
            *path,
        ],
        network=recipe["isolation"]["network"],
        limits=Limits(output_bytes=settings.output_bytes),
        hidden=[results.objects.resolve(), results.root.resolve()],
        read_only=read_only,
    )


def clear(results: Results, token: str) -> None:
    """Delete what an attempt was run in; read-only folders an agent left are opened first."""
    import shutil

    def unlock(function: Any, path: str, _: Any) -> None:
        Path(path).parent.chmod(0o700)
        if not os.path.islink(path):  # noqa: PTH114
            Path(path).chmod(0o700)
        function(path)

    folder = results.scratch(token)
    if folder.exists():
        try:
            shutil.rmtree(folder, onerror=unlock)
        except RecursionError:  # an agent may nest folders as deep as it likes
            from fairtrial.verify.files import remove

            remove(folder)
