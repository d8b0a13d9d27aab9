"""How sure somebody is who guesses, person by person: straight from the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

SURE = ("0.5", "0.8", "0.95")


def guess(people: Sequence[Mapping[str, Any]], known: Sequence[str], sensitive: str | None) -> dict[str, Any]:
    """The numbers of one reader, who knows some columns of everybody and guesses the commonest value."""
    groups: dict[Hashable, list[Any]] = {}
    for person in people:
        groups.setdefault(tuple(person[column] for column in known), []).append(person)
    sizes = [len(group) for group in groups.values()]
    found: dict[str, Any] = {
        "alone": sizes.count(1),
        "smallest": min(sizes),
        "groups": len(sizes),
    }
    if sensitive is None:
        unknown = dict.fromkeys(SURE)
        guessed = {"worst_guess": None, "people_above": unknown, "right_above": dict(unknown)}
        return {**found, **guessed, "certain": None, "right_in_all": None}
    chances = [
        (Fraction(max(Counter(p[sensitive] for p in group).values()), len(group)), len(group))
        for group in groups.values()
    ]
    return {
        **found,
        "worst_guess": str(max(chance for chance, _ in chances)),
        "people_above": {t: sum(n for chance, n in chances if chance > Fraction(t)) for t in SURE},
        "right_above": {t: sum(chance * n for chance, n in chances if chance > Fraction(t)) for t in SURE},
        "certain": sum(n for chance, n in chances if chance == 1),
        "right_in_all": str(sum(chance * n for chance, n in chances) / len(people)),
    }


def baseline(
    people: Sequence[Mapping[str, Any]], quasi: Sequence[str], free: Sequence[str], sensitive: str | None
) -> dict[str, Any]:
    """Every reader of a table: of the published groups, of all insensitive columns too, of one of them."""
    readers = {"all": list(free), **{column: [column] for column in free}} if free else {}
    return {
        "as_published": guess(people, quasi, sensitive),
        "known": {name: guess(people, [*quasi, *columns], sensitive) for name, columns in readers.items()},
    }
