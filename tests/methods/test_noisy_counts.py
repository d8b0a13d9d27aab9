"""Noisy counts: the grid, the loss, the ledger, and what may not be known of the truth."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from privacy_sql.history.ledger import FILE_NAME, Ledger
from privacy_sql.kernels.composition.noise import Noise, gaussian, laplace

# how it publishes the forty-eight people of tests/parts.py
EXAMPLE = {"epsilon": 1}

pytest.importorskip("opendp", reason='needs the extra dp: pip install "privacy-sql[dp]"')

PEOPLE = pd.DataFrame({"sex": ["F"] * 30 + ["M"] * 20, "illness": ["flu"] * 25 + ["cold"] * 25})
DOMAINS = {"sex": ["F", "M", "X"], "illness": ["flu", "cold"]}


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.jsonl")


def _table(rows: pd.DataFrame = PEOPLE, **more: Any) -> ps.Table:
    return ps.Table(rows, ["sex"], "illness", **more)


def _published(engine: Any, method: Any, table: ps.Table | None = None) -> list[dict[str, Any]]:
    release = ps.publish(engine, table or _table(), [], method)
    return release.base.engine.fetch(release.view)


def test_every_cell_of_the_public_domain_is_published_empty_ones_too(engine: Any, ledger: str) -> None:
    rows = _published(engine, ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger))
    cells = {(row["sex"], row["illness"]) for row in rows}
    assert cells == {(sex, illness) for sex in "FMX" for illness in ("flu", "cold")}


def test_noise_is_near_the_truth_for_a_large_epsilon(engine: Any, ledger: str) -> None:
    rows = _published(engine, ps.NoisyCounts(60, domains=DOMAINS, ledger=ledger))
    found = {(row["sex"], row["illness"]): row["noisy_count"] for row in rows}
    truth = {("F", "flu"): 25, ("F", "cold"): 5, ("M", "cold"): 20}
    assert all(abs(count - truth.get(cell, 0)) <= 2 for cell, count in found.items())


@pytest.mark.parametrize("epsilon", ["1e400", "1e308", "1e101", "1e-101", "1e-308", "1e-400", "5e-324"])
def test_an_epsilon_without_a_scale_in_floating_point_is_refused_by_what_is_possible(epsilon: str) -> None:
    with pytest.raises(UsageError) as refused:
        ps.NoisyCounts(epsilon, domains=DOMAINS)
    assert refused.value.code == "bad_epsilon" and "between 1e-100 and 1e100" in refused.value.hint


@pytest.mark.parametrize("epsilon", ["1e-100", "1e100"])
def test_the_least_and_the_largest_epsilon_are_drawn(engine: Any, ledger: str, epsilon: str) -> None:
    assert len(_published(engine, ps.NoisyCounts(epsilon, domains=DOMAINS, ledger=ledger))) == 6


def test_two_draws_differ(engine: Any, ledger: str) -> None:
    method = ps.NoisyCounts("0.01", domains=DOMAINS, ledger=ledger)
    first, second = (
        [row["noisy_count"] for row in _published(engine, method)],
        [row["noisy_count"] for row in _published(engine, method)],
    )
    assert first != second


@pytest.mark.parametrize(("total", "sums_to"), [("public", 50), (64, 64)])
def test_fitted_counts_are_non_negative_and_add_up_to_the_total_that_is_declared(
    engine: Any, ledger: str, total: Any, sums_to: int
) -> None:
    rows = _published(engine, ps.NoisyCounts("0.05", domains=DOMAINS, ledger=ledger, total=total))
    fitted = [row["fitted_count"] for row in rows]
    assert min(fitted) >= 0
    assert sum(fitted) == pytest.approx(sums_to)
    assert min(row["noisy_count"] for row in rows) < 0 or max(row["noisy_count"] for row in rows) > 50


def test_marginals_share_one_loss_and_agree_after_fitting(engine: Any, ledger: str) -> None:
    method = ps.NoisyCounts(1, marginals=[["sex"], ["sex", "illness"]], domains=DOMAINS, ledger=ledger)
    release = ps.publish(engine, _table(), [], method)
    assert "sensitivity 4" in release.claims["noise"]
    rows = release.base.engine.fetch(release.view)
    by_sex = {row["sex"]: row["fitted_count"] for row in rows if row["marginal"] == 1}
    for sex, count in by_sex.items():
        parts = [row["fitted_count"] for row in rows if row["marginal"] == 2 and row["sex"] == sex]
        assert sum(parts) == pytest.approx(count, abs=1e-6)
    assert {row["illness"] for row in rows if row["marginal"] == 1} == {"*"}


def test_substitution_costs_twice_what_adding_or_removing_costs(engine: Any, ledger: str) -> None:
    scales = {}
    for neighbours in ("substitution", "add_remove"):
        method = ps.NoisyCounts("1/2", neighbours=neighbours, domains=DOMAINS, ledger=ledger)
        scales[neighbours] = ps.publish(engine, _table(), [], method).verdicts.popitem()[1].witness["scale"]
    assert scales == {"substitution": 4.0, "add_remove": 2.0}


def test_the_manifest_says_nothing_of_the_number_of_rows(engine: Any, ledger: str, tmp_path: Path) -> None:
    method = ps.NoisyCounts(1, neighbours="add_remove", domains=DOMAINS, ledger=ledger)
    release = ps.publish(engine, _table(), [], method)
    place = ps.write(engine, release, tmp_path / "noisy.csv")
    content = json.loads(place.read_text())
    assert (content["rows_in"], content["rows_out"], content["suppressed"]) == (None, 6, None)
    assert content["claims"]["differential_privacy"] == "epsilon 1, delta 0, add_remove"
    assert ps.verify(place)


def test_levels_and_hierarchies_give_the_cells(engine: Any, ledger: str) -> None:
    tree = ps.Tree({"nurse": ["care", "*"], "cook": ["food", "*"], "baker": ["food", "*"]})
    table = ps.Table(pd.DataFrame({"job": ["nurse", "nurse"]}), {"job": tree})
    rows = _published(engine, ps.NoisyCounts(1, levels={"job": 1}, ledger=ledger), table)
    assert {row["job"] for row in rows} == {"care", "food"}


def test_a_row_outside_the_declared_domain_is_refused_without_naming_it(engine: Any, ledger: str) -> None:
    narrow = {**DOMAINS, "sex": ["M", "X"]}
    with pytest.raises(DataError, match="30 rows") as refused:
        _published(engine, ps.NoisyCounts(1, domains=narrow, ledger=ledger))
    assert "F" not in str(refused.value)
    assert not Ledger(Path(ledger)).account().charges


def test_a_column_without_a_public_domain_is_refused(engine: Any, ledger: str) -> None:
    with pytest.raises(UsageError, match="illness has no declared domain"):
        _published(engine, ps.NoisyCounts(1, domains={"sex": ["F", "M"]}, ledger=ledger))


def test_an_overspent_budget_draws_nothing(engine: Any, ledger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(Path(ledger)).set_limit(Fraction(1))
    method = ps.NoisyCounts("0.6", domains=DOMAINS, ledger=ledger)
    _published(engine, method)
    monkeypatch.setattr(
        "privacy_sql.kernels.composition.noise.Noise.draw", lambda *_: pytest.fail("noise was drawn")
    )
    with pytest.raises(UsageError, match="3/5 of epsilon 1 is spent already"):
        _published(engine, method)


def test_what_opendp_draws_is_all_that_moves_a_count(
    engine: Any, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[int]] = []
    draw = Noise.draw

    def still(noise: Any, counts: Any) -> Any:
        return draw(replace(noise, measurement=lambda cells: given.append(cells) or cells), counts)

    monkeypatch.setattr("privacy_sql.kernels.composition.noise.Noise.draw", still)
    rows = _published(engine, ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger))
    found = {(row["sex"], row["illness"]): row["noisy_count"] for row in rows if row["noisy_count"]}
    assert found == {("F", "flu"): 25, ("F", "cold"): 5, ("M", "cold"): 20}
    assert [sorted(cells) for cells in given] == [[0, 0, 0, 5, 20, 25]]


def test_the_ledger_is_charged_before_the_noise_is_drawn(
    engine: Any, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("privacy_sql.kernels.composition.noise.Noise.draw", killed)
    with pytest.raises(KeyboardInterrupt):
        _published(engine, ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger))
    assert Ledger(Path(ledger)).account().epsilon == 1


def test_a_release_whose_charge_is_gone_is_not_written(engine: Any, ledger: str, tmp_path: Path) -> None:
    release = ps.publish(engine, _table(), [], ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger))
    for path in Path(ledger).parent.glob("ledger*"):
        path.unlink()
    with pytest.raises(PrivacySqlError):
        ps.write(engine, release, tmp_path / "noisy.csv")
    assert not (tmp_path / "noisy.csv").exists()


@pytest.mark.everywhere
def test_people_with_more_rows_than_declared_are_refused(engine: Any, ledger: str) -> None:
    rows = PEOPLE.assign(id=["p1", "p1", *map(str, range(48))])
    rows.loc[:1, "illness"] = ["flu", "cold"]
    table = _table(rows, identifier="id", values_per_person="multiset")
    with pytest.raises(DataError, match="more than 1 row"):
        _published(engine, ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger), table)
    twice = ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger, rows_per_person=2)
    release = ps.publish(engine, table, [], twice)
    assert "sensitivity 4" in release.claims["noise"]


def test_requirements_on_rows_cannot_be_asked_of_counts(engine: Any, ledger: str) -> None:
    with pytest.raises(UsageError, match="k_anonymity"):
        ps.publish(engine, _table(), [ps.KAnonymity(2)], ps.NoisyCounts(1, domains=DOMAINS, ledger=ledger))


@pytest.mark.parametrize(
    "params",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": "much"},
        {"epsilon": 1, "delta": "1e-6"},
        {"epsilon": 1, "noise": "gaussian"},
        {"epsilon": 1, "noise": "uniform"},
        {"epsilon": 1, "neighbours": "friends"},
        {"epsilon": 1, "rows_per_person": 0},
        {"epsilon": 1, "total": "private"},
        {"epsilon": 1, "total": -1},
        {"epsilon": 1, "total": True},
    ],
)
def test_parameters_without_meaning_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ps.NoisyCounts(**params)


@pytest.mark.parametrize("epsilon", ["0.1", "0.7", "1/3", "2"])
def test_the_loss_of_the_measurement_never_exceeds_what_was_asked(epsilon: str) -> None:
    assert laplace(2, Fraction(epsilon)).epsilon <= Fraction(epsilon)
    assert gaussian(2**0.5, Fraction(epsilon), Fraction(1, 10**6)).epsilon <= Fraction(epsilon)


def test_gaussian_noise_has_the_deviation_the_map_asks_for(engine: Any, ledger: str) -> None:
    noise = gaussian(2**0.5, Fraction(1), Fraction(1, 10**6))
    assert ps.compose_zcdp([noise.scale], delta=1e-6).eps == pytest.approx(1, rel=1e-6)
    drawn = noise.draw(np.zeros(4000, dtype=np.int64))
    assert drawn.std() == pytest.approx(noise.scale, rel=0.1)
    method = ps.NoisyCounts(1, "1e-6", "gaussian", domains=DOMAINS, ledger=ledger)
    assert len(_published(engine, method)) == 6
    assert Ledger(Path(ledger)).account().delta == Fraction(1, 10**6)


PROJECT = """
version: 1
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers: [{column: sex}]
    sensitive: {column: illness}
    method:
      noisy_counts:
        epsilon: 0.5
        domains: {sex: [F, M], illness: [flu, cold]}
    output: {target: out/people.csv}
"""


def test_a_project_publishes_noisy_counts_and_keeps_its_ledger(tmp_path: Path) -> None:
    (tmp_path / "privacy.yml").write_text(PROJECT)
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    project = ["--project", str(tmp_path)]
    assert run(["run", "--dry-run", *project]).exit == 0
    assert not Ledger(tmp_path / FILE_NAME).account().charges
    assert run(["budget", "limit", "--epsilon", "0.9", *project]).exit == 0
    outcome = run(["run", *project])
    assert outcome.exit == 0, outcome.errors
    assert Ledger(tmp_path / FILE_NAME).account().epsilon == Fraction(1, 2)
    assert len((tmp_path / "out" / "people.csv").read_text().splitlines()) == 5
    again = run(["run", "--overwrite", *project])
    assert again.exit == 2 and (tmp_path / "out" / "people.csv").exists()
