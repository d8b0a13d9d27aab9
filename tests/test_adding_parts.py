"""A part of every kind, made up and added to a copy of the project: `list`, pages and contracts find it.

docs/adding_parts.md says how many files a part is; these are the files, and nothing else is edited. Then the
tests about all parts hold, those about others too.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NIGHTLY, ROOT

CRITERION = {
    "privacy_sql/criteria/made_up_size.py": '''
from dataclasses import dataclass
from typing import ClassVar

from privacy_sql.criteria import Criterion
from privacy_sql.verdict import Witness


@dataclass(frozen=True)
class MadeUpSize(Criterion):
    """Every group holds at least `people` people (martin2007, Sec. 1)."""

    name: ClassVar[str] = "made_up_size"
    question: ClassVar[str] = "Is a made-up group small?"
    against: ClassVar[str] = "nobody at all"
    unit: ClassVar[str] = "people"
    relation: ClassVar[str] = ">="
    reads_sensitive: ClassVar[bool] = False

    people: int

    @property
    def limit(self):
        return self.people

    def failing(self, evidence):
        return [row["g"] for row in evidence if row["n_people"] < self.people]

    def judge(self, evidence):
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = min(evidence, key=lambda row: row["n_people"])
        return self.verdict(worst["n_people"], Witness({"size": worst["n_people"]}, {"g": worst["g"]}))
''',
    "sql/criteria/made_up_size.sql": """
-- How many people there are in each group.
-- in: groups (g, n_people)    out: n_people, g    grain: group
select
    n_people,
    g
from {{ groups }}
""",
    "fixtures/cases/criteria/made_up_size.toml": '''
[[case]]
name = "every group holds two"
keys = ["age"]
rows = """
age disease n_rows
2*  flu     2
3*  null    2
"""
params = { people = 2 }
safe = true
value = "2"

[[case]]
name = "one person stands alone"
keys = ["age"]
rows = """
age disease n_rows
2*  flu     4
3*  flu     1
"""
params = { people = 2 }
safe = false
value = "1"

[example]
params = { people = 3 }
''',
    "tests/criteria/test_made_up_size.py": """
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql import registry
from tests.oracles import classical

DRAWN = st.builds(registry.get("criteria", "made_up_size"), st.integers(1, 4))


def keeps(asked, rows, known):
    return classical.k_anonymity(rows, asked.people).safe
""",
}
METHOD = {
    "privacy_sql/methods/made_up_top.py": '''
from dataclasses import dataclass
from typing import ClassVar

from privacy_sql.methods import Method, at_levels


@dataclass(frozen=True)
class MadeUpTop(Method):
    """Every quasi-identifier at its top level (martin2007, Sec. 2.1)."""

    name: ClassVar[str] = "made_up_top"
    refuses_because: ClassVar[str] = "its rows are made up"

    def propose(self, base, asked):
        return at_levels(base, {name: kind.height for name, kind in base.table.hierarchies.items()}, asked, 0)
''',
    "tests/methods/test_made_up_top.py": """
import pandas as pd

import privacy_sql as ps

EXAMPLE = {}


def test_made_up_top_shows_nothing_of_a_column():
    with ps.connect() as engine:
        people = ps.Table(pd.DataFrame({"age": [30, 31, 41]}), {"age": ps.KeepOrDrop()})
        release = ps.publish(engine, people, [ps.KAnonymity(3)], ps.MadeUpTop())
        assert [row["age"] for row in engine.fetch(ps.Query(release.sql()))] == ["*"] * 3
""",
}
UTILITY = {
    "privacy_sql/utilities/made_up_cost.py": '''
from privacy_sql.utilities import Grouped


class MadeUpCost(Grouped):
    """The people of a group, on average."""

    name = "made_up_cost"
    template = "made_up_cost"
    monotone = True

    def value(self, rows, published):
        (found,) = rows
        return found["n_people"] / found["n_groups"] if found["n_groups"] else float("inf")
''',
    "sql/utilities/made_up_cost.sql": (ROOT / "sql" / "utilities" / "average_group_size.sql").read_text(),
    "tests/utilities/test_made_up_cost.py": """
import pandas as pd

import privacy_sql as ps


def test_made_up_cost_is_the_mean_size_of_a_group():
    with ps.connect() as engine:
        people = ps.Table(pd.DataFrame({"age": [30, 30, 30, 41]}), {"age": ps.KeepOrDrop()})
        found = ps.search(engine, people, [ps.KAnonymity(1)], ps.FullDomain("made_up_cost"))
        assert found.best["values"]["made_up_cost"] == 4 / 2
