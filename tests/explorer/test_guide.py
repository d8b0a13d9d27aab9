"""The seven questions: what is answered becomes requirements, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.project.reading import read
from tests import engines
from tests.command_line import call
from tests.explorer.deciding import ask, decided, people, table
from tests.explorer.served import Asker, served

ALL = {"looks": "anyone", "hidden": "5", "harm": "yes", "sure": "1/2", "facts": "2", "groups": "0.3"}


def test_there_are_seven_questions_in_plain_words(page: Asker) -> None:
    questions = page.ask("guide")["questions"]
    assert len(questions) == 7
    for one in questions:
        assert one["question"].endswith("?") and len(one["answers"]) >= 2
        assert one["question"] + one["why"] and "anonymity" not in one["question"] + one["why"]


def test_answers_become_requirements_and_those_of_other_kinds_stay() -> None:
    require = [ps.LDiversity(2), ps.KAnonymity(2)]
    with decided(table(people(1)), {"age": 2}, require) as decision:
        told = ask(decision, "guide", action="try", answers=ALL)
        assert [one["requirement"] for one in told["requirements"]] == [
            "k_anonymity(k=5)", "ck_safety(c=1/2, k=2)", "t_closeness(t=0.3)",
        ]  # fmt: skip
        assert (told["kept"], told["gone"]) == (["l_diversity(l=2)"], ["k_anonymity(k=2)"])
        assert "They know two more facts" in told["adversary"]
        assert decision.version == 1  # to try changes nothing
        ask(decision, "guide", action="take", answers=ALL, version=1)
        assert [str(c) for c in decision.plan.require] == [
            "k_anonymity(k=5)", "ck_safety(c=1/2, k=2)", "t_closeness(t=0.3)", "l_diversity(l=2)",
        ]  # fmt: skip
        assert decision.levels == {"age": 2, "job": 0}
        with engines.opened() as engine:
            release = ps.publish(engine, table(people(1)), decision.plan.require, ps.Generalise({"age": 2}))
        assert decision.judged(decision.levels).safe == release.safe
        decision.undo(decision.version)
        assert [str(c) for c in decision.plan.require] == ["l_diversity(l=2)", "k_anonymity(k=2)"]


def test_a_question_that_is_not_answered_changes_nothing() -> None:
    require = [ps.KAnonymity(2), ps.CKSafety(c="0.9", k=1), ps.TCloseness("0.4")]
    with decided(table(people(1)), {}, require) as decision:
        told = ask(decision, "guide", action="try", answers={"harm": "yes", "sure": "2/3"})
        assert [one["requirement"] for one in told["requirements"]] == ["ck_safety(c=2/3, k=0)"]
        assert told["kept"] == ["k_anonymity(k=2)", "t_closeness(t=0.4)"]
        told = ask(decision, "guide", action="try", answers={"looks": "nobody"})
        assert told["requirements"] == [] and len(told["kept"]) == 3


def test_a_decision_without_any_requirement_is_refused() -> None:
    with decided(table(people(1)), {}, [ps.KAnonymity(2)]) as decision:
        answers = {"looks": "nobody", "hidden": "5"}
        assert ask(decision, "guide", action="try", answers=answers)["gone"] == ["k_anonymity(k=2)"]
        with pytest.raises(UsageError, match="there would be no requirements"):
            ask(decision, "guide", action="take", answers=answers, version=1)


def test_questions_that_a_table_cannot_be_asked_say_why_and_count_for_nothing() -> None:
    with decided(table(people(1), sensitive=None), {}, [ps.KAnonymity(2)]) as decision:
        questions = ask(decision, "guide")["questions"]
        assert [one["name"] for one in questions if not one["not_here"]] == ["looks", "hidden"]
        told = ask(decision, "guide", action="try", answers=ALL)
        assert [one["requirement"] for one in told["requirements"]] == ["k_anonymity(k=5)"]


def test_other_releases_are_asked_about_where_the_register_has_some(folder: Path) -> None:
    assert call("run", "--project", folder).exit == 0
    manifest = folder / "out" / "people.csv.manifest.json"
    assert call("register", "add", "earlier", manifest, "--project", folder).exit == 0
    with served(folder) as page:
        assert not page.ask("guide")["questions"][6]["not_here"]
        told = page.ask("guide", action="try", answers={**ALL, "held": "yes"})
        assert told["requirements"][-1]["requirement"].startswith("composition(with=")
        assert "other releases in the register" in told["adversary"]


@pytest.mark.parametrize(
    "question",
    [
        {"action": "dance"},
        {"action": "try"},
        {"action": "try", "answers": {"hidden": "1000000"}},
        {"action": "try", "answers": {"shoe": "42"}},
        {"action": "take", "answers": ALL},
        {"action": "take", "answers": ALL, "version": 7},
    ],
    ids=str,
)
def test_answers_that_are_none_are_refused(question: dict[str, Any]) -> None:
    with decided(table(people(2)), {}) as decision, pytest.raises(UsageError):
        ask(decision, "guide", **question)


def test_what_is_answered_stands_in_the_file_beside_everything_else(folder: Path) -> None:
    yml = folder / "privacy.yml"
    before = yml.read_text().replace("k_anonymity: {k: 10}", "k_anonymity: {k: 10}  # ten, by contract")
    yml.write_text(before)
    with served(folder) as page:
        page.ask("guide", action="take", answers={**ALL, "groups": "yes"}, version=1)
        levels = dict(page.decision.levels)
        required = ["k_anonymity(k=5)", "l_diversity(l=4, kind=recursive, c=3)", "ck_safety(c=1/2, k=2)"]
        assert [str(c) for c in page.decision.plan.require] == required
        # a limit that is moved afterwards keeps it
        told = page.ask("decide", action="limit", requirement="k_anonymity(k=5)", limit="6", version=2)
        assert len(told["summary"]["requirements"]) == 3
        page.ask("sign", action="save", version=3)
    (plan,) = read(folder).selected(())
    assert [str(c) for c in plan.require] == ["k_anonymity(k=6)", *required[1:]]
    assert plan.method is not None and plan.method.named_levels == levels
    after = yml.read_text()
    assert "# ten, by contract" in after and "t_closeness" not in after
    gone = set(before.splitlines()) - set(after.splitlines())
    assert {line.split(":")[0].strip() for line in gone} == {"k_anonymity", "t_closeness"}
