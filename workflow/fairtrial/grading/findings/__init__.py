"""One file per rule: RULE, COUNTS (its count in the compliance section, or None) and find(...)."""
