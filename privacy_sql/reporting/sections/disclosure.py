"""How sure somebody can be who knows 0, 1, 2, ... facts (martin2007, Fig. 5)."""

from __future__ import annotations

from fractions import Fraction

from privacy_sql.reporting.charts import PLAIN, SAFE, UNSAFE, Axis, Chart, Line, Rule, Zone
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.sections.options import best
from privacy_sql.reporting.words import percent

BEST = "any facts, at the best safe choice"


def section(material: Material) -> Section:
    title, short = "How much can an adversary know before it breaks?", "Facts"
    curves = material.part("curves")
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
        Axis("facts the adversary knows (k)", -0.3, len(facts) - 0.7, whole=True),
        Axis("best guess is right", 0, 1.05, percent=True),
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
        "required": bool(asked),
        "by_value": len(required) < len(asked),
        "certain": certain,
        "sensitive": material.sensitive,
    }
    return Section("disclosure", title, short, content, [chart])


def _limit(verdict: Record) -> float:
    return float(Fraction(verdict["limit"]))
