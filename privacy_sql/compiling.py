"""Standalone SQL that a DBA can read and paste: what is published, and the evidence of every requirement.

The same templates as in a run, with the steps of a run as named steps of one statement, for any engine that
sqlglot speaks. What only Python decides is said in a comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from privacy_sql.criteria import Criterion
from privacy_sql.kernels.junction_tree import Resolutions, is_decomposable
from privacy_sql.marginal_columns import Attributes, Levels, published
from privacy_sql.marginal_views import COUNT, maximum_entropy, published_columns
from privacy_sql.query import Query, Sql, condition, names, render, with_steps
from privacy_sql.table import Table

DIALECTS = (
    "duckdb",
    "postgres",
    "spark",
    "databricks",
    "snowflake",
    "bigquery",
    "trino",
    "redshift",
    "clickhouse",
)
VALUES = "value_codes"  # `values` itself is a word of every dialect


@dataclass(frozen=True)
class Statement:
    """One statement, or the reason why there is none, under a heading."""

    heading: str
    query: Query | None

    def text(self, dialect: str) -> str:
        lines = [f"-- {line}" for line in self.heading.splitlines()]
        body = [f"{self.query.text(dialect)};"] if self.query else []
        return "\n".join([*lines, *body])


def compiled(table: Table, levels: Mapping[str, int], require: Sequence[Criterion]) -> list[Statement]:
    """The statements of a table generalised to levels: the published SELECT, then one per requirement."""
    where = condition(table.where, list(table.roles)) if table.where else None
    steps = _steps(table, levels, where)
    made = [Statement(f"{table.name}: what is published", _published(table, levels, where))]
    return [*made, *(_evidence(criterion, steps) for criterion in require)]


def compiled_marginals(table: Table, collection: Sequence[Levels]) -> list[Statement]:
    """The statements of a collection of marginals: each marginal, and the maximum-entropy table over all.

    The last one reads the marginals by the names `TABLE_marginal_1`, ...: create them as views or tables.
    """
    attributes = Attributes.of(table)
    chosen = published(attributes, collection)
    where = condition(table.where, list(table.roles)) if table.where else None
    views = [f"{table.name}_marginal_{number}" for number, _ in enumerate(chosen, start=1)]
    made = [
        Statement(f"{view}: a published marginal", _marginal(table, attributes, chosen, marginal, where))
        for view, marginal in zip(views, chosen, strict=True)
    ]
    heading = f"{table.name}: what the marginals say together"
    if not is_decomposable(chosen):
        return [*made, Statement(f"{heading}\nNo closed form: the collection is not decomposable.", None)]
    return [*made, Statement(heading, maximum_entropy(attributes, chosen, views))]


def _marginal(
    table: Table,
    attributes: Attributes,
    chosen: Sequence[Resolutions],
    marginal: Resolutions,
    where: Sql | None,
) -> Query:
    kinds = table.hierarchies
    shown = [
        (name, attributes.names[a], level, kinds[attributes.names[a]].recipe() if level else None)
        for name, (a, level) in published_columns(attributes, chosen, marginal).items()
    ]
    return render("standalone/marginal.sql", source=table.name, shown=shown, condition=where, count=COUNT)


def _published(table: Table, levels: Mapping[str, int], where: Sql | None) -> Query:
    kinds = table.hierarchies
    columns = [*table.quasi, *table.sensitives, *table.insensitive]
    shown = [
        (name, levels.get(name, 0), kinds[name].recipe() if levels.get(name) else None) for name in columns
    ]
    return render("standalone/published.sql", source=table.name, shown=shown, condition=where)


def _steps(table: Table, levels: Mapping[str, int], where: Sql | None) -> list[tuple[str, Query]]:
    """The relations a criterion's template reads, each a named step built on those before it."""
    kinds = table.hierarchies
    keys = [
        (Sql(f"k{number}"), name, levels.get(name, 0), kinds[name].recipe() if levels.get(name) else None)
        for number, name in enumerate(table.quasi, start=1)
    ]
    sensitive = table.sensitives[0] if table.sensitives else None
    keyed = render("standalone/keyed.sql", source=table.name, keys=keys, sensitive=sensitive, condition=where)
    histogram = render(
        "standalone/histogram.sql",
        keyed=Sql("keyed"),
        keys=names(str(alias) for alias, *_ in keys),
        sensitive=sensitive is not None,
    )
    steps = [("keyed", keyed), ("histogram", histogram)]
    steps.append(("groups", render("groups.sql", histogram=Sql("histogram"))))
    if sensitive is not None:
        steps.append(("overall", render("overall.sql", histogram=Sql("histogram"))))
        steps.append((VALUES, render("standalone/values.sql", keyed=Sql("keyed"))))
    return steps


def _evidence(criterion: Criterion, steps: Sequence[tuple[str, Query]]) -> Statement:
    question = f"{criterion}: {criterion.question}"
    if not standalone(criterion):
        return Statement(f"{question}\nNeeds more than this table's counts: ask `privacy-sql check`.", None)
    relations: dict[str, Any] = {name: Sql(name) for name, _ in steps} | {"values": Sql(VALUES)}
    query = render(f"criteria/{criterion.name}.sql", **relations, **criterion.context(), by_group=False)
    heading = (
        f"{question}\nEvidence in counts; safe when the value is {criterion.relation} {criterion.limit}."
    )
    return Statement(heading, with_steps(query, steps))


def standalone(criterion: Criterion) -> bool:
    """Whether the histogram of the groups is all the evidence a criterion's template reads."""
    kind = type(criterion)
    plain = kind.tables is Criterion.tables and kind.gather is Criterion.gather
    return plain and not (criterion.needs_base or criterion.needs_population or criterion.reads)
