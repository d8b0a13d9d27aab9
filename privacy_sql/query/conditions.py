"""Text compared with numbers in a condition: CSV is read as text, but `age >= 18` means the number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from privacy_sql.query.template import Sql, parse

if TYPE_CHECKING:
    from sqlglot import exp

NUMERIC = ("integer", "number")


def with_numbers(condition: Sql, kinds: Mapping[str, str]) -> tuple[Sql, list[str]]:
    """A checked condition with text columns cast where they are compared with numbers, and their names.

    >>> condition, cast = with_numbers(Sql('"age" >= 18 AND sex'), {"age": "text", "sex": "text"})
    >>> print(condition, cast)
    CAST("age" AS DOUBLE) >= 18 AND sex ['age']
    """
    from sqlglot import exp

    arithmetic = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs)
    compared = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
    tree = parse(f"select 1 where {condition}").copy()
    found: list[str] = []
    for node in list(tree.find_all(*arithmetic, *compared)):
        parts = [part.unnest() for part in node.iter_expressions()]
        if isinstance(node, arithmetic) or any(_is_number(part, kinds, arithmetic) for part in parts):
            for part in parts:
                if isinstance(part, exp.Column) and kinds.get(part.name) == "text":
                    found.append(part.name)
                    part.replace(exp.cast(part.copy(), exp.DataType.Type.DOUBLE))
    return Sql(tree.args["where"].this.sql(dialect="duckdb")), list(dict.fromkeys(found))


def _is_number(part: exp.Expr, kinds: Mapping[str, str], arithmetic: tuple[type[exp.Expr], ...]) -> bool:
    from sqlglot import exp

    if isinstance(part, exp.Column):
        return kinds.get(part.name) in NUMERIC
    return (isinstance(part, exp.Literal) and not part.is_string) or isinstance(
        part, (*arithmetic, exp.Length)
    )
