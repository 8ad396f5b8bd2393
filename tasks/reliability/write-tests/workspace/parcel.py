"""Prices of parcels, in cents."""

BASE = {"A": 400, "B": 650, "C": 900}
STEP = {"A": 120, "B": 180, "C": 250}


def price(grams, zone, express=False):
    """The price of one parcel.

    A parcel weighs 1 to 30,000 grams and goes to zone A, B or C; anything else is a ValueError. The base price (A 400,
    B 650, C 900) covers the first 1,000 grams; each further 1,000 grams that are begun cost 120, 180 or 250. Express
    costs half as much again, rounded up to full 10 cents. Above 20,000 grams a surcharge of 800 is added, which express
    does not raise.
    """
    if zone not in BASE:
        raise ValueError(f"no such zone: {zone}")
    if grams < 1 or grams > 30_000:
        raise ValueError(f"cannot be sent: {grams} grams")
    cents = BASE[zone] + (grams - 1) // 1000 * STEP[zone]
    if express:
        cents = -(-cents * 3 // 20) * 10
    return cents + 800 if grams > 20_000 else cents


def order(parcels):
    """The price of several parcels, each as (grams, zone, express).

    From 10 parcels on 5 percent are taken off, from 50 on 12 percent; what remains is rounded down to full cents. No
    parcels cost nothing.
    """
    total = sum(price(*parcel) for parcel in parcels)
    percent = 12 if len(parcels) >= 50 else 5 if len(parcels) >= 10 else 0
    return total * (100 - percent) // 100
