import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_sql.errors import UsageError
from privacy_sql.kernels.composition.semantic_game import dirichlet_prior, semantic_game, two_point_prior
from tests.oracles.semantic_game import posterior_differences

CASES = json.loads(Path("fixtures/vectors/bt_composition.json").read_text())["cases"]
GAMES = [case for case in CASES if case["kind"] == "semantic_game"]
PURE = ("histogram", "rr", "parity")


@pytest.mark.parametrize("case", GAMES, ids=[case["id"] for case in GAMES])
def test_games_are_those_of_the_vectors(case):
    given_ = case["input"]
    game = semantic_game(
        given_["mechanism"],
        given_["domain_size"],
        given_["n"],
        given_["eps"],
        given_["prior"],
        given_["default"],
        given_["publish_prob"],
    )
    for name, value in case["expect"].items():
        assert getattr(game, name) == pytest.approx(value, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_games_agree_with_their_enumeration(data):
    mechanism = data.draw(st.sampled_from((*PURE, "publish_one_record")))
    domain_size, people = data.draw(st.sampled_from([(2, 1), (2, 2), (2, 3), (3, 2)]))
    default, publish = data.draw(st.integers(0, domain_size - 1)), data.draw(st.sampled_from([0.0, 0.1, 1.0]))
    epsilon = data.draw(st.floats(0.05, 2))
    weights = data.draw(
        st.lists(st.integers(0, 9), min_size=domain_size**people, max_size=domain_size**people)
    )
    prior = [(weight + (i == 0)) / (sum(weights) + 1) for i, weight in enumerate(weights)]
    game = semantic_game(mechanism, domain_size, people, epsilon, prior, default, publish)
    expected = posterior_differences(mechanism, domain_size, people, epsilon, prior, default, publish)
    assert game.max_sd_per_person == pytest.approx(expected, abs=1e-9)
    assert game.transcript_prob_sum == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PURE), st.sampled_from([0.1, 0.5, 1.0, 2.0]), st.integers(0, 10**6), st.booleans())
def test_pure_mechanisms_stay_below_the_corrected_and_the_printed_bound(mechanism, epsilon, seed, sharp):
    generator = np.random.default_rng(seed)
    prior = dirichlet_prior(2, 3, generator, concentration=0.05 if sharp else 1.0)
    game = semantic_game(mechanism, 2, 3, epsilon, prior)
    assert game.max_sd <= game.bound_tight * (1 + 1e-9) <= game.bound_printed


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_parity_attains_the_corrected_bound_against_a_two_point_prior(epsilon):
    game = semantic_game("parity", 2, 2, epsilon, two_point_prior(2, 2, (1, 0), (1, 1)))
    assert game.max_sd == pytest.approx(math.tanh(epsilon / 2))


def test_publishing_one_record_is_no_privacy_at_all():
    game = semantic_game("publish_one_record", 2, 2, 0.1, [0.25] * 4)
    assert game.max_sd == 1 and game.bound_tight is None is game.bound_printed
    assert game.failure_probability(0.5) == pytest.approx(0.5)


def test_a_small_chance_of_publishing_breaks_the_pure_bound_only_as_often_as_it_happens():
    chance = 0.01
    game = semantic_game("rr", 2, 3, 0.5, [0.125] * 8, publish_prob=chance)
    assert game.max_sd == 1
    assert 0 < game.failure_probability(math.tanh(0.5 / 2)) <= chance


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_bound_is_stated_that_a_game_exceeds(data):
    mechanism = data.draw(st.sampled_from((*PURE, "publish_one_record")))
    epsilon, seed = data.draw(st.sampled_from([0.1, 0.5, 2.0])), data.draw(st.integers(0, 10**6))
    chance = data.draw(st.sampled_from([0.0, 1e-9, 0.1, 1.0]))
    prior = dirichlet_prior(2, 2, np.random.default_rng(seed), concentration=0.2)
    game = semantic_game(mechanism, 2, 2, epsilon, prior, publish_prob=chance)
    for bound in (game.bound_tight, game.bound_printed):
        assert bound is None or game.max_sd <= bound * (1 + 1e-9)
    assert (game.bound_tight is None) == (chance > 0 or mechanism == "publish_one_record")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing", 2, 2, 1.0, [0.25] * 4),
        ("rr", 2, 2, 0.0, [0.25] * 4),
        ("rr", 2, 2, math.nan, [0.25] * 4),
        ("rr", 2, 2, 1.0, [0.25] * 3),
        ("rr", 2, 2, 1.0, [0.3] * 4),
        ("rr", 2, 2, 1.0, [1.5, -0.5, 0, 0]),
        ("rr", 2, 2, 1.0, [0.25] * 4, 2),
        ("histogram", 4, 12, 1.0, []),
    ],
)
def test_games_that_cannot_be_played_are_refused(arguments):
    with pytest.raises(UsageError):
        semantic_game(*arguments)
