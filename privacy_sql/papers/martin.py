"""Martin et al. 2007, Sec. 4: maximum disclosure on Adult (45,222 rows, occupation sensitive).

The 72 tables are the full-domain generalisations of age (6 levels), marital status (3), race (2) and sex (2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from privacy_sql.counted.base import Base, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria.ck_safety import group_counts
from privacy_sql.engines import Engine
from privacy_sql.hierarchies import Hierarchy, KeepOrDrop, Tree
from privacy_sql.kernels.worst_case.disclosure import implication_curve, negation_curve
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes
from privacy_sql.papers import Figure, chosen
from privacy_sql.spaces.lattice import Choice, Lattice
from privacy_sql.spaces.tags import Answer, Tags
from privacy_sql.studies.every_choice import lowest_entropy as lowest_entropy
from privacy_sql.table import Table

PARTS = ("fig5", "fig6", "fig6_negations", "minimal")
FACTS = 13  # with fourteen occupations, 13 facts disclose everything
FIG_5 = {"age": 3, "marital_status": 2, "race": 1, "sex": 1}  # age in bands of 20, all else suppressed
FIG_6_FACTS = (1, 3, 5, 7, 9, 11)
GRID = [(Fraction(c), k) for c in ("1/2", "3/5", "7/10", "4/5", "9/10") for k in (0, 1, 2, 3, 5, 7, 9)]


def adult(data: Path) -> Table:
    """Adult without rows with missing values, generalised as in Sec. 4."""
    files = data / "hierarchies" / "adult"
    quasi: dict[str, Hierarchy] = {
        "age": Tree.from_file(files / "age_5_10_20_40.csv", "age"),
        "marital_status": Tree.from_file(files / "marital_status.csv", "marital_status"),
        "race": KeepOrDrop(),
        "sex": KeepOrDrop(),
    }
    whole = "workclass is not null and occupation is not null and native_country is not null"
    return Table(data / "adult.csv.gz", quasi, "occupation", where=whole)


@dataclass(frozen=True)
class TableCurves:
    """One table of the lattice: its groups, the lowest entropy of any, and both curves."""

    choice: Choice
    groups: int
    entropy: float
    curves: dict[str, list[Fraction]]  # by kind of knowledge


def run(engine: Engine, data: Path, parts: Sequence[str] = ()) -> Iterator[Figure]:
    """The requested figures."""
    wanted = chosen(parts, PARTS)
    base = count(engine, adult(data))
    if "fig5" in wanted:
        yield _fig_5(measure(base, tuple(FIG_5.values())))
    if set(wanted) - {"fig5"}:
        tables = [measure(base, choice) for choice in lattice(base).choices()]
        makers = {
            "fig6": lambda: _fig_6(tables, "implications"),
            "fig6_negations": lambda: _fig_6(tables, "negations"),
            "minimal": lambda: _minimal(lattice(base), tables),
        }
        yield from (makers[part]() for part in wanted if part != "fig5")


def lattice(base: Base) -> Lattice:
    """The lattice that the table's hierarchies span."""
    return Lattice.of_heights([kind.height for kind in base.table.hierarchies.values()])


def measure(base: Base, choice: Choice) -> TableCurves:
    """Count the groups of one choice and compute their entropy and disclosure."""
    grouping = Grouping.by(base, base.keys(dict(zip(base.table.quasi, choice, strict=True))))
    counts = group_counts(grouping)
    shapes, groups, _ = GroupShapes.from_columns(counts["g"], counts["n_rows"], FACTS + 1)
    return TableCurves(
        choice,
        len(groups),
        lowest_entropy(counts),
        {"implications": implication_curve(shapes, FACTS), "negations": negation_curve(shapes, FACTS)},
    )


def _fig_5(measured: TableCurves) -> Figure:
    rows = tuple(
        (k, name, float(v), str(v)) for name, curve in measured.curves.items() for k, v in enumerate(curve)
    )
    return Figure(
        "fig5",
        "Fig. 5: maximum disclosure against the number of facts",
        ("k", "language", "disclosure", "exact"),
        rows,
        x="k",
        y="disclosure",
        series="language",
        note=f"Age in intervals of 20, all else suppressed: {measured.groups} groups.",
    )


def _fig_6(tables: Sequence[TableCurves], language: str) -> Figure:
    """For each entropy and k the least disclosure among the tables with that entropy."""
    by_entropy: dict[float, list[TableCurves]] = {}
    for table in tables:
        by_entropy.setdefault(round(table.entropy, 9), []).append(table)
    rows = tuple(
        (k, entropy, float(min(table.curves[language][k] for table in alike)))
        for k in FIG_6_FACTS
        for entropy, alike in sorted(by_entropy.items())
    )
    return Figure(
        "fig6" if language == "implications" else "fig6_negations",
        f"Fig. 6: lowest entropy against maximum disclosure ({language})",
        ("k", "entropy", "disclosure"),
        rows,
        x="entropy",
        y="disclosure",
        series="k",
        note="Entropy in nats, the least over all groups of a table; 72 tables.",
    )


def _minimal(space: Lattice, tables: Sequence[TableCurves]) -> Figure:
    """All minimal (c,k)-safe choices for a grid of c and k."""
    known = {table.choice: table for table in tables}
    rows = [
        (str(c), k, " ".join(map(str, choice)), known[choice].groups)
        for c, k in GRID
        for choice in minimal_safe(space, {t.choice: t.curves["implications"][k] < c for t in tables})
    ]
    return Figure(
        "minimal",
        "All minimal (c,k)-safe choices",
        ("c", "k", "levels", "groups"),
        tuple(rows),
        note=f"Levels of {', '.join(FIG_5)}. A pair (c, k) without a row has no safe choice.",
    )


def minimal_safe(space: Lattice, safe: Mapping[Choice, bool]) -> list[Choice]:
    """The safe choices with no safe choice below them; tags carry over as Theorem 14 allows."""
    tags = Tags(space)
    for choice in sorted(space.choices(), key=sum):
        if tags.is_open(choice):
            tags.learn(choice, Answer(safe[choice], True))
    return tags.minimal_safe()
