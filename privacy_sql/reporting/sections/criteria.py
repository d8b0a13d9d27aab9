"""Each requirement as a question, with its limit, what was measured, and against whom it holds."""

from __future__ import annotations

from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import limit, value


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
        }
        for verdict in material.verdicts
    ]
    missing = (
        "" if rows else "Nothing was measured: the run stopped before a verdict. The errors above say why."
    )
    claims = material.run.get("claims") or {}
    return Section("criteria", "Criteria", "Criteria", {"rows": rows, "claims": claims}, missing=missing)
