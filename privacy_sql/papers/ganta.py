"""Ganta et al. 2008, Sec. 3: two releases of overlapping samples, attacked together; and noise instead.

Three tables: Adult (30,162 rows), the IPUMS sample (23,348 rows of three census years; the paper had 70,187
of one) and the working people of the ACS extract (104,731). Two samples of half a table each share 5,000
people; each is published on its own, and both are attacked with the quasi-identifiers of the shared people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from privacy_sql.criteria import Criterion
from privacy_sql.criteria.l_diversity import LDiversity
from privacy_sql.criteria.t_closeness import TCloseness
from privacy_sql.engines import Engine
from privacy_sql.kernels.composition.noise import laplace
from privacy_sql.kernels.composition.privacy_loss import noise_posterior
from privacy_sql.papers import Figure, chosen
from privacy_sql.papers._overlap import LEVELS, SOURCES, Array, Pair, PaperPeople

PARTS = ("fig1", "fig2", "fig3", "fig4", "noise")
SEEDS = 10
KS = (5, 10, 25)
SCENARIOS = (
    ("mondrian", "mondrian"),
    ("mondrian", "mdav"),
    ("mdav", "mdav"),
    ("mdav nearest", "mdav nearest"),
)
# Fig. 4: requirements besides k = 10, on IPUMS as in the paper; on other tables the two of its Fig. 4(c)
DIVERSE = tuple(LDiversity(floor, kind="entropy") for floor in (2, 3, 5))
CLOSE = tuple(TCloseness(limit) for limit in ("0.4", "0.6", "0.8"))
MORE: dict[str, tuple[Criterion, ...]] = {
    "ipums": (*DIVERSE, *CLOSE),
    "adult": (DIVERSE[-1], CLOSE[0]),
    "acs": (DIVERSE[-1], CLOSE[0]),
}
# MDAV compares every combination with every other, so on a larger table it runs for the least k only
MOST_ROWS = 40_000
EPSILONS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))

Key = tuple[str, str, int]


def run(engine: Engine, data: Path, parts: Sequence[str] = (), seeds: int = SEEDS) -> Iterator[Figure]:
    """The requested figures; each number is the mean over the seeds, with its spread."""
    wanted = chosen(parts, PARTS)
    loaded = {name: PaperPeople(engine, data, name) for name in SOURCES}
    if set(wanted) & {"fig1", "fig2", "fig3"}:
        summaries = _summaries(loaded, seeds, "fig1" in wanted)
        makers = {"fig1": _fig_1, "fig2": _fig_2, "fig3": _fig_3}
        for part in wanted:
            if part in makers:
                yield from makers[part](summaries)
    if "fig4" in wanted:
        yield from (_fig_4(people, seeds) for people in loaded.values())
    if "noise" in wanted:
        yield _noise(loaded["adult"], seeds)


def _summaries(loaded: dict[str, PaperPeople], seeds: int, all_scenarios: bool) -> dict[Key, list[Any]]:
    """Data, scenario and k -> the summaries of all seeds."""
    found: dict[Key, list[Any]] = {}
    for name, people in loaded.items():
        for seed in range(seeds):
            pair = Pair(people, seed)
            for methods in SCENARIOS if all_scenarios else SCENARIOS[:1]:
                few = methods != SCENARIOS[0] and len(people.rows) > MOST_ROWS
                for k in KS[:1] if few else KS:
                    attack = pair.attacked(methods, k)
                    # the nearest centre may be that of another group
                    in_doubt = any(method.endswith("nearest") for method in methods)
                    right = pair.rightly_located(attack, methods, k) if in_doubt else (100.0, 100.0)
                    summary = attack.summary
                    summary["right"] = right
                    found.setdefault((name, " and ".join(methods), k), []).append(summary)
    return found


def _spread(numbers: Sequence[Any]) -> tuple[float, float]:
    """Mean and standard deviation."""
    plain = [float(number) for number in numbers]
    return round(mean(plain), 3), round(stdev(plain), 3) if len(plain) > 1 else 0.0


def _fig_1(summaries: dict[Key, list[Any]]) -> Iterator[Figure]:
    rows: list[tuple[Any, ...]] = []
    for (name, scenario, k), found in summaries.items():
        certain, new = (_spread([each[field] for each in found]) for field in ("perfect", "perfect_new"))
        quarter = _spread([each.PVP["1/4"] for each in found])
        right = [_spread(shares)[0] for shares in zip(*(each["right"] for each in found), strict=True)]
        rows.append((f"{name}: {scenario}", k, *certain, *new, *quarter, *right))
    yield Figure(
        "fig1_perfect",
        "Fig. 1(a, b): perfect breach, percentage of shared people known for certain",
        (
            *("scenario", "k", "perfect", "spread", "perfect_new", "spread_new"),
            *("quarter", "spread_quarter", "right", "picked"),
        ),
        tuple(rows),
        x="k",
        y="perfect",
        series="scenario",
        note="perfect_new: not exposed by one release alone; quarter: at 25 %; right: whose own group is"
        " among the nearest; picked: by chance among those",
    )
    rows = []
    for name, k, found in _mondrian(summaries):
        for level in LEVELS:
            exposed = _spread([each.PVP[str(level)] for each in found])
            rows.append((f"{name}, k={k}", float(100 * level), *exposed))
    yield Figure(
        "fig1_partial",
        "Fig. 1(c, d): partial breach, percentage of shared people exposed at a confidence (Mondrian twice)",
        ("data", "confidence", "exposed", "spread"),
        tuple(rows),
        x="confidence",
        y="exposed",
        series="data",
    )


def _mondrian(summaries: dict[Key, list[Any]]) -> Iterator[tuple[str, int, list[Any]]]:
    for (name, scenario, k), found in summaries.items():
        if scenario == "mondrian and mondrian":
            yield name, k, found


def _fig_2(summaries: dict[Key, list[Any]]) -> Iterator[Figure]:
    rows = []
    for name, k, found in _mondrian(summaries):
        rows.append((f"{name}: presumed", k, float(k), 0.0))
        rows.append((f"{name}: group size", k, *_spread([each.avg_group_size[0] for each in found])))
        rows.append((f"{name}: effective", k, *_spread([each.avg_EA[0] for each in found])))
    yield Figure(
        "fig2",
        "Fig. 2: presumed anonymity, actual group size and effective anonymity (Mondrian)",
        ("measure", "k", "value", "spread"),
        tuple(rows),
        x="k",
        y="value",
        series="measure",
    )


def _fig_3(summaries: dict[Key, list[Any]]) -> Iterator[Figure]:
    rows = []
    for name, k, found in _mondrian(summaries):
        for number in (0, 1):
            rows.append(
                (f"{name}: before, {number + 1}", k, *_spread([each.avg_EA[number] for each in found]))
            )
        rows.append((f"{name}: after", k, *_spread([each.avg_EA_post for each in found])))
    yield Figure(
        "fig3",
        "Fig. 3: effective anonymity before and after the attack (Mondrian twice)",
        ("measure", "k", "value", "spread"),
        tuple(rows),
        x="k",
        y="value",
        series="measure",
    )


def _fig_4(people: PaperPeople, seeds: int) -> Figure:
    rows = []
    pairs = [Pair(people, seed) for seed in range(seeds)]
    asked: list[tuple[str, list[Criterion]]] = [("k=10", [])]
    asked += [(f"k=10, {criterion}", [criterion]) for criterion in MORE[people.name]]
    for told, more in asked:
        found = [pair.attacked(SCENARIOS[0], 10, more).summary for pair in pairs]
        size = _spread([each.avg_group_size[0] for each in found])
        for level in LEVELS:
            exposed = _spread([each.PVP[str(level)] for each in found])
            rows.append((told, float(100 * level), *exposed, *size))
    return Figure(
        f"fig4_{people.name}",
        f"Fig. 4 on {people.name}: exposed at a confidence, with entropy diversity or t-closeness",
        ("requirement", "confidence", "exposed", "spread", "group_size", "spread_size"),
        tuple(rows),
        x="confidence",
        y="exposed",
        series="requirement",
    )


def _noise(people: PaperPeople, seeds: int) -> Figure:
    """The same people and the same adversary, who in the noisy case also knows everybody else's value."""
    rows = []
    pairs = [Pair(people, seed) for seed in range(seeds)]
    summaries = [pair.attacked(SCENARIOS[0], 5).summary for pair in pairs]
    for level in LEVELS:
        exposed = _spread([each.PVP[str(level)] for each in summaries])
        rows.append(("partition, k=5", float(100 * level), *exposed))
    for epsilon in EPSILONS:
        confidences = [_noisy_confidences(pair, epsilon) for pair in pairs]
        for level in LEVELS:
            reached = [100 * float((each >= float(level) - 1e-12).mean()) for each in confidences]
            named = f"noise, {float(epsilon)} + {float(epsilon)}"
            rows.append((named, float(100 * level), *_spread(reached)))
    return Figure(
        "noise",
        "Partition against noise: shared people exposed at a confidence (Adult)",
        ("release", "confidence", "exposed", "spread"),
        tuple(rows),
        x="confidence",
        y="exposed",
        series="release",
        note="noise: two histograms of occupation; a large epsilon is not safe",
    )


def _noisy_confidences(pair: Pair, epsilon: Fraction) -> Array:
    """For each shared person the belief in the likeliest value of somebody who knows everybody else's.

    The two histograms of the sensitive value get fresh noise for each person; the prior is how common each
    value is.
    """
    people = pair.people
    noise = laplace(2, epsilon)
    size = len(people.shares)
    truths = [np.bincount(people.values[rows], minlength=size) for rows in (pair.first, pair.second)]
    values = people.values[pair.shared]
    drawn = [noise.draw(np.tile(truth, len(values))).reshape(len(values), size) for truth in truths]
    believed = []
    for person, value in enumerate(values.tolist()):
        without = [(truth - (np.arange(size) == value)).tolist() for truth in truths]
        seen = [noisy[person].tolist() for noisy in drawn]
        believed.append(max(noise_posterior(seen, without, [noise.scale] * 2, people.shares.tolist())))
    return np.array(believed)
