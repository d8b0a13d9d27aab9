"""Standalone SQL that a DBA can read and paste: the published rows, and the evidence for every requirement.

It uses the templates of a run, with the steps of a run as named steps of one statement, for any dialect of
sqlglot. A comment says what only Python decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privacy_sql.criteria import Criterion
from privacy_sql.display.levels import choice
from privacy_sql.engines._sources import is_file, named
from privacy_sql.kernels.marginals.junction_tree import is_decomposable
from privacy_sql.marginals.columns import Attributes, Levels, published
from privacy_sql.marginals.views import COUNT, maximum_entropy, published_columns
from privacy_sql.query.conditions import with_numbers
from privacy_sql.query.template import Query, Sql, condition, free_name, names, quote, render, with_steps
from privacy_sql.table import Table

LeaveOut = Sequence[tuple[str, Mapping[str, Any]]]
"""Requirements whose failing groups are left out, as arguments of the macro `left_out`."""

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
LEFT_OUT = "Groups that fail a requirement, or lie within 1e-9 of its limit, are left out."
LEFT = "ps_published"  # what is left of a table when groups that fail are left out
VALUES = "value_codes"  # `values` itself is a word of every dialect


@dataclass(frozen=True)
class CompiledStatement:
    """One statement, or the reason for having none, under a heading."""

    heading: str
    query: Query | None

    def text(self, dialect: str) -> str:
        lines = [f"-- {line}" for line in self.heading.splitlines()]
        body = [f"{self.query.text(dialect)};"] if self.query else []
        return "\n".join([*lines, *body])


def compiled(
    table: Table, levels: Mapping[str, int], require: Sequence[Criterion], leave_out: LeaveOut | None = ()
) -> list[CompiledStatement]:
    """The statements for a table at some levels: the published SELECT, then one per requirement.

    Both exclude groups that fail `leave_out`; None means that SQL cannot find the groups to leave out.
    """
    heading = f"{table.name}: what is published"
    if table.values_per_person != "one":
        # rows would show how often a person's value repeats, and lines without a value
        reason = "Only `privacy-sql run` can leave out repeated rows of a person."
        made = [CompiledStatement(f"{heading}\n{reason}", None)]
    elif leave_out is None:
        reason = "Failing groups are left out, and SQL alone cannot find them: use `privacy-sql run`."
        made = [CompiledStatement(f"{heading}\n{reason}", None)]
    else:
        shown = choice({name: levels.get(name, 0) for name in table.quasi}, table.described_levels)
        told = [heading, *([shown] if shown else []), *([LEFT_OUT] if leave_out else [])]
        made = [CompiledStatement("\n".join(told), _published(table, levels, leave_out))]
    # for each of several sensitive columns, the others are quasi-identifiers
    several = len(table.sensitives) > 1 and not table.joint
    seen_as = [(each, table.with_sensitive(each)) for each in table.sensitives] if several else [("", table)]
    for sensitive, seen in seen_as:
        steps = _steps(seen, levels, leave_out or ())
        made += [_evidence(criterion, seen, steps, sensitive, leave_out is None) for criterion in require]
    return [*made, *_singled_out(table, levels, leave_out or ())]


def _singled_out(table: Table, levels: Mapping[str, int], leave_out: LeaveOut) -> list[CompiledStatement]:
    """How far insensitive columns single people out; requirements cover the known ones."""
    if not table.insensitive or not _counts_people(table):
        return []
    heading = (
        f"{table.name}: whom the unchanged columns {', '.join(table.insensitive)} single out\n"
        "For somebody who also knows them: n_groups groups of n_people, of whom n_top share the most common"
        " value.\nn_people = 1: alone; n_top = n_people: certain."
    )
    steps = _steps(replace(table, insensitive=()).counting(list(table.insensitive)), levels, leave_out, table)
    query = render("publishing/baseline.sql", histogram=Sql("histogram"), members=None)
    return [CompiledStatement(heading, with_steps(query, steps))]


def compiled_marginals(table: Table, collection: Sequence[Levels]) -> list[CompiledStatement]:
    """The statements for a collection of marginals: each marginal, and the maximum-entropy table over all.

    The last one reads the marginals as `TABLE_marginal_1`, ...; create them as views or tables.
    """
    if len(table.sensitives) > 1:  # which of them has that role does not change the counts
        table = table.with_sensitive(table.sensitives[0])
    attributes = Attributes.of(table)
    chosen = published(attributes, collection)
    where = _where(table)
    views = [f"{table.name}_marginal_{number}" for number, _ in enumerate(chosen, start=1)]
    made, source, kinds = [], _relation(table), table.hierarchies
    for view, marginal in zip(views, chosen, strict=True):
        shown = [
            (name, attributes.names[a], level, kinds[attributes.names[a]].recipe() if level else None)
            for name, (a, level) in published_columns(attributes, chosen, marginal).items()
        ]
        query = render("export/marginal.sql", source=source, shown=shown, condition=where, count=COUNT)
        made.append(CompiledStatement(f"{view}: a published marginal", query))
    heading = f"{table.name}: what the marginals say together"
    if not is_decomposable(chosen):
        return [
            *made,
            CompiledStatement(f"{heading}\nNo closed form: the collection is not decomposable.", None),
        ]
    return [*made, CompiledStatement(heading, maximum_entropy(attributes, chosen, views))]


def _relation(table: Table) -> Sql:
    """Where the rows are; for a file or a frame, a table with its name."""
    source = table.source
    return named(source) if isinstance(source, str) and not is_file(source) else quote(table.name)


def _where(table: Table) -> Sql | None:
    """The condition; CSV columns are text, and are read as numbers when compared with numbers."""
    if not table.where:
        return None
    where = condition(table.where, list(table.roles))
    is_csv = str(table.source).lower().endswith((".csv", ".tsv", ".txt", ".gz"))
    return with_numbers(where, dict.fromkeys(table.roles, "text"))[0] if is_csv else where


def _published(table: Table, levels: Mapping[str, int], leave_out: LeaveOut = ()) -> Query:
    kinds = table.hierarchies
    columns = list(dict.fromkeys([*table.quasi, *table.sensitives, *table.insensitive]))
    shown = [
        (name, levels.get(name, 0), kinds[name].recipe() if levels.get(name) else None) for name in columns
    ]
    return render(
        "export/published.sql",
        source=_relation(table),
        shown=shown,
        condition=_where(table),
        keys=list(table.quasi),
        sensitive=table.sensitives[0] if table.sensitives else None,
        leave_out=leave_out,
        group=free_name("ps_group", columns),
    )


def _steps(
    table: Table, levels: Mapping[str, int], leave_out: LeaveOut, published: Table | None = None
) -> list[tuple[str, Query]]:
    """The relations that a criterion's template reads, each a named step built on earlier ones.

    If `published` is another table, its groups are the ones left out.
    """
    kinds, source, where = table.hierarchies, _relation(table), _where(table)
    left: list[tuple[str, Query]] = []
    if leave_out:
        left = [(LEFT, _published(published or table, levels, leave_out))]
        source, where, levels = Sql(LEFT), None, {}
    keys = [
        (Sql(f"k{number}"), name, levels.get(name, 0), kinds[name].recipe() if levels.get(name) else None)
        for number, name in enumerate(table.quasi, start=1)
    ]
    sensitive = table.sensitives[0] if table.sensitives else None
    keyed = render("export/keyed.sql", source=source, keys=keys, sensitive=sensitive, condition=where)
    histogram = render(
        "export/histogram.sql",
        keyed=Sql("keyed"),
        keys=names(str(alias) for alias, *_ in keys),
        value=names(["value"]),
        sensitive=sensitive is not None,
    )
    steps = [*left, ("keyed", keyed), ("histogram", histogram)]
    steps.append(("groups", render("counted/groups.sql", histogram=Sql("histogram"))))
    if sensitive is not None:
        steps.append(("overall", render("counted/overall.sql", histogram=Sql("histogram"))))
        steps.append((VALUES, render("export/values.sql", keyed=Sql("keyed"), value=names(["value"]))))
    return steps


def _evidence(
    criterion: Criterion, table: Table, steps: Sequence[tuple[str, Query]], sensitive: str, whole: bool
) -> CompiledStatement:
    question = f"{criterion}: {criterion.question}"
    if sensitive:
        question += f"\nFor {sensitive!r}, with the other sensitive columns as quasi-identifiers."
    if not standalone(criterion) or not _counts_people(table):
        return CompiledStatement(
            f"{question}\nIt needs more than this table's counts: use `privacy-sql check`.", None
        )
    relations: dict[str, Any] = {name: Sql(name) for name, _ in steps} | {"values": Sql(VALUES)}
    query = render(f"criteria/{criterion.name}.sql", **relations, **criterion.context(), by_group=False)
    heading = f"{question}\nEvidence in counts; safe if the value is {criterion.relation} {criterion.limit}."
    if whole:
        heading += "\nFor all rows, before failing groups are left out."
    return CompiledStatement(heading, with_steps(query, steps))


def _counts_people(table: Table) -> bool:
    """Whether one row is one person with one value, and groups come from the quasi-identifiers."""
    joined = table.joint and len(table.sensitives) > 1
    return table.values_per_person == "one" and not (table.count or table.group or joined)


def standalone(criterion: Criterion) -> bool:
    """Whether a criterion's template reads only the histogram of the groups."""
    kind = type(criterion)
    plain = kind.tables is Criterion.tables and kind.gather is Criterion.gather
    return plain and not (criterion.needs_base or criterion.needs_population or criterion.reads)
