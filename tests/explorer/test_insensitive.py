"""Columns that are published as they are: the page asks the choice it names what `run` asks, and says it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from tests.command_line import call
from tests.explorer.deciding import ask, decided
from tests.explorer.served import Asker, served

REFUSED = "somebody who also knows hours_per_week finds 12892 people in groups of fewer than 10"


@pytest.fixture
def asker(folder: Path) -> Iterator[Asker]:
    """An explorer of a copy of the example where `hours_per_week` became insensitive on the page."""
    with served(folder) as made:
        made.ask("columns", action="role", column="hours_per_week", role="insensitive", version=1)
        yield made


def version(asker: Asker) -> int:
    return int(asker.ask("decide")["summary"]["version"])


def test_the_choice_of_now_is_refused_where_run_refuses_it(
    asker: Asker, folder: Path, tmp_path: Path
) -> None:
    summary = asker.ask("decide")["summary"]
    assert summary["may_single_out"] and summary["insensitive"] == ["hours_per_week"]
    known = asker.ask("decide", action="story")["known"]
    signed = asker.ask("sign")
    assert not signed["now"]["safe"] and signed["now"]["known"] == known
    asker.ask("sign", action="save", version=version(asker))
    run = call("run", "--json", "--dry-run", "--project", shutil.copytree(folder, tmp_path / "other")).json
    (release,) = run["releases"]
    assert known["refusal"] == release["errors"][0] and known["refusal"]["message"] == REFUSED
    counts = release["baseline"]["known"]["all"]
    assert (known["alone"], known["guess"], known["k"]) == (counts["alone"], float(counts["worst_guess"]), 10)
    answer = asker.work("sign", do="run")["answer"]
    assert answer["exit"] == 1 and answer["errors"][0]["message"] == REFUSED
    assert not (folder / "out").exists()


def test_the_ways_out_lead_to_a_choice_that_run_publishes(asker: Asker, folder: Path) -> None:
    asker.ask("columns", action="insensitive", role="known", version=version(asker))
    known = asker.ask("sign")
    assert known["now"]["known"]["refusal"] is None and not known["now"]["safe"], "the requirements judge it"
    assert any("known: true" in line for line in known["difference"])
    assert not asker.ask("decide")["summary"]["may_single_out"]
    asker.ask("decide", action="undo", version=version(asker))
    asker.ask("columns", action="insensitive", role="drop", version=version(asker))
    told = asker.ask("sign")
    assert told["now"]["safe"] and told["now"]["known"] is None
    assert told["difference"] == [], "privacy.yml says it already, and there is nothing to save"
    assert asker.work("sign", do="run")["answer"]["published"]
    wrong = asker.tell("/api/columns", {"action": "insensitive", "role": "quasi", "version": version(asker)})
    assert wrong["error"]["code"] == "bad_question"


def test_a_reason_is_enough_and_the_reader_stays_on_the_page(folder: Path) -> None:
    text = (folder / "privacy.yml").read_text()
    entry = "drop: [survey_weight]\n    insensitive: {columns: [hours_per_week], acknowledge: they agreed}"
    (folder / "privacy.yml").write_text(text.replace("drop: [survey_weight, hours_per_week]", entry))
    with served(folder) as asker:
        told = asker.ask("sign")
        assert told["now"]["safe"] and told["now"]["known"]["refusal"] is None
        assert told["now"]["known"]["below"] == 12892 and not told["summary"]["may_single_out"]


def test_another_limit_asks_anew(asker: Asker) -> None:
    before = asker.ask("decide", action="story")["known"]
    limit = {"action": "limit", "requirement": "k_anonymity(k=10)", "limit": "12"}
    asker.ask("decide", **limit, version=version(asker))
    after = asker.ask("decide", action="story")["known"]
    assert (before["k"], after["k"]) == (10, 12) and after["below"] > before["below"]


def test_pinned_choices_are_asked_and_the_source_is_not(asker: Asker) -> None:
    levels = asker.ask("decide")["summary"]["levels"]
    told = asker.ask("compare", choices=[levels])
    (pinned,) = told["choices"]
    assert not pinned["safe"] and pinned["known"]["refusal"]["message"] == REFUSED
    assert told["source"]["known"] is None


def test_columns_that_single_nobody_out_are_told_and_can_be_signed() -> None:
    rows = pd.DataFrame({"age": ["30", "31", "41", "44"] * 2, "team": ["a"] * 8, "ill": [*"fgfg"] * 2})
    table = ps.Table(rows, {"age": ps.Intervals(10)}, "ill", insensitive=["team"])
    with decided(table, {"age": 1}, [ps.KAnonymity(4)]) as decision:
        known: Any = ask(decision, "decide", action="story")["known"]
        told = {"guess": 0.5, "alone": 0, "below": 0, "refusal": None}
        assert known == {"columns": ["team"], "k": 4, "can_edit": False, **told}
        assert decision.as_run_says({"age": 1})["safe"] and decision.as_run_says({"age": 1})["known"] == known


def test_what_run_refuses_at_any_levels_is_said_and_breaks_no_screen() -> None:
    """With several values per person, unchanged columns would show which rows are of one person."""
    rows = {"who": [*"aabbcc"], "age": [*"111111"], "hours": [*"334455"], "ill": [*"fgfgfg"]}
    named: Any = {"identifier": "who", "values_per_person": "set", "insensitive": ["hours"]}
    table = ps.Table(pd.DataFrame(rows, dtype=object), {"age": ps.Intervals(10)}, "ill", **named)
    with decided(table, {"age": 0}, [ps.KAnonymity(2)]) as decision:
        told: Any = ask(decision, "decide", action="story")
        assert told["known"]["refusal"]["code"] == "several_values"
        assert decision.judged({"age": 0}).safe and not decision.as_run_says({"age": 0})["safe"]


def test_no_column_is_insensitive_and_nothing_more_is_asked(page: Asker) -> None:
    assert page.ask("decide", action="story")["known"] is None
    summary = page.ask("decide")["summary"]
    assert summary["insensitive"] == [] and not summary["may_single_out"]


def test_the_worst_case_names_columns_whose_value_it_does_not_show(page: Asker) -> None:
    """Without them more people have its labels than it says."""
    for values, unnamed in ((False, ["sex"]), (True, [])):
        told = page.ask("decide", action="story", values=values)["verdicts"]
        assert all(verdict["group"]["unnamed"] == unnamed for verdict in told)


def test_invented_rows_have_as_many_values_as_the_column(page: Asker) -> None:
    shape = page.ask("decide", action="story")["reader"]["shape"]
    place = shape["header"].index("sex")
    assert [row[place] for row in shape["rows"]] == ["value 2", "value 1", "value 1"]
