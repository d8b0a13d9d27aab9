"""What an adversary who studied the data believes before and after a release (li2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from privacy_sql.beliefs import beliefs, studied_table
from privacy_sql.beliefs.group_posteriors import SWEEPS, estimated, exact
from privacy_sql.beliefs.resemblance import is_span, resemblance
from privacy_sql.counted.base import Base, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.kernels.beliefs import distance as distances
from privacy_sql.kernels.beliefs import posterior as posteriors
from privacy_sql.kernels.beliefs.kernel_prior import Kernel, Number, as_number
from privacy_sql.kernels.beliefs.move import ESTIMATED, exact_posteriors
from privacy_sql.table import Table

if TYPE_CHECKING:
    from privacy_sql.beliefs.beliefs import Bandwidth

Belief = Sequence[Any] | Mapping[Any, Any]


class Beliefs(Sequence[Any]):
    """One probability per sensitive value; read by place, or by value.

    >>> b = Beliefs({"cold": 0.25, "flu": 0.75})
    >>> list(b), b["flu"], b.get("measles", 0)
    ([0.25, 0.75], 0.75, 0)
    """

    def __init__(self, by_value: Mapping[Any, Any]) -> None:
        self._by_value = dict(by_value)
        self._places = list(self._by_value.values())

    def __getitem__(self, place: Any) -> Any:
        return self._by_value[place] if place in self._by_value else self._places[place]

    def __len__(self) -> int:
        return len(self._places)

    def get(self, value: object, default: object = None) -> Any:
        return self._by_value.get(value, default)

    def keys(self) -> list[Any]:
        return list(self._by_value)

    def __repr__(self) -> str:
        return f"Beliefs of {len(self)} values"  # a log must not show a value of the data


@dataclass(frozen=True)
class Priors(Sequence[Any]):
    """One belief per kind of person (None if nobody resembles it), the kinds, and how they were computed."""

    rows: tuple[Beliefs | None, ...]
    kinds: tuple[tuple[Any, ...], ...] = field(repr=False)
    path: str

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)


def prior(
    engine: Engine,
    table: Table,
    bandwidth: Bandwidth = "0.3",
    kernel: Kernel = "epanechnikov",
    targets: Sequence[Sequence[Any]] | None = None,
    path: str = "auto",
) -> Priors:
    """P_pri(B, q) for every kind of person in the table, or for the `targets`: li2009, eq. (2).

    `path` is dense (in memory), chain (in SQL) or auto. Small tables give exact fractions.

    >>> import pandas as pd, privacy_sql as ps
    >>> people = pd.DataFrame({"age": [20, 30, 40], "disease": ["flu", "cold", "flu"]})
    >>> with ps.connect() as engine:
    ...     found = prior(engine, ps.Table(people, ["age"], "disease"), "3/4", targets=[[20]])
    >>> found[0]["flu"]
    Fraction(9, 14)
    """
    if path not in ("auto", "dense", "chain"):
        raise UsageError("bad_path", "path must be dense, chain or auto")
    base = count(engine, table)
    study = studied_table.studied(base, targets, in_fractions=True)
    found = beliefs.prior(study, bandwidth, kernel, path)
    kinds = tuple(map(tuple, targets)) if targets is not None else _kinds(base, study)
    return Priors(tuple(_row(study, row) for row in found.beliefs), kinds, found.path)


def _row(study: studied_table.Studied, row: npt.NDArray[Any]) -> Beliefs | None:
    cells = list(row) if row.dtype == object else row.tolist()
    if any(cell is None or cell != cell for cell in cells):
        return None
    by_value = dict(zip(study.values.values(), cells, strict=True))
    declared = (study.base.table.domains or {}).get(study.base.table.sensitives[0])
    if isinstance(declared, list | tuple) and not is_span(declared):
        # a declared domain gives the order; values that do not occur get no belief
        by_value = {**dict.fromkeys(declared, 0 * cells[0]), **by_value}
    return Beliefs(by_value)


def _kinds(base: Base, study: studied_table.Studied) -> tuple[tuple[Any, ...], ...]:
    dictionaries = [studied_table.dictionary(base, column) for column in study.columns]
    return tuple(
        tuple(known.get(code) for known, code in zip(dictionaries, row, strict=True))
        for row in study.kinds.tolist()
    )


@dataclass(frozen=True)
class GroupBeliefs:
    """What the adversary believes about one kind of person in one group, before and after."""

    group: int
    kind: tuple[Any, ...] = field(repr=False)
    people: int
    prior: Beliefs
    posterior: Beliefs | None  # None: undecided or impossible
    known: str  # exact, estimated, undecided or impossible
    path: str  # sql or memory


@overload
def posterior(
    prior: Sequence[Any] | npt.NDArray[Any], counts: Sequence[int], *, method: str = "exact"
) -> GroupPosterior: ...


@overload
def posterior(
    engine: Engine,
    table: Table,
    bandwidth: Bandwidth = "0.3",
    kernel: Kernel = "epanechnikov",
    *,
    method: str = "exact",
    sweeps: int = SWEEPS,
    path: str = "auto",
) -> list[GroupBeliefs]: ...


def posterior(*question: Any, method: str = "exact", **more: Any) -> GroupPosterior | list[GroupBeliefs]:
    """P*(s|t): beliefs after a release, for one group or for all groups of a table (li2009, Sec. III).

    `posterior(prior=matrix, counts=[...])` returns one group with `.values`, `.likelihood` and `.flags`.
    `posterior(engine, table, bandwidth=...)` returns every kind of person in every group; one SQL statement
    estimates all groups. Exact posteriors are computed in memory for groups of up to 2,000,000 count vectors,
    or with `path="sql"` in the engine for up to 20,000; larger groups stay undecided.

    >>> posterior(prior=[["0", "1"], ["0", "1"], ["3/10", "7/10"]], counts=[1, 2], method="omega").values[2][
    ...     0
    ... ]
    Fraction(27, 41)
    """
    if question and not isinstance(question[0], Sequence | np.ndarray):
        return _of_table(*question, **{**more, "method": method})
    return GroupPosterior.of(*question, **{**more, "method": method})


@dataclass(frozen=True)
class GroupPosterior:
    """Beliefs per person (None when undefined), the likelihood of the group, and what went wrong."""

    values: list[list[Any] | None] | None
    likelihood: Number | None
    log10_likelihood: float | None
    flags: tuple[str, ...]

    @classmethod
    def of(cls, prior: Sequence[Any], counts: Sequence[int], method: str = "exact") -> GroupPosterior:
        """Those of a group with these counts, from what is believed about each of its people."""
        found = posteriors.group_posterior(_numbers(prior), counts, method)
        rows = None
        if found.values is not None:
            rows = [None if any(c is None or c != c for c in row) else row for row in found.values.tolist()]
        return cls(rows, found.likelihood, found.log10_likelihood, found.flags)


def _numbers(given: Sequence[Sequence[Any]] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Fractions and text stay exact, floats stay floats."""
    cells = given.tolist() if isinstance(given, np.ndarray) else [list(row) for row in given]
    numbers = [[as_number(cell) for cell in row] for row in cells]
    floats = any(isinstance(cell, float) for row in numbers for cell in row)
    return np.array(numbers, dtype=float if floats else object)


