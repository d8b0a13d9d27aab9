"""Where random tests begin: at the same seeds in every build, at others in the hunt of the night.

More seeds of the same kind only widen the search, so the build takes half of six seeds or more, and the night
all of them.

`PRIVACY_SQL_SEED=N` moves all of them; `tests/hunt.py` draws N. What fails is printed with it, and fails
again with the same N.
"""

from __future__ import annotations

import os

START = int(os.environ.get("PRIVACY_SQL_SEED", "0"))
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MANY = 6


def seeds(n: int) -> range:
    """So many seeds one after the other; in the build half as many where they are many."""
    return range(START, START + (n if NIGHTLY or n < MANY else (n + 1) // 2))


def tries(n: int) -> range:
    """So many seeds for a test that ends with the first which shows what it is about."""
    return range(START, START + n)


def enough(found: int, least: int) -> bool:
    """Whether a random test met what it is about: the build's seeds must, some of the night may not."""
    return found >= (least if NIGHTLY else max(min(least, 1), least // 2)) or START != 0
