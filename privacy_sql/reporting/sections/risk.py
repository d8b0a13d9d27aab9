"""The risk of re-identification in the words of regulators, and their three questions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privacy_sql.display.rounding import percent
from privacy_sql.reporting.audience import UNTOLD
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import count

TITLE, SHORT = "Risk of re-identification", "Risk"
# the headings of the EDPB's opinion on anonymisation, and which requirements speak to each
QUESTIONS = {
    "Singling out": (
        "k_anonymity",
        "k_map",
        "known_columns",
        "household_k_anonymity",
        "reidentification_risk",
    ),
    "Linkability": ("composition", "delta_presence"),
    "Inference": (
        *("l_diversity", "t_closeness", "alpha_k_anonymity", "beta_likeness", "delta_disclosure"),
        *("ck_safety", "privacy_skyline", "bt_privacy", "interval_disclosure"),
    ),
}

# what only a person can say; a blank is printed as a blank
FIELDS = {
    "recipients": "Recipients",
    "threshold": "Limit of the risk",
    "why": "Why this limit",
    "expert": "Who determined it",
    "valid_until": "Valid until",
}


def section(material: Material) -> Section:
    found = material.part("risk")
    if not material.internal:
        return Section("risk", TITLE, SHORT, missing=UNTOLD)
    if not found:
        how = "A run counts this for internal reports of releases that publish rows of one table."
        return Section("risk", TITLE, SHORT, missing=material.why_not("risk", how))
    rows = [_row("who knows that the person is in the table (prosecutor)", found, "prosecutor", "above")]
    if "known" in found:
        whose = "who also knows the columns that are published as they are"
        rows.append(_row(whose, found["known"], "prosecutor", "above"))
    if "journalist_max" in found:
        whose = "who does not know whether the person is in it (journalist)"
        rows.append(_row(whose, found, "journalist", "journalist_above"))
        rows.append(
            {
                "who": "who picks anybody in the table (marketer)",
                "worst": "",
                "above": [""] * len(found["above"]),
            }
            | {"mean": percent(Fraction(found["marketer"]))}
        )
    said = material.run.get("determination") or {}
    content = {
        "people": count(found["people"]),
        "groups": count(found["groups"]),
        "left_out": percent(Fraction(found["suppressed"])),
        "thresholds": list(found["above"]),
        "rows": rows,
        "asks_for": [f"{each} asks for {count(n)} people" for each, n in found["asks_for"].items()],
        "determination": [(field, said.get(key, "")) for key, field in FIELDS.items()],
        "estimates": _estimates(material.run.get("estimates")),
        "questions": {
            heading: [
                {"rule": verdict["requirement"], "safe": verdict["safe"]}
                for verdict in material.verdicts
                if verdict["criterion"] in names
            ]
            for heading, names in QUESTIONS.items()
        },
    }
    return Section("risk", TITLE, SHORT, content)


def _estimates(found: Mapping[str, Any] | None) -> list[str]:
    """What survey weights say of the population, which nothing promises."""
    if not found:
        return []
    if "missing" in found:
        return [f"Nothing is estimated from the weights: {found['missing']}"]
    told = [
        f"The population has an estimated {found['population']} people.",
        f"The estimated risk is at most {percent(found['risk_max'])}, and {percent(found['risk_average'])} on"
        " average (Benedetti and Franconi).",
    ]
    if found["alone_in_population"] is not None:
        share = percent(Fraction(found["alone_in_population"]))
        told.append(
            f"Of the people who are alone in it, an estimated {share} are alone in the population (Zayatz)."
        )
    most = percent(Fraction(found["alone_at_most"]))
    return [*told, f"The sample proves no more than that between 0 and {most} of its people are."]


def _row(who: str, found: Mapping[str, Any], of: str, above: str) -> dict[str, Any]:
    return {
        "who": who,
        "worst": percent(Fraction(found[f"{of}_max"])),
        "mean": percent(Fraction(found[f"{of}_average"])),
        "above": [percent(Fraction(share)) for share in found[above].values()],
    }
