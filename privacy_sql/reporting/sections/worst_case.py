"""The worst case as a story: what the strongest adversary of the requirements learns, fact by fact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import limit, people, percent, value

MOST_TOLD = 12  # facts told one by one


def section(material: Material) -> Section:
    title, short = "The worst case, in words", "Worst case"
    if not material.internal:
        told = "A public report says how close each requirement came, but not in which group."
        return Section("worst_case", title, short, {"stories": [], "others": [], "told": told})
    stories = [_story(material, verdict, asked=True) for verdict in material.verdicts if _facts(verdict)]
    unasked = material.part("unasked")
    if unasked and not stories:
        stories = [_story(material, unasked, asked=False)]
    others = [
        {
            "rule": verdict["requirement"],
            "safe": verdict["safe"],
            "story": material.story_of(verdict) or f"The worst value is {value(verdict)}.",
        }
        for verdict in material.verdicts
        if not _facts(verdict)
    ]
    missing = "" if stories or any(others) else "Nothing was measured, so there is no worst case to tell."
    return Section(
        "worst_case", title, short, {"stories": stories, "others": others, "told": ""}, missing=missing
    )


def _facts(verdict: Record) -> bool:
    """Whether the page shows the worst case fact by fact."""
    return bool(verdict["witness"].get("certainty"))


def _story(material: Material, verdict: Record, *, asked: bool) -> dict[str, Any]:
    """A first sentence and one step per fact, each with how sure the adversary is then."""
    witness = verdict["witness"]
    certainty = [float(Fraction(str(p))) for p in witness["certainty"]]
    steps: list[dict[str, Any]] = [{"number": 0, "fact": "", "share": certainty[0]}]
    told = list(zip(witness["knows"], certainty[1:], strict=False))
    for number, (fact, share) in enumerate(told, start=1):
        if number <= MOST_TOLD or number == len(told):
            steps.append({"number": number, "fact": f"{fact[0].upper()}{fact[1:]}.", "share": share})
    stop = float(Fraction(verdict["limit"])) if asked else None
    size = people(witness["size"])
    of_value = witness.get("holders") or next(
        (place["counts"][0] for place in witness.get("places", []) if place["target"]), None
    )
    named = verdict.get("value_number")
    which = f" ({material.value_called(verdict, named)})" if named and "missing" not in named else ""
    holders = f"; {of_value:,} of them have the value in question{which}" if of_value else ""
    return {
        "rule": verdict["requirement"] if asked else "",
        "safe": verdict["safe"],
        "start": f"Take one person in group {witness['group']} (person 1 below)."
        f" The group has {size}{holders}. Nothing else is known yet.",
        "steps": [
            {
                **step,
                "over": stop is not None and step["share"] >= stop,
                "at": step["share"] == stop,
                "percent": percent(step["share"]),
            }
            for step in steps
        ],
        "left_out": max(0, len(witness["knows"]) - MOST_TOLD),
        "limit": stop,
        "limit_words": limit(verdict) if asked else "",
        "told": verdict["against"],
    }
