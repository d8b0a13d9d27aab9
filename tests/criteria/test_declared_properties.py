"""What criteria declare about merging and suppression, tried on random tables by engine and by definition."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import make
from privacy_sql.judge import failing
from tests import parts
from tests.conftest import cases
from tests.criteria import proofs
from tests.criteria.random_tables import rows, verdict
from tests.oracles.verdicts import Known, keeps

few = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = ["9", "10", "-1", "2.5"]
DECLARES = {
    "sensitive_hierarchy": ps.Tree(
        {"9": ["odd", "*"], "10": ["even", "*"], "-1": ["odd", "*"], "2.5": ["none", "*"]}
    ),
    "distances": {
        "s": {one: {other: abs(Fraction(one) - Fraction(other)) for other in NUMBERS} for one in NUMBERS}
    },
}


def requirements(name: str) -> list[Any]:
    """The limits of a criterion's cases."""
    texts = [case.values[1] for case in cases("criteria") if case.values[0] == name]
    return [make(name, case["params"]) for case in texts]


def declared(word: str) -> list[str]:
    """The criteria that declare a property, of those that a table of one group column can be asked about."""
    kinds = {name: registry.get("criteria", name) for name in registry.available("criteria")}
    return [
        name
        for name, kind in kinds.items()
        if getattr(kind, word) and not kind.needs_population and not kind.needs_base
    ]


@pytest.mark.parametrize("name", declared("safe_under_merging"))
@few
@given(table=rows(), data=st.data())
def test_merging_two_groups_never_makes_a_safe_table_unsafe(
    engine: Any, name: str, table: Any, data: st.DataObject
) -> None:
    asked = [criterion for criterion in requirements(name) if criterion.safe_under_merging]
    criterion = data.draw(st.sampled_from(asked))
    groups = sorted({group for group, _ in table}, key=str)
    one, other = data.draw(st.sampled_from(groups)), data.draw(st.sampled_from(groups))
    merged = [(one if group == other else group, value) for group, value in table]
    before = verdict(engine, table, criterion, **DECLARES)
    after = verdict(engine, merged, criterion, **DECLARES)
    assert after.safe or not before.safe


@pytest.mark.parametrize("name", declared("safe_under_suppression"))
@few
@given(table=rows(), data=st.data())
def test_without_the_groups_that_fail_the_rest_is_safe(
    engine: Any, name: str, table: Any, data: st.DataObject
) -> None:
    criterion = data.draw(st.sampled_from(requirements(name)))
    frame = pd.DataFrame(table, columns=["g", "s"], dtype=object)
    base = count(engine, ps.Table(frame, ["g"], "s", **DECLARES))
    grouping = Grouping.by(base, base.own_keys())
    lost = failing(grouping, criterion)
    labels = sorted({group for group, _ in table}, key=lambda group: (group is not None, group))
    numbers = dict(zip(labels, _groups(engine, grouping), strict=True))
    kept = [row for row in table if numbers[row[0]] not in lost]
    assert bool(lost) is not verdict(engine, table, criterion, **DECLARES).safe
    assert not kept or verdict(engine, kept, criterion, **DECLARES).safe


def _groups(engine: Any, grouping: Any) -> list[int]:
    query = ps.Query(f"select g from {grouping.groups} order by g")
    return [row["g"] for row in grouping.base.engine.fetch(query)]


# -- by the definitions, on many more tables -----------------------------------------------------------------

