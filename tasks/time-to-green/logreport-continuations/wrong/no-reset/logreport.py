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
# Lines that start with a blank or a tab belong to the entry before them.
# FILE may be - (standard input).  Exit status: 0 done, 1 no entries, 2 usage.
#
# History
#   1.0  first version
#   1.1  -n
#   1.2  hours
#   1.3  continuation lines

import getopt
import re
import sys

VERSION = "1.3"
LEVELS = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"]
LINE = re.compile("^([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([A-Z]+) ([^ :]+): (.*)$")

# options
minlevel = 0
topn = 0

# what was read
entries = []
more = []  # for each entry its continuation lines
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
    owner = None  # where continuation lines go; None: nowhere
    for line in lines:
        line = line.rstrip("\r")
        if line == "":
            continue
        if line[0] in " \t" and owner is not None:
            owner.append(line)
            continue
        m = LINE.match(line)
        if m is None or m.group(5) not in LEVELS:
            nbad = nbad + 1
            owner = None
            continue
        owner = []
        if LEVELS.index(m.group(5)) < minlevel:
            continue
        more.append(owner)
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


def summary():
    first = entries[0]
    last = entries[-1]
    print("entries:   %d" % len(entries))
    print("bad lines: %d" % nbad)
    print("first:     %s" % stamp(first))
    print("last:      %s" % stamp(last))
    print("span:      %d s" % (seconds(last) - seconds(first)))
    print("levels:")
    counts = dict(count(4))
    for name in reversed(LEVELS):
        if name in counts:
            print("  %-12s %5d" % (name, counts[name]))
    print("components:")
    comps = count(5)
    rest = 0
    if topn > 0 and len(comps) > topn:
        for c in comps[topn:]:
            rest = rest + c[1]
        comps = comps[:topn]
    for c in comps:
        print("  %-12s %5d" % (c[0], c[1]))
    if rest > 0:
        print("  %-12s %5d" % ("(others)", rest))


def errors():
    n = 0
    for i in range(len(entries)):
        e = entries[i]
        if e[4] == "ERROR" or e[4] == "FATAL":
            print("%s %s %s: %s" % (stamp(e), e[4], e[5], e[6]))
            for line in more[i]:
                print(line)
            n = n + 1
            if topn > 0 and n == topn:
                break


def hours():
    h = [0] * 24
    for e in entries:
        h[e[1]] = h[e[1]] + 1
    most = max(h)
    for i in range(24):
        if h[i] > 0:
            # the longest bar has 40 signs, every bar at least one
            bar = "#" * max(1, h[i] * 40 // most)
            print("%02d %5d %s" % (i, h[i], bar))


def main(argv):
    global minlevel, topn, nbad
    minlevel = 0
    topn = 0
    nbad = 0
    del entries[:]
    if len(argv) < 1:
        return usage("no command")
    cmd = argv[0]
    if cmd not in ("summary", "errors", "hours"):
        return usage("unknown command '%s'" % cmd)
    try:
        opts, args = getopt.getopt(argv[1:], "l:n:")
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
