"""Values as people and programs read them.

In: values, fractions, verdicts. Out: JSON (`plain.py`), rounded numbers (`rounding.py`), small tables for a
notebook (`notebook.py`). Read `plain.py` first.
"""
