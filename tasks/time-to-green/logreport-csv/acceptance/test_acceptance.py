"""The visible acceptance test. Run it with: python3 -m unittest acceptance.test_acceptance"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LOG = """2024-05-06 10:00:00 INFO web: up
2024-05-06 10:00:05 ERROR web: lost peer, again
2024-05-06 11:30:00 FATAL db: gone
bad
"""


class Csv(unittest.TestCase):
    def report(self, *argv):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "app.log"
            path.write_text(LOG, encoding="utf-8")
            argv = [sys.executable, "logreport.py", *argv, str(path)]
            done = subprocess.run(argv, capture_output=True, timeout=30, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_summary(self):
        expected = (
            "section,name,value\ntotal,entries,3\ntotal,bad lines,1\ntotal,first,2024-05-06 10:00:00\n"
            "total,last,2024-05-06 11:30:00\ntotal,span,5400\nlevel,FATAL,1\nlevel,ERROR,1\nlevel,INFO,1\n"
            "component,web,2\ncomponent,db,1\n"
        )
        self.assertEqual(self.report("summary", "-f", "csv"), (0, expected, ""))

    def test_errors(self):
        expected = (
            'time,level,component,text\n2024-05-06 10:00:05,ERROR,web,"lost peer, again"\n'
            "2024-05-06 11:30:00,FATAL,db,gone\n"
        )
        self.assertEqual(self.report("errors", "-f", "csv"), (0, expected, ""))

    def test_hours(self):
        self.assertEqual(self.report("hours", "-f", "csv"), (0, "hour,entries\n10,2\n11,1\n", ""))

    def test_text_by_name(self):
        self.assertEqual(self.report("hours", "-f", "text"), self.report("hours"))

    def test_unknown_format(self):
        status, out, err = self.report("hours", "-f", "xml")
        self.assertEqual((status, out), (2, ""))
        self.assertTrue(err.startswith("logreport: unknown format 'xml'\nusage: "), err)


if __name__ == "__main__":
    unittest.main()
