"""Two releases of a census file in boxes, 2 % of the known values missing: who is exposed, one by one."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privacy_sql as ps
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register, registered
from privacy_sql.papers._overlap import WHO, PaperPeople
from privacy_sql.query.template import names, render
from tests import engines

DATA = os.environ.get("PRIVACY_SQL_DATA")
LEVELS = [Fraction(1), Fraction(1, 2), Fraction(1, 4)]


@pytest.mark.skipif(not DATA, reason="needs the data sets: set PRIVACY_SQL_DATA")
def test_missing_values_hide_nobody_in_two_releases_of_a_census_file(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    with engines.opened() as engine:
        people = PaperPeople(engine, Path(str(DATA)), "adult")
        rows = people.rows.copy()
        for column in people.quasi:
            rows.loc[dice.random(len(rows)) < 0.02, column] = None
        first, second, shared = people.halves(dice)
        register = Register(tmp_path / "register.jsonl")
        places, truths = [], []
        for name, sample in (("first", first), ("second", second)):
            table = ps.Table(
                rows.iloc[sample],
                people.quasi,
                people.source.sensitive,
                insensitive=[WHO],
                acknowledged="says who is in which box",
                name=name,
            )
            release = ps.publish(engine, table, [ps.KAnonymity(5)], ps.Multidimensional())
            places.append(ps.write(engine, release, tmp_path / f"{name}.csv"))
            register.keep(name, places[-1], private=group_contents.writer(release))
            truths.append(_values(release))
        left = [len(truths[0][who] & truths[1][who]) for who in shared.tolist()]
        truth = [Fraction(100 * sum(n * level <= 1 for n in left), len(left)) for level in LEVELS]
        known = ps.Table(rows.iloc[shared], people.quasi, identifier=WHO)
        found = ps.intersection_attack(engine, registered(register).groups, known, LEVELS).summary
        assert (found.n_ok, found.n_ambiguous) == (5000, 0)
        assert list(found.PVP.values()) == list(found.exposed.values()) == truth
        # a stranger reads labels, and nobody who is exposed is missed for a star
        read = ps.intersection_attack(engine, places, known, LEVELS).summary
        assert all(said >= true for said, true in zip(read.exposed.values(), truth, strict=True))


def _values(release: Any) -> dict[int, set[Any]]:
    """What the box of each person holds."""
    base = release.base
    who = base.others[WHO]
    query = render("counted/listed.sql", relation=release.grouping.rows, columns=names([who, "g", "s"]))
    found = base.engine.fetch(query)
    boxes: dict[int, set[Any]] = {}
    for row in found:
        boxes.setdefault(row["g"], set()).add(row["s"])
    return {int(row[who]): boxes[row["g"]] for row in found}
