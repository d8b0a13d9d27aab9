"""Names and values of users are quoted or refused, and a locked engine has nothing to give away."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import EngineError, PrivacySqlError, UsageError
from privacy_sql.query.template import Query, environment, literal, quote
from tests.command_line import check
from tests.conftest import ROOT

NAMES = [
    *(
        'x"; drop table t; --',
        "`b`",
        "😀",
        "select",
        "AGE Group",
        "  padded ",
        "o'brien",
        "a.b",
        "a,b",
        "a;b",
    ),
    *(
        "{{ 7*7 }}",
        "{% raw %}",
        "q1",
        "q2",
        "s",
        "g",
        "grp",
        "n_rows",
        "code",
        "value",
        "k1",
        "rows",
        "source",
    ),
    *(
        "h",
        "one",
        "key",
        "occurrence",
        "1",
        "$1",
        "?",
        "é",
        "\\",
        "null",
        "%s",
        "a/*",
        "--",
        '"',
        "label",
    ),
]


def named(folder: Path, quasi: str, sensitive: str) -> Path:
    path = folder / "people.csv"
    with path.open("w", newline="") as lines:
        rows = [[str(20 + n % 2), "flu" if n < 2 else "cold", "x"] for n in range(4)]
        csv.writer(lines).writerows([[quasi, sensitive, "free"], *rows])
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_is_judged_and_published_under_it(tmp_path: Path, name: str) -> None:
    require = [ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.9")]
    # each name is a quasi-identifier once, and sensitive once beside the name before it
    sensitive = [*NAMES, *NAMES][NAMES.index(name) + 1]
    path = named(tmp_path, name, sensitive)
    with ps.connect() as engine:
        table = ps.Table(
            path,
            {name: ps.Intervals(10)},
            sensitive,
            insensitive={"columns": ["free"], "acknowledge": "a test reads it"},
        )
        made = ps.publish(engine, table, require, ps.Generalise({name: 1}))
        assert made.verdicts["k_anonymity(k=2)"].value == 4
        ps.write(engine, made, tmp_path / "out.csv", overwrite=True)
    with (tmp_path / "out.csv").open(newline="") as lines:
        header, *rows = csv.reader(lines)
    assert header == [name, sensitive, "free"] and {row[0] for row in rows} == {"20-29"}


@pytest.mark.parametrize("name", ['x"; drop table t; --', "😀", "select", "code", "{{ 7*7 }}"])
def test_a_column_of_any_name_is_bucketized_into_a_table(tmp_path: Path, name: str) -> None:
    with ps.connect() as engine:
        engine.connection.execute("create table t (a int)")
        rows = pd.read_csv(named(tmp_path, name, "illness"), dtype=str)
        table = ps.Table(rows, {name: ps.Intervals(10)}, "illness")
        made = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Bucketize({name: 1}))
        place = ps.write(
            engine, made, 'table:"out""; drop table t; --"', manifest_to=tmp_path / "m.manifest.json"
        )
        assert ps.verify(place, engine) and engine.has_table("t")


def test_a_name_with_a_nul_character_is_refused(engine: Any) -> None:
    with pytest.raises(UsageError, match="NUL"):
        quote("a\0b")
    with pytest.raises(PrivacySqlError):
        ps.check(engine, ps.Table(pd.DataFrame({"a\0b": [1]}), ["a\0b"]), [ps.KAnonymity(1)])


def test_values_never_become_sql(tmp_path: Path, engine: Any) -> None:
    evil = ["'; drop table t; --", "{{ 7*7 }}", "$1", "\\'", "%(x)s", "' or 1=1 --", "a\nb", '"']
    rows = pd.DataFrame({"age": evil, "illness": evil[::-1]})
    tree = ps.Tree({value: [evil[0], "*"] for value in evil})
    table = ps.Table(rows, {"age": tree}, "illness")
    engine.connection.execute("create table t (a int)")
    made = ps.publish(engine, table, [ps.KAnonymity(8)], ps.Generalise({"age": 1}))
    ps.write(engine, made, tmp_path / "out.parquet")
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert set(out["age"]) == {evil[0]} and set(out["illness"]) == set(evil)
    assert engine.has_table("t")
    assert not any(value in made.sql() for value in evil if len(value) > 2)


# -- where: --------------------------------------------------------------------------------------------------

REFUSED = [
    *("age = '30'; drop table x", "1=1) or (select count(*) from x) > 0", "age in (select 1)"),
    *(
        "exists (select 1)",
        "read_text('/etc/passwd') = ''",
        "age = '30' union select 1",
        "age = '30' limit 1",
    ),
    *("age = 30 group by age", "sum(1) > 1", "getenv('HOME') = 'x'", "age = $1", "age = ?", "x.age = 1"),
    *("random() < 1", "*", "age similar to 'x'", "age = '30' order by 1", "age = (1, 2)", "", "  ", "age ="),
    *("case when age = '1' then 1 end = 1", "age = e'\\x'", "unnest([1]) = 1", "age[1] = '3'", "a -> 'b'"),
    *("count(*) over () > 1", "age = any(select 1)", "columns(*) = 1", "current_setting('x') = '1'"),
    *("pragma_version() = 1", "age = '30' window w as ()", "lambda x: x", "illness.x = 1", "age = @a"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_condition_that_is_more_than_a_comparison_is_refused(tmp_path: Path, text: str) -> None:
    told = check(named(tmp_path, "age", "illness"), "--where", text, "--require", "k_anonymity(k=2)")
    assert told.exit == 2, told.everything


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age = '20'", 2),
        ("AGE in ('20', '21') and not illness like 'f%'", 2),
        ("cast(age as int) between 20 and 21 and length(trim(lower(illness))) > 2", 4),
        ("coalesce(illness, 'x') <> 'flu' or free is null", 2),
        ("age = '20' -- and nothing else", 2),
        ("true", 4),
        ("age >= 21", 2),
        ("20 = age or age * 2 = 42", 4),
        ("age between 20.5 and 1e2 and -age < 0 and length(age) = 2", 2),
        ("(age) in (20, 99)", 2),
    ],
)
def test_a_plain_condition_selects_rows(tmp_path: Path, text: str, rows: int) -> None:
    told = check(named(tmp_path, "age", "illness"), "--where", text, "--require", "k_anonymity(k=2)")
    assert told.json["rows"] == rows, told.everything


def test_text_that_is_no_number_is_counted_and_refused_where_a_condition_compares_it_with_one(
    tmp_path: Path,
) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age,illness\n20,flu\n,flu\nabc,flu\n1e400,flu\n")
    told = check(source, "--where", "age >= 18", "--require", "k_anonymity(k=2)")
    assert (told.exit, told.codes) == (3, ["unmapped_value"])
    assert told.json["errors"][0]["message"].startswith("2 values of age") and "abc" not in told.everything


@pytest.mark.parametrize(
    "value", ["a\n\nb", "a \nb", "a\u2028b", "a\x85b", "a--\n\nb", "it's\n\n", 'a"\n\n"b']
)
def test_a_condition_means_the_text_that_was_written(value: str) -> None:
    """Blank lines of a template go; those in a literal are the user's."""
    rows = pd.DataFrame({"age": [value, " ".join(value.split()), value.replace("\n\n", "\n") + "."]})
    condition = "age = '" + value.replace("'", "''") + "'"
    with ps.connect() as engine:
        found = ps.check(engine, ps.Table(rows, ["age"], where=condition), [ps.KAnonymity(1)])
        assert found["k_anonymity(k=1)"].witness.reveal()["keys"] == {"age": value}


