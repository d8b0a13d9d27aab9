"""Decide, in SQL, what may be published from a table about people; publish it; check what was published."""

__version__ = "0.1.0"
