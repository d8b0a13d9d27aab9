"""The papers' mathematics.

In: numbers. Out: numbers, exact where counts allow it. Read the README of a paper's folder first:
`worst_case/`, `skyline/`, `beliefs/`, `marginals/`, `composition/`; each names symbol, function, place
and oracle. Beside them lies what has no paper of its own here: `alike_households.py`, `closeness.py`,
`diversity.py`, `information_gain.py`, `distinct_codes.py`, `larger_sets.py`, `microaggregation.py`,
`near_values.py`, `ratios.py`, `sampled_risk.py` and `printed_skyline.py`.
"""
