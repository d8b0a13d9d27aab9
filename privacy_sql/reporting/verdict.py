"""The verdict in one sentence, and what would make an unsafe release safe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privacy_sql import registry
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.sections.options import best
from privacy_sql.reporting.words import limit, moment, number_of, people, percent, slack, value


@dataclass(frozen=True)
class Words:
    """What stands at the top of a report."""

    heading: str
    facts: str
    sentence: str
    failed: Sequence[str]
    fix: str
    fix_title: str
    errors: Sequence[str]
    warnings: Sequence[str]
    baseline: Sequence[str]
    weak: Sequence[str]  # why limits that hold promise little
    not_asked: Sequence[tuple[str, str]]  # what was not looked at, and how to look

    @property
    def tone(self) -> str:
        """`bad` where a limit is broken, `weak` where limits hold that promise little, else `good`."""
        return "bad" if self.failed or self.heading == REFUSED else "weak" if self.weak else "good"

    @property
    def sign(self) -> str:
        """The tone without colour."""
        return {"good": "✔", "weak": "▲", "bad": "✖"}[self.tone]


REFUSED = "Do not release"
WEAK = "Meets the limits that were set, and they are weak"
NEARLY_CERTAIN = Fraction("0.95")


def in_words(material: Material, sections: Sequence[Section] = ()) -> Words:
    """The verdict of a release for somebody who reads nothing else."""
    errors = [f"{error['message']}. {error['hint']}".strip() for error in material.run.get("errors", [])]
    better = best(material)
    fix = ""
    if not material.safe:
        fix = (
            f"publish {better}; every requirement then holds."
            if better
            else (f"run privacy-sql search --select {material.name}, then make the report again.")
        )
    groups = material.part("groups")
    parts = [
        people(material.run["rows_in"]) if material.run.get("rows_in") and material.run["identified"]
        else number_of(material.run["rows_in"], "row", "rows") if material.run.get("rows_in") else "",
        number_of(groups["n_groups"], "group", "groups") if groups else "",
        f"sensitive: {material.sensitive}" if material.run.get("sensitive") else "",
        f"measured {moment(material.run['made'])}" if material.run.get("made") else "",
    ]  # fmt: skip
    weak = list(_weak(material)) if material.safe else []
    heading = REFUSED if not material.safe else WEAK if weak else "Safe against the adversaries named here"
    return Words(
        heading=heading,
        facts=" · ".join(part for part in parts if part),
        sentence=_sentence(material),
        failed=[_told(verdict) for verdict in material.verdicts if not verdict["safe"]],
        fix=fix,
        fix_title="What would make it safe:" if better else "To find what would make it safe:",
        errors=errors,
        warnings=material.run.get("warnings", []),
        baseline=_baseline(material),
        weak=weak,
        not_asked=[(section.title, section.missing) for section in sections if section.missing],
    )


def _weak(material: Material) -> Iterator[str]:
    """Why limits that hold promise little: what anybody can guess who knows no fact more."""
    found, declared = material.run.get("baseline"), material.run.get("insensitive") or {}
    reader: Record = found["as_published"] if found else {"worst_guess": None}
    if reader["worst_guess"] is not None and Fraction(reader["worst_guess"]) > NEARLY_CERTAIN:
        sure = reader["people_above"]["0.95"]
        told = f"more than 95 % sure of {people(sure)}" if isinstance(sure, int) else "more than 95 % sure"
        yield f"Anybody who knows who is in which group is {told}, with no fact more."
    if found and "all" in found["known"] and found["known"]["all"]["alone"]:
        also = ", ".join(declared.get("columns", ())) or "the columns published as they are"
        alone = found["known"]["all"]["alone"]
        finds = people(alone) if isinstance(alone, int) else "some people"
        yield f"Whoever also knows {also} finds {finds} alone in the published table."
    asked = [
        registry.get("criteria", verdict["criterion"]) for verdict in material.verdicts if _is_known(verdict)
    ]
    if material.run.get("sensitive") and asked and not any(kind.reads_sensitive for kind in asked):
        yield f"Nothing was required of {material.sensitive}: a group may hold one value only."


def _is_known(verdict: Record) -> bool:
    return verdict["criterion"] in registry.available("criteria")


def _sentence(material: Material) -> str:
    verdicts = material.verdicts
    if not verdicts:
        return "Nothing was published, because no verdict was reached."
    failed = [verdict for verdict in verdicts if not verdict["safe"]]
    if failed:
        held = len(verdicts) - len(failed)
        many = number_of(len(verdicts), "requirement", "requirements")
        return f"Kept: {held} of {many}. Nothing was published."
    if not material.safe:
        return "Every requirement holds, and columns that are published as they are single people out."
    closest = min(verdicts, key=slack)
    words = {1: "The requirement holds", 2: "Both requirements hold"}
    every = words.get(len(verdicts), f"All {len(verdicts)} requirements hold")
    more = "Somebody who knows more than assumed here may still learn more."
    return f"{every}. Closest to its limit: {_told(closest)} {more}"


def _baseline(material: Material) -> list[str]:
    """How sure anybody is who guesses from what is published, and who also knows the insensitive columns."""
    found, declared = material.run.get("baseline"), material.run.get("insensitive") or {}
    if not found:
        return []
    lines = [f"Anybody who reads the release {_guesses(found['as_published'], material.sensitive)}"]
    if "all" in found["known"]:
        also = f"Somebody who also knows {', '.join(declared.get('columns', ()))}"
        lines.append(f"{also} {_guesses(found['known']['all'], material.sensitive)}")
    if declared.get("acknowledge"):
        lines.append(f"Published all the same, because: {declared['acknowledge']}")
    return lines


def _guesses(reader: Record, sensitive: str) -> str:
    alone = f"finds {people(reader['alone'])} alone"
    if reader["worst_guess"] is None:
        return f"{alone}."
    worst, right = (percent(float(Fraction(reader[name]))) for name in ("worst_guess", "right_in_all"))
    above = reader["people_above"]
    better = ", ".join(f"{people(n)} better than {percent(float(sure))}" for sure, n in above.items())
    return (
        f"{alone}, guesses {sensitive} right for {right} of all, is at most {worst} sure of one person, and"
        f" certain of {people(reader['certain'])}; {better}."
    )


def _told(verdict: Record) -> str:
    question = verdict["question"] or "Does the method keep its promise?"
    allowed = f"must be {limit(verdict)}" if verdict["limit"] is not None else "has no limit"
    return f"{question} {verdict['requirement']} is {value(verdict)} and {allowed}."
