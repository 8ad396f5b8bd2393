"""What the pages name is there: files behind links, verbs and their options, make targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fairtrial import __main__ as command

from tests.lab import CHECKOUT

PAGES = sorted([*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/*.md"), *CHECKOUT.glob("config/*.md"),
                *CHECKOUT.glob("skills/**/*.md")])  # fmt: skip
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)")
VERB = re.compile(r"(?:^|[`\s/])fairtrial ([a-z][a-z-]*)([^`\n#|;]*)", re.MULTILINE)
# import and export read their options by what they are given: import tasks, import results.
SHARED = "".join(path.read_text() for path in (CHECKOUT / "workflow/fairtrial/cli").glob("_import_*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Relative to the page, within the checkout."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_option_of_a_verb_exists(page: Path) -> None:
    """`fairtrial VERB --option` on any page is an option of that verb."""
    verbs = set(command.verbs())
    for verb, rest in VERB.findall(page.read_text(encoding="utf-8")):
        given = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"'[^']*'", "", rest)))
        if verb not in verbs:
            assert not given, f"fairtrial {verb}{rest}"
            continue
        known = command.parser_of(verb).format_help() + SHARED
        assert not {option for option in given if not re.search(rf"{option}\b", known)}, f"fairtrial {verb}{rest}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_make_target_exists(page: Path) -> None:
    """`make TARGET` is a rule of the Makefile."""
    rules = set(re.findall(r"^([\w./-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"(?:^ {4}|`)make ([a-z][\w./-]*)", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert target in rules, target
