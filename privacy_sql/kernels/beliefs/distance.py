"""How far a belief has moved: Li, Li and Zhang 2009, Sec. IV.B.

Beliefs are arrays whose last axis is the sensitive values, so one call measures one person or all of them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privacy_sql.errors import UsageError
from privacy_sql.kernels.beliefs.kernel_prior import Kernel, Number, as_number, weight_matrix

Array = NDArray[Any]
Normalise = Literal["after", "none", "channel"]
NO_MOVE = 1e-9  # distances up to this count as zero
NORMALISATIONS = ("after", "none", "channel")


def log_scale(base: int | str) -> float:
    """ln of the base: bits for 2, nats for "e"."""
    if base == "e" or base == math.e:
        return 1.0
    if base != 2:
        raise UsageError("bad_belief", 'log_base is 2 (bits, the distance lies in [0, 1]) or "e"')
    return math.log(2)


def kullback_leibler(p: Array, q: Array, log_base: int | str = 2) -> Array:
    """KL[P, Q] = Σ p_i log(p_i / q_i); infinite where Q rules out what P allows (desideratum 4 fails).

    >>> float(kullback_leibler([0.5, 0.5], [1, 0]))
    inf
    """
    a, b = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    a, b = np.broadcast_arrays(a, b)
    ratio = np.divide(a, b, out=np.ones_like(a), where=(a > 0) & (b > 0))
    # 0 * b keeps an undefined belief undefined
    terms = np.where((a > 0) & (b <= 0), np.inf, a * np.log(ratio) + 0 * b)
    return np.asarray(terms.sum(axis=-1) / log_scale(log_base))


def jensen_shannon(p: Array, q: Array, log_base: int | str = 2) -> Array:
    """JS[P, Q]: the mean KL divergence to the average belief: Li et al. 2009, eq. (6).

    The D inside the paper's equation is KL, summed over all m values. In bits it lies in [0, 1].

    >>> round(float(jensen_shannon([0.01, 0.99], [0.11, 0.89])), 6)
    0.03709
    """
    a, b = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    middle = (a + b) / 2
    found = (kullback_leibler(a, middle, log_base) + kullback_leibler(b, middle, log_base)) / 2
    return np.maximum(found, 0.0)  # rounding may leave -1e-17; a nan stays a nan


def total_variation(p: Array, q: Array) -> Any:
    """Half the sum of absolute differences, exact for fractions; for rows of beliefs one result per row.

    >>> total_variation([Fraction(1, 2), Fraction(1, 2)], [Fraction(1), Fraction(0)])
    Fraction(1, 2)
    """
    return abs(np.asarray(p) - np.asarray(q)).sum(axis=-1) / 2


def smoothing_weights(
    distances: Array, bandwidth: Number | str, normalise: Normalise = "after", kernel: Kernel = "epanechnikov"
) -> Array:
    """The matrix that smooths a belief: row i says how much of each value reaches value i.

    Rows sum to 1 as the paper prints it ("after" and "none"), columns do for "channel". An infinite bandwidth
    smooths every belief into the same one and is refused.
    """
    if normalise not in NORMALISATIONS:
        raise UsageError(
            "bad_belief", f'Unknown normalisation "{normalise}": use one of {", ".join(NORMALISATIONS)}'
        )
    b = as_number(bandwidth)
    if not 0 < b < math.inf:
        raise UsageError(
            "bad_belief",
            "The smoothing bandwidth is a finite number above 0: infinite, no belief moves at all",
        )
    weights = weight_matrix(distances, b, kernel)
    return np.asarray(
        weights / weights.sum(axis=0 if normalise == "channel" else 1, keepdims=normalise != "channel")
    )


def check_smoothing_bandwidth(distances: Array, bandwidth: Number | str) -> None:
    """Refuse a bandwidth that smooths nothing, or so much that all beliefs become the same.

    It must exceed the smallest positive distance. With a very large one no release would move anybody, as
    with an infinite one; the same goes for distances that are all 0.
    """
    positive: list[Any] = [d for d in np.asarray(distances).ravel() if d > 0]
    if positive and not as_number(bandwidth) > min(positive):
        raise UsageError(
            "bad_belief",
            f"A smoothing bandwidth of {bandwidth} smooths nothing: the nearest two sensitive values are at "
            f"distance {min(positive)}, and the bandwidth must exceed that",
        )
    cells = np.asarray(distances, dtype=float)
    one, other = divmod(int(cells.argmax()), len(cells))  # the two values furthest apart
    certain = np.eye(len(cells))
    if len(cells) > 1 and smoothed_jensen_shannon(certain[one], certain[other], cells, bandwidth) <= NO_MOVE:
        raise UsageError(
            "bad_belief",
            f"A smoothing bandwidth of {bandwidth} smooths every belief into the same one, and no release "
            "moves anybody: it must be near the distances of the sensitive values, and these above 0",
        )


def smooth(p: Array, distances: Array, bandwidth: Number | str, normalise: Normalise = "after") -> Array:
    """p̂_i = Σ_j p_j K(d_ij) / Σ_j K(d_ij): Li et al. 2009, Sec. IV.B.2.

    As printed ("none") the result need not sum to 1; "after" divides it by its sum, "channel" normalises what
    each value gives away, so smoothing never adds to the Jensen-Shannon distance.
    """
    belief = np.asarray(p)
    smoothed = np.asarray(belief @ smoothing_weights(distances, bandwidth, normalise).T)
    return np.asarray(smoothed / smoothed.sum(axis=-1, keepdims=True)) if normalise == "after" else smoothed


def smoothed_jensen_shannon(
    p: Array,
    q: Array,
    distances: Array,
    bandwidth: Number | str = "3/4",
    normalise: Normalise = "after",
    log_base: int | str = 2,
) -> Array:
    """The paper's measure: Jensen-Shannon after kernel smoothing of both (Li et al. 2009, Sec. IV.B.2)."""
    a = smooth(p, distances, bandwidth, normalise)
    b = smooth(q, distances, bandwidth, normalise)
    return jensen_shannon(a, b, log_base)


