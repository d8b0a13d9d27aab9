"""Which columns identify people: the groups they form, the people they single out, the sets that identify.

A *minimal unique set* of a person is a set of columns whose values nobody else shares, while every smaller
part is shared. People who are alike in all columns have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

from privacy_sql.counted.base import count, no_rows, refuse_strangers
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine, Row
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.table import Table

# usual names of columns that a stranger may know
KNOWN = re.compile(
    r"(?<![a-z])ages?(?![a-z])|birth|born|dob|(?<![a-z])sex|gender|(?<![a-z])zip|postal|postcode|region|state|county"
    r"|city|municip|(?<![a-z])race|ethnic|citizen|national|marital|married|educat|degree|(?<![a-z])jobs?(?![a-z])"
    r"|occupation|profession|industry|workclass|household|famil|country"
    r"|(?<![a-z])alter(?![a-z])|geburt|geschlecht|(?<![a-z])plz|wohnort|familienstand|beruf|bildung|haushalt|staatsang"
    r"|naissance|sexe|ville|commune|nationalit|civil|dipl[oô]me|m[eé]nage|(?<![a-z])[aâ]ge(?![a-z])"
    r"|(?<![a-z])edad|nacimiento|ciudad|provincia|raza|nacionalidad|educaci|ocupaci|hogar"
    r"|年齢|年龄|生年|出生|性別|性别|郵便|邮编|住所|地区|都道府県|国籍|民族|婚姻|学歴|学历|職業|职业|世帯",
    re.IGNORECASE,
)
MOST_CHOSEN = 8  # with more columns than this nearly everybody is unique at any level
FEW_PEOPLE = 5
MOST_SETS = 2000
MOST_COLUMNS = 62  # a set of columns is a number with one bit for each
AT_ONCE = 64  # sets whose groups one statement counts


@dataclass(frozen=True)
class Telling:
    """A chosen column: the groups it forms with those before it, and the people in groups below five."""

    column: str
    n_groups: int
    n_few: int


@dataclass(frozen=True)
class SeparationRatios:
    """How far a set of columns tells people apart (Motwani and Xu): groups, people alone, pairs of people.

    `separation` is the share of pairs of people who differ in it; a single person has no pair.
    """

    distinct: Fraction
    unique: Fraction
    separation: Fraction | None


@dataclass(frozen=True)
class Identified:
    """Which columns identify people, in counts; no set has more columns than requested."""

    people: int
    ratios: Mapping[tuple[str, ...], SeparationRatios]
    people_by_least_size: Mapping[int, int]  # by the size of a person's least set
    sets_by_size: Mapping[int, int]  # minimal unique sets, those of different people apart
    share_of_sets_with_column: Mapping[str, Fraction]
    people_with_column: Mapping[str, int]  # people one of whose minimal sets has the column
    proposed: tuple[Telling, ...]  # those that single out most people, as `init --from` proposes them


def identify(
    engine: Engine,
    table: Table,
    most: int = 3,
    *,
    known: Sequence[str] | None = None,
    most_proposed: int = MOST_CHOSEN,
) -> Identified:
    """Which quasi-identifiers of a table single people out, one by one and in sets of at most `most` columns.

    `known`: the columns a stranger may know, which are proposed first; by default they are found by name.

    >>> import pandas as pd, privacy_sql as ps
    >>> rows = pd.DataFrame({"age": [30, 30, 41, 41], "sex": ["F", "M", "F", "M"]})
    >>> with ps.connect() as engine:
    ...     found = ps.identify(engine, ps.Table(rows, ["age", "sex"]))
    >>> found.people_by_least_size, found.people_with_column
    ({1: 0, 2: 4}, {'age': 4, 'sex': 4})
    """
    refuse_strangers(engine, table)
    columns = list(table.quasi)
    most = min(most, len(columns))
    _refuse_many(table, most)
    base = count(engine, table, several=True)
    if not base.holds_rows:
        raise no_rows(table)
    people = base.people or base.relation
    codes = {column: Sql(base.aliases[column]) for column in columns}
    sets = _Sets(base.engine, people, list(codes.values()), most)
    minimal, alone = sets.minimal()
    in_sets = [(members, n) for found in minimal.values() for members, n in found.items()]
    n_sets = sum(n for _, n in in_sets)
    of_column = {
        column: sum(n for members, n in in_sets if place in members) for place, column in enumerate(columns)
    }
    with_column = sets.people_with_column()
    first = [column for column in columns if KNOWN.search(column)] if known is None else list(known)
    asked = {column: (code, base.statistics[code]["top"] + 1) for column, code in codes.items()}
    pairs = base.n_people * (base.n_people - 1)
    return Identified(
        people=base.n_people,
        ratios={
            tuple(columns[place] for place in members): SeparationRatios(
                distinct=Fraction(found["n_groups"], base.n_people),
                unique=Fraction(found["n_unique"], base.n_people),
                separation=1 - Fraction(found["n_pairs"], pairs) if pairs else None,
            )
            for members, found in sets.sizes().items()
        },
        people_by_least_size={
            size: n - before for size, (before, n) in enumerate(pairwise([0, *alone]), start=1)
        },
        sets_by_size={size: sum(found.values()) for size, found in minimal.items()},
        share_of_sets_with_column={column: Fraction(n, n_sets or 1) for column, n in of_column.items()},
        people_with_column={column: with_column.get(place, 0) for place, column in enumerate(columns)},
        proposed=tuple(most_telling(base.engine, people, asked, first, most_proposed)),
    )


def _refuse_many(table: Table, most: int) -> None:
    """Refuse empty sets, and more sets than anybody would read."""
    n_columns = len(table.quasi)
    n_sets = sum(comb(n_columns, size) for size in range(1, most + 1))
    if most < 1:
        hint = "Name quasi-identifiers, and sets of at least one column."
        raise UsageError("no_columns", "there is no set of columns to count", where=table.name, hint=hint)
    if n_sets > MOST_SETS or n_columns > MOST_COLUMNS:
        told = f"{n_columns} columns have {n_sets:,} sets of at most {most}"
        hint = f"Name fewer columns or smaller sets: at most {MOST_SETS:,} are counted."
        raise UsageError("too_many_sets", told, where=table.name, hint=hint)


class _Sets:
    """The sets of columns of a counted table: the groups each forms, and the people it singles out.

    In results of statements, a set is the sum of its columns' bits.
    """

    def __init__(self, engine: Engine, counted: Sql, columns: Sequence[Sql], most: int) -> None:
        self.engine, self.columns = engine, columns
        self.numbered = engine.create(render("studies/numbered.sql", counted=counted, columns=list(columns)))
        self.by_size = [list(combinations(range(len(columns)), size)) for size in range(1, most + 1)]
        self.found: list[Sql] = []  # for each size the minimal unique sets: members, id

    def _asked(self, template: str, sets: Sequence[tuple[int, ...]]) -> Query:
        """A statement about some sets; it names only columns that one of them has."""
        inside = sorted({place for members in sets for place in members})
        return render(
            template,
            counted=self.numbered,
            columns=[(self.columns[place], Sql(str(1 << place))) for place in inside],
            sets=[[self.columns[place] for place in members] for members in sets],
        )

    def sizes(self) -> dict[tuple[int, ...], Row]:
        """For each set, its groups, its groups of one, and the ordered pairs of people who share a group."""
        made: dict[tuple[int, ...], Row] = {}
        everything = [members for sets in self.by_size for members in sets]
        for start in range(0, len(everything), AT_ONCE):
            report("counting groups of each set of columns", start, len(everything))
            asked = self._asked("studies/set_sizes.sql", everything[start : start + AT_ONCE])
            made |= {self._places(row["members"]): row for row in self.engine.fetch(asked)}
        return made

    def minimal(self) -> tuple[dict[int, dict[tuple[int, ...], int]], list[int]]:
        """By size: for how many people each set is minimal, and how many people are alone in any set.

        A person alone in a set is alone in every larger one, so looking at one column less is enough.
        """
        minimal: dict[int, dict[tuple[int, ...], int]] = {}
        alone: list[int] = []
        smaller: Sql | None = None
        for size, sets in enumerate(self.by_size, start=1):
            pieces = []
            for start in range(0, len(sets), AT_ONCE):
                report(f"looking for people alone in sets of {size}", start, len(sets))
                asked = self._asked("studies/unique_people.sql", sets[start : start + AT_ONCE])
                pieces.append(self.engine.create(asked))
            unique = self.engine.create(render("studies/together.sql", pieces=pieces))
            for piece in pieces:
                self.engine.drop(piece)
            least = unique
            if smaller is not None:
                bits = [1 << place for place in range(len(self.columns))]
                whole = [sum(bits[place] for place in members) for members in sets for _ in members]
                part = [sum(bits[p] for p in members) - bits[place] for members in sets for place in members]
                parts = self.engine.load({"members": ("bigint", whole), "part": ("bigint", part)}, "parts")
                asked = render("studies/minimal_sets.sql", unique=unique, smaller=smaller, parts=parts)
                least = self.engine.create(asked)
            found = self.engine.fetch(render("studies/people_of_sets.sql", minimal=least))
            minimal[size] = {self._places(row["members"]): row["n_people"] for row in found}
            (people,) = self.engine.fetch(render("studies/people_alone.sql", unique=unique))
            alone.append(people["n_people"])
            self.found.append(least)
            smaller = unique
        return minimal, alone

    def people_with_column(self) -> dict[int, int]:
        """For each column, how many people have a minimal unique set with it."""
        found = self.engine.create(render("studies/together.sql", pieces=self.found), view=True)
        sets = [members for sets in self.by_size for members in sets]
        pairs = [(sum(1 << p for p in members), place) for members in sets for place in members]
        members, places = zip(*pairs, strict=True)
        inside = self.engine.load({"members": ("bigint", members), "place": ("bigint", places)}, "inside")
        counted = self.engine.fetch(render("studies/people_of_columns.sql", minimal=found, inside=inside))
        return {row["place"]: row["n_people"] for row in counted}

    def _places(self, members: int) -> tuple[int, ...]:
        """The positions of a set's columns."""
        return tuple(place for place in range(len(self.columns)) if members >> place & 1)


