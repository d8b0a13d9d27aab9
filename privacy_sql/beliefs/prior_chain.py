"""The prior in SQL: a chain of kernel joins, one attribute at a time (li2009, eq. (2)).

Each step keeps only the targets' values, so none lists pairs of people. A numeric column with too many values
for a table of weights uses running sums, exactly, in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.beliefs.resemblance import in_whole_numbers, reach_of
from privacy_sql.display.progress import report
from privacy_sql.errors import UsageError
from privacy_sql.kernels.beliefs.kernel_chain import SummingOrder, plan_chain
from privacy_sql.kernels.beliefs.kernel_prior import kernel_weight
from privacy_sql.kernels.distinct_codes import distinct
from privacy_sql.query.template import Sql, literal, render

if TYPE_CHECKING:
    from privacy_sql.beliefs.studied_table import Studied

Array = NDArray[Any]
Block = tuple[int, int]

CHAIN_ROWS = 10_000_000  # the most rows of the chain's widest state at once; more are split into blocks
DIGITS = 10**38  # whole numbers below this add up without loss on every engine


def chained(
    table: Studied, weights: Sequence[Array], wide: tuple[int, Fraction | float] | None = None
) -> Array:
    """The prior of every kind, in blocks of targets, so that the widest state stays bounded.

    `wide` is a column for running sums and its bandwidth; its weights are all 1 here.
    """
    chain = plan_chain(table.codes, weights, table.kinds)
    engine, n = table.base.engine, len(table.kinds)
    same, mixing, told = ([table.columns[i] for i in part] for part in (chain.same, chain.order, chain.sums))
    known = [*same, *([table.columns[wide[0]]] if wide else [])]
    columns = [*known, *mixing, *told]
    joined = {table.columns[i]: _loaded_weights(table, weights[i].astype(float), i) for i in chain.order}
    joined |= {
        table.columns[i]: _loaded_weights(table, left, i, of=True) for i, (left, _) in chain.sums.items()
    }
    start = _running(table, chain, *wide) if wide else _counted(table, chain)
    size = -(-n // _blocks(table, chain, wide is not None))
    beliefs = np.full((n, len(table.values)), np.nan)
    for first in range(0, n, size):
        block = (first, min(n, first + size) - 1)
        report("computing beliefs before the release, kind by kind", first, n)
        state = _steps(table, start(block), known, [*mixing, *told], joined, block)
        finish = {"combinations": table.combinations, "columns": columns, "block": block}
        found = engine.arrays(render("beliefs/finish.sql", state=state, **finish))
        at = found["c"].astype(int)
        beliefs[at] = 0.0
        beliefs[at, np.searchsorted(list(table.values), found["s"].astype(int))] = found["p"]
    return beliefs


def _counted(table: Studied, chain: SummingOrder) -> Callable[[Block], Sql]:
    """The start of every block: counts, with a few sums in place of some columns."""
    engine = table.base.engine
    columns = [table.columns[i] for i in (*chain.same, *chain.order, *chain.sums)]
    state = engine.create(render("beliefs/start.sql", base=table.base.relation, columns=columns))
    for i, (_, right) in chain.sums.items():
        state = _summed(table, state, right, i, [c for c in columns if c != table.columns[i]])
    return lambda block: state


def _summed(table: Studied, state: Sql, right: Array, column: int, rest: list[Sql]) -> Sql:
    """The state with a few sums over a column in place of its values."""
    engine, name = table.base.engine, table.columns[column]
    goals = engine.load({str(name): ("bigint", list(range(len(right))))}, "sums")
    weights = _loaded_weights(table, right, column, into=True)
    step = {"state": state, "goals": goals, "weights": weights, "fixed": [], "column": name, "rest": rest}
    return engine.create(render("beliefs/step.sql", **step))


def _running(
    table: Studied, chain: SummingOrder, column: int, bandwidth: Fraction | float
) -> Callable[[Block], Sql]:
    """The start of a block with running sums over a column: those of the block's numbers."""
    name = table.columns[column]
    same = [table.columns[i] for i in chain.same]
    others = [*same, *(table.columns[i] for i in (*chain.order, *chain.sums))]
    numbers = _numbers(table, column, bandwidth)

    def start(block: Block) -> Sql:
        state = table.base.engine.create(
            render(
                "beliefs/running_sums.sql",
                base=table.base.relation,
                goals=_goals(table, [*same, name], block),
                column=name,
                same=same,
                others=others,
                **numbers,
            )
        )
        for i, (_, right) in chain.sums.items():
            state = _summed(table, state, right, i, [c for c in [name, *others] if c != table.columns[i]])
        return state

    return start


