"""A large Parquet file whose columns hold few values, counted by the places of these.

A GROUP BY of many columns spends most of its time on comparing texts. Parquet writes a column whose values
repeat as a dictionary and numbers, and the reader hands both over: the place of each value is found once for
each entry of a dictionary, and one number is compared for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from privacy_sql.engines import Row
from privacy_sql.query.template import Query, Sql, literal, quote

# below this many rows, the statements cost more than they save
LARGE = 200_000
# so many bytes of a dictionary are few values, and a column has few values in all
MOST_BYTES, MOST_VALUES = 4096, 1000
MOST_PACKED = 2**62


@dataclass(frozen=True)
class PackedColumns:
    """Some columns of text of a Parquet file, their internal names, and the view that reads it."""

    path: Path
    source: Sql
    columns: Sequence[tuple[str, Sql]]

    def looked_at(self) -> Query:
        """How many pieces there are, the rows of one column, and the bytes of the largest dictionary."""
        names = ", ".join(literal(name) for name, _ in self.columns)
        size = "coalesce(data_page_offset - dictionary_page_offset, 1e9)"
        text = f"""
            select count(*) as n_pieces, count(distinct row_group_id) as n_groups,
                coalesce(sum(num_values), 0) as n_all, coalesce(max({size}), 1e9) as n_bytes
            from parquet_metadata({literal(str(self.path))}) where path_in_schema in ({names})"""
        return Query(text, f"looking at {self.path.name}")

    def are_small(self, found: Row) -> bool:
        """Whether every piece of every column has a small dictionary, and rows are enough to gain by it."""
        n = len(self.columns)
        of_each = found["n_pieces"] == n * found["n_groups"]  # the names of columns in columns are joined
        return bool(of_each and found["n_all"] >= n * LARGE and found["n_bytes"] <= MOST_BYTES)

    def dictionaries(self) -> Query:
        """The values of every column in their order: part, code, value; NULL has code 0."""
        each = (
            f"select {part} as part, value from (select distinct {quote(name)} as value from {self.source})"
            for part, (name, _) in enumerate(self.columns, start=1)
        )
        number = "cast(row_number() over (partition by part order by value nulls last) as bigint)"
        code = f"case when value is null then cast(0 as bigint) else {number} end as code"
        return Query(f"select part, {code}, value from ({' union all '.join(each)})", "dictionaries")

    def sizes(self, dictionaries: Sql) -> Query:
        text = f"select max(code) + 1 as size from {dictionaries} group by part order by part"
        return Query(text, "sizes of dictionaries")

    def fit(self, sizes: Sequence[int]) -> bool:
        """Whether columns have few values, and one number holds a combination."""
        return len(sizes) == len(self.columns) and max(sizes) <= MOST_VALUES and prod(sizes) < MOST_PACKED

    def listed(self, dictionaries: Sql) -> Query:
        """The values as a variable, so that no statement has any in its text."""
        each = "coalesce(list(value order by code) filter (where code <> 0), []) as its"
        text = f"select list(its order by part) from (select part, {each} from {dictionaries} group by part)"
        return Query(f"set variable {dictionaries} = ({text})", "listing values")

    def combinations(self, dictionaries: Sql, sizes: Sequence[int]) -> Query:
        """How often each combination occurs, in codes; none where a value is in no dictionary."""
        packed = "0"
        for place, ((name, _), size) in enumerate(zip(self.columns, sizes, strict=True), start=1):
            found = f"list_position(getvariable({literal(str(dictionaries))})[{place}], {quote(name)})"
            packed = f"({packed}) * {size} + case when {quote(name)} is null then 0 else {found} end"
        codes = ", ".join(
            f"packed // {prod(sizes[place + 1 :])} % {sizes[place]} as {alias}"
            for place, (_, alias) in enumerate(self.columns)
        )
        rows = f"select cast({packed} as bigint) as packed, count(*) as n from {self.source} group by packed"
        return Query(f"select {codes}, cast(n as bigint) as n_rows from ({rows})", "combinations")

    def n_new(self, combinations: Sql) -> Query:
        """How many combinations have a value that was in no dictionary, as where the file became another."""
        return Query(
            f"select count(*) - count({self.columns[0][1]}) as n_new from {combinations}", "looking over"
        )

    def counted(self, combinations: Sql, dictionaries: Sql) -> Query:
        """What `counted/counted.sql` gives: combinations in codes, then the dictionaries."""
        aliases = [alias for _, alias in self.columns]
        each = (
            f"select {part} as part, {alias} as code, cast(sum(n_rows) as bigint) as n_rows"
            f" from {combinations} group by {alias}"
            for part, alias in enumerate(aliases, start=1)
        )
        nothing = ", ".join(f"cast(0 as bigint) as {alias}" for alias in aliases)
        text = f"""
            with counted as ({" union all ".join(each)})
            select 0 as part, cast(0 as bigint) as code, n_rows, {", ".join(aliases)},
                cast(null as varchar) as v_text
            from {combinations}
            union all
            select d.part, d.code, counted.n_rows, {nothing}, d.value as v_text
            from {dictionaries} as d
            inner join counted on d.part = counted.part and d.code = counted.code"""
        return Query(text, "counted")
