"""Hierarchies: how the values of a column may be generalised, level by level.

In: what a project says about a column (`spec.py`). Out: a `Hierarchy` with its levels, and its recipe in SQL.
Read `base.py` first; `numeric.py`, `text.py`, `dates.py` and `tree.py` are the kinds.
"""

from privacy_sql.hierarchies.base import TOP, Hierarchy
from privacy_sql.hierarchies.dates import Dates
from privacy_sql.hierarchies.numeric import Breaks, Intervals
from privacy_sql.hierarchies.spec import from_spec
from privacy_sql.hierarchies.text import AsIs, KeepOrDrop, Mask
from privacy_sql.hierarchies.tree import Tree

__all__ = [
    "TOP",
    "AsIs",
    "Breaks",
    "Dates",
    "Hierarchy",
    "Intervals",
    "KeepOrDrop",
    "Mask",
    "Tree",
    "from_spec",
]
