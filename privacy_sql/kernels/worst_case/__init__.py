"""The most somebody with k further facts can learn: Martin et al. 2007. Read `disclosure.py` first."""
