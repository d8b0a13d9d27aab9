"""How the share that `interval_disclosure` limits grows with the width that somebody is content with.

A run asks the requirement again at a few other widths, which are known before anybody looks at the table:
every level of a hierarchy, parts of the declared domain, or else parts and multiples of the required width.
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from privacy_sql.criteria import Criterion
from privacy_sql.errors import UsageError
from privacy_sql.judge import judge
from privacy_sql.parameters import given
from privacy_sql.publishing import audit
from privacy_sql.release import Release
from privacy_sql.reporting.records import Record


def of_release(release: Release) -> list[Record]:
    """One curve for each such requirement; its first point is a guess of the very value."""
    curves = []
    # the room of a release lies below that of the criteria it holds
    for asked in cast(tuple[Criterion, ...], release.require):
        if not asked.at_widths(release.table):
            continue
        if release.groups.base.sides:
            raise UsageError("several_sensitive", "this section supports one sensitive column")
        at = asked.at_widths(release.groups.base.table)
        values = [verdict.value for verdict in judge(release.groups, list(at.values())).values()]
        params = given(asked)
        curves.append(
            {
                "requirement": str(asked),
                "distance": params["distance"],
                "width": str(Fraction(str(params["width"]))),
                "share": str(asked.limit),
                "points": [[str(width), str(value)] for width, value in zip(at, values, strict=True)],
                "by_rows": audit.by_rows(release, asked.name),
            }
        )
    return curves
