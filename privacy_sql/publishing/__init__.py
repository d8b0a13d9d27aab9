"""From a chosen release to bytes that were judged again, with a manifest.

In: a release. Out: files or tables, and the manifest that vouches for them. Read `publication.py` first,
the list of the steps, then `audit.py`, which decides from the published bytes whether they are safe.
`targets.py` says what may be replaced, `intents.py` mends what a killed run left, `parts.py` writes several
tables, `published_marginals.py` reads such tables of counts, `baseline.py` asks what anybody can guess,
`risk.py` how likely somebody is found, `formulas.py` what a spreadsheet would run, `starred.py` what others
read into a `*`, `register_check.py` what the release adds to those that are out.
`verifying.py` and `rejudging.py` look at what was published before; `public_record.py` says what may be told
of it and `private_files.py` keeps what may not.
"""
