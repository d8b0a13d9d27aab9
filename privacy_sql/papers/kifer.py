"""Kifer & Gehrke 2006, Sec. 8: anonymized marginals of Adult (45,222 rows, occupation sensitive).

Age raw, in 5, 10 and 20 years; marital status in two groups; race and sex kept or left out. Safe means 6-link
anonymous and maxent (3, 6)-diverse. Leaves are the values of the table; divergences are in nats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from privacy_sql.counted.base import Base, count
from privacy_sql.criteria import Criterion
from privacy_sql.criteria.k_link import KLink
from privacy_sql.criteria.maxent_l_diversity import MaxentLDiversity
from privacy_sql.engines import Engine
from privacy_sql.hierarchies import Hierarchy, KeepOrDrop, Tree
from privacy_sql.kernels.marginals.junction_tree import Resolutions
from privacy_sql.marginals.search import MarginalSearch
from privacy_sql.papers import Figure, chosen
from privacy_sql.searches import Limits
from privacy_sql.searches.every_step import EveryStep
from privacy_sql.spaces.marginal_sets import Collection, MarginalSets
from privacy_sql.table import Table

PARTS = ("fig7", "fig8", "fig9", "more_levels", "eight")
REQUIRE: tuple[Criterion, ...] = (KLink(6), MaxentLDiversity(l=6, c=3))
AGE, MARITAL = "adult/age_5_10_20.csv", "arx/adult_hierarchy_marital-status.csv"
# the same, also with age in 40 years and three groups of marital status
MORE_AGE, MORE_MARITAL = "adult/age_5_10_20_40.csv", "adult/marital_status.csv"

NEIGHBOUR = {"Honduras": "Guatemala", "Southeastern-Europe": "Southern-Europe"}  # regions of 19 and 23 people
EIGHT = ((6, 3, 6), (25, 3, 6), (6, 3, 3), (10, 4, 4))  # k, c and l for eight columns
LEVELS = "A number after a column is its level: 1 for the finest intervals or groups of its hierarchy."
WHOLE = "workclass is not null and occupation is not null and native_country is not null"


def adult(data: Path, age: str = AGE, marital: str = MARITAL) -> Table:
    """Adult without rows with missing values, with the columns of Sec. 8."""
    files = data / "hierarchies"
    quasi = {
        "race": KeepOrDrop(),
        "sex": KeepOrDrop(),
        "age": Tree.from_file(files / age, "age"),
        "marital_status": Tree.from_file(files / marital, "marital_status"),
    }
    return Table(data / "adult.csv.gz", quasi, "occupation", where=WHOLE)


def eight_columns(data: Path) -> Table:
    """Adult's eight quasi-identifiers; countries in regions and continents (Fung, Wang and Yu's taxonomy)."""
    files = data / "hierarchies" / "adult"
    names = {"age": "age_5_10_20_40", **{name: name for name in ("workclass", "education", "marital_status")}}
    quasi: dict[str, Hierarchy] = {
        name: Tree.from_file(files / f"{file}.csv", name) for name, file in names.items()
    }
    quasi |= {name: KeepOrDrop() for name in ("relationship", "race", "sex")}
    # join regions of fewer than 25 people to a neighbour, or no 25-link anonymous marginal could show them
    lines = (files / "native_country_fung.csv").read_text(encoding="utf-8").split()
    paths = {country: above for country, *above in (line.split(";") for line in lines)}
    quasi["native_country"] = Tree(
        {country: [NEIGHBOUR.get(region, region), *above] for country, (region, *above) in paths.items()}
    )
    return Table(data / "adult.csv.gz", quasi, "occupation", where=WHOLE)


@dataclass
class CollectionStudy:
    """The collections of one table; answers are kept."""

    search: MarginalSearch

    @classmethod
    def of(cls, engine: Engine, table: Table) -> CollectionStudy:
        return cls(MarginalSearch(count(engine, table), REQUIRE))

    @cached_property
    def tables(self) -> dict[str, Resolutions]:
        """The minimal safe tables by the paper's letters: A has the most detail, C the least."""
        minimal = sorted(self.search.minimal_tables(), key=lambda table: self.search.kl([table]))
        return {chr(ord("A") + place): table for place, table in enumerate(minimal)}

    def best(self, space: MarginalSets) -> Collection:
        """The best safe collection of a space, by listing them all."""
        found = EveryStep().choose(space, self.search.safe, lambda collection: collection.kl)
        assert found.best is not None and found.optimal
        return found.best

    @cached_property
    def optimum(self) -> Collection:
        return self.best(self.search.space)

    def holding(self, table: Resolutions) -> Collection:
        """The best collection that contains a table."""
        return self.best(self.search.space.restricted(table))

    def shown(self, marginals: Sequence[Resolutions]) -> str:
        """Marginals as text: columns with their levels."""
        return " ".join(
            "{"
            + ",".join(f"{name}{level or ''}" for name, level in self.search.attributes.levels(m).items())
            + "}"
            for m in marginals
        )


