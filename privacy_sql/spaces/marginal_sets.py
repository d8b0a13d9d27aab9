"""The decomposable collections of anonymized marginals, one edge or vertex apart from each other.

Kifer & Gehrke 2006, Sect. 6.2. A collection is its interaction graph over induced attributes: a vertex
L_i per step of resolution, an edge where two stand in one marginal. The rules for adding and removing keep
the graph triangulated and every marginal a real generalization. Differs from the paper's words: "two or
more marginals" means maximal cliques, and a common neighbourhood may be an empty separator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from privacy_sql.kernels.marginals.junction_tree import Resolutions

Graph = tuple[int, ...]  # per vertex the bits of its neighbours and itself; 0 when it is not there


@dataclass(frozen=True, slots=True)
class Collection:
    """One choice: an interaction graph, with the KL divergence it leaves (smaller is better)."""

    graph: Graph
    kl: float = field(compare=False)


@dataclass(frozen=True)
class MarginalSets:
    """All decomposable collections whose marginals are `admissible` one by one.

    `resolutions` is the finest resolution of each attribute worth publishing; `entropy` gives, in nats, the
    entropy of a marginal, and `spread` that of spreading one attribute's nodes over their leaves. `given` is
    a table already chosen: its edges and vertices stay. At most `max_with_sensitive` marginals hold any one
    of the `sensitive` attributes. `admissible` must be monotone: true of every coarser marginal of one it is
    true of (k-link anonymity and diversity of the single marginal both are).
    """

    resolutions: Resolutions
    sensitive: tuple[int, ...]
    admissible: Callable[[Resolutions], bool]
    entropy: Callable[[Resolutions], float]
    spread: Callable[[int, int], float]
    original_entropy: float
    given: Resolutions | None = None
    max_with_sensitive: int | None = None
    # every row of bits met, once: collections share them, there being far fewer rows
    _rows: dict[int, int] = field(init=False, repr=False, compare=False, default_factory=dict)
    _marginals: dict[int, Resolutions] = field(init=False, repr=False, compare=False, default_factory=dict)

    @cached_property
    def vertices(self) -> list[tuple[int, int]]:
        """(attribute, i) of every vertex; its place is its bit."""
        return [(a, i) for a, r in enumerate(self.resolutions) for i in range(1, r + 1)]

    @cached_property
    def _stretch(self) -> list[list[int]]:
        """Per attribute, the bits of L_1..L_r for r = 0, 1, ..."""
        place = {vertex: place for place, vertex in enumerate(self.vertices)}
        return [
            [sum(1 << place[a, i] for i in range(1, r + 1)) for r in range(self.resolutions[a] + 1)]
            for a in range(len(self.resolutions))
        ]

    def mask(self, marginal: Resolutions) -> int:
        """The bits of a marginal's induced attributes."""
        return sum(self._stretch[a][r] for a, r in enumerate(marginal))

    def marginal(self, mask: int) -> Resolutions:
        """The marginal of a set of bits."""
        known = self._marginals.get(mask)
        if known is None:
            known = tuple((mask & stretch[-1]).bit_count() for stretch in self._stretch)
            self._marginals[mask] = known
        return known

    @property
    def start(self) -> Collection:
        """Every attribute on its own at the finest admissible resolution, and the given table.

        Nothing better leaves one of them out: a marginal of one nonsensitive attribute costs no diversity
        (Prop. 7.3) and never hurts use (Theorem 6.3), and when not even the sensitive attribute alone is
        admissible no marginal with it is.
        """
        singles = []
        for a, most in enumerate(self.resolutions):
            alone = ((*(0,) * a, r, *(0,) * (len(self.resolutions) - a - 1)) for r in range(most, 0, -1))
            singles += [next((single for single in alone if self.admissible(single)), None)]
        marginals = [single for single in singles if single] + ([self.given] if self.given else [])
        return self.collection(marginals)

    def collection(self, marginals: list[Resolutions]) -> Collection:
        """The collection of some marginals, built up from nothing by the rules for adding."""
        wanted = [self.mask(marginal) for marginal in marginals]
        graph = [0] * len(self.vertices)
        for clique in wanted:
            for place in _bits(clique):
                graph[place] |= clique
        target = tuple(graph)
        spread = sum(self.spread(a, 0) for a in range(len(self.resolutions)))
        collection = Collection((0,) * len(self.vertices), spread - self.original_entropy)
        while collection.graph != target:
            inside = (
                larger
                for larger in self._additions(collection, lambda _: True)
                if all(bits & ~goal == 0 for bits, goal in zip(larger.graph, target, strict=True))
            )
            collection = next(inside)
        return collection

    def larger(self, collection: Collection) -> Iterator[Collection]:
        """The admissible collections with one edge or vertex more."""
        return self._additions(collection, self.admissible)

    def _additions(
        self, collection: Collection, admissible: Callable[[Resolutions], bool]
    ) -> Iterator[Collection]:
        for added, common in self._new_cliques(collection.graph):
            marginal = self.marginal(added | common)
            if admissible(marginal):
                graph = list(collection.graph)
                for place in _bits(added):
                    graph[place] |= added | (common if added.bit_count() == 1 else 0)
                if added.bit_count() == 1:
                    for place in _bits(common):
                        graph[place] |= added
                larger = tuple(map(self._rows.setdefault, graph, graph))
                most = self.max_with_sensitive
                bounded = any((added | common) & self._stretch[a][-1] for a in self.sensitive)
                if most is None or not bounded or self.with_sensitive(larger) <= most:
                    yield Collection(larger, collection.kl - self._gain(added, common))

    def with_sensitive(self, graph: Graph) -> int:
        """How many marginals hold the sensitive attribute; of several, the one that most hold."""
        cliques = maximal_masks(graph)
        held = (sum(bool(clique & self._stretch[a][-1]) for clique in cliques) for a in self.sensitive)
        return max(held, default=0)

    def _new_cliques(self, graph: Graph) -> Iterator[tuple[int, int]]:
        """Every allowed addition: the bits of the new edge or vertex, and its common neighbours."""
        for place, (a, i) in enumerate(self.vertices):
            below = self._stretch[a][i - 1]
            if not graph[place] and all(graph[p] for p in _bits(below)):
                yield 1 << place, below
        for u, v in combinations(range(len(graph)), 2):
            (a, i), (b, j) = self.vertices[u], self.vertices[v]
            if a == b or not graph[u] or not graph[v] or graph[u] >> v & 1:
                continue
            # joined at coarser resolutions already
            if self._stretch[b][j - 1] & ~graph[u] or self._stretch[a][i - 1] & ~graph[v]:
                continue
            common = graph[u] & graph[v]
            if _separated(graph, u, v, common):
                yield 1 << u | 1 << v, common

    def _gain(self, added: int, common: int) -> float:
        """How much the KL divergence falls: a difference of entropies around the new clique."""
        entropy, whole = self.entropy, self.marginal(added | common)
        if added.bit_count() == 1:
            a, i = self.vertices[added.bit_length() - 1]
            finer = entropy(self.marginal(common)) - entropy(whole)
            return finer + self.spread(a, i - 1) - self.spread(a, i)
        u, v = (1 << place for place in _bits(added))
        sides = entropy(self.marginal(common | u)) + entropy(self.marginal(common | v))
        return sides - entropy(whole) - entropy(self.marginal(common))

    def smaller(self, collection: Collection) -> Iterator[Collection]:
        """The collections with one edge or vertex less; never one inside the given table."""
        graph, kept = collection.graph, self.mask(self.given) if self.given else 0
        cliques = maximal_masks(graph)
        for place, (a, i) in enumerate(self.vertices):
            last = i == self.resolutions[a] or not graph[place + 1]
            alone = graph[place] == self._stretch[a][i]
            if graph[place] and last and alone and not kept >> place & 1:
                left = tuple(0 if p == place else bits & ~(1 << place) for p, bits in enumerate(graph))
                yield Collection(left, collection.kl + self._gain(1 << place, self._stretch[a][i - 1]))
        for u, v in combinations(range(len(graph)), 2):
            both = 1 << u | 1 << v
            (a, i), (b, j) = self.vertices[u], self.vertices[v]
            finer_a = self._stretch[a][-1] & ~self._stretch[a][i]
            finer_b = self._stretch[b][-1] & ~self._stretch[b][j]
            coarsest = a != b and not graph[v] & finer_a and not graph[u] & finer_b
            loose = graph[u] >> v & 1 and both & ~kept and coarsest
            if loose and sum(clique & both == both for clique in cliques) == 1:
                apart = list(graph)
                apart[u] &= ~(1 << v)
                apart[v] &= ~(1 << u)
                common = graph[u] & graph[v] & ~both
                yield Collection(tuple(apart), collection.kl + self._gain(both, common))

    def marginals(self, collection: Collection) -> list[Resolutions]:
        """The maximal cliques: the marginals to publish, in sorted order."""
        return sorted(self.marginal(mask) for mask in maximal_masks(collection.graph))

    def restricted(self, given: Resolutions) -> MarginalSets:
        """The same space with a table that must stay."""
        return replace(self, given=given)


def maximal_masks(graph: Graph) -> list[int]:
    """The maximal cliques of a triangulated graph, as bits.

    Vertices whose neighbours form a clique are taken away one after the other (a perfect elimination).

    >>> maximal_masks((0b011, 0b111, 0b110))  # a path of three
    [3, 6]
    """
    left = sum(1 << place for place, bits in enumerate(graph) if bits)
    found: list[int] = []
    while left:
        for place in _bits(left):
            clique = graph[place] & left
            if all(not clique & ~graph[other] for other in _bits(clique)):
                if not any(not clique & ~known for known in found):
                    found.append(clique)
                left &= ~(1 << place)
                break
        else:
            raise ValueError("the graph is not triangulated")
    return found


def _bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _separated(graph: Graph, u: int, v: int, common: int) -> bool:
    """Whether every path from u to v meets their common neighbours (also when there are none)."""
    reached = graph[u] & ~common
    frontier = reached
    while frontier:
        low = frontier & -frontier
        frontier ^= low
        news = graph[low.bit_length() - 1] & ~common & ~reached
        if news >> v & 1:
            return False
        reached |= news
        frontier |= news
    return True
