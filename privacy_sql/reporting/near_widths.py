"""How the share that `interval_disclosure` limits grows with the width that somebody is content with.

A run asks the requirement again at a few other widths, which are known before anybody looks at the table:
every level of a hierarchy, parts of the declared domain, or else parts and multiples of the required width.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privacy_sql.beliefs.resemblance import is_span
from privacy_sql.criteria.interval_disclosure import IntervalDisclosure
from privacy_sql.errors import UsageError
from privacy_sql.judge import judge
from privacy_sql.publishing import audit
from privacy_sql.release import Release
from privacy_sql.reporting.records import Record
from privacy_sql.table import Table

PARTS = ("0", "1/100", "2/100", "5/100", "1/10")  # of the domain
TIMES = ("0", "1/4", "1/2", "1", "2", "4")  # the required width


def of_release(release: Release) -> list[Record]:
    """One curve for each such requirement; its first point is a guess of the very value."""
    curves = []
    for asked in (each for each in release.require if isinstance(each, IntervalDisclosure)):
        if release.groups.base.sides:
            raise UsageError("several_sensitive", "this section supports one sensitive column")
        widths = widths_of(asked, release.groups.base.table)
        each = [IntervalDisclosure(width, asked.share, asked.distance) for width in widths]
        values = [verdict.value for verdict in judge(release.groups, each).values()]
        curves.append(
            {
                "requirement": str(asked),
                "distance": asked.distance,
                "width": str(Fraction(str(asked.width))),
                "share": str(asked.limit),
                "points": [[str(width), str(value)] for width, value in zip(widths, values, strict=True)],
                "by_rows": audit.by_rows(release, asked.name),
            }
        )
    return curves


def widths_of(asked: IntervalDisclosure, table: Table) -> Sequence[Fraction]:
    """The widths to compare, none of which depends on the rows."""
    own = Fraction(str(asked.width))
    domain = (table.domains or {}).get(table.sensitives[0])
    if asked.distance == "hierarchical":
        height = table.sensitive_hierarchy.height
        found = [Fraction(level, height) for level in range(height + 1)]
    elif asked.distance == "absolute" and is_span(domain):
        low, high = (Fraction(str(end)) for end in domain)
        found = [Fraction(part) * (high - low) for part in PARTS]
    else:
        found = [Fraction(times) * own for times in TIMES]
    return sorted({own, *found})
