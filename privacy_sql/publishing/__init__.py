"""From a chosen release to published bytes that were judged again, with a manifest.

In: a release. Out: files or tables, and the manifest that vouches for them. Read `publication.py` first, the
list of the steps, then `audit.py`, which decides from the published bytes whether they are safe. `targets.py`
says what may be replaced, `intents.py` repairs what a killed run left, `parts.py` writes several tables,
`published_marginals.py` reads such tables of counts, `baseline.py` measures what anybody can guess, `risk.py`
how likely it is to find somebody, `sampled.py` what a sample says of that, `formulas.py` finds cells that a
spreadsheet would run, `starred.py` explains a `*`, and `register_check.py` compares with earlier releases.
`verifying.py` and `rejudging.py` check what was published before, also against known faults
(`advisories.py`); `public_record.py` says what may be public about it, and `private_files.py` keeps the rest.
"""
