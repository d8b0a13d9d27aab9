"""Somebody's own requirement made from one of ours is judged by what it changes, wherever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.criteria import Criterion, largest_size, least
from privacy_sql.lattice.search import required_k
from privacy_sql.reporting import crowds
from privacy_sql.verdict import Verdict
from tests import engines

EXAMPLES: list[tuple[type[Criterion], tuple[Any, ...]]] = [
    (ps.KAnonymity, (2,)),
    (ps.LDiversity, (2,)),
    (ps.TCloseness, ("0.9",)),
    (ps.CKSafety, ("0.9", 0)),
    (ps.PrivacySkyline, ([[0, 0, 0, "1"]],)),
]


class Never:
    """A mixin that calls nothing safe."""

    def judge(self, evidence: Any) -> Verdict:
        return self.verdict(None, ps.Witness({}), safe=False)  # type: ignore[attr-defined,no-any-return]


class Every(Criterion):
    """A mixin behind a requirement, by which every group fails."""

    def failing(self, evidence: Sequence[Any]) -> list[int]:
        return sorted({row["g"] for row in evidence})


def table(people: str = "one") -> ps.Table:
    rows = pd.DataFrame({"id": [*"abcd"], "age": [*"1122"], "ill": [*"xyxy"]})
    several: dict[str, Any] = {} if people == "one" else {"identifier": "id", "values_per_person": people}
    return ps.Table(rows, {"age": ps.KeepOrDrop()}, "ill", **several)


def found(require: list[Criterion], suppressed: str, people: str = "one") -> bool:
    """Whether a search finds anything safe, as a publication at the raw levels says too."""
    with engines.opened() as engine:
        try:
            ps.search(engine, table(people), require, ps.FullDomain(max_suppressed=suppressed))
        except ps.PrivacySqlError as problem:
            assert problem.code == "no_safe_choice"
            assert not ps.publish(engine, table(people), require, ps.Generalise()).safe
            return False
        return True


@pytest.mark.parametrize("suppressed", ["0", "0.5"])
@pytest.mark.parametrize(("kind", "parameters"), EXAMPLES, ids=lambda it: getattr(it, "__name__", ""))
def test_what_a_subclass_judges_is_what_a_search_and_a_release_say(
    kind: Any, parameters: tuple[Any, ...], suppressed: str
) -> None:
    class Before(Never, kind):  # type: ignore[misc]
        pass

    class Decorated(kind):  # type: ignore[misc]
        pass

    assert found([kind(*parameters)], suppressed)
    assert not found([Before(*parameters)], suppressed)
    Decorated.judge = Never.judge
    assert not found([Decorated(*parameters)], suppressed)


def test_a_mixin_behind_a_requirement_counts_too() -> None:
    class Behind(ps.TCloseness, Every):
        pass

    assert ps.TCloseness("0.9").on_arrays and not Behind("0.9").on_arrays
    with engines.opened() as engine, pytest.raises(ps.PrivacySqlError, match="no choice is safe"):
        ps.search(engine, table(), [Behind("0.9")], ps.FullDomain(max_suppressed="0.5"))


@pytest.mark.parametrize("people", ["one", "set", "multiset"])
def test_a_subclass_of_a_skyline_keeps_what_it_changes(people: str) -> None:
    class Before(Never, ps.PrivacySkyline):
        own = "a word that somebody may use"

    asked = Before([[0, 0, 0, "1"]])
    told = asked.on(table(people))
    assert isinstance(told, Before) and str(told) == str(asked)
    assert isinstance(told.on(table("set")).on(table()), Before)
    assert told.on(table()).safe_under_merging and not told.on(table("set")).safe_under_merging
    assert not found([asked], "0", people)


class Larger(ps.KAnonymity):
    """More than k people."""

    def judge(self, evidence: Any) -> Verdict:
        smallest = min((row["n_people"] for row in evidence), default=0)
        return self.verdict(smallest, ps.Witness({}), safe=smallest > self.k)


def test_two_requirements_of_one_text_are_refused_in_any_order() -> None:
    """Verdicts are told apart by their text: the last one would stand for both."""
    together, apart = (ps.AlphaKAnonymity("0.5", 1, values) for values in (["a, b"], ["a", "b"]))
    assert str(together) == str(apart)
    twice = [[together, apart], [apart, together], [Larger(2), ps.KAnonymity(2)], [ps.KAnonymity(2)] * 2]
    methods = [None, ps.FullDomain(), ps.Generalise(), ps.Multidimensional()]
    for require, method in product(twice, methods):
        with engines.opened() as engine, pytest.raises(ps.PrivacySqlError) as refused:
            if method is None:
                ps.check(engine, table(), require)
            else:
                ps.publish(engine, table(), require, method)
        assert refused.value.code == "same_requirement"
        with engines.opened() as engine, pytest.raises(ps.PrivacySqlError, match="is required twice"):
            ps.search(engine, table(), require)


def test_a_search_with_suppression_asks_a_judgement_that_is_stricter_than_what_fails() -> None:
    rows = pd.DataFrame({"age": [*"11222"]})
    with engines.opened() as engine:
        people = ps.Table(rows, {"age": ps.KeepOrDrop()})
        for suppressed in ("0", "0.1"):
            best = ps.search(engine, people, [Larger(2)], ps.FullDomain(max_suppressed=suppressed)).best
            assert best is not None and best["levels"] == {"age": 1}
            release = ps.publish(engine, people, [Larger(2)], ps.FullDomain(max_suppressed=suppressed))
            assert release.safe and release.levels == {"age": 1}


class Quiet(Criterion):
    """A requirement that declares nothing."""

    name, relation, question, against = "quiet", ">=", "Is it asked?", "nobody"


class Crowd(Quiet):
    """One that requires groups of a size, under a name that nobody else knows."""

    name = "crowd"
    group_size = 7


def test_what_reports_and_costs_count_by_is_declared_and_not_a_name() -> None:
    asked = [Quiet(), ps.KLink(9), ps.LDiversity(2)]
    assert largest_size(asked) is None and least(asked) == 2 and crowds.small(asked) == crowds.USUAL
    assert (
        largest_size([*asked, ps.KAnonymity(3), Crowd()]) == least([Crowd()]) == crowds.small([Crowd()]) == 7
    )
    assert required_k([ps.AlphaKAnonymity("0.5", 4), Quiet()]) == 4 and required_k([Crowd()]) == 7
    quiet = Quiet()
    declared = (quiet.group_size, quiet.facts, quiet.in_marginals, quiet.for_marginals())
    assert set(declared) == {None} and not quiet.breaches and not quiet.weighs([])
    assert (
        ps.CKSafety("0.9", 3).facts == 3 and ps.CKSafety("0.9", 3, {"x": {"c": "0.5", "k": 1}}).facts is None
    )
    own = ps.PrivacySkyline([[1, 0, 1, "0.9"], [0, 1, 1, "0.8"]], {"x": [[0, 0, 0, "0.1"]]})
    assert own.breaches == [Fraction("0.9"), Fraction("0.8")]
