"""Count the choices of a lattice from one another: a coarser one from the smallest finer one already counted.

LeFevre et al. 2005 (Incognito), roll-up property. The counted base is the finest choice. A count is kept if
it is much smaller than what it was counted from, so later choices start from small tables.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privacy_sql.counted.base import Base, Key
from privacy_sql.counted.grouping import PACKED_LIMIT, Grouping
from privacy_sql.lattice.in_memory import lattice_of
from privacy_sql.lattice.packing import WORTH_KEEPING
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.lattice import Choice, is_finer


@dataclass(frozen=True)
class CountedChoice:
    """A counted choice: its combinations with their rows."""

    relation: Sql
    columns: tuple[Sql, ...]  # q1.. in the base, k1.. above
    n_combinations: int
    owner: Base  # keeps the session that owns the relation alive


class Rolled(Grouping):
    """A grouping counted from other counts: its candidate holds the keys, not the original columns."""

    def without(self, groups: Collection[int]) -> Rolled:
        engine = self.base.engine
        gone = engine.load({"g": ("bigint", sorted(groups))}, "gone")
        aliases = names(f"k{number}" for number, _ in enumerate(self.keys, start=1))

        def kept(relation: Sql, columns: Sequence[Sql]) -> Sql:
            return engine.create(render("counted/without.sql", relation=relation, columns=columns, gone=gone))

        sensitive = self.whole is not None
        histogram = kept(self.histogram, [*aliases, *([Sql("s")] if sensitive else []), Sql("n_rows")])
        members = kept(self.members, [*aliases, Sql("n_rows")]) if self.base.people else histogram
        return self.holding(histogram, members, gone)

    def holding(self, histogram: Sql, members: Sql | None = None, gone: Sql | None = None) -> Rolled:
        """The same keys over other counts; a row is a person unless members are counted separately."""
        engine = self.base.engine
        groups = engine.create(render("counted/groups.sql", histogram=members or histogram), view=True)
        whole = None
        if self.whole is not None:
            whole = engine.create(render("counted/overall.sql", histogram=histogram))
        return replace(
            self,
            candidate=histogram,
            members=members or histogram,
            histogram=histogram,
            groups=groups,
            gone=gone,
            whole=whole,
        )


class Rollup:
    """The lattice of a base's quasi-identifiers, and the grouping of each of its choices.

    martin2007, Sec. 3.4, and kifer2006, Sec. 3.1: what full-domain generalisation can publish.
    """

    def __init__(self, base: Base, *, with_sensitive: bool) -> None:
        self.base = base
        self.with_sensitive = with_sensitive
        self.columns = names(base.columns)
        self.lattice = lattice_of(base)
        columns, bottom = tuple(self.columns), self.lattice.bottom
        self._values = {bottom: CountedChoice(base.relation, columns, base.combinations, base)}
        self._people = None
        if base.people:
            self._people = {bottom: CountedChoice(base.people, columns, base.combinations, base)}

    def choice(self, levels: Mapping[str, int]) -> Choice:
        """A choice from the user's column names; columns not named stay at level 0."""
        return tuple(levels.get(name, 0) for name in self.base.table.quasi)

    def named(self, choice: Choice) -> dict[str, int]:
        """A choice as the user reads it: level by column."""
        return dict(zip(self.base.table.quasi, choice, strict=True))

    def grouping(self, choice: Choice) -> Rolled:
        """The groups of a choice, counted from the smallest finer choice that has been counted."""
        return self.groupings([choice])[0]

    def groupings(self, choices: Sequence[Choice]) -> list[Rolled]:
        """The groups of several choices, all counted in one statement."""
        base = self.base.beside()
        histograms = self._counted(self._values, choices, base, self.with_sensitive)
        members = self._counted(self._people, choices, base, False) if self._people else histograms
        found = []
        for choice, histogram, people in zip(choices, histograms, members, strict=True):
            groups = people  # without sensitive values, every line is a group
            if self.with_sensitive:
                groups = base.engine.create(render("counted/groups.sql", histogram=people), view=True)
            # the same for every choice, so counted once
            whole = self.base.overall if self.with_sensitive else None
            keys = self._keys(choice)
            found.append(Rolled(base, keys, histogram, people, histogram, groups, whole=whole))
        return found

    def _keys(self, choice: Choice) -> tuple[Key, ...]:
        return tuple(self.base.key(str(c), level) for c, level in zip(self.columns, choice, strict=True))

    def _counted(
        self, known: dict[Choice, CountedChoice], choices: Sequence[Choice], base: Base, sensitive: bool
    ) -> list[Sql]:
        """The counts of choices: known ones, and all others in one statement from known ones."""
        missing = [c for c in choices if c not in known or known[c].owner is self.base]
        if not missing:
            return [known[choice].relation for choice in choices]
        # each is counted from the smallest counted choice below it
        sources = [
            min(
                (each for each in known.items() if is_finer(each[0], choice)),
                key=lambda e: e[1].n_combinations,
            )
            for choice in missing
        ]
        steps = [
            self._steps(choice, below, source)
            for choice, (below, source) in zip(missing, sources, strict=True)
        ]
        counted, size = base.engine.filled(render("lattice/roll_up.sql", choices=steps, sensitive=sensitive))
        sizes = {0: size}
        if len(missing) > 1:
            rows = base.engine.fetch(render("lattice/choice_sizes.sql", counted=counted))
            sizes = {row["choice"]: row["n_combinations"] for row in rows}
        aliases = tuple(names(f"k{number}" for number, _ in enumerate(self.columns, start=1)))
        columns = [Sql("g"), *aliases, Sql("s" if sensitive else "n_people"), Sql("n_rows")]
        made = {}
        for number, (choice, (_, source)) in enumerate(zip(missing, sources, strict=True)):
            made[choice] = counted
            if len(missing) > 1:
                query = render("lattice/one_choice.sql", counted=counted, columns=columns, number=number)
                made[choice] = base.engine.create(query, view=True)
            if sizes[number] * WORTH_KEEPING <= source.n_combinations:
                known[choice] = CountedChoice(made[choice], aliases, sizes[number], base)
        return [made[choice] if choice in made else known[choice].relation for choice in choices]

    def _steps(self, choice: Choice, below: Choice, source: CountedChoice) -> dict[str, Any]:
        """How a choice is counted from a finer one."""
        keys = self._keys(choice)
        steps = []
        for number, (key, was) in enumerate(zip(keys, below, strict=True), start=1):
            only = None  # the label that all values have at this level, so that no lookup is needed
            if key.level or self.base.columns[key.column][1].height:
                codes = self.base.domains[number - 1].at[key.level]
                only = int(codes[0]) if len(codes) and (codes == codes[0]).all() else None
            looked_up = self.base.level_codes[key.column] if key.level > was else None
            steps.append((Sql(f"k{number}"), source.columns[number - 1], key.level, looked_up, only))
        sizes = [(Sql(f"k{number}"), key.top + 1) for number, key in enumerate(keys, start=1)]
        return {
            "counted": source.relation,
            "steps": steps,
            "grouped": [step for step in steps if step[-1] is None],
            "sizes": sizes,
            "packed": math.prod(size for _, size in sizes) < PACKED_LIMIT,
        }
