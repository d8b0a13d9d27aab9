"""Bounds of levels, weights of columns, and clipped numbers."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps


def steered(engine: Any, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expect"]
    columns = expected["columns"]
    trees = {
        column: ps.Tree({leaf: path[1:] for leaf, path in given["trees"][column].items()})
        for column in columns
    }
    bounds: dict[str, dict[str, int]] = {}
    for end in ("min_level", "max_level"):
        for column, level in given[end].items():
            bounds.setdefault(column, {})[end] = level
    # l = 1 asks nothing: every group has a value
    require = [ps.KAnonymity(given["k"]), *([ps.LDiversity(l=given["l"])] if given["l"] > 1 else [])]
    # the loss of the cases is over every leaf of a tree, occurring or not
    domains = {column: list(given["trees"][column]) for column in columns}
    frame = pd.DataFrame(given["rows"], dtype=object)
    table = ps.Table(frame, trees, "s", count="n", domains=domains)
    method = ps.FullDomain(minimise="loss", bounds=bounds, importance=given["weight"])
    if expected["best_loss"] is None:
        with pytest.raises(ps.PrivacySqlError) as refused:
            ps.search(engine, table, require, method)
        assert refused.value.code == "no_safe_choice"
        assert (expected["safe"], expected["minimal"]) == (0, [])
        return
    found: Any = ps.search(engine, table, require, method)
    assert found.found.safe_choices == expected["safe"]
    levels = [[choice["levels"][column] for column in columns] for choice in found.minimal]
    assert sorted(levels) == sorted(expected["minimal"])
    assert found.best["values"]["loss"] == pytest.approx(float(Fraction(expected["best_loss"])), abs=1e-12)
    assert [found.best["levels"][column] for column in columns] in expected["best"]


def coded(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    kind = ps.Intervals(clip={"bottom": given["bottom"], "top": given["top"]})
    assert [kind.label(value, 1) for value in given["values"]] == case["expect"]["labels"]


def cells(engine: Any, case: dict[str, Any]) -> None:
    expected = case["expect"]
    rows = [[*shown, value] for _, shown, value in case["input"]["table"]]
    columns = [f"c{n}" for n in range(len(rows[0]) - 1)]
    table = ps.Table(pd.DataFrame(rows, columns=[*columns, "s"], dtype=object), columns, "s")
    verdicts = ps.check(engine, table, [ps.KAnonymity(2), ps.LDiversity(2)])
    k, distinct = (verdict.value for verdict in verdicts.values())
    share = Fraction(ps.baseline(engine, table)["as_published"]["worst_guess"])
    assert (k, distinct) == (expected["strict_k"], expected["strict_l"])
    assert share == Fraction(expected["strict_share"])
    # the truth, of somebody who knows everybody's raw values: what is judged never promises more
    assert Fraction(expected["true_row"]) <= Fraction(1, expected["strict_k"])
    assert Fraction(expected["true_value"]) <= share
    assert expected["true_l"] >= distinct
    read = (expected["wildcard_k"], expected["wildcard_share"], expected["wildcard_l"])
    told = re.search(
        r"at least (\d+) people fit every row, the most common value has at most (\S+) of them, (\d+) values",
        " ".join(verdicts.notes),
    )
    if told is None:  # no cell is a star beside one that is none
        assert read == (k, expected["strict_share"], distinct)
    else:
        assert (int(told[1]), told[2], int(told[3])) == read
