"""Points of a privacy skyline as users write them: [values ruled out, others known, family, limit]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from privacy_sql.criteria._named_values import refuse_named_twice
from privacy_sql.errors import PrivacySqlError, UsageError, raise_all
from privacy_sql.hierarchies.base import text_of
from privacy_sql.kernels.skyline.breach_probability import Amounts
from privacy_sql.parameters import number_or_refuse

LARGEST = 10**9  # more people than any table has
SHAPE = "[values ruled out, others known, family, limit], for example [1, 1, 5, 0.9]"


class Limit(NamedTuple):
    """One point and the number of its skyline."""

    skyline: int
    amounts: Amounts
    limit: Fraction


def points_of(points: object, where: str) -> list[tuple[Amounts, Fraction]]:
    """The points of one skyline; one error names every problem.

    >>> points_of([[1, "1", 5, "0.9"]], "points")
    [(Amounts(ruled_out=1, known=1, family=5), Fraction(9, 10))]
    """
    if not isinstance(points, Sequence) or isinstance(points, str):
        raise _bad(f"{where} must be a list of points", hint=f"A point is {SHAPE}.")
    problems: list[PrivacySqlError] = []
    found: list[tuple[Amounts, Fraction]] = []
    for number, point in enumerate(points, start=1):
        try:
            place = f"point {number} in {where}"
            if not isinstance(point, Sequence) or isinstance(point, str) or len(point) != 4:
                raise _bad(f"{place} must have four numbers", hint=f"Write {SHAPE}.")
            found.append((Amounts(*(_amount(part, place) for part in point[:3])), limit_of(point[3], place)))
        except UsageError as problem:
            problems.append(problem)
    again = sorted({found.index(point) + 1 for point in found if found.count(point) > 1})
    problems += [
        _bad(f"point {number} in {where} is written twice", hint="Remove one of them.") for number in again
    ]
    raise_all(problems)
    return found


def per_value_of(per_value: object) -> Mapping[str, Any]:
    """Sensitive values with their own skyline."""
    if per_value is None:
        return {}
    if not isinstance(per_value, Mapping):
        raise _bad(
            "per_value of privacy_skyline must name values", hint=f"value: [point, ...]; a point is {SHAPE}."
        )
    refuse_named_twice(per_value, "privacy_skyline")
    return {text_of(value): points for value, points in per_value.items()}


def _amount(value: object, where: str) -> int:
    number = int(value) if isinstance(value, str) and value.strip().isdecimal() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= LARGEST:
        raise _bad(f"{where}: an amount must be a whole number from 0 to {LARGEST}")
    return number


def limit_of(value: object, where: str) -> Fraction:
    """A limit on a breach probability: above 0, at most 1, exactly as written.

    >>> limit_of("0.95", "limit")
    Fraction(19, 20)
    """
    told, hint = (
        f"{where}: the limit must be above 0 and at most 1",
        "No release can keep every guess below 0.",
    )
    return number_or_refuse(value, _bad(told, hint), lambda limit: 0 < limit <= 1)


def _bad(message: str, hint: str = "") -> UsageError:
    return UsageError("bad_parameter", message, hint=hint)
