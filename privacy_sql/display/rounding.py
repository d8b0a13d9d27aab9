"""Numbers for people: rounded, but never to a nearby whole number or to their own limit.

0.99998 is not certain and 0.00002 is not nothing, so such numbers get enough digits to show the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import isfinite

Number = int | Fraction | float

DIGITS = 4
MOST_DECIMALS = 12
MOST_DIGITS = 17  # a float has no more
FINE = Fraction(1, 10**9)  # closer than this a float is taken for the whole number it was computed to be


def shown(number: Number | None, beside: Number | None = None) -> str:
    """A number with four digits, or enough to distinguish it from whole numbers and from the limit `beside`.

    >>> shown(Fraction(2, 3)), shown(5), shown(Fraction(20000)), shown(None), shown(0.30000000001)
    ('0.6667', '5', '20000', 'none', '0.3')
    >>> shown(Fraction(49999, 50000)), shown(0.69999, beside=Fraction(7, 10))
    ('0.99998', '0.69999')
    """
    if number is None:
        return "none"
    if not isinstance(number, float) and number == int(number):
        return str(int(number))
    return _told_apart(number, DIGITS, "g", beside)


def as_asked(limit: Number) -> str:
    """A limit as written, with all its decimals if there are finitely many, so that it is not mistaken.

    >>> as_asked(Fraction("0.49998")), as_asked(Fraction(1, 3)), as_asked(10), as_asked(Fraction("0.5"))
    ('0.49998', '0.3333', '10', '0.5')
    """
    scaled = Fraction(limit) * 10**MOST_DECIMALS
    if isinstance(limit, int) or scaled.denominator != 1 or abs(limit) >= 10**DIGITS:
        return shown(limit)
    text = f"{Decimal(scaled.numerator).scaleb(-MOST_DECIMALS):f}".rstrip("0").rstrip(".")
    return text if len(text) > DIGITS + 2 else shown(limit)


def decimals(number: Number, places: int) -> str:
    """A number with this many decimals, or enough to distinguish it from a whole number.

    >>> decimals(Fraction(49999, 50000), 4), decimals(1, 4), decimals(Fraction(1, 3), 4)
    ('0.99998', '1.0000', '0.3333')
    """
    return _told_apart(number, places, "f", None)


def percent(share: Number) -> str:
    """A share of 1 in percent, with one decimal or enough to distinguish it from 0 and 100.

    >>> percent(Fraction(1, 10000)), percent(Fraction(1, 8)), percent(1)
    ('0.01 %', '12.5 %', '100.0 %')
    """
    return f"{decimals(share * 100, 1)} %"


def how_sure(share: Number | None) -> str:
    """How sure somebody is, with the digits of a number: 66.67 %.

    >>> how_sure(Fraction(2, 3)), how_sure(1), how_sure(None)
    ('66.67 %', '100 %', 'unknown')
    """
    return "unknown" if share is None else f"{shown(100 * share)} %"


def as_float(number: Number) -> float:
    """A number as a float; a share below 1 stays below 1.

    >>> as_float(1 - Fraction(1, 10**20)) < 1, as_float(Fraction(1, 2))
    (True, 0.5)
    """
    found = float(number)
    return 1 - 2**-53 if found == 1 > number else found


def rounded(number: Number, digits: int, *, up: bool) -> str:
    """A number as decimals with so many digits, not below the number (`up`) or not above it.

    >>> rounded(Fraction(1, 3), 4, up=True), rounded(Fraction(2, 3), 4, up=False), rounded(0.5, 4, up=True)
    ('0.3334', '0.6666', '0.5')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    above, below = number.as_integer_ratio()
    found = context.divide(Decimal(above), Decimal(below)).normalize(context)
    return f"{found:f}" if abs(found.adjusted()) < MOST_DIGITS else str(found)


def _told_apart(number: Number, digits: int, kind: str, beside: Number | None) -> str:
    written: Callable[[int], str] = lambda n: f"{as_float(number):.{n}{kind}}"  # noqa: E731
    if not isfinite(number):
        return written(digits)
    limits = [] if beside is None else [Fraction(beside), Fraction(f"{float(beside):.{DIGITS}g}")]
    off = abs(Fraction(number) - round(Fraction(number)))  # how far it is from the nearest whole number
    fractional = abs(number) < 10**DIGITS and off > (FINE if isinstance(number, float) else 0)
    for places in range(digits, MOST_DIGITS + 1):
        text = written(places)
        if fractional and Fraction(text).denominator == 1:
            continue
        # on the same side of the limit, and not on it
        if any(abs(Fraction(number) - limit) > FINE and Fraction(text) == limit for limit in limits):
            continue
        if limits and (number < limits[0]) != (Fraction(text) < limits[0]):
            continue
        return text
    return text
