"""The classical criteria by brute force from their definitions, on a list of (group, sensitive value) rows.

Every function returns what the criterion measures, and whether that is within the limit. Counts stay integers
and shares stay fractions; transport is solved as a minimum-cost flow rather than by any closed formula. A
value of None is unbounded or undefined, and never safe.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import networkx as nx

Rows = Sequence[tuple[Hashable, Hashable]]
Measure = Fraction | Decimal | None

TOO_CLOSE = Decimal("1e-9")


class Outcome(NamedTuple):
    value: Measure
    safe: bool


NOTHING = Outcome(None, False)


def histograms(rows: Rows) -> list[Counter[Hashable]]:
    """How often each sensitive value occurs in each group."""
    found: dict[Hashable, Counter[Hashable]] = {}
    for group, value in rows:
        found.setdefault(group, Counter())[value] += 1
    return list(found.values())


def shares(counts: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    return {value: Fraction(n, sum(counts.values())) for value, n in counts.items()}


def overall(rows: Rows) -> dict[Hashable, Fraction]:
    return shares(Counter(value for _, value in rows))


def natural_log(ratio: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def k_anonymity(rows: Rows, k: int) -> Outcome:
    if not rows:
        return NOTHING
    smallest = min(sum(counts.values()) for counts in histograms(rows))
    return Outcome(Fraction(smallest), smallest >= k)


def distinct_l_diversity(rows: Rows, ell: Fraction) -> Outcome:
    if not rows:
        return NOTHING
    fewest = min(len(counts) for counts in histograms(rows))
    return Outcome(Fraction(fewest), fewest >= ell)


def entropy_l_diversity(rows: Rows, ell: Fraction) -> Outcome:
    """exp(H) >= l in every group, with both sides raised to the power n: integers only."""
    if not rows:
        return NOTHING
    safe = True
    for counts in histograms(rows):
        n = sum(counts.values())
        right = ell**n
        for n_value in counts.values():
            right *= n_value**n_value
        safe = safe and n**n >= right
    return Outcome(min(exponential_of_entropy(counts) for counts in histograms(rows)), safe)


def exponential_of_entropy(counts: Mapping[Hashable, int]) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        entropy = sum(
            (-natural_log(share) * share.numerator / share.denominator for share in shares(counts).values()),
            start=Decimal(0),
        )
        return entropy.exp()


def recursive_l_diversity(rows: Rows, c: Fraction, ell: int, strict: bool = True) -> Outcome:
    if not rows:
        return NOTHING
    needed: list[Fraction] = []
    for counts in histograms(rows):
        ordered = sorted(counts.values(), reverse=True)
        tail = sum(ordered[ell - 1 :])
        if tail == 0:
            return NOTHING
        needed.append(Fraction(ordered[0], tail))
    return Outcome(max(needed), max(needed) < c or (not strict and max(needed) == c))


def probabilistic_l_diversity(rows: Rows, ell: Fraction) -> Outcome:
    if not rows:
        return NOTHING
    largest = max(share for counts in histograms(rows) for share in shares(counts).values())
    return Outcome(largest, largest <= 1 / ell)


def alpha_k_anonymity(
    rows: Rows, alpha: Fraction, k: int, values: Sequence[Hashable] | None = None
) -> Outcome:
    """The largest share of one of `values` (every value when None), and whether both limits hold."""
    if not rows:
        return NOTHING
    watched = [
        share
        for counts in histograms(rows)
        for value, share in shares(counts).items()
        if values is None or value in values
    ]
    largest = max(watched, default=Fraction(0))
    return Outcome(largest, largest <= alpha and k_anonymity(rows, k).safe)


def basic_beta_likeness(rows: Rows, beta: Fraction) -> Outcome:
    if not rows:
        return NOTHING
    largest = max(gain for gain, _ in gains(rows))
    return Outcome(largest, largest <= beta)


def enhanced_beta_likeness(rows: Rows, beta: Fraction) -> Outcome:
    """The largest gain over its own bound min(beta, -ln overall share); at overall share 1 both are 0."""
    if not rows:
        return NOTHING
    largest = Decimal(0)
    for gain, share in gains(rows):
        limit = Decimal(beta.numerator) / Decimal(beta.denominator)
        bound = min(limit, -natural_log(share))
        gained = Decimal(gain.numerator) / Decimal(gain.denominator)
        if bound > 0:
            largest = max(largest, gained / bound)
        elif gained > 0:
            return NOTHING
    return Outcome(largest, largest <= 1)


def gains(rows: Rows) -> list[tuple[Fraction, Fraction]]:
    """Relative rise of every value that a group shows, with the value's overall share."""
    table = overall(rows)
    return [
        ((share - table[value]) / table[value], table[value])
        for counts in histograms(rows)
        for value, share in shares(counts).items()
    ]


def delta_disclosure(rows: Rows, delta: Fraction) -> Outcome:
    """The largest |ln(share / overall share)|; a value of the table that a group lacks makes it unbounded."""
    if not rows:
        return NOTHING
    largest = Decimal(0)
    for counts in histograms(rows):
        for value, share in overall(rows).items():
            if counts[value] == 0:
                return NOTHING
            largest = max(largest, abs(natural_log(shares(counts)[value] / share)))
    limit = Decimal(delta.numerator) / Decimal(delta.denominator)
    return Outcome(largest, largest < limit and limit - largest >= TOO_CLOSE)


def t_closeness(rows: Rows, t: Fraction, distance: Callable[[Hashable, Hashable], Fraction]) -> Outcome:
    if not rows:
        return NOTHING
    table = overall(rows)
    farthest = max(earth_movers_distance(shares(counts), table, distance) for counts in histograms(rows))
    return Outcome(farthest, farthest <= t)


def equal_distance(a: Hashable, b: Hashable) -> Fraction:
    return Fraction(a != b)


def ordered_distance(values: Sequence[Fraction]) -> Callable[[Hashable, Hashable], Fraction]:
    """Ranks apart over the number of steps, for values compared as numbers."""
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    steps = max(len(ranks) - 1, 1)
    return lambda a, b: Fraction(abs(ranks[a] - ranks[b]), steps)  # type: ignore[index]


def hierarchical_distance(
    paths: Mapping[Hashable, Sequence[Hashable]],
) -> Callable[[Hashable, Hashable], Fraction]:
    """Level of the lowest common ancestor over the height; `paths` leads from each value's parent up."""

    def between(a: Hashable, b: Hashable) -> Fraction:
        lines = zip([a, *paths[a]], [b, *paths[b]], strict=True)
        level = next(level for level, (left, right) in enumerate(lines) if left == right)
        return Fraction(level, len(paths[a]))

    return between


def earth_movers_distance(
    source: Mapping[Hashable, Fraction],
    target: Mapping[Hashable, Fraction],
    distance: Callable[[Hashable, Hashable], Fraction],
) -> Fraction:
    """Least cost of carrying one distribution into the other, as an integer minimum-cost flow."""
    pieces = lcm(*(share.denominator for share in [*source.values(), *target.values()]))
    costs = {(a, b): distance(a, b) for a in source for b in target}
    scale = lcm(*(cost.denominator for cost in costs.values()))
    network: nx.DiGraph[tuple[str, Hashable]] = nx.DiGraph()
    for value, share in source.items():
        network.add_node(("from", value), demand=-int(share * pieces))
    for value, share in target.items():
        network.add_node(("to", value), demand=int(share * pieces))
    for (a, b), cost in costs.items():
        network.add_edge(("from", a), ("to", b), weight=int(cost * scale))
    return Fraction(nx.min_cost_flow_cost(network), pieces * scale)