def run(engine: Engine, data: Path, parts: Sequence[str] = ()) -> Iterator[Figure]:
    """The requested figures."""
    wanted = chosen(parts, PARTS)
    if set(wanted) - {"more_levels"}:
        study = CollectionStudy.of(engine, adult(data))
        makers = {"fig7": _fig_7, "fig8": _fig_8, "fig9": _fig_9}
        yield from (makers[part](study) for part in wanted if part in makers)
    if "more_levels" in wanted:
        study = CollectionStudy.of(engine, adult(data, MORE_AGE, MORE_MARITAL))
        bars = [("opt", study.optimum.kl, study.search.space.marginals(study.optimum))]
        title = "The best collection with more levels of age and marital status"
        yield _bars(study, "more_levels", title, bars)
    if "eight" in wanted:
        yield _eight(count(engine, eight_columns(data)))


def _fig_7(study: CollectionStudy) -> Figure:
    search = study.search
    sensitive = search.attributes.resolutions({search.attributes.names[-1]: 0})
    bars = [("0", search.kl([sensitive]), [sensitive])]
    bars += [(letter, search.kl([table]), [table]) for letter, table in study.tables.items()]
    bars.append(("opt", study.optimum.kl, search.space.marginals(study.optimum)))
    return _bars(study, "fig7", "Fig. 7: divergence of anonymized tables", bars)


def _fig_8(study: CollectionStudy) -> Figure:
    marginals = study.search.space.marginals
    best = {f"{letter}+": study.holding(table) for letter, table in study.tables.items()}
    bars = [(name, found.kl, marginals(found)) for name, found in best.items()]
    bars.append(("opt", study.optimum.kl, marginals(study.optimum)))
    return _bars(study, "fig8", "Fig. 8: divergence of the best collections that hold a table", bars)


def _fig_9(study: CollectionStudy) -> Figure:
    letter, table = list(study.tables.items())[-1]
    rows = [(0, letter, study.search.kl([table]), study.shown([table]))]
    for place, (column, kl) in enumerate(study.search.incremental(table), start=1):
        rows.append((place, f"{letter}{place}", kl, f"and {column}"))
    best = study.holding(table)
    note = f"The best collection that holds the table: {best.kl:.5f}."
    return Figure(
        "fig9",
        "Fig. 9: single-column marginals added one by one",
        ("added", "bar", "kl", "collection"),
        tuple(rows),
        x="added",
        y="kl",
        note=note,
    )


def _eight(base: Base) -> Figure:
    """The best collections found over eight columns, where there are too many to list."""
    rows = []
    for k, c, ell in EIGHT:
        study = CollectionStudy(MarginalSearch(base, (KLink(k), MaxentLDiversity(l=ell, c=c))))
        search = study.search
        found = search.best(10, 0, np.random.default_rng(0), Limits()).best
        assert found is not None
        rows.append((k, c, ell, found.kl, study.shown(search.space.marginals(found))))
    title = "Eight columns: the best collections that a beam and annealing meet"
    return Figure("eight", title, ("k", "c", "l", "kl", "collection"), tuple(rows), note=LEVELS)


def _bars(
    study: CollectionStudy, name: str, title: str, bars: Sequence[tuple[str, float, list[Resolutions]]]
) -> Figure:
    nothing = study.search.space.collection([]).kl
    rows = tuple((bar, kl, study.shown(marginals)) for bar, kl, marginals in bars)
    note = f"Nothing published: {nothing:.5f}. {LEVELS}"
    return Figure(name, title, ("bar", "kl", "collection"), rows, note=note)
