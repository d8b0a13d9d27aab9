"""The command line: words in, a verb called, lines or one JSON object out. It decides nothing itself.

In: arguments. Out: an `Outcome` and an exit code. Read `main.py` first; each verb is a file of `verbs/`.
"""
