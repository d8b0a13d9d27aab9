"""A table that is counted once: every verb accepts it without counting again, to try choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from privacy_sql import api, registry
from privacy_sql.counted.base import Base
from privacy_sql.counted.base import count as counted
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.judge import Requirements, Verdicts
from privacy_sql.methods import check_levels, grouped_at, share
from privacy_sql.parameters import given
from privacy_sql.studies._people_by_risk import of_grouping
from privacy_sql.table import KeptCounts, Table

if TYPE_CHECKING:
    import pandas as pd


def count(engine: Engine, table: Table) -> People:
    """The counted table: `check`, `search`, `publish` and the studies accept it and do not count it again.

    Its rows are fixed now: a relation or frame is copied, and a file that changes later is refused.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> with ps.connect() as engine:
    ...     people = ps.count(engine, ps.Table(pd.DataFrame({"age": [30, 30, 41]}), ["age"]))
    ...     [bool(ps.check(engine, people, [ps.KAnonymity(k)])) for k in (1, 2)]
    [True, False]
    """
    declared = given(api.count(engine, table))
    kept: KeptCounts = declared.pop("counted")
    made = People(**declared)
    made.counted.engine, made.counted.base = kept.engine, kept.base
    return made


@dataclass(frozen=True, repr=False)
class People(Table):
    """A table with its counts; with other roles (`dataclasses.replace`) it must be counted again."""

    def judge(
        self,
        levels: Mapping[str, int],
        require: Sequence[Criterion],
        *,
        max_suppressed: str | int | float = 0,
    ) -> Verdicts:
        """The verdicts on the table at these levels, as `publish` with `Generalise` would give them.

        >>> import pandas as pd
        >>> import privacy_sql as ps
        >>> rows = pd.DataFrame({"age": ["30", "31", "41", "44"]})
        >>> with ps.connect() as engine:
        ...     people = ps.count(engine, ps.Table(rows, {"age": ps.Intervals(10)}))
        ...     [bool(people.judge({"age": level}, [ps.KAnonymity(2)])) for level in (0, 1)]
        [False, True]
        """
        asked = Requirements.of(self, require)
        allowed = share(max_suppressed, "max_suppressed")
        base = self._base()
        check_levels(base, levels)
        if not self.group:
            return asked.judge(grouped_at(base, levels, asked, allowed)[0])
        return asked.judge(self._own(base, levels))

    def risks(self, levels: Mapping[str, int], *, facts: int = 0) -> pd.DataFrame:
        """How well people can be guessed at these levels, and how large their groups are.

        One row for each bar of two histograms: `by` is "guess" or "group_size". A guess is right about each
        of the people in a bar with a probability of at least `low` and below `high`, for somebody who knows
        who is in which group and at most `facts` facts about people in it; the last bar is certain. `source`
        is how many people are in this bar before generalisation.

        >>> import pandas as pd
        >>> import privacy_sql as ps
        >>> rows = pd.DataFrame({"age": ["30", "31", "41", "44"], "ill": ["flu", "cold", "flu", "flu"]})
        >>> with ps.connect() as engine:
        ...     people = ps.count(engine, ps.Table(rows, {"age": ps.Intervals(10)}, "ill"))
        ...     found = people.risks({"age": 1})
        >>> print(found[found.people > 0].to_string(index=False))
        sensitive         by  low  high  people  groups  source
              ill      guess  0.5  0.55       2       1       0
              ill      guess  1.0  1.00       2       1       4
              ill group_size  2.0  4.00       4       2       0
        """
        import pandas

        found = self._base()
        check_levels(found, levels)
        rows: list[tuple[Any, ...]] = []
        for base in (found, *found.sides):
            column = next(iter(base.table.sensitives), None)
            now = of_grouping(self._own(base, levels), facts)
            before = of_grouping(self._own(base, {}), facts)
            for by, bars, source in (
                ("guess", now.guesses or (), before.guesses or ()),
                ("group_size", now.sizes, before.sizes),
            ):
                ends = sorted({(bar.low, bar.high) for bar in (*bars, *source)})
                after = {(bar.low, bar.high): (bar.people, bar.groups) for bar in bars}
                was = {(bar.low, bar.high): bar.people for bar in source}
                rows += [
                    (column, by, float(end[0]), float(end[1]), *after.get(end, (0, 0)), was.get(end, 0))
                    for end in ends
                ]
        columns = ["sensitive", "by", "low", "high", "people", "groups", "source"]
        return pandas.DataFrame(rows, columns=columns)

    def explore(self, require: Sequence[Criterion] = (), *, port: int = 0) -> dict[str, int]:
        """Decide on a local page how to publish the table; returns the levels when you close it.

        Needs the extra `explore`. Starts from `require`, or from k-anonymity with k = 5. Opens a browser; a
        notebook shows the address instead, because its browser may be on another machine. It runs until you
        close the page or interrupt the cell, because the engine serves only one of the two at a time.
        """
        from privacy_sql.explorer import opening

        engine, _ = self._counts()
        return opening.opened(engine, self, require or [registry.get("criteria", "k_anonymity")(5)], port)

    def _base(self) -> Base:
        """The counts, after checking that the files are unchanged."""
        engine, _ = self._counts()
        return counted(engine, self, several=True)

    def _counts(self) -> tuple[Engine, Base]:
        if self.counted.base is None:
            hint = "Count it again: ps.count(engine, table)."
            raise UsageError(
                "not_counted",
                "the roles have changed since the table was counted",
                where=self.name,
                hint=hint,
            )
        return self.counted.engine, self.counted.base

    def _own(self, base: Base, levels: Mapping[str, int]) -> Grouping:
        """The groups at these levels; groups from a column of the table have no levels."""
        if not self.group:
            return Grouping.by(base, base.keys(levels))
        if any(levels.values()):
            told = f'groups come from the column "{self.group}", so its columns have no levels'
            raise UsageError("no_level", told, where=self.name, hint="Remove `group`, or the levels.")
        return Grouping.by(base, base.own_keys())
