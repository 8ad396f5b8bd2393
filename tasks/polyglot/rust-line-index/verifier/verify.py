"""Hidden checks of rust-line-index: one driver program around the product's module, asked about many offsets."""

from fairtrial.verify import Failed, Verification

v = Verification()
# A line of input is a text in hexadecimal, a blank and a command: p OFFSET, o LINE COLUMN, n, t LINE.
DRIVER = """\
#[path = "src/line_index.rs"]
mod line_index;
use line_index::{LineIndex, Position};

fn answer(text: &str, words: &[&str]) -> String {
    let index = LineIndex::new(text);
    let number = |at: usize| words[at].parse::<usize>().unwrap();
    match words[0] {
        "p" => index.position(number(1)).map_or("None".into(), |p| format!("{} {}", p.line, p.column)),
        "o" => {
            let position = Position { line: number(1), column: number(2) };
            index.offset(position).map_or("None".into(), |offset| offset.to_string())
        }
        "n" => index.line_count().to_string(),
        _ => format!("{:?}", index.line_text(number(1))),
    }
}

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (hex, command) = line.split_once(' ').unwrap();
        let pairs = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        let text = String::from_utf8(pairs.collect()).unwrap();
        println!("{}", answer(&text, &command.split(' ').collect::<Vec<_>>()));
    }
}
"""
# As any caller would use it: derives, fields, lifetimes. Compiling is the whole check.
CALLER = """\
#[path = "src/line_index.rs"]
mod line_index;
#[path = "src/report.rs"]
mod report;
use line_index::{LineIndex, Position};

fn first<'a>(text: &'a str) -> Option<&'a str> {
    LineIndex::new(text).line_text(0)
}

fn main() {
    let here: Position = LineIndex::new("a").position(0usize).unwrap();
    let copy = here;
    let (line, column): (usize, usize) = (here.line, copy.column);
    assert!(copy == Position { line, column } && format!("{here:?}").contains("column"));
    println!("{:?} {}", first("x\\ny"), report::report("é\\r\\nb", 4, "odd").replace('\\n', "|"));
}
"""
TEXTS = ["", "abc", "aé€x\ny", "é\r\n\r\nb\n", "a\rb\r\rc\r\nd", "\n\n", "x\r", "😀é\n😀", "€\r\n"]
built = []


def ask(questions: list[tuple[str, str]]) -> list[str]:
    """The driver's answers to (text, command) pairs; it is compiled once."""
    if not built:
        argv = ["rustc", "--edition", "2021", "-A", "warnings", "-o", "hidden_driver", "hidden_driver.rs"]
        built.append(v.run(argv, files={"hidden_driver.rs": DRIVER}, timeout=100))
    v.ok(built[0])
    lines = "".join(f"{text.encode().hex()} {command}\n" for text, command in questions)
    result = v.ok(v.run(["./hidden_driver"], stdin=lines.encode(), at=built[0].folder, timeout=20))
    answers = result.text.splitlines()
    if len(answers) != len(questions):
        raise Failed(f"{len(answers)} answers to {len(questions)} questions: {result}")
    return answers


def lines_of(text: str) -> list[tuple[int, str, int]]:
    """(start in bytes, text without its end, length in bytes without its end) of every line."""
    found, start = [], 0
    parts = text.split("\n")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        shown = part[:-1] if part.endswith("\r") and not last else part
        found.append((start, shown, len(shown.encode())))
        start += len(part.encode()) + 1
    return found


def position(text: str, offset: int) -> str:
    """What `position` must answer."""
    if offset > len(text.encode()):
        return "None"
    lines = lines_of(text)
    number = max(n for n, (start, _, _) in enumerate(lines) if start <= offset)
    start, shown, size = lines[number]
    inside = shown.encode()[: offset - start]
    column = len(inside.decode("utf-8", "ignore")) if offset - start < size else len(shown)
    return f"{number} {column}"


def compare(questions: list[tuple[str, str]], wanted: list[str]) -> None:
    """Every answer is as wanted."""
    for (text, command), got, want in zip(questions, ask(questions), wanted, strict=True):
        v.equal(got, want, f"{command} in {text!r}")


@v.check("columns")
def columns() -> None:
    """Characters, also for offsets inside one; lines that end with a bare newline."""
    plain = [text for text in TEXTS if "\r" not in text]
    questions = [(text, offset) for text in plain for offset in range(len(text.encode()) + 1)]
    compare([(t, f"p {o}") for t, o in questions], [position(t, o) for t, o in questions])


@v.check("line-ends")
def line_ends() -> None:
    """Carriage returns: half of a line end, or characters."""
    odd = [text for text in TEXTS if "\r" in text]
    questions = [(text, offset) for text in odd for offset in range(len(text.encode()) + 1)]
    compare([(t, f"p {o}") for t, o in questions], [position(t, o) for t, o in questions])


@v.check("edges")
def edges() -> None:
    """Behind the end there is no position."""
    questions = [(text, len(text.encode()) + more) for text in TEXTS for more in (1, 2, 1000)]
    compare([(t, f"p {o}") for t, o in questions], ["None"] * len(questions))


@v.check("way-back")
def way_back() -> None:
    """From every line and column to the byte offset."""
    questions, wanted = [], []
    for text in TEXTS:
        lines = lines_of(text)
        for number, (start, shown, _) in enumerate(lines):
            for column in range(len(shown) + 3):
                questions.append((text, f"o {number} {column}"))
                fits = column <= len(shown)
                wanted.append(str(start + len(shown[:column].encode())) if fits else "None")
        questions.append((text, f"o {len(lines)} 0"))
        wanted.append("None")
    compare(questions, wanted)


@v.check("lines-kept")
def lines_kept() -> None:
    """line_count and line_text answer as before."""
    compare([(text, "n") for text in TEXTS], [str(len(lines_of(text))) for text in TEXTS])
    compare(
        [("é\r\n\r\nb\n", f"t {line}") for line in range(5)],
        ['Some("é")', 'Some("")', 'Some("b")', 'Some("")', "None"],
    )


@v.check("callers-compile")
def callers_compile() -> None:
    """src/report.rs as it was handed out, and code that uses every promised part, still compile and run."""
    files = {"hidden_caller.rs": CALLER, "src/report.rs": (v.task / "workspace" / "src" / "report.rs").read_bytes()}
    argv = ["rustc", "--edition", "2021", "-A", "warnings", "-o", "hidden_caller", "hidden_caller.rs"]
    done = v.ok(v.run(argv, files=files, timeout=100))
    result = v.ok(v.run(["./hidden_caller"], at=done.folder))
    v.equal(result.text, 'Some("x") 2:1: odd|b|\n', "output of a caller")
    if v.read("src/report.rs") != files["src/report.rs"]:
        raise Failed("src/report.rs was changed")


v.finish()
