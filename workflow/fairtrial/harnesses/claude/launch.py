"""Starts Claude Code headlessly (2.1.197 and 2.1.332 were tried), the prompt on standard input."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.wire import install, starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset({"turns", "usd"})
NETWORK: Network = "endpoint"
PACKAGE = "npm i -g @anthropic-ai/claude-code@2.1.197"
KEY_ENV = "ANTHROPIC_API_KEY"
WIRES = ("anthropic",)
LOGIN_FILES = (".claude/.credentials.json",)
PERSONAL = (
    ".claude/settings.json",
    ".claude/CLAUDE.md",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/plugins",
)
SKILLS = ".claude/skills"  # where it looks for the skill files of a toolset
OPTIONS: dict[str, Any] = starting.options_schema(
    effort=("low", "medium", "high", "xhigh", "max"),
    retries=starting.RETRIES,
    setting_sources={"type": "string", "description": "of user,project,local; HOME holds only what was placed there"},
)
_NATIVE = ("@anthropic-ai/claude-code-*/claude",)

is_final_event = starting.ends_with("result")


def launch(request: LaunchRequest) -> Launch:
    """argv, environment and the one native binary; at most 4 retries, so a dead endpoint costs about 8 seconds."""
    program = install.one_file(_program(request.options), "claude", request)
    environment = _environment(request)
    return starting.ready(
        request,
        [*program.argv, *_arguments(request)],
        environment,
        {},
        binds=program.binds,
        stdin=starting.prompt(request),
        is_final_event=is_final_event,
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """What the binary itself says."""
    return install.version([str(_program(options))])


def _program(options: dict[str, Any]) -> Any:
    return install.native(install.find("claude", options, PACKAGE), "claude", _NATIVE)


def _arguments(request: LaunchRequest) -> list[str]:
    words = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    words += ["--strict-mcp-config", "--setting-sources", request.options.get("setting_sources", "user,project")]
    if request.model.get("id"):
        words += ["--model", str(request.model["id"])]
    if request.budget.turns is not None:
        words += ["--max-turns", str(request.budget.turns)]
    if request.budget.usd is not None:
        words += ["--max-budget-usd", f"{request.budget.usd:g}"]
    if (effort := starting.effort(request)) is not None:
        words += ["--effort", effort]
    return [*words, *request.options.get("args", [])]


def _environment(request: LaunchRequest) -> dict[str, str]:
    url = starting.base_url(request)
    return {
        "CLAUDE_CONFIG_DIR": f"{request.home}/.claude",
        "CLAUDE_CODE_MAX_RETRIES": str(request.options.get("retries", 4)),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_BUG_COMMAND": "1",
        **({} if request.boxed else {"IS_SANDBOX": "1"}),  # inside a box it is uid 1000; as root it refuses to start
        **({} if url is None else {"ANTHROPIC_BASE_URL": url}),
        **starting.key(request, KEY_ENV),
    }
