"""What a run leaves to the report is measured on the published bytes, as the run would have measured it."""

from __future__ import annotations

import html
import json
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.reporting import describing, recording
from privacy_sql.reporting import page as reporting
from tests import engines
from tests.command_line import call
from tests.reporting import project
from tests.seeds import enough, seeds

PARTS = ("groups", "curves", "unasked", "skyline")
ALL = [ps.KAnonymity(2), ps.LDiversity(2)]
METHODS: dict[str, tuple[Any, list[Any], dict[str, Any]]] = {
    "generalise": (ps.Generalise({"age": 2, "zip": 1}, max_suppressed="0.9"), ALL, {}),
    "as it is": (ps.Generalise(max_suppressed="0.99"), [ps.KAnonymity(2)], {}),
    "full domain": (ps.FullDomain(max_suppressed="0.3"), [ps.CKSafety(c="0.99", k=1)], {}),
    "recoded": (ps.FullDomain(local_recoding=True), ALL, {}),
    "boxes": (ps.Multidimensional(), ALL, {}),
    "centres": (ps.Microaggregate(k=3), [ps.KAnonymity(2)], {}),
    "permuted": (ps.Bucketize(["sex"]), [ps.LDiversity(2)], {}),
    "two columns": (
        ps.Generalise({"age": 2, "zip": 2}, max_suppressed="0.9"),
        [ps.KAnonymity(2)],
        {"sensitive": ["ill", "drug"]},
    ),
    "one of two columns": (
        ps.Generalise({"age": 2, "zip": 2}, max_suppressed="0.9"),
        [ps.KAnonymity(2)],
        {"sensitive": ["ill", "drug"], "joint": True},
    ),
    "known": (
        ps.Generalise({"age": 2, "zip": 2}, max_suppressed="0.9"),
        [ps.KAnonymity(2)],
        {"insensitive": {"columns": ["drug"], "known": True}},
    ),
}


def people(draw: random.Random, nulls: bool) -> pd.DataFrame:
    n = 60
    rows = {
        "age": [draw.choice([*([None] if nulls else []), *range(20, 60)]) for _ in range(n)],
        "sex": [draw.choice("FM") for _ in range(n)],
        "zip": [draw.choice(["02138", "02139", "02150"]) for _ in range(n)],
        "ill": [draw.choice([None, "a", "a", "a", "b", "b", "c", "d, e"]) for _ in range(n)],
        "drug": [draw.choice(["p", "q"]) for _ in range(n)],
    }
    return pd.DataFrame(rows, dtype=object).astype({"age": "Int64"})


def numbered(part: Any) -> Any:
    """Without the number and size of a group that is as bad as another: published rows number groups anew."""
    text = re.sub(r"group [0-9]+( \([0-9]+ people\))?", "group", json.dumps(part, sort_keys=True))
    text = re.sub(r'"value_number": \[[0-9]+, [0-9]+\]', "", text)  # a value of that group
    return re.sub(r'"(group|size)": [0-9]+', "", text)


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "csv") for name in METHODS), ("generalise", "parquet"), ("boxes", "parquet")]
)
def test_the_published_bytes_tell_what_the_run_would_have_recorded(
    name: str, kind: str, tmp_path: Path
) -> None:
    method, require, more = METHODS[name]
    compared = 0
    for seed in seeds(2):
        draw = random.Random(f"{name} {seed}")
        named = {"sensitive": "ill", **more}
        quasi = {"age": ps.Intervals(10, 20), "sex": ps.KeepOrDrop(), "zip": ps.Mask(3, 0)}
        table = ps.Table(
            people(draw, name != "centres"), quasi, named.pop("sensitive"), **named, name="people"
        )
        with engines.opened() as engine:
            try:
                release = ps.publish(engine, table, require, method)
            except ps.PrivacySqlError:
                continue
            if not release.safe:
                continue
            place = ps.write(engine, release, tmp_path / f"{seed}.{kind}")
            whole = recording.recorded(release)
            run = recording.recorded_by_run(release, tmp_path / f"{seed}.{kind}")
        assert not set(PARTS) & set(run)
        content = manifest.read(place)
        kept = json.loads(json.dumps({"release": "people", "run": {**run, "checksum": content.checksum}}))
        found = describing.completed(tmp_path, kept, place, content, keep=False)["run"]
        compared += 1
        shown = () if name in ("boxes", "centres") else ("bars",)  # their labels are in the file alone
        for part in (*PARTS, *shown):
            assert numbered(found[part]) == numbered(whole[part]), (part, seed)
    assert enough(compared, 1)


