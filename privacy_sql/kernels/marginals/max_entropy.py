"""The maximum-entropy table of a collection of anonymized marginals, and its privacy and utility.

Kifer & Gehrke 2006, Sect. 3.2, 5.1, 6.2. Decomposable collections have a closed form in exact fractions
(`expected_counts`); the others are fitted by iterative proportional fitting (`fitted_counts`). Both give
expected counts at the finest published resolution; a leaf cell gets an equal share of its cell's count.
Logarithms are natural: the paper prints no base.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf, log

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals.junction_tree import Branch, Resolutions, finest, intersection, union
from privacy_sql.kernels.marginals.leaf_domain import Cell, Counts, LeafDomain

FEW_SWEEPS = 400  # enough unless cells vanish; the search for those comes after
MANY_SWEEPS = 20_000
CLOSE = 1e-13  # largest relative distance of a fitted marginal from the published one
DOUBTFUL = 1e-6  # a fitted count this small may be a cell that every consistent table leaves empty


def expected_counts(
    domain: LeafDomain, tree: Sequence[Branch], marginals: Mapping[Resolutions, Counts]
) -> dict[Cell, Fraction]:
    """Expected count of every cell with positive mass, at the finest published resolution.

    Kifer & Gehrke 2006, Eq. (2): the product of the clique counts over that of the separator counts, as a
    join of the marginals along the junction tree. Differs from the paper: exact fractions, and an attribute
    in no marginal stays at its root here (the count of a leaf is divided by its number of leaves).
    """
    at = tree[0].clique
    joined = {cell: Fraction(n) for cell, n in marginals[at].items() if n}
    for branch in tree[1:]:
        blocks = _blocks(domain, branch, marginals[branch.clique])
        after = union(at, branch.clique)
        # the separator of the tree is the whole overlap: nothing else of the branch was seen before
        assert intersection(at, branch.clique) == branch.separator
        joined = {
            _merged(cell, other, at, branch.clique): count * share
            for cell, count in joined.items()
            for other, share in blocks.get(domain.project(cell, at, branch.separator), ())
        }
        at = after
    return joined


def _blocks(domain: LeafDomain, branch: Branch, counts: Counts) -> dict[Cell, list[tuple[Cell, Fraction]]]:
    """Separator cell -> the branch's cells inside it, each with its share of the separator's count."""
    totals = domain.marginal(counts, branch.clique, branch.separator)
    blocks: dict[Cell, list[tuple[Cell, Fraction]]] = {}
    for cell, n_rows in counts.items():
        if n_rows:
            shared = domain.project(cell, branch.clique, branch.separator)
            blocks.setdefault(shared, []).append((cell, Fraction(n_rows, totals[shared])))
    return blocks


def drawn(
    domain: LeafDomain,
    tree: Sequence[Branch],
    marginals: Mapping[Resolutions, Counts],
    n: int,
    chance: np.random.Generator,
) -> list[Cell]:
    """`n` cells of the maximum-entropy table at the finest published resolution, drawn branch by branch."""
    at = tree[0].clique
    blocks = _weighed(domain, Branch(at, None, (0,) * len(at)), marginals[at])
    rows = _picked([next(iter(blocks))] * n, blocks, chance)
    for branch in tree[1:]:
        blocks = _weighed(domain, branch, marginals[branch.clique])
        shared = [domain.project(row, at, branch.separator) for row in rows]
        picked = _picked(shared, blocks, chance)
        rows = [_merged(row, other, at, branch.clique) for row, other in zip(rows, picked, strict=True)]
        at = union(at, branch.clique)
    return rows


Block = tuple[list[Cell], npt.NDArray[np.float64]]


def _weighed(domain: LeafDomain, branch: Branch, counts: Counts) -> dict[Cell, Block]:
    """Separator cell -> the branch's cells inside it, and the running sum of their rows."""
    return {
        shared: ([cell for cell, _ in inside], np.cumsum([float(share) for _, share in inside]))
        for shared, inside in _blocks(domain, branch, counts).items()
    }


def _picked(shared: Sequence[Cell], blocks: Mapping[Cell, Block], chance: np.random.Generator) -> list[Cell]:
    """One random cell of each of these blocks."""
    found = []
    for cell, place in zip(shared, chance.random(len(shared)).tolist(), strict=True):
        cells, sums = blocks[cell]
        found.append(cells[min(int(np.searchsorted(sums, place * sums[-1], side="right")), len(cells) - 1)])
    return found


def _merged(left: Cell, right: Cell, left_at: Resolutions, right_at: Resolutions) -> Cell:
    return tuple(b if r > s else a for a, b, s, r in zip(left, right, left_at, right_at, strict=True))


