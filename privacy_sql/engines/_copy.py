"""The binary output of PostgreSQL's COPY: numbers as Arrow, without text in between.

Rows of numbers without NULL all have the same length, so numpy can read them directly, on the connection that
has the temporary relation (docs/scale.md compares it with ADBC).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from privacy_sql.errors import EngineError

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # no flags, no extension
END = b"\xff\xff"
NUMBERS = {pa.int64(): ">i8", pa.int32(): ">i4", pa.int16(): ">i2", pa.float64(): ">f8"}
BLOCK = 1 << 24


class HasNull(Exception):
    """A row is shorter than the others because of a NULL, which this reader does not support."""


def of_numbers(schema: pa.Schema) -> bool:
    """Whether all columns are numbers of a fixed length."""
    return bool(schema.names) and all(field.type in NUMBERS for field in schema)


def batches(blocks: Iterable[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Record batches of binary COPY; raises if a value is NULL."""
    # the layout of a row: the number of fields, then the length and value of each
    parts: list[tuple[str, str]] = [("fields", ">i2")]
    for number, field in enumerate(schema):
        parts += [(f"length_{number}", ">i4"), (f"value_{number}", NUMBERS[field.type])]
    row = np.dtype(parts)
    left = bytearray()
    begun = False
    for block in blocks:
        left += block
        if not begun and len(left) >= len(SIGNATURE):
            if not left.startswith(SIGNATURE):
                raise EngineError("engine", "PostgreSQL sent something other than binary COPY")
            del left[: len(SIGNATURE)]
            begun = True
        if begun and len(left) >= BLOCK:
            # the last bytes may be the end mark, which is not a row
            whole = (len(left) - len(END)) // row.itemsize * row.itemsize
            yield _batch(bytes(left[:whole]), row, schema)
            del left[:whole]
    if not begun or not left.endswith(END):
        raise HasNull
    yield _batch(bytes(left[: -len(END)]), row, schema)


def _batch(block: bytes, row: np.dtype[Any], schema: pa.Schema) -> pa.RecordBatch:
    if len(block) % row.itemsize:
        raise HasNull
    rows = np.frombuffer(block, row)
    columns = []
    for number, field in enumerate(schema):
        values = rows[f"value_{number}"]
        if not (rows[f"length_{number}"] == values.dtype.itemsize).all():
            raise HasNull
        columns.append(pa.array(values.astype(values.dtype.newbyteorder("=")), field.type))
    if not (rows["fields"] == len(schema.names)).all():
        raise HasNull
    return pa.RecordBatch.from_arrays(columns, schema=schema)
