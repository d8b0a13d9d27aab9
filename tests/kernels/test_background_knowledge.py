"""Kernels of (B,t)-privacy against the paper's examples, the vectors, the oracle and the five desiderata."""

import json
import math
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import PrivacySqlError
from privacy_sql.kernels.beliefs import distance as bd
from privacy_sql.kernels.beliefs import kernel_chain as kc
from privacy_sql.kernels.beliefs import kernel_halves as kh
from privacy_sql.kernels.beliefs import kernel_prior as kp
from privacy_sql.kernels.beliefs import move as bm
from privacy_sql.kernels.beliefs import posterior as po
from privacy_sql.kernels.beliefs.running_sums import running_sum_mass
from tests.oracles import background_knowledge as oracle

CASES = json.loads((Path(__file__).parents[2] / "fixtures/vectors/bt_composition.json").read_text())["cases"]
quick = settings(max_examples=60, deadline=None)


@st.composite
def group(draw, people=6, values=3):
    m = draw(st.integers(1, values))
    k = draw(st.integers(1, people))
    cell = st.integers(0, 4)
    raw = draw(st.lists(st.lists(cell, min_size=m, max_size=m).filter(any), min_size=k, max_size=k))
    prior = [[Fraction(x, sum(row)) for x in row] for row in raw]
    given_values = draw(st.lists(st.integers(0, m - 1), min_size=k, max_size=k))
    return prior, [given_values.count(i) for i in range(m)]


def cases(kind):
    return [pytest.param(c, id=c["id"]) for c in CASES if c["kind"] == kind]


def fractions(rows):
    return np.array([[Fraction(str(x)) for x in row] for row in rows], dtype=object)


def column(spec, values):
    """Codes of the values and the exact distance matrix of one column of the vectors."""
    if spec["type"] == "numeric":
        low, high = spec["domain"]
        domain = sorted({low, high, *values})
        apart = [[kp.numeric_distance(a, b, (low, high)) for b in domain] for a in domain]
    else:
        domain = list(spec["paths"])
        apart = [[lowest_common_ancestor(spec["paths"], a, b) for b in domain] for a in domain]
    return [domain.index(v) for v in values], np.array(apart, dtype=object)


def lowest_common_ancestor(paths, a, b):
    if a == b:
        return Fraction(0)
    level = next(i for i in range(len(paths[a])) if paths[a][i:] == paths[b][i:])
    return Fraction(level + 1, len(paths[a]))


def prior_of(case, targets, bandwidths, exact=True, kernel="epanechnikov"):
    rows, domain = case["rows"], case["sensitive_domain"]
    codes, wanted, weights = [], [], []
    for i, (spec, b) in enumerate(zip(case["attributes"], bandwidths, strict=True)):
        both, apart = column(spec, [r[i] for r in rows] + [t[i] for t in targets])
        codes.append(both[: len(rows)])
        wanted.append(both[len(rows) :])
        weights.append(kp.weight_matrix(apart if exact else apart.astype(float), b, kernel))
    sensitive = np.array([domain.index(r[-1]) for r in rows])
    ones = np.ones(len(rows), dtype=int)
    return kp.kernel_prior(np.array(codes).T, sensitive, ones, weights, np.array(wanted).T, len(domain))


@pytest.mark.parametrize("case", cases("kernel_weight"))
def test_kernel_weight_is_the_expected_fraction(case):
    assert kp.kernel_weight(case["input"]["d"], case["input"]["B"]) == Fraction(case["expect"]["w"])


@pytest.mark.parametrize("case", cases("distance_numeric"))
def test_numeric_distance_is_the_expected_fraction(case):
    given_ = case["input"]
    assert kp.numeric_distance(given_["a"], given_["b"], given_["domain"]) == Fraction(case["expect"]["d"])


@pytest.mark.parametrize(
    "domain", [[7, 1, 5], {7, 5, 1}, range(1, 8, 2), (str(n) for n in (5, 1, 7)), np.array([1, 5, 7])]
)
def test_a_numeric_distance_takes_the_numbers_of_a_domain_in_any_order_and_number(domain):
    assert kp.numeric_distance(1, 5, domain) == Fraction(2, 3)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("case", cases("prior"))
