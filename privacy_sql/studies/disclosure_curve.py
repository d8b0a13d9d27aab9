"""Maximum disclosure against the number of facts an adversary knows (martin2007, Fig. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import one_of
from privacy_sql.criteria.ck_safety import group_counts, within_reach
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.kernels.worst_case.disclosure import implication_curve, negation_curve
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes
from privacy_sql.studies import groups_of

if TYPE_CHECKING:
    from privacy_sql.release import Release
    from privacy_sql.table import Table

MOST_FACTS = 10_000  # points of one curve; with as many facts as values every curve has reached 1
LANGUAGES = {"implications": implication_curve, "negations": negation_curve}


def disclosure_curve(
    engine: Engine, table: Table | Release, facts: int, language: str = "implications"
) -> list[Fraction]:
    """Maximum disclosure for 0, 1, ..., `facts` implications, or for as many negated atoms.

    martin2007, Def. 6 and Fig. 5. Exact.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"sex": ["M"] * 5, "disease": ["flu", "flu", "lung", "lung", "mumps"]})
    >>> with ps.connect() as engine:
    ...     curve = ps.disclosure_curve(engine, ps.Table(rows, ["sex"], "disease"), facts=2)
    >>> [str(value) for value in curve]
    ['2/5', '2/3', '1']
    """
    one_of(language, list(LANGUAGES), "disclosure_curve", "language")
    shapes = _shapes(groups_of(engine, table), facts)
    with within_reach():
        return LANGUAGES[language](shapes, facts)


@dataclass(frozen=True)
class Curves:
    """Both curves of a table, and its size."""

    rows: int
    groups: int
    by_language: dict[str, list[Fraction]]


def curves(engine: Engine, table: Table | Release, facts: int) -> Curves:
    """Both curves at once, counted once."""
    return of_groups(groups_of(engine, table), facts)


def of_groups(grouping: Grouping, facts: int) -> Curves:
    """Both curves of groups that have been counted."""
    shapes = _shapes(grouping, facts)
    with within_reach():
        by_language = {language: curve(shapes, facts) for language, curve in LANGUAGES.items()}
    return Curves(grouping.n_rows, grouping.n_groups, by_language)


def _shapes(grouping: Grouping, facts: int) -> GroupShapes:
    if isinstance(facts, bool) or not isinstance(facts, int) or not 0 <= facts <= MOST_FACTS:
        raise UsageError("bad_parameter", f"facts must be a whole number from 0 to {MOST_FACTS}")
    counts = group_counts(grouping)
    return GroupShapes.from_columns(counts["g"], counts["n_rows"], facts + 1)[0]
