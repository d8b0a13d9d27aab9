"""Where random tests begin: at the same seeds in every build, at others in the hunt of the night.

More seeds of the same kind only widen the search, so the build takes one in ten, and one at least; the
night takes all of them.

`PRIVACY_SQL_SEED=N` moves all of them; `tests/hunt.py` draws N. What fails is printed with it, and fails
again with the same N.
"""

from __future__ import annotations

import os

START = int(os.environ.get("PRIVACY_SQL_SEED", "0"))
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SHARE = 10  # the build takes one in so many
OFTEN = 5  # and of what takes no time, or needs several to meet what it is about


def seeds(n: int, share: int = SHARE) -> range:
    """So many seeds one after the other; in the build a tenth of them or another share, one at least.

    >>> [len(seeds(n)) for n in (1, 2, 5, 12)] if not NIGHTLY else [1, 1, 1, 2]
    [1, 1, 1, 2]
    """
    return range(START, START + (n if NIGHTLY else -(-n // share)))


def tries(n: int) -> range:
    """So many seeds for a test that ends with the first which shows what it is about."""
    return range(START, START + n)


def enough(found: int, least: int) -> bool:
    """Whether a random test met what it is about: the build's seeds must, some of the night may not."""
    return found >= (least if NIGHTLY else max(min(least, 1), least // SHARE)) or START != 0
