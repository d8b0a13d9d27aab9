"""The frontier of risk against utility: what each step of risk buys.

kifer2006, Sec. 3.1, and martin2007, Sec. 3.4: the choices a search asked about, those left out that another
one beats in every risk and in cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isfinite
from typing import Any

from privacy_sql.lattice.search import LatticeSearch
from privacy_sql.spaces.lattice import Choice
from privacy_sql.verdict import Verdict, finite

# choices that are asked about everything and priced; a search asks about the telling ones first
MOST_PLACED = 200


def frontier(search: LatticeSearch, *, finished: bool = True) -> list[dict[str, Any]]:
    """The asked choices that no other one beats in every risk and in cost, the cheapest first.

    A choice shows what could be published of it: without its failing groups as far as they may be suppressed,
    else with all of them, and not safe. A search that was not `finished` is asked nothing more.
    """
    asked = list(search.tried)[:MOST_PLACED]
    if finished:
        search.complete(asked)
    placed = list(_placed(search, asked, finished))
    return [
        {
            "levels": search.rollup.named(choice),
            "cost": score[0],
            "risks": {requirement: finite(verdict.value) for requirement, verdict in verdicts.items()},
            "safe": all(verdict.safe for verdict in verdicts.values()),
            **({"suppressed": search.shown(choice).n_suppressed} if search.allowed and finished else {}),
        }
        for score, choice, verdicts in sorted(placed, key=lambda point: (point[0][0], point[1]))
        if not any(_dominates(other, score) for other, _, _ in placed)
    ]


def _placed(
    search: LatticeSearch, choices: Sequence[Choice], finished: bool
) -> Iterator[tuple[tuple[float, ...], Choice, dict[str, Verdict]]]:
    """Cost and risks of the choices about which everything was asked."""
    wanted = len(search.require) * (1 + len(search.sides))
    for choice in choices:
        verdicts = search.asked(choice)
        if len(verdicts) < wanted or not (finished or search.pricing.labels_tell):
            continue
        cost = search.pricing.priced(search.pricing.utility, choice)
        if isfinite(cost):
            yield (cost, *map(_danger, verdicts.values())), choice, verdicts


def _danger(verdict: Verdict) -> float:
    """A risk as a number that grows with it; one without a value is beyond all others."""
    if verdict.value is None:
        return inf
    return -float(verdict.value) if verdict.relation.startswith(">") else float(verdict.value)


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
