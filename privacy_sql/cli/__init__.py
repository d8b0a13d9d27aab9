"""The command line: words in, a verb called, lines or one JSON object out. Nothing is decided here.

In: arguments. Out: an `Outcome` and an exit code. Read `main.py` first; each verb is a file of `verbs/`.
"""
