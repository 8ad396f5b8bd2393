"""Hidden checks of refactor-extract-helper: behaviour on a grid, and the block in one place."""

import ast
import itertools
import json
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


LINES = ["a=1", " B  c = 2,5 # x", "# only", "", "a = -3", "b C=1e2", "z=0.005", "A = 1.", "é=7", "b\tc = 0"]
TEXTS = ["\n".join(lines) for lines in itertools.combinations(LINES, 3)] + [
    "\r\n".join(LINES),
    "",
    "\n\n",
    "a=1\n" * 30,
]
BAD = ["a", "=1", "a=", "a = # 1", "a=x", "a=nan", "a=inf", "a=-Infinity", "a=1=2", "a=1 2", "  = 4", "a=1,2,3"]


def read(text: str) -> list[tuple[str, float]]:
    """The entries of a text, as the README has them."""
    kept = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in kept if line]
    return [(" ".join(name.split()).lower(), float(amount.strip().replace(",", "."))) for name, _, amount in pairs]


def functions() -> tuple[ast.Module, dict[str, ast.FunctionDef]]:
    """The product's syntax tree and its top-level functions."""
    try:
        module = ast.parse(v.text("budget.py"))
    except (SyntaxError, ValueError) as error:
        raise Failed(f"budget.py: {error}") from None
    return module, {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}


@v.check("entries")
def entries() -> None:
    """entries reads what the three functions have been reading."""
    code = (
        "import budget, json, sys\n"
        "print(json.dumps([[list(pair) for pair in budget.entries(text)] for text in json.load(sys.stdin)]))\n"
    )
    result = v.run(["python3", "-c", code], stdin=json.dumps(TEXTS).encode())
    v.equal(v.ok(result).json(), [[list(pair) for pair in read(text)] for text in TEXTS], "entries of every text")


@v.check("used-by-all")
def used_by_all() -> None:
    """totals, over and changes call entries; entries stands in budget.py."""
    _, found = functions()
    if "entries" not in found:
        raise Failed("budget.py defines no function entries")
    for name in ("totals", "over", "changes"):
        calls = [node.func for node in ast.walk(found.get(name, ast.Module([], []))) if isinstance(node, ast.Call)]
        if not any(isinstance(call, ast.Name) and call.id == "entries" for call in calls):
            raise Failed(f"{name} does not call entries")


@v.check("duplication-gone")
def duplication_gone() -> None:
    """What the block does is written once: each of its tell-tale pieces occurs once in the tree."""
    module, found = functions()
    nodes = list(ast.walk(module))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    plain = [node for node in calls if not (node.args and isinstance(node.args[0], ast.Constant))]  # not float("inf")
    called = [ast.unparse(node.func).rpartition(".")[2] for node in plain]
    for name in ("splitlines", "enumerate", "float", "lower"):
        if called.count(name) > 1:
            raise Failed(f"{name} is called in {called.count(name)} places")
    signs = [node.args[0].value for node in calls if node.args and isinstance(node.args[0], ast.Constant)]
    for sign in ("#", "=", ","):
        if signs.count(sign) > 1:
            raise Failed(f"{sign!r} is looked for in {signs.count(sign)} places")
    for name in ("totals", "over", "changes"):
        if name in found and any(isinstance(node, ast.Raise | ast.Try) for node in ast.walk(found[name])):
            raise Failed(f"{name} still reads lines itself")
    copies = repeated(module)
    if copies:
        raise Failed(f"repeated: {copies[0][:300]}")


def repeated(module: ast.Module) -> list[str]:
    """Runs of three statements that occur twice, whatever the variables are called."""
    seen: dict[str, int] = {}
    for node in ast.walk(module):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            plain = [shape(statement) for statement in body] if isinstance(body, list) else []
            for at in range(len(plain) - 2):
                seen["\n".join(plain[at : at + 3])] = seen.get("\n".join(plain[at : at + 3]), 0) + 1
    return [run for run, times in seen.items() if times > 1]


def shape(statement: ast.stmt) -> str:
    """A statement with every variable called the same."""
    copy = ast.parse(ast.unparse(statement))
    for node in ast.walk(copy):
        if isinstance(node, ast.Name):
            node.id = "x"
    return ast.unparse(copy)


@v.check("behaviour")
def behaviour() -> None:
    """The three functions return what they always returned."""
    for text, got in zip(TEXTS, v.calls("budget", "totals", [([text], {}) for text in TEXTS]), strict=True):
        want: dict[str, float] = {}
        for name, value in read(text):
            want[name] = round(want.get(name, 0.0) + value, 2)
        v.equal(
            [list(pair) for pair in got.items()] if isinstance(got, dict) else got,
            [list(p) for p in want.items()],
            "totals",
        )
    limits = [-3, 0, 0.005, 2.4]
    asked = [(text, limit) for text in TEXTS[::5] for limit in limits]
    for (text, limit), got in zip(asked, v.calls("budget", "over", [([t, n], {}) for t, n in asked]), strict=True):
        v.equal(got, [name for name, value in read(text) if value > limit], f"over({text!r}, {limit})")
    pairs = list(zip(TEXTS[::3], TEXTS[1::3], strict=False))
    for (old, new), got in zip(pairs, v.calls("budget", "changes", [([a, b], {}) for a, b in pairs]), strict=True):
        before, after = dict(read(old)), dict(read(new))
        names = [*before, *(name for name in after if name not in before)]
        want_rows = [[n, before.get(n), after.get(n)] for n in names if before.get(n) != after.get(n)]
        v.equal(got, want_rows, f"changes({old!r}, {new!r})")


@v.check("errors")
def errors() -> None:
    """Every bad line is found by every function, with the message it always had."""
    code = """
import budget, json, sys
answers = []
for bad in json.load(sys.stdin):
    text = "ok = 1\\n\\n" + bad + "\\nok = 2"
    for function, args in ((budget.totals, [text]), (budget.over, [text, 1e9]), (budget.changes, [text, text])):
        try:
            answers.append(["no error", repr(function(*args))])
        except Exception as error:
            answers.append([type(error).__name__, str(error)])
print(json.dumps(answers))
"""
    answers = v.ok(v.run(["python3", "-c", code], stdin=json.dumps(BAD).encode())).json()
    v.equal(answers, [["ValueError", f"line 3: {bad!r}"] for bad in BAD for _ in range(3)], "errors")


@v.check("files-kept")
def files_kept() -> None:
    """No other file is changed, added or gone."""
    before, after = tree(v.task / "workspace"), tree(v.workspace)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    v.equal([name for name in changed if name != "budget.py"], [], "changed files beside budget.py")


v.finish()
