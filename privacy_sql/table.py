"""Table: what the user says about the source: the roles of its columns, the person, the meaning of NULL."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from privacy_sql.errors import PrivacySqlError, UsageError, nearest_column, raise_all
from privacy_sql.hierarchies import AsIs, Hierarchy
from privacy_sql.manifest import PerPerson as PerPerson
from privacy_sql.parameters import given

PER_PERSON = get_args(PerPerson)
ROWS = ("source", "population")  # a file, a relation, or the rows themselves
TIED = {"no": False, "number": True}  # whether published rows say who lives together
NULLS = ("value", "error", "refuse")  # the last two are one: stop


@dataclass(eq=False)
class KeptCounts:
    """The engine that counted a table, and its counts, for every later question; empty if nothing is kept."""

    engine: Any = None
    base: Any = None


@dataclass(frozen=True)
class Table:
    """A source and the roles of its columns. Nothing is read until an engine is given.

    >>> Table("people.csv", ["age"], "disease").quasi
    {'age': AsIs()}
    """

    source: Any  # a file, a relation of the engine, or a DataFrame
    quasi: Mapping[str, Hierarchy] | Sequence[str]
    sensitive: str | tuple[str, ...] | None = None
    _: Any = field(default=None, kw_only=True, repr=False)
    identifier: str | None = field(default=None, kw_only=True)  # identifies the person, never published
    group: str | None = field(default=None, kw_only=True)  # groups come from this column
    count: str | None = field(default=None, kw_only=True)  # multiplicities
    values_per_person: PerPerson = field(default="one", kw_only=True)
    quasi_nulls: str | Mapping[str, str] = field(default="value", kw_only=True)
    sensitive_nulls: str = field(default="value", kw_only=True)
    sensitive_hierarchy: Any = field(default=None, kw_only=True)
    domains: Mapping[str, Any] | None = field(default=None, kw_only=True)
    distances: Mapping[str, Any] | None = field(default=None, kw_only=True)
    # columns, or {"columns": [...], "known": True} or {"columns": [...], "acknowledge": "reason"}
    insensitive: Sequence[str] | Mapping[str, Any] = field(default=(), kw_only=True)
    drop: Sequence[str] = field(default=(), kw_only=True)
    population: Any = field(default=None, kw_only=True)
    # the household column, or {"column": ..., "published": "no" | "number"}
    household: str | Mapping[str, Any] | None = field(default=None, kw_only=True)
    # how many people a sampled person represents, for estimates of risk; never published
    weight: str | None = field(default=None, kw_only=True)
    where: str | None = field(default=None, kw_only=True)
    joint: bool = field(default=False, kw_only=True)
    name: str = field(default="", kw_only=True)
    # the others of several sensitive columns, which count as quasi-identifiers here; or those read as one
    also_sensitive: tuple[str, ...] = field(default=(), kw_only=True)
    joined: tuple[str, ...] = field(default=(), kw_only=True)
    # insensitive columns that somebody may know: they count as quasi-identifiers that stand as they are
    also_known: tuple[str, ...] = field(default=(), kw_only=True)
    acknowledged: str | None = field(default=None, kw_only=True)  # why insensitive ones may single out
    members_tied: bool = field(default=False, kw_only=True)  # published rows say who lives together
    # what `count` keeps; a table made from it with other roles starts without
    counted: KeptCounts = field(default_factory=KeptCounts, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        known = self._declared(self.insensitive) if isinstance(self.insensitive, Mapping) else ()
        for several in ("quasi", "insensitive", "drop"):
            if isinstance(one := given(self)[several], str):
                put(self, several, (one,))
        if isinstance(self.household, Mapping):
            column, shown = self.household.get("column"), self.household.get("published", "no")
            odd = set(self.household) - {"column", "published"}
            if odd or not isinstance(column, str) or shown not in TIED:
                raise UsageError(
                    "bad_household",
                    "household needs a column, and published must be no or number",
                    where=self.name,
                    hint="For example {column: household_id, published: no}.",
                )
            put(self, "household", column)
            put(self, "members_tied", TIED[shown])
        named = [*self.quasi, *known]
        quasi = self.quasi if isinstance(self.quasi, Mapping) else dict.fromkeys(self.quasi)
        quasi = {**quasi, **dict.fromkeys(known)}
        put(self, "quasi", {column: hierarchy or AsIs() for column, hierarchy in quasi.items()})
        name = "table"
        if isinstance(self.source, Path) or (isinstance(self.source, str) and "/" in self.source):
            name = Path(self.source).name.partition(".")[0]
        elif isinstance(self.source, str):
            name = self.source.partition(".csv")[0].partition(".parquet")[0]
        put(self, "name", self.name or name)
        if isinstance(self.sensitive, (list, tuple)):
            put(
                self,
                "sensitive",
                self.sensitive[0] if len(self.sensitive) == 1 else tuple(self.sensitive) or None,
            )
        named = [*named, *self.sensitives, *self.insensitive, *self.drop]
        single = (self.identifier, self.group, self.count, self.household, self.weight)
        named += [column for column in single if isinstance(column, str)]
        hint = "A column has one role; name it once."
        twice = [
            UsageError("two_roles", f'column "{column}" is named more than once', where=self.name, hint=hint)
            for column, times in sorted(Counter(named).items())
            if times > 1
        ]
        raise_all([*self._words(), *twice])

    def __repr__(self) -> str:
        """The declarations; for rows in memory only their type."""
        parts = given(self)
        told = {f.name: parts[f.name] for f in fields(self) if f.repr and f.name not in ROWS}
        held = {
            name: repr(rows) if rows is None or isinstance(rows, (str, Path)) else f"<{type(rows).__name__}>"
            for name, rows in ((name, parts[name]) for name in ROWS)
        }
        return f"Table({', '.join(f'{name}={part}' for name, part in held.items())}, " + (
            ", ".join(f"{name}={part!r}" for name, part in told.items()) + ")"
        )

    def _declared(self, content: Mapping[str, Any]) -> tuple[str, ...]:
        """Read a mapping of insensitive columns; returns those that somebody may know."""
        put, columns = object.__setattr__, content.get("columns", ())
        columns = (columns,) if isinstance(columns, str) else tuple(columns or ())
        known, reason = content.get("known", False), content.get("acknowledge")
        wrong = {
            "the keys are columns, known and acknowledge": set(content) - {"columns", "known", "acknowledge"},
            "columns is empty": not columns,
            "known must be True or False": not isinstance(known, bool),
            "acknowledge must be a reason in words": "acknowledge" in content
            and not (isinstance(reason, str) and reason.strip()),
            "known and acknowledge exclude each other": known and "acknowledge" in content,
        }
        if any(wrong.values()):
            raise UsageError(
                "bad_insensitive",
                f"insensitive: {'; '.join(words for words, is_wrong in wrong.items() if is_wrong)}",
                where=self.name,
                hint='For example {columns: [hours], known: true} or {columns: [hours], acknowledge: "why"}.',
            )
        put(self, "insensitive", () if known else columns)
        put(self, "also_known", columns if known else ())
        put(self, "acknowledged", reason)
        return columns if known else ()

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The quasi-identifiers and their hierarchies."""
        assert isinstance(self.quasi, Mapping)
        return dict(self.quasi)

    @property
    def described_levels(self) -> dict[str, dict[str, object]]:
        """The levels of each column with a hierarchy, for `display.levels` to describe."""
        kinds: dict[str, Hierarchy] = {}
        if isinstance(self.sensitive_hierarchy, Mapping):
            kinds = dict(self.sensitive_hierarchy)
        elif self.sensitive_hierarchy is not None and len(self.sensitives) == 1:
            kinds = {self.sensitives[0]: self.sensitive_hierarchy}
        return {name: kind.described() for name, kind in {**kinds, **self.hierarchies}.items()}

    @property
    def sensitives(self) -> tuple[str, ...]:
        """The sensitive columns: none, one or several."""
        if self.sensitive is None:
            return ()
        return (self.sensitive,) if isinstance(self.sensitive, str) else self.sensitive

    @property
    def roles(self) -> dict[str, str]:
        """Every named column and its role."""
        sensitive = (*(() if self.joined else self.sensitives), *self.also_sensitive, *self.joined)
        named = dict.fromkeys(self.quasi, "quasi-identifier")
        for column, role in ((self.identifier, "identifier"), (self.group, "group"), (self.count, "count")):
            named |= {column: role} if column else {}
        if isinstance(self.household, str):
            named[self.household] = "household"
        named |= {self.weight: "weight"} if self.weight else {}
        return (
            named
            | dict.fromkeys(self.insensitive, "insensitive")
            | dict.fromkeys(self.drop, "dropped")
            | dict.fromkeys(sensitive, "sensitive")
        )

    @property
    def as_they_are(self) -> tuple[str, ...]:
        """The insensitive columns, known or not."""
        free = (column for column in self.insensitive if column not in self.joined)
        return (*free, *self.also_known)

    def nulls_of(self, column: str) -> str:
        """The meaning of NULL in a quasi-identifier: a value of its own, or refused."""
        if isinstance(self.quasi_nulls, str):
            return self.quasi_nulls
        return self.quasi_nulls.get(column, "value")

    def counting(self, columns: Sequence[str]) -> Table:
        """The table with more unchanged columns as quasi-identifiers."""
        return replace(
            self,
            quasi={**self.hierarchies, **{column: AsIs() for column in columns}},
            quasi_nulls={
                **{column: self.nulls_of(column) for column in self.quasi},
                **dict.fromkeys(columns, "value"),
            },
        )

    def with_sensitive(self, sensitive: str) -> Table:
        """The table for one of several sensitive columns, with the others as quasi-identifiers."""
        others = tuple(column for column in self.sensitives if column != sensitive)
        kind = self.sensitive_hierarchy
        counted = replace(self, sensitive=sensitive, sensitive_hierarchy=None).counting(others)
        return replace(
            counted,
            sensitive_hierarchy=kind.get(sensitive) if isinstance(kind, Mapping) else None,
            also_sensitive=others,
            quasi_nulls={
                **{column: counted.nulls_of(column) for column in counted.quasi},
                **dict.fromkeys(others, self.sensitive_nulls),
            },
        )

    def undivided(self) -> Table:
        """The table with its declared sensitive columns, before it was divided or joined for counting."""
        if self.joined:
            free = tuple(column for column in self.insensitive if column not in self.joined)
            return replace(self, sensitive=self.joined, joined=(), joint=True, insensitive=free)
        if not self.also_sensitive:
            return self
        quasi = {
            column: kind for column, kind in self.hierarchies.items() if column not in self.also_sensitive
        }
        return replace(
            self,
            quasi=quasi,
            sensitive=self.declared_sensitive,
            sensitive_hierarchy=None,  # as that of the first alone
            also_sensitive=(),
            quasi_nulls={column: self.nulls_of(column) for column in quasi},
        )

    def dropping(self, sensitive: str) -> Table:
        """The table without one of its several sensitive columns."""
        left = tuple(column for column in self.sensitives if column != sensitive)
        kind = self.sensitive_hierarchy
        return replace(
            self,
            sensitive=left,
            sensitive_hierarchy=kind.get(left[0]) if isinstance(kind, Mapping) and len(left) == 1 else kind,
            drop=(*self.drop, sensitive),
        )

    def with_joint(self) -> Table:
        """The table with its sensitive columns judged as one and published separately."""
        parts = self.sensitives
        return replace(
            self,
            sensitive=" & ".join(parts),
            sensitive_hierarchy=None,
            insensitive=(*self.insensitive, *parts),
            joined=parts,
        )

    @property
    def declared_sensitive(self) -> tuple[str, ...]:
        """The sensitive columns as the user named them."""
        return self.joined or (*self.sensitives, *self.also_sensitive)

    def unknown(self, columns: Sequence[str]) -> list[PrivacySqlError]:
        """One error for each named column that the source does not have."""
        pandas = sys.modules.get("pandas")  # a user with a pandas frame has loaded pandas
        frame = pandas is not None and isinstance(self.source, pandas.DataFrame)
        return [
            UsageError(
                "unknown_column",
                f'{self.name} has no column "{column}" ({role})',
                where=self.name,
                hint=f"{column} is the index of the frame; use frame.reset_index()."
                if frame and column in [str(name) for name in self.source.index.names if name is not None]
                else nearest_column(column, columns),
            )
            for column, role in self.roles.items()
            if column not in columns
        ]

    def unnamed(self, columns: Sequence[str]) -> list[str]:
        """Columns of the source without a role."""
        return [column for column in columns if column not in self.roles]

    def _words(self) -> list[PrivacySqlError]:
        words = [
            ("values_per_person", self.values_per_person, PER_PERSON),
            ("nulls of the sensitive column", self.sensitive_nulls, NULLS),
            *((f"nulls of {column}", self.nulls_of(column), NULLS) for column in self.quasi),
        ]
        problems: list[PrivacySqlError] = [
            UsageError("bad_value", f"{what} must be one of {', '.join(known)}", where=self.name)
            for what, word, known in words
            if word not in known
        ]
        if self.values_per_person == "one" and self.identifier and self.count:
            hint = "Remove one of them; a row about one person cannot count for several."
            problems.append(
                UsageError("counted_person", "an identifier and a count exclude each other", hint=hint)
            )
        if self.values_per_person != "one" and not self.identifier:
            hint = "Name the column that identifies the person."
            problems.append(
                UsageError("no_identifier", "several values per person need an identifier", hint=hint)
            )
        return problems
