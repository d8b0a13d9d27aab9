"""What somebody learns who studied the data before: risk against bandwidth (li2009, Sec. V)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from privacy_sql.parameters import number_in
from privacy_sql.reporting.audience import UNTOLD
from privacy_sql.reporting.charts import SAFE, UNSAFE, Chart, ChartAxis, Line, Rule
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import number

HOW = "Run privacy-sql attack knowledge --select {name}, then make the report again."


def section(material: Material) -> Section:
    title, short = "Somebody who studied the data", "Background"
    if not material.internal:
        return Section("background", title, short, missing=UNTOLD)
    attack = material.found.get("attack_knowledge")
    if not attack:
        return Section("background", title, short, missing=HOW.format(name=material.name))
    stop = float(Fraction(attack["t"]))
    required = any(verdict["criterion"] == "bt_privacy" for verdict in material.verdicts)
    # the t of the attack is a limit only where somebody required one
    name = "the limit" if required else f"t = {number(stop)}"
    rows = [_row(adversary, stop, name) for adversary in attack["adversaries"]]
    content = {"rows": rows, "exact": attack["exact"], "t": number(stop), "required": required, "name": name}
    drawn = [(row["at"], row["risk"]) for row in rows if row["at"] is not None and row["risk"] is not None]
    charts = [_chart(sorted(drawn), stop, name)] if drawn else []
    return Section("background", title, short, content, charts)


def _row(adversary: Record, stop: float, name: str) -> dict[str, Any]:
    b, risk = adversary["bandwidth"], adversary["max_risk"]
    at = number_in(b)  # inf, several bandwidths and a file of beliefs have no place on an axis
    return {
        "bandwidth": b if isinstance(b, str) else ", ".join(map(str, b)),
        "at": None if at is None else float(at),
        "risk": risk,
        "shown": number(risk) if risk is not None else "not decided",
        "over": risk is None or risk > stop,
        "result": "not decided" if risk is None else f"{'over' if risk > stop else 'within'} {name}",
        "vulnerable": adversary["vulnerable"],
        "undecided": adversary["undecided"],
    }


def _chart(points: list[tuple[float, float]], stop: float, name: str) -> Chart:
    over = [point for point in points if point[1] > stop]
    lines = [Line("largest move of belief", [b for b, _ in points], [r for _, r in points], SAFE)]
    if over:
        lines.append(
            Line(f"above {name}", [b for b, _ in over], [r for _, r in over], UNSAFE, marker="square",
                 joined=False, size=11)
        )  # fmt: skip
    return Chart(
        "background",
        "How far a belief moves at most, for adversaries who studied the data more or less closely.",
        ChartAxis("bandwidth: small is a close study, large a coarse one"),
        ChartAxis("largest move of belief", 0, 1.15 * max(stop, *(r for _, r in points))),
        lines=lines,
        rules=[Rule(stop, f"limit t = {number(stop)}" if name == "the limit" else name)],
        header=("bandwidth", "largest move", f"over {name}"),
        rows=[(number(b), number(r), "yes" if r > stop else "no") for b, r in points],
    )
