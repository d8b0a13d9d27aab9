"""What a report holds, for whom, and what it keeps to itself."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.reporting import records as kept
from privacy_sql.reporting import sections
from privacy_sql.reporting.words import measured, number, percent
from tests import engines
from tests.command_line import call
from tests.conftest import ROOT
from tests.reporting import project
from tests.reporting.project import ILL, SECRET
from tests.reporting.project import release as planned

KILOBYTE = 1_000
OF_A_MANIFEST = {"glance", "readers", "published", "criteria", "worst_case", "provenance", "glossary"}


def drawn(page: Path) -> dict[str, list[list[str]]]:
    """The charts of a page by their keys: the table that stands behind each, a list of cells per row."""
    text = page.read_text(encoding="utf-8")
    charts = {}
    for figure in re.findall(r"<figure>.*?</figure>", text, re.DOTALL):
        key = re.search(r'data-chart="(\w+)"', figure)
        if key is not None:
            rows = re.findall(r"<tr>(<td.*?)</tr>", figure, re.DOTALL)
            charts[key[1]] = [
                [html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
                for row in rows
            ]
    return charts


def explored(page: Path) -> dict[str, Any]:
    """What the controls of a page work on."""
    found = re.search(r'id="report-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


def said(page: Path) -> str:
    """The text of a page without its scripts and styles."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


# -- one page ------------------------------------------------------------------------------------------------


def test_every_section_has_data_once_every_verb_ran(records: Path, tmp_path: Path) -> None:
    words = ["--json", "--project", records, "--select", "good", "-o", tmp_path]
    (one,) = call("report", "--audience", "internal", *words).json["reports"]
    assert one["sections"] == dict.fromkeys(sections.ORDER, True)
    (one,) = call("report", *words).json["reports"]
    assert (one["safe"], one["audience"]) == (True, "public")
    needs_more = {"options", "background", "divergence", "analyst", "kept", "groups"}  # than published rows
    needs_more |= {"risk"}  # exact counts, which a public report rounds
    assert {name for name, there in one["sections"].items() if not there} == needs_more


