"""Each requirement as a question, with its limit, what was measured, and against whom it holds."""

from __future__ import annotations

from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import limit, number_of, used, value

FIRST_ROWS = 5  # on the sheet that is signed; the others stand in the annex


def section(material: Material) -> Section:
    rows = [
        {
            "question": verdict["question"] or "Does the method keep its promise?",
            "against": verdict["against"],
            "rule": verdict["requirement"],
            "limit": limit(verdict),
            "measured": value(verdict),
            "safe": verdict["safe"],
            "exact": verdict["exact"],
            "estimated": verdict.get("estimated", 0),
            "notes": verdict["notes"],
            # the annex tells a worst case fact by fact
            "story": "" if verdict["witness"].get("certainty") else material.story_of(verdict),
            "used": used(verdict),
        }
        for verdict in material.verdicts
    ]
    # what fails comes first, and stands on the sheet that is signed
    rows.sort(key=lambda row: bool(row["safe"]))
    missing = (
        "" if rows else "Nothing was measured: the run stopped before a verdict. The errors above say why."
    )
    claims = material.run.get("claims") or {}
    held = sum(bool(row["safe"]) for row in rows)
    title = f"{held} of {number_of(len(rows), 'requirement holds', 'requirements hold')}"
    content = {"rows": rows, "first": FIRST_ROWS, "claims": claims}
    return Section("criteria", title if rows else "Requirements", "Requirements", content, missing=missing)
