"""A grouping of the base: the candidate that requirements are judged on, in a few small relations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from privacy_sql.engines import Engine
from privacy_sql.query.template import Query, Sql, names, render

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base

# group numbers are packed into one bigint while the codes fit with room to spare
PACKED_LIMIT = 2**62


@dataclass(frozen=True)
class Key:
    """One column that says which group a row is published in: a base column at a level."""

    column: str  # q1, grp
    level: int = 0
    top: int = 0  # no code of the column is higher
    labels: Sql | None = None  # code, value: what the codes stand for, where that is not one level


@dataclass(frozen=True)
class Clique:
    """One marginal among those that are judged together, and what it shares with its parent in their tree."""

    number: int
    relation: Sql  # g, shared columns, s where it holds the sensitive value, n_rows
    cells: Sql  # g, n_people
    sensitive: bool
    parent: int = 0
    shared: tuple[Sql, ...] = ()
    separator: Sql | None = None  # shared columns, n_rows


@dataclass(frozen=True)
class Grouping:
    """A candidate and the small relations every criterion's template may read."""

    base: Base
    keys: tuple[Key, ...]
    candidate: Sql  # g, k1.., q1.., grp, s, n_rows
    members: Sql  # g, k1.., q1.., grp, n_rows as people; the candidate itself when a row is a person
    histogram: Sql  # g, s, n_rows
    groups: Sql  # g, n_people
    numbers: Sql | None = None  # k1.., g where the keys are too many to be packed
    gone: Sql | None = None  # g of the groups left out
    placed: Sql | None = None  # source rows with their g, where the keys do not tell it
    beside: tuple[Grouping, ...] = ()  # of the other sensitive columns, where cells are left out
    # how people are found in it once it is out: by labels, by the reach of its boxes or, where these tell too
    # little, by who is in a group
    located_by: str = "labels"
    printed: Mapping[str, Sql] = field(default_factory=dict)  # g, label by column, where boxes print them

    @classmethod
    def of(
        cls,
        base: Base,
        keys: Sequence[Key],
        keyed: Query,
        people: Query | None = None,
        columns: Sequence[Sql] | None = None,
    ) -> Grouping:
        """Count the groups of a keyed base (k1.. beside its own columns, or beside `columns`)."""
        engine = base.engine
        inputs = [engine.create(query, view=True) for query in (keyed, people) if query is not None]
        # people without a value are in `people` only, so the groups are numbered there
        numbers = numbers_of(engine, inputs[-1], keys)
        inside = base.inside() if columns is None else list(columns)
        candidate = numbered(engine, inputs[0], keys, numbers, inside)
        # when no column is generalised or left out, a combination of the base is a group and a value already
        counted = {str(column) for column in base.inside()} - {"s"} <= {
            key.column for key in keys if not key.level and key.labels is None
        }
        histogram = engine.create(
            render(
                "counted/histogram.sql",
                candidate=candidate,
                sensitive=Sql("s") in inside,
                counted=counted,
            ),
            view=counted,
        )
        members = candidate
        if people is not None:
            members = numbered(engine, inputs[1], keys, numbers, [c for c in inside if c != "s"])
        groups = engine.create(
            render("counted/groups.sql", histogram=histogram if people is None else members)
        )
        return cls(base, tuple(keys), candidate, members, histogram, groups, numbers)

    def over(self, placed: Sql) -> Grouping:
        """The same grouping, its source rows placed one by one and not by their keys."""
        return replace(self, placed=placed)

    def without(self, groups: Collection[int]) -> Grouping:
        """The same grouping with some groups left out, and with all that were left out before."""
        engine, base = self.base.engine, self.base
        gone = engine.load({"g": ("bigint", sorted(groups))}, "gone")
        key_columns = names(f"k{number}" for number, _ in enumerate(self.keys, start=1))

        def kept(relation: Sql, columns: Sequence[Sql], view: bool) -> Sql:
            return engine.create(
                render("counted/without.sql", relation=relation, columns=columns, gone=gone), view=view
            )

        inside = [*key_columns, *base.inside(), Sql("n_rows")]
        of_people = [*key_columns, *base.inside(base.people), Sql("n_rows")]
        values = [*([Sql("s")] if base.table.sensitives else []), Sql("n_rows")]
        candidate = kept(self.candidate, inside, True)
        return replace(
            self,
            candidate=candidate,
            members=kept(self.members, of_people, True) if base.people else candidate,
            histogram=kept(self.histogram, values, False),
            groups=kept(self.groups, [Sql("n_people")], False),
            gone=gone,
        )

    @cached_property
    def unknowing(self) -> Grouping | None:
        """The coarser groups of a reader who knows no insensitive column; None where none counts as known."""
        return self.without_keys(self.base.table.also_known)

    def without_keys(self, columns: Collection[str]) -> Grouping | None:
        """The coarser groups of a reader who does not know some columns; None where no key is one of them."""
        base = self.base
        unknown = {base.aliases[column] for column in columns}
        kept = [
            (Sql(f"k{number}"), key)
            for number, key in enumerate(self.keys, start=1)
            if key.column not in unknown
        ]
        if len(kept) == len(self.keys):
            return None
        renamed = [(alias, Sql(f"k{number}")) for number, (alias, _) in enumerate(kept, start=1)]
        inside = self._held(self.histogram)

        def fewer(candidate: Sql, inside: Sequence[Sql]) -> Query:
            return render("counted/fewer_keys.sql", candidate=candidate, keys=renamed, columns=inside)

        people = fewer(self.members, [c for c in inside if c != "s"]) if base.people else None
        made = Grouping.of(base, [key for _, key in kept], fewer(self.candidate, inside), people, inside)
        return replace(made, gone=self.gone)

    def _held(self, histogram: Sql) -> list[Sql]:
        """What a candidate holds beside its keys: the original columns, or of a roll-up the value alone."""
        if self.candidate != histogram:
            return self.base.inside()
        return [Sql("s")] if "overall" in self.__dict__ else []

    @property
    def row_columns(self) -> list[Sql]:
        """What source rows hold beside their group: codes, raw values and the other columns."""
        base = self.base
        return names([*base.columns, *(f"r_{alias}" for alias in base.columns), *base.others.values()])

    @cached_property
    def rows(self) -> Sql:
        """The source rows that stay, with the number of their group: what a view reads from."""
        base, columns = self.base, self.row_columns
        if self.placed is not None:
            if self.gone is None:
                return self.placed
            left = render("counted/without.sql", relation=self.placed, columns=columns, gone=self.gone)
            return base.engine.create(left, view=True)
        return base.engine.create(
            render(
                "counted/grouped_rows.sql",
                coded=base.coded,
                keys=[
                    (
                        Sql(f"k{n}"),
                        k.top + 1,
                        Sql(k.column),
                        k.level,
                        base.level_codes[k.column] if k.level else None,
                    )
                    for n, k in enumerate(self.keys, start=1)
                ],
                pairs=_sized(self.keys),
                columns=columns,
                numbers=self.numbers,
                gone=self.gone,
            ),
            view=True,
        )

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The table as one marginal; where people have several values it counts people, not rows."""
        with_values = bool(self.base.table.sensitives) and self.base.people is None
        return (Clique(1, self.histogram, self.groups, with_values),)

    @cached_property
    def n_rows(self) -> int:
        """How many rows the groups hold."""
        return sizes(self.base.engine, self.histogram)["rows"]

    @cached_property
    def holders(self) -> Sql:
        """Where people may have several values: how many of each group have at least one (g, n_rows)."""
        base = self.base
        counted: Sql | None = base.holders
        assert counted is not None
        columns = base.inside(base.people)
        if all(key.column in base.dictionaries for key in self.keys):
            counted = base.engine.create(base.keyed(self.keys, counted), view=True)
            columns = names(f"k{number}" for number, _ in enumerate(self.keys, start=1))
        query = render("counted/holders.sql", members=self.members, counted=counted, columns=columns)
        return base.engine.create(query)

    @cached_property
    def n_lines(self) -> int:
        """How many lines are published: one for each value, and one for each person without any."""
        if self.base.holders is None:
            return self.n_rows
        people, holders = (
            sizes(self.base.engine, counted)["rows"] for counted in (self.members, self.holders)
        )
        return self.n_rows + people - holders

    @cached_property
    def overall(self) -> Sql:
        """How often each sensitive value occurs in the whole table: s, n_rows."""
        return self.base.engine.create(render("counted/overall.sql", histogram=self.histogram))

    @property
    def sensitive_codes(self) -> Sql:
        return self.base.sensitive_codes

    @property
    def sensitive_height(self) -> int:
        return int(self.base.table.sensitive_hierarchy.height)

    @cached_property
    def n_groups(self) -> int:
        (found,) = self.base.engine.fetch(render("counted/group_number.sql", groups=self.groups, group=0))
        return int(found["n_groups"])

    def relations(self, reads_sensitive: bool = True) -> dict[str, Any]:
        """The names a criterion's template may use."""
        found: dict[str, Any] = {
            "candidate": self.candidate,
            "histogram": self.histogram,
            "groups": self.groups,
            "base": self.base.relation,
        }
        if reads_sensitive:
            found["overall"] = self.overall
            found["values"] = self.base.dictionaries["s"]
        return found

    def number(self, group: int) -> dict[str, int]:
        """The place of a group among all groups, in the order of their keys."""
        (found,) = self.base.engine.fetch(render("counted/group_number.sql", groups=self.groups, group=group))
        return {"group": found["number"], "groups": found["n_groups"]}


