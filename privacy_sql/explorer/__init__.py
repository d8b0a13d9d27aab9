"""The explorer: one local page on which somebody decides how a table is published.

In: a release of a project, counted once. Out: answers for a page in a browser on this machine: counts, labels
of hierarchies and verdicts, never rows. Read `decision.py` first, which holds what is decided; `counted.py`
decides its choices, `limits.py` moves its limits. `screens/` has one file per screen, `server.py` and
`guard.py` say who may ask, `jobs.py` runs long questions, `asking.py` reads what a page sent. What one choice
shows is gathered in `choices.py`, and how people lie in its columns in `distributions.py`. `opening.py` opens
the page from Python. The page itself is `page/`.
"""
