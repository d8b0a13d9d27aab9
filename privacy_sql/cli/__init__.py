"""The command line: words in, a verb called, lines or one JSON object out. It decides nothing itself.

In: arguments. Out: an `Outcome` and an exit code. Read `main.py` first; each verb is a file of `verbs/` that
returns an `Outcome` (`outcome.py`) about a table (`tables.py`); `streams.py` has the terminal's streams.
"""
