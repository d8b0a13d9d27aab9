"""The recipient's door: published marginals and nothing else, against the table they were made from."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import manifest
from privacy_sql.cli.main import run
from privacy_sql.errors import NotSafe, UsageError
from tests import engines

TRIANGLE = [{"age": 2, "sex": 0}, {"sex": 0, "ill": 0}, {"age": 2, "ill": 0}]
CHAIN = [{"age": 1, "sex": 0}, {"age": 2, "ill": 0}]


def people() -> pd.DataFrame:
    """Sixty rows with missing values in a known and in the sensitive column."""
    chance = random.Random(4)
    rows = [
        (
            str(chance.randrange(20, 60)),
            chance.choice(["F", "M", None]),
            chance.choice(["a", "b", "c,d", None]),
        )
        for _ in range(60)
    ]
    return pd.DataFrame(rows, columns=["age", "sex", "ill"])


def published(folder: Path, collection: list[dict[str, int]], target: str = "people.csv") -> Path:
    quasi = {"age": ps.Intervals(5, 20), "sex": ps.KeepOrDrop()}
    with engines.opened() as engine:
        table = ps.Table(people(), quasi, "ill", name="people")
        release = ps.publish(engine, table, [ps.KLink(1)], ps.Marginals(collection=collection))
        return ps.write(engine, release, folder / target)


def shown(age: str, width: int) -> str:
    low = int(age) // width * width
    return f"{low}-{low + width - 1}"


@pytest.mark.parametrize(
    ("collection", "width", "target"), [(CHAIN, 5, "people.csv"), (TRIANGLE, 20, "people.parquet")]
)
def test_every_bound_holds_in_the_table_that_was_published(
    tmp_path: Path, collection: list[dict[str, int]], width: int, target: str
) -> None:
    pytest.importorskip("scipy")
    found = ps.reconstruct(published(tmp_path, collection, target))
    rows = [
        (shown(age, width), *(None if pd.isna(label) else label for label in labels))
        for age, *labels in people().itertuples(index=False)
    ]
    assert (found.rows, set(found.columns)) == (60, {"age", "sex", "ill"})
    for columns in (["age", "sex"], ["sex", "ill"], ["age", "sex", "ill"], ["ill"]):
        places = [["age", "sex", "ill"].index(name) for name in columns]
        truth: dict[Any, int] = {}
        for row in rows:
            truth[tuple(row[i] for i in places)] = truth.get(tuple(row[i] for i in places), 0) + 1
        counts = found.query(columns)
        told = {cell.values: cell for cell in counts.cells}
        assert counts.tight and set(truth) <= set(told)
        for values, cell in told.items():
            assert cell.least <= truth.get(values, 0) <= cell.most
            assert cell.least - 1e-6 <= cell.expected <= cell.most + 1e-6
        assert sum(cell.expected for cell in told.values()) == pytest.approx(60)
    table = found.to_pandas()
    assert list(table) == [*found.columns, "expected"] and table["expected"].sum() == pytest.approx(60)


def test_what_one_table_shows_is_known_and_the_rest_is_an_estimate(tmp_path: Path) -> None:
    found = ps.reconstruct(published(tmp_path, CHAIN))
    assert all(cell.known for cell in found.query("age, sex").cells)
    assert not all(cell.known for cell in found.query("sex, ill").cells)
    one = found.count({"sex": "F", "ill": ["a", None]})
    assert one.least <= one.expected <= one.most
    assert found.count({}).expected == 60 and found.count({}).known
    assert found.count({"sex": []}).most == 0
    assert found.independences == (
        "Given age_level_2, age_level_1 and sex say nothing about ill.",
    ) or found.independences == ("Given age_level_2, ill says nothing about age_level_1 and sex.",)


def test_an_empty_text_and_a_missing_value_stay_apart_where_they_are_apart_in_the_files(
    tmp_path: Path,
) -> None:
    rows = pd.DataFrame(
        {"sex": ["", None, "", "M"], "age": ["1", "2", "3", "3"], "ill": ["a", "b", "b", "a"]}
    )
    collection = [{"sex": 0, "ill": 0}, {"sex": 0, "age": 0}]
    with engines.opened() as engine:
        table = ps.Table(rows, ["age", "sex"], "ill", name="people")
        release = ps.publish(engine, table, [ps.KLink(1)], ps.Marginals(collection=collection))
        found = ps.reconstruct(ps.write(engine, release, tmp_path / "people.parquet"))
    assert found.to_pandas()["expected"].sum() == 4
    assert {cell.values: cell.least for cell in found.query("sex").cells} == {("",): 2, (None,): 1, ("M",): 1}


def test_columns_of_one_table_are_known_whatever_else_is_published(tmp_path: Path) -> None:
    found = ps.reconstruct(published(tmp_path, TRIANGLE))
    assert all(cell.known for cell in found.query("age, ill").cells)


def test_a_collection_without_closed_form_names_the_association_it_leaves_out(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    found = ps.reconstruct(published(tmp_path, TRIANGLE))
    assert not found.decomposable
    assert found.independences == ("Columns are associated only as the published tables show.",)
    with pytest.raises(UsageError, match="no closed form"):
        found.sql()


def test_the_select_for_a_shell_gives_the_table_of_the_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    found = ps.reconstruct(published(tmp_path, CHAIN))
    monkeypatch.chdir(tmp_path)
    rows = duckdb.sql(found.sql()).fetchall()
    assert sum(row[-1] for row in rows) == pytest.approx(60)
    assert len(rows) == len(found.to_pandas())


def test_synthetic_rows_are_marked_and_fall_as_the_expected_table(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    for collection, name in ((CHAIN, "a.csv"), (TRIANGLE, "b.csv")):
        found = ps.reconstruct(published(tmp_path, collection, name))
        rows = found.sample(4000, seed=1)
        assert all(row["synthetic"] is True for row in rows) and rows == found.sample(4000, seed=1)
        drawn = sum(row["sex"] == "F" and row["ill"] == "a" for row in rows) / 4000
        assert drawn == pytest.approx(float(found.count({"sex": "F", "ill": "a"}).expected) / 60, abs=0.03)
        assert found.sample(0) == []


def test_a_changed_file_and_what_is_no_collection_of_marginals_are_refused(tmp_path: Path) -> None:
    place = published(tmp_path, CHAIN)
    part = tmp_path / "people.marginal_1.csv"
    part.write_text(part.read_text() + "x,y,1\n")
    with pytest.raises(NotSafe, match="changed since it was written"):
        ps.reconstruct(place)
    with engines.opened() as engine:
        table = ps.Table(people(), ["sex"], "ill", name="plain")
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({}))
        other = ps.write(engine, release, tmp_path / "plain.csv")
    with pytest.raises(UsageError, match="not as marginals"):
        ps.reconstruct(other)


def test_a_manifest_that_names_other_columns_than_its_files_is_refused(tmp_path: Path) -> None:
    place = published(tmp_path, CHAIN)
    content = manifest.read(place).to_json()
    content["choice"] = {"marginals": [{"age": 1, "job": 0}, {"age": 2, "ill": 0}]}
    place.write_bytes(manifest.canonical(content))
    with pytest.raises(NotSafe, match="does not describe these tables"):
        ps.reconstruct(place)


@pytest.mark.parametrize(
    ("columns", "where", "message"),
    [
        ("agee", None, 'no column "agee"'),
        ("age_level_1, age_level_2", None, "named twice"),
        ("age", {"sex": "X"}, 'shows "X" in sex'),
    ],
)
def test_a_question_that_cannot_be_asked_is_named(
    tmp_path: Path, columns: str, where: dict[str, str] | None, message: str
) -> None:
    found = ps.reconstruct(published(tmp_path, CHAIN))
    with pytest.raises(UsageError, match=message):
        found.query(columns, where)


def test_marginals_in_tables_are_read_where_they_lie(tmp_path: Path) -> None:
    with engines.opened() as engine:
        table = ps.Table(people(), {"age": ps.Intervals(5, 20), "sex": ps.KeepOrDrop()}, "ill", name="people")
        release = ps.publish(engine, table, [ps.KLink(1)], ps.Marginals(collection=CHAIN))
        place = ps.write(engine, release, "table:public", manifest_to=tmp_path / "people.manifest.json")
        found = ps.reconstruct(place, engine)
        assert found.query("ill").cells == ps.reconstruct(published(tmp_path, CHAIN)).query("ill").cells
        assert "public_marginal_1" in found.sql()


def test_the_command_line_shows_estimates_between_bounds_and_writes_marked_rows(tmp_path: Path) -> None:
    place = published(tmp_path, CHAIN)
    outcome = run(["reconstruct", str(place), "--query", "sex, ill", "--where", "sex=F", "--json"])
    told = json.loads(json.dumps(outcome.to_json()))
    assert told["exit"] == 0 and told["rows"] == 60
    (answer,) = told["reconstruction"]["answers"]
    assert {cell["values"]["sex"] for cell in answer["cells"]} == {"F"}
    assert all(cell["at_least"] <= cell["expected"] <= cell["at_most"] for cell in answer["cells"])
    target = tmp_path / "new" / "rows.csv"
    words = ["reconstruct", str(place), "--sample", "5", "--seed", "2", "-o", str(target)]
    assert run([*words, "--dry-run"]).exit == 0 and not target.exists()
    assert run(words).exit == 0
    with target.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 5 and {row["synthetic"] for row in rows} == {"true"}
    assert run(words).exit == 2 and len(run(words[:-2]).lines) == 6