def test_a_run_leaves_the_published_rows_to_the_report_which_keeps_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.write(tmp_path)
    place = folder / "target" / "records" / "good.json"

    def run() -> dict[str, Any]:
        return dict(json.loads(place.read_text())["run"])

    assert call("run", "--project", folder, "--select", "good").exit == 0
    assert not set(PARTS) & set(run())
    assert call("report", "--project", folder, "--dry-run").exit == 0
    assert not set(PARTS) & set(run())
    assert call("report", "--project", folder).exit == 0
    first = run()
    assert first["groups"]["n_groups"] and first["curves"]["implications"] and first["skyline"]["values"]
    assert place.stat().st_mode & 0o777 == 0o600

    def never(*_: Any) -> Any:
        raise AssertionError("measured again")

    with monkeypatch.context() as patched:
        patched.setattr(describing, "_of_file", never)
        assert call("report", "--project", folder).exit == 0
        assert call("report", folder / "out" / "good.csv", "--project", folder).exit == 0
    assert call("run", "--project", folder, "--select", "good", "--overwrite").exit == 0
    assert not set(PARTS) & set(run())


def test_what_a_report_read_while_the_release_was_replaced_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.write(tmp_path)
    assert call("run", "--project", folder, "--select", "good").exit == 0
    place = folder / "target" / "records" / "good.json"
    own = describing._of_file

    def late(*asked: Any) -> Any:
        found = own(*asked)
        time.sleep(1)  # a release made within the same second is told by the same words
        assert call("run", "--project", folder, "--select", "good", "--overwrite").exit == 0
        return found

    monkeypatch.setattr(describing, "_of_file", late)
    told = call("report", "--project", folder, "--audience", "internal")
    assert told.exit == 0, told.everything
    assert describing.REPLACED in (folder / "target" / "report" / "good.html").read_text()
    assert not set(PARTS) & set(json.loads(place.read_text())["run"])  # the records are the new run's


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_of_people_with_several_values_the_run_records_what_the_rows_do_not_tell(
    kind: str, tmp_path: Path
) -> None:
    rows = pd.DataFrame({"who": list("aabbcd"), "age": ["1"] * 6, "ill": list("xyxyxz")})
    table = ps.Table(rows, ["age"], "ill", identifier="who", values_per_person=kind)
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise())
        run = recording.recorded_by_run(release, tmp_path / "out.csv")
    # people, and not the six rows
    assert run["groups"] == {"n_groups": 1, "smallest": 4, "median": 4, "largest": 4}
    assert describing.PUBLISHED not in run


def test_what_goes_to_a_table_is_recorded_by_its_run(engine: Any, tmp_path: Path) -> None:
    table = ps.Table(pd.DataFrame({"age": ["1"] * 4, "ill": list("abab")}), ["age"], "ill")
    release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise())
    found = recording.recorded_by_run(release, "table:people_out")
    assert found["groups"]["largest"] == 4 and found["curves"]["implications"][0] == 0.5
    assert set(PARTS) <= set(found)


ONE_VALUE: dict[str, dict[str, Any]] = {
    "recursive": {"l_diversity": {"l": "2", "kind": "recursive", "c": "9"}},
    "probabilistic": {"l_diversity": {"l": "1.1", "kind": "probabilistic"}},
    "entropy": {"l_diversity": {"l": "2", "kind": "entropy"}},
    "every value": {"alpha_k_anonymity": {"alpha": "0.9", "k": "2"}},
    "watched": {"alpha_k_anonymity": {"alpha": "0.9", "k": "2", "values": ["s", "t"]}},
    "beta": {"beta_likeness": {"beta": "20"}},
    "delta": {"delta_disclosure": {"delta": "9"}},
}


