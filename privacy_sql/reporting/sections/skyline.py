"""The knowledge skyline: three kinds of knowledge, each up to an amount (chen2008, Sec. 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import number_of, people

# what is shown; the records go one step further, so that the edge of the picture can be told
RULED_OUT, KNOWN, FAMILY = 6, 13, 7
CERTAIN = 10_000
DEFAULT = 90


def section(material: Material) -> Section:
    title, short = "Three kinds of knowledge", "Skyline"
    found = material.part("skyline")
    if not found or not found["values"]:
        why = material.why_not("skyline", "Run privacy-sql run, then make the report again.")
        return Section("skyline", title, short, missing=why)
    values, limit = found["values"], _limit(material)
    worst = max(range(len(values)), key=lambda i: values[i]["breach"][0][0][0])
    required = [  # points that every value has to keep
        [int(n) for n in point[:3]]
        for verdict in material.verdicts
        if verdict["criterion"] == "privacy_skyline"
        for point in verdict["params"].get("points") or []
    ]
    data = {
        "values": [{"label": v["label"], "breach": v["breach"]} for v in values],
        "limit": limit,
        "value": worst,
        "required": required,
        "shown": [RULED_OUT, KNOWN, FAMILY],
    }
    content = {
        "values": [
            f"{v['label']} of {found['n_values']}"
            + ("" if v["people"] is None else f" ({people(v['people'])})")
            for v in values
        ],
        "left_out": found["n_values"] - len(values),
        "value": worst,
        "limit": limit,
        "panels": [panel(values[worst]["breach"], step, limit, required) for step in range(RULED_OUT)],
        "summary": summary(values[worst]["label"], values[worst]["breach"], limit),
        "worst": f"{values[worst]['label']} of {found['n_values']}",
        "sensitive": material.sensitive,
        "required": bool(required),
        "asked": any(v["criterion"] in ("privacy_skyline", "ck_safety") for v in material.verdicts),
    }
    return Section("skyline", title, short, content, data=data)


def panel(breach: list[list[list[int]]], ruled_out: int, limit: int, required: list[list[int]]) -> Record:
    """One small picture: a row per family, the largest first, and a cell per number of people known."""
    corners = set(edge(breach, limit))

    def cell(k: int, m: int) -> dict[str, Any]:
        return {
            "percent": breach[ruled_out][k][m] * 100 // CERTAIN,
            "safe": breach[ruled_out][k][m] < 100 * limit,
            "edge": (ruled_out, k, m) in corners,
            "required": [ruled_out, k, m] in required,
        }

    return {
        "ruled_out": ruled_out,
        "rows": [{"family": m, "cells": [cell(k, m) for k in range(KNOWN)]} for m in reversed(range(FAMILY))],
    }


def edge(breach: list[list[list[int]]], limit: int) -> Iterator[tuple[int, int, int]]:
    """The skyline: safe amounts that stay safe with no more of any kind."""
    stop = 100 * limit
    for l in range(RULED_OUT):  # noqa: E741
        for k in range(KNOWN):
            for m in range(FAMILY):
                more = (breach[l + 1][k][m], breach[l][k + 1][m], breach[l][k][m + 1])
                if breach[l][k][m] < stop and min(more) >= stop:
                    yield l, k, m


def summary(label: str, breach: list[list[list[int]]], limit: int) -> str:
    """The same in a sentence."""
    if breach[0][0][0] >= 100 * limit:
        return f"{label}: at {limit} % it is not safe even when nothing more is known."
    stop = 100 * limit

    def alone(kind: int, end: int) -> int:
        """The most of one kind of knowledge that is not enough, when there is none of the others."""
        for amount in range(1, end + 1):
            l, k, m = (amount if kind == place else 0 for place in range(3))  # noqa: E741
            if breach[l][k][m] >= stop:
                return amount - 1
        return end

    ruled_out, known, family = map(alone, range(3), (RULED_OUT, KNOWN, FAMILY))
    return (
        f"{label} stays below {limit} % for somebody who rules out"
        f" {number_of(ruled_out, 'other value', 'other values')}, or who knows"
        f" {number_of(known, 'other person', 'other people')}, or who knows"
        f" {number_of(family, 'family member', 'family members')}, each by itself."
    )


def _limit(material: Material) -> int:
    """The strictest limit required of a skyline, else of facts, in percent; else a usual one."""
    for name, limits in (("privacy_skyline", _of_points), ("ck_safety", _of_facts)):
        found = [
            limit
            for verdict in material.verdicts
            if verdict["criterion"] == name
            for limit in limits(verdict)
        ]
        if found:
            return max(1, int(100 * min(found)))
    return DEFAULT


def _of_points(verdict: Record) -> list[Fraction]:
    """The limits of every point of a skyline, also of those that single values have."""
    own = (verdict["params"].get("per_value") or {}).values()
    points = [*(verdict["params"].get("points") or []), *(point for points in own for point in points)]
    return [Fraction(str(point[3])) for point in points] or _of_facts(verdict)


def _of_facts(verdict: Record) -> list[Fraction]:
    """The limit of all values, and those that single values have."""
    own = [Fraction(str(limit["c"])) for limit in (verdict["params"].get("per_value") or {}).values()]
    return [*own, *([Fraction(verdict["limit"])] if verdict["limit"] is not None else [])]
