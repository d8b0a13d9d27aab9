"""Values as people and programs read them.

In: values, fractions, verdicts. Out: JSON (`plain.py`), rounded numbers (`rounding.py`), levels in words
(`levels.py`), small tables for a notebook (`notebook.py`). Read `plain.py` first.
"""
