"""What differential privacy promises, how promises add up, and what an adversary learns from noise.

Ganta et al. 2008, Sec. 4. Where the printed bounds are loose or not proved, corrected ones are given beside
them under names of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from privacy_sql.errors import UsageError
from privacy_sql.parameters import number_or_refuse

if TYPE_CHECKING:
    from types import ModuleType


class PrivacyLoss(NamedTuple):
    """An (ε, δ) pair."""

    eps: float
    delta: float


@dataclass(frozen=True)
class SemanticBound:
    """How far one person's record can move an adversary's beliefs, as printed and as corrected.

    `eps_prime` and `delta_prime` are the paper's bound on the statistical difference between the two
    posteriors and on the probability that it fails; `tight` is the sharper bound on the same difference.
    `vacuous` is true when the printed difference is 1 or more, since no two beliefs differ by more than that,
    or when the bound may fail with a probability of 1 or more.
    """

    eps_prime: float
    delta_prime: float
    tight: float
    rule: str
    vacuous: bool
    delta_prime_printed_lemma: float | None = None

    def explain(self) -> str:
        """The bound in words, with the warning when it promises nothing."""
        failing = f", except with probability {self.delta_prime:.3g}" if self.delta_prime else ""
        if self.vacuous or self.delta_prime >= 1:
            corrected = f" The corrected bound is {self.tight:.3g}."
            sharper = corrected if self.tight < 1 and self.delta_prime < 1 else ""
            return (
                f"The printed bound ({self.eps_prime:.3g}{failing}) is vacuous: it promises nothing.{sharper}"
            )
        return (
            f"Whatever an adversary knows, one record moves their beliefs by at most {self.eps_prime:.3g}"
            f" (corrected: {self.tight:.3g}){failing}."
        )


def semantic_privacy(
    epsilon: float, delta: float = 0.0, *, people: int, most_neighbours: bool = False
) -> SemanticBound:
    """The semantic privacy that (ε, δ)-differential privacy implies for a database of `people` (their n).

    Ganta et al. 2008, Prop. 15 for δ = 0, Thm. 16 for δ > 0, and with `most_neighbours` Thm. 18: only
    databases of prior probability 1 - δ need indistinguishable neighbours, which doubles the δ of the joint
    distributions and so the probability of failure. Differs from the paper: δ' has its constant (the printed
    one is O(n√δ)), and `tight` is tanh(ε/2) for δ = 0 (attained by randomised response on parity), else
    1 - e^(-3ε)(1 - 2√δ). Lemma 19 as printed is not proved for e^ε above about 2; it is kept for comparison.

    >>> semantic_privacy(0.1, people=50).explain()
    'Whatever an adversary knows, one record moves their beliefs by at most 0.105 (corrected: 0.05).'
    >>> semantic_privacy(0.8, people=50).vacuous
    True
    """
    _check_loss(epsilon, delta)
    if people < 1:
        raise UsageError(
            "bad_people", f"people is {people}", hint="Give the size of the database, 1 or more."
        )
    if delta == 0 and not most_neighbours:
        printed = _exp_less_one(epsilon)
        return SemanticBound(printed, 0.0, math.tanh(epsilon / 2), "prop15", printed >= 1)
    joint_delta = 2 * delta if most_neighbours else delta
    eps_prime = _exp_less_one(3 * epsilon) + 2 * math.sqrt(delta)
    failing = 0.0
    if delta:
        # Sec. 4.2: over t, the two marginals stay within e^(2ε), no event exceeds e^(3ε) by more than 2√δ
        posterior_part = joint_delta / (2 * math.sqrt(delta))
        marginal_part = joint_delta / (_exp(epsilon) * _exp_less_one(epsilon)) if epsilon < 300 else 0.0
        failing = people * (posterior_part + marginal_part)
    printed = math.sqrt(joint_delta) + 2 * joint_delta / (epsilon * _exp(epsilon))
    return SemanticBound(
        eps_prime=eps_prime,
        delta_prime=failing,
        tight=1 - math.exp(-3 * epsilon) * (1 - 2 * math.sqrt(delta)),
        rule="thm18" if most_neighbours else "thm16",
        vacuous=eps_prime >= 1,
        delta_prime_printed_lemma=people * printed,
    )


def compose(releases: Iterable[tuple[float, float]]) -> PrivacyLoss:
    """The (ε, δ) of several releases together: both add up.

    Ganta et al. 2008, Lemma 12.

    >>> compose([(0.3, 1e-07), (0.2, 0)])
    PrivacyLoss(eps=0.5, delta=1e-07)
    """
    pairs = [(float(epsilon), float(delta)) for epsilon, delta in releases]
    for epsilon, delta in pairs:
        _check_loss(epsilon, delta, may_be_zero=True)
    return PrivacyLoss(math.fsum(epsilon for epsilon, _ in pairs), math.fsum(delta for _, delta in pairs))


@dataclass(frozen=True)
class ZcdpAccount:
    """Zero-concentrated loss `rho` of several releases and the ε it means at `delta`."""

    rho: float
    delta: float
    eps_simple: float
    eps: float


def compose_zcdp(
    sigmas: Sequence[float] = (),
    *,
    l2_sensitivity: float = math.sqrt(2),
    delta: float,
    epsilons: Sequence[float] = (),
) -> ZcdpAccount:
    """The account of several Gaussian releases (and pure ones, `epsilons`) in zero-concentrated terms.

    ρ adds up: (l2_sensitivity/σ)²/2 for noise of deviation σ, ε²/2 for a pure release. `eps_simple` is the
    textbook ρ + 2√(ρ ln 1/δ); `eps` comes from OpenDP's tight map. The default sensitivity is that of a
    histogram under substitution (Def. 10 of Ganta et al. 2008): one person leaves a cell and enters another.

    >>> round(compose_zcdp([3.0], delta=1e-6).eps, 3)
    2.268
    """
    _check_positive("sigmas", sigmas)
    _check_positive("epsilons", epsilons)
    _check_positive("l2_sensitivity", [l2_sensitivity])
    if not 0 < delta < 1:
        raise UsageError("bad_delta", f"delta is {delta}", hint="It must lie between 0 and 1.")
    rho = math.fsum((l2_sensitivity / sigma) ** 2 / 2 for sigma in sigmas)
    rho += math.fsum(epsilon**2 / 2 for epsilon in epsilons)
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    if rho == 0:
        return ZcdpAccount(rho, delta, simple, 0.0)
    dp = opendp()
    # the map depends on ρ alone, so one Gaussian of that ρ stands for all the releases together
    space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.l2_distance(T="f64")
    one_release = dp.m.make_gaussian(*space, scale=1.0)
    profile = dp.c.make_zCDP_to_approxDP(one_release).map(math.sqrt(2 * rho))
    return ZcdpAccount(rho, delta, simple, float(profile.epsilon(delta)))


def opendp() -> ModuleType | Any:
    """The library that draws noise and keeps its account; there is no other source of either."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise UsageError(
            "no_opendp", "differential privacy needs OpenDP", hint='pip install "privacy-sql[dp]"'
        ) from None
    dp.enable_features("contrib")
    return dp


