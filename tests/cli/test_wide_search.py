"""A search over very many quasi-identifiers says how large it is and keeps its limit and its memory."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line import call
from tests.conftest import ROOT

COLUMNS, ROWS, LIMIT = 38, 20_000, 2
# what a machine that does much else at the time may add; without a limit the search takes minutes
SLACK = 40
MOST_MEMORY = 1_000_000  # KiB; it took 1.5 GB


def project(folder: Path, columns: int = COLUMNS, rows: int = ROWS) -> None:
    draw = random.Random(38)
    names = [f"c{n}" for n in range(columns)]
    sizes = [draw.choice([2, 3, 9, 60, 400]) for _ in names]
    lines = (",".join(str(draw.randrange(size)) for size in (*sizes, 5)) for _ in range(rows))
    (folder / "people.csv").write_text("\n".join([",".join([*names, "illness"]), *lines]) + "\n")
    quasi = [
        {"column": name, "hierarchy": {"intervals": ["5", "20", "80"]} if size > 9 else "keep_or_drop"}
        for name, size in zip(names, sizes, strict=True)
    ]
    release = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": quasi,
        "sensitive": "illness",
        "require": {"k_anonymity": {"k": "5"}, "l_diversity": {"l": "2"}},
    }
    (folder / "privacy.yml").write_text(json.dumps({"version": "1", "releases": {"people": release}}))


def test_a_search_of_38_columns_says_its_size_first_and_keeps_its_limit_and_its_memory(
    tmp_path: Path,
) -> None:
    project(tmp_path)
    words = [sys.executable, "-m", "privacy_sql", "search", "--json", "--time-limit", str(LIMIT)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        began = time.monotonic()
        child = subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        took = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    told = json.loads((tmp_path / "out").read_text())
    assert child.returncode in (0, 5), told["errors"]
    # before anything else is said
    said = (tmp_path / "err").read_text().splitlines()
    first = next(line for line in said if not re.match(r"\d+ s: working", line))
    assert first.startswith("people: 38 quasi-identifiers have ")
    assert first.endswith(f", {LIMIT:.1f} s at most"), first
    assert took < LIMIT + SLACK and used.ru_utime < LIMIT * 2 * (os.cpu_count() or 1) + SLACK
    assert used.ru_maxrss < MOST_MEMORY
    words = told["errors"][0]["message"] if told["errors"] else ""
    assert " undecided" not in words  # how many are undecided is not known
    if child.returncode == 0:
        assert told["stopped"] == "time limit" and told["optimal"] is False and told["safe"] is True
        assert told["frontier"] or "no frontier: the time limit passed first" in told["notes"]


def test_a_search_that_has_no_time_for_its_frontier_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privacy_sql.lattice.result.frontier", lambda *_, **__: [])
    project(tmp_path, columns=3, rows=300)
    times = itertools.count()
    monkeypatch.setattr("privacy_sql.methods.full_domain.time.monotonic", lambda: next(times))
    words = [
        "search",
        "--frontier",
        "--minimise",
        "discernibility",
        "--time-limit",
        "4",
        "--project",
        tmp_path,
    ]
    said, told = call(*words).out, call(*words, "--json").json
    assert "not measured: the time limit passed first" in said
    assert told["frontier"] == [] and "no frontier: the time limit passed first" in told["notes"]
