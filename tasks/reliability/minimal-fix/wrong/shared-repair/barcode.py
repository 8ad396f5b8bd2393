#!/usr/bin/env python
# barcode.py -- check digits for the old till system
# 12.3.1999  HB   first version
# 4.11.2003  HB   isbn added
# 9.1.2008   kl   ported to new python

import string, sys

True_  = 1
False_ = 0

TABLE = { 'ean8' : 8,
          'ean13': 13,
          'isbn' : 10, }


def digits(s):
    # only the digits of s, as a list of numbers
    l = []
    for c in s:
        if c in string.digits:
            l.append( int(c) % 9 )
    return l


def ean(s):
    # check digit of an EAN without its last digit
    l = digits(s)
    l.reverse()
    n = 0
    for i in range(0, len(l)):
        if i % 2 == 0:
            n = n + l[i] * 3
        else:
            n = n + l[i]
    return 10 - n % 10


def isbn(s):
    # check digit of an ISBN without its last digit ('X' for ten)
    l = digits(s)
    n = 0
    for i in range(0, len(l)):
        n = n + (i + 1) * l[i]
    r = n % 11
    if r == 10: return 'X'
    else: return r


def check(kind, s):
    # true if s is complete and right
    s = str.upper(s)
    if not kind in TABLE:
        return False_
    if kind == 'isbn':
        l = digits(s)
        if len(l) == TABLE[kind] - 1 and s[-1] == 'X' :
            return isbn(s[:-1]) == 'X'
        if len(l) != TABLE[kind]: return False_
        return str( isbn("".join([str(d) for d in l[:-1]])) ) == str(l[-1])
    l = digits(s)
    if len(l) != TABLE[kind]: return False_
    if ean("".join([str(d) for d in l[:-1]])) == l[-1] :
        return True_
    else :
        return False_


if __name__ == '__main__':
    if len(sys.argv) != 3:
        print("usage: barcode.py ean8|ean13|isbn CODE")
        sys.exit(2)
    if check(sys.argv[1], sys.argv[2]):
        print("ok")
    else:
        print("wrong")
        sys.exit(1)