def _of_table(
    engine: Engine,
    table: Table,
    bandwidth: Bandwidth = "0.3",
    kernel: Kernel = "epanechnikov",
    method: str = "exact",
    sweeps: int = SWEEPS,
    path: str = "auto",
) -> list[GroupBeliefs]:
    if method not in ("exact", "omega", "sinkhorn"):
        raise UsageError("bad_method", "method must be exact, omega or sinkhorn")
    if path not in ("auto", "memory", "sql") or (path == "memory" and method != "exact"):
        raise UsageError("bad_path", "path must be memory (for exact posteriors), sql or auto")
    base = count(engine, table)
    study = studied_table.studied(base)
    before = beliefs.prior(study, bandwidth, kernel).beliefs.astype(float)
    groups = beliefs.published(Grouping.by(base, base.own_keys()), study)
    if path == "auto":
        path = "memory" if method == "exact" else "sql"
    after: Any
    known: Sequence[str]
    if path == "memory":
        after, known = exact_posteriors(before, groups.group, groups.kind, groups.people, groups.counts)
    elif method == "exact":
        after, known = exact(study, groups, before)
    else:
        after = estimated(study, groups, before, 1 if method == "omega" else sweeps)[method]
        known = [ESTIMATED] * len(groups.counts)
    kinds = _kinds(base, study)
    return [
        GroupBeliefs(
            int(groups.group[i]) + 1,
            kinds[groups.kind[i]],
            int(groups.people[i]),
            Beliefs(dict(zip(study.values.values(), before[groups.kind[i]].tolist(), strict=True))),
            _row(study, after[i]),
            known[groups.group[i]],
            path,
        )
        for i in range(len(groups.group))
    ]


