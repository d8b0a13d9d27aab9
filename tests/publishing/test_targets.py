"""Whose file is that? What is not ours, or is something we read or keep, is never written over."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from privacy_sql import files
from privacy_sql.errors import UsageError
from privacy_sql.papers import Figure, save
from privacy_sql.publishing import targets
from privacy_sql.reporting import static
from tests.command_line import Told, call
from tests.conftest import ROOT
from tests.in_time import in_time
from tests.project.test_project import PROJECT, write


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but for what tells how the last run ended."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    told = ("target/run_results.json", "target/records/")
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(told)}


def refused(told: Told, *codes: str) -> dict[str, str]:
    """The one error of a refusal with one of these codes."""
    assert told.exit == 2, told.everything
    (error,) = told.json["errors"]
    assert error["code"] in codes, error
    return error


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has been run, with a budget and a register."""
    made = write(tmp_path_factory.mktemp("run_once"), PROJECT)
    assert call("budget", "limit", "--epsilon", "2", "--project", made).exit == 0
    assert call("run", "--project", made).exit == 0
    place = made / "out" / "people.csv.manifest.json"
    assert call("register", "add", "people", place, "--project", made).exit == 0
    return made


@pytest.fixture
def folder(run_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(run_once, tmp_path, dirs_exist_ok=True)


# -- a manifest vouches for the files it names ----------------------------------------------------------


def test_a_manifest_under_the_name_of_another_file_vouches_for_nothing(folder: Path) -> None:
    out = folder / "out"
    other = out / "other.csv"
    other.write_text("age,illness\n21,flu\n")
    shutil.copy(out / "people.csv.manifest.json", out / "other.csv.manifest.json")
    for named in (other, out / "other.csv.manifest.json"):
        for verb in ("verify", "report"):
            told = call(verb, "--json", named, "--project", folder)
            assert (told.exit, told.codes) == (1, ["other_file"]), told.everything
            assert "other.csv" in told.json["errors"][0]["message"]
    assert not list(out.glob("*.html"))
    assert call("verify", out / "people.csv").exit == 0


def test_a_manifest_that_names_a_file_elsewhere_vouches_for_nothing(folder: Path) -> None:
    from privacy_sql import manifest

    place = folder / "out" / "people.csv.manifest.json"
    content = manifest.read(place).to_json()
    (folder / "people.csv").write_bytes((folder / "out" / "people.csv").read_bytes())
    for elsewhere in ("../people.csv", str(folder / "people.csv"), "./people.csv"):
        place.write_bytes(manifest.canonical({**content, "output": {**content["output"], "file": elsewhere}}))
        assert call("verify", "--json", folder / "out" / "people.csv").codes == ["other_file"]


def test_the_manifest_of_a_table_says_nothing_of_a_file(folder: Path) -> None:
    from privacy_sql import manifest

    place = folder / "out" / "people.csv.manifest.json"
    content = manifest.read(place).to_json()
    marks = dict.fromkeys(("n_rows", *(f"h{piece}" for piece in range(1, 9))), 1)
    place.write_bytes(manifest.canonical({**content, "output": {"relation": "people", **marks}}))
    for verb in ("verify", "report"):
        assert call(verb, "--json", folder / "out" / "people.csv", "--project", folder).codes == [
            "other_file"
        ]


def test_every_part_of_a_release_leads_to_its_manifest(tmp_path: Path) -> None:
    changed: Any = json.loads(json.dumps(PROJECT))
    (release,) = changed["releases"].values()
    release["method"] = {"bucketize": {"by": ["zip"], "layout": "two_tables"}}
    release["require"] = {"l_diversity": {"l": "2"}}
    write(tmp_path, changed)
    told = call("run", "--json", "--project", tmp_path)
    assert told.exit == 0, told.everything
    parts = sorted((tmp_path / "out").glob("people.*.csv"))
    assert len(parts) == 2
    for part in (*parts, tmp_path / "out" / "people.csv.manifest.json", tmp_path / "out" / "people.csv"):
        assert call("verify", part).exit == 0, part
    stray = tmp_path / "out" / "people.more.csv"
    stray.write_text("age\n1\n")
    assert call("verify", "--json", stray).codes == ["no_manifest"]
    parts[1].write_text("changed")
    assert call("verify", "--json", parts[0]).codes == ["output_changed"]


# -- reports, pictures, figures, projects ------------------------------------------------------------------


def test_a_report_is_written_over_reports_only(folder: Path) -> None:
    place = folder / "out" / "people.csv.manifest.json"
    page = folder / "mine.html"
    page.write_text("<!DOCTYPE html><title>mine</title>")
    os.symlink(folder / "people.csv", folder / "linked.html")
    os.link(folder / "people.csv", folder / "hard.html")
    targets = ["people.csv", "privacy.yml", "mine.html", "linked.html", "hard.html", "out/people.csv"]
    targets += ["privacy_ledger.jsonl", "privacy_ledger.jsonl.head", "privacy_register.jsonl", "out"]
    targets += ["target/private/source.key", "target/private/new.html", "out/people.csv.manifest.json"]
    targets += ["Privacy.YML", "new.manifest.json"]
    before = contents(folder)
    for name in targets:
        told = call("report", "--json", place, "-o", folder / name, "--project", folder)
        if name == "out":  # a folder: the report goes into it
            assert told.exit == 0 and (folder / "out" / "people.html").exists()
            (folder / "out" / "people.html").unlink()
            continue
        refused(told, "target_in_use", "target_exists")
    assert contents(folder) == before
    for _ in range(2):  # its own page is replaced without a question
        told = call("report", "--json", place, "-o", folder / "new.html", "--project", folder)
        assert told.exit == 0, told.everything


def test_the_pages_of_a_project_replace_nothing_of_somebody_else(folder: Path) -> None:
    site = folder / "site"
    site.mkdir()
    for name in ("index.html", "people.html"):
        (site / name).write_text("<html>mine</html>")
        error = refused(call("report", "--json", "-o", site, "--project", folder), "target_exists")
        assert str(site / name) in error["hint"]
        assert [path.name for path in site.iterdir()] == [name]
        (site / name).unlink()
    for _ in range(2):
        assert call("report", "-o", site, "--project", folder).exit == 0


@pytest.fixture
def one_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first chart of a report is drawn."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(static, "draw", partial(first_chart, static.draw))


def first_chart(draw: Any, charts: Any, _: object, folder: Path) -> Any:
    return draw(charts[:1], None, folder)


@pytest.mark.usefixtures("one_chart")
def test_pictures_replace_pictures_of_ours_only(folder: Path) -> None:
    words = ("report", "--json", "--static", "-o", folder / "site", "--project", folder)
    assert call(*words).exit == 0
    assert call(*words).exit == 0
    made = folder / "site" / "people"
    before = contents(made)
    for kind in ("svg", "png"):
        picture = min(made.glob(f"*.{kind}"))
        ours = before[picture.name]
        others = {
            "another picture": b"\x89PNG mine",
            "a picture about us": b'<svg><title>my drawing for the "privacy-sql" talk</title></svg>',
            "our picture, edited": ours.replace(b"guess", b"GUESS", 1)
            if kind == "svg"
            else ours[:-99] + ours[-98:],
            "our picture, cut off": ours[: len(ours) // 2],
            "our picture, with more": ours + b"mine",
        }
        for what, other in others.items():
            assert other != ours, what
            picture.write_bytes(other)
            refused(call(*words), "target_exists")
            assert contents(made) == {**before, picture.name: other}, what
        picture.write_bytes(ours)
    assert call(*words).exit == 0 and contents(made) == before


def test_pictures_of_versions_that_wrote_no_checksum_are_ours(tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(1, 1))
    metadata = {"svg": {"Date": None, "Creator": "privacy-sql"}, "png": {"Software": "privacy-sql"}}
    for kind, own in metadata.items():
        place = tmp_path / f"people.{kind}"
        figure.savefig(place, metadata=own)
        old = place.read_bytes()
        assert static.is_ours(old) and static.is_ours(static.sealed(old))
        figure.savefig(place, metadata={next(iter(reversed(own))): "the privacy-sql talk"})
        assert not static.is_ours(place.read_bytes())
        # since there is a checksum, a picture whose checksum somebody removed is not ours
        figure.savefig(place, metadata={next(iter(reversed(own))): static.CREATOR})
        assert not static.is_ours(place.read_bytes())


@pytest.mark.usefixtures("one_chart")
@pytest.mark.parametrize("full", [False, True])
def test_a_picture_that_was_cut_off_by_a_kill_or_a_full_disk_blocks_no_later_report(
    folder: Path, full: bool
) -> None:
    words = ("report", "--static", "-o", folder / "site", "--project", folder)
    assert call(*words).exit == 0
    made = folder / "site" / "people"
    whole = contents(made)
    cut = (
        "import resource, signal, sys; from privacy_sql.cli.main import command;"
        "from privacy_sql.publishing import targets; from privacy_sql.reporting import static\n"
        "from tests.publishing.test_targets import first_chart\n"
        "draw, limits = static.draw, (1000, resource.RLIM_INFINITY)\n"
        "def cut_off(*given):\n"
        f"    signal.signal(signal.SIGXFSZ, signal.{'SIG_IGN' if full else 'SIG_DFL'})\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, limits)\n"
        "    return first_chart(draw, *given)\n"
        f"static.draw = cut_off; sys.argv = ['privacy-sql', *{list(map(str, words))!r}]; command()"
    )
    standing = {} if full else whole
    if full:
        shutil.rmtree(made)
    done = subprocess.run(
        [sys.executable, "-c", cut],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == (4 if full else -signal.SIGXFSZ), done.stderr
    left = contents(made)
    assert {name: left[name] for name in left if not name.startswith(".")} == standing
    assert len(left) == len(standing) + (not full)
    assert call(*words).exit == 0
    assert contents(made) == whole


@pytest.mark.usefixtures("one_chart")
@pytest.mark.parametrize(
    ("name", "known"),
    [("people.html", True), ("people.facts.txt", False), ("index.html", False), ("people/guessed.svg", True)],
)
def test_what_somebody_writes_during_a_report_is_theirs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, known: bool
) -> None:
    words = ["report", "--json", "--show-values", "-o", folder / "site", "--project", folder]
    words += ["--static"] if name.endswith("svg") else []
    theirs = folder / "site" / name
    if known:
        assert call(*words).exit == 0
    write_synced = files.write_synced

    def late(path: Path, *given: Any) -> None:
        write_synced(path, *given)
        if path.name[14:] == theirs.name:
            theirs.unlink(missing_ok=True)
            theirs.write_text("mine")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_synced", late)
        during = refused(call(*words), "target_exists")
    assert theirs.read_text() == "mine" and not list((folder / "site").rglob(".*"))
    before = refused(call(*words), "target_exists")
    assert during == before and theirs.read_text() == "mine"
    theirs.unlink()
    assert call(*words).exit == 0


@pytest.mark.parametrize("links", [True, False])
def test_what_appears_at_the_last_moment_is_admitted_or_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    from privacy_sql.publishing.targets import put_page

    place, link = tmp_path / "page.html", os.link

    def late(content: str, path: Path, name: Path) -> None:
        place.write_text(content)
        if not links:
            raise OSError(errno.EPERM, "no links here")
        link(path, name)

    for content in ("mine", "ours, of another run"):
        place.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            patch.setattr(os, "link", partial(late, content))
            if content == "mine":
                with pytest.raises(UsageError, match="did not write it"):
                    put_page(place, b"ours", lambda found: found.startswith(b"ours"))
                assert place.read_text() == "mine"
            else:
                put_page(place, b"ours", lambda found: found.startswith(b"ours"))
                assert place.read_text() == "ours"
        assert list(tmp_path.iterdir()) == [place]
    if not links:
        place.unlink()
        with monkeypatch.context() as patch:
            patch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links here")))
            put_page(place, b"ours", lambda found: found.startswith(b"ours"))
        assert list(tmp_path.iterdir()) == [place] and place.read_bytes() == b"ours"


def test_a_page_that_quotes_our_policy_is_not_ours(folder: Path) -> None:
    words = ("report", "--json", "-o", folder / "site", "--project", folder)
    assert call(*words).exit == 0
    page = folder / "site" / "people.html"
    ours = page.read_text()
    for theirs in (f"<!-- from a report of privacy-sql -->{ours}", f"<!DOCTYPE html><pre>{ours}</pre>"):
        page.write_text(theirs)
        refused(call(*words), "target_exists")
        assert page.read_text() == theirs
    page.write_text(f"\n{ours}")  # earlier versions began with a line feed
    assert call(*words).exit == 0 and page.read_text() != f"\n{ours}"


def test_figures_replace_figures_of_ours_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = Figure("fig5", "A figure", ("k", "value"), ((0, 0.5), (1, 0.75)), x="k", y="value")
    for _ in range(2):
        assert len(save([figure], tmp_path / "ours")) == 3
    for left in ("fig5.json", "fig5.svg"):  # a run that was killed before it wrote them
        (tmp_path / "ours" / left).unlink()
    assert len(save([figure], tmp_path / "ours")) == 3
    for name, text in (("fig5.csv", "mine"), ("fig5.json", "{}"), ("fig5.json", "[1]")):
        (tmp_path / "theirs").mkdir(exist_ok=True)
        (tmp_path / "theirs" / name).write_text(text)
        with pytest.raises(UsageError, match="no figure of ours"):
            save([figure], tmp_path / "theirs")
        assert contents(tmp_path / "theirs") == {name: text.encode()}
        shutil.rmtree(tmp_path / "theirs")
    write_synced = files.write_synced

    def late(path: Path, *given: Any) -> None:
        write_synced(path, *given)
        (tmp_path / "theirs" / "fig5.csv").write_text("mine")

    monkeypatch.setattr(files, "write_synced", late)
    with pytest.raises(UsageError, match="no figure of ours"):
        save([figure], tmp_path / "theirs")
    assert contents(tmp_path / "theirs") == {"fig5.csv": b"mine"}


def test_a_project_is_started_over_nothing(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    before = contents(tmp_path)
    for words in (("--example",), ("--from", tmp_path / "people.csv")):
        refused(call("init", "--json", *words, tmp_path), "project_exists")
    assert contents(tmp_path) == before


# -- what a run may write over ------------------------------------------------------------------------------


def run(folder: Path, *more: str) -> Told:
    return call("run", "--json", *more, "--project", folder)


def planned(folder: Path, output: dict[str, str], **parts: Any) -> None:
    """The project with another output."""
    release = {**PROJECT["releases"]["people"], **parts, "output": output}
    (folder / "privacy.yml").write_text(json.dumps({**PROJECT, "releases": {"people": release}}))


def rich(folder: Path) -> dict[str, Any]:
    """Parts of a release that read a file of every kind, all of them in the folder."""
    (folder / "zips.csv").write_text("".join(f"0213{n};021;*\n" for n in range(3)))
    (folder / "matrix.csv").write_text(
        "a,b,distance\n" + "".join(f"{a},{b},1\n" for a in (30, 31) for b in (30, 31))
    )
    (folder / "everybody.csv").write_text((folder / "people.csv").read_text())
    quasi = [
        {"column": "age", "hierarchy": {"intervals": ["10", "20"]}, "distance": {"file": "matrix.csv"}},
        {"column": "zip", "hierarchy": {"file": "zips.csv"}},
    ]
    (folder / "folder.parquet").mkdir()
    return {"quasi_identifiers": quasi, "population": {"file": "everybody.csv"}}


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
def test_nothing_that_is_read_or_kept_is_a_target_under_any_name(
    folder: Path, overwrite: tuple[str, ...]
) -> None:
    more = rich(folder)
    os.link(folder / "people.csv", folder / "hard.csv")
    os.symlink("people.csv", folder / "soft.csv")
    os.symlink(".", folder / "here")
    os.link(folder / "privacy_ledger.jsonl", folder / "ledger.csv")
    os.link(folder / "out" / "people.csv.manifest.json", folder / "manifest.csv")
    os.symlink(folder / "target" / "private" / "source.key", folder / "key.csv")
    names = ["people.csv", "People.CSV", "here/people.csv", "out/../people.csv", "hard.csv", "soft.csv"]
    names += ["zips.csv", "matrix.csv", "everybody.csv", "EVERYBODY.csv", "ledger.csv", "manifest.csv"]
    names += ["key.csv", "target/private/new.csv", "folder.parquet/new.csv"]
    names += [str(next((folder / "privacy_register.kept").rglob("people.csv")).relative_to(folder))]
    for name in names:
        planned(folder, {"target": name}, **more)
        before = contents(folder)
        error = refused(run(folder, *overwrite), "target_in_use")
        assert "overwrite" not in error["hint"] and Path(name).name in error["message"], error
        assert contents(folder) == before, name


def test_only_what_is_ours_and_as_it_was_written_is_replaced(folder: Path) -> None:
    out, place = folder / "out" / "people.csv", folder / "out" / "people.csv.manifest.json"
    whole, described = out.read_bytes(), place.read_bytes()
    assert refused(run(folder), "target_exists")["hint"].startswith("Use --overwrite;")
    assert run(folder, "--overwrite").exit == 0

    def blocked(named: Path) -> None:
        before = contents(folder / "out")
        for more in ((), ("--overwrite",)):
            error = refused(run(folder, *more), "target_exists", "target_in_use")
            assert str(named) in error["hint"] + error["where"] and "Use --overwrite" not in error["hint"]
            assert contents(folder / "out") == before
        place.write_bytes(described)
        out.unlink() if out.is_file() or out.is_symlink() else shutil.rmtree(out)
        out.write_bytes(whole)

    out.write_bytes(whole), place.write_bytes(described)
    out.write_bytes(whole + b"40-49,021,flu,1\n")  # somebody's edit
    blocked(out)
    place.write_bytes(described[:-2] + b"\n")
    blocked(place)
    place.unlink()  # a file without a manifest is somebody's
    blocked(out)
    out.unlink()
    out.mkdir()
    (out / "notes.txt").write_text("mine")  # a folder with somebody's files
    blocked(out)
    out.unlink()
    os.symlink("nowhere", out)
    place.unlink()
    blocked(out)
    assert run(folder, "--overwrite").exit == 0


def test_the_release_of_another_name_is_not_replaced(folder: Path) -> None:
    release = PROJECT["releases"]["people"]
    (folder / "privacy.yml").write_text(json.dumps({**PROJECT, "releases": {"others": release}}))
    before = contents(folder / "out")
    error = refused(run(folder, "--overwrite"), "target_in_use")
    assert "people" in error["message"] and contents(folder / "out") == before
    both = {"people": release, "others": release}
    (folder / "privacy.yml").write_text(json.dumps({**PROJECT, "releases": both}))
    told = run(folder, "--overwrite", "--select", "people")
    assert refused(told, "target_in_use")["message"] == "people.csv is the output of others"


TABLE = {"connection": "store", "relation": "published"}


@pytest.fixture(params=["duckdb", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A database with the people in it, the project that publishes them there, and a way to it."""
    from tests import engines

    settings = {"duckdb": {"type": "duckdb", "path": "store.db"}}
    settings["postgres"] = {"type": "postgres", "dsn_env": "PRIVACY_SQL_TEST_DSN"}
    write(tmp_path, PROJECT)

    def execute(*statements: str) -> list[Any]:
        import privacy_sql as ps

        url = {"duckdb": f"duckdb:{tmp_path / 'store.db'}", "postgres": "postgres:"}[request.param]
        more = {"dsn_env": "PRIVACY_SQL_TEST_DSN"} if request.param == "postgres" else {}
        found: list[Any] = []
        with ps.connect(url, **more) as engine:
            for statement in statements:
                done = engine.connection.execute(statement)
                found = done.fetchall() if statement.startswith("select") else []
        return found

    def plan(relation: str, source: str = "people") -> None:
        release = {
            **PROJECT["releases"]["people"],
            "source": {"connection": "store", "relation": source},
            "output": {"connection": "store", "relation": relation},
        }
        release.pop("population")
        content = {
            "version": "1",
            "connections": {"store": settings[request.param]},
            "releases": {"people": release},
        }
        (tmp_path / "privacy.yml").write_text(json.dumps(content))

    if request.param == "postgres":
        engines.connected("postgres").close()
    values = ", ".join(
        f"('{n}', {30 + n % 2}, '0213{n % 3}', '{'flu' if n % 2 else 'cold'}', {n}, 'free')" for n in range(8)
    )
    execute(
        "drop schema if exists other cascade",
        "create table people"
        " (id varchar, age integer, zip varchar, illness varchar, weight integer, note varchar)",
        f"insert into people values {values}",
        "create schema other",
        "create table other.people as select * from people",
        "create table mine as select 1 as n",
        "create view seen as select 2 as n",
    )
    yield tmp_path, execute, plan
    if request.param == "postgres":
        execute("drop schema other cascade")
        engines.connected("postgres").close()  # the next test finds no table


def test_no_relation_but_our_own_is_replaced(store: Any) -> None:
    folder, execute, plan = store
    own_schema = execute("select current_schema()")[0][0]
    for relation in ("people", "PEOPLE", f"{own_schema}.people", f"{own_schema}.People"):
        plan(relation)
        error = refused(run(folder, "--overwrite"), "target_in_use")
        assert "the source of people" in error["message"]
    plan("people", source="other.people")
    refused(run(folder, "--overwrite"), "target_exists")
    for relation in ("mine", "seen"):
        plan(relation)
        for more in ((), ("--overwrite",)):
            error = refused(run(folder, *more), "target_exists")
            assert f"drop {relation} by hand" in error["hint"]
    assert execute("select count(*), min(id) from people") == [(8, "0")]
    assert execute("select * from mine") == [(1,)] and execute("select * from seen") == [(2,)]
    plan("published")
    assert run(folder).exit == 0
    assert refused(run(folder), "target_exists")["hint"].startswith("Use --overwrite;")
    assert run(folder, "--overwrite").exit == 0
    execute("update published set illness = 'gout'")
    error = refused(run(folder, "--overwrite"), "target_exists")
    assert "drop published by hand" in error["hint"]
    assert execute("select count(*) from published where illness = 'gout'") == [(8,)]


def test_a_source_that_another_schema_of_the_search_path_holds_is_no_target(tmp_path: Path) -> None:
    import privacy_sql as ps
    from tests import engines

    with engines.connected("postgres") as home:
        home.connection.execute("drop schema if exists late cascade; create schema late")
        home.connection.execute("create table late.people (age integer)")
        home.connection.execute("insert into late.people values (21), (21)")
        home.connection.execute("set search_path = public, late")
        made = ps.publish(home, ps.Table("people", ["age"]), [ps.KAnonymity(2)], ps.Generalise())
        place = tmp_path / "p.manifest.json"
        # the last one would hide the source from the next run
        for name in ("late.people", "Late.People", '"late"."people"', "public.people"):
            with pytest.raises(UsageError) as problem:
                ps.write(home, made, f"table:{name}", manifest_to=place, overwrite=True)
            assert problem.value.code == "target_in_use", name
        assert ps.write(home, made, "table:public.published", manifest_to=place)
        assert home.connection.execute("select count(*) from late.people").fetchall() == [(2,)]
        home.connection.execute("drop schema late cascade")


def test_relations_of_somebody_that_are_called_like_ours_stay(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a transaction took with it when it failed is not dropped again by its name: it may be another."""
    import gc

    import privacy_sql as ps
    from privacy_sql import api

    kind = type(engine)
    name, audited = kind._name, api._audited
    ours: list[str] = []

    def noted(self: Any, step: str) -> Any:
        ours.append(name(self, step))
        return ours[-1]

    def fails(*given: Any) -> Any:
        audited(*given)
        raise UsageError("planted", "a fault")

    def tried() -> list[str]:
        ours.clear()
        with pytest.raises(UsageError, match="a fault"):
            ps.write(engine, made, "table:published", manifest_to=tmp_path / "p.manifest.json")
        gc.collect()
        engine.fetch(ps.Query("select 1 as one"))
        return list(ours)

    engine.connection.execute("create table people (age integer)")
    engine.connection.execute("insert into people values (21), (21)")
    made = ps.publish(engine, ps.Table("people", ["age"]), [ps.KAnonymity(2)], ps.Generalise())
    monkeypatch.setattr(kind, "_name", noted)
    monkeypatch.setattr(api, "_audited", fails)
    first, second = tried(), tried()
    step = int(second[0].split("_")[1]) - int(first[0].split("_")[1])
    words = [each.split("_", 2) for each in second]
    theirs = [f"ps_{int(number) + step}_{rest}" for _, number, rest in words]
    for each in theirs:
        engine.connection.execute(f"create table {each} (mine integer)")
    assert tried() == theirs
    for each in theirs:
        assert engine.connection.execute(f"select count(mine) from {each}").fetchall() == [(0,)]


def test_the_manifest_of_a_table_replaces_nothing_of_somebody_else(store: Any) -> None:
    folder, _, plan = store
    plan("published")
    (folder / "target").mkdir()
    place = folder / "target" / "people.manifest.json"
    place.write_text("mine")
    for more in ((), ("--overwrite",)):
        refused(run(folder, *more), "target_exists")
        assert place.read_text() == "mine"


def test_a_folder_named_like_a_relation_is_not_that_relation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import privacy_sql as ps

    monkeypatch.chdir(tmp_path)
    with ps.connect("duckdb:store.db") as engine:
        engine.connection.execute(
            "create table people as select n % 2 as age, 'ill' || n // 2 as ill from range(4) as people (n)"
        )
        release = ps.publish(engine, ps.Table("people", ["age"], "ill"), [ps.KAnonymity(2)], ps.Generalise())
        assert ps.write(engine, release, "people").parent == Path("people")
        Path("people.csv").write_text("mine")
        with pytest.raises(UsageError):
            ps.write(engine, release, "people.csv", overwrite=True)
    assert Path("people.csv").read_text() == "mine"


def test_python_writes_over_nothing_else_either(folder: Path) -> None:
    import privacy_sql as ps

    rich(folder)
    (folder / "foreign.parquet").write_bytes(b"mine")
    hierarchy = ps.Tree.from_file(folder / "zips.csv", "zip")
    with ps.connect() as engine:
        table = ps.Table(
            folder / "people.csv",
            {"zip": hierarchy},
            "illness",
            population=str(folder / "everybody.csv"),
            distances={"zip": folder / "matrix.csv"},
            drop=["id", "age", "weight", "note"],
        )
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"zip": 2}))
        before = contents(folder)
        for name in ("people.csv", "zips.csv", "everybody.csv", "matrix.csv", "foreign.parquet"):
            for overwrite in (False, True):
                with pytest.raises(UsageError) as told:
                    ps.write(engine, release, folder / name, overwrite=overwrite)
                assert told.value.code in ("target_in_use", "target_exists")
                assert "overwrite" not in told.value.hint
        assert contents(folder) == before
        for _ in range(2):
            ps.write(engine, release, folder / "new" / "people.csv", overwrite=True)


@pytest.mark.parametrize(
    "name", ["file:///tmp/people.csv", "file:people.csv", "s3://b/people.csv", "~/people.csv"]
)
def test_an_address_is_no_folder_of_that_name(tmp_path: Path, name: str) -> None:
    import privacy_sql as ps

    write(tmp_path, PROJECT)
    planned(tmp_path, {"target": name})
    before = contents(tmp_path)
    assert name in refused(run(tmp_path), "bad_project")["message"]
    with ps.connect() as engine:
        release = ps.publish(
            engine, ps.Table(tmp_path / "people.csv", ["age"], "illness"), [ps.KAnonymity(1)], ps.Generalise()
        )
        with pytest.raises(UsageError) as problem:
            ps.write(engine, release, name)
    assert problem.value.code == "bad_target" and contents(tmp_path) == before


# -- what somebody writes there while a release is judged ----------------------------------------------------


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_fifo_that_appears_during_a_run_is_theirs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    own = folder / "out" / "people.csv"

    def act() -> None:
        own.unlink()
        os.mkfifo(own)

    if not overwrite:
        for path in (folder / "out").iterdir():
            path.unlink()
        act = partial(os.mkfifo, own)  # type: ignore[assignment]
    with monkeypatch.context() as patch, in_time():
        meanwhile(patch, act)
        refused(call("run", "--json", *["--overwrite"] * overwrite, "--project", folder), "target_exists")
    assert own.is_fifo() and not [path for path in (folder / "out").iterdir() if path.name.startswith(".")]


HANGING = {
    "privacy_register.jsonl": 4,
    "privacy_register.jsonl.head": 4,
    "target/private/source.key": 4,
    "target/records/people.json": 0,
    "people.csv": 2,
    "privacy.yml": 2,
}


@pytest.mark.parametrize("name", HANGING)
def test_no_verb_waits_for_a_fifo_that_somebody_put_where_we_read(folder: Path, name: str) -> None:
    place = folder / name
    assert place.is_file()
    place.unlink()
    os.mkfifo(place)
    with in_time():
        told = call("run", "--json", "--overwrite", "--project", folder)
        call("report", "--json", "-o", folder / "site", "--project", folder)
    assert told.exit == HANGING[name], told.out
    assert "unexpected" not in told.out
    assert ("is not a regular file" in told.out) is (name == "people.csv")


def test_nobody_waits_for_a_fifo_that_comes_between_a_look_and_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, is_file, done = tmp_path / "people.csv", Path.is_file, []
    target.write_text("age\n1\n")

    def late(self: Path) -> bool:
        found = is_file(self)
        if self == target and not done:
            done.append(self.unlink())
            os.mkfifo(self)
        return found

    monkeypatch.setattr(Path, "is_file", late)
    with in_time(), contextlib.suppress(OSError):
        targets.refuse_kept(target, ())
    assert done and target.is_fifo()


def test_no_verb_waits_for_a_hierarchy_or_a_page_that_is_a_fifo(folder: Path) -> None:
    from privacy_sql.cli.verbs import experiment
    from privacy_sql.hierarchies.tree import Tree

    os.mkfifo(folder / "zip.csv")
    with in_time(), pytest.raises(UsageError) as problem:
        Tree.from_file(folder / "zip.csv", "zip")
    assert "not a regular file" in problem.value.message
    with in_time(), pytest.raises(UsageError):
        experiment._write_page(folder / "zip.csv", {}, {})


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Let somebody else act after it was looked whose the targets are, and before the swap."""
    from privacy_sql import api

    audited = api._audited

    def late(*given: Any) -> Any:
        verdicts = audited(*given)
        act()
        return verdicts

    monkeypatch.setattr(api, "_audited", late)


@pytest.mark.parametrize("layout", ["", "two_tables"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", ["", ".manifest.json"])
def test_a_file_that_somebody_writes_during_a_run_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, known: bool, name: str
) -> None:
    changed: Any = json.loads(json.dumps(PROJECT))
    (release,) = changed["releases"].values()
    if layout:
        release["method"] = {"bucketize": {"by": ["zip"], "layout": layout}}
        release["require"] = {"l_diversity": {"l": "2"}}
    write(tmp_path, changed)
    if known:
        assert run(tmp_path).exit == 0
    out = tmp_path / "out"
    own = out / f"people.csv{name}" if name or not layout else out / "people.values.csv"
    before = contents(out)

    def act() -> None:
        own.unlink(missing_ok=True)
        own.write_text("mine")

    with monkeypatch.context() as patch:
        meanwhile(patch, act)
        error = refused(run(tmp_path, "--overwrite"), "target_exists")
    assert error["where"] == own.name, error
    assert contents(out) == {**before, own.name: b"mine"}
    refused(run(tmp_path, "--overwrite"), "target_exists")
    own.unlink()
    if known:
        own.write_bytes(before[own.name])
    assert run(tmp_path, "--overwrite").exit == 0


@pytest.mark.parametrize("known", [False, True])
def test_a_table_that_somebody_writes_during_a_run_is_theirs(
    store: Any, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    from privacy_sql import api
    from privacy_sql.engines.duckdb import DuckDB
    from tests import engines

    folder, execute, plan = store
    plan("published")
    if known:
        assert run(folder).exit == 0
    statement = (
        "update published set age = '99'" if known else "create table published as select 'mine' as age"
    )
    server = "dsn_env" in (folder / "privacy.yml").read_text()
    audited, transaction = api._audited, DuckDB.transaction
    begun: list[Any] = []

    def late(*given: Any) -> Any:
        verdicts = audited(*given)
        if server:
            with engines.other() as somebody:
                somebody.execute(statement)
        else:
            with begun.pop() as somebody:
                somebody.execute(statement)
        return verdicts

    def noted(self: Any) -> Any:
        begun.append(self.connection.cursor())  # a file of DuckDB is open in this process only
        return transaction(self)

    with monkeypatch.context() as patch:
        patch.setattr(api, "_audited", late)
        patch.setattr(DuckDB, "transaction", noted)
        told = run(folder, "--overwrite")
    ages = {age for (age,) in execute("select age from published")}
    assert ages == {"99" if known else "mine"}, (told.everything, ages)
    refused(told, "target_exists")
    refused(run(folder, "--overwrite"), "target_exists")
    execute("drop table published")
    assert run(folder, "--overwrite").exit == 0


def test_what_somebody_wrote_after_a_kill_is_not_replaced_by_whoever_mends(folder: Path) -> None:
    out = folder / "out" / "people.csv"
    (folder / "people.csv").write_text((folder / "people.csv").read_text() + "8,30,02130,flu,1,free\n")
    killed = (
        "import os; from privacy_sql.publishing import intents; from privacy_sql.cli import main\n"
        "intents.appear = lambda *_, **__: os.kill(os.getpid(), 9)\n"
        f"main.run(['run', '--overwrite', '--project', {str(folder)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", killed], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert list(out.parent.glob(".*.intent"))
    out.write_text("mine")
    for words in (("verify", out), ("run", "--overwrite", "--project", folder)):
        assert call(*words).exit != 0
        assert out.read_text() == "mine"