TABLES = 60 * (20 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 1)
PATHS = {"9": ["odd", "*"], "10": ["even", "*"], "-1": ["odd", "*"], "2.5": ["none", "*"]}
SOME = (Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4), Fraction(1))
# limits near what small tables attain; the limits of the cases are tried above
ASKED: dict[str, Callable[[random.Random], Any]] = {
    "k_anonymity": lambda draw: ps.KAnonymity(draw.randint(1, 4)),
    "l_diversity": lambda draw: draw.choice(
        [
            ps.LDiversity(draw.randint(1, 3)),
            ps.LDiversity(draw.choice([1, "1.5", 2, "2.5"]), kind="entropy"),
            ps.LDiversity(draw.choice([1, "1.5", 2, 3]), kind="probabilistic"),
            ps.LDiversity(draw.randint(1, 3), kind="recursive", c=draw.choice(["1/2", 1, 2, 3])),
            ps.LDiversity(2, kind="recursive", c=draw.choice([1, 2]), strict=False),
        ]
    ),
    "t_closeness": lambda draw: ps.TCloseness(
        draw.choice(SOME), distance=draw.choice(["equal", "ordered", "hierarchical"])
    ),
    "alpha_k_anonymity": lambda draw: ps.AlphaKAnonymity(draw.choice(SOME), draw.randint(1, 3)),
    "beta_likeness": lambda draw: ps.BetaLikeness(
        draw.choice(["1/2", 1, 2]), kind=draw.choice(["basic", "enhanced"])
    ),
    "delta_disclosure": lambda draw: ps.DeltaDisclosure(draw.choice(["1/2", "0.7", 1, 2])),
    "k_map": lambda draw: ps.KMap(draw.randint(1, 5)),
    "delta_presence": lambda draw: ps.DeltaPresence(draw.choice([0, "1/4", "1/3"]), draw.choice(["1/2", 1])),
    "ck_safety": lambda draw: draw.choice(
        [
            ps.CKSafety(draw.choice(SOME), draw.randint(0, 2)),
            ps.CKSafety(
                draw.choice(SOME),
                draw.randint(0, 1),
                {"9": {"c": draw.choice(SOME), "k": draw.randint(0, 2)}},
            ),
        ]
    ),
    "privacy_skyline": lambda draw: ps.PrivacySkyline(
        [[draw.randint(0, 1), draw.randint(0, 1), draw.randint(0, 1), draw.choice(SOME)]]
    ),
    "k_link": lambda draw: ps.KLink(draw.randint(1, 4)),
    "k_combinatorial": lambda draw: ps.KCombinatorial(draw.randint(1, 4)),
    "maxent_l_diversity": lambda draw: draw.choice(
        [
            ps.MaxentLDiversity(draw.randint(1, 3), c=draw.choice(["1/2", 1, 2])),
            ps.MaxentLDiversity(draw.randint(1, 2), kind="relaxed", epsilon=draw.choice([0, "1/3", "1/2"])),
        ]
    ),
}
# tried over tables of several columns by the criterion's own test
GENERALISED = "safe_under_generalisation"
# one that is not among these says itself what is tried of it
for other in parts.others("criteria", ASKED):
    if {*proofs.declared(other)} - {GENERALISED}:
        ASKED[other] = parts.own_test("criteria", other).tried


def drawn(name: str, draw: random.Random) -> tuple[Any, list[tuple[Any, Any]], Known]:
    """A requirement and a table that it can be asked of; missing labels and values are some like others."""
    asked = ASKED[name](draw)
    plain = getattr(asked, "distance", "equal") == "equal"
    values = ["9", "10", "-1", None if plain else "2.5"][: draw.randint(1, 4)]
    most = {"privacy_skyline": 6, "ck_safety": 8}.get(name, 12)
    labels = draw.sample(["x", "y", "z", None], draw.randint(1, 4))
    table = [(draw.choice(labels), draw.choice(values)) for _ in range(draw.randint(1, most))]
    population = [label for label, _ in table] + [draw.choice(["x", "y", "z", None, "w"]) for _ in range(4)]
    return asked, table, Known(population=population, paths=PATHS)


def tried(name: str, word: str) -> Iterator[tuple[Any, list[tuple[Any, Any]], Known]]:
    """Tables that keep a requirement for which a property is declared."""
    draw = random.Random(f"{name} {word}")
    found = 0
    for _ in range(TABLES * 20):
        asked, table, known = drawn(name, draw)
        declares = asked.on(ps.Table(pd.DataFrame(table, columns=["g", "s"]), ["g"], "s"))
        if getattr(declares, word) and keeps(asked, table, known):
            found += 1
            yield asked, table, known
        if found == TABLES:
            return
    assert found > TABLES / 10, f"few tables keep {name}"


DECLARED = [
    (name, word)
    for name in registry.available("criteria")
    for word in proofs.declared(name)
    if word != GENERALISED
]


def test_every_property_that_is_declared_is_tried() -> None:
    assert {name for name, _ in DECLARED} == set(ASKED)


