"""Estimates from survey weights agree with sums taken term by term, and a weight that is none is refused."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import comb, log, nextafter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.criteria import _risks as risks
from privacy_sql.criteria._risks import EqualGroups
from privacy_sql.kernels.sampled_risk import alone_in_population, expected_risk
from privacy_sql.verdict import Verdict
from tests import engines
from tests.seeds import START


def summed(sampled: int, standing_for: Fraction) -> float:
    """Benedetti and Franconi's sum as it is printed, term by term."""
    p = Fraction(sampled) / standing_for
    q, found = float(1 - p), 0.0
    term = float(p) ** sampled
    for h in range(sampled, sampled + 20_000):
        found += term / h
        term *= q * h / (h - sampled + 1)
    return found


def zayatz(sizes: list[int], population: int) -> Fraction:
    """Of samples drawn without looking, how those alone came about, by the definition of h(i)."""
    n, groups = sum(sizes), Counter(sizes)

    def h(i: int) -> Fraction:
        return Fraction(i * comb(population - i, n - 1), comb(population, n))

    return groups[1] * h(1) / sum((number * h(i) for i, number in groups.items()), Fraction(0))


def test_the_expected_risk_is_the_sum_of_its_definition() -> None:
    for sampled in (1, 2, 3, 5, 29, 30, 31, 40):
        for people in ("1", "1.001", "1.3", "1.99", "2", "2.01", "7", "120"):
            standing_for = sampled * Fraction(people)
            found = expected_risk(sampled, float(standing_for))
            assert found == pytest.approx(summed(sampled, standing_for), rel=1e-9), (sampled, people)


def test_the_expected_risk_of_nearly_a_census_is_that_of_the_sample() -> None:
    # the formula printed for two people, in floating point, gives -109.5 here
    assert expected_risk(2, 2 / (1 - 1e-9)) == pytest.approx(0.5, abs=1e-8)
    for sampled in (1, 2, 7, 1_000):
        assert expected_risk(sampled, float(sampled)) == pytest.approx(1 / sampled, rel=1e-12)
        assert expected_risk(sampled, nextafter(sampled, 2 * sampled)) <= nextafter(1 / sampled, 1)


def test_the_expected_risk_falls_as_more_people_are_behind_the_sample() -> None:
    for sampled in (1, 2, 30, 31, 5_000):
        found = [
            expected_risk(sampled, sampled * weight) for weight in (1, 1.5, 1.999, 2, 2.001, 9, 1e4, 1e11)
        ]
        assert found == sorted(found, reverse=True) and all(0 < risk <= 1 / sampled for risk in found)


def test_the_share_alone_is_that_of_the_definition() -> None:
    draw = random.Random(START + 24)
    for _ in range(200):
        sizes = [draw.randint(1, 5) for _ in range(draw.randint(1, 8))]
        if 1 not in sizes:
            sizes.append(1)
        population = sum(sizes) + draw.randint(0, 40)
        assert alone_in_population(dict(Counter(sizes)), population) == zayatz(sizes, population), sizes


def test_large_groups_are_weighed_in_floating_point_and_agree() -> None:
    groups = {1: 40, 2: 10, 1_500: 1}
    exact = zayatz([1] * 40 + [2] * 10 + [1_500], 20_000)
    assert float(alone_in_population(groups, 20_000) or 0) == pytest.approx(float(exact), rel=1e-9)


def test_a_census_whose_people_are_never_alone_says_nothing() -> None:
    assert alone_in_population({2: 3}, 6) is None
    assert alone_in_population({1: 2, 2: 3}, 8) == 1


def table(weights: list[Any], ages: str = "aab", **roles: Any) -> ps.Table:
    return ps.Table(
        pd.DataFrame({"age": list(ages), "w": weights, **roles.pop("more", {})}), ["age"], weight="w", **roles
    )


def estimated(engine: Any, asked: ps.Table) -> dict[str, Any]:
    found: dict[str, Any] = ps.risk(engine, asked)["estimates"]
    return found


def test_weights_are_added_up_group_by_group(engine: Any) -> None:
    found = estimated(engine, table(["1.5", "8.5", "100"]))
    assert found["population"] == "110"
    assert found["risk_max"] == pytest.approx(expected_risk(2, 10))
    mean = (2 * expected_risk(2, 10) + log(100) / 99) / 3
    assert found["risk_average"] == pytest.approx(mean)
    assert Fraction(found["alone_in_population"]) == zayatz([2, 1], 110)
    assert found["alone_at_most"] == "1/3"


def test_a_person_with_several_values_weighs_once(engine: Any) -> None:
    more = {"who": [1, 1, 2], "ill": ["flu", "cold", None]}
    asked = table(["3", "3", "7"], more=more, sensitive="ill", identifier="who", values_per_person="set")
    found = estimated(engine, asked)
    assert found["population"] == "10" and found["alone_at_most"] == "1"
    for kind in ("set", "multiset"):
        for weights in (["3", "4", "7"], ["3", None, "7"], ["3", "3", None]):
            apart = table(weights, more=more, sensitive="ill", identifier="who", values_per_person=kind)
            with pytest.raises(ps.PrivacySqlError) as problem:
                ps.risk(engine, apart)
            assert problem.value.code == "bad_weight" and problem.value.exit == 3