def test_a_section_without_data_says_in_a_line_how_to_get_it(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "o.html"
    words = ["--audience", "internal", "--project", folder, "-o", target]
    told = call("report", "--json", folder / "out" / "o.csv", *words)
    missing = [name for name, there in told.json["reports"][0]["sections"].items() if not there]
    assert missing == ["options", "groups", "background"]
    for verb in ("search --select other", "attack knowledge --select other", "curve --every-choice"):
        assert f"Run privacy-sql {verb}" in said(target)


def test_a_manifest_alone_is_enough_for_a_report(folder: Path, tmp_path: Path) -> None:
    for name in ("good.csv", "good.csv.manifest.json"):
        (tmp_path / name).write_bytes((folder / "out" / name).read_bytes())
    told = call("report", "--json", tmp_path / "good.csv.manifest.json", "--project", tmp_path)
    (one,) = told.json["reports"]
    assert Path(one["file"]) == tmp_path / "good.csv.report.html"
    there = {name for name, found in one["sections"].items() if found}
    assert there == OF_A_MANIFEST
    assert "ck_safety(c=0.99, k=2)" in said(tmp_path / "good.csv.report.html")


def test_the_page_shows_the_numbers_of_the_records(pages: Path, records: Path) -> None:
    found, charts = kept.read(records, "good"), drawn(pages / "good.html")
    run, best = found["run"], found["search"]["best"]
    assert [row[1] for row in charts["facts"]] == list(map(percent, run["curves"]["implications"]))
    assert [row[-1] for row in charts["errors"]] == [percent(e["error"]) for e in run["usefulness"]["errors"]]
    lost = [run["usefulness"]["utilities"]["kl"], best["values"]["kl"]]
    assert [row[1] for row in charts["divergence"]] == list(map(number, lost))
    shown = explored(pages / "good.html")["skyline"]["values"]
    assert [v["breach"] for v in shown] == [v["breach"] for v in run["skyline"]["values"]]


def test_a_page_is_below_three_hundred_kilobytes(pages: Path) -> None:
    sizes = {page.name: page.stat().st_size for page in pages.glob("*.html")}
    assert max(sizes.values()) < 300 * KILOBYTE and sizes["index.html"] < 50 * KILOBYTE


@pytest.mark.parametrize("name", ["good", "bad", "index", "amber", "named"])
def test_only_the_scripts_of_the_page_may_run_and_nothing_may_load(pages: Path, name: str) -> None:
    text = (pages / f"{name}.html").read_text(encoding="utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and "unsafe-eval" not in policy and "http" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert rules.get("script-src", "") == " ".join(f"'sha256-{digest}'" for digest in hashes)
    # a script only where there is a skyline to choose a value of; elsewhere the default forbids every one
    assert rules["default-src"] == "'none'" and ("script-src" in rules) == ('id="skyline-value"' in text)
    assert ("<script" in text) == ('id="skyline-value"' in text)
    assert not re.findall(r"<[^>]+ on\w+=", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))


@pytest.mark.parametrize("name", ["good", "public", "bad", "index", "amber"])
def test_no_value_of_a_row_and_no_promise_without_an_adversary(pages: Path, records: Path, name: str) -> None:
    text = (pages / f"{name}.html").read_text(encoding="utf-8")
    assert SECRET not in text
    assert not re.search(r"\banonymous\b|GDPR|compliant", said(pages / f"{name}.html"), re.IGNORECASE)
    for file in (records / "target" / "records").iterdir():
        assert SECRET not in file.read_text(encoding="utf-8")


def test_a_page_without_a_skyline_has_no_script_and_allows_none(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": ["1", "2"] * 10, "ill": list("aabb") * 5, "drug": list("pqpqq") * 4})
    for sensitive, scripts in ((["ill", "drug"], 0), ("ill", 1)):
        with engines.opened() as engine:
            table = ps.Table(frame, {"age": ps.KeepOrDrop()}, sensitive)
            release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1}))
            for audience in ("internal", "public"):
                text = ps.report(release, tmp_path / "page.html", audience=audience).read_text(
                    encoding="utf-8"
                )
                policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
                assert policy and text.count("<script>") == scripts
                assert ("script-src" in policy[1]) == bool(scripts)
                assert html.unescape(policy[1]).startswith("default-src 'none'; ")
                # it stands before everything that a browser could fetch or run
                assert text.index("Content-Security-Policy") < text.index("<title>") < text.index("<style>")


def test_every_criterion_asks_a_question_and_names_its_adversary() -> None:
    from privacy_sql import registry

    for name in registry.available("criteria"):
        kind = registry.get("criteria", name)
        assert kind.question.endswith("?") and kind.against.startswith("somebody who")
        for relation in (">=", "<="):
            unit = kind.unit_of({}, relation)
            assert unit in ("", "share") or measured(2, unit) == f"2 {unit}"


def test_the_worst_case_is_told_fact_by_fact(pages: Path, records: Path) -> None:
    verdict = kept.read(records, "good")["run"]["verdicts"][1]
    assert len(verdict["witness"]["certainty"]) == len(verdict["witness"]["knows"]) + 1
    assert verdict["witness"]["certainty"][-1] == verdict["value"]
    text = said(pages / "good.html")
    assert [f"Fact {n}." in text for n in (1, 2)] == [True, True] and "nobody is named" in text
    assert "Fact 1." not in said(pages / "public.html")
    # the value in question has the number that the skyline gives it
    place, many = verdict["value_number"]
    found = kept.read(records, "good")["run"]["skyline"]
    assert f"have the value in question (value {place} of {many})" in text and many == found["n_values"]
    named = next(value for value in found["values"] if value["label"] == f"value {place}")
    assert named["breach"][0][0][0] == max(value["breach"][0][0][0] for value in found["values"])


