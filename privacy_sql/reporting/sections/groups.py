"""How large the groups are, and how mixed groups lower disclosure (martin2007, Fig. 6)."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_sql.reporting.charts import DASHES, MARKERS, SERIES, Axis, Bars, Chart, Line
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import Below, count, number_of, people, percent

HOW = "Run privacy-sql curve --every-choice --select {name}, then make the report again."

FEW_GROUPS = 12  # up to which every number stands on the axis


def section(material: Material) -> Section:
    title, short = "Groups", "Groups"
    groups = material.part("groups")
    if not groups:
        why = material.why_not("groups", "Run privacy-sql run, then make the report again.")
        return Section("groups", title, short, missing=why)
    labels = [
        f"{size:,} to {2 * size - 1:,}"
        if groups["binned"] and not isinstance(size, Below) and size > 1
        else count(size)
        for size, _ in groups["sizes"]
    ]
    values = [n for _, n in groups["sizes"]]
    charts = [
        Chart(
            "sizes",
            f"{number_of(groups['n_groups'], 'group', 'groups')}; the smallest has"
            f" {people(groups['smallest'])}, half of them have {people(groups['median'])} or more.",
            Axis("groups", whole=max(values, default=0) <= FEW_GROUPS),
            Axis("people in a group"),
            bars=[Bars("groups", labels, values, [f"{n:,}" for n in values])],
            across=True,
            height=max(180, 70 + 24 * len(labels)),
            header=("people in a group", "groups"),
            rows=[(label, count(n)) for label, n in zip(labels, values, strict=True)],
        )
    ]
    every = material.found.get("every_choice")
    if every and every["choices"]:
        charts.append(_mixed(every["choices"]))
    required = [v for v in material.verdicts if v["criterion"] == "k_anonymity"]
    content = {
        "n_groups": groups["n_groups"],
        "smallest": groups["smallest"],
        "median": groups["median"],
        "largest": groups["largest"],
        "required": required[0]["params"]["k"] if required else None,
        "how": "" if every or not material.internal else HOW.format(name=material.name),
    }
    return Section("groups", title, short, content, charts)


def _mixed(choices: Sequence[Record]) -> Chart:
    """For each entropy of the least mixed group the least disclosure any choice reaches with it."""
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
    return Chart(
        "mixed",
        "The more mixed the least mixed group, the less facts can disclose (the best of all choices).",
        Axis("entropy of the least mixed group (nats)"),
        Axis("best guess is right", 0, 1.05, percent=True),
        lines=lines,
        header=("facts", "entropy", "best guess is right"),
        rows=rows,
    )
