"""Requirements decided on groups in memory: the same results as from a template's rows, without SQL.

A requirement that compares a ratio of whole numbers in every group with a limit declares the ratio
(`formulas`); one comparison gives the verdict, its exact value and the failing groups. Arrays are loaded on
first use; a check of a table needs none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from privacy_sql.criteria import Criterion, DecidesGroups, Splits
from privacy_sql.verdict import Number, Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Bools, Groups, Ints

# what a user's subclass may override without changing the decision
BESIDE = {
    "question", "against", "unit", "unit_of", "safe_under_merging", "safe_under_suppression",
    "safe_in_larger_groups", "fewest_people", "beforehand", "in_project", "has_its_formula",
}  # fmt: skip


def said_beyond(kind: type, owner: type) -> set[str]:
    """What a user's subclass, or a mixin, says by which it may judge otherwise than the class it inherits."""
    others = set(kind.__mro__) - set(owner.__mro__)
    return {name for each in others for name in vars(each) if not name.startswith("__")} - BESIDE


class Formula(NamedTuple):
    """A ratio above / below to compare with a limit; `above` alone is a whole number.

    If `below` is 0 the ratio is unbounded and meets no limit.
    """

    above: Ints
    below: Ints | None
    relation: str
    limit: Number
    groups: Ints | None = None  # the group of each ratio, if groups do not have exactly one each


class OnArrays(Criterion, ABC):
    """A requirement that can be decided on groups in memory."""

    # whether the formula decides as the template and `judge` do; said when it is first asked
    has_its_formula: ClassVar[bool]

    @property
    def on_arrays(self) -> DecidesGroups | None:
        kind = type(self)
        if "has_its_formula" not in vars(kind):
            deciding = (each for each in kind.__mro__ if vars(each).keys() & {"decide", "formulas"})
            owner = next(deciding, OnArrays)
            kind.has_its_formula = not said_beyond(kind, owner) and not (
                "splits" in vars(owner) and "splits_in" not in vars(owner)
            )
        return self if kind.has_its_formula else None

    def fits(self, base: Base) -> bool:
        """Whether it decides this table in memory exactly as its template does."""
        return True

    @abstractmethod
    def decide(self, groups: Groups) -> Verdict:
        """The verdict without naming the worst group, which is enough for a search."""

    @abstractmethod
    def breaking(self, groups: Groups) -> Bools:
        """The groups to leave out so that the others are safe."""

    def splits_in(self, whole: Groups) -> Splits[Any] | None:
        """The same as `splits`, from arrays."""
        return None


class ByFormula(OnArrays):
    """A requirement on one or more ratios of whole numbers, each with its limit."""

    @abstractmethod
    def formulas(self, groups: Groups) -> Sequence[Formula]:
        """The ratios to compare; the verdict shows the first that fails, or the first of all."""

    def decide(self, groups: Groups) -> Verdict:
        from privacy_sql.kernels.ratios import Ratios

        told: Verdict | None = None
        for above, below, relation, limit, _ in self.formulas(groups):
            value = Ratios.of(above, below).worst_value(relation)
            found = self.verdict(value, Witness({}), limit=limit, relation=relation)
            if told is None or (told.safe and not found.safe):
                told = found
        assert told is not None
        return told

    def breaking(self, groups: Groups) -> Bools:
        from privacy_sql.kernels.ratios import Ratios

        gone = groups.none
        for above, below, relation, limit, places in self.formulas(groups):
            assert not isinstance(limit, float)
            failing = ~Ratios.of(above, below).keep(relation, limit)
            gone |= failing if places is None else groups.marked(places[failing])
        return gone