# -- for whom ------------------------------------------------------------------------------------------------


def test_an_unsafe_release_is_internal_and_has_no_public_report(folder: Path, tmp_path: Path) -> None:
    told = call("report", "--json", "--project", folder, "--select", "bad", "-o", tmp_path)
    (one,) = told.json["reports"]
    assert (told.exit, told.json["safe"], one["audience"]) == (0, False, "internal")
    text = said(tmp_path / "bad.html")
    assert "INTERNAL." in text and "Do not release" in text and "Nothing was published" in text
    assert "One change is enough: publish" in text and "every requirement then holds" in text
    rows = drawn(tmp_path / "bad.html")["facts"]
    shares = [[float(cell.removesuffix(" %")) for cell in row[1:]] for row in rows]
    assert all(better <= any_ for any_, _, better in shares) and shares[0][2] < shares[0][0]
    words = ["--audience", "public", "-o", tmp_path / "public"]
    told = call("report", "--json", "--project", folder, "--select", "bad", *words)
    assert (told.exit, told.codes) == (1, ["not_public"]) and not (tmp_path / "public").exists()


def small(engine: ps.Engine, **more: Any) -> ps.Release:
    """Groups of 3, 8 and 40 people, and two people who are left out."""
    sizes = {"a": 3, "b": 8, "c": 40}
    rows = [(group, "xy"[number % 2]) for group, n in sizes.items() for number in range(n)]
    table = ps.Table(pd.DataFrame([*rows, ("d", "x"), ("d", "x")], columns=["age", "ill"]), ["age"], "ill")
    return ps.publish(engine, table, [ps.LDiversity(2)], ps.Generalise(max_suppressed="0.1"), **more)


def test_a_public_page_shows_no_limit_as_the_value_of_what_rows_do_not_decide(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": ["1"] * 4 + ["2"] * 4, "ill": [*"xyxyxyxy"]})
    everybody = pd.DataFrame({"age": ["1"] * 9 + ["2"] * 8})
    require = [ps.KMap(5), ps.DeltaPresence(0, "0.6"), ps.KAnonymity(2)]
    with engines.opened() as engine:
        table = ps.Table(people, ["age"], "ill", population=everybody)
        release = ps.publish(engine, table, require, ps.Generalise())
        public = said(ps.report(release, tmp_path / "public.html", audience="public"))
        internal = said(ps.report(release, tmp_path / "internal.html", audience="internal"))
    assert "8 people" in internal and "within its limit" not in internal
    assert public.count("within its limit") == 2 and "unbounded" not in public
    # what is closest to its limit is looked for among what is told
    assert "Closest to its limit: k_anonymity(k=2) is" in public and "k_map(k=5) is" not in public


@pytest.mark.parametrize(
    ("values", "require", "weak"),
    [
        ("xxyy", [ps.KAnonymity(2)], ["more than 95 % sure of 4 people", "Nothing was required of ill"]),
        ("xyxy", [ps.KAnonymity(2)], ["Nothing was required of ill"]),
        ("xyxy", [ps.KAnonymity(2), ps.LDiversity(2)], []),
    ],
)
def test_limits_that_hold_and_promise_little_are_called_weak(
    tmp_path: Path, values: str, require: list[Any], weak: list[str]
) -> None:
    rows = pd.DataFrame({"age": ["1", "1", "2", "2"], "ill": list(values)})
    with engines.opened() as engine:
        release = ps.publish(engine, ps.Table(rows, ["age"], "ill"), require, ps.Generalise())
        page = ps.report(release, tmp_path / "weak.html", audience="internal")
    text = said(page)
    assert ("▲ Meets the limits that were set, and they are weak" in text) == bool(weak)
    assert ("✔ Can be signed, against somebody who knows age" in text) != bool(weak)
    assert all(told in text for told in weak)
    assert ('class="verdict weak"' in page.read_text(encoding="utf-8")) == bool(weak)
    # what was not looked at stands in one line at the top, and how to look at it at the end
    assert "Not asked: " in text and "Together with other releases" in text
    assert 'id="intersection"' not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("require", "against", "weak"),
    [
        (
            [ps.KnownColumns(m=1, k=2, share="1/2")],
            "somebody who knows any 1 quasi-identifier, but not against somebody who knows 2",
            False,
        ),
        ([ps.KnownColumns(m=1, k=2)], "", True),  # a class tells not whether it is about values
        (
            [ps.KnownColumns(sets=[{"columns": ["age"], "k": 2, "share": "1/2"}])],
            "somebody who knows the named columns, but not against somebody who knows other columns",
            False,
        ),
        ([ps.KnownColumns(m=2, k=2, share="1/2")], "somebody who knows both quasi-identifiers", False),
        (
            [ps.KnownColumns(m=1, k=2), ps.KAnonymity(2), ps.LDiversity(2)],
            "somebody who knows both quasi-identifiers",
            False,
        ),
    ],
)
def test_the_first_sentence_says_against_whom_a_few_known_columns_do_not_hold(
    tmp_path: Path, require: list[Any], against: str, weak: bool
) -> None:
    rows = [(a, b, s) for a in "12" for b in "12" for s in "xy"]
    frame = pd.DataFrame(rows, columns=["age", "sex", "ill"])
    with engines.opened() as engine:
        release = ps.publish(engine, ps.Table(frame, ["age", "sex"], "ill"), require, ps.Generalise())
        page = ps.report(release, tmp_path / "internal.html", audience="internal")
        public = ps.report(release, tmp_path / "public.html", audience="public")
    text = said(page)
    assert ("Nothing was required of ill" in text) is weak
    if not weak:
        assert f"✔ Can be signed, against {against} The requirement" in text or len(require) > 1
        assert f"✔ Can be signed, against {against}" in text
    partly = "but not against" in against or weak
    for told in (text, said(public)):
        assert ("The requirement holds, but not against somebody who knows" in told) is partly
    assert ("A neighbour not required" in text) is partly


