"""The risk of re-identification in the terms of regulators: counted, and estimated from weights.

A prosecutor knows that the target is in the table, a journalist does not, and a marketer takes anybody.
Somebody who looks for one person finds the published group; the risk is 1 divided by the number of people
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from privacy_sql import registry
from privacy_sql.counted.base import count, no_rows
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import _risks as risks
from privacy_sql.criteria import exact
from privacy_sql.criteria._risks import EqualGroups
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.judge import evidence
from privacy_sql.publishing import baseline, rejudging, sampled
from privacy_sql.publishing.baseline import Baseline, Guess
from privacy_sql.release import Release, refuse_no_release
from privacy_sql.table import Table
from privacy_sql.verdict import exact_text

# limits from authorities and journals; none of them is a verdict
THRESHOLDS = ("0.05", "0.09", "0.2", "0.33")


def risk(engine: Engine, table: Table | Release, *, thresholds: Sequence[str] = THRESHOLDS) -> dict[str, Any]:
    """How likely it is that somebody in a table or a release is found again, with fractions as text.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["2*"] * 12 + ["3*"] * 3})
    >>> with ps.connect() as engine:
    ...     found = ps.risk(engine, ps.Table(rows, ["age"]))
    >>> (
    ...     found["prosecutor_max"],
    ...     found["prosecutor_average"],
    ...     found["above"]["0.09"],
    ...     found["asks_for"]["0.09"],
    ... )
    ('1/3', '2/15', '1/5', 12)
    """
    if not isinstance(table, Table):
        refuse_no_release(table)
        told = of_release(table, thresholds)
        return told | {"estimates": estimates_of(table)} if table.table.weight else told
    base = count(engine, table, several=True)
    if not base.holds_rows:
        raise no_rows(table)
    grouping = Grouping.by(base, base.own_keys())
    told = _told(baseline.of_table(engine, table, grouping), grouping, thresholds)
    return told | {"estimates": sampled.estimates(grouping)} if table.weight else told


def of_release(release: Release, thresholds: Sequence[str] = THRESHOLDS) -> dict[str, Any]:
    """The risk of the published people, and how many were left out."""
    known = release.baseline
    found = known if isinstance(known, Baseline) else baseline.of_release(release)
    if found is None:
        hint = "Choose a release that shows the rows of one table."
        raise UsageError("no_groups", f"{release.method} publishes no groups of people", hint=hint)
    asked = _with_limit(thresholds, release.determination)
    told = _told(found, release.grouping.one_table, asked)
    gone = baseline.left_out(release) or 0
    return told | {"suppressed": exact_text(Fraction(gone, told["people"] + gone))}


def of_published(engine: Engine, path: str | Path, thresholds: Sequence[str] = THRESHOLDS) -> dict[str, Any]:
    """The risk of the people in a published release, from its verified bytes.

    Its manifest gives the number of people left out, rounded down to whole steps.
    """
    content, table = rejudging.published_rows(engine, path)
    if table is None:
        hint = "Choose a release that shows the rows of one table, with one row per person."
        raise UsageError("no_groups", f"{content.release} publishes no groups of people", hint=hint)
    base = count(engine, table, several=True)
    grouping = Grouping.by(base, base.own_keys())
    asked = _with_limit(thresholds, content.determination)
    told = _told(rejudging.guess(engine, content, table, grouping), None, asked)
    gone = content.suppressed or 0
    return told | {"suppressed_at_least": exact_text(Fraction(gone, told["people"] + gone))}


def _with_limit(thresholds: Sequence[str], determination: Mapping[str, str]) -> list[str]:
    """The thresholds, and the limit of a determination."""
    limit = determination.get("threshold")
    return [*thresholds, *([limit] if limit and limit not in thresholds else [])]


def estimates_of(release: Release) -> dict[str, Any]:
    """What the weights of the published people say about the population, or why they say nothing."""
    grouping = release.grouping.one_table
    try:
        return sampled.estimates(grouping) if grouping else {"missing": "it publishes no groups of people"}
    except UsageError as problem:
        return {"missing": str(problem)}


def _told(found: Baseline, grouping: Grouping | None, thresholds: Sequence[str]) -> dict[str, Any]:
    limits = {str(each): exact(each, "risk", "threshold", Fraction(0), 1) for each in thresholds}
    if not all(limits.values()):
        raise UsageError("bad_parameter", "a threshold must be above 0")
    told = _prosecutor(_riskiest(found.as_published), limits)
    if found.known:
        told["known"] = _prosecutor(_riskiest(found.known[baseline.ALL]), limits)
    if grouping is not None and grouping.base.table.population is not None:
        asked = registry.get("criteria", "reidentification_risk")("1/2", adversary="journalist")
        crowds = risks.in_population(grouping.base.engine.fetch(evidence(grouping, asked)))
        mean = risks.average(crowds)
        told |= {
            "journalist_max": exact_text(risks.maximum(crowds)),
            "journalist_average": exact_text(max(mean, risks.of_table(crowds))),
            "journalist_above": {
                each: exact_text(risks.above(crowds, limit)) for each, limit in limits.items()
            },
            "marketer": exact_text(mean),
        }
    return told | {"asks_for": {each: risks.asks_for(limit) for each, limit in limits.items()}}


def _riskiest(guesses: Sequence[Guess]) -> list[EqualGroups]:
    """For several sensitive columns, the riskiest groups for somebody who knows the other columns."""
    crowds = [[EqualGroups(n, n, alike) for n, _, alike in guess.groups] for guess in guesses]
    return max(crowds, key=risks.average)


def _prosecutor(crowds: Sequence[EqualGroups], limits: dict[str, Fraction]) -> dict[str, Any]:
    return {
        "people": sum(crowd.people * crowd.alike for crowd in crowds),
        "groups": sum(crowd.alike for crowd in crowds),
        "prosecutor_max": exact_text(risks.maximum(crowds)),
        "prosecutor_average": exact_text(risks.average(crowds)),
        "above": {each: exact_text(risks.above(crowds, limit)) for each, limit in limits.items()},
    }
