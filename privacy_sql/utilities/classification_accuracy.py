"""Classification accuracy: how well a decision tree learns a class from what is published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from privacy_sql.errors import UsageError
from privacy_sql.utilities import Held, Learnt, Published

Weights = npt.NDArray[np.int64]


def accuracy(
    seen: npt.NDArray[np.int64], classes: npt.NDArray[np.int64], counts: Weights, *, folds: int, seed: int
) -> float:
    """The mean share of rows classified rightly by a tree that has not seen them.

    chen2008, Sec. 8.4. Labels are categories without an order. Rows are dealt into the folds in the order of
    their labels and classes, so the same counts and seed give the same accuracy.
    """
    try:
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise UsageError(
            "no_scikit_learn",
            "classification_accuracy needs scikit-learn",
            hint="pip install 'privacy-sql[ml]'",
        ) from None
    order = np.lexsort((classes, *seen.T))
    seen, classes, counts = seen[order], classes[order], counts[order]
    coded = OneHotEncoder(handle_unknown="ignore").fit_transform(seen)
    scores = []
    for held_out in folded(counts, folds, np.random.default_rng(seed)):
        kept = counts - held_out
        if not held_out.any() or not kept.any():
            continue
        tree = DecisionTreeClassifier(min_samples_leaf=0.001, random_state=seed)
        tree.fit(coded[kept > 0], classes[kept > 0], sample_weight=kept[kept > 0])
        right = tree.predict(coded) == classes
        scores.append(float((held_out * right).sum() / held_out.sum()))
    return float(np.mean(scores)) if scores else 0.0


def folded(counts: Weights, folds: int, generator: np.random.Generator) -> Iterator[Weights]:
    """Counted rows dealt into folds at random, every row into one.

    >>> parts = list(folded(np.array([5, 2]), 3, np.random.default_rng(1)))
    >>> sum(parts).tolist(), len(parts)
    ([5, 2], 3)
    """
    left = counts.copy()
    for remaining in range(folds, 0, -1):
        dealt = generator.binomial(left, 1 / remaining) if remaining > 1 else left
        yield dealt
        left = left - dealt


class ClassificationAccuracy(Learnt):
    """The ten-fold accuracy of a tree that learns the sensitive value from labels (chen2008, Sec. 8.4).

    A suppressed row is not classified rightly. More is better: the cost is the share of rows classified
    wrongly. Needs scikit-learn (`ml`).
    """

    name = "classification_accuracy"
    reads_sensitive = True
    needs_sensitive = True
    folds = 10
    seed = 0

    def counted(self, held: Held) -> Mapping[str, Any]:
        groups = held.groups
        labels = {f"k{n}": codes[groups.of_each] for n, codes in enumerate(held.labels, start=1)}
        return {**labels, "class": groups.value, "n_rows": groups.n}

    def value(self, counted: Mapping[str, Any], published: Published) -> float:
        labels = [column for name, column in counted.items() if name not in ("class", "n_rows")]
        counts = counted["n_rows"].astype(np.int64)
        if not counts.sum():
            return 1.0
        learnt = accuracy(np.column_stack(labels), counted["class"], counts, folds=self.folds, seed=self.seed)
        return 1 - learnt * (1 - published.n_suppressed / published.n_rows)

    def shown(self, cost: float) -> float:
        """The accuracy itself.

        >>> ClassificationAccuracy().shown(0.25)
        0.75
        """
        return 1 - cost
