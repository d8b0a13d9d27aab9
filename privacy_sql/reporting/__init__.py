"""What was recorded about a release, as one HTML file. It runs no query and judges nothing.

In: records and a manifest. Out: a page. Read `making.py` first; each section is a file of `sections/`.
"""