@pytest.mark.parametrize("name", [name for name, word in DECLARED if word == "safe_under_merging"])
def test_by_the_definition_merging_any_groups_keeps_a_table_safe(name: str) -> None:
    for asked, table, known in tried(name, "safe_under_merging"):
        for one, other in itertools.combinations({label for label, _ in table} | {"w"}, 2):
            merged = [(one if label == other else label, value) for label, value in table]
            people = [one if label == other else label for label in known.population]
            assert keeps(asked, merged, replace(known, population=people)), (asked, table, one, other)


@pytest.mark.parametrize("name", [name for name, word in DECLARED if word == "safe_under_suppression"])
def test_by_the_definition_leaving_out_any_groups_keeps_the_rest_safe(name: str) -> None:
    for asked, table, known in tried(name, "safe_under_suppression"):
        labels = sorted({label for label, _ in table}, key=str)
        for size in range(1, len(labels)):
            for gone in itertools.combinations(labels, size):
                rest = [(label, value) for label, value in table if label not in gone]
                assert keeps(asked, rest, known), (asked, table, gone)


BROKEN = {
    "t_closeness": (ps.TCloseness("1/2"), ["a", "a", "b", "b"]),
    "beta_likeness": (ps.BetaLikeness(1), ["a", "a", "b", "b"]),
    "delta_disclosure": (ps.DeltaDisclosure("1/2"), ["aab", "aab", "abb", "abb"]),
    "delta_presence": (ps.DeltaPresence("1/2", 1), ["a", "a"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_declared_of_leaving_out_groups_does_not_hold(name: str) -> None:
    """The definitions by which properties are tried find one that fails."""
    asked, groups = BROKEN[name]
    table = [(label, value) for label, group in enumerate(groups) for value in group]
    known = Known(population=[label for label, _ in table])
    assert "safe_under_suppression" not in proofs.declared(name)
    assert keeps(asked, table, known) and not keeps(asked, [row for row in table if row[0]], known)


@pytest.mark.parametrize("name", [name for name, word in DECLARED if word == "safe_in_larger_groups"])
def test_by_the_definition_a_group_with_a_safe_group_in_it_is_safe(name: str) -> None:
    draw = random.Random(name)
    for asked, table, known in tried(name, "safe_in_larger_groups"):
        label, _ = draw.choice(table)
        group = [row for row in table if row[0] == label]
        more = [(label, draw.choice(["9", "10", None])) for _ in range(draw.randint(1, 4))]
        assert keeps(asked, group + more, known), (asked, group, more)


@pytest.mark.parametrize("name", sorted(ASKED))
def test_by_the_definition_what_is_necessary_holds_and_no_group_is_smaller_than_is_said(name: str) -> None:
    for asked, table, known in tried(name, "safe_under_merging"):
        declared = ps.Table(pd.DataFrame(table, columns=["g", "s"]), ["g"], "s")
        sizes = Counter(label for label, _ in table)
        assert min(sizes.values()) >= asked.on(declared).fewest_people(declared), (asked, table)
        for weaker in asked.on(declared).necessary():
            assert weaker.safe_in_larger_groups and keeps(weaker, table, known), (asked, weaker, table)


PEOPLE_ALONE = {
    "k": lambda groups: min(len(people) for people in groups),
    "distinct": lambda groups: min(len({v for own in people for v in own}) for people in groups),
    "share": lambda groups: -max(_largest_share(people) for people in groups),
}


def _largest_share(people: list[tuple[str, ...]]) -> Fraction:
    return Fraction(max(Counter(v for own in people for v in own).values(), default=0), len(people))


@pytest.mark.parametrize("measure", PEOPLE_ALONE)
def test_with_several_values_or_none_each_neither_merging_nor_leaving_out_makes_the_worst_group_worse(
    measure: str,
) -> None:
    draw, of = random.Random(measure), PEOPLE_ALONE[measure]
    for _ in range(TABLES * 5):
        groups = [
            [tuple(draw.choices("abc", k=draw.randint(0, 3))) for _ in range(draw.randint(1, 4))]
            for _ in range(draw.randint(2, 4))
        ]
        assert of([groups[0] + groups[1], *groups[2:]]) >= of(groups)
        assert of(groups[1:]) >= of(groups)
