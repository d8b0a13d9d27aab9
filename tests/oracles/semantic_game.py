"""The games of semantic privacy by enumeration in plain dictionaries (Ganta et al. 2008, Sec. 4.1)."""

from __future__ import annotations

import itertools
import math

Distribution = dict[tuple[object, ...], float]


def posterior_differences(
    mechanism: str,
    domain_size: int,
    people: int,
    epsilon: float,
    prior: list[float],
    default: int,
    publish: float,
) -> list[float]:
    """The largest statistical difference for each person."""
    databases = list(itertools.product(range(domain_size), repeat=people))
    belief = dict(zip(databases, prior, strict=True))

    def answers(database: tuple[int, ...]) -> Distribution:
        return _mixed(_answer(mechanism, database, domain_size, epsilon), database, publish)

    table = {database: answers(database) for database in databases}
    transcripts = {transcript for answer in table.values() for transcript in answer}
    worst = []
    for person in range(people):
        removed = {each: (*each[:person], default, *each[person + 1 :]) for each in databases}
        worst.append(max(_difference(transcript, table, removed, belief) for transcript in transcripts))
    return worst


def _difference(
    transcript: tuple[object, ...],
    table: dict[tuple[int, ...], Distribution],
    removed: dict[tuple[int, ...], tuple[int, ...]],
    belief: dict[tuple[int, ...], float],
) -> float:
    real = {database: table[database].get(transcript, 0.0) * belief[database] for database in table}
    hypothetical = {each: table[removed[each]].get(transcript, 0.0) * belief[each] for each in table}
    if sum(real.values()) == 0:
        return 0.0
    if sum(hypothetical.values()) == 0:
        return 1.0
    # max over events S of P[S] - Q[S]: the databases where P is larger
    gains = [
        real[each] / sum(real.values()) - hypothetical[each] / sum(hypothetical.values()) for each in table
    ]
    return sum(gain for gain in gains if gain > 0)


def _mixed(answer: Distribution, database: tuple[int, ...], publish: float) -> Distribution:
    mixed = {
        ("answer", *transcript): probability * (1 - publish) for transcript, probability in answer.items()
    }
    for person, value in enumerate(database):
        mixed["record", person, value] = publish / len(database)
    return {transcript: probability for transcript, probability in mixed.items() if probability > 0}


def _answer(mechanism: str, database: tuple[int, ...], domain_size: int, epsilon: float) -> Distribution:
    people = len(database)
    if mechanism == "parity":
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        return {(bit,): truth if bit == sum(database) % 2 else 1 - truth for bit in (0, 1)}
    if mechanism == "publish_one_record":
        return {(person, value): 1 / people for person, value in enumerate(database)}
    if mechanism == "rr":
        honest = math.exp(epsilon) / (math.exp(epsilon) + domain_size - 1)
        lie = 1 / (math.exp(epsilon) + domain_size - 1)
        return {
            reply: math.prod(
                honest if said == true else lie for said, true in zip(reply, database, strict=True)
            )
            for reply in itertools.product(range(domain_size), repeat=people)
        }
    assert mechanism == "histogram"
    cells = [_clamped(database.count(value), people, math.exp(-epsilon / 2)) for value in range(domain_size)]
    return {
        shown: math.prod(cell[count] for cell, count in zip(cells, shown, strict=True))
        for shown in itertools.product(range(people + 1), repeat=domain_size)
    }


def _clamped(count: int, top: int, ratio: float) -> list[float]:
    shown = [0.0] * (top + 1)
    for noise in range(-400, 401):
        shown[min(max(count + noise, 0), top)] += (1 - ratio) / (1 + ratio) * ratio ** abs(noise)
    return shown
