"""From a chosen release to bytes that were judged again, with a manifest.

In: a release. Out: files or tables, and the manifest that vouches for them. Read `audit.py` first.
"""