def test_prior_is_the_expected_one(case, exact):
    found = prior_of(
        case["input"], case["input"]["targets"], case["input"]["B"], exact, case["input"]["kernel"]
    )
    for row, fracs, decs in zip(found, *(case["expect"]["prior"][k] for k in ("frac", "dec")), strict=True):
        if fracs is None:
            assert all(cell is None or cell != cell for cell in row)
        elif exact:
            assert row.tolist() == [Fraction(x) for x in fracs]
        else:
            assert row == pytest.approx(decs, abs=1e-12)


@pytest.mark.parametrize("case", cases("posterior"))
def test_posterior_is_the_expected_one(case):
    prior, counts, expect = fractions(case["input"]["prior"]), case["input"]["counts"], case["expect"]
    exact = po.exact_posterior(prior, counts)
    numeric = po.exact_posterior(prior.astype(float), counts)
    omega = po.omega_estimate(prior, counts)
    if expect["exact"] is None:
        assert exact.values is None and exact.likelihood == 0 and exact.flags == ("impossible_group",)
        assert numeric.values is None
    else:
        assert exact.values.astype(float) == pytest.approx(np.array(expect["exact"]["dec"]), abs=1e-12)
        assert numeric.values == pytest.approx(np.array(expect["exact"]["dec"]), abs=1e-12)
        assert exact.log10_likelihood == pytest.approx(expect["likelihood_log10"], abs=1e-12)
        assert numeric.log10_likelihood == pytest.approx(expect["likelihood_log10"], abs=1e-12)
        if "frac" in expect["exact"]:
            assert exact.values.tolist() == fractions(expect["exact"]["frac"]).tolist()
    if expect["likelihood_distinct_assignments"]:
        assert exact.likelihood == Fraction(expect["likelihood_distinct_assignments"])
    assert omega.values.tolist() == fractions(expect["omega"]["frac"]).tolist()
    assert list(omega.flags) == expect["omega_flags"]


@pytest.mark.parametrize("case", cases("multiplicity_posterior"))
def test_posterior_over_groups_is_the_expected_one(case):
    prior = {s: Fraction(p) for s, p in case["input"]["prior"].items()}
    expect = {s: Fraction(p) for s, p in case["expect"]["posterior"].items()}
    assert po.posterior_over_groups(case["input"]["group_counts"], prior) == expect


@pytest.mark.parametrize("case", cases("belief_distance"))
def test_belief_distance_is_the_expected_one(case):
    given_, expect = case["input"], case["expect"]
    p, q = fractions([given_["p"], given_["q"]])
    assert bd.jensen_shannon(p, q) == pytest.approx(expect["js_base2"], abs=1e-12)
    assert bd.jensen_shannon(p, q, "e") == pytest.approx(expect["js_base_e"], abs=1e-12)
    for name, normalise in (("nw", "none"), ("nw_renorm", "after"), ("channel", "channel")):
        if name not in expect:
            continue
        _, apart = column(given_["sensitive"], given_["sensitive_domain"])
        assert bd.smooth(p, apart, given_["Bs"], normalise).tolist() == [
            Fraction(x) for x in expect[name]["p_hat"]
        ]
        assert bd.smooth(q, apart, given_["Bs"], normalise).tolist() == [
            Fraction(x) for x in expect[name]["q_hat"]
        ]
        for base, key in ((2, "D_base2"), ("e", "D_base_e")):
            found = bd.smoothed_jensen_shannon(p, q, apart, given_["Bs"], normalise, base)
            assert found == pytest.approx(expect[name][key], abs=1e-12)


@pytest.mark.parametrize("method", ["exact", "omega"])
@pytest.mark.parametrize("case", cases("bt_check"))
def test_group_risks_of_a_release_are_the_expected_ones(case, method):
    given_ = case["input"]
    domain = given_["sensitive_domain"]
    measure = bd.jensen_shannon
    if smoothing := given_.get("smoothing"):
        _, apart = column(smoothing["sensitive"], domain)
        measure = partial(
            bd.smoothed_jensen_shannon, distances=apart.astype(float), bandwidth=smoothing["Bs"]
        )
    order = [r for rows in given_["partition"] for r in rows]
    group = np.repeat(np.arange(len(given_["partition"])), [len(rows) for rows in given_["partition"]])
    counts = np.array(
        [[sum(given_["rows"][r][-1] == s for r in g) for s in domain] for g in given_["partition"]]
    )
    for point, expect in zip(given_["skyline"], case["expect"][method]["points"], strict=True):
        prior = prior_of(given_, [r[:-1] for r in given_["rows"]], point["B"], exact=False)
        found = bm.group_moves(
            prior, group, np.array(order), np.ones(len(order), int), counts, measure, method
        )
        risks = [found.moves[group == g].max() for g in range(len(counts))]
        assert risks == pytest.approx(expect["group_risk"], abs=1e-12)


