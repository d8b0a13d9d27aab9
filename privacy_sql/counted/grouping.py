"""Candidates: what requirements judge, whatever method made them.

A `Grouping` of the base, in a few small relations; several marginals together are another `Candidate`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar

from privacy_sql.counted.base import Base, Key, sizes
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.table import Table
from privacy_sql.verdict import Witness

# group numbers are packed into one bigint if the codes fit with room to spare
PACKED_LIMIT = 2**62

Row = Mapping[str, Any]
Found = TypeVar("Found", covariant=True)


@dataclass(frozen=True)
class Clique:
    """One of several marginals judged together, and what it shares with its parent in their tree."""

    number: int
    relation: Sql  # g, shared columns, s where it holds the sensitive value, n_rows
    cells: Sql  # g, n_people
    sensitive: bool
    parent: int = 0
    shared: tuple[Sql, ...] = ()
    separator: Sql | None = None  # shared columns, n_rows


class Origin(Protocol):
    """The origin of the counts: a `Base`, or published files."""

    @property
    def engine(self) -> Engine: ...

    @property
    def table(self) -> Table: ...

    @property
    def rows(self) -> int: ...

    @property
    def holds_rows(self) -> bool:
        """Whether anybody is in it."""

    def label(self, column: str, level: int, code: int) -> object:
        """INTERNAL: the label of a column's code at a level."""


class Together(Protocol):
    """What is decided about several marginals without SQL; None if the template decides it."""

    def smallest_bound(self, k: int) -> Sequence[Row] | None:
        """The cell with the smallest positive bound."""

    def least_diverse(self, ell: int, kind: str, share: Fraction) -> Sequence[Row] | None:
        """The groups that are least diverse."""

    def possible(self) -> Grouping:
        """Everybody with the sensitive values that all marginals together allow."""


class Asks(Protocol[Found]):
    """A requirement that gathers evidence of its own: a `Criterion`."""

    def gather(self, grouping: Grouping) -> Found | None: ...

    def together(self, collection: Together) -> Found | None: ...


class Candidate(Protocol):
    """The interface that a table in groups and several marginals share."""

    @property
    def base(self) -> Origin: ...

    @property
    def one_table(self) -> Grouping | None:
        """The groups, if it is one table; None for several marginals."""

    @property
    def attacked(self) -> Grouping | None:
        """The groups in which an attack finds people; for marginals, everybody with the possible values.

        None if the marginals together say more than their join.
        """

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """Its marginals; a table is one."""

    @property
    def unknowing(self) -> Candidate | None:
        """The coarser groups for a reader who knows no insensitive column; None if none counts as known."""

    def of_each_column(self) -> Sequence[Candidate]:
        """The same people once for each sensitive column."""

    @property
    def stored(self) -> Candidate:
        """The same, for reading its sensitive values several times."""

    def relations(self, reads_sensitive: bool = True) -> dict[str, Sql]:
        """The names that a criterion's template may use."""

    def relation(self, name: str) -> object:
        """A further relation for a criterion's template, by its name in `reads`."""

    def gathered(self, asked: Asks[Found]) -> Found | None:
        """The evidence that a requirement gathers itself; None if the rows of its template are enough."""

    def told(self, witness: Witness) -> Witness:
        """A witness with its position, and with access to its keys and values."""


class Judgeable(ABC):
    """Something that has a candidate to judge."""

    @property
    @abstractmethod
    def grouping(self) -> Candidate:
        """The candidate to judge."""


