"""Numbers, levels and requirements as a reader without formulas would say them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from privacy_sql.display.rounding import shown
from privacy_sql.publishing import public_record


class Below(int):
    """A count that is not told: it is at least one and below this number."""

    def __str__(self) -> str:
        return f"fewer than {int(self):,}"


class AtLeast(int):
    """A count in steps, rounded down."""

    def __str__(self) -> str:
        return f"at least {int(self):,}"


class AtMost(float):
    """A share that is not told: it is this one or a smaller one."""


def count(number: int | None) -> str:
    """A count with its thousands.

    >>> count(45222), count(Below(5)), count(None)
    ('45,222', 'fewer than 5', 'not told')
    """
    if number is None:
        return "not told"
    return str(number) if isinstance(number, Below | AtLeast) else f"{number:,}"


def exactly(number: Fraction) -> str:
    """A number as decimals where these end, else as a fraction.

    >>> exactly(Fraction(5, 2)), exactly(Fraction(1000)), exactly(Fraction(1, 3))
    ('2.5', '1000', '1/3')
    """
    shown = Decimal(number.numerator) / Decimal(number.denominator)
    return f"{shown.normalize():f}" if Fraction(shown) == number else str(number)


def rows(counts: Mapping[str, Any], step: int | None) -> dict[str, Any]:
    """Rows read, published, left out and written again, as others may be told of them.

    >>> told = rows({"rows_in": 40, "rows_out": 27, "suppressed": 13, "repeated": 0}, 5)
    >>> [count(number) for number in told.values()]
    ['at least 37', '27', 'at least 10', 'fewer than 5']
    """
    told = public_record.rows(counts, step)
    if step is None:
        return told
    for name in ("suppressed", "repeated"):
        told[name] = AtLeast(told[name]) if told[name] else Below(step)
    return {**told, "rows_in": told["rows_in"] and AtLeast(told["rows_in"])}


def number_of(number: int | None, one: str, many: str) -> str:
    """A count with its noun.

    >>> number_of(1, "row", "rows"), number_of(1200, "row", "rows"), number_of(Below(5), "row", "rows")
    ('1 row', '1,200 rows', 'fewer than 5 rows')
    """
    return f"{count(number)} {one if number == 1 and not isinstance(number, Below) else many}"


def people(number: int | None) -> str:
    """A count of people.

    >>> people(1), people(Below(5))
    ('1 person', 'fewer than 5 people')
    """
    return number_of(number, "person", "people")


def percent(share: float | None) -> str:
    """A share in percent; never rounded to 0 or 100 unless it is.

    >>> percent(0.50612), percent(1), percent(0.99999), percent(0.00001), percent(None)
    ('50.6 %', '100 %', 'over 99.9 %', 'under 0.1 %', 'not told')
    """
    if share is None:
        return "not told"
    if isinstance(share, AtMost):
        return f"at most {percent(float(share))}"
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def hundredths(percentage: str | float) -> float:
    """A percentage, exact as text, as a share.

    >>> hundredths("25/2"), percent(hundredths(AtMost(10)))
    (0.125, 'at most 10 %')
    """
    if isinstance(percentage, AtMost):
        return AtMost(percentage / 100)
    return float(Fraction(str(percentage)) / 100)


def number(value: float | None) -> str:
    """A number that is neither a count nor a share: four digits.

    >>> number(0.294622), number(1234567.0), number(None)
    ('0.2946', '1,234,567', 'unbounded')
    """
    if value is None:
        return "unbounded"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 10_000 else shown(float(value))


# one and several of what a verdict counts, whatever `unit_of` a criterion says beside a share and nothing
UNITS = {
    "people": ("person", "people"),
    "values": ("value", "values"),
    "households": ("household", "households"),
}


def measured(value: float | None, unit: str) -> str:
    """The value of a verdict with its unit.

    >>> measured(26.0, "people"), measured(0.64, "share"), measured(3.5, "values"), measured(1, "households")
    ('26 people', '64 %', '3.5 values', '1 household')
    """
    if value is None or unit == "":
        return number(value)
    if unit == "share":
        return percent(value)
    words = UNITS[unit]
    if isinstance(value, Below):
        return number_of(value, *words)
    whole = float(value).is_integer()
    return number_of(int(value), *words) if whole else f"{number(value)} {words[1]}"


def value(verdict: Mapping[str, Any]) -> str:
    """The value of a verdict in words that are not those of its limit, unless it is the limit.

    >>> told = {"value_float": 0.69996, "limit": "7/10", "relation": "<", "unit": "share"}
    >>> value(told), limit(told)
    ('69.996 %', 'below 70 %')
    >>> value({**told, "safe": True, "withheld": True})
    'within its limit'
    """
    if verdict.get("withheld"):  # published rows do not tell it
        return "within its limit" if verdict["safe"] else "beyond its limit"
    found, unit = verdict["value_float"], verdict["unit"]
    words = measured(found, unit)
    exact = verdict["limit"] is not None and not isinstance(found, Below | AtMost | None)
    if not exact or words != measured(float(Fraction(verdict["limit"])), unit):
        return words
    if unit == "share":
        return f"{shown(100 * found, beside=100 * Fraction(verdict['limit']))} %"
    return shown(found, beside=Fraction(verdict["limit"])) if unit == "" else words


RELATIONS = {">=": "at least", ">": "more than", "<=": "at most", "<": "below"}


def limit(verdict: Mapping[str, Any]) -> str:
    """The limit of a verdict in words.

    >>> limit({"limit": "3/5", "relation": "<", "unit": "share"})
    'below 60 %'
    """
    if verdict["limit"] is None:
        return ""
    return f"{RELATIONS[verdict['relation']]} {measured(float(Fraction(verdict['limit'])), verdict['unit'])}"


def slack(verdict: Mapping[str, Any]) -> float:
    """How far from its limit a value is, as a share of the limit.

    >>> slack({"limit": "10", "value_float": 12.0}), slack({"limit": "10", "value_float": None})
    (0.2, inf)
    """
    if verdict["limit"] is None or verdict["value_float"] is None or verdict.get("withheld"):
        return float("inf")
    stop = float(Fraction(verdict["limit"]))
    return float(abs(verdict["value_float"] - stop) / max(abs(stop), 1e-9))


def used(verdict: Mapping[str, Any]) -> float | None:
    """How much of what is allowed is used: 1 at the limit, more beyond; None where no ratio says it.

    >>> (
    ...     used({"limit": "10", "value_float": 26.0, "relation": ">="}),
    ...     used({"limit": "10", "value_float": 5.0, "relation": ">="}),
    ...     used({"limit": "1/2", "value_float": 0.25, "relation": "<"}),
    ... )
    (0.38461538461538464, 2.0, 0.5)
    """
    if verdict["limit"] is None or verdict["value_float"] is None or verdict.get("withheld"):
        return None
    stop, found = float(Fraction(verdict["limit"])), float(verdict["value_float"])
    part, whole = (stop, found) if verdict["relation"].startswith(">") else (found, stop)
    return part / whole if whole > 0 and part >= 0 else None


def shortened(label: str, most: int = 48) -> str:
    """A label that leaves room for the chart beside it; the table below has it whole.

    >>> shortened("age bands of 10", 8)
    'age ban…'
    """
    return label if len(label) <= most else f"{label[: most - 1]}…"


def moment(text: str) -> str:
    """A moment to the minute.

    >>> moment("2026-11-18T15:07:17+00:00")
    '2026-11-18 15:07 UTC'
    """
    return f"{text[:10]} {text[11:16]} UTC"
