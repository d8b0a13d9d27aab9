"""The verb `search`: what it prints, its JSON, its exit codes."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import main, run
from privacy_sql.errors import Undecided
from privacy_sql.project.example import write as write_example
from tests import engines


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    write_example(folder)
    return folder


def edited(example, tmp_path, *changes):
    """The example project with changed requirements."""
    shutil.copytree(example, tmp_path / "p")
    path = Path(tmp_path / "p" / "privacy.yml")
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return tmp_path / "p"


def test_search_lists_minimal_choices_and_the_best_one(example):
    outcome = run(["search", "--project", str(example)])
    assert outcome.exit == 0
    assert outcome.lines[0].startswith("people    216 of 576 combinations are safe (")
    _, best, others = outcome.lines[0].splitlines()
    assert best.startswith("best        ") and "optimal" in best  # before all others
    n = len(outcome.more["minimal"]) - 1
    assert n > 3 and others.startswith(f"others      {n} more ") and "search --minimal" in others
    listed = run(["search", "--project", str(example), "--minimal"]).lines
    assert sum(line.startswith("minimal     ") for line in listed) == n + 1


def test_the_json_of_search_has_the_promised_fields(example, capsys):
    with pytest.raises(SystemExit) as left:
        main(["search", "--project", str(example), "--json", "--minimise", "height"])
    told = json.loads(capsys.readouterr().out)
    assert left.value.code == 0 and told["verb"] == "search" and told["safe"] is True
    assert told["choices"] == 576 and told["safe_choices"] > 0 and told["optimal"] is True
    assert told["explored"] < told["choices"]
    best = told["best"]["levels"]
    assert set(best) == {"age", "sex", "zip", "marital_status", "education"}
    assert any(choice["levels"] == best for choice in told["minimal"])
    least = min(sum(choice["levels"].values()) for choice in told["minimal"])
    assert sum(best.values()) == told["best"]["values"]["height"] == least


def test_levels_are_told_in_words_and_kept_as_numbers_in_json(example):
    """A person reads bands of ten, a program level 2; on the frontier, in a dry run and in SQL too."""
    found = run(["search", "--project", str(example), "--frontier"])
    text = "\n".join(found.lines)
    best = next(line for line in text.splitlines() if line.startswith("best"))
    assert "age in bands of 10 · sex exact · zip first 3 characters" in best
    frontier = text[text.index("frontier") :]
    assert frontier.count("age ") == len(found.more["frontier"]) and "age=" not in text
    assert found.more["best"]["levels"]["age"] == 2
    dry = "\n".join(run(["run", "--dry-run", "--project", str(example)]).lines)
    assert "method      generalise: age in bands of 10 · sex exact" in dry and "{" not in dry
    (sql,) = run(["compile", "--project", str(example)]).lines
    assert sql.splitlines()[1].startswith("-- age in bands of 10 · sex exact")


def test_the_frontier_is_shown_on_request(example):
    lines = run(["search", "--project", str(example), "--frontier"]).lines
    assert any(line.startswith("frontier") for line in lines)


def test_a_time_limit_that_is_too_short_is_exit_5(example):
    outcome = run(["search", "--project", str(example), "--time-limit", "0.000001"])
    assert outcome.exit == 5 and outcome.errors[0]["code"] == "undecided"


def test_a_requirement_nothing_can_meet_is_exit_5(example, tmp_path):
    project = edited(example, tmp_path, ("k_anonymity: {k: 10}", "k_anonymity: {k: 20001}"))
    outcome = run(["search", "--project", str(project)])
    assert outcome.exit == 5
    assert "k_anonymity(k=20001) is 20000 and must be >= 20001" in outcome.errors[0]["message"]


def test_an_unknown_utility_is_exit_2_with_the_nearest_name(example):
    outcome = run(["search", "--project", str(example), "--minimise", "discernability"])
    assert outcome.exit == 2 and 'Did you mean "discernibility"' in outcome.errors[0]["hint"]


def test_run_publishes_what_full_domain_finds(example, tmp_path):
    start = example.joinpath("privacy.yml").read_text().index("      generalise:")
    text = example.joinpath("privacy.yml").read_text()
    end = text.index("    output:")
    project = edited(
        example, tmp_path, (text[start:end], "      full_domain: {minimise: loss, max_suppressed: 0.01}\n")
    )
    outcome = run(["run", "--project", str(project)])
    assert outcome.exit == 0, outcome.errors
    (release,) = outcome.more["releases"]
    assert release["rows_in"] == release["rows_out"] + release["suppressed"]
    assert release["suppressed"] <= 0.01 * release["rows_in"]
    manifest = json.loads((project / release["manifest"]).read_text())
    assert manifest["method"] == "full_domain" and manifest["search"]["optimal"] is True


def test_a_table_without_rows_is_exit_3_and_so_is_a_condition_that_keeps_none(example, tmp_path):
    folder = edited(
        example, tmp_path, ("{file: data/people.csv}", "{file: data/people.csv, where: age > 999}")
    )
    for verb in ("search", "check", "run"):
        outcome = run([verb, "--project", str(folder)])
        (error,) = outcome.errors
        assert (outcome.exit, error["code"]) == (3, "empty_table")
        assert error["message"] == "`where:` keeps no row of people"
    header = (folder / "data" / "people.csv").read_text().splitlines()[0]
    (folder / "data" / "people.csv").write_text(header + "\n")
    (folder / "privacy.yml").write_text(
        (folder / "privacy.yml").read_text().replace(", where: age > 999", "")
    )
    outcome = run(["search", "--project", str(folder)])
    assert (outcome.exit, outcome.errors[0]["message"]) == (3, "people has no rows")


def test_the_best_choice_stands_on_the_frontier_however_few_are_shown(example, monkeypatch):
    from privacy_sql.lattice import search

    monkeypatch.setattr(search, "MOST_PLACED", 1)
    told = run(["search", "--project", str(example), "--frontier"])
    levels = [point["levels"] for point in told.more["frontier"]]
    assert levels == [told.more["best"]["levels"]]


def test_a_whole_number_is_shown_whole(example, tmp_path):
    project = edited(example, tmp_path, ("{k: 10}", "{k: 99999}"))
    (problem,) = run(["search", "--project", str(project)]).errors
    assert "is 20000 and must be >= 99999" in problem["message"]


def test_a_level_that_is_not_there_is_named_with_its_release(example, tmp_path):
    project = edited(example, tmp_path, ("age: 2", "age: 9"))
    outcome = run(["run", "--project", str(project), "--dry-run"])
    (problem,) = outcome.errors
    assert (outcome.exit, problem["code"], problem["where"]) == (2, "no_level", "people")
    assert problem["message"] == "levels: age has the levels 0 to 5, so there is no level 9"
    assert problem["hint"].startswith("Level 0 is exact, 1 is bands of 5, 2 is bands of 10,")


def test_search_and_run_agree_and_the_first_line_says_what_differs(example, tmp_path):
    """The best choice of a search is what full_domain publishes, with what may be left out."""
    start = example.joinpath("privacy.yml").read_text().index("      generalise:")
    text = example.joinpath("privacy.yml").read_text()
    own = text[start : text.index("    output:")]
    found = run(["search", "--project", str(example), "--goal", "best"])
    assert "`run` publishes the levels of privacy.yml" in found.lines[0]
    project = edited(example, tmp_path, (own, "      full_domain: {minimise: loss, max_suppressed: 0.01}\n"))
    same = run(["search", "--project", str(project), "--goal", "best"])
    assert same.lines[0].splitlines()[0].endswith("measured") and same.more["safe_choices"] is None
    assert same.more["searches"][0]["differs"] == []
    published = run(["run", "--project", str(project)])
    manifest = json.loads((project / published.more["releases"][0]["manifest"]).read_text())
    assert manifest["choice"]["levels"] == same.more["best"]["levels"] == found.more["best"]["levels"]
    other = run(["search", "--project", str(project), "--goal", "best", "--max-suppressed", "0"])
    assert other.lines[0].splitlines()[0].endswith("`run` leaves out at most 1.0 % of the rows")
    assert other.more["best"]["levels"] != same.more["best"]["levels"]
    (project / "privacy.yml").write_text(
        (project / "privacy.yml").read_text().replace("full_domain: {minimise: loss,", "multidimensional: {")
    )
    boxes = run(["search", "--project", str(project), "--goal", "best"])
    assert "`run` uses multidimensional" in boxes.lines[0]
    assert boxes.more["best"]["levels"] == same.more["best"]["levels"]


@pytest.mark.parametrize("target", ["data/people.csv/out.csv", "/dev/null/out.csv", "/proc/out.csv"])
def test_a_dry_run_finds_a_target_that_cannot_be_written(example, tmp_path, target):
    project = edited(example, tmp_path, ("out/people.csv", target))
    before = sorted(project.rglob("*"))
    tried = run(["run", "--dry-run", "--project", str(project)])
    assert tried.exit == 4 and "cannot write" in tried.errors[0]["message"], tried.lines
    assert sorted(project.rglob("*")) == before


def as_it_is(example, tmp_path, entry):
    """The example with `hours_per_week` published unchanged."""
    listed = "drop: [survey_weight, hours_per_week]"
    return edited(example, tmp_path, (listed, f"drop: [survey_weight]\n    insensitive: {entry}"))


def test_the_best_choice_is_asked_about_insensitive_columns_as_run_asks(example, tmp_path):
    """`run` refuses these levels, so `search` does not call them safe."""
    folder = as_it_is(example, tmp_path, "[hours_per_week]")
    found = run(["search", "--project", str(folder)])
    assert found.exit == 1 and found.safe is False
    levels = json.dumps(found.more["best"]["levels"]).replace('"', "")
    text = (folder / "privacy.yml").read_text()
    (folder / "privacy.yml").write_text(re.sub(r"levels: \{.*\}", f"levels: {levels}", text))
    published = run(["run", "--project", str(folder), "--dry-run"])
    (release,) = published.more["releases"]
    assert published.exit == 1 and found.errors == release["errors"] == [found.more["refusal"]]
    assert found.more["baseline"] == release["baseline"]
    told = found.lines[0]
    assert "combinations meet every requirement (" in told and "safe (" not in told
    assert "NOT SAFE    somebody who also knows hours_per_week finds" in told
    assert (
        "note        no other combination was checked against somebody who also knows hours_per_week" in told
    )
    points = {tuple(p["levels"].values()): p["safe"] for p in found.more["frontier"]}
    assert points[tuple(found.more["best"]["levels"].values())] is False and any(points.values())
    shown = run(["search", "--project", str(folder), "--frontier"]).lines
    words = {line.split()[1] for line in shown if re.match(r"  [\d.]+ ", line)}
    assert "holds" in words and "safe" not in words


@pytest.mark.parametrize(("decided", "exits"), [("known: true", (0, 1)), ("acknowledge: wanted", (0, 0))])
def test_decided_insensitive_columns_are_not_asked_about_again(example, tmp_path, decided, exits):
    """Known ones are judged by every requirement, at every choice."""
    folder = as_it_is(example, tmp_path, f"{{columns: [hours_per_week], {decided}}}")
    found = run(["search", "--project", str(folder), "--goal", "best"])
    assert (found.exit, run(["run", "--project", str(folder), "--dry-run"]).exit) == exits
    assert found.more.get("refusal") is None and "knowing hours_per_week" not in "".join(found.lines)


def test_insensitive_columns_that_single_nobody_out_are_told_and_not_refused():
    rows = pd.DataFrame({"age": ["30", "31", "41", "44"] * 2, "team": ["a"] * 8, "ill": [*"fgfg"] * 2})
    with engines.opened() as engine:
        table = ps.Table(rows, {"age": ps.Intervals(2, 10)}, "ill", insensitive=["team"])
        found = ps.search(engine, table, [ps.KAnonymity(4)])
        assert found.to_frame().query("best").safe.all()
        assert found.refusal is None and found.baseline["known"]["all"]["smallest"] == 4
        assert "baseline    knowing team too: 0 people alone, 0 in groups below 4" in str(found)
        assert ps.publish(engine, table, [ps.KAnonymity(4)], ps.Generalise(found.best["levels"])).safe


@pytest.mark.parametrize("seconds", [None, 60])
def test_a_search_says_where_there_was_no_time_to_ask_about_insensitive_columns(monkeypatch, seconds):
    def late(*_):
        raise Undecided("undecided", "the time limit passed")

    rows = pd.DataFrame({"age": ["30", "31"] * 2, "team": ["a"] * 4})
    if seconds is None:
        monkeypatch.setattr("privacy_sql.api.publish", late)
    else:  # the search took all of it
        clock = iter(range(0, 10**6, 1000))
        monkeypatch.setattr("privacy_sql.api.time", SimpleNamespace(monotonic=lambda: next(clock)))
    with engines.opened() as engine:
        table = ps.Table(rows, {"age": ps.Intervals(10)}, insensitive=["team"])
        found = ps.search(engine, table, [ps.KAnonymity(2)], ps.FullDomain(time_limit=seconds))
    assert found.refusal is None and found.baseline is None
    told = "no combination was checked against somebody who also knows team: the time limit passed"
    assert told in found.to_json()["notes"][0]


def test_a_release_that_run_refuses_at_any_levels_is_refused_by_search():
    """With several values per person, unchanged columns would show which rows are of one person."""
    rows = pd.DataFrame(
        {"who": [*"aabbcc"], "age": [*"111111"], "hours": [*"334455"], "ill": [*"fgfgfg"]}, dtype=object
    )
    named = {"identifier": "who", "values_per_person": "set", "insensitive": ["hours"]}
    with engines.opened() as engine:
        found = ps.search(engine, ps.Table(rows, ["age"], "ill", **named), [ps.KAnonymity(2)])
        assert not found.to_frame().query("best").safe.any()
        assert found.refusal.code == "several_values"
