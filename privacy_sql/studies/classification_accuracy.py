"""How well a decision tree learns a class from what is published."""

from __future__ import annotations

import numpy as np

from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.query.template import render
from privacy_sql.release import Release, refuse_no_release
from privacy_sql.utilities.classification_accuracy import accuracy


def classification_accuracy(
    engine: Engine, release: Release, target: str | None = None, *, folds: int = 10, seed: int = 0
) -> float:
    """The mean cross-validated accuracy of a decision tree trained and tested on published rows.

    chen2008, Sec. 8.4. `target` is the class, by default the sensitive column; the other quasi-identifiers
    and sensitive values are what the tree sees. Labels are categories without an order. Needs scikit-learn
    (`ml`).
    """
    refuse_no_release(release)
    table = release.table
    class_column = target or (table.sensitives[0] if table.sensitives else None)
    known = [name for name in release.columns if name != release.group]
    if class_column not in known:
        hint = did_you_mean(str(class_column), known)
        raise UsageError("no_class", f"{release.name} publishes no {class_column}", hint=hint)
    features = [n for n in (*release.quasi, *table.sensitives) if n in known and n != class_column]
    published = release.base.engine.create(release.view, view=True)
    query = render(
        "studies/classification_accuracy.sql", published=published, features=features, target=class_column
    )
    counted = release.base.engine.arrays(query)
    seen = np.column_stack([counted[f"f{number}"] for number, _ in enumerate(features, start=1)])
    return accuracy(seen, counted["class"], counted["n_rows"].astype(np.int64), folds=folds, seed=seed)