def test_a_column_published_as_it_is_that_singles_people_out_makes_the_limits_weak(tmp_path: Path) -> None:
    rows = pd.DataFrame({"age": ["1"] * 4, "hours": ["8", "9", "9", "9"], "ill": list("xyxy")})
    table = ps.Table(
        rows, ["age"], "ill", insensitive={"columns": ["hours"], "acknowledge": "nobody knows them"}
    )
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(2), ps.LDiversity(2)], ps.Generalise())
        page = ps.report(release, tmp_path / "known.html", audience="internal")
    assert "Whoever also knows hours finds 1 person alone, and is certain of the ill of 1 person." in said(
        page
    )


def test_a_signature_covers_one_file(pages: Path, records: Path, tmp_path: Path) -> None:
    manifest = json.loads((records / "out" / "good.csv.manifest.json").read_text(encoding="utf-8"))
    checksum = manifest["output"]["sha256"]
    text = said(pages / "good.html")
    assert "Your decision" in text and "☐ Approve with conditions" in text
    covered = f"The signature covers good.csv, SHA-256 {checksum[:8]} … {checksum[-8:]}, and no other file."
    assert covered in said(_internal(records, tmp_path))
    assert "Your decision" not in said(pages / "public.html") + said(pages / "bad.html")


def test_the_box_for_the_signature_says_what_changed_since_the_release_before(tmp_path: Path) -> None:
    folder = project.write(tmp_path)
    page = folder / "target" / "report" / "other.html"

    def made() -> str:
        assert call("run", "--project", folder, "--select", "other", "--overwrite").exit == 0
        assert call("report", "--project", folder, "--select", "other", "--audience", "internal").exit == 0
        return said(page)

    assert "Since the release before" not in made()
    first = json.loads((folder / "out" / "o.csv.manifest.json").read_text(encoding="utf-8"))
    assert "same columns, levels, requirements and number of rows" in made()
    content = json.loads((folder / "privacy.yml").read_text(encoding="utf-8"))
    other = content["releases"]["other"]
    other["method"]["generalise"]["levels"]["zip"] = "2"
    other["require"] = {**other["require"], "k_anonymity": {"k": "6"}}
    (folder / "privacy.yml").write_text(json.dumps(content), encoding="utf-8")
    text = made()
    assert f"Since the release before: made {first['made'][:10]}" in text
    assert "required now: k_anonymity(k=6); no longer required: k_anonymity(k=5)." in text
    assert "zip" in text.partition("Since the release before:")[2].partition("required now")[0]
    public = folder / "public.html"
    assert call("report", folder / "out" / "o.csv", "--project", folder, "-o", public).exit == 0
    assert "Since the release before" not in said(public)


