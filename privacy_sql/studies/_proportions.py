"""Shares counted on a sample of people: exact intervals, and by how much an attack beats a control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, floor

from privacy_sql.errors import UsageError
from privacy_sql.parameters import number_or_refuse

GRID = 10**12  # the ends of an interval are rounded outwards to multiples of one divided by this number
_EXACTLY = Context(prec=60)
_BITS = 220  # of a binomial coefficient: more digits than the context keeps


@dataclass(frozen=True)
class Excess:
    """How much better an attack guesses than the control, as a share of what the control cannot guess.

    `value` and `low` are None when the control may be right about everybody. Negative values are kept.
    """

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None


def clopper_pearson(
    right: int | Fraction, asked: int, level: str | float = "0.95"
) -> tuple[Fraction, Fraction]:
    """The exact interval of the share `right` / `asked`; both ends are rounded outwards.

    Clopper and Pearson 1934: the shares at which a count this high, or this low, has a probability of at
    least half the error. When ties are shared, `right` may be a fraction; it is rounded away from the middle
    at each end.

    >>> [float(end) for end in clopper_pearson(0, 10)]
    [0.0, 0.308497107819]
    """
    tail = (1 - confidence(level)) / 2
    if asked < 1 or not 0 <= right <= asked:
        raise UsageError("bad_argument", "right must lie between 0 and asked, and asked must be at least 1")
    few, many = floor(right), ceil(right)
    low = _last(lambda share: _at_least(few, asked, share) <= tail) if few else 0
    # the upper end is 1 minus the lower end of the share that is wrong
    high = GRID - _last(lambda share: _at_least(asked - many, asked, share) <= tail) if many < asked else GRID
    return Fraction(low, GRID), Fraction(high, GRID)


def excess(
    attack: tuple[int | Fraction, int],
    control: tuple[int | Fraction, int],
    level: str | float = "0.95",
    *,
    counted: bool = False,
) -> Excess:
    """(a - c) / (1 - c) of two shares, with an interval from both of theirs, each at half the error.

    `counted`: the attack was measured on everybody, so its share is exact and the control takes the whole
    error.

    >>> excess((9, 20), (4, 20)).value, excess((5, 5), (5, 5)).value
    (Fraction(5, 16), None)
    """
    a, c = Fraction(*attack), Fraction(*control)
    part = confidence(level) if counted else 1 - (1 - confidence(level)) / 2
    ends_a = (a, a) if counted else clopper_pearson(*attack, str(part))
    ends_c = clopper_pearson(*control, str(part))
    return Excess(_excess(a, c), _excess(ends_a[0], ends_c[1]), _excess(ends_a[1], ends_c[0]))


def _excess(a: Fraction, c: Fraction) -> Fraction | None:
    return None if c == 1 else (a - c) / (1 - c)


def confidence(text: str | float) -> Fraction:
    """The confidence level of an interval, exactly as it is written."""
    refusal = UsageError(
        "bad_argument", "the confidence level must lie between 0 and 1", hint="For example 0.95."
    )
    return number_or_refuse(text, refusal, lambda level: 0 < level < 1)


def _last(holds: Callable[[Decimal], bool]) -> int:
    """The last grid point where a condition holds; it must hold at 0 and fail at 1."""
    low, high = 0, GRID
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(Decimal(middle) / GRID) else (low, middle)
    return low


@lru_cache(maxsize=8)
def _coefficient(n: int, k: int) -> Decimal:
    """A binomial coefficient, rounded far beyond the precision needed; in full it may be very long."""
    whole = comb(n, k)
    spare = max(0, whole.bit_length() - _BITS)
    return _EXACTLY.multiply(Decimal(whole >> spare), _EXACTLY.power(2, spare))


def _at_least(right: int, asked: int, share: Decimal) -> Decimal:
    """The probability of at least this many right answers when each is right with this probability."""
    if share == 0:
        return Decimal(0)
    wrong = 1 - share
    chance = _EXACTLY.multiply(_EXACTLY.power(share, right), _EXACTLY.power(wrong, asked - right))
    term = _EXACTLY.multiply(_coefficient(asked, right), chance)
    odds = _EXACTLY.divide(share, wrong)
    total, n = term, right
    while n < asked:
        term = _EXACTLY.multiply(term, _EXACTLY.divide(odds * (asked - n), Decimal(n + 1)))
        total, n = _EXACTLY.add(total, term), n + 1
        # beyond the most likely number the terms fall faster and faster
        if n > asked * share and term < total * Decimal("1e-40"):
            break
    return total
