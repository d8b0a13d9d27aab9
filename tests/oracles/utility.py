"""Utilities by definition, row by row over an explicit table. Slow and obvious.

A table is a list of rows of raw values, the sensitive value last. A release is a list of the same length:
for each row the tuple of its labels, each label the set of raw values it covers, or None for a suppressed
row.
"""

from fractions import Fraction
from itertools import product
from math import log, log2, prod


def cells(release):
    return [[len(label) for label in labels] if labels else None for labels in release]


def loss(release, domains):
    total = 0.0
    for labels in release:
        for column, domain in enumerate(domains):
            if labels is None:
                total += 1.0
            elif len(domain) > 1:
                total += (len(labels[column]) - 1) / (len(domain) - 1)
    return total / (len(release) * len(domains))


def ncp(release, domains, numbers=False):
    """The mean penalty; as `numbers`, a label is charged by its extent."""
    total = 0.0
    for labels in release:
        for column, domain in enumerate(domains):
            if labels is None:
                total += 1.0
            elif numbers:
                total += (max(labels[column]) - min(labels[column])) / (max(domain) - min(domain))
            elif len(labels[column]) > 1:
                total += len(labels[column]) / len(domain)
    return total / (len(release) * len(domains))


def discernibility(release):
    total = 0
    for labels in release:
        total += len(release) if labels is None else sum(other == labels for other in release)
    return total


def average_group_size(release):
    shown = [labels for labels in release if labels is not None]
    return Fraction(len(shown), len(set(shown)))


def entropy(rows, release, domains):
    """For every cell the uncertainty about its raw value, given its label, in the whole table."""
    total = 0.0
    for labels in release:
        for column, domain in enumerate(domains):
            label = domain if labels is None else labels[column]
            below = [row[column] for row in rows if row[column] in label]
            total -= sum(log2(below.count(value) / len(below)) for value in below) / len(below)
    return total / (len(rows) * len(domains))


def ambiguity(release, domains):
    total = 0
    for labels in release:
        possible = domains if labels is None else labels
        total += len(list(product(*possible)))
    return total / len(release)


def classification(rows, release):
    wrong = 0
    for labels in set(release):
        classes = [row[-1] for row, its in zip(rows, release, strict=True) if its == labels]
        wrong += len(classes) if labels is None else len(classes) - max(classes.count(c) for c in classes)
    return wrong / len(rows)


def bits(values):
    return -sum(log2(values.count(value) / len(values)) for value in values) / len(values)


def information_gain_privacy_loss(rows, release):
    """What a reader of the groups gains over a reader of one group of everybody, per person of anonymity."""
    shown = [row[-1] for row, labels in zip(rows, release, strict=True) if labels]
    groups = [
        [row[-1] for row, its in zip(rows, release, strict=True) if its == labels]
        for labels in set(release) - {None}
    ]
    gain = bits(shown) - sum(len(group) / len(shown) * bits(group) for group in groups)
    lost = len(rows) - min(map(len, groups))
    return gain * len(shown) / len(rows) / (lost + 1)


def reconstructed(rows, release, domains, sensitive):
    """The distribution a reader assumes: every row spread evenly over what its labels cover."""
    spread = {}
    for row, labels in zip(rows, release, strict=True):
        possible = [*(labels or domains), [row[-1]] if labels else sensitive]
        share = 1 / prod(len(values) for values in possible) / len(rows)
        for cell in product(*possible):
            spread[cell] = spread.get(cell, 0.0) + share
    return spread


def kl(rows, release, domains, sensitive):
    spread = reconstructed(rows, release, domains, sensitive)
    total = 0.0
    for cell in set(rows):
        p = rows.count(cell) / len(rows)
        total += p * log(p / spread[cell])
    return total


def answer(rows, release, domains, sensitive, wanted):
    """The true count of a query and what a reader expects; `wanted` maps column to values."""
    hit = [all(row[column] in values for column, values in wanted.items()) for row in rows]
    spread = reconstructed(rows, release, domains, sensitive)
    share = sum(p for cell, p in spread.items() if all(cell[c] in v for c, v in wanted.items()))
    return sum(hit), share * len(rows)
