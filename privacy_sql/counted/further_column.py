"""The values, by group, of a column that the base does not count, such as a household or a weight.

The table is counted again with this column, in the codes of the base, and grouped like the candidate.
"""

from __future__ import annotations

from privacy_sql.counted.base import Base
from privacy_sql.counted.counting import Counted, counted_with
from privacy_sql.counted.grouping import Grouping, numbered
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, render


def by_group(grouping: Grouping, column: str, what: str) -> tuple[Sql, Sql]:
    """How many people of each group have which value (g, s, n_rows), and the values (code, value)."""
    placed, values = _placed(grouping, column, what)
    histogram = render("counted/histogram.sql", candidate=placed, sensitive=True, counted=False)
    return grouping.base.engine.create(histogram), values


def by_group_and_value(grouping: Grouping, column: str, what: str) -> tuple[Sql, Sql]:
    """The same with the codes of sensitive values: g, s, the codes, n_rows; and the name of their column."""
    return _placed(grouping, column, what, with_values=True)[0], Sql(_beside(grouping.base))


def counted_beside(base: Base, column: str, *, with_values: bool) -> tuple[Counted, Sql]:
    """How many people of each value of the column share each combination, in the codes of the table.

    The column is `s`; the name returned is that of the sensitive column, if it is counted.
    """
    beside = _beside(base)

    def recounted() -> Counted:
        home = base.at_home
        codes = {alias: codes for alias, codes in home.dictionaries.items() if alias != "s"}
        if with_values:
            codes[beside] = home.dictionaries["s"]
        values = home.table.sensitives[0] if with_values else None
        given = home.engine, home.source, home.table, column, home.source_columns, codes
        return counted_with(*given, values=values)

    return base.memory.once(("further column", column, with_values), recounted), Sql(beside)


def _beside(base: Base) -> str:
    """The internal name of the sensitive column as one more of q1.. ."""
    return f"q{len(base.table.quasi) + 1}"


def _placed(grouping: Grouping, column: str, what: str, *, with_values: bool = False) -> tuple[Sql, Sql]:
    """Everybody with their group and value of the column, and the values."""
    base, engine = grouping.base, grouping.base.engine
    if any(key.labels is not None or key.column not in base.dictionaries for key in grouping.keys):
        raise UsageError(
            f"no_{what}_groups",
            f"{what}s can be counted only in groups with labels at one level of each quasi-identifier",
            where=base.table.name,
            hint="Publish by generalise or full_domain without local_recoding.",
        )

    counted, beside = counted_beside(base, column, with_values=with_values)
    shown = [Sql("s"), *([beside] if with_values else [])]
    keys = [
        (Sql(f"k{n}"), Sql(key.column), key.level, base.level_codes[key.column] if key.level else None)
        for n, key in enumerate(grouping.keys, start=1)
    ]
    query = render("counted/keyed.sql", base=counted.relation, keys=keys, columns=shown)
    keyed = engine.create(query, view=True)
    placed = numbered(engine, keyed, grouping.keys, grouping.numbers, shown)
    if grouping.gone is not None:
        columns = [*shown, Sql("n_rows")]
        left = render("counted/without.sql", relation=placed, columns=columns, gone=grouping.gone)
        placed = engine.create(left, view=True)
    return placed, counted.dictionaries["s"]
