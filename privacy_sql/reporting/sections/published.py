"""What is published: every column, how it is shown, and how many values are left."""

from __future__ import annotations

from privacy_sql.display.levels import level
from privacy_sql.reporting import drawing, invented
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section

NEVER = {"identifier": "names the person"}
FIRST_ROWS = 7  # columns on the sheet that is signed; the others stand in the annex
MOST_WORDS = 3  # of a level that says what a column shows
MOST_GONE = 6  # columns that are left out by name


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
    # columns that are published as they are: their values, and whether they single people out
    free = (material.part("crowds") or {}).get("free") or {}
    found = material.run.get("baseline")
    everything = found["known"].get("all", {}) if found else {}
    singling = material.as_they_are if everything.get("alone") or everything.get("few_alike") else ()
    rows = [
        {
            "name": column["name"],
            "role": column["role"],
            "before": counted.get("before"),
            "after": column["after"],
            "shown": _shown(material, column),
            "bars": (drawing.bars(counted.get("bars")), drawing.bars(after.get(column["name"]))),
            "warns": column["name"] in singling,
        }
        for column in columns
        for counted in [free.get(column["name"], column)]
        if column["shown"] is not False
    ]
    gone = [column for column in columns if column["shown"] is False]
    shapes = [(column["name"], column.get("invented")) for column in columns if column["shown"]]
    # on the sheet that is signed: what singles people out, what is sensitive, others
    by_need = sorted(rows, key=lambda row: (not row["warns"], row["role"] != "sensitive"))
    most = {row["name"] for row in (rows if len(rows) <= FIRST_ROWS + 1 else by_need[:FIRST_ROWS])}
    content = {
        "rows": rows,
        "first": [row for row in rows if row["name"] in most],
        "gone": [(column["name"], NEVER.get(column["role"], "")) for column in gone[:MOST_GONE]],
        "more_gone": max(0, len(gone) - MOST_GONE) + (material.run.get("without_role") or 0),
        "drawn": any(any(row["bars"]) for row in rows),
        "before": any(row["before"] is not None or row["bars"][0] for row in rows),
        # rows of the shape of the release that nobody has
        "invented": invented.rows(shapes) if material.published else None,
    }
    return Section("published", title, "Published", content)


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
