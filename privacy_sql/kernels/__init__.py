"""The papers' mathematics.

In: numbers. Out: numbers, exact where counts allow it. Read the README of a paper's folder first:
`worst_case/`, `skyline/`, `beliefs/`, `marginals/`, `composition/`; each lists symbol, function, place
and oracle. `README.md` lists those of the modules beside them, which follow other papers:
`alike_households.py`, `closeness.py`, `distinct_codes.py`, `diversity.py`, `information_gain.py`,
`larger_sets.py`, `microaggregation.py`, `near_values.py`, `ratios.py` and `sampled_risk.py`.
"""
