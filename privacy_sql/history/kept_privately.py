"""What is kept privately of our own release, so that it can be read later as it was published.

A manifest has levels and checksums but never a value. Next to the register, in a folder that only this user
can open, are the hierarchies used then and, if labels do not say in which group people are, the contents of
each group (`held`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privacy_sql.errors import DataError, UsageError
from privacy_sql.hierarchies import Hierarchy, from_spec

FILE = "reading.json"
GROUPS, VALUES = "groups.parquet", "values.parquet"
GROUP, VALUE, PEOPLE = "the group", "the sensitive value", "the number of people"
SCHEMA = 1


@dataclass(frozen=True)
class HeldGroups:
    """The contents of a release's groups: people by known columns, and their values."""

    groups: Any = field(repr=False)
    values: Any = field(repr=False)
    boxes: bool  # reaches instead of single values
    apart: bool  # alike people may lie in several groups, and each is taken to be known


@dataclass(frozen=True)
class KeptRelease:
    """What is needed to read our own release."""

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    held: HeldGroups | None = None

    def write(self, folder: Path) -> Path:
        """Write everything except the contents of groups to a private folder."""
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "hierarchies": {name: kind.recipe() for name, kind in self.hierarchies.items()},
        }
        if self.held is not None:
            content["held"] = {"boxes": self.held.boxes, "apart": self.held.apart}
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        handle = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        return folder / FILE


def read(folder: Path) -> KeptRelease | None:
    """What is kept in the folder of a registered release; None if nothing is."""
    place = folder / FILE
    if not place.is_file():
        return None
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except ValueError:
        raise DataError(
            "release_changed", f"{FILE} has changed since it was written", where="register"
        ) from None
    if content.get("schema") != SCHEMA:
        hint = "Use the version of privacy_sql that registered it, or a later one."
        raise UsageError(
            "unknown_schema", f"{FILE} was written by another version", where="register", hint=hint
        )
    held = content.get("held")
    return KeptRelease(
        {name: from_spec(spec, name, folder) for name, spec in content["hierarchies"].items()},
        None if held is None else HeldGroups(folder / GROUPS, folder / VALUES, held["boxes"], held["apart"]),
    )
