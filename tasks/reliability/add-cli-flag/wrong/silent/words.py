"""Counts words: python3 words.py [--least N] [--ignore FILE] [FILE ...]"""

import argparse
import re
import sys

WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


def words(text):
    """The words of a text in lower case; hyphens and apostrophes may stand inside."""
    return [word.lower() for word in WORD.findall(text)]


def read(paths):
    """The text of all files, standard input when there are none."""
    if not paths:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    parts = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as stream:
            parts.append(stream.read())
    return "\n".join(parts)


def ignored(paths):
    """The words of all lists, comments left out."""
    return set(words(re.sub("#.*", "", read(paths)))) if paths else set()


def report(counted, least):
    """Lines of the table: most frequent first, ties in order of appearance."""
    total = sum(counted.values())
    yield f"{'count':>7}   {'share':>6}  word "
    for word, times in sorted(counted.items(), key=lambda item: -item[1]):
        if times >= least:
            yield f"{times:>7}   {100 * times / total:>5.1f}%  {word} "
    yield ""
    yield f"{total} words, {len(counted)} different"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="words.py")
    parser.add_argument("--least", type=int, default=1, metavar="N", help="leave rarer words out of the table")
    parser.add_argument("--ignore", action="append", default=[], metavar="FILE", help="leave out the words of a list")
    parser.add_argument("files", nargs="*", metavar="FILE")
    args = parser.parse_args(argv)
    try:
        text = read(args.files)
        left_out = ignored(args.ignore)
    except OSError as error:
        if not args.ignore:
            print(f"words.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    counted = {}
    for word in words(text):
        if word not in left_out:
            counted[word] = counted.get(word, 0) + 1
    sys.stdout.write("\n".join(report(counted, args.least)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
