"""Which requirement costs the most detail: the same search without each of them, one at a time.

Nothing is published here, and no requirement is changed; a person decides whether a limit is worth its price.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from privacy_sql import api, deadlines
from privacy_sql.errors import PrivacySqlError
from privacy_sql.project.reading import Plan

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.methods import Method

LEAST_SAVED = 0.05  # of the detail; a smaller difference does not make a requirement the reason
ENOUGH = 0.1  # of the detail; a requirement that costs so much is named without trying the others


def costliest(
    engine: Engine, plan: Plan, method: Method, lost: float, left: float | None
) -> tuple[str, float] | None:
    """A requirement without which the best choice would lose much less detail, and that loss.

    The last one comes first, since the first is usually k-anonymity, on which the others build. None where no
    single requirement makes much of a difference, or the time left was too short to find out.
    """
    end = None if left is None else time.monotonic() + left
    found: list[tuple[float, str]] = []
    for requirement in reversed(plan.require):
        others = [other for other in plan.require if other is not requirement]
        rest = None if end is None else end - time.monotonic()
        if not others or (rest is not None and rest <= 0):
            continue
        try:
            with deadlines.within(rest, plan.name):
                best = api.search(engine, plan.table, others, method, goal="best").best
        except PrivacySqlError:  # nothing is safe without it either, or the time is up
            continue
        if best is not None:
            found.append((best["values"]["loss"], str(requirement)))
            if lost - found[-1][0] >= ENOUGH:
                break
    saved = [(loss, text) for loss, text in found if lost - loss > LEAST_SAVED]
    if not saved:
        return None
    loss, text = min(saved)
    return text, loss
