"""Hidden checks of minimal-fix: right for every code, and everything outside one function to the letter."""

import difflib
import os
from pathlib import Path

from fairtrial.verify import Failed, Verification

v = Verification()


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file of a tree but for repositories, bytecode and the acceptance folder; None stands for a link."""
    found: dict[str, bytes | None] = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in (".git", "__pycache__", "acceptance")]
        for name in files + [name for name in names if (Path(folder) / name).is_symlink()]:
            path = Path(folder) / name
            found[path.relative_to(root).as_posix()] = None if path.is_symlink() else path.read_bytes()
    return found


BEFORE = (v.task / "workspace" / "barcode.py").read_text(encoding="utf-8")
START, END = BEFORE.index("def ean(s):"), BEFORE.index("\n\ndef isbn(s):")


def digit(body: str) -> int:
    """The check digit of an EAN, by its definition."""
    return -sum(int(sign) * (1 if at % 2 else 3) for at, sign in enumerate(reversed(body))) % 10


@v.check("every-digit")
def every_digit() -> None:
    """Many codes of both lengths; each digit comes up."""
    bodies = [f"{n * 7368787 % 10**12:012d}" for n in range(1, 120)] + [f"{n * 90001 % 10**7:07d}" for n in range(120)]
    v.equal(v.calls("barcode", "ean", [([body], {}) for body in bodies]), [digit(body) for body in bodies], "ean")
    codes = [(body, last) for body in bodies[::10] for last in range(10)]
    kinds = {7: "ean8", 12: "ean13"}
    got = v.calls("barcode", "check", [([kinds[len(body)], f"{body}{last}"], {}) for body, last in codes])
    v.equal([bool(value) for value in got], [digit(body) == last for body, last in codes], "check")


@v.check("outside-untouched")
def outside_untouched() -> None:
    """What stands before and after the function is what stood there."""
    now = v.read("barcode.py")
    before, after = BEFORE[:START].encode(), BEFORE[END:].encode()
    if not now.startswith(before) or not now.endswith(after) or len(now) < len(before) + len(after):
        raise Failed("barcode.py differs outside the function ean")


@v.check("two-lines")
def two_lines() -> None:
    """Two lines are changed or added at most, none is removed without one in its place."""
    matcher = difflib.SequenceMatcher(None, BEFORE.splitlines(), v.text("barcode.py").splitlines(), autojunk=False)
    changed = sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")
    if changed > 2:
        raise Failed(f"{changed} lines are changed, added or removed")


@v.check("other-functions")
def other_functions() -> None:
    """isbn, digits and the results of check are what they were, with their types."""
    v.equal(
        v.calls("barcode", "isbn", [(["030640615"], {}), (["155404295"], {}), (["000000000"], {})]), [2, "X", 0], "isbn"
    )
    v.equal(v.call("barcode", "digits", ["a1-2 x"]), [1, 2], "digits")
    asked = [["isbn", "155404295x"], ["isbn", "1554042951"], ["ean8", "73513537"], ["ean8", "73513538"], ["upc", "1"]]
    v.equal(v.calls("barcode", "check", [(args, {}) for args in asked]), [True, False, 1, 0, 0], "check")
    result = v.run(["python3", "barcode.py", "ean8", "73513530"])
    v.equal([result.status, result.stdout], [1, b"wrong\n"], "the command line")


@v.check("files-kept")
def files_kept() -> None:
    """No other file is changed, added or gone."""
    before, after = tree(v.task / "workspace"), tree(v.workspace)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    v.equal(sorted(changed - {"barcode.py"}), [], "other files")


v.finish()
