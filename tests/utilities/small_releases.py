"""Random small tables with a random nested generalisation and some suppressed rows."""

import random
from dataclasses import dataclass


@dataclass
class Small:
    rows: list
    release: list
    domains: list
    sensitive: list
    levels: list


def partition(rng, values):
    """Cut a list of values into runs: the labels of one level."""
    cuts = sorted(rng.sample(range(1, len(values)), k=rng.randint(0, len(values) - 1)))
    return [tuple(values[a:b]) for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]


def small_release(seed, n_rows=12, with_suppression=True):
    rng = random.Random(seed)
    domains = [list(range(rng.randint(2, 5))) for _ in range(rng.randint(1, 3))]
    sensitive = ["flu", "cold", "none"]
    rows = [(*(rng.choice(domain) for domain in domains), rng.choice(sensitive)) for _ in range(n_rows)]
    levels = [partition(rng, domain) for domain in domains]
    hidden = {row for row in rows if with_suppression and rng.random() < 0.2}
    release = [
        None
        if row in hidden
        else tuple(find(level, value) for level, value in zip(levels, row, strict=False))
        for row in rows
    ]
    groups_hidden = {labels(levels, row) for row in hidden}
    release = [
        None if labels(levels, row) in groups_hidden else r for row, r in zip(rows, release, strict=True)
    ]
    return Small(rows, release, domains, sensitive, levels)


def find(level, value):
    return next(label for label in level if value in label)


def labels(levels, row):
    return tuple(find(level, value) for level, value in zip(levels, row, strict=False))
