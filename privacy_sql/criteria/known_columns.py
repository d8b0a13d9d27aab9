"""Known columns: somebody who knows only some of the columns, whichever they are, finds a crowd."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from privacy_sql.criteria import Criterion, Exact, Row, at_least, exact, refuse_empty
from privacy_sql.errors import UsageError, did_you_mean, number_of, people, raise_all
from privacy_sql.kernels.larger_sets import larger_sets
from privacy_sql.query.template import Sql, names, render
from privacy_sql.verdict import Number, Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Grouping

MOST_SETS = 2_000
AT_ONCE = 40  # sets in one statement
READ_AT_ONCE = 64  # sets whose sizes one statement counts
MOST_BITS = 62  # of a whole number
# from so many combinations on, sets are counted from larger ones that have at most one combination in FEWER
LEAST_COVERED = 20_000
FEWER = 16
# combinations, codes and people that are counted on arrays: fewer need no arrays, more do not fit
LEAST_ON_ARRAYS = 20_000
MOST_CODES = 5 * 10**7
MOST_PEOPLE = 2**53


@dataclass(frozen=True)
class KnownSet:
    """One set of columns that somebody may know, and the requirement on its groups."""

    columns: tuple[str, ...]
    k: int
    share: Fraction | None


class Measure(NamedTuple):
    """One measured value of a set."""

    safe: bool
    slack: Fraction  # relative to the limit
    value: Number
    relation: str
    limit: Number


@dataclass(frozen=True)
class SetFound:
    """The groups of one set: the fewest people, and the largest share of one value."""

    asked: KnownSet
    smallest: int
    share: Fraction | None
    below: int  # groups smaller than k

    @classmethod
    def of(cls, asked: KnownSet, sizes: Sequence[Row]) -> SetFound:
        return cls(
            asked,
            min(row["n_people"] for row in sizes),
            None if asked.share is None else max(Fraction(row["n_top"], row["n_people"]) for row in sizes),
            sum(row["n_groups"] for row in sizes if row["n_people"] < asked.k),
        )

    @property
    def nearest(self) -> Measure:
        """The measure with the least slack, a failing one first."""
        k = self.asked.k
        found = [Measure(self.smallest >= k, Fraction(self.smallest, k) - 1, self.smallest, ">=", k)]
        limit = self.asked.share
        if limit is not None and self.share is not None:
            found.append(Measure(self.share <= limit, 1 - self.share / limit, self.share, "<=", limit))
        return min(found[1:] if k == 1 and found[1:] else found, key=lambda one: one[:2])

    @property
    def slack(self) -> tuple[bool, Fraction]:
        return self.nearest[:2]

    @property
    def safe(self) -> bool:
        return self.nearest.safe

    @property
    def value(self) -> Number:
        return self.nearest.value


class BelowLimit(NamedTuple):
    """The groups with people below a limit for some set, and how many people stand below a size."""

    groups: Sequence[int] = ()
    n_people: int = 0


@dataclass(frozen=True)
class SetsFound:
    """The results for all sets and, on request, the groups below a limit."""

    found: Sequence[SetFound]
    below: Callable[[], BelowLimit] = BelowLimit


@dataclass(frozen=True)
class KnownColumns(Criterion):
    """Anyone who knows any m columns of a person finds at least k people; `value` is the fewest.

    k-anonymity (ganta2008, Sec. 2) for wide tables, as in LKC-privacy (Mohammed et al. 2009). It does not
    protect against an adversary who knows m + 1 columns. With `share`, no value is more than that share of
    any such group. `sets` names the columns that are known together, each set with its own k and share.

    Smaller sets are implied, because their groups are unions. Mapping labels of a column together turns the
    groups of every set into unions, which keeps the requirement. Merging two groups of several columns, or
    leaving one out, removes people from the groups of a set and may break it.
    """

    name: ClassVar[str] = "known_columns"
    question: ClassVar[str] = "Can somebody who knows only some columns single a person out?"
    against: ClassVar[str] = (
        "somebody who knows at most m columns of a person, but not somebody who knows one column more"
    )
    relation: ClassVar[str] = ">="
    of_labels: ClassVar[bool] = True
    without_labels: ClassVar[str] = (
        "Require k_anonymity, which implies it for every set of columns, and l_diversity(kind=probabilistic)"
        " for a share; or publish by generalise or full_domain."
    )
    safe_under_generalisation: ClassVar[bool] = True

    m: int | None = None
    k: int = 1
    share: Exact | None = None
    sets: Sequence[Mapping[str, int | Any]] = ()  # [{columns, k, share}, ...]

    def __post_init__(self) -> None:
        if (self.m is None) == (not self.sets):
            hint = "For example known_columns(m=2, k=5)."
            raise UsageError("bad_parameter", f"{self.name} needs either m or sets", hint=hint)
        if self.sets:
            if self.k != 1 or self.share is not None:
                raise UsageError("bad_parameter", f"each set of {self.name} needs its own k and share")
            _ = [self._of(entry) for entry in self.sets]
        else:
            at_least(self.m, 1, self.name, "m")
            self._limits(self.k, self.share)
            refuse_empty(self)

    def _limits(self, k: object, share: Exact | None) -> tuple[int, Fraction | None]:
        if share is not None and not 0 < exact(share, self.name, "share", 0, 1) < 1:
            hint = "At 1 no table can fail, and at 0 every table fails."
            raise UsageError("bad_parameter", f"share of {self.name} must be between 0 and 1", hint=hint)
        limit = None if share is None else Fraction(str(share))
        return at_least(k, 1, self.name, "k"), limit

    def _of(self, entry: object) -> KnownSet:
        """One entry of `sets`."""
        if not isinstance(entry, Mapping) or set(entry) - {"columns", "k", "share"}:
            hint = "For example {columns: [age, zip], k: 5}."
            raise UsageError(
                "bad_parameter", f"a set of {self.name} must have columns, k and share", hint=hint
            )
        columns = entry.get("columns") or ()
        columns = (columns,) if isinstance(columns, str) else tuple(map(str, columns))
        if not columns or len(set(columns)) < len(columns):
            raise UsageError("bad_parameter", f"columns of a set of {self.name} must name columns, each once")
        k, share = self._limits(entry.get("k", 1), entry.get("share"))
        if k == 1 and share is None:
            raise UsageError(
                "bad_parameter", f"a set of {self.name} requires nothing: k is 1, and it has no share"
            )
        return KnownSet(columns, k, share)

    @classmethod
    def unit_of(cls, params: Mapping[str, Any], relation: str) -> str:
        return "people" if relation == ">=" else "share"

    @property
    def reads_sensitive(self) -> bool:  # type: ignore[override]
        shares = [entry.get("share") for entry in self.sets] if self.sets else [self.share]
        return any(share is not None for share in shares)

    @property
    def cannot_fail(self) -> bool:
        return not self.sets and self.k == 1 and self.share is None

    @property
    def needs_one_value(self) -> bool:
        return self.reads_sensitive

    @property
    def limit(self) -> Number:
        return self.k if not self.sets else min(self._of(entry).k for entry in self.sets)

    # -- evidence --------------------------------------------------------------------------------------------

    def gather(self, grouping: Grouping) -> SetsFound:
        """The people of every set: on arrays, or in SQL where a few or very many combinations are counted."""
        base = grouping.base
        if any(key.column not in base.columns for key in grouping.keys):
            raise UsageError(
                "no_columns",
                "known columns can be judged only if each group shows a label for each column",
                where=base.table.name,
                hint="Publish by generalise or full_domain; check the table without a group column.",
            )
        aliases = {base.columns[key.column][0]: Sql(f"k{n}") for n, key in enumerate(grouping.keys, start=1)}
        wanted = self._wanted(list(aliases), base.table.name)
        n_codes = base.combinations * len(aliases)
        if base.combinations >= LEAST_ON_ARRAYS and n_codes <= MOST_CODES and base.rows < MOST_PEOPLE:
            return self._on_arrays(grouping, aliases, wanted)
        return SetsInSql(grouping, aliases, wanted, of_values=self.reads_sensitive).found()

    def _on_arrays(
        self, grouping: Grouping, aliases: Mapping[str, Sql], wanted: Sequence[KnownSet]
    ) -> SetsFound:
        import numpy as np

        from privacy_sql.criteria._known_sets import Coded

        values = self.reads_sensitive
        candidate = grouping.candidate if values else grouping.members

        def read(columns: Sequence[tuple[Sql, Sql]]) -> tuple[Mapping[str, Any], Coded]:
            query = render("counted/codes.sql", relation=candidate, columns=columns, sensitive=values)
            found = grouping.base.engine.arrays(query)
            codes = {name: found[alias] for name, alias in aliases.items()}
            return found, Coded(codes, found["n_rows"], found["s"] if values else None)

        # the narrowest numbers that hold the codes: they are read in half the time
        kinds = [
            (Sql(f"k{n}"), Sql("smallint" if top < 2**15 else "integer" if top < 2**31 else "bigint"))
            for n, top in enumerate((key.top for key in grouping.keys), start=1)
        ]
        _, coded = read(kinds)
        by_columns: dict[tuple[str, ...], list[KnownSet]] = {}
        for each in wanted:
            by_columns.setdefault(each.columns, []).append(each)
        found: dict[KnownSet, SetFound] = {}
        for columns, crowds in coded.of_sets(list(by_columns)):
            for each in by_columns[columns] if len(crowds.people) else ():
                n_below = int((crowds.people < each.k).sum())
                share = None if each.share is None else crowds.share
                found[each] = SetFound(each, int(crowds.people.min()), share, n_below)
        made = [found[each] for each in dict.fromkeys(wanted) if each in found]
        failing = [each.asked for each in made if not each.safe]

        def below() -> BelowLimit:
            if not failing:
                return BelowLimit()
            named, coded = read([*kinds, (Sql("g"), Sql("bigint"))])
            small, over = coded.failing([(each.columns, each.k, each.share) for each in failing])
            return BelowLimit(np.unique(named["g"][over]).tolist(), int(coded.n[small].sum()))

        return SetsFound(made, cache(below))

    def _wanted(self, columns: Sequence[str], table: str) -> list[KnownSet]:
        """The sets to judge, among the published columns."""
        if self.sets:
            wanted = [self._of(entry) for entry in self.sets]
            raise_all(
                [
                    UsageError(
                        "unknown_column",
                        f'{self.name} names "{name}", which is not a published quasi-identifier',
                        where=table,
                        hint=did_you_mean(name, columns),
                    )
                    for each in wanted
                    for name in each.columns
                    if name not in columns
                ]
            )
            return wanted
        assert self.m is not None
        size = min(self.m, len(columns))
        n_sets = comb(len(columns), size)
        if n_sets > MOST_SETS:
            raise UsageError(
                "too_many_sets",
                f"{self} has {n_sets:,} sets of {size} of {len(columns)} columns, which is too many",
                where=table,
                hint="Name sets that somebody may know: known_columns(sets=[{columns: [age, zip], k: 5}]).",
            )
        k, share = self._limits(self.k, self.share)
        return [KnownSet(some, k, share) for some in combinations(columns, size)]

    # -- decided ---------------------------------------------------------------------------------------------

    def failing(self, evidence: object) -> list[int]:
        """The groups with people below a limit for some set; the rest must be judged again."""
        assert isinstance(evidence, SetsFound)
        return sorted(evidence.below().groups)

    def judge(self, evidence: object) -> Verdict:
        """The set with the least slack decides, a failing one first.

        >>> found = SetFound(KnownSet(("age",), 5, None), 3, None, 2)
        >>> KnownColumns(m=1, k=5).judge(SetsFound([found])).value
        3
        """
        if not isinstance(evidence, SetsFound) or not evidence.found:
            return self.verdict(None, Witness({}), safe=False)
        worst = min(evidence.found, key=lambda each: each.slack)
        measure = worst.nearest
        n_below = evidence.below().n_people
        unsafe = sum(not each.safe for each in evidence.found)
        facts: dict[str, Any] = {
            "columns": list(worst.asked.columns),
            "size": worst.smallest,
            "sets": len(evidence.found),
            "sets_below_limit": unsafe,
            "people_below": n_below,
        }
        shares = [each.share for each in evidence.found if each.share is not None]
        if shares:
            facts["largest_share"] = str(max(shares))
        told = f"somebody who knows {', '.join(worst.asked.columns)}"
        if measure.relation == ">=":
            story = f"At worst, {told} finds a person among {people(worst.smallest)}."
        else:
            story = f"In the worst group for {told}, a value has the share {measure.value}."
        if n_below:
            story += f" {people(n_below)} are below the limit for at least one set."
        if self.m is not None:
            story += f" Somebody who knows {number_of(self.m + 1, 'column')} may find fewer."
        return self.verdict(
            measure.value,
            Witness(facts),
            story,
            safe=not unsafe,
            limit=measure.limit,
            relation=measure.relation,
            points=tuple(evidence.found),
        )


class SetsInSql:
    """The sets that somebody may know, counted by statements: from larger sets where these are far fewer."""

    def __init__(
        self, grouping: Grouping, aliases: Mapping[str, Sql], wanted: Sequence[KnownSet], *, of_values: bool
    ) -> None:
        self.grouping, self.engine = grouping, grouping.base.engine
        self.aliases, self.wanted = aliases, wanted
        self.values = names(["s"]) if of_values else []
        self.candidate = grouping.candidate if of_values else grouping.members
        # a set is the sum of its columns' bits
        self.bits = {name: 1 << place for place, name in enumerate(aliases)}
        self.by_members: dict[int, list[KnownSet]] = {}
        for each in wanted:
            self.by_members.setdefault(sum(self.bits[name] for name in each.columns), []).append(each)

    @cached_property
    def groups(self) -> Sql:
        """The labels of every combination, with the number of its group."""
        columns = [*self.aliases.values(), *self.values]
        query = render("counted/labelled_groups.sql", candidate=self.candidate, columns=columns)
        return self.engine.create(query)

    def found(self) -> SetsFound:
        """The groups of every set, and those below a limit when they are asked for."""
        found: dict[KnownSet, list[Row]] = {each: [] for each in self.wanted}
        for one, held in self.larger():
            columns = [*(self.aliases[name] for name, bit in self.bits.items() if one & bit), *self.values]
            smaller = render("counted/counts_by.sql", base=self.candidate, columns=columns) if one else None
            for row in self.sizes(self.groups if smaller is None else self.engine.create(smaller), held):
                found[row["asked"]].append(row)
        made = [SetFound.of(each, its) for each, its in found.items() if its]
        failing = [each.asked for each in made if not each.safe]
        return SetsFound(made, partial(self.below, failing))

    def larger(self) -> list[tuple[int, list[int]]]:
        """Larger sets to count from, each with the sets inside it; 0 is the set of all columns."""
        base, found = self.grouping.base, list[tuple[int, list[int]]]()
        if base.combinations >= LEAST_COVERED and len(self.aliases) <= MOST_BITS:
            labels = [base.statistics[key.column]["n_values"] for key in self.grouping.keys]
            n_values = base.statistics["s"]["n_values"] if self.values else 1
            found = list(larger_sets(list(self.by_members), labels, base.combinations // (FEWER * n_values)))
        return found if 0 < 2 * len(found) <= len(self.by_members) else [(0, list(self.by_members))]

    def sizes(self, counted: Sql, sets: Sequence[int]) -> Iterator[Row]:
        """The sizes of sets, where nothing is asked of values in one reading."""
        if self.values or len(self.aliases) > MOST_BITS:
            yield from self.rows(
                counted, [each for some in sets for each in self.by_members[some]], below=False
            )
            return
        for first in range(0, len(sets), READ_AT_ONCE):
            listed = [self.by_members[some][0].columns for some in sets[first : first + READ_AT_ONCE]]
            inside = {name for columns in listed for name in columns}
            query = render(
                "criteria/sizes_of_sets.sql",
                counted=counted,
                columns=[(self.aliases[name], bit) for name, bit in self.bits.items() if name in inside],
                sets=[[self.aliases[name] for name in columns] for columns in listed],
            )
            for row in self.engine.fetch(query):
                for each in self.by_members[row["members"]]:
                    yield {**row, "asked": each}

    def rows(self, counted: Sql, sets: Sequence[KnownSet], *, below: bool) -> Iterator[Row]:
        """The sizes of sets one after the other, or the groups with people below a limit."""
        for first in range(0, len(sets), AT_ONCE):
            batch = sets[first : first + AT_ONCE]
            given = [
                (
                    n,
                    [self.aliases[name] for name in each.columns],
                    each.k,
                    # slightly less, so that rounding errs on the safe side
                    None if each.share is None else repr(float(each.share) * (1 - 1e-9)),
                )
                for n, each in enumerate(batch)
            ]
            query = render(
                "criteria/known_columns.sql",
                counted=counted,
                sets=given,
                of_values=bool(self.values),
                below=below,
            )
            for row in self.engine.fetch(query):
                yield row if below else {**row, "asked": batch[row["set_number"]]}

    def below(self, failing: Sequence[KnownSet]) -> BelowLimit:
        """The groups with people below a limit for some set."""
        named = list(self.rows(self.groups, failing, below=True)) if failing else []
        # a group may be named by several statements
        small = {row["g"]: row["n_people"] for row in named if row["is_small"]}
        return BelowLimit([*{row["g"] for row in named}], sum(small.values()))
