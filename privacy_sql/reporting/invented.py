"""Labels for rows that nobody has: the shape of a release, shown without reading any of its rows."""

from __future__ import annotations

from privacy_sql.hierarchies import Hierarchy
from privacy_sql.hierarchies.base import TOP

NUMBERS = ("23", "41", "37")
DATES = ("2021-03-05", "1987-11-20", "2004-07-16")
WORDS = ("12345", "67890", "24680")


def labels(kind: Hierarchy | None, level: int | None) -> list[str]:
    """Three labels as the hierarchy would write them for invented values; `value 1` where it keeps values.

    >>> from privacy_sql.hierarchies import Intervals, Mask
    >>> labels(Intervals(10), 1), labels(Mask(3), 1), labels(None, None)
    (['20-29', '40-49', '30-39'], ['123**', '678**', '246**'], ['value 2', 'value 1', 'value 3'])
    """
    plain = ["value 2", "value 1", "value 3"]
    if kind is None or not level:
        return plain
    if above := words(kind, level):
        return [above[number % len(above)] for number in range(len(plain))]
    if any(True for _ in kind.leaves()):
        return plain
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
