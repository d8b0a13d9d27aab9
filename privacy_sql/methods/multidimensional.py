"""Multidimensional partitioning: boxes of people, cut as long as every requirement holds."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from privacy_sql.boxes.partitioning import Boxes, CutPlan, Partitioning
from privacy_sql.counted.base import Base
from privacy_sql.counted.fingerprints import DistinctRows
from privacy_sql.errors import NotSafe, UsageError, did_you_mean
from privacy_sql.methods import (
    Asked,
    Method,
    Proposal,
    refuse_known,
    refuse_population,
    seconds_of,
    share,
    suppress,
)
from privacy_sql.methods._views import GROUP, from_counts, permuted, refuse_unfit, secret
from privacy_sql.parameters import given
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.table import Table

log = logging.getLogger(__name__)

SPLITS = ("median", "range", "information_gain")
OUTPUTS = ("generalised", "bucketized")
SHOWN = "a range, different for each group; * if a group has missing and other values"


@dataclass(frozen=True)
class Multidimensional(Method):
    """Boxes, cut along one quasi-identifier at a time as long as every requirement holds.

    chen2008, Sec. 6.2, Fig. 4 (SkylineAnonymize). `split` says where: at the `median` of the widest axis, in
    the middle of its `range`, or where the cut says most about the sensitive value (or the column
    `by_class`). A hierarchy is cut into the children of a node. Insensitive columns that count as known are
    published unchanged, so people with different values in them start in different boxes. With
    `strict=False`, people with the same value may be separated. Boxes that fail in the final judgement may be
    left out, with up to `max_suppressed` of the rows. After `time_limit`, nothing more is cut, and the boxes
    so far are published.
    """

    name: ClassVar[str] = "multidimensional"
    refuses_because: ClassVar[str] = "a box has no label that people of the population could be matched with"

    split: str = "median"
    by_class: str | None = None
    output: str = "generalised"
    strict: bool = True
    seed: int | None = None
    max_suppressed: str | int | float = 0
    time_limit: int | float | str | None = None  # seconds

    def __post_init__(self) -> None:
        share(self.max_suppressed, "max_suppressed")
        seconds_of(self.time_limit)
        for parameter, value, known in (("split", self.split, SPLITS), ("output", self.output, OUTPUTS)):
            if value not in known:
                hint = did_you_mean(str(value), known)
                raise UsageError(
                    "bad_parameter",
                    f"{parameter} of {self.name} must be one of {', '.join(known)}",
                    hint=hint,
                )

    @classmethod
    def bound(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """`class` of the project file as `by_class`, because `class` is a Python keyword."""
        return {"by_class" if key == "class" else key: value for key, value in params.items()}

    def refuse_unfit(self, table: Table, asked: Asked) -> None:
        """Refuse what cannot be cut, before anything is counted."""
        refuse_population(self.name, asked)
        if self.output == "generalised":
            refuse_known(self.name, table, asked)
        if not set(table.quasi) - set(table.also_known) or table.group:
            hint = "Name quasi-identifiers and remove the group column."
            raise UsageError("nothing_to_cut", f"{self.name} needs quasi-identifiers to cut along", hint=hint)

    @property
    def allowed(self) -> Fraction:
        return share(self.max_suppressed, "max_suppressed")

    @property
    def seconds(self) -> float | None:
        return seconds_of(self.time_limit)

    def propose(self, base: Base, asked: Asked) -> Proposal:
        if self.output == "bucketized" or not self.strict:
            refuse_unfit(base, self.name)
        if self.by_class is not None and self.by_class not in base.source_columns:
            hint = did_you_mean(self.by_class, base.source_columns)
            raise UsageError("unknown_column", f'there is no column "{self.by_class}" (class)', hint=hint)
        exact = self.output == "bucketized"
        plan = CutPlan(self.split, self.by_class, not self.strict, () if exact else base.table.also_known)
        partitioning = Partitioning(base, asked.require, plan)
        self._refuse_unsafe_whole(partitioning, asked)
        marked = exact or not self.strict
        # if box numbers are not printed, only the labels distinguish boxes
        found = partitioning.run() if marked else partitioning.run().apart()
        if found.stopped:
            told = "%s: the %s passed, so some published boxes could have been cut further"
            log.warning(told, base.table.name, found.stopped)
        boxes, suppressed = found, 0
        if self.allowed:
            # without those that fail in the final judgement, as far as suppression is allowed
            kept, suppressed = suppress(found.grouping, asked, self.allowed)
            boxes = replace(found, grouping=kept)
        grouping = boxes.grouping
        if not exact:
            grouping = replace(grouping, located_by="boxes", printed=None if marked else boxes.printed)
        if exact:
            view, alike = permuted(boxes.grouping, {}, secret(boxes.places.base, self.seed)), None
        else:
            view, alike = self._view(boxes)
        return Proposal(
            grouping=grouping,
            view=view,
            alike=alike,
            choice={key: value for key, value in given(self).items() if key not in ("seed", "time_limit")},
            quasi=tuple(base.table.quasi),
            shown_as={} if exact else {c: SHOWN for c in base.table.quasi if c not in base.table.also_known},
            group=GROUP if marked else None,
            permuted=exact,
            suppressed=suppressed,
            search={"cuts": boxes.cuts, "groups": boxes.grouping.n_groups, "stopped": boxes.stopped},
            rehearsal=self.seed is not None,
        )

    def _refuse_unsafe_whole(self, partitioning: Partitioning, asked: Asked) -> None:
        """Refuse a table that is not safe as one group, because cutting cannot help."""
        if partitioning.surely_safe():
            return
        firm = {str(criterion) for criterion in asked.require if not criterion.cuts_may_help}
        verdicts = asked.judge(partitioning.whole)
        failed = [name for name, verdict in verdicts.items() if not verdict.safe and name in firm]
        if failed:
            known = partitioning.plan.as_they_are
            whole = f"one group for each value of {', '.join(known)}" if known else "one group"
            raise NotSafe(
                "whole_not_safe",
                f"even the whole table as {whole} does not meet {', '.join(failed)}",
                where=partitioning.base.table.name,
                hint="Relax that requirement; cutting cannot help.",
            )

    def _view(self, boxes: Boxes) -> tuple[Query, DistinctRows | None]:
        base = boxes.places.base
        shown: list[tuple[str, Sql, bool]] = []
        for name in base.source_columns:
            if name in boxes.places.as_they_are:
                shown.append((name, Sql(f"r_{base.aliases[name]}"), False))
            elif name in base.aliases:
                shown.append((name, Sql(base.aliases[name]), True))
            elif name in base.others:
                shown.append((name, Sql(base.others[name]), False))
        labelled = [alias for _, alias, labelled in shown if labelled]
        query = render(
            "methods/box_places.sql", labels=boxes.printed, columns=labelled, numbered=not self.strict
        )
        places = base.engine.create(query)
        if self.strict:
            made = from_counts(boxes.grouping, places, [(name, alias) for name, alias, _ in shown])
            if made is not None:
                return made
        view = render(
            "methods/multidimensional.sql",
            rows=boxes.grouping.rows,
            places=places,
            shown=shown,
            group_id=None if self.strict else Sql(GROUP),
        )
        return view, None
