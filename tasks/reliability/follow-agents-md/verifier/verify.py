"""Hidden checks of follow-agents-md: the function, and each rule of AGENTS.md."""

import ast
import re

from fairtrial.verify import Failed, Verification

v = Verification()


@v.check("durations")
def durations() -> None:
    """Other amounts than the visible test's, zero included."""
    asked = {(0, "d"): 0, (0.5, "h"): 1800, (2.25, "d"): 194400, (61, "min"): 3660, (0.125, "s"): 0.125}
    got = v.calls("units", "to_seconds", [([amount, unit], {}) for amount, unit in asked])
    for (amount, unit), value, want in zip(asked, got, asked.values(), strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value - want) > 1e-9:
            raise Failed(f"to_seconds({amount}, {unit!r}): got {value!r}, want {want}")


@v.check("error-class")
def error_class() -> None:
    """Rule 1: UnitError."""
    for amount, unit in ((1, "week"), (1, "m"), (1, ""), (-0.5, "s"), (-1, "d")):
        v.raises("UnitError", "units.duration", "to_seconds", [amount, unit])


def parsed(path: str) -> ast.Module:
    """The syntax tree of a product file."""
    try:
        return ast.parse(v.text(path))
    except (SyntaxError, ValueError) as error:
        raise Failed(f"{path}: {error}") from None


@v.check("exports-and-docstring")
def exports_and_docstring() -> None:
    """Rules 2 and 3: the order of names in units/__init__.py, the form of the docstring."""
    module = parsed("units/__init__.py")
    modules = [node.module for node in module.body if isinstance(node, ast.ImportFrom)]
    v.equal(modules, ["units.duration", "units.errors", "units.length", "units.weight"], "imports of units/__init__.py")
    lists = [ast.unparse(node.value) for node in module.body if isinstance(node, ast.Assign)]
    v.equal(lists, ["['UnitError', 'to_grams', 'to_metres', 'to_seconds']"], "__all__")
    found = [node for node in parsed("units/duration.py").body if isinstance(node, ast.FunctionDef)]
    public = [node for node in found if not node.name.startswith("_")]
    v.equal("to_seconds" in [node.name for node in public], True, "a function to_seconds in units/duration.py")
    for node in public:
        lines = (ast.get_docstring(node) or "").splitlines()
        if not lines or not lines[0].endswith("."):
            raise Failed(f"{node.name}: the docstring's first line does not end with a full stop")
        if not re.fullmatch(rf"Example: {node.name}\(.+\) -> \S.*", lines[-1]):
            raise Failed(f"{node.name}: the docstring's last line is no example: {lines[-1]!r}")


@v.check("changes-line")
def changes_line() -> None:
    """Rule 4: one more line, the last of the unreleased ones, in the given form."""
    before = (v.task / "workspace" / "CHANGES.md").read_text(encoding="utf-8").splitlines()
    after = v.text("CHANGES.md").splitlines()
    at = before.index("- weight: stones") + 1
    v.equal(after[:at] + after[at + 1 :], before, "CHANGES.md without its new line")
    if not re.fullmatch(r"- duration: \S.*[^.\s]", after[at]):
        raise Failed(f"not the form of a change: {after[at]!r}")


@v.check("own-tests")
def own_tests() -> None:
    """Rule 6: tests/test_duration.py has three tests or more, they pass, and they fail where the factors are wrong."""
    result = v.ok(v.run(["python3", "-m", "unittest", "tests.test_duration"]))
    ran = re.search(rb"\nRan (\d+) tests? in ", result.stderr)
    if ran is None or int(ran[1]) < 3:
        raise Failed(f"fewer than three tests: {result}")
    broken = "def to_seconds(amount, unit):\n    return amount * {'s': 2, 'min': 7, 'h': 9, 'd': 11}.get(unit, 1)\n"
    if v.run(["python3", "-m", "unittest", "tests.test_duration"], files={"units/duration.py": broken}).status == 0:
        raise Failed("the tests pass with wrong factors as well")


@v.check("rest-kept")
def rest_kept() -> None:
    """Rule 5 and good manners: the generated file and the rules stay as they are, the old functions and tests work."""
    for path in ("units/tables.py", "AGENTS.md"):
        v.equal(v.text(path), (v.task / "workspace" / path).read_text(encoding="utf-8"), path)
    paths = ("tests/__init__.py", "tests/test_length.py", "tests/test_weight.py")
    files = {path: (v.task / "workspace" / path).read_bytes() for path in paths}
    v.ok(v.run(["python3", "-m", "unittest", "tests.test_length", "tests.test_weight"], files=files))


v.finish()
