"""Whether a requirement is kept is one answer, with the reasons and without them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.errors import DataError
from tests.seeds import seeds

ASKED = [
    *(ps.TCloseness(t, distance) for t in ("0", "0.3", "1/2", 1) for distance in ("equal", "ordered")),
    *(ps.LDiversity(ell, "recursive", c) for ell in (2, 3) for c in ("1/2", 1, 3)),
    ps.LDiversity(2, "recursive", 2, strict=False),
    *(ps.LDiversity(ell, kind) for ell in (1, 2, 3) for kind in ("distinct", "probabilistic")),
]


def evidence(random: Random, criterion: Any) -> list[dict[str, Any]]:
    """A few groups as the template of a requirement tells of them."""
    groups = []
    for g in range(random.randrange(4)):
        people, top = random.randrange(1, 7), random.randrange(1, 4)
        row = {"g": random.choice([g, g, None]) if criterion.name == "t_closeness" else g, "n_groups": 1}
        row |= {"n_people": people, "n_top": top, "n_tail": random.randrange(3), "n_values": top}
        row |= {"n_all": 6, "scale": 2, "difference": random.choice([None, 0, people * 6]), "far": 0.5}
        groups.append(row | {"n_stray": 0, "n_blurred": 0 if random.random() < 0.95 else 1})
    return groups


@pytest.mark.parametrize("seed", seeds(20))
def test_what_is_kept_is_what_the_verdict_says(seed: int) -> None:
    random = Random(seed)
    for criterion in ASKED:
        rows = evidence(random, criterion)
        try:
            safe = criterion.judge(rows).safe
        except DataError:
            with pytest.raises(DataError):
                criterion.keeps(rows)
            continue
        assert criterion.keeps(rows) == safe, (criterion, rows)
