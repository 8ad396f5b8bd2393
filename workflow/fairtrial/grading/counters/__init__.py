"""One file per effort counter: CAPTION (what it is, and its caveat) and count(seen)."""
