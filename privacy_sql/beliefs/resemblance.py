"""How far apart two values of a column are: Li et al. 2009, Sec. II.C.

The publisher's own matrix comes first, then numbers over their range, then the hierarchy; a column without
any of them only tells equal from different. NULL is a value of its own, at the largest distance from all
others.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from privacy_sql.errors import DataError, UsageError, number_of
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.hierarchies.base import text_of
from privacy_sql.hierarchies.numeric import NUMBER
from privacy_sql.kernels.beliefs.kernel_prior import kernel_weight
from privacy_sql.kernels.beliefs.running_sums import ROOM, running_sum_mass

Array = NDArray[Any]

WIDE = 2_048
"""The most values of a numeric column for a matrix; the pairs of more would fill the memory."""


# distances from a user: a file or rows, with the values they are for or in their order
Matrix: TypeAlias = str | Path | Mapping[str, Any] | Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Resemblance:
    """The distances between the values of one column, in the order they were given."""

    name: str
    kind: str  # matrix, numeric, hierarchy or equality
    distances: Array | None = field(repr=False)  # None: numeric and too wide for a matrix
    numbers: tuple[Fraction | None, ...] = field(default=(), repr=False)  # they are values of rows
    span: Fraction = Fraction(0)


def resemblance(
    name: str,
    values: Sequence[Any],
    hierarchy: Hierarchy | None = None,
    domain: object = None,
    matrix: Matrix | None = None,
    exact: bool = False,
) -> Resemblance:
    """The distances of a column's values, as fractions when `exact`.

    >>> from privacy_sql.hierarchies import Tree
    >>> jobs = Tree({"cook": ["food", "*"], "baker": ["food", "*"], "nurse": ["care", "*"]})
    >>> resemblance("job", ["cook", "baker", "nurse"], jobs).distances.tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    if matrix is not None:
        return Resemblance(name, "matrix", _typed(_from_matrix(name, values, matrix), exact))
    if _is_numeric(values, hierarchy, domain):
        return _numeric(name, values, domain, exact)
    if hierarchy is not None and hierarchy.height:
        return Resemblance(name, "hierarchy", _by_hierarchy(name, values, hierarchy, exact))
    return Resemblance(name, "equality", _typed(1 - np.eye(len(values), dtype=int), exact))


def _typed(cells: Array, exact: bool) -> Array:
    if not exact:
        return np.asarray(cells, dtype=float)
    made = np.empty(cells.shape, dtype=object)
    made[...] = [[Fraction(cell) for cell in row] for row in cells.tolist()]
    return made


def _is_numeric(values: Sequence[Any], hierarchy: Hierarchy | None, domain: object) -> bool:
    if hierarchy is not None and hierarchy.height:
        return hierarchy.numeric
    if is_span(domain) or domain == "numeric":
        return True
    known = [value for value in values if value is not None]
    return bool(known) and all(_is_number(value) for value in known)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal | Fraction | np.number) and not isinstance(value, bool)


def is_span(domain: object) -> TypeGuard[Sequence[int | float | Decimal]]:
    """Whether a declared domain is (lowest, highest) and not a list of values."""
    return isinstance(domain, list | tuple) and len(domain) == 2 and all(map(_is_number, domain))


def _numeric(name: str, values: Sequence[Any], domain: object, exact: bool) -> Resemblance:
    """|a - b| / R, with R from the declared domain or else the whole table, never from a group."""
    numbers = tuple(None if value is None else _number(value) for value in values)
    bad = sum(v is not None and n is None for v, n in zip(values, numbers, strict=True))
    known = [n for n in numbers if n is not None]
    low, high = (min(known, default=Fraction(0)), max(known, default=Fraction(0)))
    if is_span(domain):
        first, last = (Fraction(str(end)) for end in domain)
        bad += sum(not first <= n <= last for n in known)
        low, high = first, last
    if bad:
        raise DataError(
            "unmapped_value",
            f"the numeric domain of {name} does not cover {number_of(bad, 'value')}",
            where=name,
            hint="Correct them, or widen the declared domain.",
        )
    span = high - low
    if len(values) > WIDE:
        return Resemblance(name, "numeric", None, numbers, span)
    missing = np.array([n is None for n in numbers], dtype=bool)
    # from the lowest on: where numbers are large, those next to one another may be one as floats
    above = [Fraction(0) if n is None else n - low for n in numbers]
    column: Array = np.array(above, dtype=object) if exact else np.array([float(n) for n in above])
    cells: Any = abs(column[:, None] - column[None, :])
    cells = cells / ((span if exact else float(span)) or 1)
    cells[missing[:, None] ^ missing[None, :]] = Fraction(1) if exact else 1.0
    return Resemblance(name, "numeric", np.asarray(cells), numbers, span)


def _number(value: object) -> Fraction | None:
    """A number, exactly as its shortest text; None if the text is not a number."""
    if _is_number(value) and not isinstance(value, Fraction):
        value = str(value)
    if isinstance(value, Fraction):
        return value
    return Fraction(value.strip()) if isinstance(value, str) and NUMBER.fullmatch(value) else None


def _by_hierarchy(name: str, values: Sequence[Any], hierarchy: Hierarchy, exact: bool) -> Array:
    """Level of the lowest common ancestor over the height, level by level from the top down."""
    unmapped = sum(not hierarchy.maps(value) for value in values)
    if unmapped:
        raise DataError(
            "unmapped_value",
            f"the hierarchy of {name} does not cover {number_of(unmapped, 'value')}",
            where=name,
            hint=hierarchy.unmapped_hint,
        )
    height = hierarchy.height
    levels = np.full((len(values), len(values)), height)
    for level in range(height - 1, -1, -1):
        labels = [hierarchy.label(value, level) for value in values]
        text = [None if label is None else text_of(label) for label in labels]
        numbered = {label: place for place, label in enumerate(dict.fromkeys(text))}
        codes = np.array([numbered[label] for label in text])
        levels[codes[:, None] == codes[None, :]] = level
    if not exact:
        return levels / height
    return _typed(np.array([[Fraction(int(n), height) for n in row] for row in levels], dtype=object), True)


