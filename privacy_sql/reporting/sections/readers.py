"""Who might look for somebody, from a reader to somebody who knows much, and how sure each could become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privacy_sql.errors import listed
from privacy_sql.reporting.describing import UNASKED_FACTS
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import count, number_of, people, percent

TITLE = "Who could look for somebody, and how sure could they become?"
WHY = "Nobody is in a group of people here, so there is no one to guess."
ABOUT_FACTS = ("ck_safety", "privacy_skyline")
MOST_NAMED = 7  # columns
MOST_FIGURES = 60


@dataclass(frozen=True)
class Rung:
    """One adversary: what they know, how sure they are of the person who is easiest to guess, and of whom."""

    who: str
    tag: str  # whether a limit was set for them
    knows: str
    share: float | None
    shown: str
    line: str

    @property
    def tone(self) -> str:
        return "none" if self.share is None else "bad" if self.share >= 1 else "plain"


def section(material: Material) -> Section:
    rungs = list(_rungs(material))
    if not rungs:
        return Section("readers", TITLE, "Who might look", missing=WHY)
    return Section("readers", TITLE, "Who might look", {"rungs": rungs, "story": _story(material)})


def _rungs(material: Material) -> Iterator[Rung]:
    found = material.run.get("baseline")
    if not found:
        return
    crowds = material.part("crowds") or {}
    most = crowds.get("reader")
    if most:
        share = most[0] / most[1]
        yield Rung("A reader", "for comparison", "knows nobody in the file", share, percent(share),
                   f"guesses the most common {material.guessed}")  # fmt: skip
    required = [verdict["criterion"] for verdict in material.verdicts]
    plainly = any(name not in ABOUT_FACTS for name in required) and not few_columns(material)
    yield _guess("A neighbour", _tag(plainly), f"knows {keys(material)}", found["as_published"])
    yield from _informed(material, any(name in ABOUT_FACTS for name in required))
    declared = material.run.get("insensitive") or {}
    if "all" in found["known"]:
        also = " and ".join(declared.get("columns", ())) or "the columns published as they are"
        knows = f"a neighbour who also knows {also}"
        yield _guess("A colleague", _tag(bool(declared.get("known"))), knows, found["known"]["all"])


def _tag(required: bool) -> str:
    return "required" if required else "not required"


def _guess(who: str, tag: str, knows: str, reader: Record) -> Rung:
    if reader["worst_guess"] is None:
        return Rung(who, tag, knows, None, "–", f"finds {people(reader['alone'])} alone")
    share = float(Fraction(reader["worst_guess"]))
    sure = reader["certain"]
    # how many is not told where few are
    some = "some people" if sure is None else people(sure) if sure else "nobody"
    line = f"certain about {some}"
    return Rung(who, tag, knows, share, percent(share), line)


def _informed(material: Material, required: bool) -> Iterator[Rung]:
    """Somebody who also knows facts about others, and how many of them are enough for anybody."""
    curves = material.part("curves")
    if not curves:
        return
    implied: Sequence[float] = curves["implications"]
    asked = [int(v["params"].get("k") or 0) for v in material.verdicts if v["criterion"] == "ck_safety"]
    k = min(max(asked, default=UNASKED_FACTS), len(implied) - 1)
    certain = next((n for n, share in enumerate(implied) if share >= 1), None)
    line = (
        f"not certain with {len(implied) - 1} facts" if certain is None
        else f"certain only with {number_of(certain, 'fact', 'facts')}" if certain > k
        else "certain"
    )  # fmt: skip
    facts = "fact" if k == 1 else f"{k} facts"
    if k:
        yield Rung("A well-informed neighbour", _tag(required), f"also knows the worst {facts} about others",
                   implied[k], percent(implied[k]), line)  # fmt: skip
    known = (material.run.get("baseline") or {"known": {}})["known"]
    if "all" not in known and certain is not None and certain > k:
        yield Rung("An insider", "not required", f"also knows the worst {certain} facts about others",
                   1.0, "100 %", "every file breaks at some number of facts")  # fmt: skip


def few_columns(material: Material) -> tuple[str, str] | None:
    """Whom the requirements are about and whom not, where all of them are about some of the columns only."""
    verdicts, roles = material.verdicts, material.run.get("roles", {})
    if not verdicts or any(verdict["criterion"] != "known_columns" for verdict in verdicts):
        return None
    n_columns = sum(role == "quasi-identifier" for role in roles.values())
    most = [int(verdict["params"].get("m") or 0) for verdict in verdicts]
    if not all(most):  # sets that were named
        return "somebody who knows the named columns", "somebody who knows other columns"
    if max(most) >= n_columns:
        return None
    columns = number_of(max(most), "quasi-identifier", "quasi-identifiers")
    return f"somebody who knows any {columns}", f"somebody who knows {max(most) + 1}"


def keys(material: Material) -> str:
    """What somebody knows who finds a group, in words."""
    return listed(_known(material)) or "who is in which group"


def _known(material: Material) -> list[str]:
    """The columns by which somebody finds a group, by name where they are few."""
    columns = material.part("columns") or []
    free = material.as_they_are  # those are named apart, though they count as quasi-identifiers if known
    found = [
        each["name"]
        for each in columns
        if each["role"] == "quasi-identifier" and each["shown"] and each["name"] not in free
    ]
    if not found:
        return []
    named = found if len(found) <= MOST_NAMED else [number_of(len(found), "column", "columns")]
    return [*named, *([material.others] if material.others else [])]


def _story(material: Material) -> dict[str, Any] | None:
    """The person who is easiest to guess, of the strongest of the readers; nobody is named."""
    crowds = material.part("crowds")
    found = (crowds or {}).get("known") or (crowds or {}).get("as_published")
    if not material.internal or not found or not found.get("easiest"):
        return None
    n, top, alike = found["easiest"]
    sensitive = material.sensitive
    also = (material.run.get("insensitive") or {}).get("columns", ()) if crowds["known"] else ()
    by = listed([*_known(material), *also]) or "their group"
    looks = (
        f"{people(n)} in the file agree in {by}"
        if n > 1
        else f"Take one person. No other row agrees with theirs in {by}"
    )
    has = (
        f"Anybody who knows that can read the {sensitive} in the row." if n == 1
        else f"All of them have the same {sensitive}, so nobody has to guess." if top == n
        else f"{count(top)} of them {'has' if top == 1 else 'have'} the same {sensitive}. A neighbour who"
        f" guesses it for one of them is right {percent(top / n)} of the time."
    )  # fmt: skip
    many = f"There are {count(alike)} such groups." if alike > 1 else ""
    if n == 1 and alike > 1:
        many = f"This is so for {people(alike)}."
    figures = min(n, MOST_FIGURES)
    marked = max(1, round(figures * top / n)) if top < n else figures
    return {
        "words": f"{looks}. {has} {many}".strip(),
        "figures": figures,
        "marked": marked,
        "each": "" if n == figures else f"{count(figures)} figures stand for {people(n)}. ",
        "sensitive": sensitive,
        "bad": top == n,
    }
