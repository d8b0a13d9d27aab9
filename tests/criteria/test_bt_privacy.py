"""(B,t)-privacy against brute force, its refusals, and what it says."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.criteria import read
from privacy_sql.kernels.beliefs import posterior as kernel
from tests import engines
from tests.oracles import background_knowledge as oracle
from tests.seeds import OFTEN, seeds

JOBS = ps.Tree({"cook": ["food", "*"], "baker": ["food", "*"], "nurse": ["care", "*"]})
ILLNESS = ps.Tree({"flu": ["air", "*"], "cold": ["air", "*"], "burn": ["skin", "*"]})
JOB, ILL = ["cook", "baker", "nurse"], ["flu", "cold", "burn"]
AGES = [20, 25, 30, 40]


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    """One engine for all examples of a property."""
    with engines.opened() as made:
        yield made


people = st.lists(
    st.tuples(
        st.sampled_from([*AGES, None]),
        st.sampled_from([*JOB, None]),
        st.sampled_from([*ILL, None]),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=7,
)


def table(rows: Any, **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["age", "job", "ill", "g"])
    return ps.Table(frame, {"age": ps.AsIs(), "job": JOBS}, "ill", group="g", **more)


def between(distance: Any, values: list[Any]) -> list[list[Fraction]]:
    """All distances of a column's values; what is missing is at distance 1 from everything else."""
    return [
        [Fraction(a is not b) if None in (a, b) else Fraction(distance(a, b)) for b in values] for a in values
    ]


def risks(rows: Any, bandwidths: list[str], method: Any, measure: Any) -> list[float]:
    """Each group's largest move, straight from the definitions."""
    known = [row[0] for row in rows if row[0] is not None] or [0]
    span = max(known) - min(known)
    ages, jobs = [*AGES, None], [*JOB, None]
    apart = [
        between(lambda a, b: Fraction(abs(a - b), span or 1), ages),
        between(JOBS.distance, jobs),
    ]
    who = [(ages.index(row[0]), jobs.index(row[1])) for row in rows]
    what = [[*ILL, None].index(row[2]) for row in rows]
    groups = [[i for i, row in enumerate(rows) if row[3] == g] for g in sorted({row[3] for row in rows})]
    numbers = [math.inf if b == "inf" else Fraction(b) for b in bandwidths]
    return oracle.group_risks(who, what, 4, apart, groups, numbers, method, measure)


@settings(max_examples=40, deadline=None)
@given(people, st.sampled_from([["3/10", "3/10"], ["0", "inf"], ["1", "3/4"], ["5/4", "5/4"]]))
def test_the_risk_of_every_group_equals_brute_force(shared: Any, rows: Any, bandwidth: list[str]) -> None:
    for name, method in (("exact", oracle.posterior), ("omega", oracle.omega)):
        expect = risks(rows, bandwidth, method, oracle.jensen_shannon)
        question = ps.BTPrivacy([[bandwidth, "1/10"]], posterior=name)
        (verdict,) = ps.check(shared, table(rows), [question]).values()
        assert list(verdict.points[0].group_risk) == pytest.approx(expect, abs=1e-9)
        if name == "exact":
            assert verdict.safe is (max(expect) <= 0.1 - 1e-9)
            assert verdict.exact


@settings(max_examples=25, deadline=None)
@given(people, st.sampled_from(["after", "none", "channel"]))
def test_smoothed_risks_equal_brute_force(shared: Any, rows: Any, normalise: str) -> None:
    """Smoothing spreads over the whole domain of the sensitive column, values nobody has included."""
    domain = [*ILL, None] if any(row[2] is None for row in rows) else ILL
    near = between(ILLNESS.distance, domain)

    def measure(p: Any, q: Any) -> float:
        sides = (side[: len(domain)] for side in (p, q))
        return oracle.jensen_shannon(
            *(oracle.smooth(side, near, Fraction(3, 4), normalise) for side in sides)
        )

    expect = risks(rows, ["3/10", "3/10"], oracle.posterior, measure)
    question = ps.BTPrivacy(bandwidth="3/10", t="1/10", distance="smoothed_js", normalise=normalise)
    (verdict,) = ps.check(shared, table(rows, sensitive_hierarchy=ILLNESS), [question]).values()
    assert list(verdict.points[0].group_risk) == pytest.approx(expect, abs=1e-9)


ROWS = [(20, "cook", "flu", 0), (25, "baker", "cold", 0), (30, "cook", "flu", 1), (40, "nurse", "burn", 1)]