@quick
@given(group(), st.integers(1, 3))
def test_moves_of_kinds_with_multiplicity_equal_those_of_single_people(case, times):
    prior, counts = np.array(case[0], dtype=float), times * np.array(case[1])
    ones, people = np.zeros(times * len(prior), int), np.repeat(np.arange(len(prior)), times)
    for method in ("exact", "estimate"):
        kinds = bm.group_moves(
            prior,
            ones[: len(prior)],
            np.arange(len(prior)),
            np.full(len(prior), times),
            counts[None],
            bd.jensen_shannon,
            method,
        )
        single = bm.group_moves(prior, ones, people, ones + 1, counts[None], bd.jensen_shannon, method)
        assert kinds.known == single.known
        assert np.repeat(kinds.moves, times) == pytest.approx(single.moves, abs=1e-9, nan_ok=True)


@quick
@given(group())
def test_exact_moves_equal_the_oracle_and_an_impossible_group_is_undefined(case):
    prior, counts = case
    k = len(prior)
    table = np.array(prior, dtype=float)
    found = bm.group_moves(
        table, np.zeros(k, int), np.arange(k), np.ones(k, int), np.array([counts]), bd.jensen_shannon
    )
    after = oracle.posterior(prior, counts)
    if after is None:
        assert found.known == ("impossible",) and np.isnan(found.moves).all()
    else:
        expect = [oracle.jensen_shannon(p, q) for p, q in zip(prior, after, strict=True)]
        assert found.known == ("exact",) and found.moves == pytest.approx(expect, abs=1e-12)


@quick
@given(group(people=4, values=4), st.integers(1, 3))
def test_handing_people_to_values_gives_the_beliefs_of_handing_values_to_people(case, times):
    prior, counts = np.array(case[0], dtype=float), times * np.array(case[1])
    people = np.full(len(prior), times)
    here = np.zeros(len(prior), int)
    by_value = po.exact_posterior(np.repeat(prior, people, axis=0), counts)
    after, (how,) = bm.exact_posteriors(prior, here, np.arange(len(prior)), people, counts[None])
    states = po.count_states(people), po.count_states(counts)
    few, (capped,) = bm.exact_posteriors(
        prior, here, np.arange(len(prior)), people, counts[None], min(states)
    )
    if by_value.values is None:
        assert how == capped == "impossible"
    else:
        assert how == capped == "exact"
        for found in (after, few):
            assert np.repeat(found, people, axis=0) == pytest.approx(by_value.values, abs=1e-12)


def test_a_group_above_the_cap_is_undecided_and_has_no_move():
    prior = np.array([[0.5, 0.5], [0.4, 0.6]])
    zeros = np.zeros(2, int)
    found = bm.group_moves(
        prior, zeros, np.arange(2), zeros + 1, np.array([[1, 1]]), bd.jensen_shannon, cap=3
    )
    assert found.known == ("undecided",) and np.isnan(found.moves).all()


def test_omega_misses_most_of_a_single_persons_move():
    prior = np.array([[0.0, 1], [0, 1], [0.3, 0.7]])
    zeros = np.zeros(3, int)
    moves = {
        m: bm.group_moves(
            prior, zeros, np.arange(3), zeros + 1, np.array([[1, 2]]), bd.jensen_shannon, m
        ).moves[2]
        for m in ("exact", "omega")
    }
    assert moves["exact"] > 3 * moves["omega"]


def test_table_2_literal_equation_3_would_understate_the_risk():
    prior = fractions([["0.05", "0.95"], ["0.05", "0.95"], ["0.3", "0.7"]])
    assert po.exact_posterior(prior, [1, 2]).values[2, 0] == Fraction(57, 71)
    assert po.omega_estimate(prior, [1, 2]).values[2, 0] == Fraction(39, 67)


