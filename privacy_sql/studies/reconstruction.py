"""What a recipient can work out from published marginals: expected counts with bounds, rows, assumptions.

kifer2006, Sect. 3.2, 5 and 6.1. Only the published files and their manifest are read; the files are verified
before and after. An expected number is a guess by somebody who knows nothing else. The bounds always hold.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from privacy_sql import files, registry
from privacy_sql.engines import Engine, connect
from privacy_sql.errors import NotSafe, UsageError, did_you_mean, listed, raise_all
from privacy_sql.kernels.marginals.counting_bounds import CountQuestion, answers, expectations
from privacy_sql.kernels.marginals.junction_tree import Resolutions, finest, junction_tree
from privacy_sql.kernels.marginals.leaf_domain import Cell, LeafDomain
from privacy_sql.kernels.marginals.max_entropy import drawn
from privacy_sql.marginals.columns import Attributes
from privacy_sql.marginals.tables import MarginalTables
from privacy_sql.marginals.views import COUNT, maximum_entropy, published_columns
from privacy_sql.publishing import verifying
from privacy_sql.publishing.published_marginals import PublishedRows, read
from privacy_sql.query.template import Sql, literal, render
from privacy_sql.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from privacy_sql.manifest import Manifest

MARK = "synthetic"  # the column that marks a row as invented
EXPECTED = "expected"
INSIDE, OUTSIDE = 1, -1  # the code that a condition gives what it keeps; nodes are 0 or more

Label = str | None  # None stands for a missing value
Wanted = Mapping[str, Label | Sequence[Label]]


@dataclass(frozen=True)
class CountedCell:
    """A combination of labels: the expected number of rows, the least and the most."""

    values: tuple[Label, ...]
    expected: Fraction | float
    least: int
    most: int

    @property
    def known(self) -> bool:
        """Whether the published tables allow only one number."""
        return self.least == self.most


@dataclass(frozen=True)
class BoundedCount:
    """The answer to a counting query; `tight` says whether the bounds use all tables together."""

    columns: tuple[str, ...]
    cells: tuple[CountedCell, ...]
    tight: bool

    def to_pandas(self) -> pd.DataFrame:
        """One line per combination."""
        import pandas as pd

        rows = [
            (*cell.values, float(cell.expected), cell.least, cell.most, cell.known) for cell in self.cells
        ]
        return pd.DataFrame(rows, columns=[*self.columns, EXPECTED, "at_least", "at_most", "known"])


@dataclass(frozen=True)
class Reconstruction:
    """Published marginals as a recipient sees them, and what can be worked out from them.

    `rows` is how many rows each table counts, `columns` what they show.
    """

    name: str
    tables: MarginalTables = field(repr=False)
    domain: LeafDomain = field(repr=False)
    counts: Mapping[Resolutions, Mapping[Cell, int]] = field(repr=False)
    labels: Mapping[str, Mapping[int, Label]] = field(repr=False)  # code column -> code -> label
    copies: tuple[Sql, ...] = field(repr=False)  # the published tables, as they were read
    places: tuple[Path | str, ...]  # where they lie

    @property
    def rows(self) -> int:
        """How many rows every published table counts."""
        return self.tables.base.rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that at least one table shows."""
        return self._attributes.names

    @property
    def decomposable(self) -> bool:
        """Whether the maximum-entropy table is a product of counts; if not, it is fitted."""
        return self.tables.decomposable

    @property
    def _attributes(self) -> Attributes:
        return self.tables.attributes

    @cached_property
    def _named(self) -> dict[str, tuple[int, int]]:
        """What a column may be called -> its position and level; its own name means the finest level."""
        attributes, published = self._attributes, self.tables.published
        shown = {
            name: place
            for marginal in published
            for name, place in published_columns(attributes, published, marginal).items()
        }
        tops = zip(attributes.names, attributes.finest, finest(published), strict=True)
        return {**shown, **{name: (a, height - r) for a, (name, height, r) in enumerate(tops)}}

    def query(self, columns: str | Sequence[str], where: Wanted | None = None) -> BoundedCount:
        """How many rows have each combination of these columns, among those that `where` keeps.

        A column has its finest published level, or another one if you use its name in the files. `where`
        names the labels to keep; None is a missing value. Combinations that the tables rule out are left out.
        Bounds come from linear programs and are rounded outwards.
        """
        asked = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else list(columns)
        wanted: dict[str, set[Label]] = {
            name: {given} if isinstance(given, str) or given is None else set(given)
            for name, given in (where or {}).items()
        }
        found, tight = answers(self.domain, self.counts, self._question(asked, wanted))
        places = [self._named[name] for name in asked]
        cells = [
            CountedCell(
                tuple(self._labels_of(a, level).get(key[a] or 0) for a, level in places),
                answer.expected,
                answer.least,
                answer.most,
            )
            for key, answer in found.items()
            if OUTSIDE not in key
        ]
        if not asked and not cells:
            cells = [CountedCell((), Fraction(0), 0, 0)]
        cells.sort(key=lambda cell: [(label is None, label or "") for label in cell.values])
        return BoundedCount(tuple(asked), tuple(cells), tight)

    def count(self, where: Wanted) -> CountedCell:
        """How many rows have these labels: column -> a label, or several."""
        return self.query([], where).cells[0]

    def _question(self, asked: Sequence[str], wanted: Mapping[str, set[Label]]) -> CountQuestion:
        """Columns and conditions as numbers; one error names all unknown columns."""
        named = [*asked, *(name for name in wanted if name not in asked)]
        raise_all(
            [
                UsageError(
                    "unknown_column",
                    f'{self.name} publishes no column "{name}"',
                    hint=did_you_mean(name, self._named),
                )
                for name in named
                if name not in self._named
            ]
        )
        at = [0] * len(self.domain.paths)
        classes: list[Mapping[int, int] | None] = [None] * len(self.domain.paths)
        for name in named:
            a, level = self._named[name]
            if classes[a] is not None:
                problem = f"{self._attributes.names[a]} is named twice"
                raise UsageError("asked_twice", problem, hint="Name each column once, at one level.")
            # the numbers cover the published levels only
            used = sorted({m[a] for m in self.tables.maximal} - {0})
            at[a] = used.index(self._attributes.finest[a] - level) + 1
            known = self._labels_of(a, level)
            shown = sorted({label for label in known.values() if label is not None})
            strange = sorted(
                label for label in wanted.get(name, ()) if label is not None and label not in shown
            )
            if strange:
                problem = f'no published table shows "{strange[0]}" in {name}'
                raise UsageError("unknown_value", problem, hint=did_you_mean(strange[0], shown))
            classes[a] = {
                node: OUTSIDE
                if name in wanted and known.get(node) not in wanted[name]
                else (node if name in asked else INSIDE)
                for node in {path[at[a]] for path in self.domain.paths[a]}
            }
        return CountQuestion(tuple(at), classes)

    def _labels_of(self, a: int, level: int) -> Mapping[int, Label]:
        column = "s" if a == self._attributes.sensitive else f"{self._attributes.aliases[a]}_{level}"
        return self.labels[column]

    @cached_property
    def independences(self) -> tuple[str, ...]:
        """What the maximum-entropy table assumes beyond the published counts, a sentence each."""
        if self.decomposable:
            # per published table after the first: independent of those before, given what they share
            told, tree = [], junction_tree(self.tables.maximal)
            for place, branch in enumerate(tree[1:], start=1):
                before = finest([earlier.clique for earlier in tree[:place]])
                given = self._beyond(branch.separator, (0,) * len(before))
                own = self._beyond(branch.clique, branch.separator)
                others = self._beyond(before, branch.separator)
                start = f"Given {listed(given)}, " if given else "Whatever else is known, "
                verb = "says" if len(own) == 1 else "say"
                told.append(f"{start}{listed(own)} {verb} nothing about {listed(others)}.")
            return tuple(told)
        pairs = [
            (one, other)
            for b, other in enumerate(self.columns)
            for a, one in enumerate(self.columns[:b])
            if not any(m[a] and m[b] for m in self.tables.maximal)
        ]
        return (
            *(f"Given all other columns, {one} and {other} are independent." for one, other in pairs),
            "Columns are associated only as the published tables show.",
        )

    def _beyond(self, these: Resolutions, those: Resolutions) -> list[str]:
        """The columns that this table shows finer than the others, by their names in the files."""
        names = {place: name for name, place in reversed(self._named.items())}
        return [
            names[a, self._attributes.finest[a] - r]
            for a, (r, other) in enumerate(zip(these, those, strict=True))
            if r > other
        ]

    def sql(self, relations: Sequence[str] | None = None, dialect: str = "duckdb") -> str:
        """The maximum-entropy table as one SELECT over the published tables, to run next to the files.

        `relations` are their names in the engine, if not the files. Only decomposable collections have this
        closed form; `to_pandas` fits the others.
        """
        shown = list(relations or ())
        for place in () if shown else self.places:
            if isinstance(place, str):
                shown.append(place)
            elif files.kind_of(place) == "parquet":
                shown.append(Sql(f"read_parquet({literal(place.name)})"))
            else:
                shown.append(Sql(f"read_csv({literal(place.name)}, all_varchar = true)"))
        return maximum_entropy(self._attributes, self.tables.published, shown).text(dialect)

    def to_pandas(self) -> pd.DataFrame:
        """The maximum-entropy table: every combination that may have rows, with the expected number."""
        import pandas as pd

        if self.decomposable:
            query = maximum_entropy(self._attributes, self.tables.published, self.copies)
            found = pd.DataFrame(self.tables.base.engine.fetch(query))
            finest_names = self._beyond(finest(self.tables.published), (0,) * len(self.columns))
            return found[[*finest_names, EXPECTED]].set_axis([*self.columns, EXPECTED], axis=1)
        rows = [
            (*self._row(cell).values(), float(expected))
            for cell, expected in sorted(expectations(self.domain, self.counts).items())
        ]
        return pd.DataFrame(rows, columns=[*self.columns, EXPECTED])

    def sample(self, n: int, seed: int | None = None) -> list[dict[str, str | bool | None]]:
        """`n` rows drawn from the maximum-entropy table, each marked as invented; they are about nobody."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise UsageError("bad_argument", "n must be a whole number, 0 or more")
        chance = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
        mark = MARK
        while mark in self.columns:
            mark += "_row"
        if self.decomposable:
            cells = drawn(self.domain, junction_tree(list(self.counts)), self.counts, n, chance)
        else:
            fitted = expectations(self.domain, self.counts)
            weights = np.array([float(expected) for expected in fitted.values()])
            known = list(fitted)
            cells = [known[i] for i in chance.choice(len(known), size=n, p=weights / weights.sum())]
        return [{mark: True, **self._row(cell)} for cell in cells]

    def _row(self, cell: Cell) -> dict[str, Label]:
        """The labels of a cell, each column at its finest published level."""
        return {name: self._labels_of(*self._named[name]).get(cell[a]) for a, name in enumerate(self.columns)}


def reconstruct(path: str | Path, engine: Engine | None = None) -> Reconstruction:
    """Published marginals as a recipient sees them, from their manifest or any one of their files.

    The files are verified before and after they are read. Tables need the `engine` that holds them.
    """
    files.refuse_no_path(path, "what to reconstruct")
    place, content = verifying.found(path, engine)
    verifying.verified(path, engine)
    method = registry.known("methods", content.method)
    if method is None or method.publishes_rows:
        raise UsageError(
            "no_marginals",
            f"{content.release} was published by {content.method}, not as marginals",
            hint="Only marginals need it; count the rows of other releases.",
        )
    places = files.places(content, place.parent)
    session = (engine or connect()).session([each for each in places if isinstance(each, Path)])
    attributes, published = _collection(content)
    if len(places) != len(published):
        raise _not_ours(place)
    copies = []
    for each, marginal in zip(places, published, strict=True):
        shown = [*published_columns(attributes, published, marginal), COUNT]
        relation = session.source(each)
        if set(shown) - set(session.columns(relation)):
            raise _not_ours(place)
        copies.append(session.create(render("counted/listed.sql", relation=relation, columns=shown)))
    if verifying.verified(path, engine) != content:
        raise NotSafe("output_changed", f"{place.name} changed while it was being read", hint="Run it again.")
    table = Table(places[0], [name for a, name in enumerate(attributes.names) if a != attributes.sensitive])
    meant = MarginalTables(PublishedRows(session, table, 0, {}), attributes, published, {}, 0)
    tables = read(session, {str(n): copy for n, copy in enumerate(copies)}, meant)
    domain, counts = tables.numbers()
    if any(n < 0 for cells in counts.values() for n in cells.values()):
        raise _not_ours(place)
    assert isinstance(tables.base, PublishedRows)
    labels = {
        column: {
            row["code"]: row["label"]
            for row in session.fetch(
                render("counted/listed.sql", relation=relation, columns=["code", "label"])
            )
        }
        for column, relation in tables.base.labels.items()
    }
    return Reconstruction(content.release, tables, domain, counts, labels, tuple(copies), places)


def _collection(content: Manifest) -> tuple[Attributes, tuple[Resolutions, ...]]:
    """The columns that the marginals of a manifest show, and their levels."""
    levels = [dict(marginal) for marginal in content.choice["marginals"]]
    names = list(dict.fromkeys(name for marginal in levels for name in marginal))
    # with several sensitive columns, it does not matter here which one has that role
    sensitive = [name for name in names if content.roles.get(name) == "sensitive"][:1]
    names = [*(name for name in names if name not in sensitive), *sensitive]
    attributes = Attributes(
        tuple(names),
        (*(f"q{n}" for n in range(1, len(names) - len(sensitive) + 1)), *("s" for _ in sensitive)),
        # one above the coarsest published level; everything from there on says nothing
        tuple(1 + max(int(marginal.get(name, 0)) for marginal in levels) for name in names),
        len(names) - 1 if sensitive else None,
    )
    # a column that is left out is at its top; one at level 0 is not
    full = [{name: attributes.finest[a] for a, name in enumerate(names)} | marginal for marginal in levels]
    return attributes, tuple(attributes.resolutions(marginal) for marginal in full)


def _not_ours(place: Path) -> NotSafe:
    hint = "It was not written by privacy_sql."
    return NotSafe("output_changed", f"{place.name} does not describe these tables", hint=hint)
