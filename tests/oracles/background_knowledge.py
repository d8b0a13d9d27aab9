"""(B,t)-privacy straight from the definitions: every assignment listed, every pair of people weighed."""

import math
from fractions import Fraction
from itertools import permutations


def weight(distance, bandwidth, kernel="epanechnikov"):
    if bandwidth == math.inf or distance == 0:
        return Fraction(1)
    if kernel == "uniform":
        return Fraction(distance <= bandwidth)
    return 1 - (Fraction(distance) / Fraction(bandwidth)) ** 2 if distance < bandwidth else Fraction(0)


def prior(people, sensitive, n_sensitive, distances, bandwidths, target, kernel="epanechnikov"):
    """eq. (2): `people` are tuples of codes, `distances` a matrix per attribute. None: nobody has weight."""
    mass = [Fraction(0)] * n_sensitive
    for person, value in zip(people, sensitive, strict=True):
        w = Fraction(1)
        for i, bandwidth in enumerate(bandwidths):
            w *= weight(distances[i][target[i]][person[i]], bandwidth, kernel)
        mass[value] += w
    total = sum(mass)
    return [m / total for m in mass] if total else None


def assignments(counts):
    """Every distinct way to hand the published values to the people of the group."""
    values = [i for i, n in enumerate(counts) for _ in range(n)]
    return set(permutations(values))


def likelihood(prior_rows, counts):
    return sum(
        (
            math.prod((prior_rows[j][s] for j, s in enumerate(world)), start=Fraction(1))
            for world in assignments(counts)
        ),
        Fraction(0),
    )


def posterior(prior_rows, counts):
    """Bayes over the worlds; None when no world is possible."""
    worlds = [
        (w, math.prod((prior_rows[j][s] for j, s in enumerate(w)), start=Fraction(1)))
        for w in assignments(counts)
    ]
    total = sum((mass for _, mass in worlds), Fraction(0))
    if not total:
        return None
    return [
        [sum((mass for w, mass in worlds if w[j] == i), Fraction(0)) / total for i in range(len(counts))]
        for j in range(len(prior_rows))
    ]


def omega(prior_rows, counts):
    """eq. (5), term by term; a value nobody can have contributes nothing."""
    columns = [sum(row[i] for row in prior_rows) for i in range(len(counts))]
    found = []
    for row in prior_rows:
        terms = [n * row[i] / columns[i] if columns[i] else Fraction(0) for i, n in enumerate(counts)]
        found.append([t / sum(terms) for t in terms] if sum(terms) else None)
    return found


def smooth(p, distances, bandwidth, normalise="after"):
    m = len(p)
    k = [[weight(distances[i][j], bandwidth) for j in range(m)] for i in range(m)]
    if normalise == "channel":
        return [sum(p[j] * k[i][j] / sum(k[r][j] for r in range(m)) for j in range(m)) for i in range(m)]
    printed = [sum(p[j] * k[i][j] for j in range(m)) / sum(k[i]) for i in range(m)]
    return [x / sum(printed) for x in printed] if normalise == "after" else printed


def jensen_shannon(p, q, base=2):
    def kl(a, b):
        return sum(float(x) * math.log(x / y) for x, y in zip(a, b, strict=True) if x > 0)

    middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
    return (kl(p, middle) + kl(q, middle)) / 2 / math.log(base)


def group_risks(
    people, sensitive, n_sensitive, distances, groups, bandwidths, method=posterior, measure=jensen_shannon
):
    """The largest move of belief in each group (lists of row numbers); infinite where it is undefined."""
    risks = []
    for rows in groups:
        priors = [prior(people, sensitive, n_sensitive, distances, bandwidths, people[r]) for r in rows]
        counts = [sum(sensitive[r] == s for r in rows) for s in range(n_sensitive)]
        after = method(priors, counts)
        moves = [
            measure(p, q) if q is not None else math.inf
            for p, q in zip(priors, after or [None] * len(rows), strict=True)
        ]
        risks.append(max(moves))
    return risks
