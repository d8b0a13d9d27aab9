"""What every table that agrees with the published marginals has in common.

Kifer & Gehrke 2006, Definition 4.2 and Sect. 7. For decomposable collections the largest count of a cell
has a closed form (`largest_counts`). For the others it is an integer program, solved by HiGHS through
scipy (the extra `exact`) up to a stated size; above it the answer is "undecided", never "safe".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import ModuleType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import Undecided
from privacy_sql.kernels.marginals.junction_tree import Resolutions, finest
from privacy_sql.kernels.marginals.leaf_domain import Cell, Counts, LeafDomain
from privacy_sql.kernels.marginals.max_entropy import constraint_rows, possible_cells

Integers = npt.NDArray[np.int64]
PROGRAM_CELLS = 5_000  # cells an integer program may hold
MOST_GROWN = 1_000_000  # cells held on the way there, before later marginals rule some out
PROGRAM_WORK = 2_000_000  # cells handled in all steps of all programs of one collection; the same everywhere


def largest_counts(
    domain: LeafDomain, cliques: Mapping[Resolutions, Counts], sensitive: int
) -> dict[Cell, int]:
    """Largest T(x) over all consistent tables, per nonsensitive cell x some table fills (decomposable only).

    U(x) = min( Σ_c min_{E ∋ C} T_E(x, c), min_{E ∌ C} T_E(x) ): every sensitive value gets a bound of its own
    before the bounds are added up. Differs from the paper, which bounds T(t) cell by cell (Eq. 7) without the
    sum. Summing C out first and then taking the minimum over marginals looks simpler, but is wrong and passes
    unsafe collections.
    """
    at = finest(list(cliques))
    with_c = {e: counts for e, counts in cliques.items() if e[sensitive]}
    without = {e: counts for e, counts in cliques.items() if not e[sensitive]}
    sums: dict[Cell, int] = {}
    for cell in possible_cells(domain, cliques):
        x = (*cell[:sensitive], 0, *cell[sensitive + 1 :])
        here = [counts[domain.project(cell, at, e)] for e, counts in with_c.items()]
        sums[x] = sums.get(x, 0) + min(here, default=0)
    plain = (*at[:sensitive], 0, *at[sensitive + 1 :])
    return {
        x: int(
            min(
                [counts[domain.project(x, plain, e)] for e, counts in without.items()]
                + ([summed] if with_c else [])
            )
        )
        for x, summed in sums.items()
    }


def largest_counts_by_program(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], sensitive: int
) -> dict[Cell, int]:
    """Largest T(x) over all consistent integer tables, for any collection, one integer program per x.

    Raises Undecided where a program is too large, takes too many steps or cannot prove its answer.
    """
    members, program = _programs(domain, marginals, sensitive)
    return {x: int(program.best_table(places)[places].sum()) for x, places in members.items()}


class SmallestCount(NamedTuple):
    """The smallest positive bound of a collection, its cell, and how many bounds are below k."""

    cell: Cell
    bound: int
    n_below: int


def smallest_count_by_program(
    domain: LeafDomain,
    marginals: Mapping[Resolutions, Counts],
    sensitive: int,
    k: int,
    known: Mapping[Cell, int] | None = None,
) -> SmallestCount:
    """The smallest positive largest count, with as few programs as possible.

    A consistent table shows how much a cell can hold, so a cell that is large in one of them needs no
    program: `known` is one such table (the source itself), and every program finds another.
    """
    members, program = _programs(domain, marginals, sensitive)
    floors = {x: (known or {}).get(x, 0) for x in members}
    found: SmallestCount | None = None
    n_below = 0
    while members:
        x = min(members, key=lambda cell: (floors[cell], cell))
        if found is not None and floors[x] >= max(k, found.bound):
            break  # every remaining cell holds more in some table
        places = members.pop(x)
        table = program.best_table(places)
        for cell, others in members.items():
            floors[cell] = max(floors[cell], int(table[others].sum()))
        bound = int(table[places].sum())
        n_below += 0 < bound < k
        if bound and (found is None or bound < found.bound):
            found = SmallestCount(x, bound, n_below)
    assert found is not None
    return found._replace(n_below=n_below)


def _programs(
    domain: LeafDomain, marginals: Mapping[Resolutions, Counts], sensitive: int
) -> tuple[dict[Cell, list[int]], _Program]:
    """The indices of each nonsensitive cell among those that can be filled, and the constraints on them."""
    cells = possible_cells(domain, marginals, MOST_GROWN)
    _refuse_large(len(cells))
    members: dict[Cell, list[int]] = {}
    for i, cell in enumerate(cells):
        members.setdefault((*cell[:sensitive], 0, *cell[sensitive + 1 :]), []).append(i)
    return members, _Program(domain, marginals, cells)


def largest_support(domain: LeafDomain, marginals: Mapping[Resolutions, Counts]) -> list[Cell]:
    """The cells that some consistent table with real counts fills.

    The maximum-entropy table is positive exactly there. One linear program is enough: consistent tables can
    be scaled up, so all cells that can be positive can be 1 or more at the same time.
    """
    cells = possible_cells(domain, marginals, MOST_GROWN)
    _refuse_large(len(cells))
    return [
        cell
        for cell, filled in zip(cells, _Program(domain, marginals, cells).fillable(), strict=True)
        if filled
    ]


def _refuse_large(n_cells: int) -> None:
    if n_cells > PROGRAM_CELLS:
        raise Undecided(
            "program_too_large",
            f"{n_cells} cells are more than the {PROGRAM_CELLS} an exact decision is tried for",
            where="collection that is not decomposable",
            hint="Publish a decomposable collection, or fewer or coarser marginals.",
        )


def scipy_parts() -> tuple[ModuleType, ModuleType]:
    try:
        import scipy.optimize
        import scipy.sparse
    except ImportError:
        raise Undecided(
            "extra_missing",
            "a collection that is not decomposable needs an integer program",
            hint="pip install 'privacy-sql[exact]'",
        ) from None
    return scipy.optimize, scipy.sparse


class _Program:
    """The marginals as linear constraints over the cells they leave possible."""

    def __init__(
        self, domain: LeafDomain, marginals: Mapping[Resolutions, Counts], cells: Sequence[Cell]
    ) -> None:
        self.optimize, sparse = scipy_parts()
        rows, targets = constraint_rows(domain, marginals, cells)
        columns = np.arange(len(cells))
        self.matrix = sparse.vstack(
            [
                sparse.csr_matrix((np.ones(len(cells)), (row, columns)), shape=(len(target), len(cells)))
                for row, target in zip(rows, targets, strict=True)
            ]
        ).tocsr()
        self.counts = np.concatenate(targets)
        self.exact_counts = self.counts.astype(np.int64)
        self.steps = PROGRAM_WORK // max(len(cells), 1)  # that are left

    def best_table(self, places: Sequence[int]) -> Integers:
        """A consistent integer table in which the sum over some cells is largest."""
        if self.steps <= 0:
            raise _unproven()
        goal = np.zeros(self.matrix.shape[1])
        goal[list(places)] = -1.0
        found = self.optimize.milp(
            goal,
            integrality=np.ones_like(goal),
            bounds=self.optimize.Bounds(0, inf),
            constraints=self.optimize.LinearConstraint(self.matrix, self.counts, self.counts),
            options={"node_limit": self.steps, "mip_rel_gap": 0.0},
        )
        self.steps -= max(int(found.mip_node_count or 0), 1)
        if found.x is None or found.status != 0:
            raise _unproven()
        table: Integers = np.rint(found.x).astype(np.int64)
        answer = int(table[list(places)].sum())
        # the table is checked in integers; the solver's bound, well within one row, says that none is better
        consistent = (table >= 0).all() and (self.matrix.astype(np.int64) @ table == self.exact_counts).all()
        if not consistent or -found.mip_dual_bound >= answer + 0.5:
            raise _unproven()
        return table

    def fillable(self) -> list[bool]:
        """Per cell, whether some consistent table with real counts is positive there."""
        _, sparse = scipy_parts()
        n_rows, n_cells = self.matrix.shape
        # variables: table t, flags z <= min(1, t), scale s >= 1; constraints: M t = s * counts, z <= t
        scaled = sparse.hstack([self.matrix, sparse.csr_matrix((n_rows, n_cells)), -self.counts[:, None]])
        flags = sparse.hstack([-sparse.eye(n_cells), sparse.eye(n_cells), sparse.csr_matrix((n_cells, 1))])
        found = self.optimize.linprog(
            np.concatenate([np.zeros(n_cells), -np.ones(n_cells), [0.0]]),
            A_ub=flags.tocsr(),
            b_ub=np.zeros(n_cells),
            A_eq=scaled.tocsr(),
            b_eq=np.zeros(n_rows),
            bounds=[(0, None)] * n_cells + [(0, 1)] * n_cells + [(1, None)],
        )
        if found.status != 0:
            raise _unproven()
        flags = found.x[n_cells : 2 * n_cells]
        if ((flags > 1e-6) & (flags < 1 - 1e-6)).any():
            raise _unproven()
        return [bool(flag > 0.5) for flag in flags]


def _unproven() -> Undecided:
    return Undecided(
        "program_unproven",
        "the exact program gave no proven answer within its limits",
        where="collection that is not decomposable",
        hint="Publish a decomposable collection, or fewer or coarser marginals.",
    )
