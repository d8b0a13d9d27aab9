"""The portable subset of SQL, which means the same on DuckDB, PostgreSQL and Spark.

An allow-list over the syntax tree. sqlglot translates many constructs without a warning although their
meaning changes (`log`, ordered `list`, integer division), so a template may use only what is listed here; see
docs/dialects.md for the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

NODES = frozenset(
    [
        "Abs",
        "Add",
        "Alias",
        "And",
        "Anonymous",
        "Between",
        "Boolean",
        "Case",
        "Cast",
        "Ceil",
        "Chr",
        "Coalesce",
        "Column",
        "Concat",
        "Count",
        "CTE",
        "DataType",
        "DataTypeParam",
        "DenseRank",
        "Distinct",
        "Div",
        "Dot",
        "EQ",
        "Exists",
        "Exp",
        "Extract",
        "Floor",
        "From",
        "GT",
        "GTE",
        "Greatest",
        "Group",
        "GroupingSets",
        "Having",
        "Identifier",
        "If",
        "In",
        "Is",
        "Join",
        "Least",
        "Length",
        "LT",
        "LTE",
        "Lead",
        "Literal",
        "Ln",
        "Lower",
        "MD5",
        "Max",
        "Min",
        "Mul",
        "Neg",
        "NEQ",
        "Not",
        "Null",
        "Or",
        "Order",
        "Ordered",
        "Pad",
        "Paren",
        "Pow",
        "RegexpLike",
        "Rank",
        "RowNumber",
        "Schema",
        "Select",
        "Sqrt",
        "Star",
        "Sub",
        "Subquery",
        "Substring",
        "StrPosition",
        "Sum",
        "Table",
        "TableAlias",
        "Translate",
        "Trim",
        "Union",
        "Upper",
        "Values",
        "Tuple",
        "Var",
        "Where",
        "Window",
        "WindowSpec",
        "With",
    ]
)
JOINS = frozenset({"", "INNER", "LEFT", "CROSS"})
TYPES = frozenset({"BIGINT", "INT", "SMALLINT", "DOUBLE", "TEXT", "VARCHAR", "DATE", "BOOLEAN", "DECIMAL"})
# Functions without a sqlglot class that mean the same everywhere.
FUNCTIONS: frozenset[str] = frozenset()


@cache
def problems(sql: str) -> tuple[str, ...]:
    """What would change its meaning on another engine, in plain words.

    >>> problems("select ln(n_rows) as x from base")
    ()
    >>> problems("select log(n_rows) as x from base")
    ('Log is not in the portable subset',)
    """
    from privacy_sql.query.template import parse

    tree = parse(sql)
    found = set()
    for node in tree.walk():
        kind = type(node).__name__
        if kind not in NODES:
            found.add(f"{kind} is not in the portable subset")
        elif kind in _CHECKS and (message := _CHECKS[kind](node)):
            found.add(message)
    if type(tree).__name__ not in ("Select", "Union"):
        found.add("a template must be a single SELECT")
    return tuple(sorted(found))


def _join(node: exp.Expr) -> str | None:
    if node.args.get("using"):
        return "write `on a.x = b.x` instead of using"
    words = {str(node.args.get(word) or "").upper() for word in ("side", "kind", "method")}
    return None if words <= JOINS else "only inner, left and cross joins are portable"


def _sum(node: exp.Expr) -> str | None:
    above = node.parent
    while above is not None and type(above).__name__ in ("Window", "Paren", "Coalesce"):
        above = above.parent
    return None if type(above).__name__ == "Cast" else "cast a sum to bigint or double"


_CHECKS: Mapping[str, Callable[[exp.Expr], str | None]] = {
    "Star": lambda node: None if type(node.parent).__name__ == "Count" else "name the columns instead of *",
    "Anonymous": lambda node: (
        None if node.name.lower() in FUNCTIONS else f"function {node.name.lower()} is not portable"
    ),
    "Cast": lambda node: (
        None if (kind := node.args["to"].this.name) in TYPES else f"cast to {kind} is not portable"
    ),
    "Join": _join,
    "Literal": lambda node: (
        None
        if node.args.get("is_string") or node.name.isdigit()
        else "write a decimal number as cast('0.5' as double)"
    ),
    "Window": lambda node: (
        "give the window an explicit ROWS frame"
        if type(node.this).__name__ in ("Sum", "Count", "Min", "Max")
        and node.args.get("order")
        and not node.args.get("spec")
        else None
    ),
    "WindowSpec": lambda node: (
        None if str(node.args.get("kind")).upper() == "ROWS" else "write a window frame in ROWS"
    ),
    "Sum": _sum,
    "Div": lambda node: (
        None
        if any(
            type(part).__name__ == "Cast" and part.args["to"].this.name == "DOUBLE"
            for side in (node.this, node.expression)
            for part in side.walk()
        )
        else "divide doubles: use the ratio macro"
    ),
    "Group": lambda node: (
        "GROUP BY must name plain columns"
        if any(node.args.get(word) for word in ("all", "cube", "rollup", "grouping_sets", "totals"))
        or any(type(part).__name__ == "Literal" for part in node.expressions)
        else None
    ),
}
