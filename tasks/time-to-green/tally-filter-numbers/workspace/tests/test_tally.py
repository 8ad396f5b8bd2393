"""Tests of tally. Run them with: python3 -m unittest"""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from tally.cli import main
from tally.numbers import format_number, median, parse_number
from tally.table import TallyError

SHOP = """item,qty,price,city
pen,3,1.50,Oslo
ink,,12.25,Bergen
"pad, lined",7,4,Oslo

cap,5,0.75,
"""


class Case(unittest.TestCase):
    """Runs the command on a file with the shop's rows."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.shop = self.write("shop.csv", SHOP)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def tally(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(list(argv))
        return status, out.getvalue(), err.getvalue()

    def prints(self, expected, *argv):
        self.assertEqual(self.tally(*argv), (0, expected, ""))

    def refuses(self, message, *argv):
        self.assertEqual(self.tally(*argv), (2, "", f"tally: {message}\n"))


class Commands(Case):
    def test_count_of_rows_and_of_cells(self):
        self.prints("4\n", "count", self.shop)
        self.prints("3\n", "count", self.shop, "--column", "qty")

    def test_sum_leaves_empty_cells_out(self):
        self.prints("15\n", "sum", self.shop, "qty")
        self.prints("18.5\n", "sum", self.shop, "price")

    def test_stats_prints_six_figures(self):
        self.prints("count: 3\nsum: 15\nmin: 3\nmax: 7\nmean: 5\nmedian: 5\n", "stats", self.shop, "qty")

    def test_stats_rounds_to_two_decimals(self):
        path = self.write("third.csv", "v\n1\n1\n2\n")
        self.prints("count: 3\nsum: 4\nmin: 1\nmax: 2\nmean: 1.33\nmedian: 1\n", "stats", path, "v")

    def test_stats_of_nothing(self):
        path = self.write("none.csv", "v,w\n,1\n")
        self.prints("count: 0\nsum: 0\nmin: -\nmax: -\nmean: -\nmedian: -\n", "stats", path, "v")

    def test_columns(self):
        self.prints("item\nqty\nprice\ncity\n", "columns", self.shop)

    def test_head_keeps_quotes(self):
        self.prints("item,qty,price,city\npen,3,1.50,Oslo\n", "head", self.shop, "-n", "1")
        self.assertIn('"pad, lined",7,4,Oslo\n', self.tally("head", self.shop)[1])

    def test_filter_by_text(self):
        self.prints('item,qty,price,city\npen,3,1.50,Oslo\n"pad, lined",7,4,Oslo\n', "filter", self.shop, "city=Oslo")
        self.prints("item,qty,price,city\nink,,12.25,Bergen\n", "filter", self.shop, "city!=Oslo", "item~n")

    def test_filter_with_a_sign(self):
        self.prints('item,qty,price,city\n"pad, lined",7,4,Oslo\n', "filter", self.shop, "qty>5")

    def test_unique_most_frequent_first(self):
        self.prints("2\tOslo\n1\t\n1\tBergen\n", "unique", self.shop, "city")

    def test_another_delimiter_is_read_and_written(self):
        path = self.write("semi.csv", "a;b\n1,5;x\n")
        self.prints("a;b\n1,5;x\n", "head", path, "--delimiter", ";")


class Refusals(Case):
    def test_unknown_column(self):
        self.refuses("no column 'size' (columns: item, qty, price, city)", "sum", self.shop, "size")

    def test_not_a_number(self):
        self.refuses("not a number: 'Oslo'", "sum", self.shop, "city")

    def test_not_a_condition(self):
        self.refuses("not a condition: 'qty' (such as qty>=10)", "filter", self.shop, "qty")

    def test_row_longer_than_the_header(self):
        path = self.write("long.csv", "a,b\n1,2\n1,2,3\n")
        self.refuses("line 3: 3 cells, the header has 2", "count", path)

    def test_empty_file_and_missing_file(self):
        path = self.write("empty.csv", "\n")
        self.refuses(f"{path} is empty", "count", path)
        self.refuses(f"cannot read {path}x: No such file or directory", "count", path + "x")

    def test_long_delimiter(self):
        self.refuses("the delimiter is one character", "count", self.shop, "--delimiter", "::")


class Numbers(unittest.TestCase):
    def test_parse(self):
        for text, value in (("12", 12), (" -3 ", -3), ("+.5", 0.5), ("7.", 7.0)):
            self.assertEqual(parse_number(text), value)
        for text in ("", "1e3", "1_000", "nan", "0x10", "1 2", "--1"):
            with self.assertRaises(TallyError):
                parse_number(text)

    def test_format(self):
        texts = [format_number(value) for value in (7, 2.0, 2.5, 2.456, -0.001)]
        self.assertEqual(texts, ["7", "2", "2.5", "2.46", "0"])

    def test_median(self):
        self.assertEqual(median([9, 1, 5]), 5)
        self.assertEqual(median([4, 1, 2, 9]), 3)


if __name__ == "__main__":
    unittest.main()
