"""Re-identification risk against its definition, person by person; and suppression against all subsets."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.criteria._risks import EqualGroups
from tests import engines
from tests.criteria.random_tables import GROUPS, few, limits
from tests.oracles import risks as oracle
from tests.seeds import seeds

WAYS = [
    {},
    {"measure": "average"},
    {"above": "1/3"},
    {"measure": "above", "above": "1/2"},
    {"adversary": "journalist"},
    {"adversary": "journalist", "measure": "average"},
    {"adversary": "journalist", "above": "1/4"},
    {"adversary": "marketer"},
]
LIMITS = ["1/4", "1/3", "0.34", "1/2", "0.6"]
PROSECUTOR = [way for way in WAYS if "adversary" not in way]
# of a prosecutor, as methods meet it
DRAWN = st.builds(
    lambda limit, way: ps.ReidentificationRisk(limit, **way),
    st.sampled_from(LIMITS),
    st.sampled_from(PROSECUTOR),
)


def value(asked: Any, published: Any, population: Any) -> Fraction:
    above = None if asked.above is None else Fraction(str(asked.above))
    return oracle.measured(asked.measures, published, population, asked.adversary, above)


def keeps(asked: Any, rows: Any, known: Any) -> bool:
    """Whether published rows keep the requirement."""
    found = value(asked, [label for label, _ in rows], known.population)
    return found <= Fraction(str(asked.at_most))


def tried(draw: Any) -> ps.ReidentificationRisk:
    """A requirement near what small tables attain, for tests of its properties."""
    return ps.ReidentificationRisk(draw.choice(LIMITS), **draw.choice(WAYS))


@few
@given(
    way=st.sampled_from(WAYS),
    published=st.lists(GROUPS, min_size=1, max_size=9),
    others=st.lists(GROUPS, max_size=6),
    limit=limits("1/9", "8/9"),
)
def test_a_risk_is_that_of_every_person_by_the_definition(
    engine: Any, way: dict[str, Any], published: Any, others: Any, limit: Fraction
) -> None:
    frame, everybody = (
        pd.DataFrame({"g": labels}, dtype=object) for labels in (published, [*published, *others])
    )
    asked = ps.ReidentificationRisk(str(limit), **way)
    (found,) = ps.check(engine, ps.Table(frame, ["g"], population=everybody), [asked]).values()
    expected = value(asked, published, [*published, *others])
    assert (found.value, found.safe) == (expected, expected <= limit)


@pytest.mark.parametrize("way", PROSECUTOR, ids=[str(way) for way in PROSECUTOR])
def test_a_search_with_suppression_leaves_out_as_few_as_any_subset_of_groups(way: dict[str, Any]) -> None:
    with engines.opened() as engine:
        for seed in seeds(6):
            draw = random.Random(f"{seed} {way}")
            labels = [draw.choice("abcde") for _ in range(draw.randint(2, 12))]
            asked = ps.ReidentificationRisk(draw.choice(LIMITS), **way)
            table = ps.Table(pd.DataFrame({"g": labels}), ["g"])
            release = ps.publish(engine, table, [asked], ps.Generalise({}, max_suppressed="0.999"))
            groups = Counter(labels)
            fewest = min(
                (
                    sum(groups[label] for label in gone)
                    for size in range(len(groups))
                    for gone in itertools.combinations(groups, size)
                    if value(asked, [label for label in labels if label not in gone], None)
                    <= Fraction(str(asked.at_most))
                ),
                default=None,
            )
            assert release.safe is (fewest is not None), (labels, asked)
            if fewest is not None:
                left = release.suppressed
                # the riskiest leave first; for a mean and a share the last of them may be larger than needed
                assert left >= fewest and (way or left == fewest), (labels, asked, left, fewest)


def test_leaving_out_the_larger_groups_raises_a_mean_so_that_is_not_declared() -> None:
    mean, share = (
        ps.ReidentificationRisk("1/5", measure="average"),
        ps.ReidentificationRisk("1/5", above="1/2"),
    )
    for asked in (mean, share):
        assert not asked.safe_under_suppression and not asked.safe_in_larger_groups
    rows = ["x"] + ["y"] * 9
    assert value(mean, rows, None) == Fraction(1, 5) and value(mean, ["x"], None) == 1
    assert value(share, rows, None) == Fraction(1, 10) and value(share, ["x"], None) == 1
    assert ps.ReidentificationRisk("1/5").safe_under_suppression


def test_the_story_says_how_many_people_a_limit_asks_for() -> None:
    with engines.opened() as engine:
        table = ps.Table(pd.DataFrame({"g": ["x"] * 11}), ["g"])
        (found,) = ps.check(engine, table, [ps.ReidentificationRisk("0.09")]).values()
    assert found.story == "The smallest group has 11 people; at most 0.09 needs 12 people."


def test_thousands_of_different_sizes_keep_an_exact_mean() -> None:
    from privacy_sql.criteria import _risks

    crowds = [EqualGroups(1, size) for size in range(1, 3000)]
    assert _risks.average(crowds).numerator > 0
    assert abs(float(_risks.average(crowds)) - sum(1 / n for n in range(1, 3000)) / 2999) < 1e-12


def test_a_population_that_lacks_people_is_refused(engine: Any) -> None:
    rows = pd.DataFrame({"g": ["x", "x"]})
    table = ps.Table(rows, ["g"], population=rows[:1])
    with pytest.raises(ps.PrivacySqlError, match="fewer people") as problem:
        ps.check(engine, table, [ps.ReidentificationRisk("1/2", adversary="journalist")])
    assert problem.value.exit == 3


@pytest.mark.parametrize(
    "params",
    [
        {"at_most": 1},
        {"at_most": 0},
        {"at_most": "1.5"},
        {"at_most": "nan"},
        {"at_most": "1/2", "measure": "median"},
        {"at_most": "1/2", "adversary": "spy"},
        {"at_most": "1/2", "measure": "above"},
        {"at_most": "1/2", "measure": "maximum", "above": "1/3"},
        {"at_most": "1/2", "above": 1},
        {"at_most": "1/2", "above": 0},
        {"at_most": "1/2", "adversary": "marketer", "measure": "maximum"},
    ],
)
def test_a_requirement_that_cannot_fail_or_be_kept_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        ps.ReidentificationRisk(**params)
    assert problem.value.exit == 2