def most_telling(
    engine: Engine,
    counted: Sql,
    columns: Mapping[str, tuple[Sql, int]],
    known: Sequence[str],
    most: int = MOST_CHOSEN,
) -> Iterator[Telling]:
    """The columns that single people out best, in order; those that a stranger may know come before others.

    Exact and greedy: it repeatedly takes the column that forms the most groups with those chosen (of equals,
    the first in the table), until there are enough or none adds a group. `columns`: code and number of codes
    of each.
    """
    codes = {column: code for column, (code, _) in columns.items()}
    whole = f"(select 0 as g, {', '.join(codes.values())}, n_rows from {counted}) as b"
    groups, n_groups, done, done_few = Sql(whole), 1, 0, 0
    n_chosen = 0
    for tier in ([c for c in columns if c in known], [c for c in columns if c not in known]):
        waiting = list(tier)
        while waiting and n_chosen < most:
            report("choosing the columns that single people out", n_chosen, most)
            asked = [(codes[column], columns[column][1]) for column in waiting]
            (made,) = engine.fetch(render("studies/widest.sql", groups=groups, columns=asked))
            best = max(waiting, key=lambda column: made[codes[column]])  # the first among equals
            if made[codes[best]] + done == n_groups:
                break
            waiting.remove(best)
            column, old = codes.pop(best), groups
            few = Sql(str(FEW_PEOPLE))
            (crowds,) = engine.fetch(render("studies/crowds.sql", groups=old, column=column, least=few))
            others = list(codes.values())
            groups = engine.create(render("studies/narrowed.sql", groups=old, column=column, others=others))
            engine.drop(old)
            n_groups, n_chosen = crowds["n_groups"] + done, n_chosen + 1
            yield Telling(best, n_groups, crowds["n_few"] + done_few)
            done, done_few = done + crowds["n_done"], done_few + crowds["n_done_few"]
