"""Published marginals read back as a stranger would: from their labels and counts, all of them together.

It uses nothing from the search or the base: labels get new numbers, marginals must agree on shared cells, and
every requirement is judged on the content of the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, NotSafe
from privacy_sql.judge import Verdicts, judge, required
from privacy_sql.kernels.marginals.junction_tree import Resolutions, intersection
from privacy_sql.marginals.columns import Attributes
from privacy_sql.marginals.tables import MarginalTables
from privacy_sql.marginals.views import COUNT, published_columns
from privacy_sql.publishing import audit
from privacy_sql.query.statements import step
from privacy_sql.query.template import Sql, render
from privacy_sql.release import Release
from privacy_sql.table import Table


@dataclass(frozen=True)
class PublishedRows:
    """Published marginals as a source: the number of rows, and the labels of codes."""

    engine: Engine
    table: Table
    rows: int
    labels: Mapping[str, Sql]  # code column -> (label, code)

    @property
    def holds_rows(self) -> bool:
        """Whether they count anybody."""
        return self.rows > 0

    def label(self, column: str, level: int, code: int) -> object:
        """INTERNAL: the published label of a code; None is a missing value."""
        name = column if column == "s" else f"{column}_{level}"
        rows = self.engine.fetch(
            render("publishing/published_label.sql", labels=self.labels[name], code=code)
        )
        return rows[0]["label"] if rows else None


def audit_parts(engine: Engine, published: Mapping[str, Any], release: Release) -> Verdicts:
    """The verdicts on the published marginals together; raises if they are not the intended ones."""
    with step("read back"):
        relations = {name: engine.source(place) for name, place in published.items()}
        audit.same_parts(engine, published, relations, release)
        assert isinstance(release.grouping, MarginalTables)
        tables = read(engine, relations, release.grouping)
    with step("judge"):
        # verdicts that the files alone cannot give stay, because the files have exactly the judged rows
        verdicts = Verdicts(release.verdicts)
        by_files = [criterion for criterion in required(release) if audit.decidable(criterion, release.table)]
        if by_files:
            verdicts.update(judge(tables, by_files))
    if not verdicts:
        failed = [requirement for requirement, verdict in verdicts.items() if not verdict.safe]
        raise NotSafe("audit", f"the published marginals do not meet {', '.join(failed)}", where=release.name)
    return verdicts


def read(engine: Engine, relations: Mapping[str, Sql], meant: MarginalTables) -> MarginalTables:
    """Published marginals as a collection to judge; `meant` only says which columns each one shows."""
    attributes = meant.attributes
    marginals = dict(zip(meant.published, relations.values(), strict=True))
    labels = _labels(engine, marginals, meant)
    coded = {
        marginal: engine.create(
            render(
                "publishing/marginal.sql",
                published=relation,
                columns=[
                    (name, _alias(attributes, a, level), labels[str(_alias(attributes, a, level))])
                    for name, (a, level) in published_columns(attributes, meant.published, marginal).items()
                ],
                own=attributes.columns(attributes.without_sensitive(marginal)),
                count=COUNT,
            )
        )
        for marginal, relation in marginals.items()
    }
    queries = (
        render("marginals/separator.sql", marginal=relation, columns=[]) for relation in coded.values()
    )
    totals = {int(engine.fetch(query)[0]["n_rows"]) for query in queries}
    if len(totals) > 1:
        raise DataError(
            "different_totals",
            f"the marginals have {len(totals)} different numbers of rows, so they are not from one table",
        )
    base = PublishedRows(engine, meant.base.table, totals.pop(), labels)
    beside = tuple(read(engine, relations, other) for other in meant.beside)
    tables = MarginalTables(base, attributes, meant.published, coded, meant.n_values, beside)
    _refuse_disagreement(tables)
    return tables


def _alias(attributes: Attributes, a: int, level: int) -> Sql:
    return Sql("s") if a == attributes.sensitive else Sql(f"{attributes.aliases[a]}_{level}")


def _labels(engine: Engine, marginals: Mapping[Resolutions, Sql], meant: MarginalTables) -> dict[str, Sql]:
    """The labels of each published column, numbered across all marginals that show it."""
    attributes = meant.attributes
    shown: dict[str, tuple[str, list[Sql]]] = {}
    for marginal, relation in marginals.items():
        for name, (a, level) in published_columns(attributes, meant.published, marginal).items():
            shown.setdefault(str(_alias(attributes, a, level)), (name, []))[1].append(relation)
    return {
        alias: engine.create(render("publishing/marginal_labels.sql", relations=relations, column=name))
        for alias, (name, relations) in shown.items()
    }


def _refuse_disagreement(tables: MarginalTables) -> None:
    """Raise if two marginals have different counts for a shared cell, because no table can have both."""
    maximal = tables.maximal
    for i, left in enumerate(maximal):
        for right in maximal[:i]:
            query = render(
                "publishing/disagreement.sql",
                left=tables.relations_of[left],
                right=tables.relations_of[right],
                columns=tables.attributes.columns(intersection(left, right)),
            )
            (row,) = tables.base.engine.fetch(query)
            if row["n_cells"]:
                raise DataError(
                    "different_counts",
                    f"marginals {tables.published.index(right) + 1} and {tables.published.index(left) + 1}"
                    f" count {row['n_cells']} cells differently, so they are not of one table",
                )
