"""Chen et al. 2008, Sec. 8.1 and 8.3: the speed of SkylineCheck, the skyline of a diverse Adult release."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria.privacy_skyline import PrivacySkyline
from privacy_sql.engines import Engine
from privacy_sql.hierarchies import Intervals, Tree
from privacy_sql.judge import Requirements
from privacy_sql.kernels.skyline.breach_probability import Amounts, breach_probability
from privacy_sql.kernels.skyline.dynamic_program import breach_by_program
from privacy_sql.kernels.skyline.find import find_skyline
from privacy_sql.kernels.skyline.groups import Integers, worst_groups
from privacy_sql.methods.multidimensional import Multidimensional
from privacy_sql.papers import Figure, _skyline_releases, chosen
from privacy_sql.studies.skyline import Skylines
from privacy_sql.table import Table

PARTS = ("fig6", "fig6_passes", "table2", *_skyline_releases.PARTS)
GROUP, VALUES = 100, 20  # people of a group and sensitive values of the synthetic releases
RECORDS = (1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000)
VARIED = {  # panels b to d vary one amount, at 1M records
    "values ruled out": [(n, 10, 10) for n in (0, 4, 8, 12, 16)],
    "others known": [(4, n, 10) for n in (0, 8, 16, 24, 32)],
    "family": [(4, 10, n) for n in (0, 4, 8, 12, 16)],
}
VALUE, LIMIT = "Exec-managerial", Fraction("0.95")  # Table 2
DIVERSE = ((4, 0, 0, "3/4"),)  # (c = 3, l = 6)-diversity as a point, by Prop. 4


class Improvement(NamedTuple):
    """CPU seconds of the dynamic program and of SkylineCheck on the same groups."""

    program: float
    check: float


def run(engine: Engine, data: Path, parts: Sequence[str] = ()) -> Iterator[Figure]:
    """The requested figures."""
    wanted = chosen(parts, PARTS)
    if "fig6" in wanted:
        yield _fig_6_records()
        yield _fig_6_amounts()
    if "fig6_passes" in wanted:
        yield _fig_6_passes()
    if "table2" in wanted:
        yield _table_2(engine, data)
    yield from _skyline_releases.run(engine, data, wanted)


def uniform_groups(groups: int, random: np.random.Generator) -> Integers:
    """Counts of 20 equally likely values in groups of 100 people."""
    return random.multinomial(GROUP, [1 / VALUES] * VALUES, size=groups).astype(np.int64)


def measured_improvement(counts: Integers, amounts: tuple[int, int, int], runs: int = 5) -> Improvement:
    """Both algorithms for the first value, in turns; each gets people, holders and the ruled-out sum."""
    ruled_out, known, family = amounts
    people, holders = counts.sum(axis=1), np.ascontiguousarray(counts[:, 0])
    taken = np.sort(counts[:, 1:], axis=1)[:, ::-1][:, :ruled_out].sum(axis=1)
    times = [
        Improvement(
            *(
                _seconds(lambda: breach_by_program(people, holders, taken, known, family)),
                _seconds(lambda: check_counts(people, holders, taken, Amounts(*amounts))),
            )
        )
        for _ in range(runs)
    ]
    return Improvement(min(t.program for t in times), min(t.check for t in times))


def check_counts(people: Integers, holders: Integers, taken: Integers, amounts: Amounts) -> Fraction | float:
    """SkylineCheck for one value: the breach probability from the counts of every group."""
    return breach_probability(worst_groups(people, holders, taken), amounts, "one")


def _seconds(call: Callable[[], Any]) -> float:
    """CPU seconds, as the paper counts them."""
    began = time.process_time()
    call()
    return time.process_time() - began


def _fig_6_records() -> Figure:
    """Panel a varies the size of the release, at (10, 10, 10)."""
    rows = []
    for records in RECORDS:
        counts = uniform_groups(records // GROUP, np.random.default_rng(records))
        found = measured_improvement(counts, (10, 10, 10), runs=2)
        rows.append((records, found.program, found.check, found.program / found.check))
    return Figure(
        "fig6_records",
        "Fig. 6a: improvement over the dynamic program against the size of the release",
        ("records", "program_s", "check_s", "improvement"),
        tuple(rows),
        x="records",
        y="improvement",
        note="Groups of 100, 20 values, (l, k, m) = (10, 10, 10); both are given the counts of every group.",
    )


def _fig_6_amounts() -> Figure:
    """Panels b to d vary one amount of knowledge."""
    counts = uniform_groups(RECORDS[0] // GROUP, np.random.default_rng(1))
    rows = []
    for varied, points in VARIED.items():
        for point in points:
            found = measured_improvement(counts, point, runs=3)
            amount = point[list(VARIED).index(varied)]
            rows.append((varied, amount, *point, found.program, found.check, found.program / found.check))
    return Figure(
        "fig6_amounts",
        "Fig. 6b-d: improvement over the dynamic program against the amount of knowledge",
        ("varied", "amount", "l", "k", "m", "program_s", "check_s", "improvement"),
        tuple(rows),
        x="amount",
        y="improvement",
        series="varied",
        note="1M records; l is varied at k = m = 10, k at l = 4, m = 10, and m at l = 4, k = 10.",
    )


def _fig_6_passes() -> Figure:
    """Panel b where each algorithm takes the l largest values itself, in l passes over the counts."""
    counts = uniform_groups(RECORDS[0] // GROUP, np.random.default_rng(1))
    rows = []
    for ruled_out, known, family in VARIED["values ruled out"]:
        found = measured_improvement(counts, (ruled_out, known, family), runs=3)
        taking = min(_seconds(partial(_largest, counts[:, 1:], ruled_out)) for _ in range(3))
        rows.append((ruled_out, taking, (found.program + taking) / (found.check + taking)))
    return Figure(
        "fig6_passes",
        "Fig. 6b where both algorithms take the largest values themselves",
        ("values_ruled_out", "passes_s", "improvement"),
        tuple(rows),
        x="values_ruled_out",
        y="improvement",
        note="1M records, k = m = 10; l passes over the counts of every group are added to both times.",
    )


def _largest(counts: Integers, several: int) -> Integers:
    """The sum of the largest counts of every group, found one after the other."""
    left, rows = counts.copy(), np.arange(len(counts))
    taken = np.zeros(len(counts), dtype=np.int64)
    for _ in range(several):
        at = left.argmax(axis=1)
        taken += left[rows, at]
        left[rows, at] = -1
    return taken


def adult(data: Path) -> Table:
    """Adult without rows with missing values, occupation sensitive."""
    files = data / "hierarchies" / "adult"
    trees = ("workclass", "education", "marital_status", "race", "sex", "native_country")
    return Table(
        data / "adult.csv.gz",
        {
            "age": Intervals(5, 10, 20, 40),
            **{name: Tree.from_file(files / f"{name}.csv", name) for name in trees},
        },
        "occupation",
        where="workclass is not null and occupation is not null and native_country is not null",
    )


def diverse_release(engine: Engine, data: Path) -> Grouping:
    """Adult cut at medians as long as every group stays diverse (Sec. 8.3)."""
    table = adult(data)
    asked = Requirements.of(table, [PrivacySkyline(DIVERSE)])
    found = Multidimensional().propose(count(engine, table), asked).grouping.one_table
    assert found is not None
    return found


def _table_2(engine: Engine, data: Path) -> Figure:
    """The skyline of one occupation in a (3, 6)-diverse release."""
    grouping = diverse_release(engine, data)
    skylines = Skylines.of(grouping)
    points = find_skyline(skylines.tables, skylines.code(VALUE), LIMIT, "one")
    return Figure(
        "table2",
        f"Table 2: the knowledge skyline of {VALUE} at {float(LIMIT):.0%}",
        ("values_ruled_out", "others_known", "family"),
        tuple(points),
        note=f"A (3, 6)-diverse release of {grouping.n_groups} groups, cut at medians; {len(points)} points.",
    )
