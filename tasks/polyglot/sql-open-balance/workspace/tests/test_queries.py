import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROWS = """
INSERT INTO customers VALUES (1, 'Ane');
INSERT INTO invoices VALUES (1, 1, '2024-02-01', 500, 'sent'), (2, 1, '2024-01-01', 700, 'sent'), (3, 1, '2024-01-02', 1, 'void');
INSERT INTO payments VALUES (1, 1, '2024-02-03', 500);
"""


class Queries(unittest.TestCase):
    def test_unpaid(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.db"
            database = sqlite3.connect(path)
            database.executescript(Path("schema.sql").read_text() + ROWS)
            database.close()
            done = subprocess.run([sys.executable, "run.py", path, "unpaid"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "invoice\tday\n2\t2024-01-01\n")


if __name__ == "__main__":
    unittest.main()
