"""INTERNAL: the worst facts, with names from the source, so that `facts` finds the same probability.

martin2007, Theorem 9: implications from what others may have to what one person has; chen2008, Sec. 8.3:
"the five individuals". The person has that value, so every fact is true. Each result is computed again and
returned only if it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render
from privacy_sql.studies import facts as written
from privacy_sql.studies.disclosure_risk import label, risk_of_groups
from privacy_sql.verdict import Verdict, Witness

NOBODY = -1  # a code that no value has
SEVERAL = (
    "where people may have several values, the worst case counts what is known about them and names nobody;"
    " `facts` answers for lines that you write"
)
TOO_FEW = "too few people of a group have an identifier of their own"


@dataclass(frozen=True)
class Replay:
    """The person who can be guessed, the value, and the facts as `facts` reads them."""

    person: str = field(repr=False)
    value: str = field(repr=False)
    lines: Sequence[str] = field(repr=False)


def people_of(grouping: Grouping, group: int, most: int, code: int = NOBODY) -> list[tuple[str, bool]]:
    """Up to that many people of a group, and whether they have the value; those who have it come first."""
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
    """The worst facts of a verdict for a person for whom they are true; None without facts.

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
    by_facts = "places" in witness
    if not by_facts and "amounts" not in witness:
        return None  # it is not about facts
    if not grouping.base.table.identifier or grouping.base.sides:
        return None
    if grouping.base.table.values_per_person != "one":
        raise _refusal(
            SEVERAL
        )  # which values are ruled out is not kept, and somebody must lack them in truth
    target = witness.private["g"]
    code = witness.private.get("value_code")
    if code is None:
        code = _ranked(_counts(grouping, target))[witness["guess"] - 1]
    ((person, holds), *_) = people_of(grouping, target, 1, code) or [("", False)]
    if not holds:
        raise _refusal("nobody in the group has that value in the source any more")
    texts: dict[int, str] = {}

    def named(value: int) -> str:
        if value not in texts:
            if (text := label(grouping, value)) is None:
                raise _refusal("a fact would have to name a missing value")
            texts[value] = str(text)
        return _quoted(texts[value])

    guess = f"{_quoted(person)} is {named(code)}"
    told = by_implications if by_facts else by_amounts
    lines = list(told(grouping, witness, person, code, named))
    again = risk_of_groups(grouping, lines, guess)
    if again.value != verdict.value:
        raise _refusal("the facts about these people give a different probability")
    return Replay(person, texts[code], [*lines, f"{written.GUESS} {guess}"])


def by_implications(
    grouping: Grouping, witness: Witness, person: str, code: int, named: Callable[[int], str]
) -> Iterator[str]:
    """What others may have implies the value; the person's most common other values are ruled out."""
    others = iter(witness.private.get("others", ()))
    for place in witness["places"]:
        group = witness.private["g"] if place["target"] else next(others)
        claims, aimed = place["claims"], place["target"]
        ranked = _ranked(_counts(grouping, group), code)
        found = people_of(grouping, group, len(claims), code if aimed else NOBODY)
        if len(found) < len(claims):
            raise _refusal(TOO_FEW)
        for number, ((name, _), claimed) in enumerate(zip(found, claims, strict=True)):
            if aimed and not number:
                beside = [value for value in ranked if value != code][: claimed - 1]
                yield from (f"{_quoted(name)} not {named(value)}" for value in beside)
                continue
            for value in ranked[:claimed]:
                yield f"{_quoted(name)} is {named(value)} -> {_quoted(person)} is {named(code)}"


def by_amounts(
    grouping: Grouping, witness: Witness, person: str, code: int, named: Callable[[int], str]
) -> Iterator[str]:
    """chen2008, Sec. 8.3: values the person has not, values of others, and a family that shares the value.

    Others are people with none of the values ruled out, whom knowing would say nothing about the person.
    """
    target = witness.private["g"]
    second = next(iter(witness.private["others"]), target)
    amounts = witness["amounts"]
    out = [value for value in _ranked(_counts(grouping, target)) if value != code][: amounts["ruled_out"]]
    yield from (f"{_quoted(person)} not {named(value)}" for value in out)
    taken = {person}
    if amounts["known"]:
        group = target if witness["known_in"] == witness["group"] else second
        without = {code, *(out if group == target else ())}
        for value in _ranked(_counts(grouping, group)):
            if value not in without:
                for name, holds in people_of(grouping, group, amounts["known"], value):
                    if holds and len(taken) <= amounts["known"]:
                        taken.add(name)
                        yield f"{_quoted(name)} is {named(value)}"
    if amounts["family"]:
        group = target if witness["family_in"] == witness["group"] else second
        most = amounts["family"] + len(taken)
        family = [name for name, _ in people_of(grouping, group, most) if name not in taken]
        taken |= {*family[: amounts["family"]]}
        for name in family[: amounts["family"]]:
            yield f"{_quoted(name)} is {named(code)} -> {_quoted(person)} is {named(code)}"
    if len(taken) != 1 + amounts["known"] + amounts["family"]:
        raise _refusal(TOO_FEW)


def _counts(grouping: Grouping, group: int) -> Mapping[int, int]:
    wanted = {"condition": Sql(f"g = {int(group)}"), "columns": names(["s", "n_rows"])}
    query = render("counted/where.sql", source=grouping.histogram, **wanted)
    return {row["s"]: row["n_rows"] for row in grouping.base.engine.fetch(query)}


def _ranked(held: Mapping[int, int], first: int = NOBODY) -> list[int]:
    """The values of a group, the most common first; `first` comes before values as common as itself."""
    return sorted(held, key=lambda value: (-held[value], value != first, value))


def _quoted(name: str) -> str:
    """
    >>> _quoted('Tom "T" is')
    '"Tom ""T"" is"'
    """
    if any(sign in name for sign in "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        raise _refusal("a name or a value contains a line break")
    return '"{}"'.format(name.replace('"', '""'))


def _refusal(why: str) -> UsageError:
    return UsageError("no_replay", f"the worst facts cannot be written down: {why}", where="facts")
