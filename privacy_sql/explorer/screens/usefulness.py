"""Usefulness: every column before and after, counting queries of one's own, and every utility."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from privacy_sql.counted.base import Base
from privacy_sql.errors import UsageError
from privacy_sql.explorer.asking import flag, text
from privacy_sql.explorer.choices import LabelWords, utilities
from privacy_sql.explorer.distributions import distributions
from privacy_sql.explorer.screens import Decision, Json, Question, Screen
from privacy_sql.hierarchies.base import text_of
from privacy_sql.lattice.costs import Costs
from privacy_sql.parameters import number_in
from privacy_sql.query.template import Sql, names, render
from privacy_sql.utilities import Query


class Usefulness(Screen):
    """What a reader still has: distributions, answers to questions, and the loss by every measure."""

    name: ClassVar[str] = "usefulness"
    title: ClassVar[str] = "Usefulness"
    place: ClassVar[int] = 50

    def answer(self, decision: Decision, question: Question) -> Json:
        action = text(question, "action", "show")
        if action == "query":
            return _answered(decision, question)
        if action != "show":
            raise UsageError(
                "bad_question", f'there is no "{action}" on this screen', hint="Reload the page."
            )
        search = decision.counted.search
        shown = search.shown(decision.counted.choice(decision.levels))
        words = LabelWords(search.base, flag(question, "values"))
        return {
            "summary": decision.summary(),
            "people": search.base.n_people,
            "left_out": shown.n_suppressed,
            "columns": distributions(search.base, shown, words, decision.plan.table.quasi),
            "utilities": utilities(search, shown),
        }


# -- questions of one's own --------------------------------------------------------------------------


class Own:
    """One counting query: which values of which columns are counted, by their places."""

    name = "own"

    def __init__(self, wanted: Mapping[int, Collection[int]], values: Collection[int] | None) -> None:
        self.wanted, self.values = wanted, values

    def queries(self, domains: Sequence[int]) -> list[Query]:
        last = len(domains) - 1
        return [{**self.wanted, last: range(domains[last]) if self.values is None else self.values}]


def _answered(decision: Decision, question: Question) -> Json:
    """How many people fit, and how many a reader of the release would say there are."""
    search = decision.counted.search
    base = search.base
    if not base.table.sensitives:
        told = "counting queries need a sensitive column"
        raise UsageError("no_sensitive", told, hint="Name one under `sensitive`.")
    asked = question.get("conditions")
    if not isinstance(asked, Mapping) or not all(isinstance(said, str) for said in asked.values()):
        raise UsageError("bad_question", "a condition must be text for a column", hint="Reload the page.")
    wanted: dict[int, Collection[int]] = {}
    values: Collection[int] | None = None
    sensitive = base.table.sensitives[0]
    for column, said in asked.items():
        entries = [entry.strip() for entry in str(said).split(",") if entry.strip()]
        if not entries:
            continue
        if column == sensitive:
            values = _meant(_values(base, "s"), {}, entries, column)
        elif column in base.aliases:
            position = list(base.aliases).index(str(column))
            alias = base.aliases[str(column)]
            wanted[position] = _meant(
                _values(base, alias), _labels(base, alias, position), entries, str(column)
            )
        else:
            raise UsageError("unknown_column", "there is no such column")
    shown = search.valued(search.shown(decision.counted.choice(decision.levels)))
    # costs that were asked nothing yet: those of the search remember the queries of the search
    true, estimated = Costs(base).answers(Own(wanted, values), shown)
    actual, told_by_release = true.get(0, 0), estimated.get(0, 0.0)
    return {
        "true": round(actual),
        "published": told_by_release,
        "error": None if not actual else abs(told_by_release - actual) / actual,
        "left_out": shown.n_suppressed,
    }


def _values(base: Base, alias: str) -> list[tuple[int, str | None]]:
    """Code and text of every value of a column, in the order of their codes."""
    query = render("counted/listed.sql", relation=base.dictionaries[alias], columns=names(["code", "value"]))
    rows = base.engine.fetch(query)
    found = [(int(row["code"]), None if row["value"] is None else text_of(row["value"])) for row in rows]
    return sorted(found, key=lambda pair: pair[0])


def _labels(base: Base, alias: str, position: int) -> dict[str, set[int]]:
    """The places of the values under every label of a hierarchy."""
    height = base.columns[alias][1].height
    if not height:
        return {}
    places = {code: place for place, code in enumerate(base.labels[position].code.tolist())}
    columns: list[Sql] = names(["code", *(f"l{level}" for level in range(1, height + 1))])
    found: dict[str, set[int]] = {}
    for row in base.engine.fetch(render("counted/listed.sql", relation=base.levels[alias], columns=columns)):
        for level in range(1, height + 1):
            if row[f"l{level}"] is not None:
                found.setdefault(text_of(row[f"l{level}"]), set()).add(places[int(row["code"])])
    return found


def _meant(
    values: Sequence[tuple[int, str | None]],
    labels: Mapping[str, set[int]],
    entries: Sequence[str],
    column: str,
) -> set[int]:
    """The places of the values that a condition names: a value, a label, or numbers from one to another."""
    found: set[int] = set()
    for entry in entries:
        these = {place for place, (_, value) in enumerate(values) if value == entry} | labels.get(
            entry, set()
        )
        if not these and (ends := _range(entry)):
            low, high = ends
            numbers = [(place, number_in(value or "")) for place, (_, value) in enumerate(values)]
            these = {place for place, number in numbers if number is not None and low <= number <= high}
        if not these:
            told = f"{column} has no such value or label"
            raise UsageError(
                "unknown_value", told, hint="Write values or labels separated by commas, or 30-39."
            )
        found |= these
    return found


def _range(entry: str) -> tuple[Fraction, Fraction] | None:
    """The ends of numbers written as a range; None for what is none.

    >>> _range("30-39"), _range("-5 to 5"), _range("flu")
    ((Fraction(30, 1), Fraction(39, 1)), (Fraction(-5, 1), Fraction(5, 1)), None)
    """
    found = re.fullmatch(r"(-?[\d.]+)\s*(?:-|–|to)\s*(-?[\d.]+)", entry)
    ends = [number_in(end) for end in found.groups()] if found else []
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] is not None and ends[1] is not None else None
