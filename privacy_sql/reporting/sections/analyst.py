"""What an analyst will notice: how wrong typical counts come out when they are taken from the release."""

from __future__ import annotations

from privacy_sql.reporting.charts import Axis, Bars, Chart
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import percent, shortened


def section(material: Material) -> Section:
    title, short = "What an analyst will notice", "Analysts"
    found = material.part("usefulness")
    if not found or not found["errors"]:
        how = (
            "The run measures it where a column is sensitive, and each has one level or values are permuted."
        )
        return Section("analyst", title, short, missing=material.why_not("usefulness", how))
    asked = [
        (f"{material.sensitive} by {' and '.join(e['columns'])}", e["error"])
        if e["columns"]
        else (f"{material.sensitive} alone", e["error"])
        for e in found["errors"]
    ]
    chart = Chart(
        "errors",
        "Typical error of counts among people with some of the exact values of these columns.",
        Axis("typical error", 0, 1.2 * max(0.05, *(error for _, error in asked)), percent=True),
        Axis(""),
        bars=[
            Bars(
                "error",
                [shortened(q) for q, _ in asked],
                [e for _, e in asked],
                [percent(e) for _, e in asked],
            )
        ],
        across=True,
        height=90 + 26 * len(asked),
        header=("people counted by", "typical error"),
        rows=[(question, percent(error)) for question, error in asked],
    )
    return Section("analyst", title, short, {"sensitive": material.sensitive}, [chart])
