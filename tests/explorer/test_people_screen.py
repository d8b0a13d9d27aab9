"""The screen People: its bars are those of a count row by row, and what it offers is what happens."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.lattice import in_memory
from privacy_sql.project.reading import read
from privacy_sql.studies._people_by_risk import PARTS
from tests import engines
from tests.command_line import call
from tests.explorer.deciding import REQUIRE, ask, decided, people, several, table, work
from tests.explorer.served import Asker, served
from tests.oracles.people_by_risk import bars_of, groups_of, sure_of
from tests.seeds import seeds

CHOICES = ((0, 0), (1, 0), (1, 1), (2, 2))


def levels(choice: tuple[int, int]) -> dict[str, int]:
    return dict(zip(("age", "job"), choice, strict=True))


@pytest.mark.parametrize("by_statements", [False, True], ids=["arrays", "statements"])
@pytest.mark.parametrize("seed", seeds(3))
def test_the_bars_are_those_of_a_count_row_by_row(
    seed: int, by_statements: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_statements:
        monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", -1)
    rows = people(seed) * 2
    for choice in CHOICES:
        with decided(table(rows), levels(choice)) as decision:
            for facts in (0, 1, 3):
                told = ask(decision, "people", facts=facts)
                (column,) = told["columns"]
                now, before = bars_of(rows, choice, facts, PARTS), bars_of(rows, (0, 0), facts, PARTS)
                assert [bar["people"] for bar in column["guesses"]] == [now[n] for n in range(PARTS + 1)]
                assert [bar["source"] for bar in column["guesses"]] == [before[n] for n in range(PARTS + 1)]
                for bar in column["sizes"]:
                    for name, at in (("people", choice), ("source", (0, 0))):
                        sizes = [group.total() for group in groups_of(rows, at)]
                        inside = [n for n in sizes if bar["low"] <= n <= bar["high"]]
                        assert bar[name] == sum(inside)
                        assert name == "source" or bar["groups"] == len(inside)
                assert sum(bar["people"] for bar in column["sizes"]) == column["people"] == len(rows)


@pytest.mark.parametrize("seed", seeds(3))
def test_the_groups_of_a_bar_are_those_in_it_and_as_sure_as_the_paper_says(seed: int) -> None:
    rows = people(seed) * 2
    for choice in CHOICES:
        with decided(table(rows), levels(choice)) as decision:
            for facts in (0, 2):
                listed = []
                for place in range(PARTS + 1):
                    told = ask(decision, "people", action="groups", by="guess", low=place, facts=facts)
                    assert told["people"] == sum(group["people"] for group in told["listed"])
                    listed += [(group["people"], group["sure"]) for group in told["listed"]]
                expected = [(g.total(), str(sure_of(g, facts))) for g in groups_of(rows, choice)]
                assert sorted(listed) == sorted(expected)
            (column,) = ask(decision, "people")["columns"]
            for bar in column["sizes"]:
                told = ask(decision, "people", action="groups", by="size", low=int(bar["low"]))
                assert (told["people"], told["groups"]) == (bar["people"], bar["groups"])


@pytest.mark.parametrize("seed", seeds(3))
def test_a_coarser_column_is_told_as_it_is_judged(seed: int) -> None:
    rows = people(seed) * 2
    with decided(table(rows), {}) as decision:
        told = ask(decision, "people", action="groups", by="size", low=1)
        assert {step["column"]: step["level"] for step in told["coarser"]} == {"age": 1, "job": 1}
        with engines.opened() as engine:
            counted = ps.count(engine, table(rows))
            for step in told["coarser"]:
                at = (1, 0) if step["column"] == "age" else (0, 1)
                assert step["safe"] == bool(counted.judge(levels(at), REQUIRE))
                assert step["left"] == sum(n for n in map(sum_of, groups_of(rows, at)) if n <= 1)


def sum_of(group: Any) -> int:
    return int(group.total())


def test_who_leaves_is_who_it_said() -> None:
    rows = [(n, "20", "a", "fg"[n % 2]) for n in range(8)] + [(9, "31", "c", "f"), (9, "25", "b", "f")]
    with decided(table(rows), {}, [ps.KAnonymity(2)]) as decision:
        told = ask(decision, "people", action="groups", by="size", low=1)
        leave = told["leave"]
        assert leave["possible"] and leave["people"] == told["people"] == 2
        assert leave["max_suppressed"] == "0.2"
        after = ask(decision, "people", action="leave", max_suppressed="0.2", version=1)
        assert after["left_out"] == 2 and after["summary"]["allowed"] == "1/5"
        assert decision.release().suppressed == 2 and decision.release().safe
        decision.undo(decision.version)
        assert ask(decision, "people")["left_out"] == 0


def test_groups_that_keep_everything_are_not_left_out() -> None:
    rows = [(n, "20", "a", "fg"[n % 2]) for n in range(8)]
    with decided(table(rows), {}, [ps.KAnonymity(2)]) as decision:
        told = ask(decision, "people", action="groups", by="size", low=5)
        assert not told["leave"]["possible"] and "keep every requirement" in told["leave"]["why"]
        empty = ask(decision, "people", action="groups", by="guess", low=20)
        assert (empty["groups"], empty["leave"]["possible"]) == (0, False)


@pytest.mark.parametrize("per_person", ["set", "multiset"])
def test_people_with_several_values_are_counted_once(per_person: Any) -> None:
    rows = [("1", "20", "a", "f"), ("1", "20", "a", "g"), ("2", "25", "b", None), ("3", "31", "c", "f")]
    given = table(rows, identifier="who", values_per_person=per_person, drop=[])
    with decided(given, {"age": 1}, [ps.KAnonymity(1)]) as decision:
        told = ask(decision, "people")
        (column,) = told["columns"]
        assert column["people"] == sum(bar["people"] for bar in column["guesses"]) == 3
        assert told["most_facts"] == 0
        with pytest.raises(UsageError, match="one sensitive value per person"):
            ask(decision, "people", facts=1)


def test_every_sensitive_column_and_none_have_their_bars() -> None:
    frame = table(people(1)).source
    both = ps.Table(frame, {"age": ps.Intervals(10)}, ["ill", "job"], drop=["who"])
    with decided(both, {"age": 1}, [ps.KAnonymity(1)]) as decision:
        told = ask(decision, "people")
        assert [column["sensitive"] for column in told["columns"]] == ["ill", "job"]
        group = ask(decision, "people", action="groups", by="size", low=1, column=1)
        assert not group["leave"]["possible"] and "several sensitive columns" in group["leave"]["why"]
    with decided(table(people(1), sensitive=None), {"age": 1}, [ps.KAnonymity(1)]) as decision:
        (column,) = ask(decision, "people")["columns"]
        assert column["guesses"] is None and column["sensitive"] is None


@pytest.mark.parametrize(
    "question",
    [
        {"action": "dance"},
        {"facts": 13},
        {"facts": "2"},
        {"action": "groups", "by": "name", "low": 1},
        {"action": "groups", "by": "size", "low": 1, "column": 5},
        {"action": "groups", "by": "size"},
    ],
    ids=str,
)
def test_a_question_that_is_none_is_refused(question: dict[str, Any]) -> None:
    with decided(table(people(2)), {}) as decision, pytest.raises(UsageError):
        ask(decision, "people", **question)


def test_values_of_people_are_told_only_where_the_question_asks_for_them(page: Asker) -> None:
    hidden = page.ask("people", action="groups", by="size", low=20)
    assert set(hidden["listed"][0]["labels"]) == {"age", "zip", "marital_status", "education"}
    shown = page.ask("people", action="groups", by="size", low=20, values=True)
    assert {group["labels"]["sex"] for group in shown["listed"]} == {"F", "M"}


def test_the_bars_of_the_example_are_those_of_run_and_check(page: Asker, folder: Any) -> None:
    told = page.ask("people")
    (column,) = told["columns"]
    result = call("run", "--project", folder, "--json").json["releases"][0]
    assert column["people"] == result["rows_out"] and told["left_out"] == result["suppressed"]
    checked = call(
        "check", "--source", folder / "out" / "people.csv", "--sensitive", "diagnosis", "--json",
        "--quasi", "age,sex,zip,marital_status,education", "--require", "k_anonymity(k=10)",
    ).json  # fmt: skip
    smallest = int(checked["verdicts"][0]["value"])
    first = next(bar for bar in column["sizes"] if bar["people"])
    assert first["low"] <= smallest <= first["high"] and told["k"] == 10
    group = page.ask("people", action="groups", by="size", low=int(first["low"]))["listed"][0]
    assert group["people"] == smallest
    worst = Fraction(checked["baseline"]["as_published"]["worst_guess"])
    last = [bar for bar in column["guesses"] if bar["people"]][-1]
    assert last["low"] <= worst < last["high"]


def test_nothing_of_it_is_long() -> None:
    with decided(table(people(2)), {}) as decision, pytest.raises(UsageError, match="no long questions"):
        work(decision, "people")


def test_an_answer_is_plain_data() -> None:
    with decided(table(people(2)), {}) as decision:
        answer = ask(decision, "people")
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer


@pytest.mark.parametrize("method", ["generalise", "full_domain", "plain full_domain"])
def test_who_may_leave_stands_in_the_file(folder: Path, method: str) -> None:
    yml = folder / "privacy.yml"
    text = yml.read_text()
    start, end = text.index("    method:"), text.index("    output:")
    written = {
        "generalise": text[start:end],
        "full_domain": "    method: {full_domain: {minimise: loss}}\n",
        "plain full_domain": "    method: full_domain\n",
    }[method]
    yml.write_text(text[:start] + written + text[end:])
    with served(folder) as page:
        page.ask("people", action="leave", max_suppressed="0.02", version=1)
        told = page.ask("decide", action="limit", requirement="k_anonymity(k=10)", limit="12", version=2)
        assert told["summary"]["allowed"] == "1/50"  # a limit that is moved afterwards keeps it
        page.ask("sign", action="save", version=3)
        levels = dict(page.decision.levels)
    (plan,) = read(folder).selected(())
    assert plan.method is not None and plan.method.named_levels == levels
    assert plan.method.allowed == Fraction("0.02") and str(plan.require[0]) == "k_anonymity(k=12)"


def test_people_who_are_left_out_are_told_with_their_rows_which_run_counts() -> None:
    """A person may have several rows; the page counts people, the manifest rows."""
    differ = 0
    for seed in range(12):
        with decided(several(seed), {"age": 1, "job": 1}, [ps.KAnonymity(2)], allowed="0.5") as it:
            told, now, release = ask(it, "people"), it.judged(it.levels), it.release()
            if not release.safe:
                continue
            assert now.rows_suppressed == told["rows_left_out"] == release.suppressed
            assert (
                told["left_out"] == now.suppressed == it.counted.base.n_people - told["columns"][0]["people"]
            )
            differ += now.suppressed != now.rows_suppressed
    assert differ > 3


def test_who_leaves_is_who_it_said_where_people_have_several_rows() -> None:
    left = 0
    for seed in range(12):
        with decided(several(seed), {"age": 1, "job": 1}, [ps.KAnonymity(2)]) as it:
            told = ask(it, "people", action="groups", by="size", low=1)["leave"]
            if not told["possible"]:
                continue
            ask(it, "people", action="leave", max_suppressed=told["max_suppressed"], version=it.version)
            now = it.judged(it.levels)
            assert now.safe and now.suppressed == told["people"], seed
            left += now.suppressed != now.rows_suppressed
    assert left > 3