# -- templates -----------------------------------------------------------------------------------------------


def template(folder: Path, text: str, name: str = "t.sql") -> Any:
    (folder / "root").mkdir(exist_ok=True)
    (folder / "root" / name).write_text(text)
    return environment([folder / "root"])


def test_a_template_outside_its_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.sql").write_text("select 1")
    made = template(tmp_path, '{% include "../secret.sql" %}')
    (tmp_path / "root" / "link.sql").symlink_to(tmp_path / "secret.sql")
    (tmp_path / "root" / "folder").symlink_to(tmp_path)
    for name in ("../secret.sql", "link.sql", "folder/secret.sql", str(tmp_path / "secret.sql"), "t.sql"):
        with pytest.raises(Exception, match=r"outside|secret"):
            made.get_template(name).render()


@pytest.mark.parametrize(
    "text",
    [
        "select {{ absent }}",
        "select {{ ''.__class__.__mro__ }}",
        "select {{ value }}",
        "select {{ 'a' ~ value }}",
        "select {{ value | safe }}",
        "select {{ [value] | join }}",
        "select {{ '%s' % value }}",
        "select {{ cycler.__init__.__globals__ }}",
    ],
)
def test_a_template_that_prints_what_is_not_sql_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017 - the sandbox has errors of its own
        template(tmp_path, text).get_template("t.sql").render(value="x; drop table t")


def test_a_literal_is_text_or_a_whole_number() -> None:
    assert str(literal("'; --")) == "'''; --'"
    for value in (1.5, True, ["x"], b"x"):
        with pytest.raises(TypeError):
            literal(value)  # type: ignore[arg-type]