def test_a_release_before_in_other_files_is_found_in_the_register(tmp_path: Path) -> None:
    folder = project.write(tmp_path)
    config = folder / "privacy.yml"
    content = json.loads(config.read_text(encoding="utf-8"))
    page = folder / "target" / "report" / "other.html"

    def made(target: str, k: str) -> str:
        content["releases"]["other"]["output"]["target"] = target
        content["releases"]["other"]["require"]["k_anonymity"]["k"] = k
        config.write_text(json.dumps(content), encoding="utf-8")
        assert call("run", "--project", folder, "--select", "other").exit == 0
        assert call("report", "--project", folder, "--select", "other", "--audience", "internal").exit == 0
        return said(page)

    # nothing is registered, so another file is the first release that anybody knows of
    assert "Since the release before" not in made("out/first.csv", "5") + made("out/second.csv", "6")
    second = folder / "out" / "second.csv.manifest.json"
    assert call("register", "add", "other", second, "--project", folder).exit == 0
    text = made("out/third.csv", "7")
    checksum = json.loads(second.read_text(encoding="utf-8"))["output"]["sha256"]
    assert "Since the release before:" in text and f"SHA-256 {checksum[:8]}" in text
    assert "required now: k_anonymity(k=7); no longer required: k_anonymity(k=6)." in text


def test_worst_cases_are_named_on_one_internal_page_and_nowhere_else(folder: Path, tmp_path: Path) -> None:
    records = {path: path.read_bytes() for path in (folder / "target" / "records").iterdir()}
    page = tmp_path / "named.html"
    words = ["report", folder / "out" / "good.csv", "--project", folder, "-o", page]
    told = call(*words, "--show-values")
    assert told.exit == 0 and page.stat().st_mode & 0o777 == 0o600
    text = said(page)
    assert "INTERNAL, WITH VALUES OF PEOPLE" in text and "The worst cases, named" in text
    # the same group and value as a check names
    checked = call("check", folder / "out" / "good.csv.manifest.json", "--show-values", "--json").json
    for verdict in checked["verdicts"]:
        keys, value = verdict["witness"]["keys"], verdict["witness"].get("value")
        shown = text.partition("The worst cases, named")[2].partition(verdict["requirement"])[2]
        for name, label in keys.items():
            assert f"{name} {label}" in " ".join(shown.split()).replace(" ,", ",")
        assert value is None or f"The value in question: {value}" in shown
    assert SECRET in text and SECRET not in told.everything
    assert SECRET not in "".join(path.read_text() for path in (folder / "target" / "records").iterdir())
    assert records.keys() == {path for path in (folder / "target" / "records").iterdir()}
    # without the switch nothing is named
    page.unlink()
    assert call(*words, "--audience", "internal").exit == 0
    assert SECRET not in page.read_text(encoding="utf-8")
    page.unlink()
    refused = call(*words, "--json", "--show-values", "--audience", "public")
    assert (refused.exit, refused.codes) == (2, ["bad_argument"]) and not page.exists()
    told = call("report", "--show-values", "--select", "bad", "--project", folder, "-o", tmp_path / "b")
    assert told.exit == 2 and SECRET not in told.everything


