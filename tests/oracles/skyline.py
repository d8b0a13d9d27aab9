"""Breach probability by listing every world and every piece of knowledge (Chen et al. 2008, Defs. 1 to 3).

A release is a list of groups; a group is (people, {value: count}). Nothing here uses the paper's results.
Only for a handful of people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product

Person = tuple[int, int]  # group number, place in the group
World = Mapping[Person, frozenset[str]]
ReleaseOf = Sequence[tuple[int, Mapping[str, int]]]


def at_most(items: Sequence, amount: int) -> Iterator[tuple]:
    """Every selection of at most `amount` different items."""
    return chain.from_iterable(combinations(items, size) for size in range(min(amount, len(items)) + 1))


def worlds_of_group(number: int, people: int, counts: Mapping[str, int], case: str) -> Iterator[World]:
    """Every reconstruction of one group, as often as the occurrences can be told apart to give it."""
    members = [(number, place) for place in range(people)]
    if case == "one":
        occurrences = [value for value, count in counts.items() for _ in range(count)]
        assert len(occurrences) == people
        yield from _hand_out(members, occurrences)
        return
    choices = []
    for count in counts.values():
        if case == "set":
            choices.append([frozenset(chosen) for chosen in combinations(members, count)])
        else:
            choices.append([frozenset(chosen) for chosen in product(members, repeat=count)])
    for chosen in product(*choices):
        yield {
            person: frozenset(value for value, who in zip(counts, chosen, strict=True) if person in who)
            for person in members
        }


def _hand_out(members: list[Person], occurrences: list[str]) -> Iterator[World]:
    """Every different way to give one occurrence to each member; all arise from equally many matchings."""
    if not members:
        yield {}
        return
    for value in sorted(set(occurrences)):
        rest = list(occurrences)
        rest.remove(value)
        for world in _hand_out(members[1:], rest):
            yield {members[0]: frozenset([value]), **world}


class Oracle:
    """All worlds of a release; a statement is the bit set of the worlds where it is true."""

    def __init__(self, release: ReleaseOf, case: str) -> None:
        self.case, self.release = case, release
        groups = [list(worlds_of_group(i, n, counts, case)) for i, (n, counts) in enumerate(release)]
        self.people = [(i, place) for i, (n, _) in enumerate(release) for place in range(n)]
        self.values = sorted({value for _, counts in release for value in counts})
        worlds = [dict(chain.from_iterable(w.items() for w in parts)) for parts in product(*groups)]
        self.all = (1 << len(worlds)) - 1
        self._has = {
            (person, value): sum(1 << i for i, world in enumerate(worlds) if value in world[person])
            for person in self.people
            for value in self.values
        }

    def has(self, person: Person, value: str) -> int:
        return self._has.get((person, value), 0)

    def implies(self, premise: int, conclusion: int) -> int:
        return (self.all & ~premise) | conclusion

    def probability(self, statement: int, knowledge: int) -> Fraction | None:
        if not knowledge:
            return None
        return Fraction((statement & knowledge).bit_count(), knowledge.bit_count())

    def about_target(self, t: Person, sigma: str, ruled_out: Sequence[str]) -> int:
        """Def. 1: t does not have x. Def. 2: if t has x, t has σ."""
        known = self.all
        for x in ruled_out:
            goal = self.has(t, sigma) if self.case != "one" else 0
            known &= self.implies(self.has(t, x), goal)
        return known

    def about_others(self, facts: Sequence[tuple[Person, str]]) -> int:
        """Def. 1: u has y. Def. 2: u does not have σ."""
        known = self.all
        for person, value in facts:
            known &= self.has(person, value) if self.case == "one" else self.all & ~self.has(person, value)
        return known

    def about_family(self, t: Person, sigma: str, family: Sequence[Person]) -> int:
        known = self.all
        for v in family:
            known &= self.implies(self.has(v, sigma), self.has(t, sigma))
        return known

    def facts_about_others(self, t: Person, sigma: str, known: int) -> Iterator[tuple]:
        """u ≠ t; two facts about one person are allowed, as the definition allows them."""
        values = self.values if self.case == "one" else [sigma]
        facts = [(u, y) for u in self.people if u != t for y in values]
        return at_most(facts, known)

    def breach(
        self, sigma: str, ruled_out: int, known: int, family: int, group: int | None = None
    ) -> Fraction:
        """The maximum over all targets, or those of one group, and all knowledge of at most these amounts."""
        targets = [person for person in self.people if group in (None, person[0])]
        return max(self._disclosures(targets, sigma, ruled_out, known, family), default=Fraction(0))

    def _disclosures(
        self, targets: Sequence[Person], sigma: str, ruled_out: int, known: int, family: int
    ) -> Iterator[Fraction]:
        others = [x for x in self.values if x != sigma]
        for t in targets:
            goal = self.has(t, sigma)
            for facts in self.facts_about_others(t, sigma, known):
                told = self.about_others(facts)
                free = [v for v in self.people if v != t and v not in {u for u, _ in facts}]
                for xs in at_most(others, ruled_out):
                    about_t = told & self.about_target(t, sigma, xs)
                    for relatives in at_most(free, family):
                        answer = self.probability(goal, about_t & self.about_family(t, sigma, relatives))
                        if answer is not None:
                            yield answer