def verdict_of(question: ps.BTPrivacy, rows: Any = ROWS, **more: Any) -> ps.Verdict:
    with engines.opened() as engine:
        (found,) = ps.check(engine, table(rows, **more), [question]).values()
    return found


ILL_MATRIX = {a: {b: ILLNESS.distance(a, b) for b in ILL} for a in ILL}


@pytest.mark.parametrize(
    ("declared", "asked"),
    [
        ({"sensitive_hierarchy": ILLNESS}, {}),
        ({"distances": {"ill": ILL_MATRIX}}, {}),
        ({}, {"smoothing": ILLNESS}),
        ({}, {"smoothing": ILL_MATRIX}),
    ],
)
def test_a_value_nobody_has_is_smoothed_over_as_in_the_distance_of_two_beliefs(
    declared: Any, asked: Any
) -> None:
    rows = [(20, "cook", "flu", 0), (20, "cook", "flu", 0), (20, "cook", "cold", 1), (20, "cook", "cold", 1)]
    question = ps.BTPrivacy([["inf", "1"]], bandwidth="5/4", distance="smoothed_js", **asked)
    move = ps.belief_distance(["1/2", "1/2", 0], [1, 0, 0], hierarchy=ILLNESS, bandwidth="5/4")
    assert verdict_of(question, rows, **declared).value == pytest.approx(move, abs=1e-9)


def test_merging_two_groups_can_raise_the_largest_move() -> None:
    rows = [
        (20, "baker", "flu", 0),
        (20, "nurse", "cold", 1),
        (25, "cook", "cold", 0),
        (30, "nurse", "flu", 1),
        (40, "cook", "burn", 0),
    ]
    question = ps.BTPrivacy([[["1", "3/4"], "1/2"]])
    apart = verdict_of(question, rows)
    merged = verdict_of(question, [(*row[:3], 0) for row in rows])
    assert apart.value == pytest.approx(0.0326014233) and merged.value == pytest.approx(0.0381586723)
    assert ps.BTPrivacy.safe_under_merging is False


def test_the_t_closeness_adversary_moves_from_the_table_to_the_group() -> None:
    found = verdict_of(ps.BTPrivacy(bandwidth="inf", t="9/10", distance="tv"))
    overall, group = {"flu": 0.5, "cold": 0.25, "burn": 0.25}, {"flu": 0.5, "cold": 0.5, "burn": 0.0}
    assert found.value == pytest.approx(sum(abs(overall[s] - group[s]) for s in ILL) / 2)


def test_a_group_with_too_many_count_vectors_is_undecided_and_never_safe(monkeypatch: Any) -> None:
    monkeypatch.setattr("privacy_sql.criteria.bt_privacy.STATE_CAP", 3)
    found = verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1"))
    assert not found.safe and found.value is None and not found.exact
    assert found.witness["undecided_groups"] == 2 and "undecided" in found.explain()


def test_an_estimate_says_that_it_is_one_and_for_how_many_groups() -> None:
    found = verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1", posterior="estimate"))
    assert not found.exact and found.to_json()["value"] is None
    assert "exact: false for 2 groups" in found.explain()


def test_the_estimate_takes_the_larger_of_omega_and_sinkhorn() -> None:
    values = {
        m: verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1", posterior=m))
        for m in ("estimate", "omega", "sinkhorn")
    }
    risk = {m: found.points[0].group_risk for m, found in values.items()}
    assert risk["estimate"] == tuple(max(pair) for pair in zip(risk["omega"], risk["sinkhorn"], strict=True))


def test_the_distance_is_smoothed_where_sensitive_values_have_distances_and_the_verdict_says_so() -> None:
    assert (
        "Distance smoothed_js"
        in verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1"), sensitive_hierarchy=ILLNESS).explain()
    )
    assert "Distance js" in verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1")).explain()


def test_of_several_points_the_one_with_least_slack_is_reported() -> None:
    found = verdict_of(ps.BTPrivacy([["1/2", "9/10"], ["inf", "1/1000"]]))
    assert [point.satisfied for point in found.points] == [True, False]
    assert found.limit == Fraction(1, 1000) and found.witness["point"] == 2


def test_the_witness_names_a_group_and_counts_and_no_value(engine: Any) -> None:
    (found,) = ps.check(engine, table(ROWS), [ps.BTPrivacy(bandwidth="inf", t="1/1000")]).values()
    told = f"{dict(found.witness)} {found.explain()}"
    assert found.witness["group"] in (1, 2) and found.witness["vulnerable_people"] == 4
    assert not any(word in told for word in (*JOB, *ILL))
    assert set(found.witness.reveal()["values"]) <= set(ILL)


