"""Breaches under three kinds of knowledge: Chen et al. 2008. Read `breach_probability.py` first."""
