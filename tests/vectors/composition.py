"""Differential privacy: bounds, accounts, games and posteriors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import privacy_sql as ps


def semantic_bound(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    _same(ps.semantic_privacy(given["eps"], given["delta"], people=given["n"]), case["expect"])


def composition(engine: Any, case: dict[str, Any]) -> None:
    _same(ps.compose([tuple(pair) for pair in case["input"]["releases"]]), case["expect"])


def zcdp(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    _same(
        ps.compose_zcdp(given["sigmas"], l2_sensitivity=given["l2_sensitivity"], delta=given["delta"]),
        case["expect"],
    )


def semantic_game(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    game = ps.semantic_game(
        mechanism=given["mechanism"],
        domain_size=given["domain_size"],
        people=given["n"],
        epsilon=given["eps"],
        prior=given["prior"],
        default=given["default"],
        publish_prob=given["publish_prob"],
    )
    _same(game, case["expect"])


def discrete_laplace(engine: Any, case: dict[str, Any]) -> None:
    _same(ps.discrete_laplace(case["input"]["k"], case["input"]["scale"]), case["expect"])


def dp_two_release_posterior(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    prior = [Fraction(belief) for belief in given["prior"]]
    answer = ps.noise_posterior(given["noisy"], given["counts_without_target"], given["scale"], prior)
    _same(answer, case["expect"])


def _same(answer: Any, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        exactly = isinstance(value, (str, bool)) or value is None
        assert getattr(answer, name) == (value if exactly else pytest.approx(value, abs=1e-9))
