"""How much anonymity an intersection attack leaves each person, and how many people it exposes.

Ganta et al. 2008, Sec. 2.1. This module does not locate people in a release: it starts from the sensitive
values of the groups a person may be in.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from privacy_sql.errors import UsageError

DEFAULT_LEVELS = (Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4))


@dataclass(frozen=True)
class Anonymity:
    """Anonymity of one person before and after the attack.

    `prior` is the effective anonymity in each release (EA, Def. 8), None where no group fits the person;
    `posterior` is the number of values that all releases leave possible.
    """

    prior: tuple[int | None, ...]
    posterior: int | None
    ambiguous: bool = False

    @property
    def status(self) -> str:
        """ok, empty (no value is in every release) or unlocated (a release has no group for the person)."""
        if None in self.prior or self.posterior is None:
            return "unlocated"
        return "ok" if self.posterior else "empty"

    @property
    def least_prior(self) -> int | None:
        """The smallest effective anonymity over the releases that have the person."""
        return min((known for known in self.prior if known is not None), default=None)

    @property
    def drop(self) -> int | None:
        """How much anonymity the attack takes away (Anon_Drop)."""
        if self.least_prior is None or self.posterior is None:
            return None
        return self.least_prior - self.posterior

    @property
    def confidence(self) -> Fraction | None:
        """The adversary's confidence, 1 over the posterior anonymity (Def. 9, whose hat is not printed)."""
        return Fraction(1, self.posterior) if self.posterior else None


def intersect(
    groups: Sequence[Sequence[Collection[Hashable]]],
) -> tuple[Anonymity, frozenset[Hashable] | None]:
    """The outcome for one person, and the values left, from the groups that fit them in each release.

    Where several groups of one release fit, any of them may hold the person, so their values are united. A
    release without a fitting group rules nothing out.

    >>> outcome, values = intersect([[{"AIDS", "flu"}], [{"AIDS", "cancer"}, {"cold"}]])
    >>> outcome.prior, sorted(values), outcome.ambiguous
    ((2, 3), ['AIDS'], True)
    """
    united = [
        frozenset(value for group in fitting for value in group) if fitting else None for fitting in groups
    ]
    known = [values for values in united if values is not None]
    left = reduce(frozenset.intersection, known) if known else None
    prior = tuple(None if values is None else len(values) for values in united)
    ambiguous = any(len(fitting) > 1 for fitting in groups)
    return Anonymity(prior, None if left is None else len(left), ambiguous), left


@dataclass(frozen=True)
class Tally:
    """Located people who share a least prior and a posterior anonymity, counted together."""

    least_prior: int
    posterior: int
    people: int
    prior_sums: tuple[int, ...]


@dataclass(frozen=True)
class Summary:
    """The attack over a population `people` (their P); shares of people are percentages of all of them.

    `percent_at` is PVP at each confidence level; `perfect_new` leaves out people whom a single release
    already exposes. Averages are over the people located in every release, None when there are none.
    """

    people: int
    n_ok: int
    n_empty: int
    n_unlocated: int
    vulnerable: int
    percent_at: Mapping[Fraction, Fraction]
    perfect: Fraction
    perfect_new: Fraction
    average_prior: tuple[Fraction | None, ...]
    average_posterior: Fraction | None
    average_drop: Fraction | None


def summarise(
    tallies: Iterable[Tally],
    *,
    people: int,
    releases: int,
    levels: Iterable[Fraction] = DEFAULT_LEVELS,
) -> Summary:
    """Add up the tallies: vulnerable population, share exposed at each level, anonymity before and after.

    A person counts at level C when at most 1/C values are left. With no value left they count nowhere, since
    releases that contradict each other locate nobody. Levels are compared as exact fractions.
    """
    if people < 1:
        raise UsageError(
            "nobody", "the releases share nobody to attack", hint="Name the people in all releases."
        )
    located = list(tallies)
    found = [each for each in located if each.posterior > 0]
    n_ok = sum(each.people for each in found)
    n_located = sum(each.people for each in located)
    sole = [each for each in found if each.posterior == 1]
    return Summary(
        people=people,
        n_ok=n_ok,
        n_empty=n_located - n_ok,
        n_unlocated=people - n_located,
        vulnerable=sum(each.people for each in found if each.least_prior > each.posterior),
        percent_at={level: _percent(_exposed(found, level), people) for level in levels},
        perfect=_percent(_exposed(found, Fraction(1)), people),
        perfect_new=_percent(sum(each.people for each in sole if each.least_prior > 1), people),
        average_prior=tuple(_average([each.prior_sums[j] for each in found], n_ok) for j in range(releases)),
        average_posterior=_average([each.posterior * each.people for each in found], n_ok),
        average_drop=_average([(each.least_prior - each.posterior) * each.people for each in found], n_ok),
    )


def _exposed(found: Iterable[Tally], level: Fraction) -> int:
    return sum(each.people for each in found if each.posterior * level <= 1)


def _percent(part: int, people: int) -> Fraction:
    return Fraction(100 * part, people)


def _average(sums: Iterable[int], people: int) -> Fraction | None:
    return Fraction(sum(sums), people) if people else None
