"""Breach probabilities and knowledge skylines of a table, for one sensitive value or all (chen2008)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privacy_sql.counted.base import Base, no_rows
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Exact
from privacy_sql.criteria._skyline_points import limit_of, points_of
from privacy_sql.criteria._skyline_words import facts_of, story
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies.base import text_of
from privacy_sql.kernels.skyline import breach_probability as kernel
from privacy_sql.kernels.skyline.find import Point
from privacy_sql.kernels.skyline.find import find_skyline as edge
from privacy_sql.kernels.skyline.groups import Histograms, Integers
from privacy_sql.query.template import render
from privacy_sql.studies import groups_of

if TYPE_CHECKING:
    from privacy_sql.release import Release
    from privacy_sql.table import Table

MOST_NAMED = 1_000  # people of each kind


def breach_probability(
    engine: Engine,
    table: Table | Release,
    *,
    value: object,
    l: int,  # noqa: E741 - the paper's letter
    k: int,
    m: int,
) -> Fraction | float:
    """How sure somebody who knows l, k and m facts of the three kinds can be that a person has `value`.

    chen2008, Sec. 6.1: l values of the target, k other people, m members of the target's family; Def. 2 says
    what that means for people with several values. A value that does not occur has probability 0.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3*"] * 5, "disease": ["AIDS", "flu", "flu", "flu", "flu"]})
    >>> with ps.connect() as engine:
    ...     print(
    ...         ps.breach_probability(engine, ps.Table(rows, ["age"], "disease"), value="AIDS", l=0, k=3, m=0)
    ...     )
    1/2
    """
    amounts = points_of([[l, k, m, 1]], "breach_probability")[0][0]
    asked = Skylines.of_table(engine, table)
    groups = asked.tables.about(asked.code(value), amounts.ruled_out, asked.case)
    return kernel.breach_probability(groups, amounts, asked.case)


def find_skyline(engine: Engine, table: Table | Release, *, value: object, limit: Exact) -> list[Point]:
    """All maximal amounts (l, k, m) with which nobody is as sure as `limit` that a person has `value`.

    chen2008, Def. 5 and Fig. 5. None means no bound; an empty list means unsafe without any knowledge.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3*"] * 5, "disease": ["AIDS", "flu", "flu", "flu", "flu"]})
    >>> with ps.connect() as engine:
    ...     print(ps.find_skyline(engine, ps.Table(rows, ["age"], "disease"), value="AIDS", limit="0.5"))
    [(0, 0, 2), (0, 1, 1), (0, 2, 0)]
    """
    allowed = limit_of(limit, "find_skyline")
    asked = Skylines.of_table(engine, table)
    return edge(asked.tables, asked.code(value), allowed, asked.case)


@dataclass(frozen=True)
class Skylines:
    """The counts of all groups of one table, and its sensitive values by code."""

    base: Base
    tables: Histograms
    groups: Integers  # the g of each row of the tables

    @classmethod
    def of_table(cls, engine: Engine, table: Table | Release) -> Skylines:
        return cls.of(groups_of(engine, table))

    @classmethod
    def of(cls, grouping: Grouping) -> Skylines:
        base = grouping.base
        if not base.table.sensitives:
            raise UsageError("no_sensitive", "a skyline needs a sensitive column", where=base.table.name)
        if not base.holds_rows:
            raise no_rows(base.table)
        query = render("criteria/group_counts.sql", groups=grouping.groups, histogram=grouping.histogram)
        return cls(base, *Histograms.from_columns(base.engine.arrays(query)))

    @property
    def case(self) -> kernel.ValuesPerPerson:
        return self.base.table.values_per_person

    def code(self, value: object) -> int:
        """The code of a sensitive value (None: no value), or -1 if it does not occur."""
        if value is None:
            return 0
        named: dict[str, tuple[str, list[Any]]] = {
            "position": ("bigint", [0]),
            "name": ("varchar", [text_of(value)]),
        }
        query = render(
            "criteria/named_values.sql",
            values=self.base.dictionaries["s"],
            named=self.base.engine.load(named, "named"),
        )
        return next((int(row["code"]) for row in self.base.engine.fetch(query)), -1)

    def values(self) -> dict[int, Any]:
        """Every sensitive value that occurs, by code. These are values, for those who may see the data."""
        rows = self.base.engine.fetch(render("criteria/value_names.sql", values=self.base.dictionaries["s"]))
        return {row["code"]: row["value"] for row in rows}

    def everybody(self, code: int) -> int:
        """How many people (or occurrences) have the value in the whole table."""
        if code not in self.tables.values:
            return 0
        return int(self.tables.counts[:, self.tables.values.index(code)].sum())


@dataclass(frozen=True)
class Skyline:
    """The knowledge skyline of one sensitive value, and how one more known person breaks it."""

    label: str  # "value 3", its rank by frequency, or its name if requested
    people: int
    points: list[Point]
    # by kind of knowledge: what happens when somebody knows one more than the table withstands, and nothing
    # else
    stories: Mapping[str, str] = field(default_factory=dict)
    individuals: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # INTERNAL: the people of that worst case


@dataclass(frozen=True)
class TableSkylines:
    """The skylines of a table at one limit."""

    rows: int
    groups: int
    limit: Fraction
    skylines: list[Skyline]


def skylines(
    engine: Engine,
    table: Table | Release,
    *,
    value: str | None = None,
    limit: Exact = "0.95",
    show_values: bool = False,
) -> TableSkylines:
    """The skyline of one value, or of every value, the most common first (chen2008, Sec. 8.3)."""
    allowed = limit_of(limit, "skyline")
    grouping = groups_of(engine, table)
    asked = Skylines.of(grouping)
    codes = (
        [asked.code(value)]
        if value is not None
        else sorted(asked.tables.values, key=lambda c: -asked.everybody(c))
    )
    names = asked.values() if show_values else {}
    made = []
    for place, code in enumerate(codes, start=1):
        points = edge(asked.tables, code, allowed, asked.case)
        label = value if value is not None else str(names.get(code, f"value {place}"))
        stories: dict[str, str] = {}
        whom: dict[str, Mapping[str, Any]] = {}
        for kind, wanted in _one_too_many(points).items():
            stories[kind], taken = _told(asked, grouping, code, wanted, show_values)
            whom |= {kind: taken} if taken else {}
        made.append(Skyline(label, asked.everybody(code), points, stories, whom))
    return TableSkylines(grouping.base.rows, grouping.n_groups, allowed, made)


def _one_too_many(points: list[Point]) -> dict[str, kernel.Amounts]:
    """For each kind of knowledge alone, one more than the table withstands, if any amount is too much.

    >>> _one_too_many([(0, 4, 0), (1, 3, 1), (4, 0, 3)])["known"]
    Amounts(ruled_out=0, known=5, family=0)
    """
    nothing = kernel.Amounts(0, 0, 0)
    if not points:
        return {"nothing": nothing}
    found = {}
    for place, kind in enumerate(kernel.Amounts._fields):
        most = [point[place] for point in points]
        if None not in most:
            found[kind] = nothing._replace(**{kind: 1 + max(amount or 0 for amount in most)})
    return found


def _told(
    asked: Skylines, grouping: Grouping, code: int, wanted: kernel.Amounts, named: bool
) -> tuple[str, dict[str, Any]]:
    """What somebody who knows exactly these amounts reaches and, if `named`, about whom."""
    groups = asked.tables.about(code, wanted.ruled_out, asked.case)
    least = kernel.least_amounts(groups, wanted, asked.case)
    worst = kernel.worst_case(groups, least, asked.case)
    g, f = (int(asked.groups[group.number]) for group in (worst.target, worst.family))
    numbers = grouping.number(g)["group"], grouping.number(f)["group"]
    facts = facts_of(worst, least, wanted, numbers, asked.case)
    told = story(kernel.breach_probability(groups, wanted, asked.case), facts, numbers[0])
    if not named:
        return told, {}
    counts = asked.tables.counts[worst.target.number].tolist()
    ranked = sorted(zip(asked.tables.values, counts, strict=True), key=lambda one: (-one[1], one[0]))
    others = [int(other) for other, n in ranked if n and other != code]
    known_in = f if worst.term == 2 else g
    return told, _individuals(grouping, g, known_in, f, least, code, others)


# one step beyond what a report shows, so that the report can tell where its picture ends
GRID = kernel.Amounts(6, 13, 7)
MOST_VALUES = 20
MOST_CELLS = 20_000_000  # the most groups times values held in memory


@dataclass(frozen=True)
class Explored:
    """Breach probabilities of one sensitive value for every amount up to `GRID`, in 1/10,000, rounded up."""

    label: str  # "value 3": its rank by frequency
    people: int
    breach: list[list[list[int]]]  # [values ruled out][others known][family]


def explored(grouping: Grouping) -> tuple[list[Explored], int]:
    """The data to draw skylines for the values that are easiest to guess, and the number of values.

    chen2008, Sec. 4.3. Values that only suppressed people have do not count.

    >>> import pandas as pd, privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3*"] * 5, "disease": ["AIDS", "flu", "flu", "flu", "flu"]})
    >>> with ps.connect() as engine:
    ...     (commonest, rare), _ = explored(groups_of(engine, ps.Table(rows, ["age"], "disease")))
    >>> rare.label, rare.people, rare.breach[0][3][0]
    ('value 2', 1, 5000)
    """
    return explored_of(Skylines.of(grouping))


def explored_of(asked: Skylines) -> tuple[list[Explored], int]:
    """The same from counts that have been fetched."""
    if asked.tables.counts.size > MOST_CELLS:
        raise UsageError("too_many_groups", "the table has too many groups and values for an overview")
    ranked = sorted(asked.tables.values, key=lambda code: -asked.everybody(code))
    # the values that are easiest to guess without further knowledge
    sure = {
        code: _rounded_up(asked.tables.about(code, 0, asked.case), kernel.Amounts(0, 0, 0), asked.case)
        for code in ranked
    }
    kept = set(sorted(ranked, key=lambda code: -sure[code])[:MOST_VALUES])
    found: list[Explored] = []
    for place, code in enumerate(ranked, start=1):
        if code in kept:
            report("knowledge skylines", len(found), len(kept))
            breaches = []
            for ruled_out in range(GRID.ruled_out + 1):
                groups = asked.tables.about(code, ruled_out, asked.case)
                breaches.append(
                    [
                        [
                            _rounded_up(groups, kernel.Amounts(ruled_out, known, family), asked.case)
                            for family in range(GRID.family + 1)
                        ]
                        for known in range(GRID.known + 1)
                    ]
                )
            found.append(Explored(f"value {place}", asked.everybody(code), breaches))
    return found, len(ranked)


def _rounded_up(
    groups: list[kernel.SkylineGroup], amounts: kernel.Amounts, case: kernel.ValuesPerPerson
) -> int:
    """In 1/10,000; only certainty gives 10,000."""
    found = kernel.breach_probability(groups, amounts, case)
    return 10_000 if found >= 1 else min(9_999, math.ceil(10_000 * found))


def _individuals(
    grouping: Grouping,
    target: int,
    known_in: int,
    family_in: int,
    amounts: kernel.Amounts,
    code: int,
    others: Sequence[int],
) -> dict[str, Any]:
    """A target, known people and a family for whom everything the adversary knows is true.

    chen2008, Sec. 8.3: "identify the individuals", for those who may see the data.
    The target has the value in question, and the most common other values of the group are ruled out. The
    known people are in the target's group and have neither. Anybody may be the family. `others` are the codes
    of the other values of the target's group, the most common first. Nobody is named if the table has no
    identifier or if people may have several values.
    """
    base = grouping.base
    if not base.table.identifier or base.table.values_per_person != "one":
        return {}
    gone = others[: amounts.ruled_out]
    inside = base.inside(base.people or base.relation)
    query = render(
        "studies/people_of_groups.sql",
        source=base.source,
        identifier=base.table.identifier,
        value=(base.table.sensitives[0], base.dictionaries["s"]),
        columns=[
            (
                base.columns[alias][0] if alias in base.columns else str(base.table.group),
                alias,
                base.dictionaries[alias],
            )
            for alias in inside
            if alias != "s"
        ],
        members=grouping.members,
        groups=sorted({target, known_in, family_in}),
        wanted=code,
        ruled_out=gone,
        most=min(1 + amounts.known + amounts.family, MOST_NAMED),
    )
    rows = base.engine.fetch(query)
    if len({row["person"] for row in rows}) < len(rows):
        raise UsageError("several_groups", "people with the same quasi-identifiers are in several groups")
    holder = next(row for row in rows if row["g"] == target and row["kind"] == "holder")
    # other people of the group with a value that is ruled out for the target do not help the adversary
    free = ("other",) if known_in == target else ("other", "ruled_out")
    known = [row for row in rows if row["g"] == known_in and row["kind"] in free][: amounts.known]
    taken = [holder, *known]
    family = [row for row in rows if row["g"] == family_in and row not in taken][: amounts.family]
    return {
        "target": holder["person"],
        "values_ruled_out": [base.label("s", 0, other) for other in gone],
        "known": [{"person": row["person"], "value": row["value"]} for row in known],
        "family": [row["person"] for row in family],
    }