def test_kl_is_unbounded_where_a_belief_is_ruled_out_and_that_is_not_safe() -> None:
    rows = [(20, "cook", "flu", 0), (20, "cook", "cold", 1)]
    found = verdict_of(ps.BTPrivacy(bandwidth="1/2", t="100", distance="kl"), rows)
    assert not found.safe and found.value is None


def test_earth_movers_distance_uses_the_hierarchy() -> None:
    rows = [(20, "cook", "flu", 0), (20, "cook", "cold", 1)]
    question = ps.BTPrivacy(bandwidth="1/2", t="1", distance="emd")
    assert verdict_of(question, rows).value == pytest.approx(1 / 2)
    assert verdict_of(question, rows, sensitive_hierarchy=ILLNESS).value == pytest.approx(1 / 4)


def test_the_publishers_own_matrix_says_how_alike_values_are(tmp_path: Any) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(",cook,baker,nurse\ncook,0,1/10,1\nbaker,1/10,0,1\nnurse,1,1,0\n".replace("1/10", "0.1"))
    near = {"job": {"file": path}}
    plain, own = (verdict_of(ps.BTPrivacy(bandwidth="3/10", t="1"), distances=d) for d in (None, near))
    assert plain.value != pytest.approx(own.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ps.BTPrivacy(), "either a skyline"),
        (lambda: ps.BTPrivacy([["0.3", "0.1"]], t="0.1"), "either a skyline"),
        (lambda: ps.BTPrivacy(t="0.1"), "needs a bandwidth"),
        (lambda: ps.BTPrivacy(bandwidth="-1", t="0.1"), "0 or more"),
        (lambda: ps.BTPrivacy(bandwidth="wide", t="0.1"), "must be a number"),
        (lambda: ps.BTPrivacy(bandwidth="nan", t="0.1"), "must be a number"),
        (lambda: ps.BTPrivacy(bandwidth="0.3", t="nan"), "t of bt_privacy"),
        (lambda: ps.BTPrivacy(bandwidth="0.3", t="inf"), "t of bt_privacy"),
        (lambda: ps.BTPrivacy([["0.3", "1.1"]]), "between 0 and 1"),
        (lambda: ps.BTPrivacy(bandwidth="0.3", t=2, distance="tv"), "between 0 and 1"),
        (lambda: ps.BTPrivacy([["0.3"]]), "point of the skyline"),
        (lambda: ps.BTPrivacy(bandwidth="0.3", t="0.1", distance="cosine"), "distance of bt_privacy"),
        (lambda: ps.BTPrivacy(bandwidth="0.3", t="0.1", posterior="guess"), "posterior of bt_privacy"),
    ],
)
def test_parameters_out_of_range_are_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(ps.PrivacySqlError, match=words):
        make()


