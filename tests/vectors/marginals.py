"""Collections of anonymized marginals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps


def marginals(engine: Any, case: dict[str, Any]) -> None:
    expected = case["expected"]
    near = 1e-9 if expected["decomposable"] else 1e-5
    found = ps.MarginalSet(engine, _table(case), case["collection"], domain="hierarchy")
    _graph(found, expected)
    _table_of_cells(found, case, near)
    assert found.kl == pytest.approx(expected["kl_nats"], abs=near)
    assert found.k_link_max == expected["k_link_max"]
    bounds = {_key(cell): bound for cell, bound in found.upper_bounds()}
    assert bounds == {_key(cell): bound for cell, bound in expected["upper_bounds"]}
    for ell, c in expected["critical_c"].items():
        _same(found.critical_c(int(ell)), c, expected["decomposable"], near)
    _verdicts(engine, found, case)


def _table(case: dict[str, Any]) -> ps.Table:
    trees = {name: ps.Tree({row[0]: row[1:] for row in rows}) for name, rows in case["attributes"].items()}
    rows = pd.DataFrame(case["rows"], columns=case["columns"])
    sensitive = case["sensitive"]
    return ps.Table(
        rows,
        {name: tree for name, tree in trees.items() if name != sensitive},
        sensitive,
        count="count",
        sensitive_hierarchy=trees[sensitive],
    )


def _key(levels: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(levels.items()))


def _graph(found: Any, expected: dict[str, Any]) -> None:
    graph = (found.triangulated, found.graphical, found.decomposable)
    assert graph == (expected["triangulated"], expected["graphical"], expected["decomposable"])
    assert found.maximal_cliques == expected["maximal_cliques"]
    for sequence in expected.get("sequences", []):
        order = [expected["maximal_cliques"][place] for place in sequence["order"]]
        assert found.perfect_sequence(order) == found.perfect_sequence(sequence["order"])
        assert found.perfect_sequence(order) == (sequence["separators"] if sequence["perfect"] else None)


def _table_of_cells(found: Any, case: dict[str, Any], near: float) -> None:
    width = len(case["columns"]) - 1
    exact, rounded = found.max_entropy(exact=True), found.max_entropy(exact=False)
    for row in case["expected"]["cells"]:
        cell, (probability, *fraction) = tuple(row[:width]), row[width:]
        assert rounded[cell] == pytest.approx(probability, abs=near)
        if case["expected"]["decomposable"]:
            assert exact[cell] == Fraction(fraction[0])


def _same(value: Any, expected: Any, exact: bool, near: float) -> None:
    if expected is None:
        assert value is None
    elif exact:
        assert value == Fraction(expected)
    else:
        assert value == pytest.approx(float(Fraction(expected)), abs=near)


def _verdicts(engine: Any, found: Any, case: dict[str, Any]) -> None:
    params, expected = case["params"], case["expected"]
    require = [
        ps.KLink(params["k"]),
        ps.KCombinatorial(params["k"]),
        ps.MaxentLDiversity(l=params["l"], c=str(params["c"])),
    ]
    link, combinatorial, diverse = ps.check(engine, found, require).values()
    assert (link.safe, link.value) == (expected["k_link"], expected["k_link_max"])
    assert combinatorial.safe == expected["k_combinatorial"]
    assert combinatorial.value == expected["k_combinatorial_max"]
    assert diverse.safe == expected["maxent_diverse"]
    _same(diverse.value, expected["critical_c"][str(params["l"])], expected["decomposable"], 1e-5)
