"""Overlapping samples of a table, each published on its own: the target of the attacks in ganta2008."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.api import publish
from privacy_sql.attacks.intersection import intersection_attack
from privacy_sql.attacks.intersection_summary import Findings
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion
from privacy_sql.criteria.k_anonymity import KAnonymity
from privacy_sql.engines import Engine
from privacy_sql.methods.microaggregate import Microaggregate
from privacy_sql.methods.multidimensional import Multidimensional
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.release import Release
from privacy_sql.table import Table

if TYPE_CHECKING:
    import pandas as pd

    pass

OVERLAP = 5000
LEVELS = (Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 10))
# columns beside those of the source: the person, their group, and the person again for the attack's answer
WHO, GROUP, NAMED = "who", "group", "named"
NOT_APPLICABLE = "not applicable"

Array = NDArray[Any]


@dataclass(frozen=True)
class Source:
    """A table of the paper: its file, the known columns, the sensitive column, and which rows count."""

    file: str
    quasi: tuple[str, ...]
    sensitive: str
    where: str


SOURCES = {
    "adult": Source(
        "adult.csv.gz",
        ("age", "workclass", "education", "marital_status", "race", "sex", "native_country"),
        "occupation",
        "part == 'train' and workclass.notna() and occupation.notna() and native_country.notna()",
    ),
    "ipums": Source(
        "ipums_la_small.csv.gz",
        ("age", "classwkg", "educrec", "marst", "raceg", "sex", "bplg"),
        "occ1950",
        "census_year.notna()",
    ),
    "acs": Source(
        "acs2018_small_states.csv.gz",
        ("age", "work_class", "education", "marital_status", "race", "sex", "birthplace"),
        "occupation",
        "occupation.notna()",
    ),
}


class PaperPeople:
    """A table of the paper, one row per person; "not applicable" is a value, as in the paper."""

    def __init__(self, engine: Engine, data: Path, name: str) -> None:
        import pandas as pd

        self.engine, self.name, self.source = engine, name, SOURCES[name]
        self.quasi = list(self.source.quasi)
        read = pd.read_csv(data / self.source.file, dtype=str, keep_default_na=False, na_values=[""])
        counted = read.query(self.source.where, engine="python")[[*self.quasi, self.source.sensitive]]
        self.rows = counted.fillna(NOT_APPLICABLE).reset_index(drop=True)
        self.rows[WHO] = self.rows.index

    @cached_property
    def values(self) -> Array:
        """The code of each person's sensitive value."""
        return np.unique(self.rows[self.source.sensitive].to_numpy(str), return_inverse=True)[1]

    @cached_property
    def shares(self) -> Array:
        """How common each sensitive value is."""
        return np.asarray(np.bincount(self.values) / len(self.values))

    def halves(self, generator: np.random.Generator) -> tuple[Array, Array, Array]:
        """Two samples, each of half the table, and the people in both."""
        order = generator.permutation(len(self.rows))
        half = len(order) // 2
        shared = order[:OVERLAP]
        return order[:half], np.append(shared, order[half : 2 * half - OVERLAP]), shared


class Pair:
    """Two overlapping samples of a table that can be published and attacked repeatedly."""

    def __init__(self, people: PaperPeople, seed: int) -> None:
        self.people, self.seed = people, seed
        self.first, self.second, self.shared = people.halves(np.random.default_rng(seed))
        self._boxed: dict[tuple[Any, ...], Release] = {}
        self._centred: dict[tuple[int, int], pd.DataFrame] = {}

    def attacked(self, methods: tuple[str, str], k: int, more: Sequence[Criterion] = ()) -> Findings:
        """The attack on both samples, each published by its method under k-anonymity and `more`."""
        releases = [self.published(which, method, k, more) for which, method in enumerate(methods)]
        # what the adversary knows about the people in both samples
        rows = self.people.rows.iloc[self.shared]
        quasi = [*self.people.quasi, *([WHO] if "mdav" in methods else [])]
        known = rows[[*self.people.quasi, WHO]].assign(**{NAMED: rows[WHO]})
        return intersection_attack(
            self.people.engine,
            releases,
            Table(known, quasi, identifier=NAMED, name="people in both samples"),
            LEVELS,
        )

    def published(
        self, which: int, method: str, k: int, more: Sequence[Criterion] = ()
    ) -> Release | Mapping[str, Any]:
        """One sample as an adversary gets it; with `mdav nearest` the nearest centroid locates people."""
        if method != "mondrian":
            # people are located by the nearest centre, or taken to be located, by group name
            nearest = " " in method
            return {
                "name": "mdav",
                "relation": self.centres(which, k),
                "sensitive": self.people.source.sensitive,
                "group": GROUP,
                "columns": self.people.quasi if nearest else [WHO],
                "locate": "centroid" if nearest else "exact",
            }
        key = (which, k, *map(str, more))
        if key not in self._boxed:
            people, rows = self.people, (self.first, self.second)[which]
            sample = people.rows.iloc[rows][[*people.quasi, people.source.sensitive]]
            table = Table(sample, people.quasi, people.source.sensitive, name="mondrian")
            self._boxed[key] = publish(people.engine, table, [KAnonymity(k), *more], Multidimensional())
        return self._boxed[key]

    def centres(self, which: int, k: int) -> pd.DataFrame:
        """The centres of one sample, with the group of every row."""
        if (which, k) not in self._centred:
            people = self.people
            table = Table(
                people.rows.iloc[(self.first, self.second)[which]],
                people.quasi,
                people.source.sensitive,
                insensitive={"columns": [WHO], "acknowledge": "never written"},
                name="mdav",
            )
            dealt = Microaggregate(k, seed=self.seed).as_dealt(count(people.engine, table))
            grouping = dealt.grouping.one_table
            assert grouping is not None
            placed = names([grouping.base.others[WHO], "g"])
            groups = _frame(grouping, render("counted/listed.sql", relation=grouping.rows, columns=placed))
            shown = _frame(grouping, dealt.view)
            self._centred[which, k] = shown.merge(groups.set_axis([WHO, GROUP], axis=1), on=WHO).astype(
                {WHO: int}
            )
        return self._centred[which, k]

    def rightly_located(self, found: Findings, methods: tuple[str, str], k: int) -> tuple[float, float]:
        """Percentages: people whose own group is among the nearest, and those for whom chance picks it."""
        told = {int(person.id): person.candidates for person in found.people()}
        own = [
            (truth[who], told[who][which])
            for which, _ in enumerate(methods)
            for truth in [self.centres(which, k).set_index(WHO)[GROUP].to_dict()]
            for who in self.shared.tolist()
        ]
        among = [group in groups for group, groups in own]
        picked = [(group in groups) / max(len(groups), 1) for group, groups in own]
        return 100 * float(np.mean(among)), 100 * float(np.mean(picked))


def _frame(grouping: Grouping, query: Query) -> pd.DataFrame:
    import pandas as pd

    home = grouping.base.engine
    columns = home.columns(home.create(query, view=True))
    return pd.DataFrame(home.fetch(query), columns=[str(Sql(name)) for name in columns])
