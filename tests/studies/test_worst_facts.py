"""The worst facts by name are true of the people named, and give the probability of the verdict again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.studies import facts, groups_of, worst_facts
from tests import engines
from tests.seeds import seeds


def drawn(seed: int) -> list[tuple[str, str, str]]:
    """A few people with odd names, in two groups."""
    draw = random.Random(seed)
    sizes = [draw.randrange(2, 5) for _ in "ab"]
    names = iter(f'P{number} "is", not' for number in range(10))
    return [
        (next(names), group, draw.choice(["flu", "gout & flu", "it is", "0.5: x"]))
        for group, size in zip("ab", sizes, strict=True)
        for _ in range(size)
    ]


def by_counting(rows: list[tuple[str, str, str]], lines: list[str]) -> Fraction:
    """The chance of the guess among all ways to give the values of each group to its people."""
    said, guess = facts.without_guess(lines)
    assert guess is not None
    known, atom = facts.parse_facts(said), facts.parse_atom(guess)
    right = agree = 0
    people = [[row for row in rows if row[1] == group] for group in "ab"]
    for first in permutations([row[2] for row in people[0]]):
        for second in permutations([row[2] for row in people[1]]):
            world = dict(zip((row[0] for row in [*people[0], *people[1]]), [*first, *second], strict=True))
            clauses = (clause for fact in known for clause in fact.clauses)
            holds = all(
                any(world[each.person] == each.value for each in clause.then_any)
                or not all(world[each.person] == each.value for each in clause.if_all)
                for clause in clauses
            )
            agree += holds
            right += holds and world[atom.person] == atom.value
    return Fraction(right, agree)


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_facts_are_true_and_as_bad_as_the_verdict_says(seed: int, k: int) -> None:
    rows = drawn(seed)
    table = ps.Table(pd.DataFrame(rows, columns=["who", "sex", "ill"]), ["sex"], "ill", identifier="who")
    rare = min({row[2] for row in rows}, key=lambda value: (sum(row[2] == value for row in rows), value))
    asked = [
        ps.CKSafety(c="1/2", k=k),
        ps.CKSafety(c="1", k=0, per_value={rare: {"c": "1/100", "k": k}}),
    ]
    with engines.opened() as engine:
        grouping = groups_of(engine, table)
        for criterion, verdict in zip(asked, ps.check(engine, table, asked).values(), strict=True):
            found = worst_facts.replay(grouping, verdict)
            assert found is not None, criterion
            assert by_counting(rows, list(found.lines)) == verdict.value
            assert (found.person, found.value) in {(who, ill) for who, _, ill in rows}
            assert len(found.lines) == verdict.witness["facts"] + 1


@pytest.mark.widens(4)
@pytest.mark.parametrize("seed", seeds(8))
@pytest.mark.parametrize(
    "amounts", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0, 2, 1), (2, 1, 2)]
)
def test_the_knowledge_of_a_skyline_is_true_and_as_bad_as_the_verdict_says(
    seed: int, amounts: tuple[int, int, int]
) -> None:
    rows = drawn(seed)
    table = ps.Table(pd.DataFrame(rows, columns=["who", "sex", "ill"]), ["sex"], "ill", identifier="who")
    rare = min({row[2] for row in rows}, key=lambda value: (sum(row[2] == value for row in rows), value))
    points = [[*map(str, amounts), "1/2"]]
    own = ps.PrivacySkyline(points=[["0", "0", "0", "1"]], per_value={rare: [[*map(str, amounts), "1/100"]]})
    truth = {(who, ill) for who, _, ill in rows}
    with engines.opened() as engine:
        grouping = groups_of(engine, table)
        asked = [ps.PrivacySkyline(points=points), own]
        for criterion, verdict in zip(asked, ps.check(engine, table, asked).values(), strict=True):
            found = worst_facts.replay(grouping, verdict)
            assert found is not None, criterion
            assert by_counting(rows, list(found.lines)) == verdict.value
            assert (found.person, found.value) in truth
            assert len(found.lines) == sum(verdict.witness["amounts"].values()) + 1
            # every fact is true: of others what they have, of the person what they have not
            said, _ = facts.without_guess(found.lines)
            for clause in (clause for fact in facts.parse_facts(said) for clause in fact.clauses):
                assert any((one.person, one.value) in truth for one in clause.then_any) or not all(
                    (one.person, one.value) in truth for one in clause.if_all
                )


def test_a_name_with_a_line_break_is_refused_and_not_shown() -> None:
    rows = [("A\nB", "f", "flu"), ("A\nC", "f", "gout")]
    table = ps.Table(pd.DataFrame(rows, columns=["who", "sex", "ill"]), ["sex"], "ill", identifier="who")
    with engines.opened() as engine:
        (verdict,) = ps.check(engine, table, [ps.CKSafety(c="1/2", k=1)]).values()
        with pytest.raises(UsageError, match="line break") as refused:
            worst_facts.replay(groups_of(engine, table), verdict)
    assert "A\nB" not in str(refused.value)


def test_two_guesses_are_refused() -> None:
    with pytest.raises(UsageError, match="more than one guess"):
        facts.without_guess(["guess: Tom is AIDS", "Ed is Flu", " guess: Ed is Flu"])


KINDS = ("set", "multiset")


def printed(kind: str, rows: Sequence[tuple[str, str, str | None]]) -> list[dict[str, Counter[str]]]:
    """Every way to hand the lines of one group out that prints the same lines, by brute force.

    A line without a value is of a person who has none, so as many people as before hold nothing.
    """
    names = sorted({who for who, _, _ in rows})
    lines = [ill for _, _, ill in rows if ill is not None]
    nobody = len(names) - len({who for who, _, ill in rows if ill is not None})
    worlds = []
    for holders in product(names, repeat=len(lines)):
        world = {name: Counter[str]() for name in names}
        for name, ill in zip(holders, lines, strict=True):
            world[name][ill] += 1
        once = kind == "multiset" or all(n == 1 for held in world.values() for n in held.values())
        if once and sum(not held for held in world.values()) == nobody:
            worlds.append(world)
    return worlds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("without", [0, 1])
def test_facts_find_the_worst_case_of_people_with_several_values_when_somebody_writes_it(
    kind: str, without: int
) -> None:
    """Lines without a value count beside the facts; there is no file, as the worst case names nobody."""
    rows = [("A", "f", "flu"), ("B", "f", "gout"), ("C", "f", "mumps"), *[("D", "f", None)] * without]
    frame = pd.DataFrame(rows, columns=["who", "sex", "ill"])
    table = ps.Table(frame, ["sex"], "ill", identifier="who", values_per_person=kind)
    lines = [f'"A" is "{ill}" -> "A" is "flu"' for ill in ("gout", "mumps")]
    agree = [w for w in printed(kind, rows) if w["A"]["flu"] or not (w["A"]["gout"] or w["A"]["mumps"])]
    truth = Fraction(sum(bool(world["A"]["flu"]) for world in agree), len(agree))
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.PrivacySkyline(points=[[2, 0, 0, "1"]])], ps.Generalise())
        (verdict,) = release.verdicts.values()
        assert verdict.value == truth
        assert ps.disclosure_risk(engine, table, lines, '"A" is "flu"').value == truth
        with pytest.raises(UsageError, match="names nobody"):
            worst_facts.replay(release.groups, verdict)
