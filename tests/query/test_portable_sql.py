"""Every statement the package runs stays inside the portable subset and means one thing on every engine."""

from __future__ import annotations

import pytest

from privacy_sql.query import portable
from privacy_sql.query.template import folder
from tests.statements import sent, shapes

DIALECTS = ("duckdb", "postgres", "spark")
TEMPLATES = sorted(
    path.relative_to(folder("sql")).with_suffix("").as_posix() for path in folder("sql").rglob("*.sql")
)


def test_the_typical_calls_use_every_template() -> None:
    assert [template for template in TEMPLATES if not shapes(template)] == [], "add a call to tests/calls"


def test_every_template_stays_inside_the_portable_subset() -> None:
    told = {name: {*map(str, portable.problems(query.sql))} for name, query in sent().items()}
    assert {name: problems for name, problems in told.items() if problems} == {}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_template_renders_for_a_dialect(dialect: str) -> None:
    assert [name for name, query in sent().items() if not query.text(dialect)] == []


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("select log(n) as x from t", "Log"),
        ("select list(n order by n desc) as x from t", "ArrayAgg"),
        ("select a / b as x from t", "divide doubles"),
        ("select sum(n) as x from t", "cast a sum"),
        ("select a from t group by all", "GROUP BY"),
        ("select * from t", "name the columns"),
        ("select first(a) as x from t", "First"),
        ("select median(a) as x from t", "Median"),
        ("select hash(a) as x from t", "hash"),
        ("select count(*) filter (where a > 1) as x from t", "Filter"),
        ("select 0.5 as x from t", "decimal"),
        ("select a from t qualify row_number() over (order by a) = 1", "Qualify"),
        ("select cast(sum(a) over (order by a) as bigint) as x from t", "ROWS frame"),
        ("select a // b as x from t", "IntDiv"),
        ("select random() as x from t", "Rand"),
        ("select a from t join u using (a)", "using"),
        ("select round(a, 2) as x from t", "Round"),
        ("select a from t limit 1", "Limit"),
        ("drop table t", "SELECT"),
        ("select any_value(a) as x from t", "AnyValue"),
        ("select a from t full join u on t.a = u.a", "joins"),
        ("select cast(a as float) as x from t", "cast to FLOAT"),
    ],
)
def test_the_linter_refuses_what_changes_its_meaning(sql: str, word: str) -> None:
    assert any(word in problem for problem in portable.problems(sql))
