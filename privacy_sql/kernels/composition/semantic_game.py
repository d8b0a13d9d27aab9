"""The games that define semantic privacy, played in full on small databases.

Ganta et al. 2008, Sec. 4.1: in Game 0 the adversary sees A(D), in Game i they see A(D with person i replaced
by a default). Every mechanism here is an explicit table Pr[A(D) = t], so nothing is sampled.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError

Floats = npt.NDArray[np.float64]
Database = tuple[int, ...]
LARGEST_TABLE = 5_000_000


@dataclass(frozen=True)
class SemanticGame:
    """The largest statistical difference between the posteriors, for each person whose record is removed.

    `differences` has one row per person and one column per transcript; `bound_printed` is e^ε - 1 (Prop. 15),
    `bound_tight` tanh(ε/2). Both are None where records may be published: no bound below 1 holds then.
    """

    max_sd: float
    max_sd_per_person: tuple[float, ...]
    transcript_prob_sum: float
    bound_printed: float | None
    bound_tight: float | None
    transcript_probabilities: Floats
    differences: Floats

    def failure_probability(self, limit: float) -> float:
        """Probability of a transcript after which some person's difference exceeds `limit` (Def. 14)."""
        exceeds = self.differences.max(axis=0) > limit
        return float(self.transcript_probabilities[exceeds].sum())


def semantic_game(
    mechanism: str,
    domain_size: int,
    people: int,
    epsilon: float,
    prior: Sequence[float],
    default: int = 0,
    publish_prob: float = 0.0,
) -> SemanticGame:
    """Play Games 0 to n of Ganta et al. 2008, Sec. 4.1, for one mechanism and one prior.

    `mechanism` is histogram (every count plus two-sided geometric noise of ratio e^(-ε/2), clamped to
    0..people), rr (each record kept or replaced at random), parity (randomised response on the parity of all
    records) or publish_one_record (the paper's sanitiser that protects nobody). With `publish_prob` the
    mechanism publishes one person's record instead of its answer. `prior` lists the probability of every
    database in the order of itertools.product. A transcript impossible in Game i is a difference of 1.

    >>> half = [0, 0, 0.5, 0.5]  # person 0 has value 1, person 1 either value
    >>> game = semantic_game("parity", 2, 2, 1.0, half)
    >>> math.isclose(game.max_sd, game.bound_tight)
    True
    """
    _check(mechanism, domain_size, people, epsilon, default, publish_prob)
    databases = list(itertools.product(range(domain_size), repeat=people))
    beliefs = np.array([float(probability) for probability in prior])
    if len(beliefs) != len(databases):
        raise UsageError("bad_prior", f"the prior has {len(beliefs)} entries for {len(databases)} databases")
    if not (np.isfinite(beliefs).all() and (beliefs >= 0).all() and abs(beliefs.sum() - 1) < 1e-6):
        raise UsageError("bad_prior", "the prior must be non-negative and sum to 1")
    beliefs = beliefs / beliefs.sum()
    table = np.array([_MECHANISMS[mechanism](database, domain_size, epsilon) for database in databases])
    if publish_prob:
        published = np.array([_publish_one_record(database, domain_size, epsilon) for database in databases])
        table = np.hstack([table * (1 - publish_prob), published * publish_prob])
    index = {database: row for row, database in enumerate(databases)}
    seen = beliefs @ table
    without = [
        [index[(*database[:person], default, *database[person + 1 :])] for database in databases]
        for person in range(people)
    ]
    differences = np.array([_differences(table, np.array(rows, np.int64), beliefs) for rows in without])
    per_person = tuple(float(row.max()) for row in differences)
    # the bounds are for pure epsilon, which publishing a record unchanged breaks
    pure = publish_prob == 0 and mechanism != "publish_one_record"
    return SemanticGame(
        max_sd=max(per_person),
        max_sd_per_person=per_person,
        transcript_prob_sum=float(seen.sum()),
        bound_printed=math.expm1(epsilon) if pure else None,
        bound_tight=math.tanh(epsilon / 2) if pure else None,
        transcript_probabilities=seen,
        differences=differences,
    )


