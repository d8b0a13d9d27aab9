"""Hierarchies of dates: day, month, quarter, year, five years, decade.

A date is read from its text: year, month and day as in 2024-03-05, optionally followed by a time. Every
engine gives this when it casts a date or a timestamp to text, so the levels need no date function. Other
text, or a day that does not exist, is not covered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.hierarchies.base import TOP, Hierarchy

UNITS = ("day", "month", "quarter", "year", "five_years", "decade")  # each nests in the next

_LEAP_YEAR = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DAY = (
    "([0-9]{4}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    "|[0-9]{4}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    "|[0-9]{4}-02-(0[1-9]|1[0-9]|2[0-8])"
    f"|{_LEAP_YEAR}-02-29)"
)
DATE = re.compile(f"{_DAY}([ T][0-9:.+Z-]*)?")
_LABELS = {
    "day": _DAY,
    "month": "[0-9]{4}-(0[1-9]|1[0-2])",
    "quarter": "[0-9]{4}-Q[1-4]",
    "year": "[0-9]{4}",
    "five_years": "[0-9]{4}-[0-9]{4}",
    "decade": "[0-9]{4}-[0-9]{4}",
}


@dataclass(frozen=True, init=False)
class Dates(Hierarchy):
    """Calendar units, from fine to coarse.

    >>> born = Dates("month", "quarter", "year", "five_years", "decade")
    >>> [born.label("1987-05-14", level) for level in range(7)]
    ['1987-05-14', '1987-05', '1987-Q2', '1987', '1985-1989', '1980-1989', '*']
    """

    ordered: ClassVar[bool] = True

    units: tuple[str, ...]

    def __init__(self, *units: str) -> None:
        if not units:
            raise UsageError("bad_dates", "dates need at least one level", hint=f"Known: {', '.join(UNITS)}.")
        for unit in units:
            if unit not in UNITS:
                hint = did_you_mean(str(unit), UNITS)
                raise UsageError("bad_dates", f'"{unit}" is not a level of dates', hint=hint)
        for level, (finer, coarser) in enumerate(pairwise(units), start=2):
            if UNITS.index(coarser) <= UNITS.index(finer):
                raise UsageError(
                    "not_nested",
                    f"level {level} of the dates ({coarser}) is not coarser than level {level - 1} ({finer})",
                    hint=f"Use this order, from fine to coarse: {', '.join(UNITS)}.",
                )
        object.__setattr__(self, "units", units)

    def has_label(self, label: str) -> bool:
        shown = (_LABELS[unit] for unit in self.units)
        return DATE.fullmatch(label) is not None or any(re.fullmatch(its, label) for its in shown)

    @property
    def unmapped_hint(self) -> str:
        return "Dates must be year, month and day, such as 2024-03-05."

    def level_names(self) -> tuple[str, ...]:
        return ("raw", *self.units, TOP)

    def to_spec(self) -> Mapping[str, object]:
        return {"dates": list(self.units)}

    def _covers(self, text: str) -> bool:
        return DATE.fullmatch(text) is not None

    def _label(self, text: str, level: int) -> str | None:
        year, month = text[:4], text[5:7]
        first, last = ("0", "4") if year[3] < "5" else ("5", "9")
        return {
            "day": text[:10],
            "month": text[:7],
            "quarter": f"{year}-Q{(int(month) + 2) // 3}",
            "year": year,
            "five_years": f"{year[:3]}{first}-{year[:3]}{last}",
            "decade": f"{year[:3]}0-{year[:3]}9",
        }[self.units[level - 1]]
