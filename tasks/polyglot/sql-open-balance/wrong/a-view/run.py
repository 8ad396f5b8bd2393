"""Prints a report: python3 run.py DATABASE QUERY"""

import sqlite3
import sys
from pathlib import Path


def main(database, query):
    text = (Path(__file__).parent / "queries" / f"{query}.sql").read_text(encoding="utf-8")
    database = sqlite3.connect(database)
    database.executescript(text)
    found = database.execute("SELECT * FROM report")
    print("\t".join(column[0] for column in found.description))
    for row in found:
        print("\t".join("NULL" if value is None else str(value) for value in row))


if __name__ == "__main__":
    main(*sys.argv[1:])