""",
}
ENGINE = {
    "privacy_sql/engines/made_up_engine.py": '''
import contextlib
import itertools
import os

import duckdb

from privacy_sql.engines import Engine
from privacy_sql.engines._sources import existing, is_file, named, no_source, parts
from privacy_sql.query.template import Query, Sql, literal, quote

KINDS = {"VARCHAR": "text", "BOOLEAN": "boolean", "DATE": "date", "DOUBLE": "number"}
WHOLE = {"INTEGER", "BIGINT", "HUGEINT"}


class MadeUpEngine(Engine):
    """DuckDB in memory, with as little as an engine needs."""

    dialect = "duckdb"
    keys = ("made_up_limit",)
    undoes = True

    def __init__(self, place="", *, made_up_limit=None, unsafe_debug=False):
        self._live = duckdb.connect()
        self._kinds, self._numbers = {}, itertools.count(1)

    @property
    def connection(self):
        return self._live

    def session(self, files=(), folders=()):
        return self  # a database in memory is gone when it closes, with everything in it

    def beside(self):
        return MadeUpEngine()

    def close(self):
        self._live.close()

    def version(self):
        return f"made_up_engine {duckdb.__version__}"

    def source(self, source):
        if is_file(source):
            read = [f"select * from {literal(str(file))}" for file in existing(source)]
            if str(source).endswith(".csv"):
                read = [f"select * from read_csv({literal(str(source))}, all_varchar = true, header = true)"]
            return self.create(Query(" union all ".join(read), "source"))
        if isinstance(source, Sql):
            return source
        if isinstance(source, str):
            if not self.has_table(source):
                raise no_source(source)
            return named(source)
        return self.take(source, "frame")

    def columns(self, relation):
        found = self._live.execute(f"describe select * from {relation}").fetchall()
        return {name: "integer" if kind in WHOLE else KINDS.get(kind, "other") for name, kind, *_ in found}

    def create(self, query, *, view=False):
        name = Sql(f"ps_{next(self._numbers)}_{query.origin.rpartition('/')[2].split()[0]}")
        self._kinds[name] = kind = "view" if view else "table"
        self._live.execute(f"create temp {kind} {name} as {query.text(self.dialect)}")
        return name

    def load(self, columns, origin):
        shown = ", ".join(f"unnest(cast(? as {kind}[])) as {name}" for name, (kind, _) in columns.items())
        name = Sql(f"ps_{next(self._numbers)}_{origin}")
        values = [list(several) for _, several in columns.values()]
        self._live.execute(f"create temp table {name} as select {shown}", values)
        self._kinds[name] = "table"
        return name

    def fetch(self, query):
        found = self._live.execute(query.text(self.dialect))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def arrays(self, query):
        return self._live.execute(query.text(self.dialect)).fetchnumpy()

    def arrow(self, query):
        return self._live.sql(query.text(self.dialect)).to_arrow_table()

    def take(self, table, origin):
        self._live.register("taken", table)
        made = self.create(Query("select * from taken", origin))
        self._live.unregister("taken")
        return made

    def drop(self, relation):
        if kind := self._kinds.pop(relation, None):
            self._live.execute(f"drop {kind} {relation}")

    def write_file(self, query, path, kind):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        told = "format csv, header true" if kind == "csv" else "format parquet"
        self._live.execute(f"copy ({query.text(self.dialect)}) to {literal(str(path))} ({told})")
        path.chmod(0o600)

    def write_table(self, query, table):
        self._live.execute(f"create table {named(table)} as {query.text(self.dialect)}")

    @contextlib.contextmanager
    def transaction(self):
        self._live.begin()
        try:
            yield
            self._live.commit()
        except BaseException:
            self._live.rollback()
            raise

    def rename_table(self, old, new):
        self._live.execute(f"alter table {named(old)} rename to {quote(parts(new)[-1])}")

    def hold_table(self, table):
        pass  # nobody else sees a database in memory

    def drop_table(self, table):
        self._live.execute(f"drop table if exists {named(table)}")

    def has_table(self, table):
        try:
            self._live.execute(f"select 1 from {named(table)} limit 0")
        except duckdb.CatalogException:
            return False
        return True
''',
    "macros/dialects/made_up_engine.sql": """
{% macro made_up_engine__matches(column, pattern) -%}
regexp_matches(concat(cast({{ column }} as varchar), '|'), {{ pattern }})
{%- endmacro %}

