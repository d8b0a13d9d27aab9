"""Risks of re-identification, person by person as regulators define them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction

Labels = Sequence[Hashable]


def of_people(published: Labels, population: Labels | None = None) -> list[Fraction]:
    """One in the people who have the same label, in the table or in the population."""
    everybody = Counter(published if population is None else population)
    return [Fraction(1, everybody[label]) for label in published]


def measured(
    measure: str, published: Labels, population: Labels | None, adversary: str, above: Fraction | None
) -> Fraction:
    risks = of_people(published, None if adversary == "prosecutor" else population)
    if measure == "maximum":
        return max(risks)
    if measure == "above":
        assert above is not None
        return Fraction(sum(risk > above for risk in risks), len(risks))
    mean = sum(risks, Fraction(0)) / len(risks)
    if adversary == "journalist":
        assert population is not None
        fitting = [label for label in population if label in set(published)]
        return max(mean, Fraction(len(set(published)), len(fitting)))
    return mean
