"""What an analyst will notice: how wrong typical counts come out when they are taken from the release."""

from __future__ import annotations

from privacy_sql.reporting.charts import Bars, Chart, ChartAxis
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import percent, shortened

MOST_BARS = 10


def section(material: Material) -> Section:
    title, short = "What an analyst will notice", "Analysts"
    found = material.part("usefulness")
    if not found or not found["errors"]:
        how = "A run measures this where every column has one level, or values are permuted."
        return Section("analyst", title, short, missing=material.why_not("usefulness", how))
    asked = [
        (" and ".join(e["columns"]), e["error"]) if e["columns"] else ("nothing else", e["error"])
        for e in found["errors"]
    ]
    # the questions a page has room for; the table has all
    drawn = asked if len(asked) <= MOST_BARS else sorted(asked, key=lambda each: -each[1])[:MOST_BARS]
    more = "" if drawn == asked else f" Shown are the {MOST_BARS} largest errors; the table has all."
    chart = Chart(
        "errors",
        f"Typical error of a count of people with one {material.sensitive}, by what else is asked.{more}",
        ChartAxis("typical error", 0, 1.2 * max(0.05, *(error for _, error in asked)), percent=True),
        ChartAxis(""),
        bars=[
            Bars(
                "error",
                [shortened(q) for q, _ in drawn],
                [e for _, e in drawn],
                [percent(e) for _, e in drawn],
            )
        ],
        across=True,
        height=90 + 26 * len(drawn),
        header=("people counted by", "typical error"),
        rows=[(question, percent(error)) for question, error in asked],
    )
    return Section("analyst", title, short, {"sensitive": material.sensitive}, [chart])