{% macro made_up_engine__double() -%}
double
{%- endmacro %}
""",
    "tests/engines/test_made_up_engine.py": """
import json

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.project import reading
from tests.project.test_project import PROJECT, write


def opened():
    return ps.connect("made_up_engine:")


def test_made_up_engine_says_how_many_share_a_group():
    with opened() as engine:
        people = ps.Table(pd.DataFrame({"age": [30, 30, 41]}), ["age"])
        assert [each.value for each in ps.check(engine, people, [ps.KAnonymity(2)]).values()] == [1]


def test_a_project_may_name_made_up_engine(tmp_path):
    said = {"type": "made_up_engine", "made_up_limit": "3"}
    found = reading.read(write(tmp_path, PROJECT | {"connections": {"home": said}}))
    assert found.connections["home"] == said
    with pytest.raises(UsageError, match="surely"):
        reading.read(write(tmp_path, PROJECT | {"connections": {"home": {**said, "surely": "not"}}}))
""",
}
VERB = {
    "privacy_sql/cli/verbs/made_up_verb.py": '''
from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, shared


@click.command()
@shared
def command(directory: Path, **_: object) -> Outcome:
    """Say something made up.

    \\b
    Example: privacy-sql made-up-verb
    """
    return Outcome("made-up-verb", lines=["made up"])
''',
}
SEARCH = {
    "privacy_sql/searches/made_up_search.py": '''
"""Ask about every choice, cheapest first (lefevre2005, Sec. 3)."""

from privacy_sql.searches import Found


class MadeUpSearch:
    """The first choice that is safe, in the order of their costs."""

    def choose(self, lattice, decide, objective, limits=None):
        order = sorted(lattice.choices(), key=lambda choice: (objective.cost(choice), sum(choice), choice))
        for explored, choice in enumerate(order, start=1):
            (answer,) = decide([choice])
            if answer.safe:
                cost = objective.cost(choice)
                return Found(lattice.size, explored, best=choice, cost=cost, optimal=True)
        return Found(lattice.size, len(order))
''',
    "tests/searches/test_made_up_search.py": """
from privacy_sql.searches.made_up_search import MadeUpSearch


def found(puzzle):
    return MadeUpSearch().choose(puzzle.lattice, puzzle.decide, puzzle.costs)
""",
}
ATTACK = {
    "privacy_sql/cli/verbs/_attack_made_up_attack.py": '''
from pathlib import Path

import click

from privacy_sql.cli.outcome import Outcome, shared


@click.command()
@shared
def command(directory: Path, **_: object) -> Outcome:
    """Attack nobody, as somebody made up would.

    \\b
    Example: privacy-sql attack made_up_attack
    """
    return Outcome("attack", lines=["nobody is found"])
''',
}
STUDY = {
    "privacy_sql/studies/made_up_study.py": '''
"""How many groups a table or a release has."""

from privacy_sql.studies import groups_of


def made_up_study(engine, subject):
    """The number of groups (martin2007, Sec. 2.1)."""
    return groups_of(engine, subject).n_groups
''',
    "tests/studies/test_made_up_study.py": """
import pandas as pd

import privacy_sql as ps


def test_made_up_study_counts_groups():
    with ps.connect() as engine:
        rows = pd.DataFrame({"age": ["20", "20", "31"]})
        assert ps.made_up_study(engine, ps.Table(rows, ["age"])) == 2
""",
}
SECTION = {
    "privacy_sql/reporting/sections/made_up_section.py": """
from privacy_sql.reporting.sections import Material, Section


def section(material: Material) -> Section:
    return Section("made_up", "A made-up section", "made up", missing="Nothing makes it.")
""",
}
PARTS = {
    **CRITERION,
    **METHOD,
    **UTILITY,
    **ENGINE,
    **SEARCH,
    **ATTACK,
    **STUDY,
    **VERB,
    **SECTION,
}
NAMES = [
    *("made_up_size", "made_up_top", "made_up_cost", "made_up_engine", "made_up_search", "made_up_attack"),
    *("made_up_study", "made_up_verb"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the files of the made-up parts, and its pages written again."""
    place = tmp_path_factory.mktemp("copy")
    for name in ("privacy_sql", "sql", "macros", "fixtures", "tests", "docs"):
        shutil.copytree(
            ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "golden", "*.png")
        )
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, place)
    for path, text in PARTS.items():
        assert not (place / path).exists()
        (place / path).write_text(text.lstrip("\n"), encoding="utf-8")
    # at night every pair is asked about again; tests/test_matrix.py does so in every build
    about = "" if NIGHTLY else "made_up"
    write = f"parts.write({about!r}); public_names.STUB.write_text(public_names.written(), encoding='utf-8')"
    called(place, "-c", f"from tests import parts, public_names; {write}")
    return place


