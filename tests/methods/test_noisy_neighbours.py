"""Neighbouring tables cannot be told apart for certain by anything that noisy counts publish.

Whatever the noise turns the counts of one table into, it may turn those of its neighbours into. So the draw
is replaced by one that ends in the same numbers for both; everything said or left must then be the same, byte
for byte, but for moments, tickets and checksums of files that hold these.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.judge import Requirements
from tests.command_line import call
from tests.seeds import NIGHTLY, seeds

pytest.importorskip("opendp", reason='needs the extra dp: pip install "privacy-sql[dp]"')

MOVING = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{5,8}([+]00:00| UTC)|\b[0-9a-f]{16}\b|\b[0-9a-f]{64}\b"
)
STILL = re.compile(r"[0-9]+ s: [^\n]*\n")  # said when a slow machine is still at work
ILLS = ["flu", "Flu", "hiv", ""]
Row = tuple[str, str, str, str]


def people(draw: random.Random) -> list[Row]:
    """Rows (id, age, sex, ill)."""
    found = [
        (f"p{n}", str(draw.randint(20, 39)), draw.choice("FM"), draw.choice(ILLS[::2])) for n in range(9)
    ]
    return sorted(found)


def neighbours(rows: list[Row], kind: str, values: str, draw: random.Random) -> list[Row]:
    """The same table with everything about one person replaced, removed, or said once more or once less."""
    person = rows[0][0]
    kept = [row for row in rows if row[0] != person]
    if kind == "add_remove":
        return kept
    # a fraction, a value written almost like another, and none at all
    other = (person, draw.choice(["20", "39.5"]), draw.choice("FM"), draw.choice(ILLS))
    twice = [(*other[:3], draw.choice(ILLS))] if values != "one" else []
    return [other, *(row for row in twice if row != other or values == "multiset"), *kept]


def project(folder: Path, rows: list[Row], method: dict[str, Any], values: str, **more: str) -> Path:
    folder.mkdir(parents=True)
    lines = ["id,age,sex,ill", *(",".join(row) for row in rows)]
    (folder / "people.csv").write_text("".join(f"{line}\n" for line in lines))
    release = {
        "source": {"file": "people.csv", **more},
        "identifier": {"column": "id"},
        "quasi_identifiers": [{"column": "age", "hierarchy": {"intervals": ["5", "10"]}}, {"column": "sex"}],
        "sensitive": {"column": "ill", "values_per_person": values},
        "method": {"noisy_counts": method},
        "output": {"target": "out/people.csv"},
    }
    (folder / "privacy.yml").write_text(
        json.dumps({"version": "1", "name": "survey", "releases": {"people": release}})
    )
    return folder


def everything(folder: Path) -> dict[str, str]:
    """All that a run and its report say and leave, but for the private folder and the ledger."""
    words = ("--project", folder)
    said = {
        "dry": call("run", "--dry-run", *words),
        "run": call("run", *words),
        "json": call("run", "--json", "--overwrite", *words),
        "report": call("report", "--json", "--audience", "public", *words),
        "show": call("verify", "--json", folder / "out" / "people.csv"),
    }
    assert {told.exit for told in said.values()} == {0}, [told.everything for told in said.values()]
    found = {name: f"{told.out}\n{told.err}" for name, told in said.items()}
    for path in sorted(folder.rglob("*")):
        own = {"people.csv", "privacy.yml"} if path.parent == folder else set()
        hidden = "private" in path.parts or path.name.startswith("privacy_budget") or path.name in own
        if path.is_file() and not hidden:
            found[str(path.relative_to(folder))] = path.read_bytes().decode()
    return {
        name: MOVING.sub("·", STILL.sub("", text).replace(str(folder), "·")) for name, text in found.items()
    }


CHOICES = [
    dict(zip(("neighbours", "values", "total", "level", "where", "marginals"), each, strict=True))
    for each in itertools.product(
        ("substitution", "add_remove"),
        ("one", "set", "multiset"),
        (None, "12", "public"),
        ("0", "1"),
        (None, "ill = 'hiv' or age > 20"),
        (False, True),
    )
]


def method_of(choice: dict[str, Any]) -> dict[str, Any]:
    ages = [*map(str, range(20, 40)), "39.5"]
    made = {
        "epsilon": "0.000001",
        "neighbours": choice["neighbours"],
        "levels": {"age": choice["level"]},
        "domains": {"age": ages, "sex": ["F", "M"], "ill": ILLS},
        "rows_per_person": "1" if choice["values"] == "one" else "2",
    }
    if choice["marginals"]:
        made["marginals"] = [["age", "sex"], ["sex", "ill"]]
    return made | ({"total": choice["total"]} if choice["total"] else {})


def public_total_is_refused(choice: dict[str, Any]) -> bool:
    fixed = choice["neighbours"] == "substitution" and choice["values"] == "one" and not choice["where"]
    return choice["total"] == "public" and not fixed


@pytest.mark.parametrize("number", seeds(24 if NIGHTLY else 12))
def test_nothing_that_is_published_tells_neighbouring_tables_apart_for_certain(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(number)
    monkeypatch.setattr(
        "privacy_sql.kernels.composition.noise.Noise.draw",
        lambda self, counts: np.arange(len(counts)) % 7 - 2,
    )
    choice = draw.choice([each for each in CHOICES if not public_total_is_refused(each)])
    rows = people(draw)
    if choice["values"] == "multiset":
        rows.append(rows[0])
    other = neighbours(rows, choice["neighbours"], choice["values"], draw)
    more = {"where": choice["where"]} if choice["where"] else {}
    seen = [
        everything(project(tmp_path / name, table, method_of(choice), values=choice["values"], **more))
        for name, table in (("one", rows), ("other", other))
    ]
    assert seen[0].keys() == seen[1].keys()
    assert {name for name in seen[0] if seen[0][name] != seen[1][name]} == set(), choice


def test_a_total_in_which_neighbours_differ_is_not_public() -> None:
    refused = 0
    for choice in filter(public_total_is_refused, CHOICES):
        table = ps.Table(
            "nowhere.csv",
            ["age", "sex"],
            "ill",
            identifier="id",
            values_per_person=choice["values"],
            where=choice["where"],
        )
        method = ps.NoisyCounts(1, neighbours=choice["neighbours"], total="public")
        with pytest.raises(UsageError, match="total: public would reveal"):
            method.refuse_unfit(table, Requirements.of(table, []))
        refused += 1
    assert refused == 44
