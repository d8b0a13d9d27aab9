"""How sure somebody can be who knows 0, 1, 2, ... facts (martin2007, Fig. 5), or accepts a near value."""

from __future__ import annotations

from fractions import Fraction

from privacy_sql.reporting.charts import PLAIN, SAFE, UNSAFE, Chart, ChartAxis, Line, Rule, Zone
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.sections.options import best
from privacy_sql.reporting.words import exactly, percent

WIDTHS = {
    "absolute": "width: largest less smallest value",
    "relative": "width: how much larger the largest value may be",
    "matrix": "width: distance from one value",
    "hierarchical": "width: level over the height",
}
BEST = "any facts, at the best safe choice"


def section(material: Material) -> Section:
    title, short = "How much can an adversary know before it breaks?", "Facts"
    curves = material.part("curves")
    near = [_of_widths(number, curve) for number, curve in enumerate(material.part("near_widths") or ())]
    if not curves and near:
        return Section("disclosure", title, short, {"facts": False, "near": True}, near)
    if not curves:
        why = material.why_not("curves", "Run privacy-sql run, then make the report again.")
        return Section("disclosure", title, short, missing=why)
    # the curve is about all values together, so it is no matter of limits that single values have
    asked = [v for v in material.verdicts if v["criterion"] == "ck_safety"]
    required = [v for v in asked if "per_value" not in v["params"]]
    implied, denied = curves["implications"], curves["negations"]
    better = (
        (material.found.get("search") or {}).get("curve") if not material.safe and best(material) else None
    )
    certain = next((k for k, share in enumerate(implied) if share >= 1), None)
    facts = list(range(len(implied)))
    lines = [implied, denied, *([better] if better else [])]
    end = (
        f"certainty at {certain}" if certain is not None else f"{percent(implied[-1])} at {len(implied) - 1}"
    )
    chart = Chart(
        "facts",
        f"The best guess is right with {percent(implied[0])} when nothing more is known, and grows to {end}.",
        ChartAxis("facts the adversary knows (k)", -0.3, len(facts) - 0.7, whole=True),
        ChartAxis("best guess is right", 0, 1.05, percent=True),
        lines=[
            Line("any facts", facts, implied, UNSAFE if any(not v["safe"] for v in required) else SAFE),
            Line('only "does not have" facts', facts, denied, PLAIN, "dot", "square"),
            *([Line(BEST, facts, better, SAFE, "dash", "diamond")] if better else []),
        ],
        rules=[Rule(_limit(v), f"limit {percent(_limit(v))}") for v in required],
        zones=[  # where the curve must not be: at most k facts, the limit or more
            Zone(-0.3, k + 0.15, _limit(v), 1.05, f"stay out\nup to k = {k}")
            for v in required
            for k in [int(v["params"]["k"])]
        ],
        header=("facts", "any facts", 'only "does not have" facts', *([BEST] if better else [])),
        rows=[(k, *map(percent, shares)) for k, *shares in zip(facts, *lines, strict=True)],
    )
    content = {
        "facts": True,
        "near": bool(near),
        "required": bool(asked),
        "by_value": len(required) < len(asked),
        "certain": certain,
        "sensitive": material.sensitive,
    }
    return Section("disclosure", title, short, content, [chart, *near])


def _of_widths(number: int, curve: Record) -> Chart:
    """The largest share of a group with near values, by what is called near."""
    widths, shares = ([Fraction(point[of]) for point in curve["points"]] for of in (0, 1))
    required, limit = Fraction(curve["width"]), Fraction(curve["share"])
    at_required = shares[widths.index(required)]
    words = f"limit {percent(float(limit))}"
    return Chart(
        f"near{number or ''}",
        f"In the worst group {percent(float(at_required))} have near values at the required width of"
        f" {exactly(required)}, and {percent(float(shares[-1]))} at {exactly(widths[-1])}.",
        ChartAxis(WIDTHS[curve["distance"]]),
        ChartAxis("of a group have near values", 0, 1.05, percent=True),
        lines=[
            # between the widths that were measured the share is at least that of the smaller one
            Line(
                "worst group",
                [float(width) for width in widths],
                [float(share) for share in shares],
                SAFE if at_required <= limit else UNSAFE,
                step=True,
            )
        ],
        rules=[Rule(float(limit), words)],
        zones=[Zone(0, float(required), float(limit), 1.05, f"stay out\nup to {exactly(required)}")],
        header=("width", "worst share", "exactly"),
        rows=[
            (exactly(width), percent(float(share)), str(share))
            for width, share in zip(widths, shares, strict=True)
        ],
    )


def _limit(verdict: Record) -> float:
    return float(Fraction(verdict["limit"]))
