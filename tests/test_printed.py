"""No row shows where an object is printed: a notebook prints whatever stands last in a cell."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.api import examine
from privacy_sql.counted.base import count
from tests import engines

MARK = "CANARY"
FRAME = pd.DataFrame(
    {
        "id": [f"{MARK}p{n}" for n in range(12)],
        "age": [f"{MARK}{n % 3}" for n in range(12)],
        "ill": [f"{MARK}{n % 4}" for n in range(12)],
    }
)


def table(**more: Any) -> ps.Table:
    return ps.Table(FRAME, {"age": ps.Mask(6, 0)}, "ill", **more)


def made(engine: Any, folder: Path) -> Iterator[Any]:
    """What the public calls give back, on a table of canaries."""
    people = table(identifier="id", population=FRAME)
    require = [ps.KAnonymity(2), ps.LDiversity(2)]
    yield from (engine, people, *require, ps.Query("select 1"), ps.Mask(3), ps.KeepOrDrop(), ps.AsIs())
    yield from (ps.Intervals(5), ps.Breaks([1, 2]), ps.Dates("month"), ps.PrivacySqlError("code", "text"))
    yield from (count(engine, people), ps.count(engine, people), examine(engine, people, require))
    verdicts = ps.check(engine, people, require)
    yield from (verdicts, *verdicts.values(), *(verdict.witness for verdict in verdicts.values()))
    for method in (ps.Generalise({"age": 1}), ps.FullDomain(), ps.Bucketize(["age"]), ps.Multidimensional()):
        release = ps.publish(engine, table(), require, method)
        yield from (method, release, release.grouping, release.base)
    yield ps.search(engine, people, require)
    yield ps.prior(engine, table(), "0.3")
    yield ps.posterior(engine, table(), bandwidth="0.3")
    yield ps.disclosure_curve(engine, people, facts=2)
    yield ps.disclosure_risk(engine, people, [f'"{MARK}p1" not "{MARK}2"'])
    yield ps.knowledge_attack(engine, release, bandwidths=["0.3"], t="0.2")
    yield ps.MarginalSet(engine, table(), [{"age": 0, "ill": 0}], domain="active")
    releases = [ps.write(engine, release, folder / "people.csv")]
    yield ps.intersection_attack(engine, releases, people)


def inside(found: Any, seen: dict[int, Any], depth: int = 6) -> Iterator[Any]:
    """An object of ours and every other one of ours that it holds."""
    if id(found) in seen or not depth:
        return
    seen[id(found)] = found
    if isinstance(found, dict):
        for part in found.values():
            yield from inside(part, seen, depth - 1)
    elif isinstance(found, (list, tuple)):
        for part in found[:50]:
            yield from inside(part, seen, depth - 1)
    elif type(found).__module__.startswith("privacy_sql"):
        yield found
        for part in vars(found).values() if hasattr(found, "__dict__") else ():
            yield from inside(part, seen, depth - 1)


def printed(found: Any) -> Iterator[str]:
    yield from (repr(found), str(found), f"{found}")
    for name in ("_repr_html_", "_repr_markdown_", "_repr_latex_"):
        if hasattr(found, name):
            yield str(getattr(found, name)())


def test_no_object_shows_a_row_when_it_is_printed(tmp_path: Path) -> None:
    seen: dict[int, Any] = {}
    looked: set[type] = set()
    with engines.opened() as engine:
        for top in made(engine, tmp_path):
            for found in inside(top, seen):
                looked.add(type(found))
                for text in printed(found):
                    assert MARK not in text, type(found)
    names = [name for name in ps.__all__ if inspect.isclass(getattr(ps, name))]
    methods = {registry.get("methods", name) for name in registry.available("methods")}
    public = {getattr(ps, name) for name in names} - {ps.Tree} | methods
    # marginals and others are made from parameters alone
    missing = {kind for kind in public if not any(kind in each.__mro__ for each in looked)}
    parameters = {registry.get("methods", name) for name in ("marginals", "microaggregate", "noisy_counts")}
    assert missing <= parameters | {ps.Engine}, missing


@pytest.mark.parametrize("source", [FRAME, FRAME.to_dict("list"), [tuple(row) for row in FRAME.values]])
def test_a_table_names_the_kind_of_its_source(source: Any) -> None:
    text = repr(ps.Table(source, ["age"], "ill", population=source))
    assert MARK not in text and type(source).__name__ in text
    assert "people.csv" in repr(ps.Table("people.csv", ["age"], "ill"))
