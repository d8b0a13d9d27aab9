"""Full-domain search by definition: look at every choice, compare every pair. Slow and obvious."""

import itertools


def every_choice(heights):
    return list(itertools.product(*(range(height + 1) for height in heights)))


def finer(one, other):
    return all(a <= b for a, b in zip(one, other, strict=True))


def planted(heights, seeds):
    """The monotone predicate "coarser than or equal to one of the seeds"."""
    return {choice for choice in every_choice(heights) if any(finer(seed, choice) for seed in seeds)}


def minimal(safe):
    return {choice for choice in safe if not any(other != choice and finer(other, choice) for other in safe)}


def cheapest(safe, cost):
    return min((cost(choice) for choice in safe), default=None)
