"""What was found out about each release of a project, for the report: `target/records/<release>.json`.

`run` starts a release's file anew, since everything else was about what it would have published before; the
other verbs add what they print under `--json`, and `report` what it measured on the published rows. Counts,
levels and words only, never the value of a row.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from privacy_sql import files, manifest
from privacy_sql.display.plain import plain
from privacy_sql.errors import EngineError

log = logging.getLogger("privacy_sql")

SCHEMA = 1
Record = dict[str, Any]


def place(directory: Path, name: str) -> Path:
    """Where the records of a release lie."""
    return directory / "target" / "records" / f"{name}.json"


def start(directory: Path, name: str, run: Mapping[str, Any]) -> None:
    """Record a run, and forget what was known of an earlier one."""
    _write(directory, name, lambda: {"schema": SCHEMA, "release": name, "run": plain(run)})


def add(directory: Path, name: str, what: str, content: Mapping[str, Any]) -> None:
    """Record what a verb found about a release."""
    fresh = {"schema": SCHEMA, "release": name}
    try:
        _write(directory, name, lambda: {**(read(directory, name) or fresh), what: plain(content)})
    except EngineError as problem:  # an answer is worth more than its copy for the report
        log.warning(f"the report will not show this answer: {problem.message}")


def complete(directory: Path, name: str, run: Mapping[str, Any]) -> None:
    """Put what a report measured of a run beside what the run recorded, unless another run came since."""

    def content() -> Record:
        found = read(directory, name) or {}
        same = found.get("run", {}).get("checksum") == run["checksum"]
        return {**found, "run": plain(run)} if same else found

    if read(directory, name) is None:
        return
    try:
        _write(directory, name, content)
    except EngineError as problem:  # the report is made all the same
        log.warning(f"the next report measures this again: {problem.message}")


def read(directory: Path, name: str) -> Record | None:
    """What is known of a release; None when nothing is, or when it was written by another version."""
    try:
        with manifest.opened(place(directory, name)) as stream:
            found = json.loads(stream.read())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    readable = isinstance(found, dict) and found.get("schema") == SCHEMA
    return found if readable else None


def _write(directory: Path, name: str, content: Callable[[], Record]) -> None:
    def text() -> bytes:
        told = json.dumps(content(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return f"{told}\n".encode()

    files.change_alone(place(directory, name), text, mode=0o600)