def numbers_of(engine: Engine, keyed: Sql, keys: Sequence[Key]) -> Sql | None:
    """Numbers for the combinations of keys, where there are too many to pack them into one bigint."""
    if math.prod(key.top + 1 for key in keys) < PACKED_LIMIT:
        return None
    return engine.create(render("counted/numbers.sql", keyed=keyed, keys=_sized(keys)))


def numbered(
    engine: Engine, keyed: Sql, keys: Sequence[Key], numbers: Sql | None, columns: Sequence[Sql]
) -> Sql:
    """A keyed relation with one number g for each combination of its keys."""
    query = render("counted/candidate.sql", keyed=keyed, keys=_sized(keys), numbers=numbers, columns=columns)
    return engine.create(query, view=True)


def _sized(keys: Sequence[Key]) -> list[tuple[Sql, int]]:
    """The names of the key columns, and how many codes each may have."""
    return [(Sql(f"k{number}"), key.top + 1) for number, key in enumerate(keys, start=1)]


def sizes(engine: Engine, counted: Sql) -> dict[str, int]:
    """How many rows a counted relation stands for, and how many combinations it holds."""
    (found,) = engine.fetch(render("counted/sizes.sql", counted=counted))
    return {"rows": found["n_rows"], "combinations": found["n_combinations"]}
