"""Bucketization: exact quasi-identifiers, and each group's sensitive values in an order nobody can follow."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from privacy_sql.base import Base, Grouping
from privacy_sql.errors import UsageError
from privacy_sql.mechanisms import Asked, Proposal, check_levels, shown
from privacy_sql.query import Query, Sql, render

GROUP = "group_id"


@dataclass(frozen=True)
class Bucketize:
    """People grouped `by` some columns; sensitive values permuted inside each group.

    martin2007, Sec. 2.1: an independent random permutation of the sensitive values in each bucket. The
    order is keyed by a secret of the operating system that is never stored. `mask` shows columns at a level.
    """

    name: ClassVar[str] = "bucketize"

    by: Sequence[str] | Mapping[str, int]
    layout: str = "one_table"
    mask: Mapping[str, int] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.layout != "one_table":
            raise UsageError("bad_parameter", "layout of bucketize is one_table")

    def propose(self, base: Base, asked: Asked) -> Proposal:
        by = self.by if isinstance(self.by, Mapping) else dict.fromkeys(self.by, 0)
        check_levels(base, by)
        check_levels(base, self.mask)
        if not base.table.sensitives:
            raise UsageError(
                "no_sensitive", "bucketize permutes sensitive values, and no column is sensitive"
            )
        if GROUP in base.source_columns:
            raise UsageError("taken_name", f'the source has a column "{GROUP}"', hint="Rename it.")
        grouping = base.grouped([base.key(base.aliases[column], level) for column, level in by.items()])
        return Proposal(
            grouping=grouping,
            view=self._view(grouping),
            choice={"by": dict(by), "layout": self.layout, "mask": dict(self.mask)},
            quasi=tuple(base.table.quasi),
            levels=dict(self.mask),
            group=GROUP,
            rehearsal=self.seed is not None,
        )

    def _view(self, grouping: Grouping) -> Query:
        key = (
            secrets.token_hex(32)
            if self.seed is None
            else hashlib.sha256(str(self.seed).encode()).hexdigest()
        )
        return render(
            "mechanisms/bucketize.sql",
            rows=grouping.rows,
            shown=shown(grouping.base, self.mask),
            secret=grouping.base.engine.load({"key": ("varchar", [key])}, "secret"),
            group_id=Sql(GROUP),
        )