def test_table_3_omega_says_two_thirds_where_the_truth_is_one():
    prior = fractions([["0", "1"], ["0", "1"], ["0.3", "0.7"]])
    assert po.exact_posterior(prior, [1, 2]).values[2, 0] == 1
    assert po.omega_estimate(prior, [1, 2]).values[2, 0] == Fraction(27, 41)


@quick
@given(group())
def test_exact_posterior_equals_the_enumeration_of_distinct_assignments(case):
    prior, counts = case
    expect = oracle.posterior(prior, counts)
    found = po.exact_posterior(fractions(prior), counts)
    numeric = po.exact_posterior(np.array(prior, dtype=float), counts)
    assert found.likelihood == oracle.likelihood(prior, counts)
    if expect is None:
        assert found.values is None and numeric.values is None
    else:
        assert found.values.tolist() == expect
        assert numeric.values == pytest.approx(np.array(expect, dtype=float), abs=1e-12)
        assert numeric.likelihood == pytest.approx(float(found.likelihood), rel=1e-12)
        assert found.values.sum(axis=0).tolist() == counts


@quick
@given(group())
def test_omega_equals_the_formula_and_is_one_sinkhorn_sweep(case):
    prior, counts = case
    found = po.omega_estimate(fractions(prior), counts).values.tolist()
    expect = [row or [None] * len(counts) for row in oracle.omega(prior, counts)]
    assert found == expect
    once = po.sinkhorn_estimate(np.array(prior, dtype=float), counts, sweeps=1).values
    assert once == pytest.approx(np.array(expect, dtype=float), abs=1e-12, nan_ok=True)


@quick
@given(group())
def test_sinkhorn_columns_sum_to_the_counts_or_it_is_flagged(case):
    prior, counts = case
    found = po.sinkhorn_estimate(np.array(prior, dtype=float), counts, sweeps=200)
    assert found.flags or found.values.sum(axis=0) == pytest.approx(counts, abs=1e-9)


