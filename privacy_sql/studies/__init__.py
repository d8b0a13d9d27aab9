"""Questions about a table that need no verdict: each study counts the table and calls a kernel on the counts.

In: a table or a release. Out: a curve, a prior, a risk. Read `disclosure_curve.py` first; each question is
a file: `disclosure_risk.py`, `every_choice.py`, `knowledge_attack.py`, `reconstruction.py`, `skyline.py`,
`measure.py`, `safe_harbor.py`, `usefulness.py`, `bucketized_kl.py`, `classification_accuracy.py`,
`identifying.py`.
What `people.risks` shows is counted in `_people_by_risk.py`.
"""

from __future__ import annotations

from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.history.described import refuse_counts
from privacy_sql.release import Release
from privacy_sql.table import Table


def groups_of(engine: Engine, subject: Table | Release) -> Grouping:
    """The groups of a table without any generalisation, or of a release that has not been written.

    Releases of counts have no groups and are refused. Each sensitive column has a worst case of its own.
    """
    if not isinstance(subject, Release):
        base = count(engine, subject)
        return Grouping.by(base, base.own_keys())
    refuse_counts(subject.method, subject.name)
    grouping = subject.groups
    if grouping.base.sides:
        hint = "Name the table with --source and one column with --sensitive."
        raise UsageError(
            "several_sensitive",
            "this study takes one sensitive column at a time",
            where=subject.name,
            hint=hint,
        )
    return grouping
