"""What is published: every column, how it is shown, and how many values are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privacy_sql.display.levels import level
from privacy_sql.reporting import drawing
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section

NEVER = {"identifier": "names the person"}
FIRST_ROWS = 7  # columns on the sheet that is signed; the others stand in the annex
MOST_WORDS = 3  # of a level that says what a column shows
MOST_SHAPED = 9  # columns of invented rows


def section(material: Material) -> Section:
    title = "What is published, column by column" if material.published else "What would be published"
    columns = material.part("columns") or [
        {
            "name": name,
            "role": role,
            "shown": None,
            "level": None,
            "shown_as": "",
            "before": None,
            "after": None,
        }
        for name, role in material.run.get("roles", {}).items()
    ]
    after = material.part("bars") or {}
    singling = _singling(material)
    rows = [
        {
            **{key: column[key] for key in ("name", "role", "before", "after")},
            "shown": _shown(material, column),
            "bars": (drawing.bars(column.get("bars")), drawing.bars(after.get(column["name"]))),
            "warns": column["name"] in singling,
        }
        for column in columns
        if column["shown"] is not False
    ]
    gone = [(column["name"], NEVER.get(column["role"], "")) for column in columns if column["shown"] is False]
    shapes = [(column["name"], column.get("invented")) for column in columns if column["shown"]]
    shaped = material.published and shapes and all(labels for _, labels in shapes)
    content = {
        "rows": rows,
        "first": _first(rows),
        "gone": gone,
        "drawn": any(any(row["bars"]) for row in rows),
        "before": any(row["before"] is not None or row["bars"][0] for row in rows),
        "invented": _invented(shapes) if shaped else None,
    }
    return Section("published", title, "Published", content)


def _first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns on the sheet that is signed: what singles people out, what is sensitive, others."""
    if len(rows) <= FIRST_ROWS + 1:
        return rows
    by_need = sorted(rows, key=lambda row: (not row["warns"], row["role"] != "sensitive"))
    kept = {row["name"] for row in by_need[:FIRST_ROWS]}
    return [row for row in rows if row["name"] in kept]


def _singling(material: Material) -> Sequence[str]:
    """The columns that are published as they are, where somebody who knows them finds people alone."""
    found, declared = material.run.get("baseline"), material.run.get("insensitive") or {}
    alone = found and found["known"].get("all", {}).get("alone")
    columns: Sequence[str] = declared.get("columns", ()) if alone else ()
    return columns


def _invented(shapes: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Any]:
    """Rows of the shape of the release that nobody has."""
    shown = shapes[:MOST_SHAPED]
    more = len(shapes) - len(shown)
    return {
        "header": [*(name for name, _ in shown), *([f"{more} more"] if more else [])],
        "rows": [
            [*(labels[place] for _, labels in shown), *(["…"] if more else [])]
            for place in range(len(shown[0][1]))
        ],
    }


def _shown(material: Material, column: Record) -> str:
    """How a reader of the release finds the column."""
    if column["shown"] is None:
        return "nothing was published"
    if column.get("levels"):
        kind = material.hierarchies.get(column["name"])
        return f"in count tables: {', '.join(level(kind, step) for step in column['levels'])}"
    if column["shown_as"]:
        return str(column["shown_as"])
    words = column.get("words") or []
    if words and len(words) <= MOST_WORDS:
        return " or ".join(words)
    if column["level"] is not None:
        return level(material.hierarchies.get(column["name"]), column["level"])
    return "exact" if column["role"] != "sensitive" else "unchanged; rows are shuffled"
