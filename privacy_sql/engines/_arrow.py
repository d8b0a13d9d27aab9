"""Small tables, files and results as Arrow tables, which travel between engines and into a server."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from privacy_sql.engines import Columns, Frame
from privacy_sql.engines._sources import csv_header, no_frame, unlike
from privacy_sql.errors import DataError

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import WriteableBuffer

TYPES = {"bigint": pa.int64(), "double": pa.float64(), "varchar": pa.string()}
# an unsigned integer fits the next wider signed one
WIDER = {
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}


def of_columns(columns: Columns) -> pa.Table:
    """A small table of ours."""
    return pa.table(
        {
            name: pa.array(values if isinstance(values, list) else list(values), TYPES[kind])
            for name, (kind, values) in columns.items()
        }
    )


def of_frame(frame: Frame) -> pa.Table:
    """A pandas DataFrame without its index, or anything that speaks Arrow."""
    pandas = sys.modules.get("pandas")  # a user with a pandas frame has loaded pandas
    if pandas is None or not isinstance(frame, pandas.DataFrame):
        try:
            return pa.table(frame)
        except (TypeError, ValueError, pa.ArrowException):
            raise no_frame(frame) from None
    try:
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
    except pa.ArrowException:  # a column with mixed types is text, as in DuckDB
        return pa.table({str(name): _of_column(frame[name]) for name in frame})


def _of_column(column: pd.Series[Any]) -> pa.Array:
    try:
        return pa.array(column, from_pandas=True)
    except pa.ArrowException:
        missing = column.isna().tolist()
        values = [None if gone else str(value) for value, gone in zip(column, missing, strict=True)]
        return pa.array(values, pa.string())


def of_parquet(path: Path) -> pa.Table:
    """A Parquet file."""
    try:
        return pa.parquet.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError):
        raise DataError("bad_file", f"{path.name} is not Parquet", hint="Write the file again.") from None


def of_parquets(files: list[Path]) -> pa.Table:
    """Parquet files with the same columns, as one table."""
    tables = [of_parquet(file) for file in files]
    if any(table.schema.remove_metadata() != tables[0].schema.remove_metadata() for table in tables):
        raise unlike(files[0].parent)
    return pa.concat_tables([table.replace_schema_metadata() for table in tables])


def of_file(path: Path) -> pa.Table:
    """A Parquet file, or a CSV file as text in which an empty cell is NULL."""
    if path.suffix.lower() == ".parquet":
        return of_parquet(path)
    separator, header = csv_header(path)
    try:
        return pa.csv.read_csv(
            path,
            pa.csv.ReadOptions(column_names=header, skip_rows=1),
            pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=False),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=True, null_values=[""]
            ),
        )
    except (pa.ArrowException, OSError):
        raise DataError(
            "bad_file",
            "a file is not well-formed CSV in UTF-8, or not Parquet",
            where=f"reading {path.name}",
            hint="Every line needs as many fields as the header, and the same line ending.",
        ) from None


def write_csv(folder: Path, path: Path) -> None:
    """Write a folder of Parquet to a new CSV file that only this user can read, some rows at a time."""
    rows = pa.dataset.dataset([str(file) for file in sorted(folder.iterdir())], format="parquet")
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(header(rows.schema.names))
        for batch in rows.to_batches(batch_size=100_000):
            pa.csv.write_csv(batch, out, pa.csv.WriteOptions(include_header=False))


def plain(table: pa.Table) -> pa.Table:
    """The same rows in types that every engine has; other types become text."""
    return table.cast(pa.schema([(field.name, _plain(field.type)) for field in table.schema]), safe=False)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    kept = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_date(kind)
    if kept or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return WIDER.get(kind, kind)
    return pa.string()


def arrays(table: pa.Table) -> dict[str, Any]:
    """Columns of numbers as numpy arrays."""
    return {name: table.column(name).to_numpy() for name in table.column_names}


def of_csv(blocks: Iterable[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Record batches of CSV text without a header; an empty cell is NULL, a quoted one empty text."""
    source = io.BufferedReader(_Stream(blocks), 1 << 20)
    if not source.peek(1):
        return
    yield from pa.csv.open_csv(
        source,
        pa.csv.ReadOptions(column_names=schema.names, block_size=1 << 24),
        pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        pa.csv.ConvertOptions(
            column_types=schema,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
        ),
    )


class _Stream(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        self._blocks = iter(blocks)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer)
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = memoryview(block)
        size = min(len(target), len(self._left))
        target[:size], self._left = self._left[:size], self._left[size:]
        return size


def header(names: Iterable[str]) -> bytes:
    """The first line of a CSV file.

    >>> header(["age", "a,b"]).strip()
    b'age,"a,b"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(names)
    return line.getvalue().encode()
