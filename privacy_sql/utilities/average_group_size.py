"""The average size of the published groups, plain and against the size that was asked for."""

from fractions import Fraction


def average_group_size(n_published: int, n_groups: int) -> Fraction:
    """Published rows per group.

    Machanavajjhala et al. 2006, Sec. 6; Kifer and Gehrke 2006, Sec. 3.1.

    >>> average_group_size(10, 4)
    Fraction(5, 2)
    """
    return Fraction(n_published, n_groups)


def normalised_average_group_size(n_published: int, n_groups: int, k: int) -> Fraction:
    """C_avg: how many times larger than the required k the average group is.

    LeFevre et al. 2006, Sec. 2: 1 is the best a k-anonymous table can reach.

    >>> normalised_average_group_size(10, 1, 5)
    Fraction(2, 1)
    """
    return Fraction(n_published, n_groups * k)