@st.composite
def table(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    m = draw(st.integers(1, 3))
    rows = draw(
        st.lists(
            st.tuples(*(st.integers(0, n - 1) for n in sizes), st.integers(0, m - 1)), min_size=1, max_size=8
        )
    )
    distances = []
    for n in sizes:
        apart = [[Fraction(0)] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                apart[i][j] = apart[j][i] = Fraction(draw(st.integers(0, 4)), 4)
        distances.append(apart)
    bandwidths = [draw(st.sampled_from(["0", "1/10", "3/10", "1/2", "1", "5/4", "inf"])) for _ in sizes]
    target = draw(st.tuples(*(st.integers(0, n - 1) for n in sizes)))
    return rows, m, distances, bandwidths, target


@quick
@given(table(), st.sampled_from(["epanechnikov", "uniform"]), st.sampled_from([1 << 30, 1 << 10]))
def test_dense_prior_equals_the_definition_whatever_the_memory(case, kernel, budget):
    rows, m, distances, bandwidths, target = case
    people, sensitive = [r[:-1] for r in rows], [r[-1] for r in rows]
    numbers = [kp.as_number(b) for b in bandwidths]
    expect = oracle.prior(people, sensitive, m, distances, numbers, target, kernel)
    for kind in (object, float):
        weights = [
            kp.weight_matrix(np.array(d, dtype=kind), b, kernel)
            for d, b in zip(distances, bandwidths, strict=True)
        ]
        given_ = (
            np.array(people),
            np.array(sensitive),
            np.ones(len(rows), dtype=int),
            weights,
            np.array([target]),
            m,
        )
        try:
            found = kp.kernel_prior(*given_, budget=budget)[0]
        except MemoryError:
            assert kc.plan_chain(given_[0], weights, given_[4]).bytes > budget
            continue
        if expect is None:
            assert all(cell is None or cell != cell for cell in found)
        elif kind is object:
            assert found.tolist() == expect
        else:
            assert found == pytest.approx([float(x) for x in expect], abs=1e-12)


@quick
@given(table(), st.integers(0, 3), st.sampled_from([-(10**9), 10**9]), st.sampled_from([1, 1 << 17]))
def test_the_order_of_attributes_their_halves_and_the_size_of_a_block_change_no_prior(
    case, ordered, turn, cached
):
    rows, m, distances, bandwidths, target = case
    weights = [
        kp.weight_matrix(np.array(d, dtype=object), b) for d, b in zip(distances, bandwidths, strict=True)
    ]
    people, sensitive = np.array([r[:-1] for r in rows]), np.array([r[-1] for r in rows])
    asked = (people, sensitive, np.ones(len(rows), dtype=int), weights, np.array([target, rows[0][:-1]]), m)
    with pytest.MonkeyPatch.context() as patch:
        expect = kp.kernel_prior(*asked).tolist()
        patch.setattr(kc, "MOST_ORDERED", ordered)
        patch.setattr(kh, "TURN", turn)
        patch.setattr(kp, "CACHED", cached)
        assert kp.kernel_prior(*asked).tolist() == expect


@pytest.mark.parametrize("exact", [True, False])
def test_two_halves_are_taken_where_few_combinations_occur_and_equal_the_definition(exact):
    random = np.random.default_rng(11)
    places = random.integers(0, [9, 8, 9, 8], (40, 4))
    people, sensitive = places[random.integers(0, 40, 60)], random.integers(0, 3, 60)
    apart = [[[Fraction(abs(a - b), n) for b in range(n)] for a in range(n)] for n in (9, 8, 9, 8)]
    weights = [kp.weight_matrix(np.array(d, dtype=object if exact else float), "6/5") for d in apart]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kc, "few_sums", lambda weights: None)
        patch.setattr(kh, "TURN", 10)
        assert kc.plan_chain(people, weights, people).halves is not None
        found = kp.kernel_prior(people, sensitive, np.ones(60, dtype=int), weights, people[:6], 3)
    for row, target in zip(found, people[:6].tolist(), strict=True):
        expect = oracle.prior(people.tolist(), sensitive.tolist(), 3, apart, [Fraction(6, 5)] * 4, target)
        assert row.tolist() == expect if exact else row == pytest.approx(list(map(float, expect)), abs=1e-14)


def test_a_value_nobody_has_changes_no_prior_and_takes_no_room():
    weights = [kp.weight_matrix(NUMBERS, "5/4"), kp.weight_matrix(1.0 - np.eye(4), "6/5")]
    codes = np.array([[3, 2], [29, 0], [3, 0]])
    kept, few, targets = kc.only_occurring(codes, weights, codes[:1])
    assert kept.tolist() == [[0, 1], [1, 0], [0, 0]] and targets.tolist() == [[0, 1]]
    assert few[0].tolist() == weights[0][np.ix_([3, 29], [3, 29])].tolist()
    assert few[1].tolist() == weights[1][np.ix_([0, 2], [0, 2])].tolist()


NUMBERS = np.abs(np.subtract.outer(np.arange(30), np.arange(30))) / 29


@pytest.mark.parametrize(
    ("distances", "bandwidth", "sums"),
    [
        (NUMBERS, "5/4", 3),  # 1, b and b²
        (NUMBERS, "11/10", 3),
        (np.where(np.eye(30)[:, :1] + np.eye(30)[:1] == 1, 1.0, NUMBERS), "5/4", 4),  # and one for NULL
        (NUMBERS, "1", None),  # somebody has no weight
        (NUMBERS, "101/100", None),  # and here too little of it
        (NUMBERS, "1/3", None),  # a band
        (1 - np.eye(30), "5/4", None),  # everybody has a sum of her own
        (NUMBERS[:6, :6], "5/4", None),  # nothing saved
    ],
)
def test_weights_are_told_by_a_few_sums_only_where_these_say_the_same(distances, bandwidth, sums):
    weights = kp.weight_matrix(distances, bandwidth)
    found = kc.few_sums(weights)
    assert (found is None) == (sums is None)
    if found is not None:
        left, right = found
        assert left.shape == (30, sums) and right.shape == (sums, 30)
        assert np.abs(left @ right - weights).max() < 1e-14


@pytest.mark.parametrize("others", ["0", "5/4"])
def test_a_prior_by_sums_equals_the_definition(others):
    random = np.random.default_rng(7)
    people = np.column_stack([random.integers(0, 30, (300, 2)), random.integers(0, 3, 300)])
    sensitive, apart = random.integers(0, 4, 300), 1.0 - np.eye(3)
    weights = [kp.weight_matrix(d, b) for d, b in ((NUMBERS, "5/4"), (NUMBERS, "6/5"), (apart, others))]
    assert len(kc.plan_chain(people, weights, people).sums) == 2
    found = kp.kernel_prior(people, sensitive, np.ones(300, dtype=int), weights, people[:5], 4)
    exact = [[[Fraction(abs(a - b), 29) for b in range(30)] for a in range(30)]] * 2
    exact.append([[Fraction(a != b) for b in range(3)] for a in range(3)])
    bandwidths = [Fraction(5, 4), Fraction(6, 5), Fraction(others)]
    for row, target in zip(found, people[:5].tolist(), strict=True):
        expect = oracle.prior(people.tolist(), sensitive.tolist(), 4, exact, bandwidths, target)
        assert row == pytest.approx([float(x) for x in expect], abs=1e-14)


def test_a_dozen_attributes_take_no_time_to_plan():
    random = np.random.default_rng(2)
    codes = random.integers(0, 4, (500, 14))
    weights = [kp.weight_matrix(1.0 - np.eye(4), "3/2")] * 14
    chain = kc.plan_chain(codes, weights, codes)
    assert sorted(chain.order) == list(range(14))


@quick
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(-50, 50), st.integers(0, 1), st.integers(1, 3)), min_size=1
    ),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-90, 90)), min_size=1, max_size=5),
    st.none() | st.fractions(Fraction(1, 10), 120, max_denominator=10),
)
def test_running_sums_equal_the_weighted_sum_pair_by_pair(rows, targets, reach):
    columns = tuple(np.array(rows).T)
    found = running_sum_mass(columns, tuple(np.array(targets).T), reach, 2)
    for (key, x), mass in zip(targets, found, strict=True):
        expect = [Fraction(0), Fraction(0)]
        for other, v, s, c in rows:
            if other == key and (reach is None or abs(v - x) < reach):
                expect[s] += c * (1 - (Fraction(abs(v - x)) / reach) ** 2 if reach else 1)
        assert mass == pytest.approx([float(e) for e in expect], rel=1e-14, abs=1e-300)


