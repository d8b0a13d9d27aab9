"""How far a reader's picture is from the truth: this release, and with each table added (kifer2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privacy_sql.display.levels import choice
from privacy_sql.reporting.charts import Bars, Chart, ChartAxis
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import number, shortened

HOW = "The run measures it for releases at one level per column, with permuted values, and of marginals."
NAMES = {
    "kl": "divergence from the source (nats)",
    "loss": "share of detail lost (0 is none, 1 is all)",
    "discernibility": "discernibility (sum of squared group sizes)",
    "average_group_size": "people in a group, on average",
}


def section(material: Material) -> Section:
    title, short = "What is lost", "What is lost"
    utilities = (material.part("usefulness") or {}).get("utilities", {})
    # label and nats: a collection growing table by table, or one release
    steps: Sequence[dict[str, Any]] = (material.run.get("search") or {}).get("steps", [])
    names = [choice(step["levels"], material.hierarchies) for step in steps]
    bars = [(f"{'+ ' if n else ''}{name}", steps[n]["kl"]) for n, name in enumerate(names)]
    if not steps and utilities.get("kl") is not None:
        search = material.found.get("search") or {}
        best = (search.get("best") or {}).get("values", {}).get("kl")
        bars = [("this release", utilities["kl"]), *([("best found", best)] if best is not None else [])]
    rows = [(NAMES.get(name, name), number(value)) for name, value in utilities.items() if value is not None]
    if not bars and not rows:
        return Section("divergence", title, short, missing=material.why_not("usefulness", HOW))
    content = {
        "rows": rows,
        "several": len(bars) > 1,
        "how": ""
        if len(bars) > 1
        else "To see what small count tables published beside it would recover, add a"
        " release with method marginals and inject: its manifest.",
    }
    values = [kl for _, kl in bars]
    chart = Chart(
        "divergence",
        "The shorter the bar, the closer a reader's picture is to the truth.",
        ChartAxis("information lost (nats)", 0, 1.15 * max([*values, 0.001])),
        ChartAxis(""),
        bars=[Bars("nats", [shortened(name) for name, _ in bars], values, list(map(number, values)))],
        across=True,
        height=90 + 44 * len(bars),
        header=("published", "nats lost"),
        rows=[(name, number(kl)) for name, kl in bars],
    )
    return Section("divergence", title, short, content, [chart] if bars else [])
