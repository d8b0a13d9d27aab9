"""A part of every kind, made up and added to a copy of the project: `list`, pages and contracts find it.

docs/adding_parts.md says how many files a part is; these are the files, and nothing else is edited.
"""

from __future__ import annotations

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

    def propose(self, base, asked):
        return at_levels(base, {name: kind.height for name, kind in base.table.hierarchies.items()}, asked, 0)
''',
    "tests/methods/test_made_up_top.py": "EXAMPLE = {}\n",
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
    "tests/utilities/test_made_up_cost.py": "",
}
ENGINE = {
    "privacy_sql/engines/made_up_engine.py": '''
from privacy_sql.engines.duckdb import DuckDB


class MadeUpEngine(DuckDB):
    """DuckDB under another name."""
''',
    "macros/dialects/made_up_engine.sql": """
{% macro made_up_engine__matches(column, pattern) -%}
{{ default__matches(column, pattern) }}
{%- endmacro %}

{% macro made_up_engine__double() -%}
double
{%- endmacro %}
""",
    "tests/engines/test_made_up_engine.py": """
import privacy_sql as ps


def test_made_up_engine_is_opened():
    with ps.connect("made_up_engine:") as engine:
        assert engine.fetch(ps.Query("select 1 as one")) == [{"one": 1}]
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
"""Every choice in the order it comes, under another name (lefevre2005, Sec. 3)."""

from privacy_sql.searches.exhaustive import Exhaustive


class MadeUpSearch(Exhaustive):
    """Every choice is asked about."""
''',
    "tests/searches/test_made_up_search.py": "",
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
    called(place, "-m", "tests.parts")
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


def test_list_and_completion_name_every_part(copy: Path) -> None:
    told = called(copy, "-m", "privacy_sql", "list")
    assert {name for name in NAMES if name in told} == set(NAMES) - {"made_up_verb"}
    assert "made-up-verb" in called(copy, "-m", "privacy_sql", "--help")
    names = called(copy, "-c", "import privacy_sql as ps; print(dir(ps))")
    assert "MadeUpSize" in names and "MadeUpTop" in names and "made_up_study" in names
    assert "made_up_attack" in called(copy, "-m", "privacy_sql", "attack", "--help")


def test_the_pages_of_parts_hold_them(copy: Path) -> None:
    page = (copy / "docs" / "parts.md").read_text(encoding="utf-8")
    assert {name for name in NAMES if f"| `{name}` |" in page} == set(NAMES)
    asked = "| Is a made-up group small? | `made_up_size(people=3)` |"
    assert asked in (copy / "README.md").read_text(encoding="utf-8")
    kept = "| `made_up_size` | people | >= limit | no | no |"
    assert kept in (copy / "docs" / "criteria.md").read_text(encoding="utf-8")
    refused = re.findall(r"\| `(\w+)` \| .*`made_up_size`.* \|", (copy / "docs" / "matrix.md").read_text())
    assert refused == ["marginals", "noisy_counts"]


def test_a_report_has_the_section(copy: Path) -> None:
    code = "from privacy_sql.reporting import sections; print(sections.names())"
    assert "made_up_section" in called(copy, "-c", code)


# the files whose tests find every part, and how many of their tests hold these parts at least
HELD = {
    "tests/test_contracts.py": 7,
    "tests/studies/test_made_up_study.py": 1,
    "tests/test_matrix.py": 20,
    "tests/test_leaks.py": 1,
    "tests/query/test_words.py": 1,
    "tests/engines/test_made_up_engine.py": 1,
}
AT_NIGHT = {
    "tests/test_truth.py": 15,
    "tests/test_metamorphic.py": 4,
    "tests/query/test_portable_sql.py": 8,
    "tests/publishing/test_published_groups.py": 1,
    "tests/cli/test_compile_steps.py": 1,
    "tests/reporting/test_every_report.py": 0,
}
HELD |= AT_NIGHT if NIGHTLY else {}


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
        "made_up and not postgres",
    )
    passed = [line.partition("::")[0] for line in told.splitlines() if " PASSED" in line]
    assert "FAILED" not in told
    assert {name for name, least in HELD.items() if sum(p.startswith(name) for p in passed) < least} == set()