def _numbers(table: Studied, column: int, bandwidth: Fraction | float) -> dict[str, Any]:
    """The numbers of a wide column in the engine, its reach h, h² as top/bottom, and the weight of NULL."""
    alike = table.resemblances[column]
    whole, missing, scale = in_whole_numbers(alike)
    codes = np.flatnonzero(~missing)
    low, high = int(whole[codes].min()), int(whole[codes].max())
    reach = reach_of(alike, bandwidth, scale)
    squared, spread = reach * reach, high - low + 2 * math.ceil(reach)
    if int(table.counts.sum()) * spread**2 * (squared.numerator + squared.denominator) >= DIGITS:
        raise UsageError(
            "wide_column",
            f"{alike.name} has numbers too large to sum",
            hint="Group its numbers into bands first.",
        )
    centred = whole[codes] - (low + high) // 2
    loaded = {"code": ("bigint", codes.tolist()), "x": ("bigint", centred.tolist())}
    return {
        "numbers": table.base.engine.load(loaded, "numbers"),
        "reach": math.ceil(reach),
        "top": literal(str(squared.numerator)),
        "bottom": literal(str(squared.denominator)),
        "far": literal(str(float(kernel_weight(1, bandwidth)))),
    }


def _goals(table: Studied, columns: list[Sql], block: Block) -> Sql:
    return table.base.engine.create(
        render("beliefs/goals.sql", combinations=table.combinations, columns=columns, block=block)
    )


def _blocks(table: Studied, chain: SummingOrder, running: bool) -> int:
    """The number of blocks of targets."""
    rows = chain.rows * len(table.values)
    if running:
        # every target occurs once for each way in which people with its key differ otherwise
        columns = np.column_stack([chain.key, table.codes[:, list(chain.order)], table.sensitive])
        first, _ = distinct(columns, [int(c.max()) + 1 for c in columns.T])
        sides = np.bincount(chain.key[first], minlength=int(chain.wanted_key.max()) + 1)
        rows = max(rows, 2 * int(sides[chain.wanted_key].sum()))
    return max(1, math.ceil(rows / CHAIN_ROWS))


def _steps(
    table: Studied,
    state: Sql,
    fixed: list[Sql],
    mixing: list[Sql],
    weights: dict[Sql, Sql],
    block: Block,
) -> Sql:
    engine, made = table.base.engine, []
    for i, column in enumerate(mixing):
        report("computing beliefs before the release, column by column", i, len(mixing))
        reached = [*fixed, *mixing[: i + 1]]
        goals = _goals(table, reached, block)
        step = render(
            "beliefs/step.sql",
            state=state,
            goals=goals,
            weights=weights[column],
            fixed=reached[:-1],
            column=column,
            rest=mixing[i + 1 :],
        )
        state = engine.create(step)
        made += [goals, state]
    for relation in made[:-1]:
        engine.drop(relation)
    return state


def _loaded_weights(table: Studied, weights: Array, column: int, into: bool = False, of: bool = False) -> Sql:
    """The weights between requested targets and occurring sources; a sum may be on either side."""
    target, source = np.nonzero(weights)
    wanted = into | np.isin(target, np.unique(table.kinds[:, column]))
    wanted &= of | np.isin(source, np.unique(table.codes[:, column]))
    target, source = target[wanted], source[wanted]
    columns: dict[str, tuple[str, list[Any]]] = {
        "target": ("bigint", target.tolist()),
        "source": ("bigint", source.tolist()),
        "w": ("double", weights[target, source].tolist()),
    }
    return table.base.engine.load(columns, "weights")
