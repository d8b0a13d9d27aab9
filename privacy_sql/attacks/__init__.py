"""Releases read together, as an adversary reads them.

In: public releases, and the people under attack. Out: who is exposed, as counts. Read `intersection.py`
first; `locating.py` finds the groups that people may be in, `intersection_summary.py` adds up, and
`joined_marginals.py` turns several tables of counts into one release.
"""
