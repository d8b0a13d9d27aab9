"""The intersection attack spelt out person by person (Ganta et al. 2008, Algorithm 1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def attack(
    releases: list[dict[str, Any]], people: list[dict[str, Any]], levels: list[Fraction]
) -> dict[str, Any]:
    """Individuals and aggregate, named as in the shared vectors."""
    individuals = [_individual(person, releases) for person in people]
    return {"individuals": individuals, "aggregate": _aggregate(individuals, len(releases), levels)}


def candidate_groups(release: dict[str, Any], person: dict[str, Any]) -> list[dict[str, Any]]:
    """The groups of a release that may hold the person."""
    if release["locate"] == "centroid":
        return _nearest(release, person)
    fits = _in_region if release["locate"] == "region" else _listed
    return [group for group in release["groups"] if fits(group, person["qi"])]


def _nearest(release: dict[str, Any], person: dict[str, Any]) -> list[dict[str, Any]]:
    def distance(group: dict[str, Any]) -> Fraction:
        steps = [
            (Fraction(str(centre)) - Fraction(str(person["qi"][column])))
            / Fraction(str(release["scale"][column]))
            for column, centre in group["centroid"].items()
        ]
        return sum((step * step for step in steps), Fraction(0))

    least = min(distance(group) for group in release["groups"])
    return [group for group in release["groups"] if distance(group) == least]


def _listed(group: dict[str, Any], qi: dict[str, Any]) -> bool:
    return qi in group["qi"]


def _in_region(group: dict[str, Any], qi: dict[str, Any]) -> bool:
    return all(_covers(rule, qi[column]) for column, rule in group["region"].items())


def _covers(rule: dict[str, Any], value: Any) -> bool:
    (kind, bound), *others = rule.items()
    assert not others
    if kind == "prefix":
        return str(value).startswith(bound)
    if kind == "lt":
        return bool(value < bound)
    if kind == "ge":
        return bool(value >= bound)
    assert kind == "range"
    return bool(bound[0] <= value <= bound[1])


def values_of(release: dict[str, Any], groups: list[dict[str, Any]]) -> set[str]:
    """Sensitive values of some groups, in the names the releases share."""
    names = release.get("map", {})
    return {names.get(value, value) for group in groups for value in group["sensitive"]}


def _individual(person: dict[str, Any], releases: list[dict[str, Any]]) -> dict[str, Any]:
    candidates = [candidate_groups(release, person) for release in releases]
    sets = [values_of(release, groups) for release, groups in zip(releases, candidates, strict=True)]
    known = [values for values, groups in zip(sets, candidates, strict=True) if groups]
    left = set.intersection(*known) if known else None
    located = len(known) == len(releases)
    return {
        "id": person["id"],
        "candidates": [[group["id"] for group in groups] for groups in candidates],
        "EA": [len(values) if groups else None for values, groups in zip(sets, candidates, strict=True)],
        "set": None if left is None else sorted(left),
        "EA_post": None if left is None else len(left),
        "anon_drop": None if left is None else min(len(values) for values in known) - len(left),
        "confidence": Fraction(1, len(left)) if left else None,
        "status": ("ok" if left else "empty") if located else "unlocated",
        "ambiguous": any(len(groups) > 1 for groups in candidates),
    }


def _aggregate(individuals: list[dict[str, Any]], releases: int, levels: list[Fraction]) -> dict[str, Any]:
    def percent(people: list[dict[str, Any]]) -> Fraction:
        return Fraction(100 * len(people), len(individuals))

    def average(numbers: list[int]) -> Fraction | None:
        return Fraction(sum(numbers), len(numbers)) if numbers else None

    ok = [person for person in individuals if person["status"] == "ok"]
    perfect = [person for person in ok if person["EA_post"] == 1]
    return {
        "P": len(individuals),
        "n_ok": len(ok),
        "n_empty": sum(person["status"] == "empty" for person in individuals),
        "n_unlocated": sum(person["status"] == "unlocated" for person in individuals),
        "VP": sum(person["anon_drop"] > 0 for person in ok),
        "PVP": {
            level: percent([person for person in ok if person["confidence"] >= level]) for level in levels
        },
        "perfect": percent(perfect),
        "perfect_new": percent([person for person in perfect if min(person["EA"]) > 1]),
        "avg_EA": [average([person["EA"][j] for person in ok]) for j in range(releases)],
        "avg_EA_post": average([person["EA_post"] for person in ok]),
        "avg_drop": average([person["anon_drop"] for person in ok]),
    }
