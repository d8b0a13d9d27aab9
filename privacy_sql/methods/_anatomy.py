"""Anatomy's own buckets: each has at least l people, all with different sensitive values."""

from __future__ import annotations

from collections.abc import Iterator

from privacy_sql.counted.base import Base, Key
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render


def largest_l(base: Base) -> int:
    """The largest possible bucket size, because each bucket may have a value only once."""
    (found,) = base.engine.fetch(render("methods/anatomy_limit.sql", values=base.dictionaries["s"]))
    return int(found["n_rows"] // found["n_top"])


def anatomies(base: Base, values: int | None, secret: Sql) -> Iterator[tuple[int, Grouping]]:
    """The buckets for a given number of different values, or for 2, 3, ... as far as the table allows.

    Xiao and Tao 2006, as described in martin2007, Sec. 5. Instead of their loop over the largest lists of
    values, one statement deals out rows value by value, with the same guarantee.
    """
    refuse_unfit(base)
    most = largest_l(base)
    if most < (values or 2):
        raise UsageError(
            "no_anatomy",
            f"the most common sensitive value is too frequent for buckets of {values or 2} different values",
            where=base.table.name,
            hint=f"The largest l is {most}.",
        )
    for size in [values] if values else range(2, most + 1):
        yield size, anatomy(base, size, secret)


def anatomy(base: Base, values: int, secret: Sql) -> Grouping:
    """Buckets of at least this many people with different values."""
    buckets = base.rows // values
    codes = list(base.columns)
    placed = base.engine.create(
        render(
            "methods/anatomy.sql",
            coded=base.coded,
            codes=names(codes),
            others=names(base.others.values()),
            values=base.dictionaries["s"],
            secret=secret,
            buckets=buckets,
        )
    )
    keyed = render("methods/anatomy_counts.sql", placed=placed, codes=names(codes))
    return Grouping.of(base, [Key("bucket", 0, buckets)], keyed).over(lambda: placed)


def refuse_unfit(base: Base) -> None:
    """Refuse rows that are not people with one value, because buckets consist of rows."""
    table = base.table
    if table.count or table.group or table.values_per_person != "one":
        raise UsageError(
            "no_anatomy",
            "anatomy needs one row per person: no count, no group column, one value per person",
            where=table.name,
        )
