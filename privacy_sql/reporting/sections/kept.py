"""How much detail each quasi-identifier keeps."""

from __future__ import annotations

from privacy_sql.display.levels import column, weighing
from privacy_sql.reporting.charts import Bars, Chart, ChartAxis
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import percent, shortened

HOW = "A run measures this for releases that show each column at one level."
MOST_BARS = 8


def section(material: Material) -> Section:
    title, short = "Detail kept", "Detail"
    found = material.part("usefulness")
    if not found or not found.get("kept"):
        return Section("kept", title, short, missing=material.why_not("usefulness", HOW))
    levels = (material.run.get("choice") or {}).get("levels", {})
    every = [
        (column(name, material.hierarchies.get(name), levels.get(name, 0)), share)
        for name, share in found["kept"].items()
    ]
    shown = every if len(every) <= MOST_BARS else sorted(every, key=lambda each: each[1])[:MOST_BARS]
    more = "" if shown == every else f" Shown are the {MOST_BARS} columns that keep least; the table has all."
    whole = percent(1 - found["utilities"]["loss"])
    mean = f", on average over {len(every)} columns" if len(every) > 1 else ""
    if told := weighing(found.get("importance", {})):
        mean += f" ({told})"
    chart = Chart(
        "kept",
        f"{whole} of the detail is kept{mean}. People who are left out keep none.{more}",
        ChartAxis("detail kept", 0, 1, percent=True),
        ChartAxis(""),
        bars=[
            Bars(
                "kept",
                [shortened(label) for label, _ in shown],
                [share for _, share in shown],
                [percent(share) for _, share in shown],
            )
        ],
        across=True,
        height=90 + 26 * len(shown),
        header=("column", "detail kept"),
        rows=[(label, percent(share)) for label, share in every],
    )
    return Section("kept", title, short, {}, [chart])
