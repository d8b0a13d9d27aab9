"""Typical calls of multidimensional partitioning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.boxes import in_memory
from privacy_sql.studies.bucketized_kl import bucketized_kl
from tests.calls import JOBS, workers


@contextmanager
def _by_statements() -> Iterator[None]:
    """Boxes as they are cut where a table is too large to be cut in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "MOST_COMBINATIONS", -1)
        yield


def partitioned(engine: ps.Engine) -> None:
    """Every way to cut, on ordered columns, hierarchies and numbers."""
    for split in ("median", "range", "information_gain"):
        for strict in (True, False):
            method = ps.Multidimensional(split=split, strict=strict)
            with _by_statements():
                assert ps.publish(engine, workers(), [ps.KAnonymity(2)], method).safe


def in_arrays(engine: ps.Engine) -> None:
    """The same in memory, of people with several values: what it reads of the table."""
    rows = pd.DataFrame(
        {"person": range(8), "age": range(20, 28), "job": ["baker", "nurse"] * 4, "s": list("abababab")}
    )
    table = ps.Table(rows, {"age": None, "job": JOBS}, "s", identifier="person", values_per_person="multiset")
    assert ps.publish(engine, table, [ps.KAnonymity(2), ps.LDiversity(2)], ps.Multidimensional()).safe


def numbers(engine: ps.Engine) -> None:
    """A number with NULLs beside a hierarchy; requirements that look at all boxes; values permuted."""
    rows = pd.DataFrame(
        {"age": [1.5, 2.5, None, 4.0] * 3, "job": ["baker", "nurse"] * 6, "s": list("abc") * 4}
    )
    table = ps.Table(rows, {"age": None, "job": JOBS}, "s")
    require = [ps.CKSafety("0.9", 1), ps.PrivacySkyline([[0, 1, 1, "0.95"]])]
    with _by_statements():
        release = ps.publish(engine, table, require, ps.Multidimensional(output="bucketized"))
    assert bucketized_kl(engine, release) > -1e-9  # sums of floats


def many_places(engine: ps.Engine) -> None:
    """More places than are counted one by one; numbers as the engine stores them, with one beyond all."""
    rows = pd.DataFrame({"age": [n / 7 for n in range(300)], "n": range(300), "s": ["a", "b", "c"] * 100})
    rows["far"] = [float("inf"), *range(299)]
    for strict in (True, False):
        table = ps.Table(rows, ["age", "n", "far"], "s")
        with _by_statements():
            assert ps.publish(engine, table, [ps.LDiversity(2)], ps.Multidimensional(strict=strict)).safe
    told = ps.Multidimensional(split="information_gain")
    with _by_statements():
        assert ps.publish(engine, table, [ps.KAnonymity(100)], told).safe


def beliefs(engine: ps.Engine) -> None:
    """A requirement that reads the original quasi-identifiers; people of one place may be parted."""
    method = ps.Multidimensional(strict=False)
    assert ps.publish(engine, workers(), [ps.BTPrivacy([["0.5", 1]])], method).safe


def classes(engine: ps.Engine) -> None:
    """Cuts that tell a class, which is published as it is."""
    rows = pd.DataFrame({"age": [20, 20, 60, 60], "pay": list("uvuv"), "s": list("abab")})
    table = ps.Table(rows, ["age"], "s", insensitive={"columns": ["pay"], "acknowledge": "a test reads it"})
    method = ps.Multidimensional(split="information_gain", by_class="pay")
    with _by_statements():
        assert ps.publish(engine, table, [ps.KAnonymity(2)], method).safe


def several(engine: ps.Engine) -> None:
    """People with several values each."""
    rows = pd.DataFrame(
        {"person": [1, 1, 2, 3, 4], "age": [20, 20, 20, 60, 60], "s": ["a", "b", "c", "a", None]}
    )
    table = ps.Table(rows, ["age"], "s", identifier="person", values_per_person="set")
    assert ps.publish(engine, table, [ps.PrivacySkyline([[0, 0, 0, 1]])], ps.Multidimensional()).safe


def known(engine: ps.Engine) -> None:
    """A column that somebody may know, and people with several values."""
    rows = pd.DataFrame(
        {"person": range(8), "age": range(20, 28), "pay": list("uuuuvvvv"), "s": list("abababab")}
    )
    free = {"columns": ["pay"], "known": True}
    table = ps.Table(rows, ["age"], "s", insensitive=free, identifier="person", values_per_person="set")
    with _by_statements():
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Multidimensional())
    assert release.baseline.to_json()["known"]["all"]["smallest"] == 2


def composed(engine: ps.Engine) -> None:
    """Cuts that keep what another release leaves people; boxes that print alike."""
    rows = pd.DataFrame({"age": [21, 22, 43, 44] * 2, "job": ["x", "c"] * 4, "s": list("abababba")})
    twice = ps.Tree({"a": ["x", "m"], "b": ["x", "m"], "x": ["y", "n"], "c": ["y", "n"]})
    out = {"groups": [{"id": "b", "region": {"age": {"lt": 35}}, "sensitive": ["a", "b"]}]}
    table = ps.Table(rows, {"age": None, "job": twice}, "s")
    require = [ps.KAnonymity(1), ps.Composition([out], 1, "3/4")]
    release = ps.publish(engine, table, require, ps.Multidimensional())
    assert release.rows_out == len(rows)
    rows["job"] = ["a", "b", "x", "x"] * 2  # the node x of a and b, and the value x
    rows["age"] = 30
    release = ps.publish(
        engine, ps.Table(rows, {"job": twice}, "s"), [ps.KAnonymity(4)], ps.Multidimensional()
    )
    assert release.rows_out == len(rows)
