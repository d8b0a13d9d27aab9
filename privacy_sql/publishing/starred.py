"""A `*` in a table from another tool: judged as a label, with a note on reading it as "fits anything".

Many tools suppress single cells and then let `*` fit every value. That promises too much, because somebody
who knows a person's values may see that only one row fits. So a group is the rows with equal published
labels, and the other reading is only a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from privacy_sql.counted.base import Base
from privacy_sql.query.template import names, render

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]

MOST_PAIRS = 10**7  # the most groups to compare with each other


@dataclass(frozen=True)
class Starred:
    """The fewest people who fit a row if `*` fits anything, and facts about them."""

    k: int
    share: Fraction | None
    values: int | None

    def __str__(self) -> str:
        told = [f"at least {self.k} people fit every row"]
        if self.share is not None:
            told += [
                f"the most common value has at most {self.share} of them",
                f"{self.values} values at least",
            ]
        return (
            f"some cells are * beside others that are not; read as fitting anything, {', '.join(told)}."
            " This is not judged: whoever knows somebody's values may see that fewer rows fit"
        )


def read_as_anything(base: Base) -> Starred | None:
    """What other tools would say about a table with suppressed single cells; None without any."""
    aliases = list(base.aliases.values())
    if base.table.values_per_person != "one" or not aliases or base.sides:
        return None
    stars = [base.statistics[alias]["star"] for alias in aliases]
    if max(stars) < 0:
        return None
    import numpy as np  # loaded only if there is a star, because other checks need no arrays

    sensitive = ["s"] if base.table.sensitives else []
    columns = names([*aliases, *sensitive, "n_rows"])
    found = base.engine.arrays(render("counted/listed.sql", relation=base.relation, columns=columns))
    labels = np.stack([found[alias].astype(np.int64) for alias in aliases], axis=1)
    keys, group = np.unique(labels, axis=0, return_inverse=True)
    group = group.reshape(-1)
    is_star = keys == np.array(stars)
    if (
        not (is_star.any(axis=0) & ~is_star.all(axis=0)).any()
        or len(keys) * int(is_star.any(axis=1).sum()) > MOST_PAIRS
    ):
        return None  # a column that shows nothing means the same either way
    n = found["n_rows"].astype(np.int64)
    return _fitting(keys, is_star, group, n, found["s"].astype(np.int64) if sensitive else None)


def _fitting(keys: Ints, is_star: npt.NDArray[np.bool_], group: Ints, n: Ints, s: Ints | None) -> Starred:
    """The people and values that fit each group, from all groups that fit it."""
    import numpy as np

    starred = np.flatnonzero(is_star.any(axis=1))
    if s is None:
        held = np.zeros((len(keys), 1))
        np.add.at(held[:, 0], group, n)
    else:
        _, values = np.unique(s, return_inverse=True)
        held = np.zeros((len(keys), int(values.max()) + 1))
        np.add.at(held, (group, values.reshape(-1)), n)
    fits = held.copy()
    for one in starred.tolist():
        alike = (keys == keys[one]) | is_star | is_star[one]
        others = alike.all(axis=1)
        others[one] = False
        fits[one] = held[one] + held[others].sum(axis=0)
        # compare groups without a star with those that have one, and starred groups with each other
        plain = others & ~is_star.any(axis=1)
        fits[plain] += held[one]
    people = fits.sum(axis=1)
    k = int(people.min())
    if s is None:
        return Starred(k, None, None)
    tops = fits.max(axis=1)
    pairs = dict.fromkeys(zip(tops.tolist(), people.tolist(), strict=True))
    share = max(Fraction(int(top), int(everybody)) for top, everybody in pairs)
    return Starred(k, share, int((fits > 0).sum(axis=1).min()))