@pytest.mark.widens(4)
@pytest.mark.parametrize("name", ONE_VALUE)
@pytest.mark.parametrize("seed", seeds(3))
def test_the_value_that_a_worst_case_is_about_has_the_counts_it_says(
    tmp_path: Path, name: str, seed: int
) -> None:
    draw = random.Random(seed)
    # every value is in every town, as one of these requirements asks for
    people = [(town, ill) for town in "abc" for ill in "pqrst"]
    people += [(draw.choice("abc"), draw.choices("pqrst", [5, 4, 3, 2, 1])[0]) for _ in range(150)]
    (tmp_path / "people.csv").write_text("\n".join(["town,illness", *map(",".join, people)]) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [{"column": "town", "hierarchy": "keep_or_drop"}],
        "sensitive": {"column": "illness"},
        "require": ONE_VALUE[name],
        "method": {"generalise": {"levels": {}}},
        "output": {"target": "out/people.csv"},
    }
    (tmp_path / "privacy.yml").write_text(
        json.dumps({"version": "1", "name": "all", "releases": {"people": release}})
    )
    ran = call("run", "--project", tmp_path)
    assert ran.exit == 0, ran.everything
    assert call("report", "--project", tmp_path, "--audience", "internal").exit == 0
    record = json.loads((tmp_path / "target" / "records" / "people.json").read_text(encoding="utf-8"))["run"]
    (verdict,) = record["verdicts"]
    place, many = record["value_numbers"][verdict["requirement"]]
    overall = Counter(ill for _, ill in people)
    assert many == 5
    seen = verdict["witness"]
    held = seen["largest_count"] if "largest_count" in seen else seen["count"]
    # of values that are as common as one another any may stand at the place
    n = sorted(overall.values(), reverse=True)[place - 1]
    able = [value for value in overall if overall[value] == n]
    towns = {town: Counter(ill for at, ill in people if at == town) for town in "abc"}
    # the group in question, by its number among the groups in the order of their keys
    counts = towns["abc"[seen["group"] - 1]]
    if name == "watched":
        able = [value for value in able if value in "st"]
        assert held == max(counts["s"], counts["t"])
    assert any(counts[value] == held for value in able)
    assert "overall_count" not in seen or n == seen["overall_count"]
    page = (tmp_path / "target" / "report" / "people.html").read_text(encoding="utf-8")
    assert (
        page.count(f"The value in question is value {place} of 5.") == 2
    )  # beside the requirement, and in the annex
    assert call("report", "--project", tmp_path, "--audience", "public").exit == 0
    assert "The value in question" not in (tmp_path / "target" / "report" / "people.html").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("suppressed", [False, True])
def test_of_several_sensitive_columns_the_number_names_its_own_column(
    tmp_path: Path, seed: int, suppressed: bool
) -> None:
    draw = random.Random(seed)
    people = [(town, ill, drug) for town in "abc" for ill in "pqrst" for drug in "uvw"]
    people += [
        (draw.choice("abc"), draw.choices("pqrst", [5, 4, 3, 2, 1])[0], draw.choices("uvw", [3, 2, 1])[0])
        for _ in range(200)
    ]
    people += [("d", "p", "u")] * 2 if suppressed else []
    # one column's name ends as the other one's
    columns = {"illness": [ill for _, ill, _ in people], "sort) for illness": [drug for *_, drug in people]}
    frame = pd.DataFrame({"town": [town for town, *_ in people], **columns})
    require = [ps.LDiversity("1.3", kind="entropy"), ps.AlphaKAnonymity("0.99", 2), ps.CKSafety("0.99", 1)]
    table = ps.Table(frame, {"town": ps.KeepOrDrop()}, [*columns], name="people")
    method = ps.Generalise(max_suppressed="0.1" if suppressed else 0)
    with engines.opened() as engine:
        release = ps.publish(engine, table, require, method)
        assert release.safe
        run = recording.recorded(release)
    kept = frame[frame["town"] != "d"]
    told = 0
    for verdict in run["verdicts"]:
        kind, _, column = verdict["requirement"].partition(") for ")
        seen = verdict["witness"]
        overall = Counter(kept[column])
        # each column is guessed by somebody who knows the other one
        (other,) = {*columns} - {column}
        groups = [Counter(its[column]) for _, its in kept.groupby(["town", other])]
        facts = kind.startswith("ck_safety")
        number = verdict["value_number"] if facts else run["value_numbers"][verdict["requirement"]]
        place, many = number
        n = sorted(overall.values(), reverse=True)[place - 1]
        held = seen["holders"] if facts else seen["largest_count"]
        assert many == len(overall)
        able = [value for value in overall if overall[value] == n]
        alike = [its for its in groups if sum(its.values()) == seen["size"]]
        assert any(its[value] == held for its in alike for value in able)
        told += 1
    assert told == 6
    page = html.unescape(written(run, "internal"))
    for verdict in run["verdicts"]:
        column = verdict["requirement"].partition(") for ")[2]
        number = verdict["value_number"] or run["value_numbers"][verdict["requirement"]]
        assert f"value {number[0]} of {number[1]} of {column}" in page
    assert " in question is value" not in written(run, "public")


def written(run: dict[str, Any], audience: str) -> str:
    """A page from the records of one release."""
    return reporting.page(reporting.material_of({"release": "people", "run": run}, audience)).html
