"""What has been published, and what privacy budget has been spent.

In: manifests and descriptions of releases, charges. Out: the register and the ledger, both chains of records
that reveal any change. Read `chain.py` first, then `register.py` and `ledger.py`, which charges the budget.
`described.py` says how an adversary reads a release, and `labels.py` what its cells mean; `group_contents.py`
and `kept_privately.py` have what only the publisher may read.
"""
