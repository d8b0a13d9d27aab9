"""Query error: how wrong counting queries come out when they are answered from the release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privacy_sql.utilities import Measurable, Query, Utility


def random_queries(
    domains: Sequence[int], dimension: int, selectivity: float, n_queries: int, generator: np.random.Generator
) -> list[Query]:
    """Counting queries over `dimension` columns and the sensitive one, which is the last of `domains`.

    Xiao and Tao 2006, Sec. 6, as Li et al. 2009, Sec. V (Fig. 6), use it: every predicate accepts the same
    share of its domain, so that together they accept about `selectivity` of the rows.

    >>> (query,) = random_queries([10, 4, 2], 1, 0.25, 1, np.random.default_rng(1))
    >>> {column: list(values) for column, values in query.items()}
    {0: [0, 1, 3, 5, 7], 2: [1]}
    """
    last = len(domains) - 1
    share = selectivity ** (1 / (dimension + 1))
    queries: list[Query] = []
    for _ in range(n_queries):
        columns = sorted(int(c) for c in generator.choice(last, size=min(dimension, last), replace=False))
        queries.append({c: some(domains[c], share, generator) for c in [*columns, last]})
    return queries


def relative_error(actual: int, estimate: float) -> float:
    """The distance of an answer from the true count, as a share of the true count.

    >>> relative_error(4, 5.0)
    0.25
    """
    return abs(actual - estimate) / actual


def mean_relative_error(answers: Iterable[tuple[int, float]]) -> float | None:
    """The mean over the queries with rows behind them; None when there is none.

    Li et al. 2009, Sec. V: a query whose true answer is 0 has no relative error and is left out.

    >>> mean_relative_error([(4, 5.0), (0, 1.0), (2, 1.0)])
    0.375
    """
    errors = [relative_error(actual, estimate) for actual, estimate in answers if actual > 0]
    return sum(errors) / len(errors) if errors else None


@dataclass(frozen=True)
class Some(Collection[int]):
    """Some of the values of a domain, a bit for each: of a million values many queries are remembered.

    >>> Some.of(np.array([2, 0]), 9).chosen.tolist(), 2 in Some.of(np.array([2, 0]), 9)
    ([0, 2], True)
    """

    bits: bytes
    domain: int

    @classmethod
    def of(cls, values: npt.NDArray[np.int64], domain: int) -> Some:
        held = np.zeros(domain, np.bool_)
        held[values] = True
        return cls(np.packbits(held).tobytes(), domain)

    @property
    def chosen(self) -> npt.NDArray[np.int64]:
        """The values, in order."""
        return np.flatnonzero(np.unpackbits(np.frombuffer(self.bits, np.uint8), count=self.domain))

    def __contains__(self, value: object) -> bool:
        return bool((self.chosen == value).any())

    def __iter__(self) -> Iterator[int]:
        return iter(self.chosen.tolist())

    def __len__(self) -> int:
        return len(self.chosen)


def some(domain: int, share: float, generator: np.random.Generator) -> Some:
    """A random share of a domain, at least one value."""
    wanted = max(1, round(domain * share))
    return Some.of(generator.choice(domain, size=wanted, replace=False), domain)


class QueryError(Utility):
    """The mean relative error of counting queries (li2009, Sec. V, Fig. 6).

    The same seed asks the same queries of every choice, and of every release of the same table. A reader
    spreads published rows evenly over what their labels cover; suppressed rows are not in the answer.
    """

    name = "query_error"
    reads_sensitive = True
    needs_sensitive = True
    dimension = 3
    selectivity = 0.05
    n_queries = 200
    seed = 2009
    on_arrays = True

    def measure(self, choice: Measurable) -> float:
        return self.value(*choice.answers(self))

    def queries(self, domains: Sequence[int]) -> list[Query]:
        """The queries; the last domain is that of the sensitive value."""
        generator = np.random.default_rng(self.seed)
        return random_queries(domains, self.dimension, self.selectivity, self.n_queries, generator)

    def value(self, actual: Mapping[int, float], estimated: Mapping[int, float]) -> float:
        """The mean relative error over the queries that somebody answers to; 0 when there is none.

        >>> QueryError().value({0: 4.0}, {0: 5.0, 1: 2.0})
        0.25
        """
        pairs = [(round(count), estimated.get(query, 0.0)) for query, count in actual.items()]
        return mean_relative_error(pairs) or 0.0
