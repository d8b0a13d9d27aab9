"""How mixed groups lower disclosure (martin2007, Fig. 6)."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_sql.reporting.audience import UNTOLD
from privacy_sql.reporting.charts import DASHES, MARKERS, SERIES, Chart, ChartAxis, Line
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import number_of, percent

HOW = "Run privacy-sql curve --every-choice --select {name}, then make the report again."


def section(material: Material) -> Section:
    title, short = "What mixing groups does", "Groups"
    every = material.found.get("every_choice")
    if not every or not every["choices"]:
        how = HOW.format(name=material.name) if material.internal else UNTOLD
        return Section("groups", title, short, missing=how)
    # for each entropy of the least mixed group the least disclosure any choice reaches with it
    choices: Sequence[Record] = every["choices"]
    facts = sorted(choices[0]["disclosure"], key=int)
    lines, rows = [], []
    for number, k in enumerate(facts):
        least: dict[float, float] = {}
        for point in choices:
            entropy = round(point["entropy"], 1)
            least[entropy] = min(point["disclosure"][k], least.get(entropy, 1.0))
        points = sorted(least.items())
        name = number_of(int(k), "fact", "facts")
        lines.append(
            Line(name, [e for e, _ in points], [d for _, d in points], SERIES[number], DASHES[number],
                 MARKERS[number], size=6)
        )  # fmt: skip
        rows += [(name, f"{e:.1f}", percent(d)) for e, d in points]
    chart = Chart(
        "mixed",
        "The more mixed the least mixed group, the less facts can disclose (the best of all choices).",
        ChartAxis("entropy of the least mixed group (nats)"),
        ChartAxis("best guess is right", 0, 1.05, percent=True),
        lines=lines,
        header=("facts", "entropy", "best guess is right"),
        rows=rows,
    )
    return Section("groups", title, short, {}, [chart])
