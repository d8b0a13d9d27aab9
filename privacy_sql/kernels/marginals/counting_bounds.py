"""How many rows published marginals allow for a combination of values: least, most, expected.

Kifer & Gehrke 2006, Sect. 4 and 5, for a reader who has the marginals and nothing else. Columns that only one
marginal shows and no question mentions are summed out first, which changes neither bounds nor expected
numbers. Then one marginal gives the answer, two bound it exactly, and more need a linear program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals.consistent_tables import MOST_GROWN, largest_support, scipy_parts
from privacy_sql.kernels.marginals.junction_tree import (
    Resolutions,
    contains,
    finest,
    intersection,
    is_decomposable,
    junction_tree,
    maximal_sets,
)
from privacy_sql.kernels.marginals.leaf_domain import Cell, Counts, LeafDomain
from privacy_sql.kernels.marginals.max_entropy import (
    constraint_rows,
    expected_counts,
    fitted_counts,
    possible_cells,
)

PROGRAM_WORK = 300_000  # cells times answers that are bounded by linear programs
DENOMINATOR = 720_720  # of the multipliers that prove a bound: small fractions are exact

Key = tuple[int | None, ...]  # per column the class of a cell; None for columns outside the question
Classes = Sequence[Mapping[int, int] | None]


@dataclass(frozen=True)
class CountAnswer:
    """How many rows: expected, at least and at most. The bounds hold; the expected number is a guess."""

    expected: Fraction | float
    least: int
    most: int


@dataclass(frozen=True)
class CountQuestion:
    """Columns with the resolution of the question, and per column the class of each node there.

    None means that the question leaves the column out. Every combination of classes is an answer.
    """

    at: Resolutions
    classes: Classes

    def key(self, domain: LeafDomain, cell: Cell, cell_at: Resolutions) -> Key:
        """The classes of a cell, for the columns that it shows finely enough."""
        there = tuple(min(asked, shown) for asked, shown in zip(self.at, cell_at, strict=True))
        nodes = domain.project(cell, cell_at, there)
        return tuple(
            classes[node] if classes is not None and asked <= shown else None
            for node, classes, asked, shown in zip(nodes, self.classes, self.at, cell_at, strict=True)
        )


def answers(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], question: CountQuestion
) -> tuple[dict[Key, CountAnswer], bool]:
    """What the marginals say about each combination of classes that may hold a row; are the bounds tight?

    Bounds that are not tight come from single marginals, where a linear program would be too large.
    """
    whole = next((m for m in marginals if contains(m, question.at)), None)
    if whole is not None:
        return _of_two(domain, {whole: marginals[whole]}, question), True
    left = summed_out(domain, marginals, question.at)
    if len(left) < 3:
        return _of_two(domain, left, question), True
    return _of_several(domain, left, question)


def summed_out(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], asked: Resolutions
) -> dict[Resolutions, dict[Cell, int]]:
    """The marginals without the columns that only one of them shows and the question leaves out.

    A table that agrees with the rest can always be spread over these columns, in whole rows, and the
    maximum-entropy table of the rest is the sum of that of all marginals.
    """
    left = {m: {cell: n for cell, n in counts.items() if n} for m, counts in marginals.items()}
    while True:
        left = {m: left[m] for m in maximal_sets(left)}
        for marginal in left:
            others = [intersection(marginal, other) for other in left if other != marginal]
            shared = finest(others) if others else (0,) * len(marginal)
            small = tuple(max(min(r, a), s) for r, a, s in zip(marginal, asked, shared, strict=True))
            if small != marginal:
                break
        else:
            return left
        counts = domain.marginal(left.pop(marginal), marginal, small)
        if not any(small) and not left:
            return {small: counts}
        left[small] = counts


def _of_two(
    domain: LeafDomain, left: Mapping[Resolutions, Mapping[Cell, int]], question: CountQuestion
) -> dict[Key, CountAnswer]:
    """One marginal gives the answer; of two, each shared cell has its own bounds, which are all attained."""
    (first, counts), *rest = left.items()
    if not rest:
        told = _summed(domain, counts, first, question)
        return {key: CountAnswer(Fraction(n), n, n) for key, n in told.items()}
    ((second, others),) = rest
    shared = intersection(first, second)
    mine: dict[Cell, dict[Key, int]] = {}
    theirs: dict[Cell, dict[Key, int]] = {}
    for found, one, at in ((mine, counts, first), (theirs, others, second)):
        for cell, n in one.items():
            keys = found.setdefault(domain.project(cell, at, shared), {})
            asked = question.key(domain, cell, at)
            keys[asked] = keys.get(asked, 0) + n
    sums: dict[Key, tuple[Fraction, int, int]] = {}
    for separator, parts in mine.items():
        total = sum(parts.values())
        for left_key, n in parts.items():
            for right_key, m in theirs[separator].items():
                key = tuple(b if a is None else a for a, b in zip(left_key, right_key, strict=True))
                expected, least, most = sums.get(key, (Fraction(0), 0, 0))
                sums[key] = (
                    expected + Fraction(n * m, total),
                    least + max(0, n + m - total),
                    most + min(n, m),
                )
    return {key: CountAnswer(*found) for key, found in sums.items()}


def _summed(
    domain: LeafDomain, counts: Mapping[Cell, int], at: Resolutions, question: CountQuestion
) -> dict[Key, int]:
    summed: dict[Key, int] = {}
    for cell, n in counts.items():
        key = question.key(domain, cell, at)
        summed[key] = summed.get(key, 0) + n
    return summed


def _of_several(
    domain: LeafDomain, left: Mapping[Resolutions, Mapping[Cell, int]], question: CountQuestion
) -> tuple[dict[Key, CountAnswer], bool]:
    try:
        cells = possible_cells(domain, left, MOST_GROWN)
    except Undecided:
        raise Undecided(
            "too_many_cells",
            f"these columns lie in {len(left)} marginals that leave more than {MOST_GROWN:,} cells possible",
            hint="Ask about fewer columns at once.",
        ) from None
    at = finest(list(left))
    keys = [question.key(domain, cell, at) for cell in cells]
    expected: dict[Key, Fraction | float] = {}
    for cell, n in expectations(domain, left).items():
        key = question.key(domain, cell, at)
        expected[key] = expected.get(key, 0) + n
    asked = list(dict.fromkeys(keys))
    single = _of_single(domain, left, question, asked)
    try:
        if len(cells) * len(asked) > PROGRAM_WORK:
            raise Undecided("program_too_large", "too many cells for linear programs")
        program = _LinearProgram(domain, left, cells)
    except Undecided:
        return {key: CountAnswer(expected.get(key, 0), *single[key]) for key in asked}, False
    places: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    found = {}
    for key in asked:
        least, most = single[key]
        low, high = program.least(places[key], 1), -program.least(places[key], -1)
        # rounded outwards: a fractional bound proves no more than the next whole number
        found[key] = CountAnswer(
            expected.get(key, 0),
            max(least, low.numerator // low.denominator),
            min(most, -(-high.numerator // high.denominator)),
        )
    return found, True


def expectations(
    domain: LeafDomain, left: Mapping[Resolutions, Mapping[Cell, int]]
) -> Mapping[Cell, Fraction | float]:
    """The expected count of every cell that may hold rows: fractions, or fitted without a product."""
    if is_decomposable(list(left)):
        return expected_counts(domain, junction_tree(list(left)), left)
    try:
        support = largest_support(domain, left)
    except Undecided:  # too large for a program, or scipy is missing: a vanishing cell keeps a small count
        support = None
    return fitted_counts(domain, left, support)


def _of_single(
    domain: LeafDomain,
    left: Mapping[Resolutions, Mapping[Cell, int]],
    question: CountQuestion,
    asked: Sequence[Key],
) -> dict[Key, tuple[int, int]]:
    """Bounds from each marginal alone, for the classes it shows."""
    total = sum(next(iter(left.values())).values())
    counted = [(at, _summed(domain, counts, at, question)) for at, counts in left.items()]
    found = {}
    for key in asked:
        matching = [
            sums.get(
                tuple(
                    part if wanted <= shown else None
                    for part, wanted, shown in zip(key, question.at, at, strict=True)
                ),
                0,
            )
            for at, sums in counted
        ]
        found[key] = max(0, sum(matching) - (len(matching) - 1) * total), min(matching)
    return found


class _LinearProgram:
    """The marginals as linear constraints; whole numbers prove every bound, not the solver."""

    def __init__(
        self, domain: LeafDomain, marginals: Mapping[Resolutions, Counts], cells: Sequence[Cell]
    ) -> None:
        self.optimize, sparse = scipy_parts()
        at = finest(list(marginals))
        self.rows, targets = constraint_rows(domain, marginals, cells)
        self.targets = [target.astype(np.int64).tolist() for target in targets]
        columns = np.arange(len(cells))
        self.matrix = sparse.vstack(
            [
                sparse.csr_matrix((np.ones(len(cells)), (row, columns)), shape=(len(target), len(cells)))
                for row, target in zip(self.rows, targets, strict=True)
            ]
        ).tocsr()
        self.counts = np.concatenate(targets)
        self.most = [
            min(counts[domain.project(cell, at, m)] for m, counts in marginals.items()) for cell in cells
        ]

    def least(self, places: Sequence[int], sign: int) -> Fraction:
        """A lower bound of `sign` times the rows of some cells.

        Any multipliers y prove one: c·x >= y·b + Σ min(0, c - Aᵀy)·(the most each cell can hold). The
        solver's, rounded, prove the best bound or nearly so.
        """
        goal = np.zeros(len(self.most))
        goal[list(places)] = sign
        found = self.optimize.linprog(goal, A_eq=self.matrix, b_eq=self.counts, bounds=(0, inf))
        if found.status != 0:
            return Fraction(sum(min(0, sign) * self.most[place] for place in places))
        multipliers = np.rint(found.eqlin.marginals * DENOMINATOR).astype(np.int64)
        slack = (goal * DENOMINATOR).astype(np.int64)
        proved, start = 0, 0
        for row, target in zip(self.rows, self.targets, strict=True):
            own = multipliers[start : start + len(target)]
            slack -= own[row]
            proved += sum(y * n for y, n in zip(own.tolist(), target, strict=True))
            start += len(target)
        below = np.flatnonzero(slack < 0).tolist()
        proved += sum(int(slack[place]) * self.most[place] for place in below)
        return Fraction(proved, DENOMINATOR)
