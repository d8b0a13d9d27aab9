"""A published file of people with several values, read by somebody who knows everybody and counts lines.

The reader knows whose quasi-identifiers lie in which group and that all of them are in the table. In a group
they see how often each value is printed, and how many people have none: a line without a value is a person's
only one. Every way to give people values that prints these lines is as likely (occurrences of a multiset can
be told apart); nothing else is assumed. Only for a handful of people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from tests.oracles.skyline import Oracle

Line = tuple[Hashable, str | None]  # label of the group, value


class Reader(Oracle):
    """All worlds in which exactly the people who are printed without a value have none."""

    def __init__(self, lines: Iterable[Line], people: Mapping[Hashable, int], case: str) -> None:
        counted = Counter(lines)
        labels = list(dict.fromkeys(label for label, _ in counted))
        groups = [
            (
                people[at],
                {value: n for (label, value), n in counted.items() if label == at and value is not None},
            )
            for at in labels
        ]
        super().__init__(groups, case)
        self.printed = self.all
        for number, label in enumerate(labels):
            self.printed &= self._exactly(number, counted[label, None])
        assert self.printed, "no table prints these lines"

    def _exactly(self, group: int, without: int) -> int:
        """The worlds where so many people of a group have no value."""
        members = [person for person in self.people if person[0] == group]
        nothing = {person: self.all for person in members}
        for person in members:
            for value in self.values:
                nothing[person] &= self.all & ~self.has(person, value)
        found = 0
        for chosen in combinations(members, without):
            worlds = self.all
            for person in members:
                worlds &= nothing[person] if person in chosen else self.all & ~nothing[person]
            found |= worlds
        return found

    def probability(self, statement: int, knowledge: int) -> Fraction | None:
        return super().probability(statement, knowledge & self.printed)

    def worst(self, amounts: Sequence[int]) -> Fraction:
        """The largest chance of any value of anybody, with at most these amounts of knowledge."""
        return max((self.breach(value, *amounts) for value in self.values), default=Fraction(0))
