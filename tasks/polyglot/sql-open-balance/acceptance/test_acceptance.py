"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROWS = """
INSERT INTO customers VALUES (1, 'Bo'), (2, 'Ane'), (3, 'Cai');
INSERT INTO invoices VALUES
    (1, 1, '2024-01-10', 1000, 'sent'), (2, 1, '2024-01-20', 500, 'sent'), (3, 2, '2024-02-01', 300, 'sent'),
    (4, 2, '2023-01-01', 999, 'void');
INSERT INTO payments VALUES (1, 1, '2024-01-15', 400), (2, 1, '2024-03-01', 600);
"""
WANT = """\
customer\tmonth\tcharged\tpaid\tbalance
Ane\t2024-02\t300\t0\t300
Ane\t2024-03\t0\t0\t300
Bo\t2024-01\t1500\t400\t1100
Bo\t2024-02\t0\t0\t1100
Bo\t2024-03\t0\t600\t500
"""


class Balance(unittest.TestCase):
    def test_balance(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.db"
            database = sqlite3.connect(path)
            database.executescript(Path("schema.sql").read_text() + ROWS)
            database.close()
            done = subprocess.run(
                [sys.executable, "run.py", path, "balance"], capture_output=True, text=True, timeout=30, check=False
            )
        self.assertEqual((done.stdout, done.stderr), (WANT, ""))


if __name__ == "__main__":
    unittest.main()
