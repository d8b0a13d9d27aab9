"""Bad input gets a clear error with the right exit code, and nothing of it is echoed or lost."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privacy_sql as ps
from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from tests import engines
from tests.command_line import call, check

ONE = ["--require", "k_anonymity(k=2)"]


def saved(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def stored(folder: Path, rows: pd.DataFrame) -> None:
    """As Parquet, where NaN stays NaN instead of becoming NULL."""
    columns = {name: pa.array(list(rows[name]), from_pandas=False) for name in rows}
    pq.write_table(pa.table(columns), folder / "people.parquet")


WELL_FORMED = {
    "byte order mark": "\ufeffage,illness\n30,flu\n30,cold\n",
    "semicolons": "age;illness\n30;flu\n30;cold\n",
    "tabs": "age\tillness\n30\tflu\n30\tcold\n",
    "commas in a quoted name between semicolons": 'age;illness;"a,b,c,d"\n30;flu;1\n30;cold;2\n',
    "line ends of Windows": "age,illness\r\n30,flu\r\n30,cold\r\n",
    "line breaks in quotes": 'age,illness\n30,"fl\nu"\n30,cold\n',
    "no line end at the end": "age,illness\n30,flu\n30,cold",
}


@pytest.mark.parametrize("shape", WELL_FORMED)
def test_a_csv_file_of_this_shape_is_read_whole(tmp_path: Path, shape: str) -> None:
    told = check(saved(tmp_path, WELL_FORMED[shape]))
    assert (told.exit, told.json["rows"], told.json["groups"]) == (0, 2, 1)


def test_a_zipped_csv_file_is_read(tmp_path: Path) -> None:
    path = saved(tmp_path, gzip.compress(WELL_FORMED["semicolons"].encode()), "people.csv.gz")
    assert check(path).json["rows"] == 2


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.parquet"])
def test_a_file_that_may_not_be_read_is_not_called_broken(tmp_path: Path, name: str) -> None:
    """In a process of its own without the right of root to read everything."""
    content = WELL_FORMED["semicolons"].encode()
    path = saved(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)
    path.chmod(0)
    plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if plain and shutil.which("setpriv") is None:
        pytest.skip("root may read every file; run it as another user, or install setpriv")
    for verb in (["profile"], ["check", "--quasi", "age", *ONE]):
        asked = [*plain, sys.executable, "-m", "privacy_sql", *verb, "--source", str(path)]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert told.returncode in (3, 4) and name in told.stderr
        assert "permission denied" in told.stderr and "UTF-8" not in told.stderr


BROKEN: dict[str, str | bytes] = {
    "a line too short": "age,illness\n30,CANARY\n31\n",
    "a line too long": "age,illness\n30,CANARY\n31,CANARY,CANARY\n",
    "not UTF-8": "age,illness\n30,CANARY\xe9\n".encode("latin-1"),
    "not UTF-8 far behind": b"age,illness\n" + b"30,CANARY\n" * 9000 + "31,CANARY\xe9\n".encode("latin-1"),
    "UTF-16": "age,illness\n30,CANARY\n".encode("utf-16"),
    "an open quote": 'age,illness\n30,"CANARY\n30,cold\n',
    "two kinds of line end": "age,illness\r\n30,CANARY\n30,cold\r\n",
    "a line of three million letters": "age,illness\n30," + "CANARY" * 500_000 + "\n",
    "the same name twice": "CANARY,CANARY\n30,31\n",
    "the same name in another case": "age,illness,Illness\n30,CANARY,CANARY\n",
    "a column without a name": "age,illness,\n30,CANARY,1\n",
    "no line at all": "",
    "a line break in a name": 'age,illness,"a\nb"\r\n30,flu,CANARY\r\n30,cold,CANARY\r\n',
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_csv_file_is_a_data_error_that_shows_no_line(tmp_path: Path, fault: str) -> None:
    told = check(saved(tmp_path, BROKEN[fault]))
    assert told.exit == 3 and told.json["errors"]
    assert "CANARY" not in told.everything


@pytest.mark.parametrize(("content", "message"), [("", "is empty"), ("\nage\n30\n", "has no header")])
def test_an_empty_file_is_called_empty_and_no_other(tmp_path: Path, content: str, message: str) -> None:
    assert f"people.csv {message}" in check(saved(tmp_path, content)).everything


@pytest.mark.parametrize("fault", ["a line too short", "a line too long"])
def test_a_broken_line_is_named_by_file_and_number(tmp_path: Path, fault: str) -> None:
    told = check(saved(tmp_path, BROKEN[fault]))
    assert [error["where"] for error in told.json["errors"]] == ["people.csv, line 3"]


def test_a_broken_line_that_speaks_of_another_file_is_not_believed(tmp_path: Path) -> None:
    told = check(saved(tmp_path, 'age,illness\n30,flu\n"x\n  file = /CANARY.csv\n"\n'))
    assert [error["where"] for error in told.json["errors"]] == ["people.csv, line 3"]


@pytest.mark.parametrize("name", ["people.parquet", "people.csv.gz"])
def test_a_file_that_is_not_what_its_ending_says_is_a_data_error(tmp_path: Path, name: str) -> None:
    told = check(saved(tmp_path, "age,illness\n30,CANARY\n", name))
    assert told.exit == 3 and "CANARY" not in told.everything


WHOLE = gzip.compress(b"age,illness\n" + b"30,flu\n" * 1000)
DAMAGED = {
    "ends within its rows": WHOLE[:-9],
    "ends before its checksum": WHOLE[:-8],
    "ends within its checksum": WHOLE[:-3],
    "has the checksum of other rows": WHOLE[:-8] + bytes([WHOLE[-8] ^ 1]) + WHOLE[-7:],
    "says another length": WHOLE[:-4] + bytes([WHOLE[-4] ^ 1]) + WHOLE[-3:],
    "ends within its second part": WHOLE + gzip.compress(b"31,flu\n" * 1000)[:-9],
    "goes on with something else": WHOLE + b"31,flu\n",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_packed_file_that_is_not_whole_is_a_data_error(tmp_path: Path, content: bytes) -> None:
    told = check(saved(tmp_path, content, "people.csv.gz"))
    assert (told.exit, told.codes) == (3, ["bad_file"])


def test_a_packed_file_in_two_parts_is_read_whole(tmp_path: Path) -> None:
    both = WHOLE + gzip.compress(b"31,flu\n" * 500)
    told = check(saved(tmp_path, both, "people.csv.gz"))
    assert told.json["rows"] == 1500


@pytest.mark.parametrize("name", ["absent.csv", "absent", "."])
def test_a_source_that_is_not_there_is_a_usage_error(tmp_path: Path, name: str) -> None:
    told = check(tmp_path / name)
    assert (told.exit, told.codes) == (2, ["no_source"])


def test_a_file_without_a_header_has_its_first_row_kept_secret(tmp_path: Path) -> None:
    told = check(saved(tmp_path, "30,CANARY\n31,CANARY2\n"))
    assert told.exit == 2 and "header" in told.out
    assert "CANARY" not in told.everything


@pytest.mark.parametrize("lines", ["", "30,flu\n" * 0])
def test_a_table_of_a_header_only_is_a_data_error(tmp_path: Path, lines: str) -> None:
    told = check(saved(tmp_path, f"age,illness\n{lines}"))
    assert (told.exit, told.codes, told.json["safe"]) == (3, ["empty_table"], None)


def test_a_condition_no_row_meets_leaves_an_empty_table(tmp_path: Path) -> None:
    told = check(saved(tmp_path, "age,illness\n30,flu\n"), "--where", "age = 'x'", *ONE)
    assert (told.exit, told.codes) == (3, ["empty_table"])


@pytest.mark.parametrize(
    "method",
    [
        *(
            ps.FullDomain(),
            ps.FullDomain("kl", "0.1"),
            ps.FullDomain(max_suppressed="0.1", local_recoding=True),
        ),
        *(ps.Generalise({"age": 1}), ps.Multidimensional(), ps.Microaggregate(2), ps.Marginals()),
        *(ps.Bucketize("anatomy", l=2), ps.Bucketize("anatomy"), ps.Bucketize(["age"])),
    ],
)
def test_a_condition_no_row_meets_leaves_nothing_to_choose_from(engine: Any, method: Any) -> None:
    rows = pd.DataFrame({"age": ["30", "31"], "illness": ["flu", "cold"]})
    nobody = ps.Table(rows, {"age": ps.KeepOrDrop()}, "illness", where="age = '99'")
    require = [ps.KLink(2) if isinstance(method, ps.Marginals) else ps.LDiversity(2)]
    with pytest.raises(DataError, match="keeps no row"):
        ps.publish(engine, nobody, require, method)
    if isinstance(method, ps.FullDomain | ps.Marginals):
        with pytest.raises(DataError, match="keeps no row"):
            ps.search(engine, nobody, require, method)
    with pytest.raises(DataError, match="keeps no row"):
        ps.specialisations(engine, nobody, {"age": 1})


def test_leading_zeros_stay_and_keep_people_apart(tmp_path: Path) -> None:
    path = saved(tmp_path, "zip,illness\n02139,flu\n02139,cold\n2139,flu\n2139,cold\n")
    told = check(path, *ONE, "--show-values", quasi="zip")
    assert told.json["groups"] == 2
    assert told.json["verdicts"][0]["witness"]["keys"]["zip"] in ("02139", "2139")


def test_a_single_person_is_not_safe_at_any_k_above_one(tmp_path: Path) -> None:
    told = check(saved(tmp_path, "age,illness\n30,flu\n"))
    assert (told.exit, told.json["verdicts"][0]["value"]) == (1, "1")


ALL = ["k_anonymity(k=2)", "l_diversity(l=2)", "l_diversity(l=2, kind=entropy)", "t_closeness(t=0.2)"]
ALL += ["l_diversity(l=2, kind=recursive, c=2)", "l_diversity(l=2, kind=probabilistic)"]
ALL += ["alpha_k_anonymity(alpha=0.5, k=2)", "beta_likeness(beta=1)", "delta_disclosure(delta=1)"]
ALL += ["ck_safety(c=0.9, k=1)", "privacy_skyline(points=[[0, 1, 0, 0.9]])"]
EVERY = [word for requirement in ALL for word in ("--require", requirement)]
SHAPES = {
    "all rows equal": ["30,flu"] * 6,
    "all rows distinct": [f"{20 + n},illness{n}" for n in range(6)],
    "NULL everywhere": [","] * 6,
    "one value of one person": ["30,flu"],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_criterion_judges_this_shape_without_a_crash_and_never_safe(tmp_path: Path, shape: str) -> None:
    told = check(saved(tmp_path, "\n".join(["age,illness", *SHAPES[shape], ""])), *EVERY)
    assert told.exit == 1 and not told.json["errors"]
    assert [verdict["requirement"] for verdict in told.json["verdicts"]] == ALL
    assert not all(verdict["safe"] for verdict in told.json["verdicts"])


def test_one_sensitive_value_everywhere_is_disclosed_and_as_close_as_can_be(tmp_path: Path) -> None:
    path = saved(tmp_path, "age,illness\n" + "30,flu\n" * 5 + "40,flu\n" * 5)
    verdicts = {v["requirement"]: v for v in check(path, *EVERY).json["verdicts"]}
    for name in ("ck_safety(c=0.9, k=1)", "privacy_skyline(points=[[0, 1, 0, 0.9]])"):
        assert (verdicts[name]["safe"], verdicts[name]["value"]) == (False, "1")
    diverse = [verdicts[name]["safe"] for name in ALL if name.startswith("l_diversity")]
    assert diverse == [False] * 4
    close = verdicts["t_closeness(t=0.2)"]
    assert (close["safe"], close["value"]) == (True, "0")


@pytest.mark.parametrize("kind", ["NaN", "infinite"])
def test_numbers_that_are_none_make_groups_of_their_own_and_no_crash(
    tmp_path: Path, engine: Any, kind: str
) -> None:
    odd = float("nan" if kind == "NaN" else "inf")
    rows = pd.DataFrame({"age": [odd, odd, 1.5, 1.5], "illness": ["flu", "cold", "flu", "cold"]})
    stored(tmp_path, rows)
    verdicts = ps.check(engine, ps.Table(tmp_path / "people.parquet", ["age"], "illness"), [ps.KAnonymity(2)])
    assert verdicts["k_anonymity(k=2)"].value == 2


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_sensitive_number_that_is_none_has_no_place_in_an_order(
    tmp_path: Path, engine: Any, odd: float
) -> None:
    rows = pd.DataFrame({"age": [1, 1, 2, 2], "income": [odd, 2.0, 3.0, 4.0]})
    stored(tmp_path, rows)
    table = ps.Table(tmp_path / "people.parquet", ["age"], "income")
    with pytest.raises(DataError, match="not numbers"):
        ps.check(engine, table, [ps.TCloseness("0.9", distance="ordered")])


def test_a_hierarchy_refuses_a_number_that_is_none(tmp_path: Path, engine: Any) -> None:
    rows = pd.DataFrame({"age": [float("nan"), 2.0, 3.0], "illness": ["a", "b", "c"]})
    stored(tmp_path, rows)
    table = ps.Table(tmp_path / "people.parquet", {"age": ps.Intervals(10)}, "illness")
    with pytest.raises(DataError, match="does not cover 1 value"):
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({"age": 1}))


def test_look_alike_values_are_warned_about_and_count_as_different(tmp_path: Path) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "flu")
    told = check(
        saved(tmp_path, f"age,illness\n1,Flu\n1,flu\n1,flu \n1,{wide}\n"), "--require", "l_diversity(l=4)"
    )
    assert told.exit == 0
    assert told.json["warnings"] == [
        "illness: 3 values written almost like another; they count as different values"
    ]


def test_values_that_only_look_alike_are_not_warned_about_when_they_differ(tmp_path: Path) -> None:
    assert check(saved(tmp_path, "age,illness\n1,flu\n1,flue\n")).json["warnings"] == []


def test_a_repeated_person_is_a_data_error_unless_declared(tmp_path: Path) -> None:
    path = saved(tmp_path, "id,age,illness\n7,30,flu\n7,30,cold\n8,30,flu\n")
    refused = check(path, "--identifier", "id", *ONE)
    assert (refused.exit, refused.codes) == (3, ["repeated_person"])
    for declared in ("set", "multiset"):
        told = check(path, "--identifier", "id", "--values-per-person", declared, *ONE)
        assert (told.exit, told.json["verdicts"][0]["value"]) == (0, "2")


def test_a_row_about_nobody_is_a_data_error(tmp_path: Path) -> None:
    told = check(saved(tmp_path, "id,age,illness\n,30,flu\n8,30,flu\n"), "--identifier", "id", *ONE)
    assert (told.exit, told.codes) == (3, ["no_person"])


def test_null_in_a_quasi_identifier_is_a_value_or_an_error_as_declared(engine: Any) -> None:
    rows = pd.DataFrame({"age": ["30", "30", None, None], "illness": ["a", "b", "a", "b"]})
    table = ps.Table(rows, ["age"], "illness")
    assert ps.check(engine, table, [ps.KAnonymity(2)])["k_anonymity(k=2)"].value == 2
    with pytest.raises(DataError, match="age is missing in 2 rows"):
        ps.check(engine, ps.Table(rows, ["age"], "illness", quasi_nulls="error"), [ps.KAnonymity(2)])


def test_null_as_a_sensitive_value_is_never_dropped(engine: Any) -> None:
    rows = pd.DataFrame({"age": ["30"] * 3, "illness": ["a", None, None]})
    found = ps.check(engine, ps.Table(rows, ["age"], "illness"), [ps.KAnonymity(2), ps.LDiversity(2)])
    assert [verdict.value for verdict in found.values()] == [3, 2]
    with pytest.raises(DataError, match="illness is missing in 2 rows"):
        ps.check(engine, ps.Table(rows, ["age"], "illness", sensitive_nulls="refuse"), [ps.KAnonymity(2)])


# -- a misspelt column, wherever it is named -----------------------------------------------------------------


def test_a_misspelt_column_is_met_with_the_nearest_name_on_the_command_line(tmp_path: Path) -> None:
    path = saved(tmp_path, "zip_code,illness\n1,flu\n")
    told = check(path, "--where", "zipcode = '1'", *ONE, quasi="zip_code")
    assert (told.exit, told.json["errors"][0]["hint"]) == (2, 'Did you mean "zip_code"?')
    told = check(path, "--identifier", "ilness", *ONE, quasi="zipcode", sensitive="illnes")
    assert told.exit == 2
    assert [error["hint"] for error in told.json["errors"]] == [
        'Did you mean "zip_code"?',
        'Did you mean "illness"?',
        'Did you mean "illness"?',
    ]


def test_a_misspelt_column_is_met_with_the_nearest_name_in_python(engine: Any) -> None:
    rows = pd.DataFrame({"zip_code": ["1"], "illness": ["flu"]})
    with pytest.raises(UsageError, match='Did you mean "zip_code"'):
        ps.check(engine, ps.Table(rows, ["zipcode"], "illness"), [ps.KAnonymity(2)])
    table = ps.Table(rows, {"zip_code": ps.Mask(0)}, "illness")
    with pytest.raises(UsageError, match='Did you mean "zip_code"'):
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({"zipcode": 1}))


def test_a_file_whose_columns_nothing_known_separates_is_told_what_does(tmp_path: Path) -> None:
    told = check(saved(tmp_path, "age|zip|sex|illness\n30|1|f|flu\n"), *ONE)
    assert told.exit == 2 and all("semicolon or tab" in error["hint"] for error in told.json["errors"])


NAMED_TWICE = {
    "a quasi-identifier twice": {"quasi": "age,age"},
    "a quasi-identifier that is sensitive": {"quasi": "age,illness"},
    "a sensitive column twice": {"sensitive": "illness,illness"},
}


@pytest.mark.parametrize("how", NAMED_TWICE)
def test_a_column_named_twice_is_refused_on_the_command_line_and_in_python(tmp_path: Path, how: str) -> None:
    asked = {"quasi": "age", "sensitive": "illness", **NAMED_TWICE[how]}
    told = check(saved(tmp_path, "age,illness\n30,flu\n30,cold\n"), *ONE, **asked)
    assert (told.exit, told.json["errors"][0]["code"]) == (2, "two_roles")
    with pytest.raises(UsageError, match="more than once"):
        ps.Table("people.csv", asked["quasi"].split(","), asked["sensitive"].split(","))


@pytest.mark.parametrize("verb", ["check", "curve", "skyline"])
def test_a_question_about_a_table_and_one_about_a_project_are_not_mixed(tmp_path: Path, verb: str) -> None:
    project = tmp_path / "p"
    assert call("init", "--example", project).exit == 0
    path = saved(tmp_path, "age,illness\n30,flu\n")
    both = ["--source", path, "--quasi", "age", "--sensitive", "illness", "--select", "people"]
    more = ONE if verb == "check" else []
    assert call(verb, "--json", "--project", project, *both, *more).json["errors"][0]["code"] == "two_tables"
    told = call(verb, "--json", "--project", project, "--quasi", "age", *more)
    assert (told.exit, told.json["errors"][0]["code"]) == (2, "no_source")


def test_one_name_stands_for_a_list_of_one_column() -> None:
    table = ps.Table("people.csv", "age", "illness", drop="name", insensitive="hours")
    assert set(table.roles) == {"age", "illness", "name", "hours"}


@pytest.mark.parametrize("source", [None, 5, object()])
def test_what_is_no_source_is_a_usage_error(engine: Any, source: Any) -> None:
    with pytest.raises(UsageError, match="cannot be a source"):
        ps.check(engine, ps.Table(source, ["age"], "illness"), [ps.KAnonymity(2)])


def test_a_tree_and_a_marginal_of_another_shape_are_usage_errors(engine: Any) -> None:
    with pytest.raises(UsageError, match="must map each value"):
        ps.Tree([["flu", "*"], ["cold", "*"]])  # type: ignore[arg-type]
    rows = pd.DataFrame({"age": [1, 2], "illness": ["flu", "cold"]})
    with pytest.raises(UsageError, match="level of each column"):
        ps.MarginalSet(engine, ps.Table(rows, ["age"], "illness"), [["age", "illness"]])


# -- limits --------------------------------------------------------------------------------------------------

NO_LIMITS = [
    *("k_anonymity(k=0)", "k_anonymity(k=-1)", "k_anonymity(k=2.5)", "k_anonymity(k=nan)", "k_anonymity"),
    *("l_diversity(l=0)", "l_diversity(l=inf)", "l_diversity(l=1e400)", "l_diversity(l=1/0)"),
    *("l_diversity(kind=recursive, l=2, c=inf)", "l_diversity(kind=entropy, l=nan)"),
    *("t_closeness(t=nan)", "t_closeness(t=1.01)", "t_closeness(t=-0.1)"),
    *("alpha_k_anonymity(alpha=2, k=2)", "beta_likeness(beta=inf)", "delta_disclosure(delta=1e400)"),
    *("ck_safety(c=0, k=1)", "ck_safety(c=1.5, k=1)", "ck_safety(c=nan, k=1)", "ck_safety(c=0.5, k=-1)"),
    *("k_map(k=0)", "delta_presence(low=0.5, high=0.1)", "delta_presence(low=0, high=nan)"),
    *("bt_privacy(bandwidth=0.3, t=nan)", "bt_privacy(bandwidth=0.3, t=inf)"),
    "bt_privacy(bandwidth=0.3, t=1.5)",
    *("privacy_skyline(points=[[0, 1, 0, 1.5]])", "privacy_skyline(points=[[0, -1, 0, 0.5]])"),
    *("k_link(k=0)", "k_combinatorial(k=inf)", "maxent_l_diversity(l=2, c=nan)"),
]
LIMITS = [
    *(
        "k_anonymity(k=2)",
        "l_diversity(l=2)",
        "l_diversity(kind=recursive, l=2, c=2)",
        "t_closeness(t=0.999)",
    ),
    *("alpha_k_anonymity(alpha=1, k=2)", "beta_likeness(beta=1)", "delta_disclosure(delta=1)"),
    *("ck_safety(c=1, k=0)", "k_map(k=2)", "delta_presence(low=0.1, high=0.5)", "k_link(k=2)"),
    *("bt_privacy(bandwidth=0.3, t=1)", "privacy_skyline(points=[[0, 1, 0, 1]])", "k_combinatorial(k=2)"),
    "maxent_l_diversity(l=2, c=2)",
]


@pytest.mark.parametrize("requirement", LIMITS)
def test_a_limit_at_the_end_of_its_range_is_judged(tmp_path: Path, requirement: str) -> None:
    path = saved(tmp_path, "age,illness\n30,flu\n30,cold\n")
    told = check(path, "--require", requirement, "--population", path)
    assert told.exit in (0, 1) and not told.json["errors"]


@pytest.mark.parametrize("requirement", NO_LIMITS)
def test_a_limit_that_is_not_finite_or_out_of_range_is_refused(tmp_path: Path, requirement: str) -> None:
    path = saved(tmp_path, "age,illness\n30,flu\n30,cold\n")
    told = check(path, "--require", requirement, "--population", path)
    assert told.exit == 2 and told.json["safe"] is None


@pytest.mark.parametrize(
    "text",
    ["", "5", "k_anonymity(", "k_anonymity(5)", "k_anonymity)k=5(", "no_such(k=5)", "k_anonymity(k=1, k=2)"],
)
def test_what_is_no_requirement_is_a_usage_error(tmp_path: Path, text: str) -> None:
    assert check(saved(tmp_path, "age,illness\n30,flu\n"), "--require", text).exit == 2


def test_nothing_required_is_not_safe(tmp_path: Path, engine: Any) -> None:
    path = saved(tmp_path, "age,illness\n30,flu\n")
    assert call("check", "--json", "--source", path, "--quasi", "age").exit == 2
    with pytest.raises(UsageError):
        ps.check(engine, ps.Table(path, ["age"], "illness"), [])


def test_every_error_of_a_table_is_reported_at_once(engine: Any) -> None:
    rows = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(PrivacySqlError) as caught:
        ps.check(engine, ps.Table(rows, ["x", "y"], "z"), [ps.KAnonymity(2)])
    assert len(caught.value.parts) == 3


@pytest.mark.parametrize(
    "require", [ps.KAnonymity(2), "k_anonymity(k=2)", ["k_anonymity(k=2)"], [ps.KAnonymity]]
)
def test_what_is_no_list_of_criteria_is_refused(engine: Any, require: Any) -> None:
    with pytest.raises(UsageError, match="list of criteria"):
        ps.check(engine, ps.Table(pd.DataFrame({"age": [1, 1]}), ["age"]), require)


def test_a_file_alone_says_not_which_columns_are_what(engine: Any) -> None:
    with pytest.raises(UsageError, match="a Release or"):
        ps.check(engine, "people.csv", [ps.KAnonymity(2)])


def test_nobody_can_be_studied_in_an_empty_table(engine: Any) -> None:
    nobody = pd.DataFrame({"age": [], "illness": []}, dtype=object)
    with pytest.raises(DataError, match="no rows"):
        ps.prior(engine, ps.Table(nobody, ["age"], "illness"))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ps.kernel_weight("x", 1),
        lambda: ps.kernel_weight("1/2", "nan"),
        lambda: ps.numeric_distance("1/0", 1, 2),
        lambda: ps.noise_posterior([[1]], [[1]], [1], ["much"]),
    ],
)
def test_text_that_is_no_number_is_a_usage_error(ask: Any) -> None:
    with pytest.raises(UsageError, match="a fraction as text"):
        ask()


def test_what_is_no_release_table_engine_or_path_is_called_so(tmp_path: Path) -> None:
    table = ps.Table(pd.DataFrame({"a": ["1", "1"]}), ["a"])
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({}))
        for call in (
            lambda: ps.write(engine, None, tmp_path / "x.csv"),
            lambda: ps.write(engine, release, None),
            lambda: ps.write(engine, release, ""),
            lambda: ps.verify(None),
            lambda: ps.verify(b"x.csv"),
            lambda: ps.report(None, tmp_path / "x.html"),
            lambda: ps.report(release, None),
            lambda: ps.report(release, tmp_path / "x.html", audience="publik"),
            lambda: ps.check(None, table, [ps.KAnonymity(2)]),
            lambda: ps.search(engine, table, [ps.KAnonymity(2)], goal="bst"),
            lambda: ps.disclosure_curve(engine, None, 2),
            lambda: ps.disclosure_risk(engine, None, []),
            lambda: ps.baseline(engine, None),
            lambda: ps.prior(engine, None, bandwidth="0.1"),
            lambda: ps.find_skyline(engine, None, value="a", limit="0.5"),
            lambda: ps.MarginalSet(engine, None, []),
            lambda: ps.MarginalSet(engine, table, None),
            lambda: ps.classification_accuracy(engine, None),
            lambda: ps.knowledge_attack(engine, None, "0.2"),
            lambda: ps.intersection_attack(engine, None, table),
            lambda: ps.connect(None),
        ):
            with pytest.raises(ps.PrivacySqlError) as told:
                call()
            assert told.value.exit == 2 and told.value.hint
    assert not list(tmp_path.iterdir())


def test_people_whose_rows_differ_are_refused_with_the_columns_in_which_they_differ(tmp_path: Path) -> None:
    path = saved(tmp_path, "id,age,sex,zip,illness\n7,30,F,1,flu\n7,31,F,,cold\n8,30,M,1,flu\n")
    asked = ["--identifier", "id", "--values-per-person", "set", "--require", "k_anonymity(k=2)"]
    told = call("check", "--source", path, "--quasi", "age,sex,zip", "--sensitive", "illness", *asked)
    assert told.exit != 0 and "differ in a quasi-identifier: age, zip" in told.err
