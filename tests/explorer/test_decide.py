"""Every number of the screen is one of `check`, `search --json` or `run`."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import api, registry
from privacy_sql.criteria import Criterion, make
from privacy_sql.explorer.decision import Decision
from privacy_sql.project import reading
from privacy_sql.reporting import recording
from privacy_sql.reporting.words import percent
from privacy_sql.verdict import holds
from tests import engines
from tests.command_line import call
from tests.explorer.deciding import ask, decided, people, table
from tests.explorer.served import Asker, served
from tests.seeds import OFTEN, seeds

REQUIRE = "k_anonymity: {k: 10}\n      ck_safety: {c: 0.6, k: 1}\n      t_closeness: {t: 0.4}"


def written(folder: Path, **parts: str) -> Path:
    """The example with other parts of its privacy.yml."""
    text = (folder / "privacy.yml").read_text()
    before, rest = text.split("    require:\n")
    method = rest[rest.index("    method:") :]
    method = parts.get("method", method[: method.index("    output:")])
    require = parts.get("require", REQUIRE)
    text = f"{before}    require:\n      {require}\n{method}    output: {{target: out/people.csv}}\n"
    (folder / "privacy.yml").write_text(text)
    return folder


WEIGHED = """
version: 1
name: p
releases:
  people:
    source: {file: people.csv}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [10, 20]}, importance: 3}
      - {column: zip, hierarchy: {mask: [2, 0]}}
    sensitive: {column: ill}
    require: {k_anonymity: {k: 3}}
    method: {%s}
    output: {target: out/people.csv}
