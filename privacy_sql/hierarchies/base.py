"""What every hierarchy provides: levels from the raw value to one label, each coarser than the one below."""

from __future__ import annotations

import datetime
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from privacy_sql.display import levels
from privacy_sql.errors import UsageError

TOP = "*"


class Hierarchy(ABC):
    """How the values of one column may be generalised: the domain generalisation hierarchy of the papers.

    Level 0 is the raw value; the top level is the single label `*`, except for a column without a hierarchy.
    NULL stays NULL below the top and is `*` there, like everything else.
    """

    place: Path | None = None  # the file it was read from, if any
    numeric: ClassVar[bool] = False  # values must be numbers, or text that reads as one
    # values have an order, so that a range of them is a group; else they only have nodes
    ordered: ClassVar[bool] = False
    lists_values: ClassVar[bool] = False  # its labels are said value by value, not by a rule

    def has_label(self, label: str) -> bool:
        """Whether a text is one of its labels, even if no present value has it."""
        return False

    def leaves(self) -> Iterable[str]:
        """Every raw value it lists; most hierarchies cover values by a rule and list none."""
        return (row[0] for row in self.rows())

    def rows(self) -> Iterable[tuple[str, ...]]:
        """Every raw value it lists, with its label at each level."""
        return ()

    def covers_all(self, label: str) -> bool:
        """Whether a label below the top covers every value it lists."""
        return False

    def tells_apart(self, level: int) -> bool:
        """Whether a level below the top may show different labels."""
        return True

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.level_names()) - 1

    @property
    def unmapped_hint(self) -> str:
        """What to do if values of the column are not covered."""
        return "Add the missing values to the hierarchy."

    @abstractmethod
    def level_names(self) -> tuple[str, ...]:
        """One short name per level, from the raw value to the top."""

    def described(self) -> dict[str, object]:
        """Its kind and the names of its levels, enough to describe a level in words."""
        return {"kind": next(iter(self.to_spec()), ""), "levels": list(self.level_names())}

    def in_words(self, level: int) -> str:
        """How a level shows the column.

        >>> from privacy_sql.hierarchies import Intervals
        >>> Intervals(5, 10).in_words(2)
        'bands of 10'
        """
        return levels.level(self.described(), level)

    def every_level(self) -> str:
        """A sentence that says what each level number means.

        >>> from privacy_sql.hierarchies import Intervals
        >>> Intervals(5).every_level()
        'Level 0 is exact, 1 is bands of 5, 2 is removed.'
        """
        return f"Level {', '.join(f'{level} is {self.in_words(level)}' for level in range(self.height + 1))}."

    @abstractmethod
    def to_spec(self) -> Mapping[str, object]:
        """The value of `hierarchy:` in privacy.yml, as plain data."""

    def recipe(self) -> Mapping[str, object]:
        """What the macro `recode` needs to write the same labels in SQL, as plain data for a dbt model."""
        return self.to_spec()

    def label(self, value: object, level: int) -> object | None:
        """The published form of a value; None for NULL below the top and for a value not covered."""
        if not 0 <= level <= self.height:
            raise UsageError(
                "no_such_level", f"level {level} does not exist; levels go from 0 to {self.height}"
            )
        if level == self.height > 0:
            return TOP
        if value is None or not self.maps(value):
            return None
        return value if level == 0 else self._label(text_of(value), level)

    def maps(self, value: object) -> bool:
        """Whether the hierarchy covers the value. NULL is always covered."""
        return value is None or self._covers(text_of(value))

    def checksum(self) -> str:
        """A checksum of the labels; hierarchies with equal checksums publish every value the same."""
        return hashlib.sha256(json.dumps(dict(self.to_spec()), sort_keys=True).encode()).hexdigest()

    @property
    def of_whole_numbers(self) -> bool:
        """Whether its labels are of whole numbers only, so that `for_fractions` has others."""
        return False

    def for_fractions(self) -> Hierarchy:
        """The same levels for a column with fractional numbers; only the labels may differ."""
        return self

    def _covers(self, text: str) -> bool:
        return True

    @abstractmethod
    def _label(self, text: str, level: int) -> str | None:
        """The label of a value (as text) at a level between the raw value and the top."""


def text_of(value: object) -> str:
    """The text an engine gives when it casts the value; hierarchies read text and native values alike.

    >>> text_of("02139"), text_of(24), text_of(True), text_of(datetime.date(2024, 3, 5))
    ('02139', '24', 'true', '2024-03-05')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return str(value)
