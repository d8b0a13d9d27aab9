"""What is kept privately of a release of ours, so that it is read later as it was published.

A manifest names levels and checksums and never holds a value. Beside the register, in a folder only this user
can open, lie the whole hierarchies of that day and, where labels do not tell in which group people lie, what
each group holds (`held`).
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
class Held:
    """What the groups of a release hold: people by what is known of them, and their values."""

    groups: Any = field(repr=False)
    values: Any = field(repr=False)
    boxes: bool  # reaches instead of single values
    apart: bool  # alike people may lie in several groups, and each is taken to be known


@dataclass(frozen=True)
class Kept:
    """What a release of ours is read with."""

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    held: Held | None = None

    def write(self, folder: Path) -> Path:
        """All but what the groups hold, into a private folder."""
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


def read(folder: Path) -> Kept | None:
    """What is kept in the folder of a registered release; None where nothing is."""
    place = folder / FILE
    if not place.is_file():
        return None
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except ValueError:
        raise DataError("release_changed", f"{FILE} is not as it was written", where="register") from None
    if content.get("schema") != SCHEMA:
        hint = "Read it with the version that registered it, or a later one."
        raise UsageError("unknown_schema", f"{FILE} is of another version", where="register", hint=hint)
    held = content.get("held")
    return Kept(
        {name: from_spec(spec, name, folder) for name, spec in content["hierarchies"].items()},
        None if held is None else Held(folder / GROUPS, folder / VALUES, held["boxes"], held["apart"]),
    )
