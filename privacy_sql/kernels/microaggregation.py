"""MDAV microaggregation: groups of at least k near rows, of fixed or variable size.

Domingo-Ferrer and Mateo-Sanz 2002, used in Ganta et al. 2008, Sec. 3.1; variable size after Solanas and
Martínez-Ballesté 2006. The algorithm runs on points, the distinct combinations of the quasi-identifiers, each
with its number of rows, and gives the groups it would give on rows. With `together` (in neither paper) all
rows of a point stay in one group, which may then exceed its size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Allocation(NamedTuple):
    """How many rows of each point go to each group; one entry per pair that occurs."""

    point: Ints
    group: Ints
    rows: Ints


def mdav(points: npt.ArrayLike, rows: npt.ArrayLike, k: int, *, together: bool = False) -> Allocation:
    """Groups of k rows (fixed size), the last one of up to 2k - 1.

    Take the row farthest from the centroid of the remaining rows, and the row farthest from that one; the k
    nearest rows to each form a group. Ties go to the earlier point.

    >>> mdav([[0], [1], [9], [10]], [2, 1, 1, 1], k=2).group.tolist()
    [1, 1, 0, 0]
    """
    pool = _Pool(points, rows, k, together)
    while pool.n_rows >= 3 * k:
        first = pool.coordinates(pool.farthest(pool.centroid()))
        pool.close(*pool.nearest(first))
        # where points stay together, too few rows may be left for the second group of the pair
        if pool.n_rows >= 2 * k:
            second = pool.coordinates(pool.farthest(first))
            pool.close(*pool.nearest(second))
    if pool.n_rows >= 2 * k:
        pool.close(*pool.nearest(pool.coordinates(pool.farthest(pool.centroid()))))
    return pool.finish()


def variable_mdav(
    points: npt.ArrayLike, rows: npt.ArrayLike, k: int, *, together: bool = False, gain: float = 0.2
) -> Allocation:
    """Groups of k to 2k - 1 rows whose borders follow the gaps in the data.

    A group of k rows grows by one row while that row is nearer to the group than `gain` times its distance to
    any other free row (the γ of V-MDAV). Fewer than k rows at the end join the nearest group.

    >>> variable_mdav([[0], [1], [2], [90], [91]], [1, 1, 1, 1, 1], k=2, gain=1.1).group.tolist()
    [1, 1, 1, 0, 0]
    """
    if not 0 <= gain < np.inf:
        raise UsageError("bad_gain", f"gain is {gain}", hint="It must be finite and 0 or more.")
    pool = _Pool(points, rows, k, together)
    middle = pool.centroid()
    while pool.n_rows >= k:
        members, taken = pool.nearest(pool.coordinates(pool.farthest(middle)))
        nearest = pool.distance_to_any(members)
        pool.close(members, taken)
        n_rows = int(taken.sum())
        # `nearest` is the squared distance of every point to the open group, which is the last one closed
        while pool.n_rows:
            free = nearest[pool.number]
            candidate = int(np.argmin(free))
            weight = int(pool.rows[candidate]) if pool.together else 1
            if n_rows + weight > 2 * k - 1 or not pool.belongs(candidate, float(free[candidate]), gain):
                break
            nearest[pool.number] = np.minimum(free, pool.squared_distance(pool.coordinates(candidate)))
            pool.join(candidate, weight)
            n_rows += weight
    return pool.finish()


class _Pool:
    """The rows that have no group yet, one array per dimension so that distances are sums over dimensions."""

    def __init__(self, points: npt.ArrayLike, rows: npt.ArrayLike, k: int, together: bool) -> None:
        matrix = np.asarray(points, dtype=np.float64)
        self.rows: Ints = np.array(rows, dtype=np.int64)
        if matrix.ndim != 2 or self.rows.shape != matrix.shape[:1]:
            raise UsageError("bad_shape", "points must be a matrix with one number of rows per point")
        if not np.isfinite(matrix).all() or (self.rows < 1).any():
            raise UsageError("bad_points", "points must be finite numbers and hold at least one row each")
        if k < 1 or self.rows.sum() < k:
            raise UsageError(
                "too_few_rows",
                f"microaggregate needs k of 1 or more and k rows, has k={k}, {self.rows.sum()} rows",
            )
        self.k, self.together = k, together
        self.axes: Floats = np.ascontiguousarray(matrix.T)
        self.number: Ints = np.arange(len(matrix), dtype=np.int64)
        self._size = len(matrix)
        self._groups: list[dict[int, int]] = []
        self._centres: list[Floats] = []

    @property
    def n_rows(self) -> int:
        return int(self.rows.sum())

    def centroid(self) -> Floats:
        return np.asarray((self.axes * self.rows).sum(axis=1) / self.n_rows)

    def coordinates(self, position: int) -> Floats:
        return self.axes[:, position].copy()

    def squared_distance(self, spot: Floats) -> Floats:
        # dimension by dimension: equal points get equal distances, whatever the number of threads
        total = np.zeros(self.axes.shape[1])
        for axis, centre in zip(self.axes, spot, strict=True):
            step = axis - centre
            total += step * step
        return total

    def distance_to_any(self, members: Ints) -> Floats:
        """Squared distance to the nearest of these positions, by point number."""
        best = np.full(self._size, np.inf)
        for member in members:
            distance = self.squared_distance(self.coordinates(member))
            best[self.number] = np.minimum(best[self.number], distance)
        return best

    def farthest(self, spot: Floats) -> int:
        return int(np.argmax(self.squared_distance(spot)))

    def nearest(self, spot: Floats) -> tuple[Ints, Ints]:
        """Positions of the nearest points that together hold k rows, and how many rows to take of each."""
        distance = self.squared_distance(spot)
        few = np.arange(len(distance))
        if len(distance) > self.k:
            # every point holds a row, so the k nearest points suffice, with those tied with the last of them
            few = np.flatnonzero(distance <= np.partition(distance, self.k - 1)[self.k - 1])
        order = few[np.argsort(distance[few], kind="stable")]
        reached = np.cumsum(self.rows[order])
        enough = int(np.searchsorted(reached, self.k)) + 1
        taken = self.rows[order[:enough]].copy()
        if not self.together:
            taken[-1] -= reached[enough - 1] - self.k
        return order[:enough], taken

    def belongs(self, candidate: int, inside: float, gain: float) -> bool:
        others = self.squared_distance(self.coordinates(candidate))
        # a second row of the same point is a free row at distance 0
        if self.together or self.rows[candidate] == 1:
            others[candidate] = np.inf
        # distances are squared, so the gain is squared too
        return inside < gain**2 * float(others.min())

    def close(self, positions: Ints, taken: Ints) -> None:
        spots = self.axes[:, positions]
        self._centres.append(np.asarray((spots * taken).sum(axis=1) / taken.sum()))
        members = zip(self.number[positions].tolist(), taken.tolist(), strict=True)
        self._groups.append(dict(members))
        self._take(positions, taken)

    def join(self, position: int, weight: int) -> None:
        number = int(self.number[position])
        self._groups[-1][number] = self._groups[-1].get(number, 0) + weight
        self._take(np.array([position]), np.array([weight]))

    def finish(self) -> Allocation:
        """Give the remaining rows their own group if there are k, else the nearest; then list all groups."""
        if self.n_rows >= self.k:
            self.close(np.arange(len(self.number)), self.rows.copy())
        centres = np.array(self._centres)
        for position, number in enumerate(self.number.tolist()):
            gaps = ((centres - self.coordinates(position)) ** 2).sum(axis=1)
            home = self._groups[int(np.argmin(gaps))]
            home[number] = home.get(number, 0) + int(self.rows[position])
        triples = [(point, group, n) for group, home in enumerate(self._groups) for point, n in home.items()]
        point, group, n_rows = np.array(sorted(triples), dtype=np.int64).T
        return Allocation(point, group, n_rows)

    def _take(self, positions: Ints, taken: Ints) -> None:
        self.rows[positions] -= taken
        keep = self.rows > 0
        self.axes, self.rows, self.number = self.axes[:, keep], self.rows[keep], self.number[keep]


SIZES: dict[str, Callable[..., Allocation]] = {"fixed": mdav, "variable": variable_mdav}
