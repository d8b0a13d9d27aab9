"""How far a bucketized release is from its source: the divergence of Chen et al. 2008, Sec. 8.4."""

from __future__ import annotations

from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.query.template import names, render
from privacy_sql.release import Release


def bucketized_kl(engine: Engine, release: Release) -> float:
    """KL divergence in nats between the source and a release with exact quasi-identifiers.

    chen2008, Sec. 8.4: p*(x, s) is the share of people with x, times the share of s in the group of x. In
    the paper, people who are alike are in one group; where a release separates them, each counts in their
    own.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": [1, 1, 2, 2], "s": ["a", "a", "b", "b"]})
    >>> with ps.connect() as engine:
    ...     release = ps.publish(engine, ps.Table(rows, ["age"], "s"), [ps.LDiversity(2)], ps.Bucketize([]))
    ...     round(bucketized_kl(engine, release), 4)  # one bucket: ln 2
    0.6931
    """
    grouping = release.groups
    base = grouping.base
    if not base.table.sensitives or base.table.values_per_person != "one":
        hint = "The divergence compares one sensitive value per person."
        raise UsageError("no_sensitive", "the divergence needs a sensitive column", hint=hint)
    query = render(
        "studies/bucketized_kl.sql",
        candidate=grouping.candidate,
        histogram=grouping.histogram,
        groups=grouping.groups,
        columns=names(base.columns) or names(["g"]),
    )
    (found,) = base.engine.fetch(query)
    return float(found["kl"])