def test_numbers_too_large_to_sum_are_refused():
    zero, one = np.zeros(2, np.int64), np.ones(2, np.int64)
    far = np.array([0, 10**9])
    with pytest.raises(PrivacySqlError, match="too large"):
        running_sum_mass((zero, far, zero, one * 10**6), (zero, far), Fraction(10**9), 1)


def test_the_t_closeness_adversary_believes_the_whole_table_and_moves_to_the_group():
    apart = np.array([[Fraction(abs(i - j), 2) for j in range(3)] for i in range(3)], dtype=object)
    codes, sensitive = np.array([[0], [1], [2], [2]]), np.array([0, 1, 1, 0])
    for bandwidth, kernel in (("1", "uniform"), ("inf", "epanechnikov")):
        weights = [kp.weight_matrix(apart, bandwidth, kernel)]
        prior = kp.kernel_prior(codes, sensitive, np.ones(4, dtype=int), weights, codes, 2)
        assert (prior == Fraction(1, 2)).all()
    after = po.exact_posterior(prior[:3], [1, 2])
    assert after.values.tolist() == [[Fraction(1, 3), Fraction(2, 3)]] * 3
    assert po.omega_estimate(prior[:3], [1, 2]).values.tolist() == after.values.tolist()


TREE = np.array([[0, 0.5, 1, 1], [0.5, 0, 1, 1], [1, 1, 0, 0.5], [1, 1, 0.5, 0]])
beliefs = (
    st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any).map(lambda xs: np.array(xs) / sum(xs))
)


@quick
@given(beliefs, beliefs)
def test_desiderata_1_2_and_4_hold_for_every_belief_zeros_included(p, q):
    assert bd.smoothed_jensen_shannon(p, p, TREE) == 0
    for normalise in ("after", "channel"):
        assert 0 <= bd.smoothed_jensen_shannon(p, q, TREE, normalise=normalise) <= 1 + 1e-12
    assert bd.smoothed_jensen_shannon(p, q, TREE, normalise="channel") <= bd.jensen_shannon(p, q) + 1e-12


def test_desideratum_3_a_step_from_a_small_probability_weighs_more_except_for_emd():
    small, large = ([0.01, 0.99], [0.11, 0.89]), ([0.4, 0.6], [0.5, 0.5])
    apart = np.array([[0, 1], [1, 0]])
    assert bd.jensen_shannon(*small) > 2 * bd.jensen_shannon(*large)
    assert float(bd.earth_movers(*small, apart)) == pytest.approx(float(bd.earth_movers(*large, apart)))