def test_the_worst_facts_of_a_page_are_replayed_as_they_stand(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "named.html"
    words = ["report", folder / "out" / "good.csv", "--project", folder, "-o", page, "--json"]
    told = call(*words, "--show-values")
    assert told.exit == 0, told.everything
    (made,) = told.json["reports"]
    rows = {row[0]: row for row in project.people()}
    checked = call("check", folder / "out" / "good.csv.manifest.json", "--json").json["verdicts"]
    # facts of one kind, and the three kinds of a skyline
    about_facts = [verdict for verdict in checked if {"places", "amounts"} & {*verdict["witness"]}]
    assert len(made["facts"]) == len(about_facts) == 2
    text = said(page)
    named = text.partition("The worst cases, named")[2]
    assert all(name in rows for name in re.findall(rf"{SECRET}id\d+", named))
    for file, verdict in zip(made["facts"], about_facts, strict=True):
        assert Path(file).stat().st_mode & 0o777 == 0o600
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        assert lines[1] == f"# {verdict['requirement']}"
        facts = [line for line in lines if not line.startswith(("#", "guess:"))]
        witness = verdict["witness"]
        assert len(facts) == (witness["facts"] if "facts" in witness else sum(witness["amounts"].values()))
        again = call("facts", file, "--project", folder, "--select", "good", "--json")
        assert again.exit == 0, again.everything
        (answer,) = again.json["answers"]
        assert answer["exact"] and answer["value"] == verdict["value"]
        assert answer["witness"]["group"] == witness["group"]
        # the person in question has the value, so all of it is true of them
        person, value = lines[-1].removeprefix('guess: "').removesuffix('"').split('" is "')
        assert rows[person][4] == value
        assert f"The person in the story: {person} , {value}" in text.replace(f"{person},", f"{person} ,")
        assert SECRET not in told.everything + again.everything
    # one fact left out, and the probability is another one
    fewer = [line for line in lines if line != facts[0]]
    (tmp_path / "fewer.txt").write_text("\n".join(fewer), encoding="utf-8")
    less = call("facts", tmp_path / "fewer.txt", "--project", folder, "--select", "good", "--json").json
    assert less["answers"][0]["value"] != verdict["value"]
    # without the switch, and on a public page, nobody
    assert call(*words, "--audience", "internal").exit == 0
    assert SECRET not in page.read_text(encoding="utf-8")
    assert not [file for file in made["facts"] if Path(file).exists()]


def test_nobody_is_named_when_the_source_has_changed(folder: Path, tmp_path: Path) -> None:
    source = folder / "people.csv"
    source.write_text("".join(source.read_text(encoding="utf-8").splitlines(keepends=True)[:200]))
    page = tmp_path / "named.html"
    words = ["report", folder / "out" / "good.csv", "--project", folder, "-o", page, "--json"]
    told = call(*words, "--show-values")
    assert told.exit == 0, told.everything
    assert told.json["reports"][0]["facts"] == [] and f"{SECRET}id" not in page.read_text(encoding="utf-8")
    assert "the source gives another worst case today" in said(page)


def _internal(records: Path, folder: Path) -> Path:
    """The internal report of a manifest."""
    manifest = records / "out" / "good.csv.manifest.json"
    page = folder / "good.html"
    words = ["--project", records, "--audience", "internal", "-o", page]
    assert call("report", manifest, *words).exit == 0
    return page


def test_a_public_report_hides_counts_below_five(tmp_path: Path) -> None:
    with engines.opened() as engine:
        release = small(engine)
        public = ps.report(release, tmp_path / "public.html")
        internal = ps.report(release, tmp_path / "internal.html", audience="internal")
    sizes = [("alone", "0"), ("2 to 4", "3"), ("5 to 9", "8"), ("10 to 24", "0"), ("25 to 49", "40")]
    assert [tuple(row[:2]) for row in drawn(internal)["sizes"]] == [*sizes, ("50 or more", "0")]
    assert "sizes" not in drawn(public)  # with the sum of all sizes, even masked ones would tell
    assert "from 3 people to 40 people" in said(internal) and "53 → 51" in said(internal)
    # the time it was made at may hold any digits
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", said(public))
    assert "Some of these counts are of fewer people than a public report tells of" in text
    # two rows are missing: neither they nor the 53 they are missing from may be told
    assert "rows suppressed fewer than 5" in text and "53" not in text
    assert "PUBLIC." in text and "INTERNAL." in said(internal)


def test_a_public_report_tells_of_no_choice_that_was_not_published(records: Path) -> None:
    from privacy_sql.reporting.audience import masked

    told = masked(kept.read(records, "good") or {})
    assert set(told) <= {"release", "run", "attack_intersection"} and "lattice" not in told["run"]


def test_a_rehearsal_is_marked_and_has_no_public_report(tmp_path: Path) -> None:
    rows = pd.DataFrame({"age": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "b"]})
    with engines.opened() as engine:
        table = ps.Table(rows, ["age"], "ill")
        release = ps.publish(engine, table, [ps.LDiversity(2)], ps.Bucketize(["age"], seed=1))
        assert "NOT FOR PUBLICATION" in said(ps.report(release, tmp_path / "r.html"))
        with pytest.raises(ps.PrivacySqlError, match="made with a seed"):
            ps.report(release, tmp_path / "p.html", audience="public")


