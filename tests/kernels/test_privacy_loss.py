import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import UsageError
from privacy_sql.kernels.composition.privacy_loss import (
    compose,
    compose_zcdp,
    discrete_laplace,
    noise_posterior,
    semantic_privacy,
)

CASES = json.loads(Path("fixtures/vectors/bt_composition.json").read_text())["cases"]


def cases(kind):
    found = [case for case in CASES if case["kind"] == kind]
    assert found
    return [pytest.param(case["input"], case["expect"], id=case["id"]) for case in found]


@pytest.mark.parametrize("given_, expected", cases("semantic_bound"))
def test_semantic_bounds_are_those_of_the_vectors(given_, expected):
    bound = semantic_privacy(given_["eps"], given_["delta"], people=given_["n"])
    for name, value in expected.items():
        assert getattr(bound, name) == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value)


@pytest.mark.parametrize("given_, expected", cases("composition"))
def test_losses_add_up_as_in_the_vectors(given_, expected):
    together = compose(given_["releases"])
    assert (together.eps, together.delta) == pytest.approx((expected["eps"], expected["delta"]))


@pytest.mark.parametrize("given_, expected", cases("zcdp"))
def test_zero_concentrated_accounts_are_those_of_the_vectors(given_, expected):
    pytest.importorskip("opendp", reason="needs the extra dp")
    sensitivity = given_["l2_sensitivity"]
    account = compose_zcdp(given_["sigmas"], l2_sensitivity=sensitivity, delta=given_["delta"])
    assert account.rho == pytest.approx(expected["rho"], abs=1e-9)
    assert account.eps_simple == pytest.approx(expected["eps_simple"], abs=1e-9)
    assert account.eps < account.eps_simple


@pytest.mark.parametrize("given_, expected", cases("discrete_laplace"))
def test_discrete_laplace_is_that_of_the_vectors(given_, expected):
    point = discrete_laplace(given_["k"], given_["scale"])
    assert (point.pmf, point.variance) == pytest.approx((expected["pmf"], expected["variance"]), abs=1e-9)


@pytest.mark.parametrize("given_, expected", cases("dp_two_release_posterior"))
def test_posteriors_after_two_noisy_releases_are_those_of_the_vectors(given_, expected):
    prior = [Fraction(belief) for belief in given_["prior"]]
    answer = noise_posterior(given_["noisy"], given_["counts_without_target"], given_["scale"], prior)
    assert answer.posterior == pytest.approx(expected["posterior"], abs=1e-9)
    assert answer.total_eps_substitution == expected["total_eps_substitution"]


def test_a_prior_may_be_written_as_fractions():
    question = [[4, 1], [0, 3]], [[3, 1], [1, 2]], [2.0, 2.0]
    assert noise_posterior(*question, ["1/4", "3/4"]) == noise_posterior(*question, [0.25, 0.75])


def test_the_printed_pure_bound_is_vacuous_from_ln_2_on():
    assert not semantic_privacy(math.log(2) - 1e-9, people=10).vacuous
    assert semantic_privacy(math.log(2) + 1e-9, people=10).vacuous


def test_the_relaxed_bound_is_vacuous_from_231_thousandths_on():
    assert not semantic_privacy(0.2309, 1e-12, people=10).vacuous
    assert semantic_privacy(0.2311, 1e-12, people=10).vacuous


def test_a_bound_that_always_fails_promises_nothing_though_its_difference_is_not_vacuous():
    bound = semantic_privacy(0.1, 1e-9, people=1_000_000)
    assert bound.eps_prime < 1 <= bound.delta_prime
    assert not bound.vacuous
    assert "promises nothing" in bound.explain()


def test_theorem_18_doubles_the_failure_probability_of_theorem_16():
    every = semantic_privacy(0.1, 1e-9, people=100)
    most = semantic_privacy(0.1, 1e-9, people=100, most_neighbours=True)
    assert most.eps_prime == every.eps_prime
    assert most.delta_prime == pytest.approx(2 * every.delta_prime)
    assert most.rule == "thm18"


