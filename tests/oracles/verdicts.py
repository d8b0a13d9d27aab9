"""What every requirement means, asked of published rows by the slow oracles: safe or not.

The rows come as their reader sees them, (label of the group, sensitive value). `known` is what some
requirements need beside them: the population's labels, or what the adversary knows of each person.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.oracles import background_knowledge, classical, intersection_attack, worst_case
from tests.oracles.population import extreme_shares, fewest_fitting
from tests.oracles.skyline import Oracle
from tests.parts import own_test

Label = Hashable


@dataclass(frozen=True)
class Known:
    """What a requirement may need that is not among the published rows."""

    population: Sequence[Label] = ()  # labels everybody of the population would have
    people: Sequence[tuple[Label, tuple[int, ...], Hashable]] = ()  # label, codes and value of each person
    distances: Sequence[Any] = ()  # between the codes, one matrix per attribute
    other: Any = None  # an earlier release, in words of the intersection attack
    paths: Any = field(default_factory=dict)  # from each sensitive value up its hierarchy
    together: Sequence[Sequence[int]] | None = None  # who of the people lies in each published group


def keeps(criterion: Any, rows: classical.Rows, known: Known | None = None) -> bool:
    """Whether the published rows keep the requirement."""
    if not rows:
        return False
    meaning = _MEANING.get(criterion.name) or own_test("criteria", criterion.name).keeps
    return meaning(criterion, list(rows), known or Known())


def number(value: Any) -> Fraction:
    return Fraction(str(value))


def groups(rows: classical.Rows) -> list[Counter[Hashable]]:
    return classical.histograms(rows)


def _l_diversity(asked: Any, rows: Any, _: Known) -> bool:
    if asked.kind == "recursive":
        return classical.recursive_l_diversity(rows, number(asked.c), asked.l, asked.strict).safe
    measure = {
        "distinct": classical.distinct_l_diversity,
        "entropy": classical.entropy_l_diversity,
        "probabilistic": classical.probabilistic_l_diversity,
    }
    return measure[asked.kind](rows, number(asked.l)).safe


def _t_closeness(asked: Any, rows: Any, known: Known) -> bool:
    if asked.distance == "ordered":
        rows = [(label, Fraction(str(value))) for label, value in rows]
        apart = classical.ordered_distance([value for _, value in rows])
    elif asked.distance == "hierarchical":
        apart = classical.hierarchical_distance(known.paths)
    else:
        apart = classical.equal_distance
    return classical.t_closeness(rows, number(asked.t), apart).safe


def _beta(asked: Any, rows: Any, _: Known) -> bool:
    kinds = {"basic": classical.basic_beta_likeness, "enhanced": classical.enhanced_beta_likeness}
    return kinds[asked.kind](rows, number(asked.beta)).safe


def _ck_safety(asked: Any, rows: Any, _: Known) -> bool:
    values = sorted({value for _, value in rows}, key=str)
    counts = [[group[value] for value in values] for group in groups(rows)]
    if not asked.per_value:
        return worst_case.recursion_of_the_paper(counts, asked.k) < number(asked.c)
    worlds = worst_case.tables(counts)
    rest = [place for place, value in enumerate(values) if str(value) not in asked.per_value]
    parts = [(rest, {"c": asked.c, "k": asked.k})]
    parts += [([n], asked.per_value[str(v)]) for n, v in enumerate(values) if n not in rest]
    return all(
        worst_case.one_consequent(worlds, limit["k"], guessed) < number(limit["c"])
        for guessed, limit in parts
    )


def _skyline(asked: Any, rows: Any, _: Known) -> bool:
    named = [(group.total(), {str(value): n for value, n in group.items()}) for group in groups(rows)]
    worlds = Oracle(named, "one")
    return all(
        worlds.breach(value, *map(int, amounts)) < number(limit)
        for *amounts, limit in asked.points
        for value in worlds.values
    )


def _bt_privacy(asked: Any, rows: Any, known: Known) -> bool:
    values = sorted({value for _, _, value in known.people}, key=str)
    labels = sorted({label for label, _, _ in known.people}, key=str)
    members = known.together
    if members is None:
        members = [[i for i, (label, _, _) in enumerate(known.people) if label == own] for own in labels]
    codes = [code for _, code, _ in known.people]
    own = [values.index(value) for _, _, value in known.people]
    for bandwidth, limit in asked.skyline:
        widths = [math.inf if bandwidth == "inf" else number(bandwidth)] * len(known.distances)
        risks = background_knowledge.group_risks(codes, own, len(values), known.distances, members, widths)
        if max(risks) > float(number(limit)) - 1e-9:
            return False
    return True


def _composition(asked: Any, rows: Any, known: Known) -> bool:
    shown = [
        {"id": str(label), "qi": [{"who": label}], "sensitive": [v for other, v in rows if other == label]}
        for label in dict.fromkeys(label for label, _ in rows)
    ]
    own = {"locate": "exact", "groups": shown}
    people = [{"id": i, "qi": {"who": label}} for i, (label, _, _) in enumerate(known.people)]
    level = number(asked.at)
    found = intersection_attack.attack([own, known.other], people, [level])["aggregate"]
    return bool(found["n_ok"]) and found["PVP"][level] / 100 <= number(asked.max_exposed)


def _presence(asked: Any, rows: Any, known: Known) -> bool:
    least, most = extreme_shares([(label,) for label, _ in rows], [(label,) for label in known.population])
    return number(asked.low) <= least and most <= number(asked.high)


def _largest_group(asked: Any, rows: Any, _: Known) -> bool:
    """One table is a collection of one marginal: everybody of a group is one of its cell."""
    return classical.k_anonymity(rows, asked.k).safe


def _maxent(asked: Any, rows: Any, _: Known) -> bool:
    """Within a cell of one table the maximum-entropy estimate is its own histogram."""
    if asked.kind == "recursive":
        return classical.recursive_l_diversity(rows, number(asked.c), asked.l, strict=False).safe
    if asked.kind == "relaxed":
        least = 1 - number(asked.epsilon)
        return all(
            sum(n >= least * max(group.values()) for n in group.values() if n) >= asked.l
            for group in groups(rows)
        )
    kinds = {"distinct": classical.distinct_l_diversity, "entropy": classical.entropy_l_diversity}
    return kinds[asked.kind](rows, number(asked.l)).safe


_MEANING: dict[str, Callable[[Any, Any, Known], bool]] = {
    "k_anonymity": lambda asked, rows, _: classical.k_anonymity(rows, asked.k).safe,
    "l_diversity": _l_diversity,
    "t_closeness": _t_closeness,
    "alpha_k_anonymity": lambda asked, rows, _: (
        classical.alpha_k_anonymity(rows, number(asked.alpha), asked.k).safe
    ),
    "beta_likeness": _beta,
    "delta_disclosure": lambda asked, rows, _: classical.delta_disclosure(rows, number(asked.delta)).safe,
    "k_map": lambda asked, rows, known: (
        fewest_fitting([(label,) for label, _ in rows], [(label,) for label in known.population]) >= asked.k
    ),
    "delta_presence": _presence,
    "ck_safety": _ck_safety,
    "privacy_skyline": _skyline,
    "bt_privacy": _bt_privacy,
    "composition": _composition,
    "k_link": _largest_group,
    "k_combinatorial": _largest_group,
    "maxent_l_diversity": _maxent,
}