def posterior_over_groups(
    group_counts: Sequence[Mapping[Any, int]], prior: Mapping[Any, Any]
) -> dict[Any, Number] | None:
    """The belief about a person whose group in each release is known; None when no value is possible."""
    return posteriors.posterior_over_groups(group_counts, {s: as_number(p) for s, p in prior.items()})


def belief_distance(
    p: Belief,
    q: Belief,
    measure: str | None = None,
    hierarchy: Hierarchy | Sequence[Any] | None = None,
    bandwidth: Number | str = "3/4",
    normalise: distances.Normalise = "after",
    log_base: int | str = 2,
) -> Number:
    """How far apart two beliefs are: js, smoothed_js, kl, emd or tv (li2009, Sec. IV.B).

    `hierarchy` says how far apart values are: a hierarchy, a matrix, or the numbers themselves. Without
    `measure`, the distance is smoothed_js if there is a hierarchy and js otherwise.

    >>> round(belief_distance([0.01, 0.99], [0.11, 0.89]), 6)
    0.03709
    """
    names, a, b = _aligned(p, q)
    name = measure or ("js" if hierarchy is None else "smoothed_js")
    if name == "js":
        return float(distances.jensen_shannon(a, b, log_base))
    if name == "kl":
        return float(distances.kullback_leibler(a, b, log_base))
    if name == "tv":
        apart_in_all: Number = distances.total_variation(a, b)
        return apart_in_all
    if name not in ("smoothed_js", "emd"):
        raise UsageError("bad_measure", "measure must be js, smoothed_js, kl, emd or tv")
    apart = _apart(names, hierarchy, len(a))
    if name == "emd":
        return distances.earth_movers(a, b, 1 - np.eye(len(a), dtype=int) if apart is None else apart)
    if apart is None:
        raise UsageError("no_distances", "smoothing needs a hierarchy or a matrix of the sensitive values")
    return float(distances.smoothed_jensen_shannon(a, b, apart, bandwidth, normalise, log_base))


def smooth(
    p: Belief,
    hierarchy: Hierarchy | Sequence[Any] | None,
    bandwidth: Number | str = "3/4",
    normalise: distances.Normalise = "after",
) -> list[Any]:
    """A belief after kernel smoothing over the sensitive values (li2009, Sec. IV.B.2).

    >>> from privacy_sql.hierarchies import Tree
    >>> smooth(["1", "0"], Tree({"a": ["*"], "b": ["*"]}), "2")
    [Fraction(4, 7), Fraction(3, 7)]
    """
    names, belief, _ = _aligned(p, p)
    apart = _apart(names, hierarchy, len(belief))
    if apart is None:
        raise UsageError("no_distances", "smoothing needs a hierarchy or a matrix of the sensitive values")
    found: list[Any] = distances.smooth(belief, apart, bandwidth, normalise).tolist()
    return found


def _aligned(p: Belief, q: Belief) -> tuple[list[Any] | None, Any, Any]:
    """Both beliefs over the same values in the same order, and the names of the values if given."""
    names = None
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        names = list(dict.fromkeys([*p, *q]))
        p, q = [p.get(name, 0) for name in names], [q.get(name, 0) for name in names]
    a, b = _numbers([list(p)])[0], _numbers([list(q)])[0]
    if len(a) != len(b) or not len(a):
        raise UsageError("bad_belief", "both beliefs need one probability for each sensitive value")
    if any(min(belief) < 0 or abs(sum(belief) - 1) > Fraction(1, 10**9) for belief in (a, b)):
        raise UsageError("bad_belief", "the probabilities of a belief must be 0 or more and sum to 1")
    return names, a, b


def _apart(
    names: list[Any] | None, hierarchy: Hierarchy | Sequence[Any] | None, size: int
) -> npt.NDArray[Any] | None:
    if hierarchy is None:
        return None
    if isinstance(hierarchy, Hierarchy):
        known = names if names is not None else list(hierarchy.leaves())
        if len(known) != size:
            raise UsageError(
                "bad_belief",
                f"the belief has {size} probabilities, and the hierarchy has {len(known)} values",
            )
        return resemblance("belief", known, hierarchy, exact=True).distances
    cells = list(hierarchy)
    if cells and not isinstance(cells[0], Sequence | np.ndarray):
        return resemblance("belief", [as_number(v) for v in cells], exact=True).distances
    return resemblance(
        "belief", list(range(size)) if names is None else names, matrix=cells, exact=True
    ).distances
