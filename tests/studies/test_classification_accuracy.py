"""A decision tree learns as much from a release as its labels tell."""

import builtins

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.utilities.classification_accuracy import accuracy, folded

pytest.importorskip("sklearn", reason="install the extra ml")
# the job decides the illness; the age says nothing
ROWS = pd.DataFrame(
    [(str(20 + n % 7), job, ill) for n in range(60) for job, ill in (("cook", "burn"), ("nurse", "flu"))],
    columns=["age", "job", "illness"],
)


def release(engine, level):
    table = ps.Table(ROWS, {"age": ps.KeepOrDrop(), "job": ps.KeepOrDrop()}, "illness")
    return ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({"job": level, "age": 1}))


def test_a_column_that_decides_the_class_is_learnt_and_its_suppression_leaves_a_coin(engine):
    assert ps.classification_accuracy(engine, release(engine, 0)) == 1
    assert ps.classification_accuracy(engine, release(engine, 1)) == pytest.approx(0.5, abs=0.15)


def test_the_same_seed_gives_the_same_accuracy(engine):
    shown = release(engine, 1)
    first, second = (ps.classification_accuracy(engine, shown, seed=4) for _ in range(2))
    assert first == second


def test_a_class_that_is_not_published_is_refused(engine):
    with pytest.raises(UsageError, match="publishes no job_title"):
        ps.classification_accuracy(engine, release(engine, 0), "job_title")


def test_every_row_is_held_out_exactly_once():
    counts = np.array([100, 1, 0, 7])
    parts = list(folded(counts, 10, np.random.default_rng(3)))
    assert len(parts) == 10 and (sum(parts) == counts).all() and all((part >= 0).all() for part in parts)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError, match="scikit-learn"):
        accuracy(np.zeros((1, 1)), np.zeros(1), np.ones(1, np.int64), folds=2, seed=0)
