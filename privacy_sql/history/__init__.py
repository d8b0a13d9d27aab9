"""What has left already, and what has been spent.

In: manifests and descriptions of releases, charges. Out: the register and the ledger, both chains of records
that show any change. Read `chain.py` first.
"""
