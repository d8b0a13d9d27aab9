"""Releases read together, as an adversary reads them.

In: public releases, and the people under attack. Out: who is exposed, as counts. Read `intersection.py`
first; `release_counts.py` counts a release, `locating.py` finds the groups that people may be in,
`intersection_summary.py` adds up, and `joined_marginals.py` turns several tables of counts into one release.
The verbs `attack knowledge` and `attack measure` ask the room `studies`: its modules `knowledge_attack` and
`measure`.
"""
