"""The risk of re-identification in the words of regulators, and their three questions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privacy_sql.display.rounding import percent
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


def section(material: Material) -> Section:
    found = material.part("risk")
    if not found:
        how = "It is counted by `run` for releases that show rows of one table, for internal reports."
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
                "who": "who takes anybody of the table (marketer)",
                "worst": "",
                "above": [""] * len(found["above"]),
            }
            | {"mean": percent(Fraction(found["marketer"]))}
        )
    content = {
        "people": count(found["people"]),
        "groups": count(found["groups"]),
        "left_out": percent(Fraction(found["suppressed"])),
        "thresholds": list(found["above"]),
        "rows": rows,
        "asks_for": [f"{each} asks for {count(n)} people" for each, n in found["asks_for"].items()],
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


def _row(who: str, found: Mapping[str, Any], of: str, above: str) -> dict[str, Any]:
    return {
        "who": who,
        "worst": percent(Fraction(found[f"{of}_max"])),
        "mean": percent(Fraction(found[f"{of}_average"])),
        "above": [percent(Fraction(share)) for share in found[above].values()],
    }