def _from_matrix(name: str, values: Sequence[Any], matrix: Matrix) -> Array:
    """The cells of the publisher's matrix for these values, after checking the matrix."""
    named, cells = read_matrix(matrix, values, name)
    place = {text_of(value): i for i, value in enumerate(named)}
    known = [value for value in values if value is not None]
    missing = sum(text_of(value) not in place for value in known)
    if missing:
        raise DataError(
            "unmapped_value",
            f"the distance matrix of {name} does not cover {number_of(missing, 'value')}",
            where=name,
            hint="Add a row and a column for each.",
        )
    made = np.full((len(values), len(values)), max((max(row) for row in cells), default=Fraction(1)), object)
    at = [None if value is None else place[text_of(value)] for value in values]
    for i, a in enumerate(at):
        for j, b in enumerate(at):
            if i == j:
                made[i, j] = Fraction(0)
            elif a is not None and b is not None:
                made[i, j] = cells[a][b]
    return made


def read_matrix(matrix: Matrix, values: Sequence[Any], name: str) -> tuple[list[Any], list[list[Fraction]]]:
    """Read a distance matrix from a CSV file (values in the first row and column), nested mappings, or rows.

    Rows without names follow the order of the column's values. The matrix must be square, symmetric, finite
    and never negative, with zeros on the diagonal.
    """
    if isinstance(matrix, Mapping) and set(matrix) == {"file"}:
        matrix = matrix["file"]
    if isinstance(matrix, str | Path):
        named, rows = _matrix_file(Path(matrix), name)
    elif isinstance(matrix, Mapping):
        named = list(matrix)
        rows = [[row.get(value) for value in named] for row in matrix.values()]
    else:
        named, rows = list(values), [list(row) for row in matrix]
    cells = [[_number(cell) for cell in row] for row in rows]
    size, problem = len(named), None
    if len(cells) != size or any(len(row) != size for row in cells):
        problem = f"is not square: {number_of(len(cells), 'row')} for {number_of(size, 'value')}"
    elif any(cell is None or cell < 0 for row in cells for cell in row):
        problem = "has a cell that is not a number, 0 or more"
    elif any(cells[i][i] != 0 for i in range(size)):
        problem = "is not zero on its diagonal"
    elif any(cells[i][j] != cells[j][i] for i in range(size) for j in range(i)):
        problem = "is not symmetric"
    if problem:
        raise DataError("bad_matrix", f"the distance matrix of {name} {problem}", where=name)
    return named, [[cell for cell in row if cell is not None] for row in cells]


def _matrix_file(path: Path, name: str) -> tuple[list[Any], list[list[Any]]]:
    if not path.is_file():
        raise UsageError("no_file", f"the distance matrix {path.name} does not exist", where=name)
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            header, *body = [row for row in csv.reader(lines) if row] or [[]]
    except (csv.Error, UnicodeError):
        raise DataError("bad_matrix", f"the matrix of {name} is not CSV in UTF-8") from None
    if sorted(header[1:]) != sorted(row[0] for row in body):
        raise DataError("bad_matrix", f"the matrix of {name} has different values in its rows and columns")
    by_value = {row[0]: row[1:] for row in body}
    return header[1:], [by_value[value] for value in header[1:]]


def wide_mass(
    column: Resemblance,
    bandwidth: Fraction | float,
    rows: tuple[Array, Array, Array, Array],
    targets: tuple[Array, Array],
    n_sensitive: int,
) -> Array:
    """Σ w·c over a numeric column too wide for a matrix; rows are key, code, sensitive value and count.

    NULL is at distance 1 from every number and 0 from itself, so its people are weighed together.
    """
    whole, missing, scale = in_whole_numbers(column)
    reach = None if bandwidth == math.inf else reach_of(column, bandwidth, scale)
    mass = np.zeros((len(targets[0]), n_sensitive))
    for of_targets in (False, True):
        for of_rows in (False, True):
            here, there = missing[rows[1]] == of_rows, missing[targets[1]] == of_targets
            near = not of_rows and not of_targets
            weight = 1.0 if of_rows == of_targets else float(kernel_weight(1, bandwidth))
            some = (rows[0][here], whole[rows[1][here]], rows[2][here], rows[3][here])
            asked = (targets[0][there], whole[targets[1][there]])
            mass[there] += weight * running_sum_mass(some, asked, reach if near else None, n_sensitive)
    return mass


def in_whole_numbers(column: Resemblance) -> tuple[Array, Array, int]:
    """A numeric column as whole numbers times a scale, its NULLs (0 in the numbers), and the scale."""
    scale = math.lcm(*(n.denominator for n in column.numbers if n is not None))
    if max((abs(n) * scale for n in column.numbers if n is not None), default=0) >= ROOM:
        raise UsageError(
            "wide_column",
            f"{column.name} has numbers too large to sum",
            hint="Group its numbers into bands first.",
        )
    whole = np.array([0 if n is None else int(n * scale) for n in column.numbers], dtype=np.int64)
    return whole, np.array([n is None for n in column.numbers]), scale


def reach_of(column: Resemblance, bandwidth: Fraction | float, scale: int) -> Fraction:
    """How far a bandwidth reaches, in whole numbers; below one half, only the same value is within reach."""
    return Fraction(bandwidth) * column.span * scale or Fraction(1, 2)
