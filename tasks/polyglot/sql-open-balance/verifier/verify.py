"""Hidden checks of sql-open-balance: other data, and rows that the visible test does not have."""

import re
import sqlite3
import tempfile
from pathlib import Path

from fairtrial.verify import Failed, Verification

v = Verification()
START = v.task / "workspace"
HEAD = "customer\tmonth\tcharged\tpaid\tbalance\n"


def report(rows: str) -> str:
    """What run.py, as it was handed out, prints for a database with these rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        database = sqlite3.connect(path)
        database.executescript((START / "schema.sql").read_text() + rows)
        database.close()
        content = path.read_bytes()
    files = {"hidden.db": content, "run.py": (START / "run.py").read_bytes()}
    return v.ok(v.run(["python3", "run.py", "hidden.db", "balance"], files=files, timeout=20)).text


def compare(rows: str, *lines: str) -> None:
    """The printed table; blanks in `lines` stand for tabs."""
    want = HEAD + "".join(re.sub(" +", "\t", line) + "\n" for line in lines)
    v.equal(report(rows), want, "table")


@v.check("balances")
def balances() -> None:
    """Several invoices with several payments each; over-payment; two customers of one name; order by name and id."""
    compare(
        """
        INSERT INTO customers VALUES (7, 'Zoe'), (3, 'Ida'), (5, 'Ida');
        INSERT INTO invoices VALUES (1, 7, '2024-05-31', 1000, 'sent'), (2, 7, '2024-05-01', 10, 'draft'),
            (3, 5, '2024-05-02', 200, 'sent'), (4, 3, '2024-04-30', 1, 'sent'), (5, 3, '2024-05-01', 2, 'sent');
        INSERT INTO payments VALUES (1, 1, '2024-05-31', 300), (2, 1, '2024-05-31', 300), (3, 2, '2024-05-02', 10),
            (4, 3, '2024-05-03', 250), (5, 4, '2024-05-09', 1);
        """,
        "Ida 2024-04 1 0 1",
        "Ida 2024-05 2 1 2",
        "Ida 2024-05 200 250 -50",
        "Zoe 2024-05 1010 610 400",
    )


@v.check("quiet-months")
def quiet_months() -> None:
    """Months without entries, over a year's end; everybody goes on to the last month of anybody; nobody without entries."""
    compare(
        """
        INSERT INTO customers VALUES (1, 'Ada'), (2, 'Ben'), (3, 'Cid');
        INSERT INTO invoices VALUES (1, 1, '2023-11-30', 5, 'sent'), (2, 2, '2023-12-31', 7, 'sent');
        INSERT INTO payments VALUES (1, 2, '2024-02-29', 7);
        """,
        "Ada 2023-11 5 0 5",
        "Ada 2023-12 0 0 5",
        "Ada 2024-01 0 0 5",
        "Ada 2024-02 0 0 5",
        "Ben 2023-12 7 0 7",
        "Ben 2024-01 0 0 7",
        "Ben 2024-02 0 7 0",
    )
    compare("INSERT INTO customers VALUES (1, 'Ada');")


@v.check("missing-values")
def missing_values() -> None:
    """Void invoices and their payments, amounts that are NULL, a payment before every invoice."""
    compare(
        """
        INSERT INTO customers VALUES (1, 'Ada'), (2, 'Ben'), (3, 'Cid'), (4, 'Dot');
        INSERT INTO invoices VALUES (1, 1, '2024-01-01', 100, 'void'), (2, 1, '2024-03-01', 40, 'sent'),
            (3, 2, '2024-02-01', NULL, 'sent'), (4, 3, '2024-03-05', 9, 'void'), (5, 4, '2024-03-05', 50, 'sent'),
            (6, 3, '2024-06-05', 9, 'void');
        INSERT INTO payments VALUES (1, 1, '2024-02-01', 30), (2, 3, '2024-03-01', NULL), (3, 5, '2024-02-28', 20);
        """,
        "Ada 2024-02 0 30 -30",
        "Ada 2024-03 40 0 10",
        "Ben 2024-02 0 0 0",
        "Ben 2024-03 0 0 0",
        "Dot 2024-02 0 20 -20",
        "Dot 2024-03 50 0 30",
    )


@v.check("one-query")
def one_query() -> None:
    """One statement that reads: it runs on a database opened for reading, by the run.py that was handed out."""
    text = v.text("queries/balance.sql")
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S).strip()
    if not re.match(r"(?i)(select|with)\b", bare):
        raise Failed("queries/balance.sql does not begin with SELECT or WITH")
    if not sqlite3.complete_statement(bare.rstrip(";") + ";") or re.search(r"(?i)\b(attach|pragma|insert|create)\b", bare):
        raise Failed("queries/balance.sql is not one SELECT statement")
    report("INSERT INTO customers VALUES (1, 'Ada');")


@v.check("rest-untouched")
def rest_untouched() -> None:
    """schema.sql, run.py and the other query are byte for byte what was handed out."""
    for path in ("schema.sql", "run.py", "queries/unpaid.sql"):
        if v.read(path) != (START / path).read_bytes():
            raise Failed(f"{path} was changed")


v.finish()
