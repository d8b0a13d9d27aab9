"""Answers to counting queries, from groups in memory, are those counted row by row."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.lattice.costs import Costs, Shown
from privacy_sql.lattice.in_memory import GroupMask, GroupsInMemory, InMemory, lattice_of
from privacy_sql.query.template import names, render
from privacy_sql.utilities import Query, _counting_queries
from privacy_sql.utilities.query_error import QueryError
from tests import engines
from tests.seeds import OFTEN, seeds

AGES = {"1": ["young", "*"], "2": ["young", "*"], "3": ["old", "*"], "4": ["old", "*"], "5": ["old", "*"]}
HOMES = {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"]}
Row = tuple[str | None, ...]


class Mixed(QueryError):
    """Some queries about nobody's columns, and others about two of them; half are plain sets of values."""

    n_queries = 19
    dimension = 2

    def queries(self, domains: Sequence[int]) -> list[Query]:
        last = len(domains) - 1
        drawn = super().queries(domains)
        drawn[3] = {last: drawn[3][last]}
        return [{c: {*its} for c, its in query.items()} if n % 2 else query for n, query in enumerate(drawn)]


def shown_as(value: str | None, tree: dict[str, list[str]] | None, level: int) -> str | None:
    """The label of a value at a level; NULL is apart until all values look the same."""
    if not level or tree is None:
        return value
    return tree[value][level - 1] if value is not None else "*" if level == 2 else None


def share(
    asked: set[Any], label: str | None, tree: dict[str, list[str]] | None, level: int, domain: list[Any]
) -> float:
    leaves = [value for value in domain if shown_as(value, tree, level) == label]
    return len(asked.intersection(leaves)) / len(leaves)


@pytest.mark.parametrize("cells", [1, 200, _counting_queries.MOST_CELLS])
@pytest.mark.parametrize("suppressed", [False, True])
def test_answers_in_memory_are_counted_row_by_row(
    monkeypatch: pytest.MonkeyPatch, cells: int, suppressed: bool
) -> None:
    monkeypatch.setattr(_counting_queries, "MOST_CELLS", cells)
    trees = (AGES, HOMES, None)
    for seed in seeds(10, OFTEN):
        draw = random.Random(f"{seed} {cells}")
        rows: list[Row] = [
            (draw.choice([*AGES, None]), draw.choice([*HOMES]), draw.choice("mf"), draw.choice("wxyyz"))
            for _ in range(draw.randint(3, 40))
        ]
        frame = pd.DataFrame(rows, columns=["age", "home", "sex", "ill"], dtype=object)
        quasi = {"age": ps.Tree(AGES), "home": ps.Tree(HOMES), "sex": None}
        with engines.opened() as engine:
            base = count(engine, ps.Table(frame, quasi, "ill"))
            domains = []
            for column in ("q1", "q2", "q3", "s"):
                listed = render(
                    "counted/listed.sql", relation=base.dictionaries[column], columns=names(["code", "value"])
                )
                found = sorted(engine.fetch(listed), key=lambda row: int(row["code"]))
                domains.append([row["value"] for row in found])
            counts, costs = InMemory(base, with_sensitive=True), Costs(base)
            for choice in lattice_of(base).choices():
                seen = GroupsInMemory(counts, counts.groups(choice))
                gone = GroupMask(seen.people < (3 if suppressed else 0))
                utility = Mixed()
                true, estimated = costs.answers(utility, Shown(choice, seen, gone))
                labels = [tuple(map(shown_as, row, trees, choice)) for row in rows]
                for number, query in enumerate(utility.queries([*map(len, domains)])):
                    wanted = {c: {domains[c][place] for place in its} for c, its in query.items()}
                    assert true[number] == sum(
                        all(row[c] in its for c, its in wanted.items()) for row in rows
                    )
                    expected = 0.0
                    for row, its in zip(rows, labels, strict=True):
                        if row[-1] in wanted[3] and not (suppressed and labels.count(its) < 3):
                            expected += np.prod(
                                [
                                    share(wanted[c], its[c], trees[c], choice[c], domains[c])
                                    for c in wanted
                                    if c < 3
                                ]
                            )
                    assert estimated[number] == pytest.approx(expected), (seed, choice, query)
