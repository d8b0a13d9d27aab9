"""The worst knowledge of a privacy skyline in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from privacy_sql.display.rounding import how_sure
from privacy_sql.errors import people
from privacy_sql.kernels.skyline.breach_probability import Amounts, ValuesPerPerson, WorstTerm, chance
from privacy_sql.verdict import Number


def facts_of(
    worst: WorstTerm, least: Amounts, asked: Amounts, numbers: tuple[int, int], case: ValuesPerPerson
) -> dict[str, Any]:
    """Groups, sizes, counts and amounts; `numbers` are for the groups of the target and the family."""
    target, second = numbers
    known_in = second if worst.term == 2 else target
    facts: dict[str, Any] = {
        "values_per_person": case,
        "amounts": least._asdict(),
        "asked": asked._asdict(),
        "size": worst.target.people,
        "holders": worst.target.holders,
        "ruled_out": list(worst.target.others[: least.ruled_out]),
    }
    if least.known:
        facts["known_in"] = known_in
    if least.family:
        facts["family_in"] = second
    if second != target:
        facts |= {"second_size": worst.family.people, "second_holders": worst.family.holders}
    facts["knows"] = list(in_words(least, target, known_in, second, case))
    facts["certainty"] = list(certainty(worst, least, case))
    return facts


def certainty(worst: WorstTerm, least: Amounts, case: ValuesPerPerson) -> Iterable[float]:
    """How sure the adversary is before the first kind of knowledge and after each one, in that order."""
    known = Amounts(0, 0, 0)
    yield chance(worst, known, case)
    for kind, amount in least._asdict().items():
        if amount:
            known = known._replace(**{kind: amount})
            yield chance(worst, known, case)


def in_words(
    least: Amounts, target: int, known_in: int, family_in: int, case: ValuesPerPerson
) -> Iterable[str]:
    """What the worst adversary learns, one phrase for each kind of knowledge.

    >>> list(in_words(Amounts(0, 5, 0), 3, 3, 3, "one"))
    ['the values of 5 people of group 3, none of them the value in question']
    """
    person = f"person 1 of group {target}"
    if least.ruled_out:
        one = least.ruled_out == 1
        values = f"{'the' if one else f'the {least.ruled_out}'} most common other value{'' if one else 's'}"
        if case == "one" and one:
            yield f"that {person} does not have {values} of the group"
        elif case == "one":
            yield f"that {person} has none of {values} of the group"
        else:
            having = values if one else f"any of {values}"
            yield f"that {person}, having {having} of the group, also has the value in question"
    if least.known and case == "one":
        nor = " and none of those ruled out" if least.ruled_out and known_in == target else ""
        known = f"the values of {people(least.known)} of group {known_in}"
        yield f"{known}, none of them the value in question{nor}"
    elif least.known:
        lack = "does" if least.known == 1 else "do"
        yield f"that {people(least.known)} of group {known_in} {lack} not have the value in question"
    if least.family:
        others = "1 other person" if least.family == 1 else f"any of {least.family} others"
        yield f"that {person} has the value in question if {others} of group {family_in} has it"


def story(value: Number | None, facts: Mapping[str, Any], target: int) -> str:
    """One or two sentences for a person who decides."""
    crowd = f"{people(facts['size'])}, {facts['holders']} of them with the value in question"
    found = f"is {how_sure(value)} sure that person 1 of group {target} ({crowd}) has that value"
    if not facts["knows"]:
        return f"Somebody who knows only who is in which group {found}."
    others = facts["amounts"]["known"] + facts["amounts"]["family"]
    few = f" Learning about {people(others)} is enough." if others else ""
    # counts do not say which values of a multiset belong to one person, so some facts may be impossible
    true = (
        "The counts do not say whether all of these facts can be true together"
        if facts["values_per_person"] == "multiset"
        else "All of these facts can be true if person 1 has the value"
    )
    return f"Somebody who learns {'; '.join(facts['knows'])} {found}. {true}.{few}"