# -- only what was written -----------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ["good.csv", "good.csv.manifest.json"])
def test_a_release_that_changed_gets_no_report(folder: Path, tmp_path: Path, changed: str) -> None:
    place = folder / "out" / changed
    place.write_bytes(place.read_bytes().replace(b"1", b"2", 1))
    target = tmp_path / "r.html"
    told = call(
        "report", "--json", folder / "out" / "good.csv.manifest.json", "--project", folder, "-o", target
    )
    assert told.exit == 1 and not target.exists()
    assert call("report", "--project", folder, "-o", tmp_path).exit == 1


def test_records_of_another_release_at_the_same_place_are_not_used(folder: Path, tmp_path: Path) -> None:
    place = folder / "out" / "good.csv"
    with engines.opened() as engine:
        table = ps.Table(pd.DataFrame({"town": ["a", "a"], "ill": ["x", "y"]}), ["town"], "ill", name="good")
        release = ps.publish(engine, table, [ps.LDiversity(2)], ps.Generalise({}))
        ps.write(engine, release, place, overwrite=True)
    for words in ([place, "-o", tmp_path / "one.html"], ["--select", "good", "-o", tmp_path]):
        (one,) = call("report", "--json", *words, "--project", folder).json["reports"]
        there = {name for name, found in one["sections"].items() if found}
        assert there == OF_A_MANIFEST
        assert "l_diversity(l=2)" in said(Path(one["file"])) and "ck_safety" not in said(Path(one["file"]))


def test_a_run_forgets_what_was_found_about_an_earlier_one(folder: Path) -> None:
    assert {"search", "attack_knowledge", "attack_intersection"} <= set(kept.read(folder, "good"))
    assert call("run", "--project", folder, "--select", "good", "--overwrite").exit == 0
    assert set(kept.read(folder, "good")) == {"schema", "release", "run"}


def test_a_run_that_found_nothing_safe_is_reported_with_its_reason(folder: Path) -> None:
    content = json.loads((folder / "privacy.yml").read_text())
    content["releases"]["good"] = planned(method={"full_domain": {}}, require={"k_anonymity": {"k": "401"}})
    (folder / "privacy.yml").write_text(json.dumps(content))
    assert call("run", "--project", folder, "--select", "good", "--overwrite").exit == 5
    assert call("report", "--project", folder, "--select", "good").exit == 0
    text = said(folder / "target" / "report" / "good.html")
    assert "Do not release" in text and "Why it stopped: no choice is safe" in text


