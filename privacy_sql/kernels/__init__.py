"""The papers' mathematics.

In: numbers. Out: numbers, exact where counts allow it. Read the README of a paper's folder first:
`worst_case/`, `skyline/`, `beliefs/`, `marginals/`, `composition/`; each lists symbol, function, place
and oracle. The modules beside them follow other papers: `alike_households.py`, `closeness.py`,
`diversity.py`, `information_gain.py`, `distinct_codes.py`, `larger_sets.py`, `microaggregation.py`,
`near_values.py`, `ratios.py`, `sampled_risk.py` and `printed_skyline.py`.
"""