class LaplacePoint(NamedTuple):
    """Probability of one value of discrete Laplace noise, and the variance of the noise."""

    pmf: float
    variance: float


def discrete_laplace(k: int, scale: float) -> LaplacePoint:
    """Probability that two-sided geometric noise equals `k`, P(k) ∝ e^(-|k|/scale), and its variance.

    >>> discrete_laplace(0, 2.0).pmf > discrete_laplace(1, 2.0).pmf == discrete_laplace(-1, 2.0).pmf
    True
    """
    _check_positive("scale", [scale])
    ratio = math.exp(-1 / scale)
    # 1 - ratio loses its digits for a large scale, expm1 keeps them
    gap = -math.expm1(-1 / scale)
    return LaplacePoint(gap / (1 + ratio) * math.exp(-abs(k) / scale), 2 * ratio / gap**2)


class NoisePosterior(tuple[float, ...]):
    """Probability of each cell for the target, and what the releases cost together under substitution."""

    total_eps_substitution: float

    @property
    def posterior(self) -> tuple[float, ...]:
        """The probabilities as a plain tuple."""
        return tuple(self)


def noise_posterior(
    noisy: Sequence[Sequence[float]],
    counts_without_target: Sequence[Sequence[float]],
    scale: Sequence[float],
    prior: Sequence[Any],
) -> NoisePosterior:
    """What an adversary who knows everyone else's cell concludes about the last person from noisy histograms.

    Bayes' rule (Ganta et al. 2008, Eq. 1) with discrete Laplace noise of one `scale` per release: posterior
    ∝ prior · Π exp(-|noisy - counts with target| / scale). The cells are the same in every release.

    >>> noise_posterior([[4, 1], [0, 3]], [[3, 1], [1, 2]], [2.0, 2.0], [0.5, 0.5]).posterior
    (0.5, 0.5)
    """
    beliefs = _check_histograms(noisy, counts_without_target, scale, prior)
    logs = []
    for cell, belief in enumerate(beliefs):
        # the hypotheses differ in the target's own cell only, so the other cells cancel
        moves = (
            (abs(seen[cell] - others[cell]) - abs(seen[cell] - others[cell] - 1)) / width
            for seen, others, width in zip(noisy, counts_without_target, scale, strict=True)
        )
        logs.append(math.log(belief) + math.fsum(moves) if belief else -math.inf)
    largest = max(logs)
    weights = [math.exp(log - largest) for log in logs]
    total = math.fsum(weights)
    answer = NoisePosterior(weight / total for weight in weights)
    answer.total_eps_substitution = math.fsum(2 / each for each in scale)
    return answer