@dataclass(frozen=True)
class Grouping:
    """A candidate and the small relations that every criterion's template may read."""

    base: Base
    keys: tuple[Key, ...]
    candidate: Sql  # g, k1.., q1.., grp, s, n_rows
    members: Sql  # g, k1.., q1.., grp, n_rows as people; the candidate itself when a row is a person
    histogram: Sql  # g, s, n_rows
    groups: Sql  # g, n_people
    numbers: Sql | None = None  # k1.., g where the keys are too many to be packed
    gone: Sql | None = None  # g of the groups left out
    placed: Callable[[], Sql] | None = None  # source rows with their g, where the keys do not tell it
    beside: tuple[Grouping, ...] = ()  # of the other sensitive columns, where cells are left out
    whole: Sql | None = None  # the sensitive values of the whole table, where they are counted: s, n_rows
    # how people are found in it once it is out: by labels, by the reach of its boxes or, where these tell too
    # little, by who is in a group
    located_by: str = "labels"
    printed: Sql | None = None  # g, label_q1.., where boxes print labels
    viewed: bool = False  # whether the histogram is a view, which works out its groups each time it is read
    unknown: frozenset[str] = frozenset()  # columns of its base that its reader does not know

    @classmethod
    def by(cls, base: Base, keys: Sequence[Key]) -> Grouping:
        """A base grouped by keys: the candidate to judge."""
        people = base.keyed(keys, base.people) if base.people else None
        return cls.of(base, keys, base.keyed(keys), people)

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
        values = engine.create(keyed, view=True)
        # people without a value are only in `people`, so that relation numbers the groups
        everybody = values if people is None else engine.create(people, view=True)
        numbers = numbers_of(engine, everybody, keys)
        inside = base.inside() if columns is None else list(columns)
        candidate = numbered(engine, values, keys, numbers, inside)
        # if no column is generalised or left out, a combination of the base is already a group and a value
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
            members = numbered(engine, everybody, keys, numbers, [c for c in inside if c != "s"])
        groups = engine.create(
            render("counted/groups.sql", histogram=histogram if people is None else members)
        )
        return cls(base, tuple(keys), candidate, members, histogram, groups, numbers, viewed=counted)

    @cached_property
    def stored(self) -> Grouping:
        """The same, for reading its sensitive values several times."""
        if not self.viewed or not self.base.table.sensitives:
            return self
        columns = names(["g", "s", "n_rows"])
        listed = render("counted/listed.sql", relation=self.histogram, columns=columns)
        return replace(self, histogram=self.base.engine.create(listed), viewed=False)

    def over(self, placed: Callable[[], Sql]) -> Grouping:
        """The same grouping, its source rows placed one by one, once they are read, and not by their keys."""
        return replace(self, placed=cache(placed))

    def without(self, groups: Collection[int]) -> Grouping:
        """The same grouping without some groups, in addition to those left out before."""
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
            whole=None,
            viewed=False,
        )

    @cached_property
    def unknowing(self) -> Grouping | None:
        """The coarser groups for a reader who knows no insensitive column; None if none counts as known."""
        known = self.base.table.also_known
        if not known:
            return None
        # where no key is one of them, the groups are the same, but not what their reader believes beforehand
        unknown = frozenset(str(self.base.aliases[column]) for column in known)
        return replace(self.without_keys(known) or self, unknown=unknown)

    def without_keys(self, columns: Collection[str]) -> Grouping | None:
        """The coarser groups for a reader who does not know some columns; None if no key is one of them."""
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
        # a candidate has the original columns beside its keys; that of a roll-up only the value
        inside = [Sql("s")] if self.whole is not None else []
        if self.candidate != self.histogram:
            inside = base.inside()

        def fewer(candidate: Sql, inside: Sequence[Sql]) -> Query:
            return render("counted/fewer_keys.sql", candidate=candidate, keys=renamed, columns=inside)

        people = fewer(self.members, [c for c in inside if c != "s"]) if base.people else None
        made = Grouping.of(base, [key for _, key in kept], fewer(self.candidate, inside), people, inside)
        return replace(made, gone=self.gone)

    @property
    def row_columns(self) -> list[Sql]:
        """The columns of source rows beside their group: codes, raw values and the other columns."""
        base = self.base
        return names([*base.columns, *(f"r_{alias}" for alias in base.columns), *base.others.values()])

    @cached_property
    def rows(self) -> Sql:
        """The remaining source rows with the number of their group, for a view to read."""
        base, columns = self.base, self.row_columns
        if self.placed is not None:
            if self.gone is None:
                return self.placed()
            left = render("counted/without.sql", relation=self.placed(), columns=columns, gone=self.gone)
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
        """The table as one marginal; if people have several values it counts people, not rows."""
        with_values = bool(self.base.table.sensitives) and self.base.people is None
        return (Clique(1, self.histogram, self.groups, with_values),)

    @cached_property
    def n_rows(self) -> int:
        """How many rows are in the groups."""
        return sizes(self.base.engine, self.histogram)["rows"]

    @cached_property
    def holders(self) -> Sql:
        """If people may have several values: how many in each group have at least one (g, n_rows)."""
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
        if self.whole is not None:
            return self.whole
        return self.base.engine.create(render("counted/overall.sql", histogram=self.histogram))

    @cached_property
    def n_groups(self) -> int:
        (found,) = self.base.engine.fetch(render("counted/group_number.sql", groups=self.groups, group=0))
        return int(found["n_groups"])

    @property
    def one_table(self) -> Grouping:
        return self

    @property
    def attacked(self) -> Grouping:
        return self

    def of_each_column(self) -> Sequence[Grouping]:
        """The same people once for each sensitive column."""
        base = self.base
        if self.beside or not base.sides:
            return (self, *self.beside)
        if self.gone is not None or any(k.labels or k.column not in base.columns for k in self.keys):
            raise UsageError(
                "several_sensitive",
                "several sensitive columns can be judged together only if each group shows its"
                " quasi-identifiers and nothing is suppressed",
                where=base.table.name,
                hint="Declare joint: true, or use full_domain or generalise without max_suppressed.",
            )
        levels = {base.columns[key.column][0]: key.level for key in self.keys}
        return (self, *(Grouping.by(side, side.keys(levels)) for side in base.sides))

    def gathered(self, asked: Asks[Found]) -> Found | None:
        return asked.gather(self)

    def relations(self, reads_sensitive: bool = True) -> dict[str, Sql]:
        """The names that a criterion's template may use."""
        found = {
            "candidate": self.candidate,
            "histogram": self.histogram,
            "groups": self.groups,
            "base": self.base.relation,
        }
        if reads_sensitive:
            found["overall"] = self.overall
            found["values"] = self.base.dictionaries["s"]
        return found

    def relation(self, name: str) -> object:
        """A further relation for a criterion's template, by its name in `reads`."""
        if name == "cliques":
            return self.cliques
        if name == "sensitive_codes":
            return self.base.sensitive_codes
        if name == "sensitive_height":
            return int(self.base.table.sensitive_hierarchy.height)
        raise KeyError(name)

    def number(self, group: int) -> dict[str, int]:
        """The number of a group among all groups, in the order of their keys."""
        (found,) = self.base.engine.fetch(render("counted/group_number.sql", groups=self.groups, group=group))
        return {"group": found["number"], "groups": found["n_groups"]}

    def told(self, witness: Witness) -> Witness:
        """A witness with its group's number, and with access to the group's keys and values."""
        group = witness.private.get("g")
        if group is None:
            return witness
        return witness.revealed_by(self._revealed, **self.number(group))

    def _revealed(self, seen: Witness) -> dict[str, Any]:
        """INTERNAL: the group of the witness and, if the worst case needs several groups, the others."""
        found = self.revealed(seen.private["g"])
        if "ends" in seen.private:  # the sensitive values that are near one another
            found["interval"] = [self.base.label("s", 0, code) for code in seen.private["ends"]]
        if "value_code" in seen.private:  # the value in question
            found["value"] = self.base.label("s", 0, seen.private["value_code"])
        others = seen.private.get("others")
        if others:
            found["others"] = [{**self.number(g), **self.revealed(g)} for g in others]
        return found

    def revealed(self, group: int) -> dict[str, Any]:
        """INTERNAL: what is published of one group: keys by name, and sensitive values with counts."""
        base = self.base
        found: dict[str, Any] = {"keys": self._labels(group)}
        if base.table.sensitives:
            values = base.dictionaries["s"]
            query = render("counted/group_values.sql", histogram=self.histogram, values=values, group=group)
            found["values"] = {
                # lists and structs cannot be keys of a mapping
                str(row["value"]) if isinstance(row["value"], (list, dict)) else row["value"]: row["n_rows"]
                for row in base.engine.fetch(query)
            }
        return found

    def _labels(self, group: int) -> dict[str, object]:
        """The labels of a group's keys, looked up column by column."""
        base = self.base
        aliases = names(f"k{number}" for number, _ in enumerate(self.keys, start=1))
        if not aliases:
            return {}
        query = render("counted/group_keys.sql", members=self.members, keys=aliases, group=group)
        (codes,) = base.engine.fetch(query)
        labelled: dict[str, object] = {}
        for number, key in enumerate(self.keys, start=1):
            code = codes[f"k{number}"]
            if key.column not in base.dictionaries:  # a box of a partition, a bucket
                labelled[key.column] = code
                continue
            name = base.columns[key.column][0] if key.column in base.columns else str(base.table.group)
            labelled[name] = base.label(key.column, key.level, code, key.labels)
        return labelled


def packed(keys: Sequence[Key]) -> bool:
    """Whether every combination of keys fits into one bigint."""
    return math.prod(key.top + 1 for key in keys) < PACKED_LIMIT


def numbers_of(engine: Engine, keyed: Sql, keys: Sequence[Key]) -> Sql | None:
    """Numbers for the combinations of keys, if there are too many to pack into one bigint."""
    if packed(keys):
        return None
    return engine.create(render("counted/numbers.sql", keyed=keyed, keys=_sized(keys)))


def numbered(
    engine: Engine, keyed: Sql, keys: Sequence[Key], numbers: Sql | None, columns: Sequence[Sql]
) -> Sql:
    """A keyed relation with one number g for each combination of its keys."""
    query = render("counted/candidate.sql", keyed=keyed, keys=_sized(keys), numbers=numbers, columns=columns)
    return engine.create(query, view=True)


def _sized(keys: Sequence[Key]) -> list[tuple[Sql, int]]:
    """The names of the key columns, with the number of codes each may have."""
    return [(Sql(f"k{number}"), key.top + 1) for number, key in enumerate(keys, start=1)]
