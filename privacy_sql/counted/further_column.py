"""The values, by group, of a column that the base does not count, such as a household or a weight.

The table is counted again with this column, in the codes of the base, and grouped like the candidate.
"""

from __future__ import annotations

from privacy_sql.counted.counting import Counted, counted_with
from privacy_sql.counted.grouping import Grouping, numbered
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render


def by_group(grouping: Grouping, column: str, what: str) -> tuple[Sql, Sql]:
    """How many people of each group have which value (g, s, n_rows), and the values (code, value)."""
    base, engine = grouping.base, grouping.base.engine
    if any(key.labels is not None or key.column not in base.dictionaries for key in grouping.keys):
        raise UsageError(
            f"no_{what}_groups",
            f"{what}s can be counted only in groups with labels at one level of each quasi-identifier",
            where=base.table.name,
            hint="Publish by generalise or full_domain without local_recoding.",
        )

    def recounted() -> Counted:
        """How many people of each value share each combination, in the codes of the table."""
        home = base.at_home
        quasi = {alias: codes for alias, codes in home.dictionaries.items() if alias != "s"}
        return counted_with(home.engine, home.source, home.table, column, home.source_columns, quasi)

    counted = base.memory.once(("further column", column), recounted)
    keys = [
        (Sql(f"k{n}"), Sql(key.column), key.level, base.level_codes[key.column] if key.level else None)
        for n, key in enumerate(grouping.keys, start=1)
    ]
    query = render("counted/keyed.sql", base=counted.relation, keys=keys, columns=[Sql("s")])
    keyed = engine.create(query, view=True)
    placed = numbered(engine, keyed, grouping.keys, grouping.numbers, [Sql("s")])
    if grouping.gone is not None:
        columns = names(["s", "n_rows"])
        left = render("counted/without.sql", relation=placed, columns=columns, gone=grouping.gone)
        placed = engine.create(left, view=True)
    histogram = render("counted/histogram.sql", candidate=placed, sensitive=True, counted=False)
    return engine.create(histogram), counted.dictionaries["s"]
