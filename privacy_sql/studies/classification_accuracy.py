"""How well a decision tree learns a class from what is published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.query import render
from privacy_sql.release import Release

Weights = npt.NDArray[np.int64]


def classification_accuracy(
    engine: Engine, release: Release, target: str | None = None, *, folds: int = 10, seed: int = 0
) -> float:
    """The mean accuracy of a decision tree over the folds, trained and tested on published rows.

    chen2008, Sec. 8.4. `target` is the class, by default the sensitive column; the other quasi-identifiers
    and sensitive values are what the tree sees. Labels are categories without an order. Needs scikit-learn
    (`ml`).
    """
    table = release.table
    class_column = target or (table.sensitives[0] if table.sensitives else None)
    known = [name for name in release.columns if name != release.group]
    if class_column not in known:
        hint = did_you_mean(str(class_column), known)
        raise UsageError("no_class", f"{release.name} publishes no {class_column}", hint=hint)
    features = [n for n in (*release.quasi, *table.sensitives) if n in known and n != class_column]
    published = release.grouping.base.engine.create(release.view, view=True)
    query = render(
        "utilities/classification_accuracy.sql", published=published, features=features, target=class_column
    )
    counted = release.grouping.base.engine.arrays(query)
    seen = np.column_stack([counted[f"f{number}"] for number, _ in enumerate(features, start=1)])
    return accuracy(seen, counted["class"], counted["n_rows"].astype(np.int64), folds=folds, seed=seed)


def accuracy(seen: Any, classes: Any, counts: Weights, *, folds: int, seed: int) -> float:
    """The mean share of rows classified rightly by a tree that has not seen them."""
    try:
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise UsageError(
            "no_scikit_learn",
            "classification_accuracy needs scikit-learn",
            hint="pip install 'privacy-sql[ml]'",
        ) from None
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
