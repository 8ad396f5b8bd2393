#!/usr/bin/env python3
# logreport - summarise application logs
#
# usage: logreport.py COMMAND [-l LEVEL] [-n COUNT] FILE
#
#   summary   how many entries, when, which levels and components
#   errors    the ERROR and FATAL entries
#   hours     entries per hour of the day
#
# A log entry is one line:   2024-03-01 12:00:01 WARN auth: token is old
# -f csv prints CSV instead of text.
# FILE may be - (standard input).  Exit status: 0 done, 1 no entries, 2 usage.
#
# History
#   1.0  first version
#   1.1  -n
#   1.2  hours
#   1.3  -f

import csv
import getopt
import re
import sys

VERSION = "1.3"
LEVELS = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"]
LINE = re.compile("^([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([A-Z]+) ([^ :]+): (.*)$")

# options
minlevel = 0
topn = 0
format = "text"

# what was read
entries = []
nbad = 0


def usage(msg):
    sys.stderr.write("logreport: %s\n" % msg)
    sys.stderr.write("usage: logreport.py COMMAND [-l LEVEL] [-n COUNT] FILE\n")
    return 2


def readlog(fname):
    """Fill `entries` with (date, hour, min, sec, level, component, text)."""
    global nbad
    if fname == "-":
        lines = sys.stdin.read().split("\n")
    else:
        f = open(fname, encoding="utf-8", errors="replace")
        lines = f.read().split("\n")
        f.close()
    for line in lines:
        line = line.rstrip("\r")
        if line == "":
            continue
        m = LINE.match(line)
        if m is None or m.group(5) not in LEVELS:
            nbad = nbad + 1
            continue
        if LEVELS.index(m.group(5)) < minlevel:
            continue
        entries.append((m.group(1), int(m.group(2)), int(m.group(3)), int(m.group(4)), m.group(5), m.group(6), m.group(7)))


def stamp(e):
    return "%s %02d:%02d:%02d" % (e[0], e[1], e[2], e[3])


def seconds(e):
    return e[1] * 3600 + e[2] * 60 + e[3]


def count(field):
    # [name, number], biggest first, then by name
    d = {}
    for e in entries:
        if e[field] in d:
            d[e[field]] = d[e[field]] + 1
        else:
            d[e[field]] = 1
    res = []
    for k in d:
        res.append([k, d[k]])
    res.sort(key=lambda x: (-x[1], x[0]))
    return res


def table(header, rows):
    w = csv.writer(sys.stdout, lineterminator="\n")
    w.writerow(header)
    w.writerows(rows)


def summarycsv(sp, levels, comps):
    rows = [["total", "entries", len(entries)], ["total", "bad lines", nbad]]
    rows.append(["total", "first", stamp(entries[0])])
    rows.append(["total", "last", stamp(entries[-1])])
    rows.append(["total", "span", sp])
    for c in levels:
        rows.append(["level", c[0], c[1]])
    for c in comps:
        rows.append(["component", c[0], c[1]])
    table(["section", "name", "value"], rows)


def summary():
    first = entries[0]
    last = entries[-1]
    sp = seconds(last) - seconds(first)
    counts = dict(count(4))
    levels = []
    for name in reversed(LEVELS):
        if name in counts:
            levels.append([name, counts[name]])
    comps = count(5)
    if topn > 0 and len(comps) > topn:
        rest = sum([c[1] for c in comps[topn:]])
        comps = comps[:topn] + [["(others)", rest]]
    if format == "csv":
        summarycsv(sp, levels, comps)
        return
    print("entries:   %d" % len(entries))
    print("bad lines: %d" % nbad)
    print("first:     %s" % stamp(first))
    print("last:      %s" % stamp(last))
    print("span:      %d s" % sp)
    print("levels:")
    for c in levels:
        print("  %-12s %5d" % (c[0], c[1]))
    print("components:")
    for c in comps:
        print("  %-12s %5d" % (c[0], c[1]))


def errors():
    bad = []
    for e in entries:
        if e[4] == "ERROR" or e[4] == "FATAL":
            bad.append([stamp(e), e[4], e[5], e[6]])
    if topn > 0:
        bad = bad[:topn]
    if format == "csv":
        table(["time", "level", "component", "text"], bad)
        return
    w = csv.writer(sys.stdout, delimiter=" ", quoting=csv.QUOTE_NONE, escapechar="\\", quotechar=None, lineterminator="\n")
    for b in bad:
        w.writerow(b[0].split() + [b[1], b[2] + ":"] + b[3].replace('"', "'").split(" "))


def hours():
    h = [0] * 24
    for e in entries:
        h[e[1]] = h[e[1]] + 1
    if format == "csv":
        table(["hour", "entries"], [["%02d" % i, h[i]] for i in range(24) if h[i] > 0])
        return
    most = max(h)
    for i in range(24):
        if h[i] > 0:
            # the longest bar has 40 signs, every bar at least one
            bar = "#" * max(1, h[i] * 40 // most)
            print("%02d %5d %s" % (i, h[i], bar))


def main(argv):
    global minlevel, topn, nbad, format
    minlevel = 0
    topn = 0
    format = "text"
    nbad = 0
    del entries[:]
    if len(argv) < 1:
        return usage("no command")
    cmd = argv[0]
    if cmd not in ("summary", "errors", "hours"):
        return usage("unknown command '%s'" % cmd)
    try:
        opts, args = getopt.getopt(argv[1:], "l:n:f:")
    except getopt.GetoptError as e:
        return usage(str(e))
    for o, a in opts:
        if o == "-l":
            if a.upper() not in LEVELS:
                return usage("unknown level '%s'" % a)
            minlevel = LEVELS.index(a.upper())
        if o == "-n":
            if not re.match("^[0-9]+$", a):
                return usage("not a count '%s'" % a)
            topn = int(a)
        if o == "-f":
            if a not in ("text", "csv"):
                return usage("unknown format '%s'" % a)
            format = a
    if len(args) != 1:
        return usage("one FILE, please")
    try:
        readlog(args[0])
    except OSError as e:
        return usage("cannot read '%s': %s" % (args[0], e.strerror))
    if len(entries) == 0:
        print("no entries (bad lines: %d)" % nbad)
        return 1
    if cmd == "summary":
        summary()
    elif cmd == "errors":
        errors()
    else:
        hours()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
