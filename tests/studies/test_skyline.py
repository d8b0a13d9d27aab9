"""Whom the worst knowledge of a skyline is about: what is said of them is true, and proves what is said."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.studies.skyline import TableSkylines, skylines
from tests import engines
from tests.seeds import seeds


def people(seed: int) -> pd.DataFrame:
    draw = random.Random(seed)
    rows = [(f"p{n}", draw.choice("xy"), draw.choice("aabbcd")) for n in range(draw.randint(2, 12))]
    return pd.DataFrame(rows, columns=["id", "g", "s"])


def told(engine: Any, rows: pd.DataFrame, value: str, limit: str, **more: Any) -> TableSkylines:
    table = ps.Table(rows, ["g"], "s", **more)
    return skylines(engine, table, value=value, limit=limit, show_values=True)


@pytest.mark.parametrize("seed", seeds(6))
def test_who_knows_these_facts_of_these_people_is_as_sure_as_the_story_says(engine: Any, seed: int) -> None:
    rows = people(seed)
    holds = dict(zip(rows["id"], rows["s"], strict=True))
    value = rows["s"].iloc[0]
    limit = random.Random(seed).choice(["0.3", "0.6", "0.9", "1"])
    (skyline,) = told(engine, rows, value, limit, identifier="id").skylines
    assert set(skyline.individuals) == set(skyline.stories)
    table = ps.Table(rows, ["g"], "s", identifier="id")
    for kind, whom in skyline.individuals.items():
        target = whom["target"]
        facts = [f"{target} not {other}" for other in whom["values_ruled_out"]]
        facts += [f"{one['person']} is {one['value']}" for one in whom["known"]]
        facts += [f"{person} is {value} -> {target} is {value}" for person in whom["family"]]
        assert holds[target] == value and not {value} & set(whom["values_ruled_out"])
        assert all(holds[one["person"]] == one["value"] != value for one in whom["known"])
        named = [target, *(one["person"] for one in whom["known"]), *whom["family"]]
        assert len(named) == len(set(named))
        sure = ps.disclosure_risk(engine, table, facts, f"{target} is {value}").value
        amounts = {"ruled_out": 0, "known": 0, "family": 0}
        if kind != "nothing":
            amounts[kind] = 1 + max(point[list(amounts).index(kind)] for point in skyline.points)
        l, k, m = amounts.values()  # noqa: E741
        assert sure == ps.breach_probability(engine, table, value=value, l=l, k=k, m=m) >= Fraction(limit)


def test_nobody_is_named_without_an_identifier_or_unless_names_are_asked_for(engine: Any) -> None:
    rows = people(1)
    (skyline,) = told(engine, rows.drop(columns="id"), "a", "0.9").skylines
    assert skyline.stories and not skyline.individuals
    table = ps.Table(rows, ["g"], "s", identifier="id")
    (skyline,) = skylines(engine, table, value="a", limit="0.9").skylines
    assert len(skyline.stories) == 3 and not skyline.individuals


def test_the_command_line_names_people_to_those_who_ask(tmp_path: Any) -> None:
    source = tmp_path / "people.csv"
    source.write_text("id,g,s\n" + "".join(f"ID{n},x,{s}\n" for n, s in enumerate("aabcdef")))
    words = ["skyline", "--source", str(source), "--quasi", "g", "--sensitive", "s", "--identifier", "id"]
    words += ["--value", "a", "--limit", "0.95"]
    plain, internal = run(words), run([*words, "--show-values"])
    assert "ID" not in "\n".join(plain.lines) and "individuals" not in plain.more["skylines"][0]
    assert internal.lines[0].startswith("INTERNAL")
    whom = internal.more["skylines"][0]["individuals"]["known"]
    assert whom["target"] == "ID0" and [one["person"] for one in whom["known"]] == [
        f"ID{n}" for n in range(2, 7)
    ]
    assert any("known ID2 (b), known ID3 (c)" in line for line in internal.lines)


def test_a_boolean_value_is_named_as_python_and_as_an_engine_spell_it() -> None:
    table = ps.Table(pd.DataFrame({"q": ["a"] * 4, "s": [True, True, True, False]}), ["q"], "s")
    with engines.opened() as engine:
        for value in (True, "true"):
            assert ps.breach_probability(engine, table, value=value, l=0, k=0, m=0) == Fraction(3, 4)
            assert ps.find_skyline(engine, table, value=value, limit="0.9") == [(0, 0, 0)]
