"""A table with single cells suppressed is judged by its labels; the other reading is a note beside it."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import privacy_sql as ps
from tests import engines
from tests.command_line import call
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(20))
def test_the_note_says_what_every_row_would_fit(seed: int) -> None:
    chance = random.Random(seed)
    rows = [
        (
            chance.choice(["a", "b", "*", None]),
            chance.choice(["x", "y", "*"]),
            chance.choice(["f", "g", None]),
        )
        for _ in range(chance.randint(2, 12))
    ]
    fitting = [
        [o[2] for o in rows if all(a == b or "*" in (a, b) for a, b in zip(o[:2], row[:2], strict=True))]
        for row in rows
    ]
    shares = [Fraction(max(map(found.count, found)), len(found)) for found in fitting]
    table = ps.Table(pd.DataFrame(rows, columns=["a", "b", "s"], dtype=object), ["a", "b"], "s")
    with engines.opened() as engine:
        verdicts = ps.check(engine, table, [ps.KAnonymity(2)])
    (verdict,) = verdicts.values()
    assert verdict.value == min(sum(other[:2] == row[:2] for other in rows) for row in rows)
    mixed = any(0 < [row[c] for row in rows].count("*") < len(rows) for c in (0, 1))
    assert bool(verdicts.notes) == mixed
    for note in verdicts.notes:
        assert note.startswith("some cells are *")
        told = re.findall(r"at least (\d+) people|at most (\S+) of them|(\d+) values", note)
        found = [next(filter(None, each)) for each in told]
        assert found == [
            str(min(map(len, fitting))), str(max(shares)), str(min(len(set(each)) for each in fitting))
        ]  # fmt: skip


def test_check_prints_the_other_reading_and_judges_the_labels(tmp_path: Path) -> None:
    # whoever knows (a, x) knows that only the first row fits: the first row is hers
    (tmp_path / "t.csv").write_text("c,d,s\n*,x,flu\nb,x,cold\n")
    told = call(
        *("check", "--source", tmp_path / "t.csv", "--quasi", "c,d", "--sensitive", "s"),
        *("--require", "k_anonymity(k=2)"),
    )
    assert told.exit == 1
    assert "read as fitting anything, at least 2 people fit every row" in told.out
    assert "This is not judged" in told.out
