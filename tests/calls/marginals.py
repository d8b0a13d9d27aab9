"""Calls around collections of anonymized marginals."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import privacy_sql as ps
from privacy_sql.export.standalone import compiled_marginals
from privacy_sql.judge import judge
from privacy_sql.publishing.published_marginals import read
from tests.calls import workers

COLLECTION = [{"age": 0, "s": 0}, {"job": 1, "s": 0}, {"age": 0, "job": 0}]


def together(engine: ps.Engine) -> None:
    """A collection with a join over a separator, one without the sensitive column, and every criterion."""
    for collection in (COLLECTION[:2], [{"age": 0, "job": 1, "s": 0}, {"job": 0}], [{"age": 0}, {"job": 0}]):
        found = ps.MarginalSet(engine, workers(), collection)
        require = [ps.KLink(2), ps.KCombinatorial(2), ps.MaxentLDiversity(l=2, c=3)]
        require += [ps.MaxentLDiversity(l=2, kind=kind) for kind in ("entropy", "distinct")]
        require += [ps.MaxentLDiversity(l=2, kind="relaxed", epsilon=epsilon) for epsilon in ("0.2", "1e-9")]
        for verdict in ps.check(engine, found, require).values():
            verdict.witness.reveal()
        assert found.kl > -1e-9 and found.max_entropy()


def fitted(engine: ps.Engine) -> None:
    """A collection without a closed form."""
    found = ps.MarginalSet(engine, workers(), COLLECTION)
    ps.check(engine, found, [ps.KLink(2), ps.KCombinatorial(2), ps.MaxentLDiversity(l=2, c=3)])
    assert found.kl > -1e-9 and len(found.sample(3, np.random.default_rng(1))) == 3


def published(engine: ps.Engine) -> None:
    """A collection found, written and read back, and its maximum-entropy table in SQL."""
    with tempfile.TemporaryDirectory() as folder:
        release = ps.publish(engine, workers(), [ps.KLink(1)], ps.Marginals())
        ps.verify(ps.write(engine, release, Path(folder) / "workers.csv"))
        for verdict in release.verdicts.values():
            verdict.witness.reveal()
        chosen = [{"age": 0}, {"job": 1, "s": 0}]
        several = ps.publish(engine, workers(), [ps.KLink(1)], ps.Marginals(collection=chosen))
        ps.write(engine, several, Path(folder) / "several.csv")
        tables = read(engine, {n: engine.create(view) for n, view in several.parts.items()}, several.grouping)
        for verdict in judge(tables, [ps.KLink(1), ps.KCombinatorial(1)]).values():
            verdict.witness.reveal()
        assert ps.MarginalSet(engine, workers(), COLLECTION[:2]).maximum_entropy_sql(["a", "b"])
        assert ps.MarginalSet(engine, workers(), chosen).maximum_entropy_sql(["a", "b"])


def compiled(_: ps.Engine) -> None:
    """Standalone SQL of a collection."""
    assert compiled_marginals(workers(), COLLECTION[:2])


def beside_another(engine: ps.Engine) -> None:
    """What is left of everybody's values by a collection beside another release."""
    group = {"id": "1", "region": {"age": {"values": ["30"]}}, "sensitive": ["a"]}
    other = {"name": "elsewhere", "groups": [group]}
    for collection in (COLLECTION[:2], [{"age": 0}, {"job": 0}]):
        found = ps.MarginalSet(engine, workers(), collection)
        ps.check(engine, found, [ps.Composition([other], max_exposed="0.5")])
