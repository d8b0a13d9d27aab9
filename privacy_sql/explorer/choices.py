"""What one choice shows, for several screens: the groups of each sensitive column, and words for labels."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from privacy_sql import registry
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.explorer.asking import Json
from privacy_sql.explorer.counted import CountedPlan
from privacy_sql.explorer.decision import Decision
from privacy_sql.hierarchies.base import text_of
from privacy_sql.judge import Requirements
from privacy_sql.lattice.costs import Shown
from privacy_sql.lattice.search import LatticeSearch, lacking
from privacy_sql.methods import grouped_at
from privacy_sql.publishing.baseline import guess
from privacy_sql.spaces.lattice import Choice
from privacy_sql.studies._people_by_risk import Risks, of_grouping, of_groups
from privacy_sql.utilities import Utility
from privacy_sql.verdict import Verdict, exact_text, finite


def sides(counted: CountedPlan, choice: Choice) -> Iterator[tuple[LatticeSearch, Shown]]:
    """What a choice publishes, once for each sensitive column (once where there is none)."""
    search = counted.search
    shown = search.shown(choice)  # suppressed for one column, suppressed for all
    for side in (search, *search.sides):
        yield side, side.valued(shown if side is search else side.shown(choice))


def risks(shown: Shown, facts: int) -> Risks:
    """People by how well they can be guessed, and by the size of their group."""
    held = shown.in_memory
    return of_grouping(shown.grouping, facts) if held is None else of_groups(held.of, facts)


def looking_alike(shown: Shown) -> tuple[int, int]:
    """The people of the smallest group, and the size of group that half of the people reach; 0 for nobody."""
    if shown.in_memory is not None:
        groups = Counter(shown.in_memory.of.people.tolist())
    else:
        groups = Counter[int]()
        for people, _, alike in guess(shown.grouping).groups:
            groups[people] += alike
    everybody, in_smaller, half = sum(size * n for size, n in groups.items()), 0, 0
    for size in sorted(groups):
        if 2 * in_smaller <= everybody:
            half = size  # at least half of the people are in groups of this size or larger
        in_smaller += size * groups[size]
    return min(groups, default=0), half


def counts(decision: Decision) -> Base:
    """The counted table; what is made of it goes when nobody holds it any more."""
    base = decision.counted.base
    return replace(base.beside(), sides=tuple(side.beside() for side in base.sides))


def groupings(
    decision: Decision, levels: Mapping[str, int] | None = None, *, everybody: bool = False
) -> list[Grouping]:
    """The groups of a choice as relations, as `run` judges them, once for each sensitive column."""
    plan = decision.plan
    base = counts(decision)
    at = decision.levels if levels is None else levels
    asked = Requirements.of(plan.table, plan.require)
    grouping, _ = grouped_at(base, at, asked, Fraction(0) if everybody else decision.counted.method.allowed)
    return list(grouping.of_each_column())


def source(search: LatticeSearch) -> Shown:
    """The table as it stands, nobody left out, for one sensitive column."""
    choice = (0,) * len(search.lattice.top)
    return search.valued(Shown(choice, search._seen([choice])[0]))


def utilities(search: LatticeSearch, shown: Shown) -> list[Json]:
    """Every utility by its name, for a choice and for the table as it stands; less is better."""
    pricing = search.pricing
    before = source(search)
    measures = {utility.name: utility for utility in pricing.measures}
    found: list[Json] = []
    for name in registry.available("utilities"):
        utility = measures.get(name)
        if utility is None:
            needs = lacking(registry.get("utilities", name)(), search.base.table, search.require)
            why = f"needs {needs}" if needs else "takes long, and is measured only if it is minimised"
            found.append({"name": name, "about": _about(name), "why_not": why})
            continue
        found.append(
            {
                "name": name,
                "about": _about(name),
                "value": finite(utility.shown(pricing.priced(utility, shown.choice))),
                "source": finite(utility.shown(pricing.costs.cost(utility, before))),
            }
        )
    return found


def _about(name: str) -> str:
    """What a utility measures, in the sentence its file begins with.

    >>> _about("height")
    'Generalisation height: the number of steps taken up the hierarchies.'
    """
    kind: type[Utility] = registry.get("utilities", name)
    return (sys.modules[kind.__module__].__doc__ or "").partition("\n")[0]


def verdict_told(verdict: Verdict) -> dict[str, Json]:
    """A verdict for the page, with its story."""
    return {
        "requirement": verdict.requirement,
        "safe": verdict.safe,
        "value": exact_text(verdict.value) if verdict.exact else None,
        "value_float": finite(verdict.value),
        "limit": exact_text(verdict.limit),
        "story": verdict.story,
        "notes": list(verdict.notes),
    }


@dataclass
class LabelWords:
    """Labels of columns in words: those of a hierarchy; values that stand as they are, only `aloud`."""

    base: Base
    aloud: bool
    _known: dict[tuple[str, int, int], str | None] = field(default_factory=dict)

    def label(self, column: str, level: int, code: int) -> str | None:
        """The label of a column at a level; None where it is a value, and values are not to be shown."""
        if not self.told(column, level):
            return None
        key = (column, level, code)
        if key not in self._known:
            found = self.base.label(self.base.aliases[column], level, code)
            self._known[key] = None if found is None else text_of(found)
        return self._known[key]

    def told(self, column: str, level: int) -> bool:
        """Whether the labels of a level may be said: those above the values themselves."""
        return self.aloud or level > 0
