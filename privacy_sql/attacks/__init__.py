"""Releases read together, as an adversary reads them.

In: releases that are out, and the people somebody looks for. Out: who is exposed, as counts. Read
`intersection.py` first; `locating.py` finds the groups people may be in, `intersection_summary.py` adds up,
`joined_marginals.py` makes one release of several tables of counts.
"""
