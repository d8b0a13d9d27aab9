"""What several releases give away together about the people they share (ganta2008)."""

from __future__ import annotations

from fractions import Fraction

from privacy_sql.reporting.charts import PALE, UNSAFE, Bars, Chart, ChartAxis
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import Below, hundredths, percent

FEW = "The people in all releases are too few for a public report to tell of them."
HOW = "Run privacy-sql attack intersection {manifest} OTHER --people FILE, then make the report again."


def section(material: Material) -> Section:
    title, short = "Together with other releases", "Other releases"
    attack = material.found.get("attack_intersection")
    if not attack:
        place = material.run.get("manifest") or "MANIFEST"
        return Section("intersection", title, short, missing=HOW.format(manifest=place))
    if isinstance(attack["P"], Below):
        return Section("intersection", title, short, missing=FEW)
    sure = {level: float(Fraction(level)) for level in attack["PVP"]}
    levels = [
        ("certain" if sure[level] == 1 else f"{percent(sure[level])} or more", hundredths(share))
        for level, share in attack["PVP"].items()
    ]
    content = {
        "releases": attack["releases"],
        "people": attack["P"],
        "found": attack["n_ok"],
        "vulnerable": attack["VP"],
        "perfect_new": percent(hundredths(attack["perfect_new"])),
        "contradicted": attack["n_empty"],
        "rows": [(level, percent(share)) for level, share in levels],
    }
    names, shares = [level for level, _ in levels], [share for _, share in levels]
    told = list(map(percent, shares))
    chart = Chart(
        "exposed",
        "People whose value is known, or all but known, from these releases together.",
        ChartAxis("how sure"),
        ChartAxis("people exposed", 0, max(0.05, 1.2 * max(shares, default=0)), percent=True),
        bars=[Bars("people", names, shares, told, UNSAFE if any(shares) else PALE)],
        header=("how sure", "people exposed"),
        rows=list(zip(names, told, strict=True)),
    )
    return Section("intersection", title, short, content, [chart])
