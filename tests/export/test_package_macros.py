"""The dbt package means one thing under Jinja2 and under minijinja, which dbt's newer engine is made with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import jinja2
import pytest
from jinja2 import nodes

from privacy_sql.errors import PrivacySqlError
from privacy_sql.hierarchies.numeric import number_text
from privacy_sql.query.template import folder
from tests import guard_cases, package_macros
from tests.conftest import ROOT
from tests.package_macros import Macros
from tests.render_package import answers

TEMPLATES = sorted(
    path for name in ("macros", "sql") for path in folder(name).rglob("*.sql") if path.parent.name != "duckdb"
)


@cache
def by_jinja() -> dict[str, str]:
    return answers(Macros())


def test_every_macro_gives_the_same_sql_and_refusals_under_minijinja() -> None:
    minijinja = pytest.importorskip("minijinja", reason="needs minijinja: pip install minijinja")
    assert _different(answers(Macros(package_macros.minijinja(minijinja)))) == {}


def test_every_macro_gives_the_same_under_a_minijinja_that_reads_chains_from_the_left() -> None:
    place = os.environ.get("PRIVACY_SQL_MINIJINJA")
    if not place:
        pytest.skip(
            "needs minijinja before 2.20: set PRIVACY_SQL_MINIJINJA to the folder it was installed to"
        )
    command = [sys.executable, "-m", "tests.render_package"]
    paths = os.pathsep.join([place, str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert _different(json.loads(done.stdout)) == {}


def _different(found: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {name: (said, found[name]) for name, said in by_jinja().items() if found[name] != said}


def test_what_dbt_refuses_is_refused_without_dbt_too() -> None:
    refused = {f"REFUSED {name}": words for name, (_, words) in guard_cases.REFUSED.items()}
    del refused["REFUSED misspelt parameter"]
    refused |= {
        f"MISSPELT {name}": words.strip()
        for name, (_, words) in guard_cases.MISSPELT.items()
        if "matches_manifest" not in words and name not in ("typo_where", "not_all_rows", "misnaming_covered")
    }
    said = by_jinja()
    odd = {
        name: said[name]
        for name, words in refused.items()
        if not (said[name].startswith("refused") and words in said[name])
    }
    assert odd == {}


def test_every_macro_of_the_package_was_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    called: set[str] = set()
    plain = Macros.__getattr__
    monkeypatch.setattr(Macros, "__getattr__", lambda self, name: (called.add(name), plain(self, name))[1])
    answers(Macros())
    in_dbt = {name for name in package_macros.sources() if (ROOT / "macros" / "dbt" / f"{name}.sql").exists()}
    assert in_dbt - called == set()


def test_dbt_spells_a_number_as_a_run_does() -> None:
    spelt = {
        name.removeprefix("number "): said for name, said in by_jinja().items() if name.startswith("number ")
    }
    for text, said in spelt.items():
        try:
            ours = number_text(text.strip("'"))
        except PrivacySqlError:
            continue
        if text[0] not in "TN":
            assert said == ours, text


# -- what templates may not say --------------------------------------------------------------------------


def tree_of(text: str) -> nodes.Template:
    return jinja2.Environment(extensions=["jinja2.ext.do"]).parse(text)


def problems(text: str) -> list[str]:
    """Words that other engines read otherwise, or not at all; selections that let strange words pass."""
    text = text.replace("{% test ", "{% macro ").replace("{% endtest %}", "{% endmacro %}")
    return list(_problems(tree_of(text)))


CHANGING = {"append", "extend", "insert", "pop", "remove", "setdefault", "update", "sort", "reverse", "clear"}


def _problems(tree: nodes.Template) -> Iterator[str]:
    for node in tree.find_all(nodes.Compare):
        if len(node.ops) > 1:
            yield f"line {node.lineno}: a chained comparison"
    for statement in tree.find_all(nodes.ExprStmt):
        yield f"line {statement.lineno}: do"
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Getattr) and call.node.attr in CHANGING:
            yield f"line {call.lineno}: {call.node.attr} changes what it is called on"
    for filtered in tree.find_all(nodes.Filter):
        if filtered.name in ("sum", "float", "int") and (filtered.args or filtered.kwargs):
            yield f"line {filtered.lineno}: {filtered.name} with a parameter"
    for choice in tree.find_all(nodes.If):
        branches = [choice, *choice.elif_]
        words = [branch.test for branch in branches if _names_a_word(branch.test)]
        if len(branches) > 1 and len(words) == len(branches) and not _refuses(choice.else_):
            yield f"line {choice.lineno}: the last branch does not refuse"


def _names_a_word(test: nodes.Expr) -> bool:
    """Whether a branch is for one word of several: `kind == "distinct"`, `"mask" in recipe`."""
    if not isinstance(test, nodes.Compare):
        return False
    sides = (test.expr, test.ops[0].expr)
    return any(isinstance(side, nodes.Const) and isinstance(side.value, str | int) for side in sides)


def _refuses(branch: list[nodes.Node]) -> bool:
    return any(
        isinstance(call.node, nodes.Getattr) and call.node.attr in ("refuse", "refuse_unless")
        for node in branch
        for call in node.find_all(nodes.Call)
    )


def test_no_template_says_what_another_engine_reads_otherwise() -> None:
    told = {path.name: problems(path.read_text(encoding="utf-8")) for path in TEMPLATES}
    assert {name: found for name, found in told.items() if found} == {}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{% if 0 <= k <= 2 %}{% endif %}", "chained"),
        ("{{ f(0 < c | float < 1) }}", "chained"),
        ("{% do found.remove(piece) if piece in found %}", "do"),
        ("{{ found.append(1) }}", "append"),
        ("{{ x | float(-1) }}", "float"),
        ("{{ x | sum(start=[]) }}", "sum"),
        ("{% if k == 'a' %}1{% elif k == 'b' %}2{% else %}3{% endif %}", "refuse"),
        ("{% if k == 'a' %}1{% elif k == 'b' %}2{% endif %}", "refuse"),
        ("{% if 'a' in k %}1{% elif 'b' in k %}2{% else %}3{% endif %}", "refuse"),
        ("{% test t(k) %}{% if k == 0 %}1{% elif k == 1 %}2{% else %}3{% endif %}{% endtest %}", "refuse"),
    ],
)
def test_the_linter_finds_what_is_read_otherwise(text: str, word: str) -> None:
    assert any(word in problem for problem in problems(text))