# -- the locked engine ---------------------------------------------------------------------------------------

FORBIDDEN = [
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "select * from '/etc/passwd'",
    "select * from glob('/etc/*')",
    "copy (select 1) to '/tmp/privacy_sql_stolen.csv'",
    "attach '/tmp/privacy_sql_stolen.db'",
    "install httpfs",
    "load httpfs",
    "load icu_not_there",
    "set enable_external_access = true",
    "set allowed_directories = ['/']",
    "set allowed_paths = ['/etc/passwd']",
    "set lock_configuration = false",
    "set memory_limit = '1TB'",
    "set temp_directory = '/tmp'",
    "reset allowed_directories",
    "set python_enable_replacements = true",
    "export database '/tmp/privacy_sql_stolen'",
    "create secret s (type s3)",
]


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_engine_reaches_nothing_else_and_cannot_be_unlocked(engine: Any, statement: str) -> None:
    with pytest.raises(duckdb.Error):
        engine.connection.execute(statement).fetchall()
    assert not list(Path("/tmp").glob("privacy_sql_stolen*"))


def test_an_engine_reads_the_files_it_was_opened_for_and_no_neighbour(tmp_path: Path) -> None:
    path = named(tmp_path, "age", "illness")
    (tmp_path / "neighbour.csv").write_text("a\n1\n")
    with ps.connect("duckdb:", files=[path]) as engine:
        engine.fetch(Query(f"select count(*) from read_csv('{path}')"))
        with pytest.raises(EngineError):
            engine.fetch(Query(f"select * from read_csv('{tmp_path / 'neighbour.csv'}')"))
        with pytest.raises(EngineError):
            engine.fetch(Query(f"select * from read_csv('{tmp_path}/*.csv')"))


def test_a_relation_that_does_not_exist_never_becomes_a_variable(engine: Any) -> None:
    hidden = pd.DataFrame({"age": [1]})
    with pytest.raises(UsageError):
        ps.check(engine, ps.Table("hidden", ["age"]), [ps.KAnonymity(1)])
    assert len(hidden) == 1


def test_spill_files_lie_in_a_private_folder_that_goes_with_the_engine() -> None:
    with ps.connect() as engine:
        (spill,) = engine.connection.execute("select current_setting('temp_directory')").fetchone()
        folder = Path(spill)
        assert folder.stat().st_mode & 0o777 == 0o700 and folder.stat().st_uid == os.getuid()
        with ps.connect() as other:
            other.connection  # noqa: B018 - its start sweeps, and a live folder stays
        assert folder.is_dir()
    assert not folder.exists()


def test_an_engine_that_was_closed_says_so(engine: Any) -> None:
    engine.close()
    with pytest.raises(UsageError, match="closed"):
        engine.fetch(Query("select 1"))


def test_spill_folders_go_when_a_program_ends_without_closing(tmp_path: Path) -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import privacy_sql as ps; e = ps.connect(); e.connection; raise SystemExit(3)",
        ],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=False,
    )
    assert told.returncode == 3 and not list(tmp_path.iterdir())


def test_sweeping_follows_no_link_and_touches_no_other_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privacy_sql.engines import _spill as ours

    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (tmp_path / "privacy_sql-link").symlink_to(tmp_path / "precious")
    (tmp_path / "privacy_sql-file").write_text("x")
    theirs = ["precious", "privacy_sql-link", "privacy_sql-file"]
    for name in ("0.2.0", "projects", "mine"):  # an unpacked archive, and folders that anybody may make
        folder = tmp_path / f"privacy_sql-{name}"
        folder.mkdir(mode=0o700)
        (folder / "file").write_text("x")
        theirs.append(folder.name)
    for name, mark in (("abcdefg1", None), ("abcdefg2", ours.MARK)):
        folder = tmp_path / f"privacy_sql-{name}"
        folder.mkdir(mode=0o700)
        if mark:
            (folder / mark).touch()
            (folder / "rows").write_text("x")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours.sweep()
    assert {path.name for path in tmp_path.iterdir()} == set(theirs)
    assert (tmp_path / "privacy_sql-0.2.0" / "file").is_file()
    assert (tmp_path / "precious" / "file").is_file()


@pytest.mark.parametrize("limits", [{"threads": "-3"}, {"threads": "many"}, {"memory_limit": "a lot"}])
def test_a_limit_the_engine_cannot_read_is_a_usage_error(limits: dict[str, str]) -> None:
    with ps.connect("duckdb:", **limits) as engine, pytest.raises(UsageError):
        engine.fetch(Query("select 1"))
