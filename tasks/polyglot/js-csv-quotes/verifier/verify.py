"""Hidden checks of js-csv-quotes: other texts than the visible test, and everything that had to stay."""

import json
import re

from fairtrial.verify import Failed, Verification

v = Verification()
# Answers on standard output, one JSON document: for each text its rows, or [name, message] of the error.
ASK = """\
import { readFileSync } from "node:fs";
const { parse, stringify } = await import(process.cwd() + "/lib/csv.mjs");
const answers = JSON.parse(readFileSync(0, "utf8")).map((text) => {
  try {
    return { rows: typeof text === "string" ? parse(text) : stringify(text) };
  } catch (error) {
    return { error: [error.name, error.message] };
  }
});
process.stdout.write(JSON.stringify(answers));
"""
SUITE = {
    path.relative_to(v.task / "workspace").as_posix(): path.read_bytes()
    for path in sorted((v.task / "workspace" / "test").rglob("*.mjs"))
}


def ask(*asked: object) -> list[object]:
    """What the module makes of each text (parse) or each array of rows (stringify)."""
    result = v.run(["node", "--input-type=module", "-e", ASK], stdin=json.dumps(asked).encode(), timeout=30)
    answers = v.ok(result).json()
    if not isinstance(answers, list) or len(answers) != len(asked):
        raise Failed(f"no answer to every question: {result}")
    return answers


def rows(cases: dict[str, list[list[str]]]) -> None:
    """parse must return exactly these rows."""
    for (text, want), got in zip(cases.items(), ask(*cases), strict=True):
        v.equal(got, {"rows": want}, f"rows of {text!r}")


@v.check("quoted-fields")
def quoted_fields() -> None:
    """Commas, doubled quotes, empty quoted fields, blanks kept."""
    rows(
        {
            '" a ,b",c': [[" a ,b", "c"]],
            '"",""\n': [["", ""]],
            '""""\n': [['"']],
            'x,"""y""",z\nq,"r"\n': [["x", '"y"', "z"], ["q", "r"]],
            '"a","b,c","d"\r\n': [["a", "b,c", "d"]],
            '"last",': [["last", ""]],
        }
    )


@v.check("line-breaks")
def line_breaks() -> None:
    """Quoted line breaks stay as they are, and do not end the row."""
    rows(
        {
            '"a\r\nb",c\r\nd\r\n': [["a\r\nb", "c"], ["d"]],
            'k,"\n\n"\nz,"\r"\n': [["k", "\n\n"], ["z", "\r"]],
            '"x\n"': [["x\n"]],
        }
    )


@v.check("errors")
def errors() -> None:
    """Both messages, with the line on which the field begins; a quoted line break counts as a line."""
    open_, after = "a quoted field is not closed", "text after a closing quote"
    cases = {
        '"': f"line 1: {open_}",
        'a\r\nb,"c\nd\n': f"line 2: {open_}",
        '"a\nb\nc",d\n"e': f"line 4: {open_}",
        '"a"b\n': f"line 1: {after}",
        'a\n"b" ,c\n': f"line 2: {after}",
        '"1\n2",3\nx,"4\n5"6\n': f"line 3: {after}",
        '"a"\rb': f"line 1: {after}",
    }
    for (text, want), got in zip(cases.items(), ask(*cases), strict=True):
        v.equal(got, {"error": ["SyntaxError", want]}, f"error of {text!r}")


@v.check("round-trip")
def round_trip() -> None:
    """What stringify writes, parse reads."""
    table = [["a", 'b"c', "d,e"], ["", "f\r\ng", '"'], ["h\n", " i ", '""']]
    (written,) = ask(table)
    v.equal(ask(written["rows"])[0], {"rows": table}, "rows after stringify and parse")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Texts without a quoted field give what they always gave; stringify is the same."""
    rows(
        {
            "": [],
            "\n": [[""]],
            "a,,b\r\n\r\n,": [["a", "", "b"], [""], ["", ""]],
            'say "hi",5" pipe\n x"\n': [['say "hi"', '5" pipe'], [' x"']],
            "a\rb,c\r\n": [["a\rb", "c"]],
            "\ufeffa, b ,c\n": [["\ufeffa", " b ", "c"]],
        }
    )
    got = ask([["a,b", 'c"d', "e\nf"], [1, None, ""]])[0]
    v.equal(got, {"rows": '"a,b","c""d","e\nf"\r\n1,null,\r\n'}, "text of stringify")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    argv = ["node", "--test", "--test-reporter=tap", "test/csv.test.mjs"]
    result = v.ok(v.run(argv, files=SUITE, timeout=30))
    passed = set(re.findall(r"^ *ok \d+ - (.+)$", result.text, re.M))
    names = re.findall(r'^test\("(.+?)",', SUITE["test/csv.test.mjs"].decode(), re.M)
    missing = [name for name in names if name not in passed]
    if missing:
        raise Failed(f"of the suite did not run: {missing}")


v.finish()
