"""What a project says about its columns beforehand: the allowed levels, and how much each column matters.

Samarati 2001 and LeFevre et al. 2005 search every level of every hierarchy. The choices between bounds form a
lattice of their own, and "minimal" and "best" refer to it. Filtering the minimal choices of the whole lattice
by the bounds would lose those that are minimal only between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import getitem
from typing import TYPE_CHECKING, Any, Final, TypeVar

from privacy_sql.errors import PrivacySqlError, UsageError, did_you_mean, raise_all
from privacy_sql.parameters import number_in
from privacy_sql.table import Table

if TYPE_CHECKING:  # its arrays take longer to load than a check of a table
    from privacy_sql.searches import Found
    from privacy_sql.spaces.lattice import Choice, Lattice

T = TypeVar("T")
ENDS = ("min_level", "max_level")


@dataclass(frozen=True)
class Steering:
    """Bounds of levels and weights, by the names of quasi-identifiers; other columns are free and weigh 1.

    With `cells`, a column shows its lowest level or nothing, because cells are suppressed one by one.

    >>> Steering({"age": {"min_level": 1}}, {"age": "2.5"}).weights(["age", "sex"])
    (Fraction(5, 2), Fraction(1, 1))
    """

    bounds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    importance: Mapping[str, str | int | float] = field(default_factory=dict)
    cells: bool = False

    def __post_init__(self) -> None:
        if self:
            hint = "1 is the default; 2 counts twice what the column loses."
            bad_weights = [
                UsageError(
                    "bad_importance", f"the importance of {column} must be a number above 0", hint=hint
                )
                for column, weight in self.importance.items()
                if (number := number_in(weight)) is None or number <= 0
            ]
            raise_all([*self._bad_bounds(), *bad_weights])

    def __bool__(self) -> bool:
        return bool(self.bounds or self.importance or self.cells)

    def weights(self, columns: Iterator[str] | list[str]) -> tuple[Fraction, ...] | None:
        """How much each column matters; None if all matter the same."""
        if not self.importance:
            return None
        return tuple(number_in(self.importance.get(name, 1)) or Fraction(1) for name in columns)

    def levels(self, table: Table) -> tuple[tuple[int, ...], ...]:
        """The levels at which each quasi-identifier may be published, the finest first."""
        if self:
            raise_all(list(self._unfit(table)))
        found = []
        for name, kind in table.hierarchies.items():
            low = self.bounds.get(name, {}).get("min_level", 0)
            high = self.bounds.get(name, {}).get("max_level", kind.height)
            found.append(tuple(sorted({low, kind.height})) if self.cells else tuple(range(low, high + 1)))
        return tuple(found)

    def without(self, column: str, end: str) -> Steering:
        """The same without one of the bounds."""
        left = {name: value for name, value in self.bounds[column].items() if name != end}
        return replace(self, bounds={**self.bounds, column: left})

    def each_bound(self) -> list[tuple[str, str, int]]:
        """Every bound: column, end and level."""
        return [(column, end, level) for column, ends in self.bounds.items() for end, level in ends.items()]

    def to_json(self) -> dict[str, Any]:
        """The bounds and weights as plain data; empty if there are none."""
        if not self:
            return {}
        said = {
            "bounds": {column: dict(ends) for column, ends in self.bounds.items() if ends},
            "importance": {column: str(weight) for column, weight in self.importance.items()},
            "suppress": "cells" if self.cells else "",
        }
        return {name: part for name, part in said.items() if part}

    def _bad_bounds(self) -> Iterator[PrivacySqlError]:
        for column, ends in self.bounds.items():
            hint = "For example {'age': {'min_level': 1, 'max_level': 3}}."
            if not isinstance(ends, Mapping) or set(ends) - set(ENDS):
                told = f"the bounds of {column} must be min_level and max_level"
                yield UsageError("bad_bounds", told, hint=hint)
                continue
            if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in ends.values()):
                yield UsageError(
                    "bad_bounds", f"the bounds of {column} must be whole numbers, 0 or more", hint=hint
                )
            elif ends.get("min_level", 0) > ends.get("max_level", ends.get("min_level", 0)):
                told = (
                    f"min_level of {column} is {ends['min_level']}, above its max_level {ends['max_level']}"
                )
                yield UsageError(
                    "bad_bounds", told, hint="No level lies between them; change one of the two."
                )

    def _unfit(self, table: Table) -> Iterator[PrivacySqlError]:
        """Report columns and levels that this table does not have."""
        for column in {**self.bounds, **self.importance}:
            if column not in table.hierarchies:
                hint = did_you_mean(column, table.hierarchies)
                told = f'"{column}" has bounds or a weight but is not a quasi-identifier'
                yield UsageError("unknown_column", told, where=table.name, hint=hint)
        for column, end, level in self.each_bound():
            height = table.hierarchies[column].height if column in table.hierarchies else level
            if level > height:
                told = f"{end} of {column} is {level}, and its levels go from 0 to {height}"
                hint = table.hierarchies[column].every_level()
                yield UsageError("no_level", told, where=table.name, hint=hint)


FREE: Final = Steering()


@dataclass(frozen=True)
class Part:
    """The allowed choices as a lattice of their own: position 0 is the lowest allowed level."""

    levels: tuple[tuple[int, ...], ...]

    def lattice(self, whole: Lattice) -> Lattice:
        """The lattice of these choices, with the labels of the whole one.

        >>> from privacy_sql.spaces.lattice import Lattice
        >>> Part(((1, 2), (0,))).lattice(Lattice(((9, 4, 1), (7, 1)))).labels
        ((4, 1), (7,))
        """
        return replace(whole, labels=self.of(whole.labels))

    def of(self, parts: Sequence[Sequence[T]]) -> tuple[tuple[T, ...], ...]:
        """What there is for each column and level, of the levels that may be published."""
        pairs = zip(parts, self.levels, strict=True)
        return tuple(tuple(levels[level] for level in allowed) for levels, allowed in pairs)

    def choice(self, places: Choice) -> Choice:
        """The levels of a choice of this part.

        >>> Part(((1, 2), (0, 3))).choice((0, 1))
        (1, 3)
        """
        return tuple(map(getitem, self.levels, places))

    def places(self, choice: Choice) -> Choice:
        """The position of a choice of the whole lattice in this part."""
        return tuple(allowed.index(level) for allowed, level in zip(self.levels, choice, strict=True))

    def found(self, found: Found) -> Found:
        """What a walk over this part found, in levels of the whole lattice."""
        if all(allowed == tuple(range(len(allowed))) for allowed in self.levels):
            return found  # positions are levels where none is left out below them
        return replace(
            found,
            minimal=tuple(map(self.choice, found.minimal)),
            best=None if found.best is None else self.choice(found.best),
            known={self.choice(places): safe for places, safe in found.known.items()},
        )
