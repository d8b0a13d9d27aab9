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
from privacy_sql.engines._sources import as_pattern
from privacy_sql.query.template import Query, Sql, literal, quote

# below this many rows, the statements cost more than they save
LARGE = 200_000
# so many bytes of a dictionary are few values, and a column has few values in all
MOST_BYTES, MOST_VALUES = 4096, 1000
MOST_PACKED = 2**62
# up to here doubles add whole numbers exactly, and an engine adds them without looking for overflows
EXACT_DOUBLES = 2**52


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
            from parquet_metadata({literal(as_pattern(self.path))}) where path_in_schema in ({names})"""
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
        """Whether columns have few values, and one number holds the places of a combination."""
        return len(sizes) == len(self.columns) and max(sizes) <= MOST_VALUES and _highest(sizes) < MOST_PACKED

    def listed(self, dictionaries: Sql) -> Query:
        """The values as a variable, so that no statement has any in its text; NULL is the first of each."""
        each = "list_prepend(null, coalesce(list(value order by code) filter (where code <> 0), [])) as its"
        text = f"select list(its order by part) from (select part, {each} from {dictionaries} group by part)"
        return Query(f"set variable {dictionaries} = ({text})", "listing values")

    def combinations(self, dictionaries: Sql, sizes: Sequence[int]) -> Query:
        """How often each combination occurs, in codes; none where a value is in no dictionary.

        A code is a place less one, and the ones are taken off at the end: so all that is done for each row
        is an addition, as a place and its product are found for each entry of a dictionary.
        """
        units = [prod(sizes[place + 1 :]) for place, _ in enumerate(sizes)]
        kind = "double" if _highest(sizes) <= EXACT_DOUBLES else "bigint"
        lists = f"getvariable({literal(str(dictionaries))})"
        packed = " + ".join(
            f"cast(list_position({lists}[{place}], {quote(name)}) as {kind}) * cast({unit} as {kind})"
            for place, ((name, _), unit) in enumerate(zip(self.columns, units, strict=True), start=1)
        )
        codes = ", ".join(
            f"packed // {unit} % {size} as {alias}"
            for (_, alias), unit, size in zip(self.columns, units, sizes, strict=True)
        )
        rows = f"select {packed} as places, count(*) as n from {self.source} group by places"
        whole = f"select cast(places as bigint) - {sum(units)} as packed, n from ({rows})"
        return Query(f"select {codes}, cast(n as bigint) as n_rows from ({whole})", "combinations")

    def n_new(self, combinations: Sql) -> Query:
        """How many combinations have a value that was in no dictionary, as where the file became another."""
        return Query(
            f"select count(*) - count({self.columns[0][1]}) as n_new from {combinations}", "looking over"
        )

    def counted(self, combinations: Sql, dictionaries: Sql) -> Query:
        """The dictionaries with how often each value occurs: part, code, n_rows, v_text."""
        each = (
            f"select {part} as part, {alias} as code, cast(sum(n_rows) as bigint) as n_rows"
            f" from {combinations} group by {alias}"
            for part, (_, alias) in enumerate(self.columns, start=1)
        )
        text = f"""
            with counted as ({" union all ".join(each)})
            select d.part, d.code, counted.n_rows, d.value as v_text
            from {dictionaries} as d
            inner join counted on d.part = counted.part and d.code = counted.code"""
        return Query(text, "counted")


def _highest(sizes: Sequence[int]) -> int:
    """The number that stands for the last value of every column; places begin with one."""
    return sum(prod(sizes[place:]) for place, _ in enumerate(sizes))
