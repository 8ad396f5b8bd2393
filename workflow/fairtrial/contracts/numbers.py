"""Numbers that are bumped on purpose; each stands in a digest and has a golden file keyed by it."""

from __future__ import annotations

# What grading computes from the same evidence; a change regrades everything, for nothing.
GRADER = 2

# What an agent can notice of the box it runs in; a change is a new recipe.
SANDBOX = 1
