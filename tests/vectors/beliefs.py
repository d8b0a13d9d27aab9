"""Background knowledge: kernels, priors, posteriors, distances of beliefs, and (B,t)-privacy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps


def kernel_weight(engine: Any, case: dict[str, Any]) -> None:
    assert ps.kernel_weight(case["input"]["d"], case["input"]["B"]) == Fraction(case["expect"]["w"])


def distance_numeric(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    assert ps.numeric_distance(given["a"], given["b"], given["domain"]) == Fraction(case["expect"]["d"])


def prior(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    for path in ("dense", "chain"):
        found = ps.prior(
            engine,
            _table(given),
            bandwidth=given["B"],
            kernel=given["kernel"],
            targets=given["targets"],
            path=path,
        )
        rows = [row and [row.get(s, 0) for s in given["sensitive_domain"]] for row in found]
        for row, dec, frac in zip(rows, *(case["expect"]["prior"][k] for k in ("dec", "frac")), strict=True):
            if dec is None:
                assert row is None
            else:
                assert row == pytest.approx(dec, abs=1e-9)
                assert path == "chain" or row == [Fraction(x) for x in frac]


def multiplicity_posterior(engine: Any, case: dict[str, Any]) -> None:
    expect = {s: Fraction(p) for s, p in case["expect"]["posterior"].items()}
    assert ps.posterior_over_groups(case["input"]["group_counts"], case["input"]["prior"]) == expect


def posterior(engine: Any, case: dict[str, Any]) -> None:
    expect = case["expect"]
    exact = ps.posterior(**case["input"], method="exact")
    omega = ps.posterior(**case["input"], method="omega")
    _same_rows(exact.values, expect["exact"])
    _same_rows(omega.values, expect["omega"])
    assert list(omega.flags) == expect["omega_flags"]
    if expect["likelihood_distinct_assignments"] is not None:
        assert exact.likelihood == Fraction(expect["likelihood_distinct_assignments"])


def _same_rows(found: Any, expect: Any) -> None:
    if expect is None:
        assert found is None
        return
    for row, dec in zip(found, expect["dec"], strict=True):
        assert row == pytest.approx(dec, abs=1e-9)
    if "frac" in expect:
        assert found == [[Fraction(x) for x in row] for row in expect["frac"]]


def belief_distance(engine: Any, case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    p, q = given["p"], given["q"]
    for base, end in ((2, "2"), ("e", "_e")):
        found = ps.belief_distance(p, q, measure="js", log_base=base)
        assert found == pytest.approx(expect[f"js_base{end}"], abs=1e-9)
    for key, normalise in (("nw", "none"), ("nw_renorm", "after"), ("channel", "channel")):
        if key not in expect:
            continue
        apart = _hierarchy(given["sensitive"]) or given["sensitive_domain"]
        how = {"bandwidth": given["Bs"], "normalise": normalise}
        assert ps.smooth(p, apart, **how) == [Fraction(x) for x in expect[key]["p_hat"]]
        assert ps.smooth(q, apart, **how) == [Fraction(x) for x in expect[key]["q_hat"]]
        for base in (2, "e"):
            found = ps.belief_distance(p, q, measure="smoothed_js", hierarchy=apart, log_base=base, **how)
            assert found == pytest.approx(expect[key][f"D_base{'2' if base == 2 else '_e'}"], abs=1e-9)


def bt_check(engine: Any, case: dict[str, Any]) -> None:
    given = case["input"]
    group = {row: number for number, rows in enumerate(given["partition"]) for row in rows}
    table = _table(given, group=[group[row] for row in range(len(given["rows"]))])
    skyline = [[point["B"], point["t"]] for point in given["skyline"]]
    smoothing: dict[str, Any] = {"distance": "js"}
    if "smoothing" in given:
        smoothing = {
            "distance": "smoothed_js",
            "smoothing": _hierarchy(given["smoothing"]["sensitive"]),
            "bandwidth": given["smoothing"]["Bs"],
        }
    for method in ("exact", "omega"):
        expect = case["expect"][method]
        (verdict,) = ps.check(engine, table, [ps.BTPrivacy(skyline, posterior=method, **smoothing)]).values()
        assert verdict.safe is expect["satisfied"]
        assert verdict.exact is (method == "exact")
        for point, wanted in zip(verdict.points, expect["points"], strict=True):
            assert list(point.group_risk) == pytest.approx(wanted["group_risk"], abs=1e-9)
            assert point.max_risk == pytest.approx(wanted["max_risk"], abs=1e-9)
            assert point.satisfied is wanted["satisfied"]


def _table(given: dict[str, Any], group: list[int] | None = None) -> ps.Table:
    columns = [f"a{number}" for number in range(len(given["attributes"]))]
    rows = pd.DataFrame(given["rows"], columns=[*columns, "s"])
    if group is not None:
        rows["g"] = group
    kinds = dict(zip(columns, given["attributes"], strict=True))
    quasi = {column: _hierarchy(kind) for column, kind in kinds.items()}
    domains = {column: kind["domain"] for column, kind in kinds.items() if kind["type"] == "numeric"}
    return ps.Table(rows, quasi, "s", group="g" if group is not None else None, domains=domains)


def _hierarchy(kind: dict[str, Any]) -> ps.Tree | None:
    return ps.Tree(kind["paths"]) if kind["type"] == "categorical" else None
