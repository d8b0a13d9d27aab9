"""A partition repaired: groups that an exact audit refuses are cut small and joined to their neighbours.

Li et al. 2009 keep a box whose cuts all fail. An exact audit shows that some of those boxes move a belief too
far, and it cannot decide the larger ones. Nobody has to be suppressed for that: a few people more or less
make most groups safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.kernels.beliefs.posterior import count_states
from privacy_sql.papers._adult_beliefs import AdultStudy
from privacy_sql.papers._partition import halves
from privacy_sql.verdict import TOLERANCE

if TYPE_CHECKING:
    from privacy_sql.beliefs.beliefs import Bandwidth

Array = NDArray[Any]
Groups = list[Array]

PIECE = 5_000  # count vectors of a piece
JOINED = 50_000  # count vectors of a piece and the group it joins
NEAREST = 200  # neighbouring groups tried for a piece
TRIED = 12  # of these, groups judged exactly together with the piece


def certain(
    study: AdultStudy, groups: Sequence[Array], t: float, bandwidth: Bandwidth
) -> tuple[Groups, Groups]:
    """The groups whose exact risk is at most t beyond doubt, and the others."""
    if not groups:
        return [], []
    risks = study.risks(groups, bandwidth, "exact")
    safe = (risks <= t - TOLERANCE).tolist()  # an undecided group does not count
    kept, refused = (
        [rows for rows, fine in zip(groups, safe, strict=True) if fine == wanted] for wanted in (True, False)
    )
    return kept, refused


def mended(
    study: AdultStudy, groups: Sequence[Array], t: float, bandwidth: Bandwidth, k: int
) -> tuple[Groups, Groups]:
    """Groups that are certainly safe, and the pieces without a suitable neighbour."""
    kept, refused = certain(study, groups, t, bandwidth)
    # groups cut in the middle, safe or not, until each has few count vectors or cannot be cut
    open_groups, pieces = list(refused), []
    while open_groups:
        rows = open_groups.pop()
        parts = halves(study.points, rows, k) if count_states(study.counts([rows])[0]) > PIECE else None
        if parts is None:
            pieces.append(rows)
        else:
            open_groups += parts
    fine, failing = certain(study, pieces, t, bandwidth)
    kept, alone = kept + fine, list[Array]()
    for piece in sorted(failing, key=len):
        partner = _partner(study, piece, kept, t, bandwidth) if kept else None
        if partner is None:
            alone.append(piece)
        else:
            kept.append(np.concatenate([piece, kept.pop(partner)]))
    return kept, alone


def _partner(study: AdultStudy, piece: Array, kept: Groups, t: float, bandwidth: Bandwidth) -> int | None:
    """The index of a near group that is safe together with a piece, preferring a small estimated move."""
    widths = np.maximum(np.ptp(study.points, axis=0), 1)
    centres = np.array([study.points[rows].mean(axis=0) for rows in kept])
    apart = (np.abs(centres - study.points[piece].mean(axis=0)) / widths).sum(axis=1)
    near = np.argsort(apart, kind="stable")[:NEAREST].tolist()
    joined = [np.concatenate([piece, kept[place]]) for place in near]
    estimated = study.risks(joined, bandwidth, "estimate")
    small = [i for i, n in enumerate(study.counts(joined)) if count_states(n) <= JOINED]
    for i in sorted(small, key=lambda i: float(estimated[i]))[:TRIED]:
        if certain(study, [joined[i]], t, bandwidth)[0]:
            return int(near[i])
    return None