def two_point_prior(domain_size: int, people: int, first: Database, second: Database) -> list[float]:
    """The prior that gives probability 1/2 to each of two databases: the hardest kind for many mechanisms.

    >>> two_point_prior(2, 2, (1, 0), (1, 1))
    [0.0, 0.0, 0.5, 0.5]
    """
    databases = itertools.product(range(domain_size), repeat=people)
    return [0.5 * ((database == first) + (database == second)) for database in databases]


def dirichlet_prior(
    domain_size: int, people: int, generator: np.random.Generator, concentration: float = 1.0
) -> list[float]:
    """A random prior over all databases; a small `concentration` puts most of it on few of them."""
    drawn = generator.dirichlet(np.full(domain_size**people, concentration))
    return [float(probability) for probability in drawn]


def _differences(table: Floats, replaced: npt.NDArray[np.int64], beliefs: Floats) -> Floats:
    # one column per transcript: half the L1 distance of the two posteriors over databases
    real, hypothetical = table * beliefs[:, None], table[replaced] * beliefs[:, None]
    real_sum, hypothetical_sum = real.sum(axis=0), hypothetical.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.abs(real / real_sum - hypothetical / hypothetical_sum).sum(axis=0) / 2
    # no posterior exists after an impossible transcript: count it as the worst when it can really be seen
    return np.where(real_sum == 0, 0.0, np.where(hypothetical_sum == 0, 1.0, distance))


def _histogram(database: Database, domain_size: int, epsilon: float) -> Floats:
    ratio, top, joint = math.exp(-epsilon / 2), len(database), np.ones(1)
    for value in range(domain_size):
        count = database.count(value)
        cell = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(top + 1) - count)
        # the ends take in everything beyond them: a geometric tail from `count` on, in closed form
        cell[0] = ratio**count / (1 + ratio)
        cell[top] = ratio ** (top - count) / (1 + ratio)
        joint = np.outer(joint, cell).ravel()
    return joint


def _randomised_response(database: Database, domain_size: int, epsilon: float) -> Floats:
    lie = 1 / (math.exp(epsilon) + domain_size - 1)
    joint = np.ones(1)
    for value in database:
        answer = np.full(domain_size, lie)
        answer[value] = math.exp(epsilon) * lie
        joint = np.outer(joint, answer).ravel()
    return joint


def _parity(database: Database, domain_size: int, epsilon: float) -> Floats:
    truth = 1 / (1 + math.exp(-epsilon))
    answer = np.full(2, 1 - truth)
    answer[sum(database) % 2] = truth
    return answer


def _publish_one_record(database: Database, domain_size: int, epsilon: float) -> Floats:
    published = np.zeros((len(database), domain_size))
    published[np.arange(len(database)), database] = 1 / len(database)
    return published.ravel()


_MECHANISMS: dict[str, Callable[[Database, int, float], Floats]] = {
    "histogram": _histogram,
    "rr": _randomised_response,
    "parity": _parity,
    "publish_one_record": _publish_one_record,
}


def _check(
    mechanism: str, domain_size: int, people: int, epsilon: float, default: int, publish_prob: float
) -> None:
    if mechanism not in _MECHANISMS:
        raise UsageError(
            "unknown_mechanism", f'no mechanism "{mechanism}"', hint=f"Known: {', '.join(_MECHANISMS)}."
        )
    if not (0 < epsilon <= 500 and 0 <= publish_prob <= 1):
        raise UsageError("bad_epsilon", "epsilon must lie in (0, 500] and publish_prob in [0, 1]")
    if people < 1 or domain_size < 1 or default not in range(domain_size):
        raise UsageError(
            "bad_domain", "people and domain_size are 1 or more, default is a value of the domain"
        )
    transcripts = {"histogram": (people + 1) ** domain_size, "rr": domain_size**people}.get(mechanism, 2)
    if domain_size**people * (transcripts + people * domain_size) > LARGEST_TABLE:
        raise UsageError(
            "game_too_large", "databases times transcripts exceed 5 million", hint="Use fewer people."
        )
