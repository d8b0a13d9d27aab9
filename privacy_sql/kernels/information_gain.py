"""Information gained against privacy lost when one published label is specialised into its children."""

from collections.abc import Sequence
from math import fsum, log2


def class_entropy(counts: Sequence[int]) -> float:
    """The bits of uncertainty about the class, from the rows of each class.

    >>> class_entropy([2, 2]), class_entropy([4, 0])
    (1.0, 0.0)
    """
    total = sum(counts)
    return fsum(n / total * log2(total / n) for n in counts if n)


def information_gain(parent: Sequence[int], children: Sequence[Sequence[int]]) -> float:
    """How many bits about the class are gained by showing the children instead of their parent.

    Wang et al. 2004, Sec. 4.2; the counts are rows per class.

    >>> information_gain([2, 2], [[2, 0], [0, 2]])
    1.0
    """
    total = sum(parent)
    rest = fsum(sum(child) / total * class_entropy(child) for child in children if sum(child))
    return max(0.0, class_entropy(parent) - rest)


def gain_per_loss(gain: float, anonymity_before: int, anonymity_after: int) -> float:
    """The gain for each step of anonymity given up, where anonymity is the size of the smallest group.

    Wang et al. 2004, Sec. 4.2, cited by Kifer and Gehrke 2006, Sec. 3.1: gain / (loss + 1).

    >>> gain_per_loss(1.0, anonymity_before=4, anonymity_after=1)
    0.25
    """
    return gain / (anonymity_before - anonymity_after + 1)
