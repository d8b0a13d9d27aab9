"""Values as people and programs read them, and how far work has come.

In: values, fractions, verdicts. Out: JSON (`plain.py`), rounded numbers (`rounding.py`), levels in words
(`levels.py`), aligned columns (`aligned.py`), small tables for a notebook (`notebook.py`), bars and lines of
progress (`progress.py`).
Read `plain.py` first.
"""
