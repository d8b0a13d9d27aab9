"""Labels for rows that nobody has: the shape of a release, shown without reading any of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_sql.hierarchies import Hierarchy
from privacy_sql.hierarchies.base import TOP

MOST_COLUMNS = 9  # of invented rows
NUMBERS = ("23", "41", "37")
DATES = ("2021-03-05", "1987-11-20", "2004-07-16")
WORDS = ("12345", "67890", "24680")


def labels(kind: Hierarchy | None, level: int | None, n_values: int | None = None) -> list[str]:
    """Three labels as the hierarchy would write them for invented values; `value 1` where it keeps values.

    `n_values`: how many values the column has, where somebody counted them.

    >>> from privacy_sql.hierarchies import Intervals, Mask
    >>> labels(Intervals(10), 1), labels(Mask(3), 1), labels(None, None)
    (['20-29', '40-49', '30-39'], ['123**', '678**', '246**'], ['value 2', 'value 1', 'value 3'])
    >>> labels(None, None, 2)
    ['value 2', 'value 1', 'value 1']
    >>> from privacy_sql.hierarchies import Tree
    >>> labels(Tree({"flu": ["lungs", "*"]}), 2)
    ['*', '*', '*']
    """
    plain = [f"value {min(number, n_values or number)}" for number in (2, 1, 3)]
    if n_values == 2:
        plain[-1] = "value 1"  # not the first row again
    if kind is None or not level:
        return plain
    if above := words(kind, level):
        return [above[number % len(above)] for number in range(len(plain))]
    if leaves := list(kind.leaves()):
        return [TOP] * len(plain) if all(kind.label(leaf, level) == TOP for leaf in leaves) else plain
    values = NUMBERS if kind.numeric else WORDS if kind.maps("?") else DATES
    found = [str(kind.label(value, level)) for value in values if kind.maps(value)]
    return found if len(found) == len(plain) else plain


def words(kind: Hierarchy | None, level: int | None) -> list[str]:
    """The words a hierarchy lists for a level, without those that are a value and so may be somebody's.

    >>> from privacy_sql.hierarchies import Tree
    >>> words(Tree({"flu": ["lungs", "*"], "ulcer": ["stomach", "*"]}), 1)
    ['lungs', 'stomach']
    """
    if kind is None or not level:
        return []
    leaves = [str(leaf) for leaf in kind.leaves()]
    return sorted({str(kind.label(leaf, level)) for leaf in leaves} - {*leaves, TOP})


def rows(
    shapes: Sequence[tuple[str, Sequence[str] | None]],
) -> dict[str, list[str] | list[list[str]]] | None:
    """Rows in the shape of a release, from the labels of each column; None if a column has none.

    >>> rows([("age", ["20-29", "40-49"]), ("ill", ["value 2", "value 1"])])
    {'header': ['age', 'ill'], 'rows': [['20-29', 'value 2'], ['40-49', 'value 1']]}
    """
    known = [(name, found) for name, found in shapes if found]
    if not known or len(known) < len(shapes):
        return None
    shown, more = known[:MOST_COLUMNS], len(known) - MOST_COLUMNS
    end = ["…"] if more > 0 else []
    return {
        "header": [*(name for name, _ in shown), *([f"{more} more"] if end else [])],
        "rows": [[*row, *end] for row in zip(*(found for _, found in shown), strict=True)],
    }