@settings(max_examples=60)
@given(st.floats(1e-3, 5), st.floats(0, 1e-4))
def test_the_corrected_bound_never_exceeds_the_printed_one(epsilon, delta):
    bound = semantic_privacy(epsilon, delta, people=3)
    assert 0 < bound.tight <= bound.eps_prime * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_an_epsilon_that_is_not_positive_and_finite_is_refused(epsilon):
    with pytest.raises(UsageError, match="epsilon"):
        semantic_privacy(epsilon, people=10)


@pytest.mark.parametrize("delta", [-1e-9, 1, math.nan])
def test_a_delta_outside_its_range_is_refused(delta):
    with pytest.raises(UsageError, match="delta"):
        compose([(0.1, delta)])


def test_a_pure_release_costs_half_its_squared_epsilon():
    pytest.importorskip("opendp", reason="needs the extra dp")
    assert compose_zcdp(epsilons=[0.5, 1.0], delta=1e-6).rho == pytest.approx(0.625)
    assert compose_zcdp(delta=1e-6).eps == 0


def test_several_gaussians_cost_what_one_of_their_joint_rho_costs():
    pytest.importorskip("opendp", reason="needs the extra dp")
    twice = compose_zcdp([3.0, 3.0], delta=1e-6)
    once = compose_zcdp([3.0 / math.sqrt(2)], delta=1e-6)
    assert twice.eps == pytest.approx(once.eps)


@settings(max_examples=30)
@given(st.floats(0.1, 20))
def test_discrete_laplace_sums_to_one_and_has_its_variance(scale):
    reach = int(60 * scale) + 10
    points = [(k, discrete_laplace(k, scale).pmf) for k in range(-reach, reach + 1)]
    assert math.fsum(p for _, p in points) == pytest.approx(1)
    assert math.fsum(k * k * p for k, p in points) == pytest.approx(discrete_laplace(0, scale).variance)


@settings(max_examples=40)
@given(st.data())
def test_the_noise_posterior_is_bayes_rule_over_whole_histograms(data):
    cells, releases = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 3))
    rows = st.lists(st.integers(-3, 6), min_size=cells, max_size=cells)
    noisy = data.draw(st.lists(rows, min_size=releases, max_size=releases))
    counts = data.draw(st.lists(rows, min_size=releases, max_size=releases))
    scale = data.draw(st.lists(st.floats(0.5, 5), min_size=releases, max_size=releases))
    prior = data.draw(st.lists(st.integers(1, 5), min_size=cells, max_size=cells))
    joint = []
    for target in range(cells):
        likelihood = 1.0
        for seen, others, width in zip(noisy, counts, scale, strict=True):
            for cell in range(cells):
                likelihood *= discrete_laplace(seen[cell] - others[cell] - (cell == target), width).pmf
        joint.append(prior[target] * likelihood)
    expected = [weight / sum(joint) for weight in joint]
    assert noise_posterior(noisy, counts, scale, prior) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40)
@given(st.integers(-30, 30), st.integers(-30, 30), st.floats(0.2, 3))
def test_two_releases_move_the_odds_by_at_most_their_total_epsilon(first, second, epsilon):
    scale = 2 / epsilon
    posterior = noise_posterior([[first, 0], [second, 0]], [[0, 0], [0, 0]], [scale, scale], [1, 1])
    assert abs(math.log(posterior[0] / posterior[1])) <= 2 * epsilon * (1 + 1e-9)


def test_a_prior_without_weight_is_refused():
    with pytest.raises(UsageError, match="prior"):
        noise_posterior([[1, 2]], [[1, 1]], [1.0], [0, 0])
    with pytest.raises(UsageError, match="length"):
        noise_posterior([[1, 2]], [[1, 1]], [1.0, 2.0], [1, 1])


@pytest.mark.parametrize("epsilon", [1e-300, 1e-20, 1e-9])
def test_a_tiny_loss_is_a_tiny_difference_and_never_a_division_by_zero(epsilon):
    assert semantic_privacy(epsilon, people=10).eps_prime == pytest.approx(epsilon)
    bound = semantic_privacy(epsilon, 1e-12, people=10)
    assert bound.eps_prime == pytest.approx(3 * epsilon + 2e-6)
    assert bound.delta_prime == pytest.approx(10 * (1e-6 / 2 + 1e-12 / epsilon))