@pytest.mark.parametrize(
    ("question", "more", "words"),
    [
        ({"bandwidth": ["0.3"]}, {}, "1 bandwidths for 2 quasi-identifiers"),
        ({"distance": "smoothed_js"}, {}, "smoothing needs distances"),
        ({"smoothing": "1/2"}, {"sensitive_hierarchy": ILLNESS}, "smooths nothing"),
        ({"smoothing": "inf"}, {"sensitive_hierarchy": ILLNESS}, "infinite"),
        # every release would be safe
        ({"smoothing": "1000"}, {"sensitive_hierarchy": ILLNESS}, "into the same one"),
        ({"smoothing": [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}, {}, "into the same one"),
        ({}, {"distances": {"job": {"cook": {"cook": 0}}}}, "the distance matrix of job does not cover"),
        ({}, {"distances": {"job": [[0, 1], [1, 0], [1, 1]]}}, "not square"),
        (
            {},
            {"distances": {"job": [[0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]}},
            "zero on its diagonal",
        ),
        ({}, {"domains": {"age": [30, 50]}}, "the numeric domain of age does not cover"),
    ],
)
def test_what_does_not_fit_the_table_is_refused_in_words(question: Any, more: Any, words: str) -> None:
    with pytest.raises(ps.PrivacySqlError, match=words):
        verdict_of(ps.BTPrivacy(**{"bandwidth": "3/10", "t": "1/10", **question}), **more)


def test_leaves_on_different_levels_are_refused() -> None:
    with pytest.raises(ps.PrivacySqlError):
        ps.Tree({"cook": ["food", "*"], "nurse": ["*"]})


def test_several_values_per_person_are_refused() -> None:
    frame = pd.DataFrame({"id": ["p", "p", "q"], "age": [20, 20, 30], "ill": ["flu", "cold", "flu"]})
    several = ps.Table(frame, ["age"], "ill", identifier="id", values_per_person="set")
    with (
        engines.opened() as engine,
        pytest.raises(ps.PrivacySqlError, match="one sensitive value per person"),
    ):
        ps.check(engine, several, [ps.BTPrivacy(bandwidth="0.3", t="0.1")])


def test_the_cap_is_the_one_the_kernel_states() -> None:
    assert kernel.STATE_CAP == 2_000_000


def test_a_requirement_reads_back_as_it_is_written() -> None:
    question = ps.BTPrivacy([["0.3", "0.2"], [["0.5", "inf"], "0.1"]], posterior="estimate")
    assert str(question) == "bt_privacy(skyline=[[0.3, 0.2], [[0.5, inf], 0.1]], posterior=estimate)"
    assert str(read(str(question))) == str(question)


def test_values_of_a_hierarchy_given_with_the_question_are_not_printed() -> None:
    assert "flu" not in str(ps.BTPrivacy(bandwidth="0.3", t="0.1", smoothing=ILLNESS))


def test_no_groups_at_all_are_not_safe() -> None:
    found = ps.BTPrivacy(bandwidth="0.3", t="1/2").judge([])
    assert not found.safe and found.value is None


def test_a_hierarchy_that_relates_no_two_values_leaves_the_default_distance_plain() -> None:
    flat = ps.Tree({ill: ["*"] for ill in ILL})
    assert (
        "Distance js" in verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1"), sensitive_hierarchy=flat).explain()
    )
    with pytest.raises(ps.PrivacySqlError, match="smooths nothing"):
        verdict_of(ps.BTPrivacy(bandwidth="1/2", t="1", distance="smoothed_js"), sensitive_hierarchy=flat)


def test_known_columns_hold_for_who_knows_them_and_for_who_does_not(shared: Any) -> None:
    """Who does not know a column believes beforehand what the other columns say."""
    met = set()
    for seed in seeds(400, OFTEN):
        draw = random.Random(seed)
        rows = [
            (draw.choice(AGES), draw.choice(["part", "full"]), draw.choice(ILL))
            for _ in range(draw.randint(4, 9))
        ]
        frame = pd.DataFrame(rows, columns=["age", "job", "ill"])
        asked = [ps.BTPrivacy([[draw.choice(["0.3", "0.6"]), draw.choice(["0.1", "0.2"])]])]

        def safe(quasi: list[str], asked: Any = asked, frame: Any = frame, **more: Any) -> bool:
            return bool(ps.check(shared, ps.Table(frame, quasi, "ill", **more), asked))

        known = safe(["age"], insensitive={"columns": ["job"], "known": True})
        each = (safe(["age", "job"]), safe(["age"], drop=["job"]))
        assert known == all(each), seed
        met.add(each)
    assert {(True, True), (True, False)} <= met


@pytest.mark.parametrize("low", [0, 1_700_000_000_000_000_000, -(10**25)])
@pytest.mark.parametrize("from_text", [True, False])
def test_numbers_far_from_zero_are_as_far_from_one_another(shared: Any, low: int, from_text: bool) -> None:
    """As floats, large numbers next to one another are one number, and everybody would look alike."""
    rows: list[Any] = []
    for k in range(10):
        first, second = "ab" if k < 7 else "ba"
        rows += [(low, first, k), (low + 60, second, k)]
    if not from_text and abs(low) > 2**63:
        rows = [(Decimal(n), *others) for n, *others in rows]
    frame = pd.DataFrame(rows, columns=["t", "s", "g"], dtype=object)
    domains = {"t": (low, low + 60)} if from_text else None
    if from_text:
        frame["t"] = frame["t"].map(str)
    table = ps.Table(frame, ["t"], "s", group="g", domains=domains)
    (found,) = ps.check(shared, table, [ps.BTPrivacy([["0.3", "0.1"]], distance="tv")]).values()
    assert not found.safe and found.value == pytest.approx(0.14482758620689656)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("extreme", "same"), [("1e400", "inf"), ("1e-400", "0")])
def test_bandwidths_beyond_floats_are_as_wide_and_as_narrow_as_any(
    shared: Any, extreme: str, same: str
) -> None:
    frame = pd.DataFrame({"age": [20, 25, 30, 40] * 2, "ill": ["a", "b", "a", "a", "b", "b", "a", "b"]})
    table = ps.Table(frame.assign(g=[1, 1, 2, 2] * 2), ["age"], "ill", group="g")
    one, other = (
        ps.check(shared, table, [ps.BTPrivacy([[bandwidth, "0.2"]])]) for bandwidth in (extreme, same)
    )
    assert [v.value for v in one.values()] == [v.value for v in other.values()]