"""


@pytest.mark.parametrize(
    "method",
    [
        "full_domain: {max_suppressed: 0.2}",
        "generalise: {levels: {age: 1, zip: 0}, max_suppressed: 0.9}",
    ],
)
def test_detail_is_one_number_in_search_explorer_and_report(tmp_path: Path, method: str) -> None:
    """Where a column counts more than others, and where people are left out."""
    draw = random.Random(7)
    rows = [
        f"{draw.randint(20, 79)},1{draw.randint(0, 2)}{draw.randint(0, 1)},{draw.choice('xyz')}"
        for _ in range(90)
    ]
    (tmp_path / "people.csv").write_text("age,zip,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "privacy.yml").write_text(WEIGHED % method)
    assert call("run", "--project", tmp_path).exit == 0
    run = json.loads((tmp_path / "target" / "records" / "people.json").read_text())["run"]
    loss, weights = run["usefulness"]["utilities"]["loss"], run["usefulness"]["importance"]
    assert run["suppressed"] > 0 and weights == {"age": "3"}
    (plan,) = reading.read(tmp_path).plans.values()
    levels = run["choice"]["levels"]
    with engines.lasting() as connect, Decision(plan, lambda _: connect()) as decision:
        shown = ask(decision, "decide", action="take", levels=levels, version=decision.version)
    assert shown["now"]["detail"] == pytest.approx(1 - loss, abs=1e-12)
    assert shown["summary"]["weighing"] == "age counts 3 times"
    if method.startswith("full_domain"):
        found = call("search", "--json", "--project", tmp_path).json
        assert found["best"]["levels"] == levels
        assert found["best"]["values"]["loss"] == pytest.approx(loss, abs=1e-12)
    assert call("report", "--project", tmp_path, "--audience", "internal").exit == 0
    page = next((tmp_path / "target").rglob("people.html")).read_text()
    assert (
        f"{percent(1 - loss)} of the detail is kept, on average over 2 columns (age counts 3 times)" in page
    )
    assert "of 2 quasi-identifiers; age counts 3 times" in page


NO_ONE_LEFT_OUT = "    method: {full_domain: {minimise: loss}}\n"


@pytest.fixture
def whole(folder: Path) -> Iterator[Asker]:
    """A project that leaves nobody out and looks for its levels."""
    with served(written(folder, method=NO_ONE_LEFT_OUT)) as asker:
        yield asker


def published(folder: Path, levels: dict[str, int], allowed: str = "0") -> Any:
    """The choice as `run` would publish it."""
    (plan,) = reading.read(folder).plans.values()
    with engines.opened() as engine:
        return api.publish(engine, plan.table, plan.require, ps.Generalise(levels, max_suppressed=allowed))


def same(told: dict[str, Any], release: Any) -> None:
    """What the page is told of a choice is what the release says."""
    assert told["safe"] == release.safe
    assert told["suppressed"] == release.suppressed or not release.safe
    for name, verdict in release.verdicts.items():
        value = told["values"][name]
        assert value["safe"] == verdict.safe
        assert (
            value["exact"] == verdict.to_json()["value"]
            and value["float"] == verdict.to_json()["value_float"]
        )


def test_every_step_is_tagged_as_run_would_judge_it(page: Asker, project: Path) -> None:
    shown = page.ask("decide")
    draw = random.Random(3)
    steps = [choice for column in shown["steps"].values() for choice in column]
    for choice in draw.sample(steps, 6):
        same(choice, published(project, choice["levels"], "0.01"))
    same(shown["now"], published(project, shown["summary"]["levels"], "0.01"))


def test_all_choices_are_those_of_the_search(whole: Asker, folder: Path) -> None:
    found = call("search", "--json", "--project", folder).json
    job = whole.work("decide")
    choices = job["parts"]
    assert job["state"] == "done" and job["answer"]["told"] == len(choices) == found["choices"]
    safe = [choice for choice in choices if choice["safe"]]
    assert len(safe) == found["safe_choices"]
    assert whole.ask("decide")["summary"]["levels"] == found["best"]["levels"]
    told = {tuple(choice["levels"].values()): choice for choice in choices}
    for minimal in [*found["minimal"], found["best"]]:
        choice = told[tuple(minimal["levels"].values())]
        assert choice["safe"]
        assert choice["detail"] == pytest.approx(1 - minimal["values"]["loss"])
        for name, risk in minimal["risks"].items():
            assert choice["values"][name]["float"] == risk


def test_the_table_as_it_stands_is_what_check_says(whole: Asker, folder: Path) -> None:
    checked = call("check", "--json", "--project", folder).json
    columns = whole.ask("decide")["summary"]["levels"]
    whole.ask("decide", action="take", levels=dict.fromkeys(columns, 0), version=1)
    now = whole.ask("decide")["now"]
    assert now["safe"] is checked["safe"] is False
    for verdict in checked["verdicts"]:
        told = now["values"][verdict["requirement"]]
        assert (told["exact"], told["float"], told["limit"]) == (
            verdict["value"],
            verdict["value_float"],
            verdict["limit"],
        )


def test_the_story_is_that_of_the_run_and_names_no_value_unless_it_is_asked_to(
    page: Asker, project: Path
) -> None:
    release = published(project, page.ask("decide")["summary"]["levels"], "0.01")
    told = page.ask("decide", action="story")
    for verdict in told["verdicts"]:
        assert verdict["story"] == release.verdicts[verdict["requirement"]].story
        assert "sex" not in verdict["group"]["labels"]  # it is published as it is
    shown = page.ask("decide", action="story", values=True)
    assert all(verdict["group"]["labels"]["sex"] in "FM" for verdict in shown["verdicts"])
    for column in told["columns"]:  # the bars stand for everybody in the source, and who is published
        assert sum(bar["people"] for bar in column["before"]) == release.counts["rows_in"]
        assert sum(bar["people"] for bar in column["after"]) == release.counts["rows_out"]
        assert all(bar["label"] is None for bar in column["after"] if not column["level"])


@pytest.mark.parametrize("allowed", ["0", "0.3"])
def test_a_reader_sees_the_shape_of_the_report_and_as_many_people_alike_as_the_release_has(
    allowed: str,
) -> None:
    """Fewest and half are counted anew from the rows of the release; the shape is what the report records."""
    told = 0
    for seed, (age, job) in product(seeds(10, OFTEN), product(range(3), range(3))):
        with decided(table(people(seed)), {"age": age, "job": job}, (ps.KAnonymity(2),), allowed) as it:
            reader = ask(it, "decide", action="story")["reader"]
            assert ask(it, "decide", action="story", values=True)["reader"] == reader, "never real rows"
            release = it.release()
            recorded = recording.recorded(release)["columns"]
            shape = {one["name"]: one["invented"] for one in recorded if one["shown"]}
            assert reader["shape"]["header"] == list(shape)
            assert [list(row) for row in zip(*reader["shape"]["rows"], strict=True)] == list(shape.values())
            if release.safe:
                frame = release.to_pandas()[["age", "job"]].astype(str)
                rows = [tuple(row) for row in frame.itertuples(index=False)]
            elif (age, job, allowed) == (0, 0, "0"):
                rows = [row[1:3] for row in people(seed)]
            else:
                continue  # its rows cannot be had
            sizes = sorted((n for n in Counter(rows).values() for _ in range(n)), reverse=True)
            told += 1
            assert reader["fewest"] == min(sizes, default=0)
            # the largest size that at least half of the people have around them
            assert reader["half"] == (sizes[-(-len(sizes) // 2) - 1] if sizes else 0)
    assert told > 4


def test_the_best_guess_is_the_worst_case_of_the_facts_that_are_required(whole: Asker, folder: Path) -> None:
    now = whole.ask("decide")["now"]
    release = published(folder, now["levels"])
    assert now["guess"] == float(release.verdicts["ck_safety(c=0.6, k=1)"].value)
    (plan,) = reading.read(folder).plans.values()
    with engines.opened() as engine:
        release = api.publish(engine, plan.table, plan.require, ps.Generalise(now["levels"]))
        assert now["guess"] == float(ps.disclosure_curve(engine, release, 1)[1])


def test_a_limit_that_moves_keeps_every_value_and_the_new_verdicts_are_those_of_the_search(
    whole: Asker, folder: Path
) -> None:
    before = whole.work("decide")["parts"]
    basis = whole.ask("decide")["summary"]["basis"]
    told = whole.ask("decide", action="limit", requirement="k_anonymity(k=10)", limit="40", version=1)
    assert told["summary"]["basis"] == basis, "the page may keep what it knows"
    after = whole.work("decide")["parts"]
    for one, other in zip(before, after, strict=True):
        for (old, value), (new, again) in zip(one["values"].items(), other["values"].items(), strict=True):
            assert old.partition("(")[0] == new.partition("(")[0]
            assert (value["exact"], value["float"]) == (again["exact"], again["float"])
            exact = None if again["exact"] is None else Fraction(again["exact"])
            assert again["safe"] == holds(exact, again["relation"], Fraction(again["limit"]))
    written(folder, method=NO_ONE_LEFT_OUT, require=REQUIRE.replace("k: 10", "k: 40"))
    found = call("search", "--json", "--project", folder).json
    assert sum(choice["safe"] for choice in after) == found["safe_choices"]


IN_NUMBERS = {"interval_disclosure": "123"}  # near values need an order


def _leaves(params: Any, places: Any) -> set[Any]:
    """What stands at the places of the parameters."""
    found = set()
    for place in places:
        value = params
        for part in place:
            value = value[part]
        found.add(value)
    return found


@pytest.mark.parametrize("name", registry.available("criteria"))
def test_a_slider_is_a_parameter_that_changes_the_limit_and_no_value(name: str) -> None:
    """On random tables; the page compares kept values with the limit that is being moved."""
    import pandas as pd

    examples = {
        "k_anonymity": [{"k": n} for n in ("2", "3", "9")],
        "ck_safety": [{"k": "1", "c": c} for c in ("0.3", "0.7", "1")],
        "t_closeness": [{"t": t} for t in ("0.1", "0.5", "0.9")],
        "l_diversity": [{"l": n} for n in ("2", "3")],
        "beta_likeness": [{"beta": n} for n in ("0.1", "1", "3")],
        "delta_disclosure": [{"delta": n} for n in ("0.1", "0.7", "2")],
        "interval_disclosure": [{"width": "1", "share": n} for n in ("0.2", "0.5", "0.9")],
        "reidentification_risk": [{"at_most": n} for n in ("0.1", "0.5", "0.9")],
        "privacy_skyline": [
            {"points": [[1, 0, 1, c], [0, 1, 1, c], [1, 1, 0, c]]} for c in ("0.4", "0.7", "1")
        ],
        "household_k_anonymity": [{"k": n} for n in ("2", "3")],
        "k_link": [{"k": n} for n in ("2", "3")],
        "k_combinatorial": [{"k": n} for n in ("2", "3")],
    }
    elsewhere = ("k_map", "composition")  # they need a second table; k and max_exposed are compared as here
    kind = registry.get("criteria", name)
    if name not in examples:
        assert kind.slider is Criterion.slider or name in elsewhere, "say above what it is tried with"
        return
    more = {"household": "home"} if name == "household_k_anonymity" else {}
    draw = random.Random(name)
    first = make(name, examples[name][0])
    with engines.opened() as engine:
        for _ in seeds(20):
            rows = pd.DataFrame(
                {
                    "age": [str(draw.randrange(3)) for _ in range(12)],
                    "ill": [draw.choice(IN_NUMBERS.get(name, "abc")) for _ in range(12)],
                    "home": [str(draw.randrange(4)) for _ in range(12)],
                }
            )
            people = ps.count(
                engine, ps.Table(rows if more else rows.drop(columns="home"), ["age"], "ill", **more)
            )
            values = set()
            for params in examples[name]:
                asked = make(name, params)
                assert asked.slider is not None and asked.slider_places
                limit = str(next(iter(_leaves(params, asked.slider_places))))
                # the page moves the limit of the first one to this
                assert str(make(name, first.altered(first.slider_places, limit))) == str(asked)
                (verdict,) = ps.check(engine, people, [asked]).values()
                assert verdict.limit == asked.limit == Fraction(limit)
                assert verdict.safe == holds(verdict.value, asked.relation, verdict.limit)
                values.add(verdict.value)
            assert len(values) == 1


def test_undo_leads_back_step_by_step_and_not_further(whole: Asker) -> None:
    first = whole.ask("decide")["summary"]
    version = first["version"]
    for level in (1, 2, 3):
        version = whole.ask("decide", action="take", levels={"age": level}, version=version)["summary"][
            "version"
        ]
    whole.ask("decide", action="limit", requirement="k_anonymity(k=10)", limit="20", version=version)
    for levels in (3, 2, 1, first["levels"]["age"]):
        version = whole.ask("decide")["summary"]["version"]
        summary = whole.ask("decide", action="undo", version=version)["summary"]
        assert summary["levels"]["age"] == levels
    assert not summary["can_undo"] and not summary["unsaved"]
    told = whole.tell("/api/decide", {"action": "undo", "version": summary["version"]})
    assert told["error"]["code"] == "nothing_to_undo"


def test_a_change_on_top_of_one_that_was_not_seen_is_refused(whole: Asker) -> None:
    whole.ask("decide", action="take", levels={"age": 1}, version=1)
    told = whole.tell("/api/decide", {"action": "take", "levels": {"age": 2}, "version": 1})
    assert told["error"]["code"] == "changed_meanwhile" and told["version"] == 2
    assert whole.ask("decide")["summary"]["levels"]["age"] == 1


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"action": "take", "levels": {"age": 99}}, "no_level"),
        ({"action": "take", "levels": {"agee": 1}}, "unknown_column"),
        ({"action": "take", "levels": {"age": True}}, "bad_question"),
        ({"action": "limit", "requirement": "k_anonymity(k=10)", "limit": "many"}, None),
        ({"action": "limit", "requirement": "k_anonymity(k=10)", "limit": "1"}, None),
        ({"action": "limit", "requirement": "k_anonymity(k=11)", "limit": "5"}, "unknown_requirement"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_refused_and_changes_nothing(
    page: Asker, question: dict[str, Any], code: str | None
) -> None:
    before = page.ask("decide")
    told = page.tell("/api/decide", {**question, "version": before["summary"]["version"]})
    assert code is None or told["error"]["code"] == code
    assert "error" in told and page.ask("decide") == before


def test_a_long_question_can_be_stopped_and_its_parts_are_kept(page: Asker) -> None:
    job = page.tell("/api/jobs", {"screen": "decide"})
    _, _, text = page.request("DELETE", f"/api/jobs/{job['id']}", "{}")
    while json.loads(text)["state"] == "running":
        _, _, text = page.request("POST", f"/api/jobs/{job['id']}", "{}")
    assert json.loads(text)["state"] in ("cancelled", "done")
    assert page.ask("decide")["now"]["safe"]


def test_all_choices_of_a_search_with_suppression_are_those_it_publishes(page: Asker, project: Path) -> None:
    choices = page.work("decide")["parts"]
    heights = [len(column["steps"]) for column in page.ask("decide")["summary"]["columns"]]
    assert {tuple(c["levels"].values()) for c in choices} == set(product(*map(range, heights)))
    draw = random.Random(5)
    for choice in draw.sample(choices, 6):
        release = published(project, choice["levels"], "0.01")
        assert choice["safe"] == release.safe
        if release.safe:
            same(choice, release)


def test_of_very_many_choices_those_are_told_that_a_search_asks_about(
    whole: Asker, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privacy_sql.explorer.screens.decide.MOST_PLACED", 100)
    found = call("search", "--json", "--project", folder).json
    job = whole.work("decide")
    told = {tuple(choice["levels"].values()): choice for choice in job["parts"]}
    assert job["answer"]["choices"] == found["choices"] > job["answer"]["told"] == len(told)
    for minimal in found["minimal"]:
        assert told[tuple(minimal["levels"].values())]["safe"]


@pytest.mark.widens(2)
@pytest.mark.parametrize("allowed", ["0", "0.05"])
def test_several_sensitive_columns_are_decided_on_every_screen_as_run_decides_them(
    folder: Path, allowed: str
) -> None:
    """Each counts as known beside the others, and is no column that somebody decides a level of."""
    text = written(folder, require="k_anonymity: {k: 2}\n      ck_safety: {c: 0.999, k: 0}")
    place = text / "privacy.yml"
    content = place.read_text()
    before = content[: content.index("      - {column: education")]
    rest = content[content.index("    require:") :]
    rest = rest[: rest.index("    method:")]
    place.write_text(
        # without the last column there are a quarter of the choices to decide
        f"{before}    sensitive: [diagnosis, hours_per_week]\n{rest}"
        f"    drop: rest\n    method: {{full_domain: {{max_suppressed: {allowed}}}}}\n"
        "    output: {target: out/people.csv}\n"
    )
    (plan,) = reading.read(folder).plans.values()
    with served(folder) as asker:
        for screen in registry.available("explorer.screens"):
            asker.ask(screen)
        shown = asker.ask("decide")
        named = [column["name"] for column in shown["summary"]["columns"]]
        assert named == list(plan.table.quasi) == list(shown["steps"]) == list(shown["summary"]["levels"])
        assert [one["column"] for one in asker.ask("usefulness")["columns"]] == named
        choices = asker.work("decide")["parts"]
        assert all(list(choice["levels"]) == named for choice in choices)
        draw = random.Random(5)
        safe = [choice for choice in choices if choice["safe"]]
        for choice in [*draw.sample(choices, 2), *draw.sample(safe, min(2, len(safe)))]:
            same(choice, published(folder, choice["levels"], allowed))


EVERY_LIMIT = (
    (ps.KAnonymity(2), "3"),
    (ps.LDiversity(2), "3"),
    (ps.TCloseness("0.4"), "0.2"),
    (ps.CKSafety("0.9", 1), "0.5"),
    (ps.PrivacySkyline([[1, 0, 1, "0.9"], [0, 1, 1, "0.9"]]), "0.6"),
    (make("beta_likeness", {"beta": "1"}), "0.3"),
    (make("delta_disclosure", {"delta": "1"}), "0.5"),
    (make("reidentification_risk", {"at_most": "0.5"}), "0.3"),
)


def test_whichever_limit_moves_every_choice_keeps_its_values_and_is_judged_by_the_new_one() -> None:
    whole = [row for row in people(5, most=14) if None not in row]
    with decided(table(whole), {"age": 1, "job": 1}, [asked for asked, _ in EVERY_LIMIT]) as it:
        choices = list(it.counted.search.within.choices())
        for number, (asked, limit) in enumerate(EVERY_LIMIT):
            before = [it.counted.judged(it.counted.search.part.choice(place)) for place in choices]
            basis, was = it.basis, str(asked)
            told = ask(it, "decide", action="limit", requirement=was, limit=limit, version=it.version)
            assert told["summary"]["basis"] == basis == it.basis
            now = str(it.plan.require[number])
            assert now != was and it.plan.require[number].limit == Fraction(limit)
            for place, old in zip(choices, before, strict=True):
                new = it.counted.judged(it.counted.search.part.choice(place))
                first, again = old.verdicts[was], new.verdicts[now]
                assert first is not None and again is not None and first.value == again.value, was
                assert again.safe == holds(first.value, again.relation, Fraction(limit)), was
                kept = {name: verdict for name, verdict in old.verdicts.items() if name != was}
                assert all(new.verdicts[name].value == verdict.value for name, verdict in kept.items())


def test_another_number_of_a_requirement_is_asked_about_anew_and_stands_in_the_file(whole: Asker) -> None:
    basis = whole.ask("decide")["summary"]["basis"]
    told = whole.ask(
        "decide", action="limit", requirement="ck_safety(c=0.6, k=1)", parameter="k", limit="2", version=1
    )
    assert told["summary"]["basis"] != basis
    assert [one["requirement"] for one in told["summary"]["requirements"]][1] == "ck_safety(c=0.6, k=2)"
    assert "+      ck_safety: {c: 0.6, k: 2}" in whole.ask("sign")["difference"]
    for asked, parameter in (("ck_safety(c=0.6, k=2)", "per_value"), ("k_anonymity(k=10)", "k")):
        question = {"requirement": asked, "parameter": parameter, "limit": "2", "version": 2}
        refused = whole.tell("/api/decide", {"action": "limit", **question})
        assert refused["error"]["code"] == "no_limit", refused


def test_a_limit_of_several_points_moves_them_all_and_keeps_how_they_are_written(folder: Path) -> None:
    points = "privacy_skyline: {points: [[1, 0, 1, 0.9],  [0, 1, 1, 0.90]]}  # agreed"
    with served(written(folder, method=NO_ONE_LEFT_OUT, require=points)) as asker:
        (asked,) = asker.ask("decide")["summary"]["requirements"]
        assert asked["slider"]["limit"] == "9/10"
        asker.ask("decide", action="limit", requirement=asked["requirement"], limit="0.8", version=1)
        (line,) = [one for one in asker.ask("sign")["difference"] if one.startswith("+      privacy_skyline")]
        assert line.endswith("# agreed") and line.count("0.8") == 2 and "0.9" not in line