def fitted_counts(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], support: Iterable[Cell] | None = None
) -> dict[Cell, float]:
    """Expected counts of a collection without closed form, by iterative proportional fitting.

    Kifer & Gehrke 2006, Sect. 5.1 (an iterative algorithm is needed). The start is the number of leaves of
    each cell, so the fit is the maximum-entropy table over leaves. `support` names the cells that some
    consistent table fills; without it a cell whose count fades away cannot be told from a small one, and
    the answer is refused rather than guessed.
    """
    at = finest(list(marginals))
    cells = sorted(possible_cells(domain, marginals) if support is None else support)
    values = np.array([domain.leaves(cell, at) for cell in cells], dtype=np.float64)
    rows, targets = constraint_rows(domain, marginals, cells)
    # scale to each marginal in turn; `distance` is the largest error in the last sweep
    distance = np.inf
    for _ in range(FEW_SWEEPS if support is None else MANY_SWEEPS):
        distance = 0.0
        for row, target in zip(rows, targets, strict=True):
            scale = target / np.bincount(row, weights=values, minlength=len(target))
            distance = max(distance, float(np.abs(scale - 1).max()))
            values = values * scale[row]
        if distance <= CLOSE:
            break
    if distance > CLOSE or (support is None and values.min() < DOUBTFUL):
        raise Undecided(
            "fit_not_settled",
            f"the maximum-entropy table of {len(marginals)} marginals did not settle",
            where="iterative proportional fitting",
            hint="Publish a decomposable collection, or install the extra `exact`.",
        )
    return dict(zip(cells, values.tolist(), strict=True))


def possible_cells(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], most: float = inf
) -> list[Cell]:
    """The cells at the finest published resolution that no marginal counts as empty.

    Grown marginal by marginal, so the cost depends on the cells that remain, not on the whole domain. Raises
    Undecided before it holds more than `most` of them.
    """
    at = (0,) * len(domain.paths)
    cells: list[Cell] = [at]
    for resolution, counts in marginals.items():
        shared = intersection(at, resolution)
        inside: dict[Cell, list[Cell]] = {}
        for cell, n_rows in counts.items():
            if n_rows:
                inside.setdefault(domain.project(cell, resolution, shared), []).append(cell)
        beside = [inside.get(domain.project(cell, at, shared), ()) for cell in cells]
        if sum(map(len, beside)) > most:
            raise Undecided(
                "too_many_cells",
                f"the marginals leave more than {most} cells possible",
                where="collection that is not decomposable",
                hint="Publish a decomposable collection, or fewer or coarser marginals.",
            )
        cells = [
            _merged(cell, other, at, resolution)
            for cell, others in zip(cells, beside, strict=True)
            for other in others
        ]
        at = union(at, resolution)
    return cells


def constraint_rows(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], cells: Sequence[Cell]
) -> tuple[list[npt.NDArray[np.int64]], list[npt.NDArray[np.float64]]]:
    """Per marginal: which of its positive cells each finest cell lies in, and those cells' counts."""
    at = finest(list(marginals))
    rows, targets = [], []
    for resolution, counts in marginals.items():
        place = {cell: i for i, cell in enumerate(cell for cell, n in counts.items() if n)}
        rows.append(np.array([place[domain.project(cell, at, resolution)] for cell in cells], dtype=np.int64))
        targets.append(np.array([n for n in counts.values() if n], dtype=np.float64))
    return rows, targets


def sensitive_groups(
    expected: Mapping[Cell, Fraction] | Mapping[Cell, float], sensitive: int
) -> dict[Cell, list[Fraction | float]]:
    """Nonsensitive cell (0 in place of the sensitive value) -> its positive expected counts."""
    groups: dict[Cell, list[Fraction | float]] = {}
    for cell, count in expected.items():
        if count > 0:
            groups.setdefault((*cell[:sensitive], 0, *cell[sensitive + 1 :]), []).append(count)
    return groups


def least_c(counts: Sequence[int | Fraction | float], ell: int) -> Fraction | float | None:
    """Least c for which expected counts are (c, ℓ)-diverse; None when no c is enough (an empty tail).

    Kifer & Gehrke 2006, Definition 2.5: r_1 <= c (r_ℓ + ... + r_m). ℓ = 1 is legal. Exact for fractions.

    >>> least_c([4, 2, 1], 2), least_c([4.0, 2.0], 3)
    (Fraction(4, 3), None)
    """
    ordered = sorted(counts, reverse=True)
    tail = sum(ordered[ell - 1 :])
    if not tail > 0:
        return None
    head = ordered[0]
    return head / tail if isinstance(head, float) else Fraction(head) / tail


def near_the_likeliest(counts: Sequence[Fraction | float], share: Fraction | float) -> int:
    """How many values are at least `share` times as likely as the likeliest, including that one.

    Kifer & Gehrke 2006, Sect. 7. Exact for fractions.

    >>> near_the_likeliest([Fraction(10), Fraction(9), Fraction(5), Fraction(0)], Fraction(9, 10))
    2
    """
    top = max(counts)
    return max(1, sum(count > 0 and count >= share * top for count in counts))


def n_log_n(counts: Iterable[int]) -> float:
    """G(q) = Σ T_q ln T_q over the cells of a marginal; for the empty marginal that is N ln N.

    >>> n_log_n([1, 1]), round(n_log_n([2]), 6)
    (0.0, 1.386294)
    """
    return sum(n * log(n) for n in counts if n)


def closed_form_kl(
    total: int, leaf: float, cliques: Iterable[float], separators: Iterable[float], spread: Iterable[float]
) -> float:
    """KL divergence of a decomposable collection from sums of n ln n alone, in nats.

    `leaf`, `cliques` and `separators` are `n_log_n` of those marginals (one separator per clique but the
    first); `spread` holds, per attribute, Σ rows · ln(leaves below the node) at its finest published level.
    From Theorem 6.1 by taking logarithms, so a search needs one number per marginal it meets.
    """
    return (leaf - sum(cliques) + sum(separators) + sum(spread)) / total