def _check_histograms(
    noisy: Sequence[Sequence[float]],
    counts: Sequence[Sequence[float]],
    scale: Sequence[float],
    prior: Sequence[Any],
) -> list[float]:
    refusal = UsageError("bad_prior", "a belief is a number, or a fraction as text")
    beliefs = [float(number_or_refuse(each, refusal) if isinstance(each, str) else each) for each in prior]
    _check_positive("scale", scale)
    same_releases = len(noisy) == len(counts) == len(scale)
    if not same_releases or any(len(row) != len(beliefs) for row in [*noisy, *counts]):
        raise UsageError("bad_shape", "noisy, counts_without_target, scale and prior differ in length")
    numbers = [*beliefs, *(number for row in [*noisy, *counts] for number in row)]
    if (
        not all(math.isfinite(number) for number in numbers)
        or min(beliefs, default=-1) < 0
        or not any(beliefs)
    ):
        raise UsageError("bad_prior", "counts must be finite and the prior non-negative with a positive sum")
    return beliefs


def _check_loss(epsilon: float, delta: float, *, may_be_zero: bool = False) -> None:
    enough = epsilon >= 0 if may_be_zero else epsilon > 0
    if not (math.isfinite(epsilon) and enough):
        raise UsageError("bad_epsilon", f"epsilon is {epsilon}", hint="It must be finite and above 0.")
    if not 0 <= delta < 1:
        raise UsageError("bad_delta", f"delta is {delta}", hint="It must be 0 or more, and less than 1.")


def _check_positive(name: str, numbers: Sequence[float]) -> None:
    if any(not math.isfinite(number) or number <= 0 for number in numbers):
        raise UsageError("not_positive", f"{name} must be finite and above 0", where=name)


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


def _exp_less_one(x: float) -> float:
    # e^x - 1 without losing what a tiny x is
    return math.expm1(x) if x < 709 else math.inf
