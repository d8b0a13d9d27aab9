"""What a report proposes of columns that are published as they are and single people out: bands instead.

Nothing is published here. The columns are taken for quasi-identifiers with levels as a new project would
propose them, and every requirement is searched for again, with the levels of the others free.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql import api, deadlines
from privacy_sql.counted.profiling import profile
from privacy_sql.errors import NoSafeChoice, PrivacySqlError
from privacy_sql.hierarchies.spec import from_spec
from privacy_sql.lattice.steering import Steering
from privacy_sql.project.reading import Plan
from privacy_sql.project.starting_hierarchy import starting

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.methods import Method


def searched(engine: Engine, plan: Plan, method: Method, left: float | None) -> dict[str, Any] | None:
    """The best safe choice that shows these columns in bands, its cost; `best` is None where none is.

    Nothing where no column has bands, or the time was over. A column without bands is left out.
    """
    table = plan.table
    if left is not None and left <= 0:
        return None
    try:
        with deadlines.within(left, plan.name):
            columns = profile(engine, table.source).columns
            kinds = {name: from_spec(starting(columns[name])[1], name, Path()) for name in table.insensitive}
            kinds = {name: kind for name, kind in kinds.items() if kind.height > 1}
            if not kinds:
                return None
            coarser = replace(
                table,
                quasi={**table.hierarchies, **kinds},
                insensitive=(),
                acknowledged=None,
                drop=(*table.drop, *(name for name in table.insensitive if name not in kinds)),
            )
            bounds = {name: {"min_level": 1, "max_level": kind.height - 1} for name, kind in kinds.items()}
            within = method.at_one_level().steered(Steering(bounds))
            best = api.search(engine, coarser, plan.require, within, goal="best").best
    except NoSafeChoice:
        best = None
    except PrivacySqlError:  # what stands in the way of a proposal is no fault of the release
        return None
    return {
        "columns": list(kinds),
        "left_out": [name for name in table.insensitive if name not in kinds],
        "hierarchies": coarser.described_levels,
        "best": best,
    }
