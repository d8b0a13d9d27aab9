"""Prior and posterior beliefs, and how far they move: Li et al. 2009. Read `kernel_prior.py` first."""
