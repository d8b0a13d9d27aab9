"""Every method meets every criterion: the pair publishes and survives its audit, or is refused by name.

docs/matrix.md lists the refused pairs; a pair that starts to work, or stops, has to be written down there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.errors import UsageError
from tests.conftest import ROOT

JOBS = ps.Tree({"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"], "d": ["y", "*"]})
ILLNESSES = ps.Tree({"u": ["m", "*"], "v": ["m", "*"], "w": ["n", "*"]})


def rows() -> pd.DataFrame:
    """Forty-eight people, four ages by four jobs, every illness once in each."""
    made = [(age, job, illness) for age in (20, 30, 40, 50) for job in "abcd" for illness in "uvw"]
    return pd.DataFrame(made, columns=["age", "job", "illness"])


def table() -> ps.Table:
    population = pd.concat([rows()[["age", "job"]]] * 2)
    kinds = {"age": ps.Intervals(20), "job": JOBS}
    return ps.Table(rows(), kinds, "illness", sensitive_hierarchy=ILLNESSES, population=population)


def methods() -> dict[str, Any]:
    return {
        "generalise": lambda: ps.Generalise({"age": 1}),
        "bucketize": lambda: ps.Bucketize(["age"]),
        "full_domain": lambda: ps.FullDomain(),
        "multidimensional": lambda: ps.Multidimensional(),
        "microaggregate": lambda: ps.Microaggregate(6, seed=1),
        "marginals": lambda: ps.Marginals(collection=[{"age": 1, "illness": 0}, {"job": 1}]),
        "noisy_counts": lambda: ps.NoisyCounts(epsilon=1),
    }


def criteria() -> dict[str, Any]:
    return {
        "k_anonymity": lambda: ps.KAnonymity(3),
        "l_diversity": lambda: ps.LDiversity(3),
        "t_closeness": lambda: ps.TCloseness("0.5", distance="hierarchical"),
        "alpha_k_anonymity": lambda: ps.AlphaKAnonymity("0.5", 3),
        "beta_likeness": lambda: ps.BetaLikeness(1),
        "delta_disclosure": lambda: ps.DeltaDisclosure(2),
        "k_map": lambda: ps.KMap(3),
        "delta_presence": lambda: ps.DeltaPresence(0, 1),
        "ck_safety": lambda: ps.CKSafety("0.9", 1),
        "privacy_skyline": lambda: ps.PrivacySkyline([[0, 1, 1, "0.95"]]),
        "bt_privacy": lambda: ps.BTPrivacy([["0.5", "0.5"]]),
        "k_link": lambda: ps.KLink(3),
        "k_combinatorial": lambda: ps.KCombinatorial(2),
        "maxent_l_diversity": lambda: ps.MaxentLDiversity(l=2, c=3),
        "composition": lambda: ps.Composition([_earlier()], max_exposed=1),
    }


def _earlier() -> dict[str, Any]:
    """A release of somebody else about the same people, in one group."""
    published = rows().assign(job="*")[["job", "illness"]]
    columns = {"job": {"hierarchy": {"tree": {job: ["*"] for job in "abcd"}}}}
    return {"relation": published, "sensitive": "illness", "columns": columns}


def refused() -> set[tuple[str, str]]:
    """The pairs of docs/matrix.md."""
    page = (ROOT / "docs" / "matrix.md").read_text(encoding="utf-8")
    return {
        (method, criterion)
        for line in page.splitlines()
        if (found := re.match(r"\| `(\w+)` \| (.*?) \|", line))
        for method in [found[1]]
        for criterion in re.findall(r"`(\w+)`", found[2])
    }


def test_the_matrix_knows_every_method_and_every_criterion() -> None:
    assert set(methods()) == set(registry.available("methods"))
    assert set(criteria()) == set(registry.available("criteria"))


@pytest.mark.parametrize("criterion", sorted(criteria()))
@pytest.mark.parametrize("method", sorted(methods()))
def test_a_pair_publishes_and_survives_its_audit_or_is_refused_by_name(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, criterion: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = criteria()[criterion]()
    try:
        release = ps.publish(engine, table(), [asked], methods()[method]())
    except UsageError as problem:
        assert (method, criterion) in refused(), problem
        text = str(problem)
        assert criterion in text or method in text, "the refusal names neither the method nor the criterion"
        return
    assert (method, criterion) not in refused(), "works now: take it off docs/matrix.md"
    assert release.safe, release.verdicts
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
