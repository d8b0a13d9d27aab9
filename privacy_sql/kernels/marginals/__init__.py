"""Anonymized marginals, joined and fitted: Kifer and Gehrke 2006. Read `junction_tree.py` first."""