@given(st.floats(0.001, 0.2), st.floats(0.21, 0.4), st.floats(0.01, 0.1))
@quick
def test_desideratum_3_as_a_property(alpha, beta, gamma):
    def move(x):
        return bd.smoothed_jensen_shannon([x, 0, 1 - x, 0], [x + gamma, 0, 1 - x - gamma, 0], TREE)

    assert move(alpha) > move(beta)


@quick
@given(st.integers(1, 20), st.integers(1, 20))
def test_desideratum_5_a_near_value_is_a_smaller_move_except_for_plain_js(a, b):
    start = np.array([a, 0, b, 0]) / (a + b)
    near, far = np.array([0, a, b, 0]) / (a + b), np.array([0, 0, a + b, 0]) / (a + b)
    only, sibling, stranger = np.eye(4)[[0, 1, 2]]
    assert bd.smoothed_jensen_shannon(only, sibling, TREE) < bd.smoothed_jensen_shannon(only, stranger, TREE)
    assert bd.jensen_shannon(only, sibling) == bd.jensen_shannon(only, stranger) == 1
    assert bd.earth_movers(start, near, TREE) < bd.earth_movers(start, far, TREE)


@pytest.mark.parametrize("measure", [bd.kullback_leibler, bd.jensen_shannon, bd.total_variation])
def test_the_distance_to_an_undefined_belief_is_undefined(measure):
    assert np.isnan(measure([0.5, 0.5], [np.nan, np.nan]))


def test_kl_is_infinite_where_a_belief_is_ruled_out_and_js_is_not():
    assert bd.kullback_leibler([0.5, 0.5], [1, 0]) == math.inf
    assert bd.jensen_shannon([0.5, 0.5], [1, 0]) < 1


@quick
@given(beliefs, beliefs)
def test_earth_movers_distance_under_equal_distances_is_total_variation(p, q):
    equal = 1 - np.eye(4, dtype=int)
    assert float(bd.earth_movers(p, q, equal)) == pytest.approx(float(bd.total_variation(p, q)), abs=1e-12)


@quick
@given(beliefs, beliefs)
def test_earth_movers_distance_on_a_line_is_the_area_between_cumulative_beliefs(p, q):
    line = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    expect = np.abs(np.cumsum(p - q))[:-1].sum()
    assert float(bd.earth_movers(p, q, line)) == pytest.approx(expect, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kp.kernel_weight(0.1, -1), "0 or more"),
        (lambda: kp.kernel_weight(0.1, float("nan")), "nan"),
        (lambda: kp.kernel_weight(0.1, 1, "gauss"), "Unknown kernel"),
        (lambda: kp.weight_matrix(np.zeros((2, 3)), 1), "square"),
        (lambda: kp.weight_matrix(np.ones((2, 2)), 1), "diagonal"),
        (lambda: kp.weight_matrix(np.array([[0, -1], [1, 0]]), 1), "0 or more"),
        (lambda: kp.numeric_distance(1, 2, (5, 4)), "range"),
        (lambda: kp.numeric_distance(1, 2, []), "range"),
        (lambda: kp.numeric_distance(1, 2, (1, 2, "inf")), "range"),
        (lambda: bd.smooth([1, 0], [[0, 1], [1, 0]], math.inf), "infinite"),
        (lambda: bd.smooth([1, 0], [[0, 1], [1, 0]], 2, "often"), "normalisation"),
        (lambda: bd.check_smoothing_bandwidth(TREE, 0.5), "smooths nothing"),
        (lambda: bd.check_smoothing_bandwidth(TREE, "1000"), "into the same one"),
        (lambda: bd.check_smoothing_bandwidth(np.zeros((3, 3)), "3/4"), "into the same one"),
        (lambda: bd.jensen_shannon([1], [1], 10), "log_base"),
        (lambda: po.exact_posterior(np.ones((2, 2)), [1, 2]), "sum to"),
        (lambda: po.exact_posterior(np.array([[np.nan, 1]]), [1, 0]), "has none"),
        (lambda: po.exact_posterior(np.ones((22, 22)), [1] * 22), "undecided"),
        (lambda: po.group_posterior(np.ones((1, 1)), [1], "guess"), "Unknown posterior"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(PrivacySqlError, match=words):
        call()
