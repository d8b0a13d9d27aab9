"""A hierarchy to start from for a column: bands of round widths, units of the calendar, beginnings of codes.

The levels fit what most people have. Numbers of the few beyond are hidden together, and no level is proposed
that leaves a column as the level before does. Only counts and round numbers get into it, no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from privacy_sql.counted.profiling import OWN, Profile, ProfiledColumn
from privacy_sql.errors import number_of
from privacy_sql.query.template import Sql, render

# what stands under `hierarchy:`
Spec = str | Mapping[str, Sequence[int | str] | Mapping[str, int | str]] | None
FEW_TEXTS = 4  # so many need no groups
FEW_NUMBERS = 12  # so many need no bands
BANDS = 30  # at the finest level
BEYOND = Fraction(1, 100)  # the share of people whose numbers are hidden together at either end
BEYOND_FEW = Fraction(1, 20)  # where a column has few numbers
MOST_PREFIXES = 6
ROUND = tuple(Decimal(digit).scaleb(power) for power in range(-4, 9) for digit in (1, 5))


def starting(column: ProfiledColumn, found: Profile | None = None) -> tuple[str, Spec]:
    """Why a column is generalised the way it is, and how; `found` is asked where its people are."""
    if column.n_dates == column.n_values:
        first, last = (0.0, 100.0) if found is None else _ends(found, column, Fraction(0))
        units = ["day"] if column.longest > len("2024-03-05") else []
        spans = (("month", 0), ("quarter", 0), ("year", 1), ("five_years", 6), ("decade", 15))
        return "dates", {"dates": [*units, *(unit for unit, years in spans if last - first >= years)]}
    if column.dates:
        return "dates; written as 2024-03-05 they would have months and years", "keep_or_drop"
    if column.decimal_commas:
        return "numbers with a decimal comma; with a point they would have bands", "keep_or_drop"
    if column.code:
        # one character fewer at each level, and no level that hides nothing more
        kept = list(range(column.longest - 1, 0, -1))
        if found is not None:
            lengths = [(Sql(f"kept{length}"), length) for length in kept]
            asked = render("project/prefixes.sql", source=found.relation, column=column.name, lengths=lengths)
            (counts,) = found.engine.fetch(asked)
            n_labels = {length: counts[f"kept{length}"] for length in kept} | {0: 1}
            kept = [n for n in kept if n_labels[n] > n_labels[n - 1] and n_labels[n] < column.n_values]
        return f"codes of {column.longest} characters", {"mask": [*kept[-MOST_PREFIXES:], 0]}
    if column.n_numbers == column.n_values and column.n_values:
        return "numbers", _bands(column, found)
    fill_in = "; a hierarchy file can group them" if column.n_values > FEW_TEXTS else ""
    return f"{number_of(column.n_values, 'value')}{fill_in}", "keep_or_drop"


def widths(extent: float, *, whole: bool) -> list[Decimal]:
    """Round widths of bands, each a multiple of the one before: about thirty bands at first, few at last.

    >>> [[int(width) for width in widths(extent, whole=True)] for extent in (14, 57, 98, 300)]
    [[5], [5, 10, 20], [5, 10, 20], [10, 50, 100]]
    """
    able = [width for width in ROUND if not whole or width > 1]
    made = [next((width for width in able if width * BANDS >= extent), able[-1])]
    for wider in able:
        if wider > made[-1] and extent >= float(wider) * (1.5 if wider == 2 * made[-1] else 2.5):
            made.append(wider)
    if str(made[-1].normalize()).startswith("1") and extent >= 2 * float(2 * made[-1]):
        made.append(2 * made[-1])
    return made


def _ends(found: Profile, column: ProfiledColumn, beyond: Fraction) -> tuple[float, float]:
    """Between which numbers, or years of dates, all lie but a share of people at either end."""
    few = floor(column.n_rows * beyond)
    asked = render(
        "project/ends.sql",
        source=found.relation,
        column=column.name,
        value=OWN["value"],
        dates=column.dates,
        few=Sql(str(few)),
    )
    (ends,) = found.engine.fetch(asked)
    return float(ends["low"] or 0), float(ends["high"] or 0)


def _bands(column: ProfiledColumn, found: Profile | None) -> Spec:
    """Bands of numbers, with the smallest and largest hidden; of few numbers only the largest."""
    few, whole = column.n_values <= FEW_NUMBERS, not column.fractions
    assert column.low is not None and column.high is not None
    low, high = column.low, column.high
    if found is not None:
        low, high = _ends(found, column, BEYOND_FEW if few else BEYOND)
    if few:
        top_coded = whole and column.low >= 0 and low + 1 < high < column.high
        return {"clip": {"top": int(high)}} if top_coded else "keep_or_drop"
    made = widths(high - low, whole=whole)
    unit = made[min(1, len(made) - 1)]
    bottom, top = floor(Decimal(low) / unit) * unit, ceil(Decimal(high) / unit) * unit
    ends = {
        **({"bottom": bottom} if Decimal(column.low) < bottom else {}),
        **({"top": top} if Decimal(column.high) >= top + made[0] else {}),
    }
    clip = {end: int(number) if number == int(number) else f"{number:f}" for end, number in ends.items()}
    written: list[int | str] = [
        int(width) if whole else f"{width:f}" if "." in f"{width:f}" else f"{width:f}.0" for width in made
    ]
    return {"intervals": written, **({"clip": clip} if clip else {})}
