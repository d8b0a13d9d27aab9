"""Full-domain generalisation by definition: label every row, group, drop failing groups. Slow and obvious.

A hierarchy is a list with one dict per level, raw value -> label. A requirement is a function of the list of
sensitive values in one group that says whether the group is safe.
"""

from collections import defaultdict
from itertools import product


def choices(hierarchies):
    return list(product(*(range(len(levels)) for levels in hierarchies)))


def groups(rows, hierarchies, choice):
    """Label tuple -> indices of its rows."""
    found = defaultdict(list)
    for index, row in enumerate(rows):
        key = tuple(
            levels[level][value] for levels, level, value in zip(hierarchies, choice, row, strict=False)
        )
        found[key].append(index)
    return found


def published(rows, hierarchies, choice, require, allowed=0):
    """The rows, by index, that stay when failing groups go; None when too many rows would go."""
    kept = []
    for indices in groups(rows, hierarchies, choice).values():
        if all(safe([rows[i][-1] for i in indices]) for safe in require):
            kept.extend(indices)
    if not kept or len(rows) - len(kept) > allowed * len(rows):
        return None
    return sorted(kept)


def safe_choices(rows, hierarchies, require, allowed=0):
    return {c for c in choices(hierarchies) if published(rows, hierarchies, c, require, allowed) is not None}


def release(rows, hierarchies, choice, require, allowed=0):
    """For each row its labels as sets of raw values that occur, or None when it is suppressed."""
    kept = set(published(rows, hierarchies, choice, require, allowed))
    domains = occurring(rows, hierarchies)
    return [
        tuple(
            tuple(v for v in domain if levels[level][v] == levels[level][value])
            for domain, levels, level, value in zip(domains, hierarchies, choice, row, strict=False)
        )
        if index in kept
        else None
        for index, row in enumerate(rows)
    ]


def occurring(rows, hierarchies):
    return [sorted({row[c] for row in rows}) for c in range(len(hierarchies))]


def k_anonymous(k):
    return lambda values: len(values) >= k


def distinct(ell):
    return lambda values: len(set(values)) >= ell


def recursive(c, ell):
    def safe(values):
        counts = sorted((values.count(v) for v in set(values)), reverse=True)
        return bool(counts[ell - 1 :]) and counts[0] < c * sum(counts[ell - 1 :])

    return safe
