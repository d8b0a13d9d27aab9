"""Columns that are published as they are: what a search proposes instead, and how the report says it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call
from tests.reporting.test_report import said
from tests.seeds import seeds

K, ALLOWED = 4, 0.05


def people(seed: int, n: int = 240) -> list[tuple[str, ...]]:
    """Invented people: age, town, hours, job and illness; few work at night hours of their own."""
    draw = random.Random(seed)
    return [
        (str(draw.randrange(20, 60)), draw.choice("ns"), str(draw.randrange(1, 60)), draw.choice("pqr"),
         draw.choice("abc"))
        for _ in range(n)
    ]  # fmt: skip


def written(folder: Path, rows: list[tuple[str, ...]], **more: Any) -> Path:
    """A project that publishes hours, or hours and jobs, as they are."""
    lines = ["age,town,hours,job,illness", *(",".join(row) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [
            {"column": "age", "hierarchy": {"intervals": ["10", "20"]}},
            {"column": "town", "hierarchy": "keep_or_drop"},
        ],
        "sensitive": {"column": "illness"},
        "insensitive": {"columns": ["hours"], "acknowledge": "wanted"},
        "drop": ["job"],
        "require": {"k_anonymity": {"k": str(K)}},
        "method": {"full_domain": {"max_suppressed": str(ALLOWED)}},
        "output": {"target": "out/people.csv"},
        **more,
    }
    content = {"version": "1", "name": "bands", "releases": {"people": release}}
    (folder / "privacy.yml").write_text(json.dumps(content))
    return folder


def asked(folder: Path, *verbs: str) -> tuple[str, dict[str, Any]]:
    """The internal page after these verbs, and what was recorded."""
    for verb in verbs:
        told = call(verb, "--project", folder, *(["--overwrite"] if verb == "run" else []))
        assert told.exit == 0, told.everything
    assert call("report", "--project", folder, "--audience", "internal").exit == 0
    record = json.loads((folder / "target" / "records" / "people.json").read_text(encoding="utf-8"))
    return said(folder / "target" / "report" / "people.html"), record


def band(value: str, width: int | None) -> str:
    """A value in a band of its width; None takes all together."""
    return value if width == 0 else "*" if width is None else str(int(value) // width)


def left_out(rows: list[tuple[str, ...]], widths: tuple[int | None, int | None], towns: bool) -> int:
    """How many people a pencil leaves out so that every group by age, town and hours has K."""
    keys = [(band(r[0], widths[0]), r[1] if towns else "*", band(r[2], widths[1])) for r in rows]
    return sum(n for n in Counter(keys).values() if n < K)


@pytest.mark.parametrize("seed", seeds(2))
def test_the_bands_that_are_proposed_hold_by_hand_and_cost_what_is_said(tmp_path: Path, seed: int) -> None:
    rows = people(seed)
    folder = written(tmp_path, rows)
    text, _ = asked(folder, "run")
    assert "The fix: leave out hours." in text and "run privacy-sql search --select people" in text
    text, record = asked(folder, "search")
    found = record["search"]["bands"]
    ages: list[int | None] = [0, 10, 20, None]
    hours = [int(name) for name in found["hierarchies"]["hours"]["levels"][1:-1]]
    able = {
        (age, town, hour): left_out(rows, (ages[age], hours[hour - 1]), not town)
        for age in range(4)
        for town in range(2)
        for hour in range(1, len(hours) + 1)
    }
    safe = {levels: n for levels, n in able.items() if n <= ALLOWED * len(rows)}
    if not safe:
        assert found["best"] is None and "No bands of hours would keep every requirement." in text
        return
    levels = found["best"]["levels"]
    chosen = (levels["age"], levels["town"], levels["hours"])
    assert safe[chosen] == found["best"]["suppressed"]
    # no finer choice would have done
    assert not [
        one for one in safe if one != chosen and all(a <= b for a, b in zip(one, chosen, strict=True))
    ]
    words = f"Or publish hours in bands of {hours[chosen[2] - 1]}"
    assert words in text and "every requirement then holds on it too" in text
    n = safe[chosen]
    told = "nobody" if n == 0 else "1 person" if n == 1 else f"{n} people"
    assert f"It leaves {told} out, and {100 * (1 - found['best']['values']['loss']):.1f}"[:-1] in text
    assert "In bands, instead of as it is:" in text
    # a public page proposes nothing
    assert call("report", "--project", folder, "--audience", "public").exit == 0
    assert "hours in bands" not in said(folder / "target" / "report" / "people.html")


def test_a_column_without_bands_is_left_out_and_no_bands_are_said_where_none_hold(tmp_path: Path) -> None:
    both = {"columns": ["hours", "job"], "acknowledge": "wanted"}
    text, record = asked(written(tmp_path, people(1), insensitive=both, drop=[]), "run", "search")
    assert record["search"]["bands"]["left_out"] == ["job"] and "without job:" in text
    lone = {"columns": ["job"], "acknowledge": "wanted"}
    # nothing has bands here, so nothing is said of them
    text, record = asked(written(tmp_path, people(1), insensitive=lone, drop=["hours"]), "run", "search")
    assert record["search"]["bands"] is None and "bands that would do" not in text
    most = {"k_anonymity": {"k": "100"}}
    text, record = asked(written(tmp_path, people(1), require=most), "run", "search")
    assert record["search"]["bands"]["best"] is None
    assert "No bands of hours would keep every requirement." in text
