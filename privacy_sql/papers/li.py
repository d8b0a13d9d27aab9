"""Li, Li, Zhang 2009, Sec. V: attacks with background knowledge on Adult (30,162 rows, occupation sensitive).

Mondrian cuts the tables with the parameters of Table V. The prior and every group's posterior are those of
the criterion; where the paper counts with Ω, the exact count is given beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privacy_sql.engines import Engine
from privacy_sql.kernels.beliefs.posterior import exact_posterior, omega_estimate
from privacy_sql.papers import Figure, chosen
from privacy_sql.papers._adult_beliefs import AdultStudy, Array
from privacy_sql.papers._mending import mended
from privacy_sql.papers._partition import partition

if TYPE_CHECKING:
    from privacy_sql.beliefs.beliefs import Bandwidth

Parameters = tuple[int, int, float, Any]  # k, l, t, b of Table V
PARTS = (
    *("fig1a", "fig1b", "fig2", "fig3a", "fig3b", "fig4a", "fig4b", "fig5", "fig6a", "fig6b", "certified"),
    *("fig1a_even", "fig3a_even", "fig6a_counts"),  # possible reasons for differences, measured
)
PARAMETERS: dict[str, Parameters] = {
    "para1": (3, 3, 0.25, 0.3),
    "para2": (4, 4, 0.2, 0.3),
    "para3": (5, 5, 0.15, 0.3),
    "para4": (6, 6, 0.1, 0.3),
}
ADVERSARIES = (0.2, 0.3, 0.4, 0.5)
GROUP_SIZES = (3, 5, 8, 12, 15)
RUNS = 100
QUERIES = 1000
SEARCH_CAP = 20_000  # count vectors tried while cutting; with more, the larger of Ω and Sinkhorn decides

EVENLY = "Every tree's steps replaced by how many leaves lie between two values; para1 of Table V."

Model = Callable[[AdultStudy, Parameters], list[Array]]


def run(engine: Engine, data: Path, parts: Sequence[str] = ()) -> Iterator[Figure]:
    """The requested figures."""
    study = AdultStudy.of(engine, data)
    makers: dict[str, Callable[[AdultStudy], Figure]] = {
        "fig1a": _fig_1a,
        "fig1b": _fig_1b,
        "fig2": _fig_2,
        "fig3a": _fig_3a,
        "fig3b": _fig_3b,
        "fig4a": _fig_4a,
        "fig4b": _fig_4b,
        "fig5": _fig_5,
        "fig6a": _fig_6a,
        "fig6b": _fig_6b,
        "certified": _certified,
        "fig1a_even": lambda _: _fig_1a_even(AdultStudy.of(engine, data, evenly=True)),
        "fig3a_even": lambda _: _fig_3a(
            AdultStudy.of(engine, data, evenly=True), "fig3a_even", " with distances that grow evenly", EVENLY
        ),
        "fig6a_counts": _fig_6a_counts,
    }
    yield from (makers[part](study) for part in chosen(parts, PARTS))


def distinct_l(study: AdultStudy, parameters: Parameters) -> list[Array]:
    k, ell, _, _ = parameters
    return partition(study.points, lambda groups: (study.counts(groups) > 0).sum(axis=1) >= ell, k)


def probabilistic_l(study: AdultStudy, parameters: Parameters) -> list[Array]:
    k, ell, _, _ = parameters

    def safe(groups: Sequence[Array]) -> Array:
        counts = study.counts(groups)
        return np.asarray(ell * counts.max(axis=1) <= counts.sum(axis=1))

    return partition(study.points, safe, k)


def t_closeness(study: AdultStudy, parameters: Parameters) -> list[Array]:
    k, _, t, _ = parameters
    return partition(study.points, lambda groups: study.distance_to_table(groups) <= t, k)


def bt_omega(study: AdultStudy, parameters: Parameters) -> list[Array]:
    k, _, t, b = parameters
    return partition(study.points, lambda groups: study.risks(groups, b, "omega") <= t, k)


def bt_exact(study: AdultStudy, parameters: Parameters) -> list[Array]:
    """Cut by exact posteriors where a group has few count vectors, else by the larger estimate."""
    k, _, t, b = parameters

    def safe(groups: Sequence[Array]) -> Array:
        risks = study.risks(groups, b, "exact", SEARCH_CAP)
        open_ = np.flatnonzero(np.isnan(risks))
        if len(open_):
            risks[open_] = study.risks([groups[int(i)] for i in open_], b, "estimate")
        return np.asarray(risks <= t)

    return partition(study.points, safe, k)


MODELS: dict[str, Model] = {
    "distinct l-diversity": distinct_l,
    "probabilistic l-diversity": probabilistic_l,
    "t-closeness": t_closeness,
    "(B,t) with omega": bt_omega,
    "(B,t) exact": bt_exact,
}


def _vulnerable(study: AdultStudy, groups: list[Array], b: float, t: float) -> tuple[int, int, int]:
    """People over t by Ω, by the exact posterior, and people in groups that the latter leaves undecided."""
    by_omega, _ = study.people_over(groups, b, t, "omega")
    return (by_omega, *study.people_over(groups, b, t, "exact"))


def _fig_1a(study: AdultStudy) -> Figure:
    parameters = PARAMETERS["para1"]
    rows = []
    for name, model in MODELS.items():
        groups = model(study, parameters)
        rows += [(b, name, *_vulnerable(study, groups, b, parameters[2])) for b in ADVERSARIES]
    return Figure(
        "fig1a",
        "Fig. 1(a): people whose belief moves by more than t, against the adversary's bandwidth",
        ("bandwidth", "model", "by_omega", "exact", "undecided"),
        tuple(rows),
        x="bandwidth",
        y="exact",
        series="model",
        note="para1 of Table V.",
    )


def _fig_1a_even(study: AdultStudy) -> Figure:
    """Whether the steps of the trees are why vaguer adversaries make more people vulnerable."""
    parameters = PARAMETERS["para1"]
    rows = []
    for name, model in MODELS.items():
        if name != "(B,t) exact":
            groups = model(study, parameters)
            rows += [(b, name, study.people_over(groups, b, parameters[2], "omega")[0]) for b in ADVERSARIES]
    return Figure(
        "fig1a_even",
        "Fig. 1(a) with distances that grow evenly: people over t by Ω, against the adversary's bandwidth",
        ("bandwidth", "model", "by_omega"),
        tuple(rows),
        x="bandwidth",
        y="by_omega",
        series="model",
        note=EVENLY,
    )


def _fig_1b(study: AdultStudy) -> Figure:
    rows = [
        (number, name, *_vulnerable(study, model(study, parameters), parameters[3], parameters[2]))
        for name, model in MODELS.items()
        for number, parameters in enumerate(PARAMETERS.values(), start=1)
    ]
    return Figure(
        "fig1b",
        "Fig. 1(b): people whose belief moves by more than t, against the parameters",
        ("parameters", "model", "by_omega", "exact", "undecided"),
        tuple(rows),
        x="parameters",
        y="exact",
        series="model",
        note="Adversary with bandwidth 0.3.",
    )


def _fig_2(study: AdultStudy) -> Figure:
    """The average distance error of Ω over random groups."""
    random = np.random.default_rng(2009)
    rows = []
    for b in ADVERSARIES:
        prior = study.prior(b)
        for size in GROUP_SIZES:
            errors, largest = [], 0.0
            for _ in range(RUNS):
                people = random.choice(len(study.kind), size, replace=False)
                before = prior[study.kind[people]]
                counts = np.bincount(study.value[people], minlength=prior.shape[1])
                exact, omega = (
                    np.asarray(f(before, counts).values) for f in (exact_posterior, omega_estimate)
                )
                off = study.measure(before, exact) - study.measure(before, omega)
                errors.append(float(np.abs(off).mean()))
                largest = max(largest, float(np.abs(exact - omega).max()))
            rows.append((size, b, float(np.mean(errors)), largest))
    return Figure(
        "fig2",
        "Fig. 2: average distance error of the Ω-estimate",
        ("people", "bandwidth", "error", "largest_error_of_a_probability"),
        tuple(rows),
        x="people",
        y="error",
        series="bandwidth",
        note=f"{RUNS} random groups of each size, seed 2009.",
    )


def _worst(study: AdultStudy, groups: list[Array], b: Bandwidth) -> float:
    return float(np.nanmax(study.risks(groups, b, "omega")))


def _fig_3a(study: AdultStudy, name: str = "fig3a", how: str = "", note: str = "") -> Figure:
    k, ell, t, _ = PARAMETERS["para1"]
    rows = []
    for b in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        groups = bt_omega(study, (k, ell, t, b))
        rows += [(b, adversary, _worst(study, groups, adversary)) for adversary in ADVERSARIES]
    return Figure(
        name,
        f"Fig. 3(a){how}: worst-case risk against the bandwidth the table was made for",
        ("bandwidth", "adversary", "risk"),
        tuple(rows),
        x="bandwidth",
        y="risk",
        series="adversary",
        note=note,
    )


def _fig_3b(study: AdultStudy) -> Figure:
    k, _, t, _ = PARAMETERS["para1"]
    rows = []
    for first in ADVERSARIES:
        for second in ADVERSARIES:
            b = (first,) * 3 + (second,) * 3
            groups = bt_omega(study, (k, 0, t, b))
            rows.append((first, second, _worst(study, groups, 0.3)))
    return Figure(
        "fig3b",
        "Fig. 3(b): worst-case risk against two bandwidths",
        ("b1", "b2", "risk"),
        tuple(rows),
        x="b1",
        y="risk",
        series="b2",
        note="b1 for age, work class, education; b2 for marital status, race, sex; the adversary has 0.3.",
    )


def _timed(call: Callable[..., Any], *arguments: object) -> float:
    started = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - started


def _fig_4a(study: AdultStudy) -> Figure:
    rows = []
    for name, model in MODELS.items():
        for number, parameters in enumerate(PARAMETERS.values(), start=1):
            study.prior(parameters[3])  # as in the paper, the time without the prior
            rows.append((number, name, _timed(model, study, parameters)))
    return Figure(
        "fig4a",
        "Fig. 4(a): seconds to cut a table",
        ("parameters", "model", "seconds"),
        tuple(rows),
        x="parameters",
        y="seconds",
        series="model",
    )


def _fig_4b(study: AdultStudy) -> Figure:
    rows = [
        (share, b, _timed(study.fresh_prior, b, share))
        for b in ADVERSARIES
        for share in (0.25, 0.5, 0.75, 1.0)
    ]
    return Figure(
        "fig4b",
        "Fig. 4(b): seconds for the prior, against the share of the rows",
        ("rows", "bandwidth", "seconds"),
        tuple((round(share * len(study.kind)), b, seconds) for share, b, seconds in rows),
        x="rows",
        y="seconds",
        series="bandwidth",
    )


def _fig_5(study: AdultStudy) -> Figure:
    rows = [
        (number, name, len(groups), study.discernibility(groups), study.certainty_penalty(groups))
        for name, model in MODELS.items()
        for number, parameters in enumerate(PARAMETERS.values(), start=1)
        for groups in [model(study, parameters)]
    ]
    return Figure(
        "fig5",
        "Fig. 5: discernibility and global certainty penalty",
        ("parameters", "model", "groups", "discernibility", "certainty_penalty"),
        tuple(rows),
        x="parameters",
        y="discernibility",
        series="model",
    )


def _query_error(study: AdultStudy, dimensions: int, selectivity: float) -> list[tuple[str, float]]:
    random = np.random.default_rng(2009)
    queries = [study.query(random, dimensions, selectivity) for _ in range(QUERIES)]
    return [
        (name, study.query_error(study.boxes(model(study, PARAMETERS["para1"])), queries))
        for name, model in MODELS.items()
    ]


def _fig_6a(study: AdultStudy) -> Figure:
    rows = [(d, name, error) for d in (2, 3, 4, 5, 6) for name, error in _query_error(study, d, 0.07)]
    return Figure(
        "fig6a",
        "Fig. 6(a): average relative error against the number of attributes in a query",
        ("dimensions", "model", "error"),
        tuple(rows),
        x="dimensions",
        y="error",
        series="model",
        note=f"{QUERIES} random queries of selectivity 0.07, para1.",
    )


def _fig_6a_counts(study: AdultStudy) -> Figure:
    """How many people the queries of Fig. 6(a) count, and the error of queries that count the same number."""
    people = np.zeros((len(study.table.kinds), len(study.table.values)))
    np.add.at(people, (study.kind, study.value), 1)
    _, first_of_kind = np.unique(study.kind, return_index=True)
    places = study.points[first_of_kind]
    boxes = study.boxes(distinct_l(study, PARAMETERS["para1"]))
    low, high = (share * len(study.kind) for share in (0.06, 0.08))
    rows = []
    for dimensions in (2, 3, 4):
        random = np.random.default_rng(2009)
        drawn = [study.query(random, dimensions, 0.07) for _ in range(QUERIES)]
        counts = [
            people[((places >= first) & (places <= last)).all(axis=1)][:, wanted].sum()
            for first, last, wanted in drawn
        ]
        alike = [query for query, n in zip(drawn, counts, strict=True) if low <= n <= high]
        rows.append((dimensions, float(np.median(counts)), len(alike), study.query_error(boxes, alike)))
    return Figure(
        "fig6a_counts",
        "What the queries of Fig. 6(a) count, and the error of those that count 6 to 8 % of all people",
        ("dimensions", "people_counted", "queries_alike", "error_of_these"),
        tuple(rows),
        x="dimensions",
        y="error_of_these",
        note="Table with distinct l-diversity, para1; people counted: in the middle of all queries.",
    )


def _fig_6b(study: AdultStudy) -> Figure:
    rows = [
        (s, name, error) for s in (0.03, 0.05, 0.07, 0.1, 0.12) for name, error in _query_error(study, 4, s)
    ]
    return Figure(
        "fig6b",
        "Fig. 6(b): average relative error against the selectivity of a query",
        ("selectivity", "model", "error"),
        tuple(rows),
        x="selectivity",
        y="error",
        series="model",
        note=f"{QUERIES} random queries over 4 attributes, para1.",
    )


def certify(study: AdultStudy, parameters: Parameters) -> tuple[list[Array], int]:
    """Groups whose exact risk is at most t, and the number of people without such a group."""
    k, _, t, b = parameters
    kept, alone = mended(study, bt_exact(study, parameters), t, b, k)
    return kept, sum(map(len, alone))


def _certified(study: AdultStudy) -> Figure:
    parameters = PARAMETERS["para3"]
    kept, left_out = certify(study, parameters)
    over, undecided = study.people_over(kept, parameters[3], parameters[2], "exact")
    sizes = [len(rows) for rows in kept]
    return Figure(
        "certified",
        "A release audited exactly: k = 5, t = 0.15, b = 0.3",
        (
            "groups",
            "people",
            "left_out",
            "people_over_t",
            "people_undecided",
            "smallest",
            "certainty_penalty",
        ),
        ((len(kept), sum(sizes), left_out, over, undecided, min(sizes), study.certainty_penalty(kept)),),
        note="Groups over t or undecided are cut small and joined to neighbours, so that boxes may overlap.",
    )
