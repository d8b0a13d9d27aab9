"""Requirements decided on groups in memory: the same answers as from a template's rows, without a statement.

A requirement that compares a ratio of whole numbers in every group with a limit says which (`formulas`), and
one comparison gives the verdict, its exact value and the groups that fail. Arrays are loaded when some are
decided on, not before: a table that is checked needs none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from privacy_sql.criteria import Criterion, Evidence, Splits
from privacy_sql.verdict import Number, Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.groups import Bools, Groups, Ints

# what a class of somebody's own may say anew without changing how it is decided
BESIDE = {
    "question", "against", "unit", "unit_of", "safe_under_merging", "safe_under_suppression",
    "safe_in_larger_groups", "fewest_people", "beforehand", "in_project",
}  # fmt: skip


class Formula(NamedTuple):
    """What groups are held to: above / below compared with a limit; `above` alone is a whole number.

    Where `below` is 0 the ratio is unbounded and keeps to no limit.
    """

    above: Ints
    below: Ints | None
    relation: str
    limit: Number
    groups: Ints | None = None  # of each ratio, where not every group has exactly one


class SplitsOnArrays(Splits):
    """The state of a requirement that looks at all groups at once, for parts that are arrays."""

    @abstractmethod
    def seen_in(self, groups: Groups) -> Evidence:
        """The evidence about the parts of cuts, which are known by their keys."""


class OnArrays(Criterion, ABC):
    """A requirement that can be decided on groups in memory."""

    def fits(self, base: Base) -> bool:
        """Whether this table is one it decides there exactly as its template does."""
        return True

    @abstractmethod
    def decide(self, groups: Groups) -> Verdict:
        """The verdict, its worst group not named: enough for a search."""

    @abstractmethod
    def breaking(self, groups: Groups) -> Bools:
        """Which groups have to leave for the others to be safe."""

    def splits_in(self, whole: Groups) -> SplitsOnArrays | None:
        """The same as `splits`, from arrays."""
        return None


class ByFormula(OnArrays):
    """A requirement that is one or more ratios of whole numbers, each with its limit."""

    @abstractmethod
    def formulas(self, groups: Groups) -> Sequence[Formula]:
        """What every group is held to; the first that fails is told, or the first of all."""

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


def decided_on_arrays(criterion: Criterion) -> bool:
    """Whether a requirement is decided on arrays as it stands.

    A class of somebody's own must not keep the formula of the one it is made from when it may judge
    otherwise: its template and its `judge` are asked.
    """
    if not isinstance(criterion, OnArrays):
        return False
    for kind in type(criterion).__mro__:
        said = {name for name in vars(kind) if not name.startswith("__")}
        if "splits" in said and "splits_in" not in said:
            return False
        if said & {"decide", "formulas"}:
            return True
        if said - BESIDE:
            return False
    return False
