"""The screen Knowledge: its curves, stories, skylines and verdicts are those of the studies and of check."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.explorer.screens.knowledge import FACTS
from privacy_sql.project.reading import read
from tests import engines
from tests.command_line import call
from tests.explorer.deciding import REQUIRE, ask, decided, people, table, work
from tests.explorer.served import Asker, served
from tests.oracles.people_by_risk import groups_of
from tests.oracles.worst_case import recursion_of_the_paper
from tests.seeds import seeds


@pytest.mark.parametrize("seed", seeds(3))
def test_the_curve_is_that_of_the_study_and_of_the_paper(seed: int) -> None:
    rows = people(seed) * 2
    for choice in ((0, 0), (1, 1), (2, 2)):
        levels = dict(zip(("age", "job"), choice, strict=True))
        with decided(table(rows), levels) as decision:
            (column,) = ask(decision, "knowledge")["columns"]
            with engines.opened() as engine:
                release = ps.publish(engine, table(rows), REQUIRE, ps.Generalise(levels))
                for language, told in column["curve"].items():
                    curve = ps.disclosure_curve(engine, release, FACTS, language)
                    assert [Fraction(value) for value in told] == curve
                plain = ps.disclosure_curve(engine, table(rows), FACTS)
            assert [Fraction(value) for value in column["source"]["implications"]] == plain
            counts = [sorted(group.values(), reverse=True) for group in groups_of(rows, choice)]
            for facts in (0, 1, 2):
                expected = recursion_of_the_paper(counts, facts)
                assert Fraction(column["curve"]["implications"][facts]) == expected


@pytest.mark.parametrize("seed", seeds(3))
def test_every_story_ends_where_the_curve_is_and_tells_each_fact(seed: int) -> None:
    with decided(table(people(seed) * 2), {"age": 2}) as decision:
        (column,) = ask(decision, "knowledge")["columns"]
        curve = column["curve"]["implications"]
        for facts, story in enumerate(column["stories"]):
            assert story["value"] == story["certainty"][-1] == curve[facts]
            assert len(story["knows"]) == story["facts"] == len(story["certainty"]) - 1 <= facts
            assert 1 <= story["group"] <= story["groups"]
        assert all(value == "1" for value in curve[len(column["stories"]) :])


def test_a_group_that_is_left_out_is_in_no_curve() -> None:
    rows = [(n, "20", "a", "fg"[n % 2]) for n in range(8)] + [(9, "31", "c", "f")]
    with decided(table(rows), {}, [ps.KAnonymity(2)], "0.2") as decision:
        (column,) = ask(decision, "knowledge")["columns"]
        assert column["curve"]["implications"][:2] == ["1/2", "1"]
        assert column["source"]["implications"][0] == "1"


@pytest.mark.parametrize("several", ["one", "set"])
def test_the_panels_are_breach_probabilities_rounded_up(several: Any) -> None:
    rows = [(n, "20" if n % 3 else "31", "a", "fgh"[n % 2 + n // 7]) for n in range(12)]
    more: dict[str, Any] = {"identifier": "who", "values_per_person": several, "drop": []}
    given = table(rows, **(more if several != "one" else {}))
    with decided(given, {"age": 1}, [ps.KAnonymity(1)]) as decision:
        (panel,) = work(decision, "knowledge", about="skyline")["panels"]
        assert panel["n_values"] == len(panel["values"]) == 3
        release = decision.release()
        by_people = sorted(["f", "g", "h"], key=lambda v: -sum(row[3] == v for row in rows))
        for value, told in zip(by_people, panel["values"], strict=True):
            assert told["people"] == sum(row[3] == value for row in rows)
            for l, k, m in ((0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 1, 2), (1, 1, 1)):  # noqa: E741
                chance = ps.breach_probability(decision.engine, release, value=value, l=l, k=k, m=m)
                part = told["breach"][l][k][m] / 10_000
                assert chance <= part < chance + Fraction(1, 10_000) or (chance == part == 1)


def test_who_studied_the_data_is_judged_as_check_does() -> None:
    rows = people(5) * 2
    with decided(table(rows), {"age": 1, "job": 1}, [ps.KAnonymity(1)]) as decision:
        (told,) = work(decision, "knowledge", about="studied", bandwidth="0.4", t="0.25")["verdicts"]
    with engines.opened() as engine:
        asked = [ps.BTPrivacy(bandwidth="0.4", t="0.25")]
        release = ps.publish(engine, table(rows), [ps.KAnonymity(1)], ps.Generalise({"age": 1, "job": 1}))
        (verdict,) = ps.check(engine, release, asked).values()
    assert (told["safe"], told["value_float"]) == (verdict.safe, pytest.approx(verdict.value))
    assert told["story"] == verdict.story and told["requirement"] == verdict.requirement


def test_who_holds_a_registered_release_is_judged_as_check_does(folder: Path) -> None:
    assert call("run", "--project", folder).exit == 0
    assert (
        call(
            "register", "add", "earlier", folder / "out" / "people.csv.manifest.json", "--project", folder
        ).exit
        == 0
    )
    with served(folder) as page:
        assert "earlier" in page.ask("knowledge")["registered"]
        page.ask("decide", action="take", levels={"zip": 1, "education": 3}, version=1)
        job = page.work("knowledge", about="held", at="1/2")
        assert job["state"] == "done", job
        (told,) = job["answer"]["verdicts"]
        project = read(folder)
        (plan,) = project.selected(())
        with engines.opened() as engine:
            method = ps.Generalise(page.decision.levels, max_suppressed="0.01")
            release = ps.publish(engine, plan.table, plan.require, method)
            asked = ps.Composition(with_="register", at="1/2").within(folder)
            (verdict,) = ps.check(engine, release, [asked]).values()
        assert (told["safe"], told["value"], told["story"]) == (
            verdict.safe, str(verdict.value), verdict.story
        )  # fmt: skip


def test_tables_that_have_no_curve_say_why() -> None:
    with decided(table(people(3), sensitive=None), {}, [ps.KAnonymity(1)]) as decision:
        (column,) = ask(decision, "knowledge")["columns"]
        assert column["curve"] is None and "no sensitive column" in column["why_not"]
        with pytest.raises(UsageError, match="needs a sensitive column"):
            work(decision, "knowledge", about="skyline")
    rows = [("1", "20", "a", "f"), ("1", "20", "a", "g"), ("2", "25", "b", "f")]
    given = table(rows, identifier="who", values_per_person="multiset", drop=[])
    with decided(given, {}, [ps.KAnonymity(1)]) as decision:
        (column,) = ask(decision, "knowledge")["columns"]
        assert column["curve"] is None and "skyline supports several" in column["why_not"]


def test_every_sensitive_column_has_its_curve() -> None:
    both = ps.Table(table(people(4)).source, {"age": ps.Intervals(10)}, ["ill", "job"], drop=["who"])
    with decided(both, {"age": 2}, [ps.KAnonymity(1)]) as decision:
        told = ask(decision, "knowledge")["columns"]
        assert [column["sensitive"] for column in told] == ["ill", "job"]
        assert all(len(column["curve"]["implications"]) == FACTS + 1 for column in told)


def test_the_limit_and_the_facts_are_those_that_are_required() -> None:
    points = [[0, 1, 0, "4/5"], [1, 0, 0, "0.9"]]
    require = [ps.CKSafety(c="2/3", k=2), ps.PrivacySkyline(points=points)]
    with decided(table(people(6)), {"age": 2, "job": 2}, require) as decision:
        told = ask(decision, "knowledge")
        assert (told["required"], told["limit"], told["breach"]) == (2, "2/3", "4/5")


@pytest.mark.parametrize(
    "question", [{"about": "weather"}, {}, {"about": "studied", "t": "much"}, {"about": "held"}]
)
def test_long_questions_that_are_none_are_refused(question: dict[str, Any]) -> None:
    with decided(table(people(2)), {}) as decision, pytest.raises(UsageError):
        work(decision, "knowledge", **question)


def test_a_job_that_nobody_wants_ends(page: Asker) -> None:
    job = page.tell("/api/jobs", {"screen": "knowledge", "about": "studied"})
    page.request("DELETE", f"/api/jobs/{job['id']}", "{}")
    told = page.tell(f"/api/jobs/{job['id']}", {"since": 0})
    while told["state"] == "running":
        told = page.tell(f"/api/jobs/{job['id']}", {"since": 0})
    assert told["state"] in ("cancelled", "done")
