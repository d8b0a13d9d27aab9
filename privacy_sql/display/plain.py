"""Values as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def plain(value: object) -> object:
    """A value as JSON has it: exact fractions and dates as text, numbers that are none as null.

    >>> from fractions import Fraction
    >>> plain({"share": Fraction(1, 3), "worst": float("inf"), None: 2})
    {'share': '1/3', 'worst': None, 'null': 2}
    """
    if isinstance(value, Mapping):
        return {"null" if key is None else str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)
