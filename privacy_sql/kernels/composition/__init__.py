"""Releases read together, and noise that adds up: Ganta et al. 2008. Read `intersection.py` first."""
