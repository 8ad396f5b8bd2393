"""Columns of the attempts table as plain numpy arrays, whatever types the frame came with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
TASK = "task_key"  # suite/task, added by `plain`
ARM = "arm"  # harness/toolset/adoption/model, added by `plain`
AXES = ("harness", "toolset", "adoption", "model")
TEXTS = (
    *AXES, "suite", "task", "recipe", "grade", "language", "tags", "status", "ending", "outcome", "harness_version",
    "model_observed", "isolation", "netns", "changed_lines", "early_stop_signals",
)  # fmt: skip
NUMBERS = (
    "repetition", "simulated", "wall_budget_seconds", "check_passed", "scored", "suspect", "corrected", "timed_out",
    "lingered", "terminal_event", "malformed_lines", "errors", "warnings", "checks_passed", "checks_total",
    "minefields_passed", "minefields_total", "protected_ok", "acceptance_untouched", "violations", "policy_refusals",
    "foreign_requests", "vc_reads", "vc_writes", "vc_errors", "tool_calls", "parser_calls", "repeated_reads",
    "selector_failures", "vc_output_bytes", "tool_output_bytes", "skill_reads", "commands", "files_changed",
    "lines_added", "lines_removed", "green_checked", "blind_retries", "work_after_green_seconds",
    "empty_diff_exit_0", "agent_seconds", "seconds_to_green", "first_green_lower_seconds",
    "first_green_upper_seconds", "first_green_certain", "went_red_again", "first_acceptance_green_seconds",
    "first_command_seconds", "first_mutation_seconds", "vc_summed_seconds", "vc_occupied_seconds", "api_seconds",
    "verifier_seconds", "turns", "requests", "cost_usd", "input_uncached_tokens", "cache_read_tokens",
    "cache_write_tokens", "output_tokens", "reasoning_tokens", "tokens_lower_bound", "earlier_faults",
)  # fmt: skip
WANTED = (*TEXTS, *NUMBERS, "started_at")  # what statistics read; the rest of the table need not be loaded


class Coded(NamedTuple):
    """A text column as codes into sorted labels; -1 is null."""

    codes: Codes
    labels: list[str]


def numbers(frame: pd.DataFrame, name: str) -> Floats:
    """One column as float64, shape (rows,); null and a missing column are NaN, true is 1."""
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    column = frame[name]
    if column.dtype == np.float64:
        return column.to_numpy()
    if column.dtype == object:
        return np.array([np.nan if _null(x) else float(x) for x in column], dtype=float)
    return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))


def truths(frame: pd.DataFrame, name: str) -> NDArray[np.bool_]:
    """One boolean column; null is False."""
    return np.asarray(numbers(frame, name) == 1.0)


def coded(frame: pd.DataFrame, name: str) -> Coded:
    """One text column as codes; a missing column is all null."""
    if name not in frame.columns:
        return Coded(np.full(len(frame), -1, dtype=np.intp), [])
    column = frame[name]
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Coded(column.cat.codes.to_numpy().astype(np.intp), list(column.cat.categories))
    codes, found = pd.factorize(column)
    labels = [str(x) for x in found]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.empty(len(labels) + 1, dtype=np.intp)
    rank[order] = np.arange(len(labels))
    rank[-1] = -1
    return Coded(rank[codes], [labels[i] for i in order])


def known_labels(frame: pd.DataFrame, name: str) -> list[str]:
    """The different values of one text column, sorted, null left out."""
    codes, labels = coded(frame, name)
    return [labels[i] for i in np.unique(codes[codes >= 0])]


def equals(frame: pd.DataFrame, name: str, value: str) -> NDArray[np.bool_]:
    """Rows of a text column that hold `value`."""
    codes, labels = coded(frame, name)
    return codes == labels.index(value) if value in labels else np.zeros(len(frame), dtype=bool)


def joined(frame: pd.DataFrame, names: Sequence[str]) -> Coded:
    """Several text columns as one, "a/b/c"; null is an empty part."""
    parts = [coded(frame, name) for name in names]
    code = np.zeros(len(frame), dtype=np.intp)
    for codes, labels in parts:
        code = code * (len(labels) + 1) + codes + 1
    used, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    names_of = ["/".join(labels[c[row]] if c[row] >= 0 else "" for c, labels in parts) for row in first]
    order = sorted(range(used.size), key=names_of.__getitem__)
    rank = np.empty(used.size, dtype=np.intp)
    rank[order] = np.arange(used.size)
    return Coded(rank[inverse.reshape(-1)], [names_of[i] for i in order])


def _categorical(column: Coded) -> Any:
    kind = pd.CategoricalDtype(pd.Index(column.labels, dtype=object))
    return pd.Categorical.from_codes(column.codes, dtype=kind, validate=False)


def plain(attempts: pd.DataFrame) -> pd.DataFrame:
    """The columns statistics need, as float64 and categories, with `arm` and `task_key`, sorted for slicing.

    Sorted by arm, simulated, task, recipe and repetition, so that the order of the rows given is irrelevant and one
    arm is one slice.
    """
    texts = {name: coded(attempts, name) for name in TEXTS}
    texts |= {ARM: joined(attempts, AXES), TASK: joined(attempts, ("suite", "task"))}
    keys = (numbers(attempts, "repetition"), texts["recipe"].codes, texts[TASK].codes, numbers(attempts, "simulated"))
    order = np.lexsort((*keys, texts[ARM].codes))
    block = np.empty((len(NUMBERS), len(attempts)))  # one block: taking rows of 60 single columns costs far more
    for row, name in zip(block, NUMBERS, strict=True):
        row[:] = numbers(attempts, name)[order]
    categories = {name: _categorical(Coded(column.codes[order], column.labels)) for name, column in texts.items()}
    return pd.concat([pd.DataFrame(block.T, columns=list(NUMBERS), copy=False), pd.DataFrame(categories)], axis=1)


def only(frame: pd.DataFrame, rows: NDArray[np.bool_]) -> pd.DataFrame:
    """The chosen rows, without a copy where that is all of them."""
    return frame if rows.all() else frame[rows]


def task_codes(frame: pd.DataFrame) -> tuple[Codes, list[str]]:
    """(codes, names) of the tasks that occur in the frame; codes 0..len(names)-1, shape (rows,)."""
    column = coded(frame, TASK) if TASK in frame.columns else joined(frame, ("suite", "task"))
    used, inverse = np.unique(column.codes, return_inverse=True)
    return inverse.reshape(-1), [column.labels[i] for i in used]


def scored_rows(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Rows that count: done, scored and not left out by hand."""
    counted = truths(frame, "scored")
    return counted & equals(frame, "status", "done") if "status" in frame.columns else counted


def green_rows(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Rows with outcome green: the headline pass."""
    return equals(frame, "outcome", "green")


def pass_counts(frame: pd.DataFrame) -> tuple[Floats, Floats, list[str]]:
    """(passes, attempts, task names) of scored rows, shapes (tasks,)."""
    code, names = task_codes(frame)
    n = np.bincount(code, minlength=len(names)).astype(float)
    return np.bincount(code, green_rows(frame), minlength=len(names)).astype(float), n, names


def tokens(frame: pd.DataFrame) -> Floats:
    """All tokens of an attempt; NaN unless input and output are known and no lower bound."""
    total = numbers(frame, "input_uncached_tokens") + numbers(frame, "output_tokens")
    for name in ("cache_read_tokens", "cache_write_tokens"):
        total = total + np.nan_to_num(numbers(frame, name))
    return np.where(truths(frame, "tokens_lower_bound"), np.nan, total)


def _null(value: object) -> bool:
    return value is None or value is pd.NA or value != value  # noqa: PLR0124  (NaN is the one value unlike itself)
