"""Shell text as far as it can be read without running it."""

from __future__ import annotations

import re
import shlex

# ~ # ! mean something at the start of a word only, braces with a comma or dots only: HEAD~1 and stash@{0} are plain.
_SPECIAL = re.compile(r"[\"'`$\\;|&<>()*?\[\]\n]|(?<!\S)[~#!]|\{[^}\s]*(?:,|\.\.)")
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"})
_PUNCTUATION = frozenset(";|&()")
_REDIRECTED = re.compile(r"\d*[<>]&(?:\d+|-)|&>>?")  # its & ends no command


def standalone(text: str) -> list[str] | None:
    """The words of one plain command without quotes, variables, pipes or redirections; None for anything else."""
    text = text.strip()
    return None if not text or _SPECIAL.search(text) else text.split()


def pipelines(text: str) -> list[list[list[str]]]:
    """The pipelines of a shell text, each a list of stages, each a list of words; [] when quotes do not match."""
    text = _REDIRECTED.sub(lambda found: ">" if found[0][0] == "&" else " ", text.replace("\\\n", " "))
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars="".join(_PUNCTUATION))
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return []
    found: list[list[list[str]]] = [[[]]]
    for token in tokens:
        if not token or not _PUNCTUATION.issuperset(token):
            found[-1][-1].append(token)
        elif token.startswith("|") and not token.startswith("||"):
            found[-1].append([])
        else:
            found.append([[]])
    return [[stage for stage in pipeline if stage] for pipeline in found if any(pipeline)]


def program(stage: list[str]) -> str:
    """The program a stage starts, without keywords and assignments before it and without its folder."""
    for word in stage:
        if word not in _KEYWORDS and not re.match(r"[A-Za-z_][A-Za-z0-9_]*=", word):
            return word.rsplit("/", 1)[-1]
    return ""


def squeeze(text: str) -> str:
    """The text with every run of blanks as one."""
    return " ".join(text.split())
