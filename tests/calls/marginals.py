"""Calls around collections of anonymized marginals."""

from __future__ import annotations

import numpy as np

import privacy_sql as ps
from tests.calls import workers

COLLECTION = [{"age": 0, "s": 0}, {"job": 1, "s": 0}, {"age": 0, "job": 0}]


def together(engine: ps.Engine) -> None:
    """A collection with a join over a separator, one without the sensitive column, and every criterion."""
    for collection in (COLLECTION[:2], [{"age": 0, "job": 1, "s": 0}, {"job": 0}], [{"age": 0}, {"job": 0}]):
        found = ps.MarginalSet(engine, workers(), collection)
        require = [ps.KLink(2), ps.KCombinatorial(2), ps.MaxentLDiversity(l=2, c=3)]
        require += [ps.MaxentLDiversity(l=2, kind=kind) for kind in ("entropy", "distinct")]
        for verdict in ps.check(engine, found, require).values():
            verdict.witness.reveal()
        assert found.kl >= 0 and found.max_entropy()


def fitted(engine: ps.Engine) -> None:
    """A collection without a closed form."""
    found = ps.MarginalSet(engine, workers(), COLLECTION)
    ps.check(engine, found, [ps.KLink(2), ps.KCombinatorial(2), ps.MaxentLDiversity(l=2, c=3)])
    assert found.kl >= 0 and len(found.sample(3, np.random.default_rng(1))) == 3
