"""The verdict in one sentence, and what would make an unsafe release safe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privacy_sql import criteria, registry
from privacy_sql.reporting import audience
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section, intersection, options
from privacy_sql.reporting.sections import people as people_section
from privacy_sql.reporting.sections.glance import knowing
from privacy_sql.reporting.sections.options import best, in_bands, one_change
from privacy_sql.reporting.sections.readers import ABOUT_FACTS, few_columns, keys
from privacy_sql.reporting.words import Below, limit, moment, number_of, people, percent, slack, value


@dataclass(frozen=True)
class VerdictWords:
    """What stands at the top of a report."""

    heading: str
    facts: str
    sentence: str
    failed: Sequence[str]
    fix: str
    fix_title: str
    errors: Sequence[str]
    warnings: Sequence[str]
    reach: Sequence[str]  # what the strongest readers find and guess without further facts
    weak: Sequence[str]  # why limits that hold promise little
    not_asked: Sequence[tuple[str, str]]  # what was not looked at, and how to look
    not_told: Sequence[tuple[str, str]]  # what a public report keeps to itself, and why
    refused: bool

    @property
    def tone(self) -> str:
        """`bad` where a limit is broken, `weak` where limits hold that promise little, else `good`."""
        return "bad" if self.refused else "weak" if self.weak else "good"

    @property
    def sign(self) -> str:
        """The tone without colour."""
        return {"good": "✔", "weak": "▲", "bad": "✖"}[self.tone]


# why a public report does not tell what was measured
PRIVATE = {
    *(audience.UNTOLD, audience.SEVERAL, audience.FEW),
    *(people_section.FEW, intersection.FEW, options.PUBLIC),
}
REFUSED = "Do not release: it does not meet the limits that were set"
WEAK = "Meets the limits that were set, and they are weak"
SAFE = "Safe against the adversaries named here"
NEARLY_CERTAIN = Fraction("0.95")


def in_words(material: Material, sections: Sequence[Section] = ()) -> VerdictWords:
    """The verdict of a release for somebody who reads nothing else."""
    errors = [f"{error['message']}. {error['hint']}".strip() for error in material.run.get("errors", [])]
    parts = [
        f"sensitive: {material.sensitive}" if material.run.get("sensitive") else "",
        f"measured {moment(material.run['made'])}" if material.run.get("made") else "",
    ]
    weak = list(_weak(material)) if material.safe else []
    fix_title, fix = _fix(material)
    # what was measured, and no limit was set for
    no_limit = []
    if material.part("curves") and not any(v["criterion"] in ABOUT_FACTS for v in material.verdicts):
        no_limit = [
            ("No limit was set for facts about others", "Require ck_safety(c=…, k=…) or a privacy_skyline.")
        ]
    empty = [(part.title, part.missing) for part in sections if part.missing]
    signs = material.internal and material.published
    few = few_columns(material)
    whom = f"{few[0]}, but not against {few[1]}" if few else knowing(material)
    against = f"Can be signed, against {whom}" if signs and material.run.get("baseline") else SAFE
    return VerdictWords(
        heading=REFUSED if not material.safe else WEAK if weak else against,
        facts=" · ".join(part for part in parts if part),
        sentence=_sentence(material),
        failed=[
            f"{failed['question'] or 'Does the method keep its promise?'} {failed['requirement']} is"
            f" {value(failed)} and {'must be ' + limit(failed) if limit(failed) else 'has no limit'}."
            for failed in material.verdicts
            if not failed["safe"]
        ],
        fix=fix,
        fix_title=fix_title,
        errors=errors,
        warnings=material.run.get("warnings", []),
        reach=list(_reach(material)),
        weak=weak,
        not_asked=[*no_limit, *((title, how) for title, how in empty if how not in PRIVATE)],
        not_told=[(title, why) for title, why in empty if why in PRIVATE],
        refused=not material.safe,
    )


def _fix(material: Material) -> tuple[str, str]:
    """What would make it safe, or better, and what that costs."""
    if material.safe:
        found, columns = material.run.get("baseline"), material.as_they_are
        crowd = (material.part("crowds") or {}).get("known") or {"below": 0}
        if not (found and "all" in found["known"] and material.internal):
            return "", ""
        if not (found["known"]["all"]["alone"] or crowd["below"]):
            return "", ""
        reader = found["as_published"]
        alone, certain = reader["alone"], reader["certain"]
        found_alone = f"{people(alone) if alone else 'nobody'} can be found alone"
        whose = f"the {material.guessed} of {people(certain)}" if certain else f"nobody's {material.guessed}"
        sure = f", and {whose} is certain"
        told = found_alone + ("" if certain is None else sure)
        without = f"leave out {' and '.join(columns)}. Every requirement still holds, {told}."
        return "The fix:", f"{without} {in_bands(material)}".strip()
    if not material.internal:
        return "", ""
    if (change := one_change(material)) is not None:
        return "One change is enough:", change
    better = best(material)
    if better:
        return "What would make it safe:", f"publish {better}; every requirement then holds."
    command = f"run privacy-sql search --select {material.name}, then make the report again."
    return "To find what would make it safe:", command


def _weak(material: Material) -> Iterator[str]:
    """Why limits that hold promise little: what anybody can guess who knows no fact more."""
    found, declared = material.run.get("baseline"), material.run.get("insensitive") or {}
    reader: Record = found["as_published"] if found else {"worst_guess": None}
    if reader["worst_guess"] is not None and Fraction(reader["worst_guess"]) > NEARLY_CERTAIN:
        sure = reader["people_above"]["0.95"]
        told = f"more than 95 % sure of {people(sure)}" if isinstance(sure, int) else "more than 95 % sure"
        yield f"Anybody who knows who is in which group is {told}, and needs no further fact."
    if found and "all" in found["known"] and found["known"]["all"]["alone"]:
        also = ", ".join(declared.get("columns", ())) or "the columns published as they are"
        yield f"Whoever also knows {also} {_guesses(found['known']['all'], material.guessed)}"
    elif found and "all" in found["known"] and found["known"]["all"].get("few_alike"):
        also = ", ".join(declared.get("columns", ())) or "the columns published as they are"
        yield f"Whoever also knows {also} finds people alone, or few alike, whom this page does not count."
    elif (crowds := material.part("crowds")) and crowds["known"] and crowds["known"]["below"]:
        also, few = ", ".join(declared.get("columns", ())), people(crowds["known"]["below"])
        yield f"Whoever also knows {also} finds {few} in groups of fewer than {crowds['k']}."
    known = registry.available("criteria")
    asked = [_reads_values(verdict) for verdict in material.verdicts if verdict["criterion"] in known]
    if material.run.get("sensitive") and asked and not any(asked):
        yield f"Nothing was required of {material.sensitive}: a group may hold one value only."


def _reads_values(verdict: Record) -> bool:
    """Whether a requirement is about sensitive values; for some kinds its parameters decide that."""
    reads = registry.get("criteria", verdict["criterion"]).reads_sensitive
    if isinstance(reads, bool):
        return reads
    return criteria.make(verdict["criterion"], verdict["params"]).reads_sensitive


def _sentence(material: Material) -> str:
    verdicts = material.verdicts
    if not verdicts:
        return "Nothing was published, because no verdict was reached."
    failed = [verdict for verdict in verdicts if not verdict["safe"]]
    if failed:
        many = number_of(len(verdicts), "requirement", "requirements")
        fails = "fails" if len(failed) == 1 else "fail"
        return f"{len(failed)} of {many} {fails}. Nothing was published."
    if not material.safe:
        return "Every requirement holds, and columns that are published as they are single people out."
    closest = min(verdicts, key=slack)
    words = {1: "The requirement holds", 2: "Both requirements hold"}
    every = words.get(len(verdicts), f"All {len(verdicts)} requirements hold")
    allowed = f", and must be {limit(closest)}" if closest["limit"] is not None else ""
    few = few_columns(material)
    every += f", but not against {few[1]}" if few else ""
    if closest.get("withheld"):
        return f"{every}."
    return f"{every}. Closest to its limit: {closest['requirement']} is {value(closest)}{allowed}."


def _reach(material: Material) -> Iterator[str]:
    """How sure anybody is who knows the groups, and who also knows the columns published as they are."""
    found, declared = material.run.get("baseline"), material.run.get("insensitive") or {}
    if not found:
        return
    yield f"Somebody who knows {keys(material)} {_guesses(found['as_published'], material.guessed)}"
    if "all" in found["known"] and not (material.safe and found["known"]["all"]["alone"]):
        also = ", ".join(declared.get("columns", ())) or "the columns published as they are"
        yield f"Somebody who also knows {also} {_guesses(found['known']['all'], material.guessed)}"
    if declared.get("acknowledge"):
        yield f"Published all the same, because: {declared['acknowledge']}"


def _guesses(reader: Record, sensitive: str) -> str:
    alone, smallest = reader["alone"], reader["smallest"]
    finds = f"finds {people(alone)} alone" if alone else f"finds at least {people(smallest)} alike"
    if not alone and isinstance(smallest, Below):
        finds = f"finds {people(smallest)} alike"
    elif not alone and smallest is None:
        finds = "finds groups whose sizes a public report does not tell"
    if reader["worst_guess"] is None:
        return f"{finds}."
    if reader["certain"] != 0:
        whose = "some of them" if reader["certain"] is None else people(reader["certain"])
        return f"{finds}, and is certain of the {sensitive} of {whose}."
    worst = percent(float(Fraction(reader["worst_guess"])))
    return f"{finds}, and guesses nobody's {sensitive} right more than {worst} of the time."
