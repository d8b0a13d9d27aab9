"""Whatever is typed or given: an answer or an error of ours, never a traceback, and nothing of it echoed.

`unexpected` is the word of the command line for an error it did not foresee, so no call may say it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError
from tests.command_line import Told, call, check
from tests.project.test_project import PROJECT, RELEASE, ROWS

bounded = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))

TEXT = st.text(max_size=12)
# pieces that files of this kind are made of, so that many examples come close to being right
CSV = st.lists(
    st.sampled_from(
        ["age", "illness", ",", ";", "\t", '"', "\n", "\r\n", "\ufeff", "30", "flu", "", " ", "é"]
    ),
    max_size=30,
).map("".join)


def foreseen(told: Told) -> None:
    assert "unexpected" not in told.everything and "Traceback" not in told.everything, told.everything
    assert told.exit in (0, 1, 2, 3, 5), told.everything


@bounded
@given(content=st.one_of(CSV.map(str.encode), st.binary(max_size=60), TEXT.map(lambda t: t.encode("utf-16"))))
def test_any_bytes_as_csv_are_judged_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "people.csv").write_bytes(content)
    foreseen(check(tmp_path / "people.csv"))


@bounded
@given(content=st.one_of(CSV, TEXT), kind=st.sampled_from([".csv", ".txt", ".tsv"]))
@example(content="\r0", kind=".csv")  # a line end that Python's reader takes for no line end
def test_any_text_as_a_hierarchy_is_used_or_refused(tmp_path: Path, content: str, kind: str) -> None:
    (tmp_path / f"ages{kind}").write_text(content, encoding="utf-8", newline="")
    (tmp_path / "people.csv").write_text(ROWS)
    quasi = [{"column": "age", "hierarchy": {"file": f"ages{kind}"}}]
    release = {
        **RELEASE,
        "quasi_identifiers": quasi,
        "insensitive": {"columns": ["zip", "weight"], "acknowledge": "invented"},
    }
    release |= {"method": {"generalise": {"levels": {"age": "1"}}}}
    project = {**PROJECT, "releases": {"people": release}}
    (tmp_path / "privacy.yml").write_text(json.dumps(project))
    foreseen(call("run", "--json", "--dry-run", "--project", tmp_path))


YAML = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
PLACES = sorted(RELEASE)


@bounded
@given(place=st.sampled_from(PLACES), value=YAML)
def test_any_value_in_the_project_file_is_read_or_refused(tmp_path: Path, place: str, value: Any) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    project = {**PROJECT, "releases": {"people": {**RELEASE, place: value}}}
    (tmp_path / "privacy.yml").write_text(json.dumps(project))
    foreseen(call("run", "--json", "--dry-run", "--project", tmp_path))


@bounded
@given(
    content=st.one_of(
        TEXT, st.lists(st.sampled_from(list(":-[]{}&*!|>'\"%@#\n \tab1")), max_size=30).map("".join)
    )
)
def test_any_text_as_a_project_file_is_read_or_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "privacy.yml").write_text(content, encoding="utf-8")
    foreseen(call("run", "--json", "--dry-run", "--project", tmp_path))


CONDITION = st.lists(
    st.sampled_from(
        [
            "age",
            "illness",
            "=",
            "<",
            "'30'",
            "30",
            "and",
            "or",
            "not",
            "(",
            ")",
            "in",
            "is null",
            "like",
            "cast",
            "as int",
            ",",
            "--",
            ";",
            "select",
            "case when",
            "then",
            "end",
            "*",
            "/",
            "0",
            "'",
            '"',
            "between",
            "lower",
        ]
    ),
    max_size=8,
).map(" ".join)


@bounded
@given(condition=st.one_of(CONDITION, TEXT))
def test_any_condition_is_used_or_refused(tmp_path: Path, condition: str) -> None:
    (tmp_path / "people.csv").write_text("age,illness\n30,flu\n31,cold\n")
    told = check(tmp_path / "people.csv", f"--where={condition}", "--require", "k_anonymity(k=2)")
    foreseen(told)


@bounded
@given(matrix=st.one_of(CSV.map(str.encode), TEXT.map(str.encode), st.binary(max_size=30)))
@example(matrix=b"\r0")
@example(matrix=b",30,31\n\n30,0,1\n31,1,0\n")
def test_any_distance_matrix_is_read_or_refused(tmp_path: Path, matrix: bytes) -> None:
    (tmp_path / "people.csv").write_text("age,illness\n30,flu\n31,cold\n")
    (tmp_path / "ages.csv").write_bytes(matrix)
    (tmp_path / "privacy.yml").write_text(json.dumps(BELIEFS))
    foreseen(call("run", "--json", "--dry-run", "--project", tmp_path))


BELIEFS = {
    "version": "1",
    "releases": {
        "people": {
            "source": {"file": "people.csv"},
            "quasi_identifiers": [{"column": "age", "distance": {"file": "ages.csv"}}],
            "sensitive": "illness",
            "require": {"bt_privacy": {"bandwidth": "0.3", "t": "0.2"}},
            "method": {"generalise": {"levels": {"age": "0"}}},
            "output": {"target": "out/people.csv"},
        }
    },
}


@bounded
@given(names=st.one_of(TEXT, st.lists(st.sampled_from(list("age,\"'. \r\n")), max_size=8).map("".join)))
@example(names="age,\rb")
def test_any_names_of_columns_and_tables_are_used_or_refused(tmp_path: Path, names: str) -> None:
    (tmp_path / "people.csv").write_text("age,illness\n30,flu\n31,cold\n")
    words = ["--sensitive", "illness", "--require", "k_anonymity(k=2)"]
    foreseen(call("check", "--json", "--source", tmp_path / "people.csv", f"--quasi={names}", *words))
    foreseen(call("check", "--json", f"--source={names}", "--quasi", "age", *words))


FACT = st.lists(
    st.sampled_from(
        ["Ed", "Tom", "is", "not", "flu", "cold", "->", "if", "then", "family", ",", "and", "or", "#", "'"]
    ),
    max_size=8,
).map(" ".join)


@bounded
@given(lines=st.lists(st.one_of(FACT, TEXT), max_size=3), atom=st.one_of(st.none(), FACT, TEXT))
def test_any_fact_is_weighed_or_refused(tmp_path: Path, lines: list[str], atom: str | None) -> None:
    (tmp_path / "people.csv").write_text("who,age,illness\nEd,30,flu\nTom,30,cold\nAnn,30,flu\n")
    (tmp_path / "known.txt").write_text("\n".join(lines), encoding="utf-8")
    words = ["--quasi", "age", "--sensitive", "illness", "--identifier", "who"]
    more = [f"--atom={atom}"] if atom is not None else []
    foreseen(
        call("facts", "--json", tmp_path / "known.txt", "--source", tmp_path / "people.csv", *words, *more)
    )


@bounded
@given(
    requirement=st.one_of(
        TEXT, st.lists(st.sampled_from(list("kl=(),.[]{}019e-_ ")), max_size=20).map("".join)
    )
)
def test_any_requirement_is_asked_or_refused(tmp_path: Path, requirement: str) -> None:
    (tmp_path / "people.csv").write_text("age,illness\n30,flu\n31,cold\n")
    foreseen(check(tmp_path / "people.csv", f"--require={requirement}"))


@bounded
@given(name=st.text(min_size=1, max_size=10))
def test_any_column_name_is_used_or_refused(engine: Any, name: str) -> None:
    import pandas as pd

    assume(name.lower() != "illness")
    rows = pd.DataFrame({name: ["30", "30"], "illness": ["flu", "cold"]})
    try:
        found = ps.check(engine, ps.Table(rows, [name], "illness"), [ps.KAnonymity(2)])
    except PrivacySqlError as refused:
        assert refused.exit in (2, 3)
        return
    assert found["k_anonymity(k=2)"].value == 2


@pytest.mark.parametrize("verb", ["verify", "show", "compile"])
@bounded
@given(word=TEXT.filter(lambda text: not text.startswith("-") and "\0" not in text))
def test_any_word_after_a_verb_is_used_or_refused(tmp_path: Path, verb: str, word: str) -> None:
    foreseen(call(verb, "--json", "--project", tmp_path, "--", word))
