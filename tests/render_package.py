"""Render every macro and test of the dbt package, and say what each gives.

As a program it renders by the minijinja that Python finds, in a process of its own for a version that lies
beside the installed one, and writes {question: text or refusal} as JSON.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML

from tests import guard_cases, package_macros
from tests.package_macros import Macros, Refused, Relation
from tests.seeds import START

PEOPLE = Relation('"people"', ("Age", "Zip code", "illness"))
ODD = Relation('"odd"', ("g", "zero", "nan", "ill"))
ODDLY = (guard_cases.ODD_FAILING, guard_cases.ODD_PASSING)
Question = Callable[[Macros], str]

HIERARCHIES: Mapping[str, Any] = {
    "whole bands": {"intervals": [5, 10, "20"], "origin": 3},
    "bands for fractions": {"intervals": ["0.50", 1, "1e1"]},
    "masked": {"mask": [4, 2]},
    "masked to nothing": {"mask": [2, 0]},
    "days": {"dates": ["day", "month", "quarter", "year", "five_years", "decade"]},
    "cut": {"breaks": [["0.30", "+2.50", 1e1], ["2.5"]]},
    "tree": {"tree": {"a": ["A", "x"], "b": ["A", "x"], "c": ["C", "it's"]}},
    "tree of one": {"tree": {"a": ["A", "x"], "b": ["B", "x"]}},
    "kept": "keep_or_drop",
    "kept as a mapping": {"keep_or_drop": True},
}
ODD_NUMBERS = [
    0,
    1,
    2,
    5,
    -1,
    True,
    None,
    "1",
    "x",
    "",
    0.3,
    "0.30",
    1.5,
    math.nan,
    math.inf,
    60,
    [1],
    {"k": 1},
]


def tests_of(listed: Mapping[str, Any]) -> Iterator[tuple[str, Question]]:
    """The tests that dbt is asked, as calls."""
    for name, words in listed.items():
        if name == "misspelt parameter":
            continue  # an engine's own error, in its own words
        text = (words if isinstance(words, str) else words[0]).partition("\n")[0]
        ((kind, arguments),) = YAML(typ="safe", pure=True).load(text).items()
        if "of" in arguments:
            arguments = {**arguments, "of": ODD if "odd" in text else PEOPLE}
        yield name, _test(kind, arguments, ODD if listed in ODDLY else PEOPLE)


def _test(kind: str, arguments: Mapping[str, Any], model: Relation = PEOPLE) -> Question:
    return lambda macros: getattr(macros, f"test_{kind}")(model, **arguments)


def _generalised(quasi: Mapping[str, Any], **more: Any) -> Question:
    return lambda macros: macros.generalise(PEOPLE, quasi, **more)


def questions() -> dict[str, Question]:
    """Every macro and test, with what it takes and what it refuses."""
    asked: dict[str, Question] = {}
    for listed in (
        "FAILING",
        "PASSING",
        "COVERING",
        "NOT_COVERING",
        "ODD_FAILING",
        "ODD_PASSING",
        "REFUSED",
        "MISSPELT",
    ):
        asked |= {f"{listed} {name}": ask for name, ask in tests_of(getattr(guard_cases, listed))}
    for name, hierarchy in HIERARCHIES.items():
        for level in range(-1, 7):
            asked[f"{name}, level {level}"] = _generalised({"Age": hierarchy}, levels={"Age": level})
    for number in ODD_NUMBERS:
        asked |= {
            f"k {number!r}": _test("k_anonymous", {"quasi": ["Age"], "k": number}),
            f"l {number!r}": _test("l_diverse", {**WHO, "l": number}),
            f"c of recursive {number!r}": _test(
                "l_diverse", {**WHO, "l": 2, "kind": "recursive", "c": number}
            ),
            f"t {number!r}": _test("t_close", {**WHO, "t": number}),
            f"width {number!r} of near values": _test("near_safe", {**WHO, "width": number, "share": 0.5}),
            f"share {number!r}": _test("near_safe", {**WHO, "width": 1, "share": number}),
            f"facts {number!r}": _test("ck_safe", {**WHO, "c": 0.5, "k": number}),
            f"c {number!r}": _test("ck_safe", {**WHO, "c": number}),
            f"point {number!r}": _test("skyline_safe", {**WHO, "points": [[0, 0, 0, number]]}),
            f"family {number!r}": _test("skyline_safe", {**WHO, "points": [[0, 0, number, 0.5]]}),
            f"width {number!r}": _generalised({"Age": {"intervals": [number]}}),
            f"origin {number!r}": _generalised({"Age": {"intervals": [5], "origin": number}}),
            f"cut {number!r}": _generalised({"Age": {"breaks": [[number]]}}),
            f"kept {number!r}": _generalised({"Age": {"mask": [number]}}),
            f"unit {number!r}": _generalised({"Age": {"dates": [number]}}),
            f"hierarchy {number!r}": _generalised({"Age": number}),
            f"number {number!r}": lambda macros, number=number: macros.number_text(number),
        }
        for name, own in {
            "k_anonymous": {"k": number},
            "l_diverse": {"l": number},
            "t_close": {"t": number},
            "near_safe": {"width": number, "share": 0.5},
            "skyline_safe": {"points": number},
        }.items():
            asked[f"left out {name} {number!r}"] = _generalised(
                {"Age": "keep_or_drop"}, sensitive="illness", leave_out=[[name, own]]
            )
    for kind in ("distinct", "probabilistic", "entropy", "recursive", "entropi"):
        own = {"l": 2, "kind": kind, **({"c": 2} if kind == "recursive" else {})}
        asked[f"left out {kind}"] = _generalised(
            {"Age": {"intervals": [10]}},
            levels={"Age": 1},
            sensitive="illness",
            leave_out=[["l_diverse", own]],
        )
    asked["left out with a parameter that is none"] = _generalised(
        {"Age": "keep_or_drop"}, leave_out=[["k_anonymous", {"k": 2, "kk": 3}]]
    )
    asked["where"] = _generalised({"Age": "keep_or_drop"}, where='"Age" > 3', insensitive=["illness"])
    asked["risk"] = lambda macros: macros.group_risk(PEOPLE, ["Age", "Zip code"], "illness")
    for known in (["Zip code"], ["Agee"], "Zip code", ["Age"], 7):
        asked[f"risk known {known}"] = lambda macros, known=known: macros.group_risk(
            PEOPLE, ["Age"], "illness", known=known
        )
    for name in ("Agee", "zipcode", "", "ilness", "q", "ILL"):
        asked[f"nearest {name}"] = lambda macros, name=name: macros.nearest(name, list(PEOPLE.columns))
    draw = random.Random(START + 22)
    for _ in range(60):
        whole = draw.randrange(10 ** draw.randrange(1, 6))
        number = f"{draw.choice(['', '+', '-'])}{whole:0{draw.randrange(1, 6)}}"
        number += draw.choice(["", f".{draw.randrange(1000):03}", f"e{draw.randrange(-3, 4)}", ".5e-1"])
        asked[f"number {number}"] = lambda macros, number=number: macros.number_text(number)
    return asked


WHO: Mapping[str, Any] = {"sensitive": "illness", "quasi": ["Age", "Zip code"]}


def answers(macros: Macros) -> dict[str, str]:
    """What each question gives, blanks aside."""
    found = {}
    for name, ask in questions().items():
        try:
            found[name] = " ".join(ask(macros).split())
        except Refused as refused:
            found[name] = f"refused: {refused}"
    return found


if __name__ == "__main__":
    import minijinja

    sys.stdout.write(json.dumps(answers(Macros(package_macros.minijinja(minijinja)))))
