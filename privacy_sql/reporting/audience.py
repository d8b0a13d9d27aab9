"""Who a report is for, and what a public one keeps to itself.

A public report names no group's worst case and no count of people below k (5 where no k is required). A
count that could be told from two others that are shown is hidden with them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

from privacy_sql.errors import NotSafe
from privacy_sql.records import Record
from privacy_sql.reporting.words import Below, BelowShare

Audience = Literal["internal", "public"]
LEAST = 5
PRIVATE = ("story", "witness", "notes")


def audience_of(run: Record, asked: str | None) -> Audience:
    """Internal for what is not safe or made with a seed, public for what is safe; refuses the opposite."""
    fit = bool(run["safe"]) and not run.get("rehearsal")
    if asked == "public" and not fit:
        why = "it was made with a seed" if run["safe"] else "it is not safe"
        hint = "Leave out --audience: the report is then internal."
        raise NotSafe("not_public", f"there is no public report of a release when {why}", hint=hint)
    return "internal" if asked == "internal" or not fit else "public"


def threshold(run: Record) -> int:
    """The smallest count of people a public report shows: the largest k that is required of groups."""
    required = [v["params"].get("k") for v in run.get("verdicts", []) if v["unit"] == "people"]
    return max([int(k) for k in required if str(k).isdigit()], default=LEAST)


def masked(found: Mapping[str, Any]) -> dict[str, Any]:
    """The records of a release as a public report may show them."""
    kept = copy.deepcopy(dict(found))
    k = threshold(kept["run"])
    shares = {v["requirement"] for v in kept["run"].get("verdicts", []) if v["unit"] != "people"}
    _run(kept["run"], shares, k)
    for name, mask in (
        ("search", _search),
        ("attack_knowledge", _knowledge),
        ("attack_intersection", _shared),
    ):
        if name in kept:
            mask(kept[name], shares, k)
    return kept


def few(number: Any, k: int) -> Any:
    """A count of people, hidden where it is small.

    >>> few(3, 5), few(0, 5), few(7, 5)
    (5, 0, 7)
    >>> str(few(3, 5))
    'fewer than 5'
    """
    return Below(k) if isinstance(number, int) and 0 < number < k else number


def _run(run: Record, shares: set[str], k: int) -> None:
    told = [*run.get("verdicts", []), *([run["unasked"]] if _there(run, "unasked") else [])]
    for verdict in told:
        _verdict(verdict, k)
    run["warnings"] = []
    # the rounds of a local recoding tell how many people each saved
    run["choice"] = {key: value for key, value in (run.get("choice") or {}).items() if key != "rounds"}
    run["suppressed"] = few(run.get("suppressed"), k)
    if isinstance(run["suppressed"], Below):
        run["rows_in"] = None  # the difference to the rows published would tell
    if _there(run, "groups"):
        _groups(run["groups"], k)
    if _there(run, "skyline"):
        for value in run["skyline"]["values"]:
            value["people"] = few(value["people"], k)
    _lattice(run.get("lattice"), shares, k)


def _there(run: Record, part: str) -> bool:
    return bool(run.get(part)) and "missing" not in run[part]


def _verdict(verdict: Record, k: int) -> None:
    people = verdict.get("witness", {}).get("people")
    value = verdict["value_float"]
    if verdict["unit"] == "people":
        verdict["value_float"] = few(int(value), k) if value is not None else None
    elif people and value is not None and 0 < value * people < k:
        verdict["value_float"] = k / people  # a share of so few people, rounded up
    verdict.update(dict.fromkeys(("story",), ""), witness={}, notes=[], value=None)


def _groups(groups: Record, k: int) -> None:
    for name in ("smallest", "median", "largest"):
        groups[name] = few(groups[name], k)
    small = sum(n for size, n in groups["sizes"] if size < k)
    large = [[size, n] for size, n in groups["sizes"] if size >= k]
    groups["sizes"] = [*([[Below(k), small]] if small else []), *large]


def _search(search: Record, shares: set[str], k: int) -> None:
    for point in [*search["minimal"], *search["frontier"], *([search["best"]] if search["best"] else [])]:
        point["risks"] = _risks(point["risks"], shares, k)
        if "suppressed" in point:
            point["suppressed"] = few(point["suppressed"], k)
    _lattice(search.get("lattice"), shares, k)


def _lattice(lattice: Record | None, shares: set[str], k: int) -> None:
    for point in (lattice or {}).get("choices", []):
        point["risks"] = _risks(point["risks"], shares, k)


def _risks(risks: Mapping[str, Any], shares: set[str], k: int) -> dict[str, Any]:
    """The risks of choices that were not published; what counts people, or may, is left out below k."""
    return {name: v for name, v in risks.items() if name in shares or (v is not None and v >= k)}


def _knowledge(attack: Record, shares: set[str], k: int) -> None:
    for adversary in attack["adversaries"]:
        adversary["vulnerable"] = few(adversary["vulnerable"], k)
        adversary["undecided"] = few(adversary["undecided"], k)
        adversary["witness"] = {}


def _shared(attack: Record, shares: set[str], k: int) -> None:
    everybody = attack["P"]
    for name in ("P", "n_ok", "n_empty", "n_unlocated", "n_ambiguous", "VP"):
        attack[name] = few(attack[name], k)
    attack["smallest_group"] = [few(size, k) for size in attack["smallest_group"]]
    attack["PVP"] = {level: _share(share, everybody, k) for level, share in attack["PVP"].items()}
    for name in ("perfect", "perfect_new"):
        attack[name] = _share(attack[name], everybody, k)


def _share(percent: Any, everybody: int, k: int) -> Any:
    """A percentage of people; of few people only that it is below that of k."""
    few_people = everybody and 0 < Fraction(str(percent)) * everybody / 100 < k
    return BelowShare(100 * k / everybody) if few_people else percent
