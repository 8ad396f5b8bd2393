"""Hidden checks of write-tests: the tests pass on right code and fail on five versions with one mistake each."""

import re

from fairtrial.verify import Failed, Verification

v = Verification()

RIGHT = (v.task / "workspace" / "parcel.py").read_text(encoding="utf-8")
OTHER = """
from math import ceil, floor

ZONES = {"A": (400, 120), "B": (650, 180), "C": (900, 250)}


def price(grams, zone, express=False):
    if not 1 <= grams <= 30000 or zone not in ZONES:
        raise ValueError("refused")
    first, further = ZONES[zone]
    amount = first + further * (ceil(grams / 1000) - 1)
    if express:
        tens, rest = divmod(amount * 3, 20)
        amount = 10 * (tens + (rest > 0))
    if grams > 20000:
        amount += 800
    return amount


def order(parcels):
    amount = 0
    count = 0
    for grams, zone, express in parcels:
        amount, count = amount + price(grams, zone, express), count + 1
    for least, percent in ((50, 88), (10, 95)):
        if count >= least:
            return amount * percent // 100
    return amount
"""


def tests(parcel: str) -> tuple[bool, str]:
    """Whether the attempt's tests pass with this parcel.py, and how the run went; Failed when it was no test run."""
    result = v.run(["python3", "-m", "unittest", "tests.test_parcel"], files={"parcel.py": parcel}, timeout=8)
    ran = re.search(rb"^Ran (\d+) tests? in ", result.stderr, re.MULTILINE)
    if result.timed_out or ran is None or int(ran[1]) < 8:
        raise Failed(f"not a run of eight tests or more: {result}")
    return result.status == 0, str(result)


def caught(right: str, wrong: str, mistake: str) -> None:
    """Failed when the tests pass although one place of the code is wrong."""
    if RIGHT.count(right) != 1:
        raise ValueError(f"{right!r} does not stand in parcel.py once")
    if tests(RIGHT.replace(right, wrong))[0]:
        raise Failed(f"the tests pass although {mistake}")


@v.check("right-code")
def right_code() -> None:
    """They pass on the module and on another right implementation."""
    for name, code in (("parcel.py", RIGHT), ("another right implementation", OTHER)):
        passed, how = tests(code)
        if not passed:
            raise Failed(f"the tests fail on {name}: {how}")


@v.check("catches-started-kilogram")
def catches_started_kilogram() -> None:
    """A full kilogram counted as one more that is begun."""
    caught("(grams - 1) // 1000", "grams // 1000", "1,000 grams cost a step too much")


@v.check("catches-weight-limit")
def catches_weight_limit() -> None:
    """The heaviest parcel refused."""
    caught("grams > 30_000", "grams >= 30_000", "30,000 grams are refused")


@v.check("catches-surcharge")
def catches_surcharge() -> None:
    """The surcharge one gram too early."""
    caught("grams > 20_000", "grams >= 20_000", "20,000 grams already cost the surcharge")


@v.check("catches-express-rounding")
def catches_express_rounding() -> None:
    """Express rounded down."""
    caught("-(-cents * 3 // 20) * 10", "cents * 3 // 20 * 10", "express is rounded down")


@v.check("catches-discount")
def catches_discount() -> None:
    """The first discount one parcel too late."""
    caught("len(parcels) >= 10 ", "len(parcels) > 10 ", "ten parcels get no discount")


v.finish()