def test_rows_that_stand_for_several_people_weigh_as_often(engine: Any) -> None:
    asked = table(["5", "2", "9"], more={"n": [2, 1, 0]}, count="n")
    found = estimated(engine, asked)
    assert found["population"] == "12" and found["risk_max"] == pytest.approx(expected_risk(3, 12))


def test_weights_of_a_large_survey_are_told_in_digits_that_do_not_fall_short() -> None:
    """48,842 people in groups of many sizes stand for nine billion: the fraction has thousands of digits."""
    sizes, left = [990], 48_842 - 990
    while left:
        sizes.append(min(len(sizes), left))
        left -= sizes[-1]
    ages = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    frame = pd.DataFrame({"age": ages, "w": 189_664})
    with engines.opened() as engine:
        found = estimated(engine, ps.Table(frame, ["age"], weight="w"))
    exact = alone_in_population(dict(Counter(sizes)), 48_842 * 189_664)
    assert isinstance(exact, Fraction) and exact.denominator > 10**4_300
    told = Fraction(found["alone_in_population"])
    assert exact <= told <= exact * (1 + Fraction(1, 10**9)) and len(found["alone_in_population"]) < 20
    assert found["population"] == str(48_842 * 189_664)


def test_a_mean_of_many_risks_is_told_in_digits_on_the_side_that_refuses() -> None:
    """A journalist's risk in a population whose groups have more than a thousand sizes."""
    mean = risks.average([EqualGroups(1, size) for size in range(1_000, 12_000)])
    assert mean.denominator > 10**4_300
    told = [Verdict("r", "c", {}, True, mean, 1, relation).to_json()["value"] for relation in ("<=", ">=")]
    above, below = map(Fraction, told)
    assert below < mean < above < below * (1 + Fraction(1, 10**15)) and max(map(len, told)) < 40


@pytest.mark.parametrize("bad", [None, "", "-1", "0", "0.5", "nan", "NaN", "inf", "1e13", "many", "1,5"])
def test_a_weight_that_is_none_is_refused(engine: Any, bad: str | None) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        ps.risk(engine, table(["1", bad, "2"]))
    assert problem.value.code == "bad_weight" and problem.value.exit == 3
    assert "1 person" in str(problem.value) and (not bad or f'"{bad}"' not in str(problem.value))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0, 0.0, 0.999])
def test_so_is_a_number_that_is_none(engine: Any, bad: float) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        ps.risk(engine, table([1.0, bad, 2.0]))
    assert problem.value.code == "bad_weight"


def test_random_weighted_tables_agree_with_their_people(engine: Any) -> None:
    draw = random.Random(START + 25)
    for _ in range(6):
        n = draw.randint(1, 12)
        ages = [draw.choice(["1", "2", None, "4"]) for _ in range(n)]
        weights = [Fraction(draw.randint(4, 400), 4) for _ in range(n)]
        frame = pd.DataFrame({"age": ages, "w": [str(float(w)) for w in weights]})
        found = estimated(engine, ps.Table(frame, ["age"], weight="w"))
        groups = {age: [w for a, w in zip(ages, weights, strict=True) if a == age] for age in set(ages)}
        risks = {age: expected_risk(len(own), float(sum(own))) for age, own in groups.items()}
        assert found["risk_max"] == pytest.approx(max(risks.values()))
        assert found["risk_average"] == pytest.approx(sum(risks[age] for age in ages) / n)
        assert Fraction(found["population"]) == pytest.approx(sum(weights))
        assert Fraction(found["alone_at_most"]) == Fraction(sum(len(own) == 1 for own in groups.values()), n)


def test_a_release_is_estimated_as_it_is_published(engine: Any) -> None:
    frame = pd.DataFrame({"age": [20, 21, 22, 31, 40], "ill": list("abcab"), "w": [10, 20, 30, 40, 5]})
    asked = ps.Table(frame, {"age": ps.Intervals(10)}, "ill", weight="w")
    release = ps.publish(engine, asked, [ps.KAnonymity(3)], ps.Generalise({"age": 1}, max_suppressed="0.5"))
    found = ps.risk(engine, release)
    assert found["people"] == 3 and "w" not in release.columns
    assert found["estimates"]["population"] == "60"
    assert found["estimates"]["risk_max"] == pytest.approx(expected_risk(3, 60))


def test_boxes_say_why_they_are_not_estimated(engine: Any) -> None:
    frame = pd.DataFrame({"age": [20, 21, 22, 31], "ill": list("abca"), "w": [10, 20, 30, 40]})
    asked = ps.Table(frame, {"age": ps.Intervals(10)}, "ill", weight="w")
    release = ps.publish(engine, asked, [ps.KAnonymity(2)], ps.Multidimensional())
    assert "label" in ps.risk(engine, release)["estimates"]["missing"]


def test_the_verb_calls_them_estimates(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,w\na,2\na,3\nb,100\n")
    words = ["risk", "--source", str(tmp_path / "people.csv"), "--quasi", "age", "--weight", "w"]
    outcome = run(words)
    told = "\n".join(outcome.lines)
    assert outcome.exit == 0 and "estimates from weights, without guarantee: 105 people" in told
    assert "between 0 and 33.3 % of its people are alone" in told
