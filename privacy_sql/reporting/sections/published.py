"""What is published: every column, how it is shown, and how many values are left."""

from __future__ import annotations

from privacy_sql.display.levels import level
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section

NEVER = {
    "identifier": "left out: names the person",
    "dropped": "left out",
    "count": "left out",
    "group": "left out",
}


def section(material: Material) -> Section:
    verb = "What is published" if material.published else "What would be published"
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
    rows = [
        {key: column[key] for key in ("name", "role", "before", "after")}
        | {"shown": _shown(material, column)}
        for column in columns
    ]
    return Section(
        "published",
        verb,
        "Published",
        {"rows": rows, "counted": any(column["before"] is not None for column in columns)},
    )


def _shown(material: Material, column: Record) -> str:
    """How a reader of the release finds the column."""
    if column["shown"] is None:
        return "nothing was published"
    if not column["shown"]:
        return NEVER.get(column["role"], "left out")
    if column.get("levels"):
        kind = material.hierarchies.get(column["name"])
        return f"in count tables: {', '.join(level(kind, step) for step in column['levels'])}"
    if column["shown_as"]:
        return str(column["shown_as"])
    if column["level"] is not None:
        return level(material.hierarchies.get(column["name"]), column["level"])
    return "exact" if column["role"] != "sensitive" else "unchanged; rows are shuffled"