def test_a_refused_run_keeps_the_records(folder: Path) -> None:
    assert call("run", "--project", folder, "--select", "good").exit == 2  # the target exists
    assert kept.read(folder, "good")["run"]["safe"] is True


# -- the project ---------------------------------------------------------------------------------------------


def test_the_index_lists_every_release_and_links_its_report(pages: Path) -> None:
    text = (pages / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<td data-label="Release"><a href="([^"]+)"', text)
    assert links == ["good.html", "other.html", "bad.html"] and all(
        (pages / link).is_file() for link in links
    )
    assert re.search(r"later\s+not run yet", said(pages / "index.html"))
    assert "INTERNAL." in said(pages / "index.html")


def test_a_project_that_never_ran_has_nothing_to_report(tmp_path: Path) -> None:
    assert call("init", "--example", tmp_path).exit == 0
    assert call("report", "--json", "--project", tmp_path).codes == ["nothing_to_report"]


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    told = call("report", "--dry-run", "--static", "--project", folder)
    assert told.exit == 0 and "would write" in told.out and not (folder / "target" / "report").exists()


def test_pictures_are_svg_and_png_of_every_chart(folder: Path, pages: Path, tmp_path: Path) -> None:
    words = ["--static", "--audience", "internal", "--select", "good", "-o", tmp_path]
    told = call("report", "--json", "--project", folder, *words)
    files = [Path(place) for place in told.json["reports"][0]["pictures"]]
    assert {file.stem for file in files} == {*drawn(pages / "good.html"), "skyline", "staircase"}
    for file in files:
        if file.suffix == ".svg":
            words = " ".join("".join(ElementTree.parse(file).getroot().itertext()).split())
            assert SECRET not in words and (file.stem != "errors" or ILL[:20] in words)
        else:
            assert file.suffix == ".png" and file.read_bytes().startswith(b"\x89PNG")


def test_the_report_is_opened_when_asked_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    assert call("report", "--open", "--project", folder, "-o", tmp_path).exit == 0
    assert opened == [(tmp_path / "index.html").as_uri()]


def test_a_report_with_all_sections_takes_less_than_three_seconds(records: Path, tmp_path: Path) -> None:
    started = time.process_time()
    assert call("report", "--project", records, "--select", "good", "-o", tmp_path).exit == 0
    assert time.process_time() - started < 3


def test_plotly_is_imported_in_one_module_and_matplotlib_in_another() -> None:
    for library, home in (("plotly", "page.py"), ("matplotlib", "static.py")):
        users = [
            path.relative_to(ROOT / "privacy_sql").as_posix()
            for path in (ROOT / "privacy_sql").rglob("*.py")
            if re.search(rf"^\s*(import|from) {library}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
        ]
        assert users == [f"reporting/{home}"]


# -- in a notebook -------------------------------------------------------------------------------------------


def test_results_show_themselves_in_a_notebook_without_values_and_escaped() -> None:
    name = "age <b>&"
    rows = pd.DataFrame({name: [f"{SECRET}{n // 2}" for n in range(8)], "ill": ["a", "b"] * 4})
    with engines.opened() as engine:
        table = ps.Table(rows, {name: ps.KeepOrDrop()}, "ill")
        require = [ps.KAnonymity(2), ps.KAnonymity(9)]
        checked = ps.check(engine, table, require)
        shown = [checked, *checked.values(), ps.search(engine, table, require[:1]),
                 ps.publish(engine, table, require, ps.Generalise({}))]  # fmt: skip
        texts = [result._repr_html_() for result in shown]
    assert [("✔ safe" in text, "✖ NOT SAFE" in text) for text in texts] == [
        *((True, True), (True, False), (False, True), (False, False), (True, True)),
    ]
    assert not [text for text in texts if SECRET in text or name in text]
    assert html.escape(f"{name} exact") in texts[3]
