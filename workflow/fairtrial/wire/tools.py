"""What kind of work a tool call is, by the names the programs give their tools."""

from __future__ import annotations

import shlex

_KINDS: dict[str, str] = {
    **dict.fromkeys(
        ("bash", "shell", "exec_command", "run_shell_command", "command_execution", "local_shell"), "shell"
    ),
    **dict.fromkeys(
        ("edit", "multiedit", "write", "write_file", "replace", "notebookedit", "apply_patch", "patch", "file_change"),
        "edit",
    ),
    **dict.fromkeys(("read", "read_file", "read_many_files", "list", "ls", "list_directory", "view_image"), "read"),
    **dict.fromkeys(
        ("grep", "glob", "find", "grep_search", "search_file_content", "codesearch", "toolsearch", "tool_search"),
        "search",
    ),
    **dict.fromkeys(("webfetch", "websearch", "web_fetch", "web_search", "google_web_search"), "web"),
    "mcp_tool_call": "mcp",
}
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


def kind(name: str) -> str:
    """shell, edit, read, search, web, mcp or other."""
    return "mcp" if name.startswith("mcp__") else _KINDS.get(name.lower(), "other")


def unwrapped(command: str) -> str:
    """`bash -lc 'git status'` as the model wrote it: `git status`. Anything else comes back as it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == 3 and words[0].rsplit("/", 1)[-1] in _SHELLS and words[1] in ("-c", "-lc"):
        return words[2]
    return command
