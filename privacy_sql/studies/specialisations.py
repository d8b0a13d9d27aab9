"""How much one column tells about the class when it is a level finer, and what that costs in anonymity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privacy_sql.counted.base import Base, count, no_rows
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria.k_anonymity import KAnonymity
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.judge import decided
from privacy_sql.kernels.information_gain import class_entropy, gain_per_loss
from privacy_sql.methods import check_levels
from privacy_sql.query.template import names, render
from privacy_sql.table import Table


@dataclass(frozen=True)
class Specialisation:
    """One column at `level`, a step finer: bits gained, and the smallest group before and after."""

    column: str
    level: int
    gain: float
    anonymity: tuple[int, int]

    @property
    def ratio(self) -> float:
        """Information gained per anonymity lost."""
        return gain_per_loss(self.gain, *self.anonymity)


def specialisations(engine: Engine, table: Table, levels: Mapping[str, int]) -> list[Specialisation]:
    """Every step to a finer level from these, the best ratio first; columns not named stay at level 0.

    kifer2006, Sec. 3.1, after Wang, Fung and Yu 2004: the class is the sensitive column; the gain is the fall
    of its entropy, in bits, given the column alone; anonymity is the size of the smallest group.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"sex": list("FFMM"), "age": ["20", "30", "20", "30"], "class": list("aabb")})
    >>> table = ps.Table(rows, {"sex": ps.KeepOrDrop(), "age": ps.Intervals(20)}, "class")
    >>> with ps.connect() as engine:
    ...     [(s.column, s.gain, s.ratio) for s in ps.specialisations(engine, table, {"sex": 1, "age": 1})][0]
    ('sex', 1.0, 0.3333333333333333)
    """
    base = count(engine, table)
    if len(table.sensitives) != 1:
        raise UsageError("no_sensitive", "the table needs a sensitive column, which is the class")
    if not base.holds_rows:
        raise no_rows(table)
    check_levels(base, levels)
    shown = {name: levels.get(name, 0) for name in base.aliases}
    before = _smallest(base, shown)
    steps = [
        Specialisation(
            name,
            level - 1,
            max(_class_entropy(base, name, level) - _class_entropy(base, name, level - 1), 0.0),
            (before, _smallest(base, {**shown, name: level - 1})),
        )
        for name, level in shown.items()
        if level
    ]
    return sorted(steps, key=lambda step: -step.ratio)


def _smallest(base: Base, levels: Mapping[str, int]) -> int:
    """The size of the smallest group at these levels."""
    value = decided(Grouping.by(base, base.keys(levels)), KAnonymity(1)).value
    assert value is not None
    return int(value)


def _class_entropy(base: Base, column: str, level: int) -> float:
    """The remaining uncertainty about the class, in bits, when a column is known at a level."""
    histogram = Grouping.by(base, [base.key(base.aliases[column], level)]).histogram
    rows = base.engine.fetch(render("marginals/counts.sql", marginal=histogram, columns=names(["s"])))
    classes: dict[int, list[int]] = {}
    for row in rows:
        classes.setdefault(row["g"], []).append(row["n_rows"])
    return sum(sum(counts) / base.rows * class_entropy(counts) for counts in classes.values())
