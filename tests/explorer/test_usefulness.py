"""The screen Usefulness: its columns, answers and measures are those of a count row by row and of search."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.errors import UsageError
from privacy_sql.lattice import in_memory
from tests.command_line import call
from tests.explorer.deciding import REQUIRE, ask, decided, people, table
from tests.explorer.served import Asker
from tests.oracles.people_by_risk import LEVELS
from tests.seeds import seeds

CHOICES = ((0, 0), (1, 0), (1, 1), (2, 1))


@pytest.mark.parametrize("by_statements", [False, True], ids=["arrays", "statements"])
@pytest.mark.parametrize("seed", seeds(3))
def test_columns_are_those_of_the_rows_before_and_after(
    seed: int, by_statements: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_statements:
        monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", -1)
    rows = people(seed)
    for choice in CHOICES:
        with decided(table(rows), dict(zip(("age", "job"), choice, strict=True))) as decision:
            told = ask(decision, "usefulness", values=True)
            assert (told["people"], told["left_out"]) == (len(rows), 0)
            for n, column in enumerate(told["columns"]):
                values = Counter(row[n + 1] for row in rows)
                assert sorted(bar["people"] for bar in column["before"]) == sorted(values.values())
                assert {bar["label"]: bar["people"] for bar in column["before"]} == values
                labels = Counter(LEVELS[n][choice[n]](row[n + 1]) for row in rows)
                assert sorted(bar["people"] for bar in column["after"]) == sorted(labels.values())
                under = Counter(LEVELS[n][choice[n]](value) for value in values)
                assert sorted(bar["values"] for bar in column["after"]) == sorted(under.values())
                assert column["left_out"] == (choice[n] == 2)
                # bars before lie over those after: both are in the order of the column
                places = [LEVELS[n][choice[n]](bar["label"]) for bar in column["before"]]
                assert len(dict.fromkeys(places)) == sum(
                    a != b for a, b in zip(places, [*places[1:], ...], strict=True)
                )


def test_people_who_are_left_out_are_in_no_bar_after() -> None:
    rows = [(n, "20", "a", "fg"[n % 2]) for n in range(8)] + [(9, "31", "c", "f")]
    with decided(table(rows), {}, [ps.KAnonymity(2)], "0.2") as decision:
        told = ask(decision, "usefulness", values=True)
        assert told["left_out"] == 1
        for column in told["columns"]:
            assert sum(bar["people"] for bar in column["before"]) == 9
            assert sum(bar["people"] for bar in column["after"]) == 8


def test_many_values_are_drawn_together_and_none_is_lost() -> None:
    rows = [(n, str(n), "a", "fg"[n % 2]) for n in range(200)]
    with decided(table(rows), {}) as decision:
        age = ask(decision, "usefulness", values=True)["columns"][0]
        assert len(age["before"]) <= 60 and age["after"] is None and age["values"] == 200
        assert sum(bar["people"] for bar in age["before"]) == 200
        assert all("label" not in bar for bar in age["before"])


def answers(rows: list[Any], choice: tuple[int, int], ages: set[Any], jobs: set[Any], ills: set[Any]) -> Any:
    """The true answer and that of a reader who spreads rows evenly over what their labels cover."""
    values = [{row[n + 1] for row in rows} for n in (0, 1)]
    estimate = 0.0
    for row in rows:
        share = 1.0
        for n, wanted in enumerate((ages, jobs)):
            label = LEVELS[n][choice[n]](row[n + 1])
            under = [value for value in values[n] if LEVELS[n][choice[n]](value) == label]
            share *= sum(value in wanted for value in under) / len(under)
        estimate += share * (row[3] in ills)
    true = sum(row[1] in ages and row[2] in jobs and row[3] in ills for row in rows)
    return true, estimate


@pytest.mark.parametrize("by_statements", [False, True], ids=["arrays", "statements"])
@pytest.mark.parametrize("seed", seeds(3))
def test_a_counting_query_has_its_true_answer_and_that_of_a_reader(
    seed: int, by_statements: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_statements:
        monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", -1)
    rows = [*people(seed), (1, "20", "a", "f"), (2, "25", "b", "g"), (3, "31", "c", "h")]
    every = [{row[n] for row in rows} for n in (1, 2, 3)]
    for choice in CHOICES:
        with decided(table(rows), dict(zip(("age", "job"), choice, strict=True))) as decision:
            for asked, (ages, jobs, ills) in (
                ({}, (every[0], every[1], every[2])),
                ({"age": "20, 31"}, ({"20", "31"}, every[1], every[2])),
                ({"age": "21-31", "ill": "f"}, ({"25", "31"}, every[1], {"f"})),
                ({"age": "20-29", "job": "x", "ill": "f,g"}, ({"20", "25"}, {"a", "b"}, {"f", "g"})),
                ({"age": " ", "job": "c"}, (every[0], {"c"}, every[2])),
            ):
                told = ask(decision, "usefulness", action="query", conditions=asked)
                true, estimate = answers(rows, choice, ages, jobs, ills)
                assert told["true"] == true
                assert told["published"] == pytest.approx(estimate)
                assert told["error"] == (None if not true else pytest.approx(abs(estimate - true) / true))


@pytest.mark.parametrize(
    "conditions",
    [{"age": "old"}, {"shoe": "42"}, {"age": 20}, "age", None, {"ill": "nobody has it"}],
    ids=str,
)
def test_a_query_about_nothing_there_is_refused_and_repeats_no_value(conditions: Any) -> None:
    with decided(table([(1, "20", "a", "f")] * 2), {}) as decision, pytest.raises(UsageError) as refused:
        ask(decision, "usefulness", action="query", conditions=conditions)
    assert "nobody has it" not in str(refused.value) and "old" not in refused.value.message


def test_a_table_without_a_sensitive_column_has_no_queries_but_measures() -> None:
    with decided(table(people(3), sensitive=None), {}, [ps.KAnonymity(1)]) as decision:
        told = ask(decision, "usefulness")
        assert any("value" in one for one in told["utilities"])
        with pytest.raises(UsageError, match="counting queries need a sensitive column"):
            ask(decision, "usefulness", action="query", conditions={})


def test_every_utility_is_measured_as_search_does_or_says_why_not(page: Asker, folder: Any) -> None:
    told = {one["name"]: one for one in page.ask("usefulness")["utilities"]}
    assert list(told) == registry.available("utilities")
    yml = folder / "privacy.yml"
    text = yml.read_text()
    levels = page.decision.levels
    method = text[text.index("    method:") : text.index("    output:")]
    bounds = {column: {"min_level": n, "max_level": n} for column, n in levels.items()}
    yml.write_text(
        text.replace(method, f"    method: {{full_domain: {{max_suppressed: 0.01, bounds: {bounds}}}}}\n")
    )
    searched = call("search", "--project", folder, "--json").json
    best = searched["results"][0]["best"] if "results" in searched else searched["best"]
    assert best["levels"] == levels
    for name, value in best["values"].items():
        if name in told:
            assert told[name]["value"] == pytest.approx(value, rel=1e-12), name
    assert set(told) - set(best["values"]) == {name for name, one in told.items() if "why_not" in one}


@pytest.mark.parametrize("seed", seeds(2))
def test_measures_of_the_source_are_those_of_its_finest_choice(seed: int) -> None:
    with decided(table(people(seed)), {"age": 1}) as decision:
        told = {one["name"]: one for one in ask(decision, "usefulness")["utilities"]}
    with decided(table(people(seed)), {}) as decision:
        plain = {one["name"]: one for one in ask(decision, "usefulness")["utilities"]}
    assert {n: one.get("source") for n, one in told.items()} == {
        n: one.get("value") for n, one in plain.items()
    }
    assert REQUIRE


def test_values_are_named_only_where_the_question_asks_for_them(page: Asker) -> None:
    hidden = page.ask("usefulness")
    age, sex = hidden["columns"][:2]
    assert age["after"][0]["label"] == "20-29"
    assert all("label" not in bar for bar in sex["before"]) and {bar["label"] for bar in sex["after"]} == {
        None
    }
    shown = page.ask("usefulness", values=True)["columns"][1]
    assert {bar["label"] for bar in shown["after"]} == {bar["label"] for bar in shown["before"]} == {"F", "M"}
