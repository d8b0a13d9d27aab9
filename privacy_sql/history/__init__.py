"""What has left already, and what has been spent.

In: manifests and descriptions of releases, charges. Out: the register and the ledger, both chains of records
that show any change. Read `chain.py` first, then `register.py` and `ledger.py`, where a budget is charged.
`described.py` says how an adversary reads a release, with `labels.py` for what its cells mean;
`group_contents.py` and `kept_privately.py` hold what only the publisher may read.
"""
