"""Hierarchies of numbers: bands of equal width, and bands between chosen cut points.

A number is read in double precision. Text that is not a plain decimal number (`12`, `-3.5`, `1e5`, with
spaces around it allowed) is not covered; neither are NaN and infinity. The grammar is explicit because every
engine casts slightly different texts; macros/kernel/recode.sql has the same grammar.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar

from privacy_sql.errors import UsageError
from privacy_sql.hierarchies.base import TOP, Hierarchy

# at most 40 digits and a two-digit exponent: no text that matches can overflow a double on any engine
NUMBER = re.compile(r" *[+-]?([0-9]{1,40}([.][0-9]{0,40})?|[.][0-9]{1,40})([eE][+-]?[0-9]{1,2})? *")
PARAMETER = re.compile(r"[+-]?[0-9]+([.][0-9]+)?([eE]-?[0-9]{1,2})?")
MOST_DECIMALS = 6
MAGNITUDE = 10**15  # whole numbers up to here, and their sums with a width, are exact in a double

Number = int | Decimal


def number(text: str) -> float | None:
    """The number in a text, or None.

    >>> number("24.5"), number(" -3 "), number("1_000"), number("nan")
    (24.5, -3.0, None, None)
    """
    return float(text) if NUMBER.fullmatch(text) else None


@dataclass(frozen=True, init=False, repr=False)
class Intervals(Hierarchy):
    """Bands of equal width per level, aligned at an origin; each width is a multiple of the one before.

    Bands of whole numbers are written `20-24` and cover only whole numbers. A width with a decimal point
    (5.0, 0.5) says that the column has fractions; bands are then written `[20, 25)`, from 20 up to but
    excluding 25. So a label covers exactly the values recoded into it.

    >>> age = Intervals(5, 10, 20)
    >>> [age.label(24, level) for level in range(5)], age.label(-3, 1), age.label(24.5, 1)
    ([24, '20-24', '20-29', '20-39', '*'], '-5--1', None)
    >>> Intervals(5.0).label(24.5, 1), Intervals("0.5").label("0.75", 1)
    ('[20, 25)', '[0.5, 1.0)')

    With `clip`, level 1 shows only which values lie below `bottom` or at `top` and above, and bands begin at
    level 2; they end at these two numbers, so that levels nest. HIPAA's "90 and older" is a top of 90.

    >>> age = Intervals(5, clip={"bottom": 18, "top": 90})
    >>> age.label(17, 1), age.label(89, 1), age.label(90, 1), age.label(19, 2), age.label(95, 2)
    ('<18', '89', '90+', '18-19', '90+')
    """

    numeric: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    widths: tuple[Number, ...]
    origin: Number
    bottom: Number | None
    top: Number | None
    fractions: bool

    def __init__(
        self,
        *widths: float | Decimal | str,
        origin: float | Decimal | str = 0,
        clip: Mapping[str, float | Decimal | str | None] | None = None,
    ) -> None:
        numbers = tuple(_parameter(width) for width in widths)
        start = _parameter(origin)
        bottom, top = _clipped(clip)
        given = [n for n in (*numbers, start, bottom, top) if n is not None]
        object.__setattr__(self, "widths", numbers)
        object.__setattr__(self, "origin", start)
        object.__setattr__(self, "bottom", bottom)
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "fractions", any(isinstance(n, Decimal) for n in given))
        if (not self.clips and not numbers) or any(width <= 0 for width in numbers):
            raise UsageError("bad_interval", "intervals need widths above 0", hint="For example [5, 10, 20].")
        for level, (finer, coarser) in enumerate(pairwise(numbers), start=2):
            if coarser <= finer or coarser % finer != 0:
                raise UsageError(
                    "not_nested",
                    f"level {level} of the intervals (width {_plain(coarser)}) does not nest: its width is"
                    f" not a multiple of level {level - 1}'s ({_plain(finer)})",
                    hint="Make each width a multiple of the one before, such as [5, 10, 20].",
                )
        if any(abs(self._scaled(n)) >= MAGNITUDE for n in given):
            raise UsageError("bad_interval", "widths and origin together span more than 15 digits")

    def __repr__(self) -> str:
        clip = {end: str(n) for end, n in (("bottom", self.bottom), ("top", self.top)) if n is not None}
        more = f", clip={clip}" if clip else ""
        return f"Intervals(widths={self.widths}, origin={self.origin}, fractions={self.fractions}{more})"

    @property
    def clips(self) -> bool:
        """Whether level 1 only hides the smallest and largest values."""
        return self.bottom is not None or self.top is not None

    @property
    def decimals(self) -> int:
        """Decimal places of the bounds: the most any width, or the origin, needs."""
        given = (*self.widths, self.origin, self.bottom, self.top)
        return max(_decimals(n) for n in given if n is not None)

    @property
    def unmapped_hint(self) -> str:
        if not self.widths:
            return "Values must be numbers, such as 1.5 and not 1,5."
        point = (
            "" if self.fractions else " Write the widths with a decimal point if the column has fractions."
        )
        return f"Values must be numbers below 10^{15 - self.decimals}, as 1.5 and not 1,5.{point}"

    def level_names(self) -> tuple[str, ...]:
        ends = [*([f"<{_plain(self.bottom)}"] if self.bottom is not None else [])]
        ends += [f"{_plain(self.top)}+"] if self.top is not None else []
        return ("raw", *([" ".join(ends)] if ends else []), *map(_plain, self.widths), TOP)

    def to_spec(self) -> Mapping[str, object]:
        origin = (
            {} if self.origin == 0 and isinstance(self.origin, int) else {"origin": _written(self.origin)}
        )
        ends = (("bottom", self.bottom), ("top", self.top))
        clip = {end: _written(number) for end, number in ends if number is not None}
        more = {**origin, **({"clip": clip} if clip else {})}
        return {"intervals": [_written(width) for width in self.widths], **more}

    @property
    def of_whole_numbers(self) -> bool:
        return bool(self.widths) and not self.fractions

    def for_fractions(self) -> Intervals:
        if not self.widths:
            return self
        clip = {"bottom": self.bottom, "top": self.top} if self.clips else None
        return Intervals(*map(_with_point, self.widths), origin=self.origin, clip=clip)

    def _covers(self, text: str) -> bool:
        return self._label(text, 1) is not None

    def _label(self, text: str, level: int) -> str | None:
        value, units = number(text), self._units(text)
        if value is None or (self.widths and units is None):
            return None
        if self.bottom is not None and value < float(self.bottom):
            return f"<{_plain(self.bottom)}"
        if self.top is not None and value >= float(self.top):
            return f"{_plain(self.top)}+"
        place = level - 1 - self.clips
        if place < 0 or units is None:
            return text
        width = self._scaled(self.widths[place])
        low = units - (units - self._scaled(self.origin)) % width
        high = low + width
        # a band ends where hidden values begin, or a level would not nest in the next
        low = low if self.bottom is None else max(low, self._scaled(self.bottom))
        high = high if self.top is None else min(high, self._scaled(self.top))
        if self.fractions:
            return f"[{self._bound(low)}, {self._bound(high)})"
        return str(low) if high - low == 1 else f"{low}-{high - 1}"

    def _units(self, text: str) -> int | None:
        """The value in units of the last decimal place, rounded down; None if it is not covered."""
        value = number(text)
        scale: int = 10**self.decimals
        if value is None or abs(value) >= MAGNITUDE // scale or not (self.fractions or value.is_integer()):
            return None
        if scale == 1:
            return math.floor(value)
        # 0.29 * 100 is below 29: take the nearest unit and compare the value with it, as doubles
        near = math.floor(value * scale + 0.5)
        return near - 1 if value < near / scale else near

    def _scaled(self, value: Number) -> int:
        return int(value * 10**self.decimals)

    def _bound(self, units: int) -> str:
        return f"{Decimal(units).scaleb(-self.decimals):.{self.decimals}f}"


@dataclass(frozen=True, init=False)
class Breaks(Hierarchy):
    """Bands between cut points, one list of cuts per level; a coarser level keeps some of the finer cuts.

    >>> age = Breaks([18, 30, 65], [18, 65])
    >>> age.label(17, 1), age.label("29.5", 1), age.label(30, 2), age.label(65, 2)
    ('<18', '[18, 30)', '[18, 65)', '>=65')
    """

    numeric: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    cuts: tuple[tuple[Number, ...], ...]

    def __init__(self, *cuts: Iterable[float | Decimal | str] | float | Decimal | str) -> None:
        one_level = all(isinstance(cut, int | float | Decimal | str) for cut in cuts)
        levels = [cuts] if one_level else cuts
        made = []
        for level in levels:
            if isinstance(level, str) or not isinstance(level, Iterable):
                raise UsageError("bad_breaks", "breaks must be one list of cut points, or one list per level")
            made.append(tuple(cut if _decimals(cut) else int(cut) for cut in map(_parameter, level)))
        object.__setattr__(self, "cuts", tuple(made))
        for place, level in enumerate(self.cuts, start=1):
            if not level or any(high <= low for low, high in pairwise(level)):
                raise UsageError(
                    "bad_breaks", f"level {place} of the breaks needs cut points in ascending order"
                )
        for place, (finer, coarser) in enumerate(pairwise(self.cuts), start=2):
            if not set(coarser) < set(finer):
                raise UsageError(
                    "not_nested",
                    f"level {place} of the breaks does not nest: it has a cut point that level {place - 1}"
                    " does not have",
                    hint="Each level may only remove cut points.",
                )

    @property
    def unmapped_hint(self) -> str:
        return "Values must be numbers."

    def level_names(self) -> tuple[str, ...]:
        return ("raw", *(", ".join(map(_plain, level)) for level in self.cuts), TOP)

    def to_spec(self) -> Mapping[str, object]:
        return {"breaks": [[_written(cut) for cut in level] for level in self.cuts]}

    def _covers(self, text: str) -> bool:
        return number(text) is not None

    def _label(self, text: str, level: int) -> str | None:
        value = number(text)
        if value is None:
            return None
        cuts = self.cuts[level - 1]
        above = next((place for place, cut in enumerate(cuts) if value < float(cut)), len(cuts))
        if above == 0:
            return f"<{_plain(cuts[0])}"
        if above == len(cuts):
            return f">={_plain(cuts[-1])}"
        return f"[{_plain(cuts[above - 1])}, {_plain(cuts[above])})"


def _parameter(value: object) -> Number:
    """A width, origin or cut as an exact number: a Decimal if it is written with a decimal point."""
    text = "" if isinstance(value, bool) else str(value).strip()
    if not PARAMETER.fullmatch(text):
        raise UsageError(
            "bad_number", "widths, origins and cut points must be numbers", hint="For example 5 or 0.5."
        )
    exact = Decimal(text)
    if _decimals(exact) > MOST_DECIMALS or abs(exact) >= MAGNITUDE:
        raise UsageError(
            "bad_number",
            f"a width, origin or cut point may have at most {MOST_DECIMALS} decimals and 15 digits",
        )
    return exact if "." in text or _decimals(exact) else int(exact)


def _decimals(value: Number) -> int:
    """Decimal places needed to write a number exactly."""
    return max(0, -int(Decimal(value).normalize().as_tuple().exponent))


def _plain(value: Number) -> str:
    """A number without an exponent or trailing zeros."""
    return f"{Decimal(value):.{_decimals(value)}f}"


def number_text(value: object) -> str:
    """A width or cut point as labels show it, in any spelling; macros/dbt does the same.

    >>> number_text("0.30"), number_text("+5.0"), number_text("3e-1")
    ('0.3', '5', '0.3')
    """
    exact = _parameter(value)
    return _plain(exact if exact else 0)


def _clipped(clip: Mapping[str, float | Decimal | str | None] | None) -> tuple[Number | None, Number | None]:
    """The two numbers beyond which values are hidden."""
    if clip is None:
        return None, None
    hint = "For example {bottom: 18, top: 90}, or one of the two."
    if not isinstance(clip, Mapping) or set(clip) - {"bottom", "top"}:
        raise UsageError("bad_clip", "clip names a bottom, a top or both", hint=hint)
    bottom, top = (None if clip.get(end) is None else _parameter(clip[end]) for end in ("bottom", "top"))
    if bottom is None and top is None:
        raise UsageError("bad_clip", "clip names a bottom, a top or both", hint=hint)
    if bottom is not None and top is not None and bottom >= top:
        raise UsageError("bad_clip", "the bottom of clip must lie below its top", hint=hint)
    return bottom, top


def _with_point(value: Number) -> Decimal:
    return Decimal(f"{Decimal(value):.{max(1, _decimals(value))}f}")


def _written(value: Number) -> int | str:
    """A number as plain data; text if the decimal point matters, so that nothing is lost."""
    return value if isinstance(value, int) else str(_with_point(value))
