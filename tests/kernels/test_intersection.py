import json
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import UsageError
from privacy_sql.kernels.composition.intersection import (
    DEFAULT_LEVELS,
    Anonymity,
    Tally,
    intersect,
    summarise,
)
from tests.oracles import intersection_attack as oracle

CASES = json.loads(Path("fixtures/vectors/bt_composition.json").read_text())["cases"]
ATTACKS = [case for case in CASES if case["kind"] == "attack"]
FIELDS = {
    "P": "people",
    "n_ok": "n_ok",
    "n_empty": "n_empty",
    "n_unlocated": "n_unlocated",
    "VP": "vulnerable",
    "PVP": "percent_at",
    "perfect": "perfect",
    "perfect_new": "perfect_new",
    "avg_EA": "average_prior",
    "avg_EA_post": "average_posterior",
    "avg_drop": "average_drop",
}


def tally(outcomes: Iterable[Anonymity]) -> list[Tally]:
    """Count the located outcomes, empty ones included, by least prior and posterior anonymity."""
    people: Counter[tuple[int, int]] = Counter()
    sums: dict[tuple[int, int], list[int]] = {}
    for outcome in outcomes:
        priors = [known for known in outcome.prior if known is not None]
        if outcome.posterior is None or len(priors) < len(outcome.prior):
            continue
        key = (min(priors), outcome.posterior)
        people[key] += 1
        before = sums.get(key, [0] * len(priors))
        sums[key] = [total + prior for total, prior in zip(before, priors, strict=True)]
    return [Tally(*key, n, tuple(sums[key])) for key, n in people.items()]


def exact(value):
    if isinstance(value, dict):
        return {Fraction(level): exact(part) for level, part in value.items()}
    if isinstance(value, list | tuple):
        return tuple(exact(part) for part in value)
    return None if value is None else Fraction(value)


def attack(releases, people, levels):
    """Located by the oracle, measured by the kernel."""
    found = []
    for person in people:
        groups = [oracle.candidate_groups(release, person) for release in releases]
        pairs = zip(releases, groups, strict=True)
        found.append(
            intersect([[oracle.values_of(release, [each]) for each in fit] for release, fit in pairs])
        )
    tallies = tally(outcome for outcome, _ in found)
    return found, summarise(tallies, people=len(people), releases=len(releases), levels=levels)


def same(found, summary, expected):
    for (outcome, values), person in zip(found, expected["individuals"], strict=True):
        assert list(outcome.prior) == person["EA"]
        assert (None if values is None else sorted(values)) == person["set"]
        assert outcome.posterior == person["EA_post"]
        assert outcome.drop == person["anon_drop"]
        assert outcome.confidence == exact(person["confidence"])
        assert (outcome.status, outcome.ambiguous) == (person["status"], person["ambiguous"])
    for name, field in FIELDS.items():
        assert exact(getattr(summary, field)) == exact(expected["aggregate"][name])


@pytest.mark.parametrize("case", ATTACKS, ids=[case["id"] for case in ATTACKS])
def test_attacks_are_those_of_the_vectors(case):
    levels = [Fraction(level) for level in case["input"]["levels"]]
    found, summary = attack(case["input"]["releases"], case["input"]["people"], levels)
    same(found, summary, case["expect"])


@pytest.mark.parametrize("case", ATTACKS, ids=[case["id"] for case in ATTACKS])
def test_the_oracle_agrees_with_the_vectors(case):
    levels = [Fraction(level) for level in case["input"]["levels"]]
    answer = oracle.attack(case["input"]["releases"], case["input"]["people"], levels)
    for mine, theirs in zip(answer["individuals"], case["expect"]["individuals"], strict=True):
        assert {**mine, "confidence": exact(mine["confidence"])} == {
            **theirs,
            "confidence": exact(theirs["confidence"]),
        }
    assert {name: exact(value) for name, value in answer["aggregate"].items()} == {
        name: exact(value) for name, value in case["expect"]["aggregate"].items()
    }


values = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)
group = st.tuples(st.integers(0, 5), st.integers(0, 4), values)


@settings(max_examples=80)
@given(
    st.lists(st.lists(group, max_size=4), min_size=1, max_size=3),
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
)
def test_any_attack_agrees_with_the_oracle(releases, ages):
    described = [
        {
            "locate": "region",
            "groups": [
                {"id": f"g{i}", "region": {"x": {"range": [low, low + width]}}, "sensitive": sensitive}
                for i, (low, width, sensitive) in enumerate(groups)
            ],
        }
        for groups in releases
    ]
    people = [{"id": str(i), "qi": {"x": age}} for i, age in enumerate(ages)]
    levels = list(DEFAULT_LEVELS)
    found, summary = attack(described, people, levels)
    same(found, summary, oracle.attack(described, people, levels))


def test_a_breach_that_one_release_makes_alone_is_not_new():
    found = [Anonymity((1, 5), 1), Anonymity((3, 4), 1), Anonymity((3, 4), 3)]
    summary = summarise(tally(found), people=3, releases=2)
    assert summary.perfect == Fraction(200, 3)
    assert summary.perfect_new == Fraction(100, 3)
    assert summary.vulnerable == 1


def test_releases_that_contradict_each_other_expose_nobody():
    outcome, left = intersect([[{"flu"}], [{"cancer"}]])
    assert (outcome.status, outcome.confidence, left) == ("empty", None, frozenset())
    summary = summarise(tally([outcome]), people=1, releases=2)
    assert (summary.n_empty, summary.vulnerable, summary.perfect) == (1, 0, 0)
    assert summary.average_posterior is None


def test_another_release_never_lowers_confidence_of_a_person_still_located():
    two = intersect([[{"a", "b", "c"}], [{"a", "b"}]])[0]
    three = intersect([[{"a", "b", "c"}], [{"a", "b"}], [{"b", "d"}]])[0]
    assert three.confidence > two.confidence


def test_an_attack_on_nobody_is_refused():
    with pytest.raises(UsageError, match="nobody"):
        summarise([], people=0, releases=2)