def called(place: Path, *words: str) -> str:
    """What Python prints in the copy; it has to succeed."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PRIVACY_SQL_"))
    }
    done = subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env={**kept, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def test_list_completion_and_report_name_every_part(copy: Path) -> None:
    code = "import privacy_sql as ps; from privacy_sql.reporting import sections"
    code += "; from tests.command_line import call"
    asked = [("list",), ("--help",), ("attack", "--help")]
    said = f"[call(*words).everything for words in {asked}], dir(ps), sections.names()"
    (told, offered, attacks), *names = ast.literal_eval(called(copy, "-c", f"{code}; print(({said}))"))
    assert {name for name in NAMES if name in told} == set(NAMES) - {"made_up_verb"}
    assert "made-up-verb" in offered and "made_up_attack" in attacks
    assert {"MadeUpSize", "MadeUpTop", "made_up_study"} <= set(names[0]) and "made_up_section" in names[1]


def test_the_pages_of_parts_hold_them(copy: Path) -> None:
    page = (copy / "docs" / "parts.md").read_text(encoding="utf-8")
    assert {name for name in NAMES if f"| `{name}` |" in page} == set(NAMES)
    asked = "| Is a made-up group small? | `made_up_size(people=3)` |"
    assert asked in (copy / "README.md").read_text(encoding="utf-8")
    kept = "| `made_up_size` | people | >= limit | no | no |"
    assert kept in (copy / "docs" / "criteria.md").read_text(encoding="utf-8")
    refused = re.findall(r"\| `(\w+)` \| .*`made_up_size`.* \|", (copy / "docs" / "matrix.md").read_text())
    assert refused == ["marginals", "noisy_counts"]


# the files whose tests find every part, and how many of their tests hold these parts at least
HELD = {
    "tests/test_contracts.py": 11,
    "tests/studies/test_made_up_study.py": 1,
    "tests/methods/test_made_up_top.py": 1,
    "tests/utilities/test_made_up_cost.py": 1,
    "tests/test_matrix.py": 20,
    "tests/test_leaks.py": 1,
    "tests/query/test_words.py": 3,
    "tests/engines/test_made_up_engine.py": 2,
    "tests/test_layers.py": 40,
    "tests/test_public_names.py": 1,
}
# tests that name no part, because they are about all of them together
OF_ALL = [
    *("never_import_one_another", "modules_of_a_room_form_no_cycle", "lies_in_the_room_that_renders_it"),
    *("every_refused_pair_says_why", "pages_and_tables_that_are_made_of_the_parts"),
    "the_public_names_are_those_that_are_there",
]
AT_NIGHT = {
    "tests/test_truth.py": 15,
    "tests/test_metamorphic.py": 4,
    "tests/query/test_portable_sql.py": 8,
    "tests/publishing/test_published_groups.py": 1,
    "tests/cli/test_compile_steps.py": 1,
    "tests/reporting/test_every_report.py": 0,
    "tests/test_layers.py": 500,
}
if NIGHTLY:
    HELD |= AT_NIGHT
    OF_ALL += ["test_layers"]


def test_every_contract_holds_them(copy: Path) -> None:
    told = called(
        copy,
        "-m",
        "pytest",
        "-n",
        "0",
        "-v",
        "-p",
        "no:cacheprovider",
        *HELD,
        "-k",
        f"(made_up and not postgres) or {' or '.join(OF_ALL)}",
    )
    passed = [line.partition("::")[0] for line in told.splitlines() if " PASSED" in line]
    assert "FAILED" not in told
    assert {name for name, least in HELD.items() if sum(p.startswith(name) for p in passed) < least} == set()


if NIGHTLY:

    def test_what_engines_receive_of_other_templates_stays(copy: Path) -> None:
        called(copy, "-m", "tests.golden")
        now, before = (
            {path.relative_to(place): path.read_text(encoding="utf-8") for path in place.rglob("*.sql")}
            for place in (copy / "fixtures" / "golden", ROOT / "fixtures" / "golden")
        )
        assert {name: text for name, text in now.items() if "made_up" not in name.stem} == before
        assert {name.as_posix() for name in now} - {name.as_posix() for name in before} == {
            "compiled/made_up_size.sql",
            "criteria/made_up_size.sql",
            "utilities/made_up_cost.sql",
        }
