"""Hidden checks of multi-file-rename: the new name works, the old one is nowhere, nothing else has moved."""

import os
import re
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


BOOKS = "3;Emma;1815\n\n10;Dracula;1897\n4;Walden;1854\n"


@v.check("new-name")
def new_name() -> None:
    """load_records stands in shelf.store, is exported, reads files and has a docstring."""
    got = v.call("shelf", "load_records", ["books.txt"], files={"books.txt": BOOKS})
    v.equal(got, [[3, "Emma", 1815], [10, "Dracula", 1897], [4, "Walden", 1854]], "load_records")
    code = (
        "import shelf.store as s, shelf\nf = s.load_records\nprint(f.__name__, f.__module__, f is shelf.load_records)\n"
    )
    v.equal(v.ok(v.run(["python3", "-c", code])).text, "load_records shelf.store True\n", "the function")


@v.check("no-old-name")
def no_old_name() -> None:
    """No file but the changelog has the old name, no module answers to it."""
    for name, content in sorted(tree(v.workspace).items()):
        if name != "CHANGELOG.md" and re.search(rb"\bfetch_all\b", content or b""):
            raise Failed(f"{name} still has the old name")
        if re.search(r"\bfetch_all\b", name.replace("/", " ").replace(".", " ")):
            raise Failed(f"a file is still called {name}")
    code = (
        "import importlib, shelf\nfor name in ('shelf', 'shelf.store', 'shelf.steps', 'shelf.__main__'):\n"
        "    print(hasattr(importlib.import_module(name), 'fetch_' + 'all'))\n"
    )
    v.equal(v.ok(v.run(["python3", "-c", code])).text, "False\n" * 4, "modules that answer to the old name")


@v.check("own-tests")
def own_tests() -> None:
    """The program's tests pass under the new name, both of them, and still patch what the pages use."""
    result = v.ok(v.run(["python3", "-m", "unittest", "tests.test_shelf"]))
    ran = re.search(rb"\nRan (\d+) tests? in ", result.stderr)
    if ran is None or int(ran[1]) < 2:
        raise Failed(f"tests are missing: {result}")
    text = v.text("tests/test_shelf.py")
    if "shelf.store.load_records" not in text or "fetch_all_pages" not in text:
        raise Failed("the tests no longer patch shelf.store.load_records or no longer use fetch_all_pages")


@v.check("similar-name-kept")
def similar_name_kept() -> None:
    """fetch_all_pages keeps its name, in code, in the exports and in the guide."""
    got = v.call("shelf", "fetch_all_pages", ["books.txt", 2], files={"books.txt": BOOKS})
    v.equal([len(page) for page in got] if isinstance(got, list) else got, [2, 1], "sizes of pages")
    for path in ("shelf/__init__.py", "shelf/store.py", "docs/guide.md"):
        before = (v.task / "workspace" / path).read_text(encoding="utf-8").count("fetch_all_pages")
        v.equal(v.text(path).count("fetch_all_pages"), before, f"mentions of fetch_all_pages in {path}")


@v.check("history-kept")
def history_kept() -> None:
    """The changelog is what it was."""
    before = (v.task / "workspace" / "CHANGELOG.md").read_text(encoding="utf-8")
    v.equal(v.text("CHANGELOG.md"), before, "CHANGELOG.md")


@v.check("program-works")
def program_works() -> None:
    """Both commands, the second by the names in steps.toml."""
    files = {"books.txt": BOOKS}
    result = v.ok(v.run(["python3", "-m", "shelf", "list", "books.txt"], files=files))
    v.equal(result.text, "   3  Emma (1815)\n  10  Dracula (1897)\n   4  Walden (1854)\n", "list")
    v.equal(
        v.ok(v.run(["python3", "-m", "shelf", "run", "books.txt"], files=files)).text, "Dracula\nWalden\nEmma\n", "run"
    )


v.finish()
