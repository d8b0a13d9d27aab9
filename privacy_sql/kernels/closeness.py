"""How much more, or less, frequent a sensitive value is in a group than in the whole table."""

from fractions import Fraction
from math import log

# floats cannot order two logarithms that are closer than this
UNSURE = 1e-9


def bounded_gain(rise: Fraction, share: Fraction, beta: Fraction) -> Fraction | float:
    """Gain of a value divided by the bound for its overall share, min(beta, -ln share).

    Enhanced β-likeness. `rise` is the share in the group over the overall share; the gain is rise - 1.
    At share 1 nothing can be gained, and 0/0 is 0. Exact where beta is clearly below -ln share.

    >>> bounded_gain(Fraction(3, 2), Fraction(1, 10), beta=Fraction(1))
    Fraction(1, 2)
    >>> round(bounded_gain(Fraction(3, 2), Fraction(1, 2), beta=Fraction(1)), 6)
    0.721348
    """
    gain = rise - 1
    if gain <= 0:
        return Fraction(0)
    room = log(share.denominator) - log(share.numerator)
    return gain / beta if beta < room - UNSURE else float(gain) / min(float(beta), room)


def log_change(rise: Fraction) -> Fraction | float:
    """|ln(share in the group / overall share)|, what δ-disclosure bounds; exact only where nothing changes.

    >>> log_change(Fraction(1)), round(log_change(Fraction(1, 2)), 6)
    (Fraction(0, 1), 0.693147)
    """
    return Fraction(0) if rise == 1 else abs(log(rise.numerator) - log(rise.denominator))
