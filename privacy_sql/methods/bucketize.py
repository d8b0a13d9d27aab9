"""Bucketization: exact quasi-identifiers, and each group's sensitive values in random order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from privacy_sql import registry
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import at_least, one_of
from privacy_sql.errors import NoSafeChoice, UsageError
from privacy_sql.lattice.result import nothing_safe, result
from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.methods import Asked, Method, Proposal, check_levels
from privacy_sql.methods._anatomy import anatomies
from privacy_sql.methods._views import GROUP, permuted, refuse_unfit, secret, two_tables
from privacy_sql.query.template import Sql

LAYOUTS = ("one_table", "two_tables")
SEARCHED = ("anatomy", "full_domain")


@dataclass(frozen=True)
class Bucketize(Method):
    """People grouped `by` some columns; sensitive values permuted inside each group.

    martin2007, Sec. 2.1: an independent random permutation of the sensitive values in each bucket. The
    order is keyed by a secret of the operating system that is never stored. `mask` shows columns at a level.
    With the layout "two_tables", people and values are published in separate tables, joined by the group
    number.

    `by` names columns, or columns and levels. With "full_domain", the groups are those of the safe
    generalisation that costs least under `minimise` (Sec. 3.4), published with exact values. With "anatomy",
    they are buckets of at least `l` people with different values, by default of the smallest safe size.
    """

    name: ClassVar[str] = "bucketize"
    refuses_because: ClassVar[str] = (
        "it shows exact quasi-identifiers beside permuted values, and no label of a group"
    )
    permutes: ClassVar[bool] = True

    by: str | Sequence[str] | Mapping[str, int]
    layout: str = "one_table"
    mask: Mapping[str, int] = field(default_factory=dict)
    l: int | None = None  # noqa: E741
    minimise: str = "average_group_size"
    seed: int | None = None

    def __post_init__(self) -> None:
        one_of(self.layout, LAYOUTS, self.name, "layout")
        registry.get("utilities", self.minimise)
        if isinstance(self.by, str):
            one_of(self.by, SEARCHED, self.name, "by")
        if self.l is not None:
            at_least(self.l, 2, self.name, "l")
            if self.by != "anatomy":
                raise UsageError("bad_parameter", "l of bucketize applies only with by: anatomy")

    def propose(self, base: Base, asked: Asked) -> Proposal:
        check_levels(base, self.mask)
        refuse_unfit(base, self.name)
        key = secret(base, self.seed)
        grouping, choice, search = self._grouped(base, asked, key)
        return Proposal(
            grouping=grouping,
            view=permuted(grouping, self.mask, key),
            parts=two_tables(grouping, self.mask) if self.layout == "two_tables" else {},
            choice={**choice, "layout": self.layout, "mask": dict(self.mask)},
            quasi=tuple(base.table.quasi),
            levels=dict(self.mask),
            group=GROUP,
            permuted=True,
            search=search,
            rehearsal=self.seed is not None,
        )

    def _grouped(self, base: Base, asked: Asked, key: Sql) -> tuple[Grouping, dict[str, Any], Any]:
        """The groups, and what the manifest says about them and about the search."""
        if self.by == "anatomy":
            # the buckets for `l`, or the smallest ones that meet every requirement
            for values, grouping in anatomies(base, self.l, key):
                if self.l or all(verdict.safe for verdict in asked.judge(grouping).values()):
                    return grouping, {"by": "anatomy", "l": values}, None
            raise NoSafeChoice(
                "nothing_safe",
                "no buckets of different values are safe, however large",
                where=base.table.name,
                hint="Relax a requirement, or use full_domain.",
            )
        search = None
        if self.by == "full_domain":
            lattice = LatticeSearch(base, asked.require, self.minimise)
            found = lattice.run("best")
            if found.best is None:
                raise nothing_safe(lattice, found)
            search = result(lattice, found)
            assert search.best is not None
            by = dict(search.best["levels"])
        else:
            by = dict(self.by) if isinstance(self.by, Mapping) else dict.fromkeys(self.by, 0)
            check_levels(base, by)
        grouping = Grouping.by(base, [base.key(base.aliases[column], level) for column, level in by.items()])
        return grouping, {"by": by}, search and search.summary()
