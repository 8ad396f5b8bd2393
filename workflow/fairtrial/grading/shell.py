"""Shell text as far as it can be read without running it."""

from __future__ import annotations

import re
import shlex

_SPECIAL = re.compile(r"[\"'`$\\;|&<>(){}*?\[\]\n#~!]")
_SEPARATORS = {";", "&&", "||", "&", "\n", "(", ")", ";;"}


def standalone(text: str) -> list[str] | None:
    """The words of one plain command without quotes, variables, pipes or redirections; None for anything else."""
    text = text.strip()
    return None if not text or _SPECIAL.search(text) else text.split()


def pipelines(text: str) -> list[list[list[str]]]:
    """The pipelines of a shell text, each a list of stages, each a list of words; [] when quotes do not match."""
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=";|&()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return []
    found: list[list[list[str]]] = [[[]]]
    for token in tokens:
        if token in _SEPARATORS:
            found.append([[]])
        elif token in ("|", "|&"):
            found[-1].append([])
        else:
            found[-1][-1].append(token)
    return [[stage for stage in pipeline if stage] for pipeline in found if any(pipeline)]


def program(stage: list[str]) -> str:
    """The program a stage starts, without assignments before it and without its folder."""
    for word in stage:
        if not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", word):
            return word.rsplit("/", 1)[-1]
    return ""


def squeeze(text: str) -> str:
    """The text with every run of blanks as one."""
    return " ".join(text.split())