def jensen_shannon_smoothed_by(
    p: Array, q: Array, weights: Array, renormalise: bool = True, log_base: int | str = 2
) -> Array:
    """The same for many beliefs, with a smoothing matrix computed beforehand."""
    sides = [np.asarray(belief, dtype=float) @ weights.T for belief in (p, q)]
    if renormalise:
        sides = [side / side.sum(axis=-1, keepdims=True) for side in sides]
    return jensen_shannon(sides[0], sides[1], log_base)


def earth_movers_each(p: Array, q: Array, distances: Array) -> Array:
    """`earth_movers` for each row, as floats; nan where a belief is undefined."""
    cost = np.asarray(distances).tolist()
    moves = [
        math.nan if any(cell != cell for cell in (*a, *b)) else float(earth_movers(a, b, cost))
        for a, b in zip(np.asarray(p).tolist(), np.asarray(q).tolist(), strict=True)
    ]
    return np.array(moves)


def earth_movers(p: Array, q: Array, distances: Array) -> Fraction:
    """Least work that turns one belief into the other, exactly: Li et al. 2009, Sec. IV.B.1.

    Transport along successive shortest paths. It lacks desideratum 3: a step up from 0.01 costs no more than
    one from 0.4.

    >>> earth_movers(["1/2", "1/2", "0"], ["0", "1/2", "1/2"], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    Fraction(1, 1)
    """
    supply, demand = [Fraction(a) for a in p], [Fraction(b) for b in q]
    if abs(sum(supply, Fraction(0)) - sum(demand, Fraction(0))) > Fraction(1, 10**9):
        raise UsageError("bad_belief", "Both beliefs must have the same sum")
    cost = [[Fraction(d) for d in row] for row in distances]
    flow: dict[tuple[int, int], Fraction] = {}
    # floats need not sum to exactly 1: a remainder has nowhere to go
    while any(supply) and any(demand):
        path = _cheapest_path(supply, demand, cost, flow)
        backwards = [(i, j) for j, i in zip(path[1::2], path[2::2], strict=False)]
        amount = min(supply[path[0]], demand[path[-1]], *(flow[cell] for cell in backwards))
        for cell in zip(path[::2], path[1::2], strict=True):
            flow[cell] = flow.get(cell, Fraction(0)) + amount
        for cell in backwards:
            flow[cell] -= amount
        supply[path[0]] -= amount
        demand[path[-1]] -= amount
    return sum((amount * cost[i][j] for (i, j), amount in flow.items()), Fraction(0))


def _cheapest_path(
    supply: list[Fraction],
    demand: list[Fraction],
    cost: list[list[Fraction]],
    flow: dict[tuple[int, int], Fraction],
) -> list[int]:
    """Row, column, ..., column: from a row with supply left to a column with demand left (Bellman-Ford)."""
    rows = {i: (Fraction(0), [i]) for i, left in enumerate(supply) if left > 0}
    columns: dict[int, tuple[Fraction, list[int]]] = {}
    changed = True
    while changed:
        changed = False
        for i, (so_far, path) in list(rows.items()):
            for j, step in enumerate(cost[i]):
                if j not in columns or so_far + step < columns[j][0]:
                    columns[j] = (so_far + step, [*path, j])
                    changed = True
        for (i, j), moved in flow.items():
            # taking back what went from i to j frees row i
            if moved > 0 and j in columns and (i not in rows or columns[j][0] - cost[i][j] < rows[i][0]):
                rows[i] = (columns[j][0] - cost[i][j], [*columns[j][1], i])
                changed = True
    reached = [columns[j] for j, left in enumerate(demand) if left > 0]
    return min(reached)[1]
