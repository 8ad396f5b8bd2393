"""A new grade beside one that ended in verifier_error; a verdict is final, a verifier's failure is not."""

from __future__ import annotations

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import load
from fairtrial.grading import grade
from fairtrial.paths import Attempt, Results
from fairtrial.upkeep.show import newest_result


def regrade(attempt: Attempt) -> str:
    """Set a verifier_error grade aside under its own name and grade again from the same sealed evidence."""
    path = newest_result(attempt)
    before = load(path)["performance"]["correctness"]["verdict"]
    if before != "verifier_error":
        raise UserError(f"{attempt.id}: verdict is {before}, which is final; only a verifier_error is graded again")
    grade12 = path.parent.name
    number = 1 + sum(1 for p in path.parent.parent.iterdir() if p.name.startswith(f"{grade12}-error-"))
    aside = path.parent.with_name(f"{grade12}-error-{number}")
    path.parent.rename(aside)
    results = Results(attempt.folder.parents[6])
    try:
        grade.run(results, attempt.id, grade12)
    except BaseException:
        if not attempt.result(grade12).exists():
            aside.rename(path.parent)
        raise
    after = load(attempt.result(grade12))["performance"]["correctness"]["verdict"]
    return f"{attempt.id}: verdict was {before}, is {after}; the earlier grade is kept in grades/{aside.name}"
