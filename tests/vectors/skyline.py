"""Breach probabilities, verdicts and knowledge skylines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import privacy_sql as ps

CASES = {"SVPI": "one", "MVPI_SET": "set", "MVPI_MULTISET": "multiset"}


def skyline_bp(engine: Any, case: dict[str, Any]) -> None:
    found = ps.breach_probability(
        engine, _table(case), value=case["sigma"], l=case["l"], k=case["k"], m=case["m"]
    )
    assert found == Fraction(case["answer"])


def skyline_safe(engine: Any, case: dict[str, Any]) -> None:
    require = ps.PrivacySkyline(per_value={case["sigma"]: case["points"]})
    assert bool(ps.check(engine, _table(case), [require])) is case["answer"]


def skyline_find(engine: Any, case: dict[str, Any]) -> None:
    points = ps.find_skyline(engine, _table(case), value=case["sigma"], limit=case["c"])
    assert [list(point) for point in points] == case["answer"]


def _table(case: dict[str, Any]) -> ps.Table:
    """One row per value and person; with several values each, values go round the people of a group."""
    rows = []
    for number, group in enumerate(case["groups"]):
        people = case.get("individuals", [sum(group.values())] * (number + 1))[number]
        free = {f"{number}.{place}" for place in range(people)}
        place = 0
        for value, count in group.items():
            for turn in range(count):
                # a value starts again at the first person, so that no person has it twice in a set
                person = f"{number}.{(turn if case['case'] != 'SVPI' else place) % people}"
                rows.append((person, number, value))
                free.discard(person)
                place += 1
        rows += [(person, number, None) for person in sorted(free)]
    frame = pd.DataFrame(rows, columns=["person", "g", "s"], dtype=object)
    return ps.Table(frame, ["g"], "s", identifier="person", values_per_person=CASES[case["case"]])
