"""INTERNAL: the worst facts about people of the source by their names, so that `facts` finds the same chance.

martin2007, Theorem 9: implications from what others may have to what one person has. The person has that
value, so every fact is true. Nothing is handed out that was not asked again and found to be exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render
from privacy_sql.studies import facts as written
from privacy_sql.studies.disclosure_risk import label, risk_of_groups
from privacy_sql.verdict import Verdict

NOBODY = -1  # a code that no value has


@dataclass(frozen=True)
class Replay:
    """Who can be guessed, which value, and the facts as `facts` reads them."""

    person: str = field(repr=False)
    value: str = field(repr=False)
    lines: Sequence[str] = field(repr=False)


def people_of(grouping: Grouping, group: int, most: int, code: int = NOBODY) -> list[tuple[str, bool]]:
    """Up to so many people of a group, and whether they have a value; those who have it come first."""
    base = grouping.base
    if not base.table.identifier:
        return []
    sensitive = base.table.sensitives[0] if len(base.table.sensitives) == 1 else None
    query = render(
        "studies/people_of_one_group.sql",
        source=base.source,
        identifier=base.table.identifier,
        columns=[
            (
                base.columns[alias][0] if alias in base.columns else str(base.table.group),
                alias,
                base.dictionaries[alias],
            )
            for alias in base.inside(base.people or base.relation)
        ],
        sensitive=sensitive,
        values=base.dictionaries["s"] if sensitive else None,
        code=code,
        members=grouping.members,
        group=group,
        most=most,
    )
    return [(str(row["name"]), bool(row["holds"])) for row in base.engine.fetch(query)]


def replay(grouping: Grouping, verdict: Verdict) -> Replay | None:
    """The worst facts of a verdict about somebody who makes them true; None where its worst case is no facts.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> from privacy_sql.studies import groups_of
    >>> rows = {"name": ["Ann", "Bob", "Cy"], "sex": ["F"] * 3, "ill": ["flu", "flu", "gout"]}
    >>> table = ps.Table(pd.DataFrame(rows), ["sex"], "ill", identifier="name")
    >>> with ps.connect() as engine:
    ...     (verdict,) = ps.check(engine, table, [ps.CKSafety(c="1/2", k=1)]).values()
    ...     found = replay(groups_of(engine, table), verdict)
    >>> found.person, found.value, found.lines
    ('Ann', 'flu', ['"Bob" is "flu" -> "Ann" is "flu"', 'guess: "Ann" is "flu"'])
    """
    witness = verdict.witness
    if "places" not in witness or not grouping.base.table.identifier or grouping.base.sides:
        return None
    others = iter(witness.private.get("others", ()))
    places = [
        (witness.private["g"] if place["target"] else next(others), place["claims"], place["target"])
        for place in witness["places"]
    ]
    counts: dict[int, dict[int, int]] = {}
    for group in dict.fromkeys(group for group, _, _ in places):
        wanted = {"condition": Sql(f"g = {int(group)}"), "columns": names(["s", "n_rows"])}
        query = render("counted/where.sql", source=grouping.histogram, **wanted)
        counts[group] = {row["s"]: row["n_rows"] for row in grouping.base.engine.fetch(query)}
    aim = counts[witness.private["g"]]
    code = witness.private.get("value_code")
    if code is None:
        code = _ranked(aim)[witness["guess"] - 1]
    ranked = {group: _ranked(held, code) for group, held in counts.items()}
    found = {
        group: people_of(grouping, group, len(claims), code if target else NOBODY)
        for group, claims, target in places
    }
    if any(len(found[group]) < len(claims) for group, claims, _ in places):
        raise _refusal("too few people of a group have an identifier of their own")
    person, holds = found[witness.private["g"]][0]
    if not holds:
        raise _refusal("nobody of the group has that value in the source as it is now")
    labels = {each: label(grouping, each) for held in counts.values() for each in held}
    if any(told is None for told in labels.values()):
        raise _refusal("a value in question is missing, and a fact has to name it")
    texts = {each: str(told) for each, told in labels.items()}
    guess = f"{_quoted(person)} is {_quoted(texts[code])}"

    def told() -> Iterator[str]:
        for group, claims, target in places:
            for number, ((name, _), claimed) in enumerate(zip(found[group], claims, strict=True)):
                if target and not number:
                    beside = [value for value in ranked[group] if value != code][: claimed - 1]
                    yield from (f"{_quoted(name)} not {_quoted(texts[value])}" for value in beside)
                    continue
                for value in ranked[group][:claimed]:
                    yield f"{_quoted(name)} is {_quoted(texts[value])} -> {guess}"

    lines = list(told())
    again = risk_of_groups(grouping, lines, guess)
    if again.value != verdict.value:
        raise _refusal("the facts about these people give another probability")
    return Replay(person, texts[code], [*lines, f"{written.GUESS} {guess}"])


def _ranked(held: Mapping[int, int], first: int = NOBODY) -> list[int]:
    """The values of a group, the commonest first; among equals `first`, so that nobody takes its rank."""
    return sorted(held, key=lambda value: (-held[value], value != first, value))


def _quoted(name: str) -> str:
    """
    >>> _quoted('Tom "T" is')
    '"Tom ""T"" is"'
    """
    if any(sign in name for sign in "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        raise _refusal("a name or a value has a line break")
    return '"{}"'.format(name.replace('"', '""'))


def _refusal(why: str) -> UsageError:
    return UsageError("no_replay", f"the worst facts cannot be written down: {why}", where="facts")
