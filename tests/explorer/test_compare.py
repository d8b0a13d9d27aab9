"""The screen Compare: each pinned choice has the numbers that check, search and the studies give it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from tests import engines
from tests.explorer.deciding import REQUIRE, ask, decided, people, table, work
from tests.explorer.served import Asker
from tests.seeds import seeds

PINNED = [{"age": 0, "job": 0}, {"age": 1, "job": 1}, {"age": 2, "job": 0}, {"age": 2, "job": 2}]


@pytest.mark.parametrize("allowed", ["0", "0.4"])
@pytest.mark.parametrize("seed", seeds(3))
def test_each_choice_has_the_numbers_of_check_and_of_the_studies(seed: int, allowed: str) -> None:
    rows = people(seed) * 2
    with decided(table(rows), {}, allowed=allowed) as decision:
        told = ask(decision, "compare", choices=PINNED)["choices"]
        assert [one["levels"] for one in told] == PINNED
    with engines.opened() as engine:
        for levels, one in zip(PINNED, told, strict=True):
            method = ps.Generalise(levels, max_suppressed=allowed)
            release = ps.publish(engine, table(rows), REQUIRE, method)
            assert one["safe"] == release.safe and one["suppressed"] == release.suppressed
            for name, verdict in release.verdicts.items():
                assert one["values"][name]["exact"] == str(verdict.value)
                assert one["values"][name]["safe"] == verdict.safe
            assert one["baseline"] == ps.baseline(engine, release)["as_published"]
            curve = ps.disclosure_curve(engine, release, 12)
            assert [Fraction(value) for value in one["curve"]] == curve
            limit = Fraction("0.9")
            assert one["breaks_at"] == next((k for k, value in enumerate(curve) if value >= limit), None)


def test_the_source_table_stands_beside_the_choices_with_nobody_left_out() -> None:
    whole, rows = {"age": 0, "job": 0}, [*([1, "20", "a", ill] for ill in "fgfg"), [2, "25", "b", "h"]]
    require = [ps.KAnonymity(2)]
    with decided(table(rows), {}, require, allowed="0.5") as decision:
        assert decision.judged(whole).suppressed == 1
        told = ask(decision, "compare", choices=[{"age": 1}])["source"]
        assert ask(decision, "compare")["source"] is None
    with decided(table(rows), {}, require) as decision:
        assert told == ask(decision, "compare", choices=[whole])["choices"][0]


def test_utilities_are_those_of_the_choice_itself() -> None:
    with decided(table(people(7)), {}) as decision:
        (one, *_) = ask(decision, "compare", choices=PINNED[1:2])["choices"]
    with decided(table(people(7)), PINNED[1]) as decision:
        assert one["utilities"] == ask(decision, "usefulness")["utilities"]


@pytest.mark.parametrize(
    "choices",
    [PINNED + PINNED[:1], [{"age": 9}], [{"shoe": 1}], [{"age": "1"}], [{"age": True}], ["age"], "age"],
    ids=str,
)
def test_choices_that_are_none_are_refused(choices: Any) -> None:
    with decided(table(people(2)), {}) as decision, pytest.raises(UsageError):
        ask(decision, "compare", choices=choices)


@pytest.mark.parametrize("method", ["multidimensional", "microaggregate"])
def test_another_way_to_publish_is_judged_as_publish_judges_it(method: str) -> None:
    rows = [(n, ["20", "25", "31"][n % 3], "abc"[n % 2], "fgh"[n % 3]) for n in range(18)]
    require = [ps.KAnonymity(3)]
    with decided(table(rows), {}, require) as decision:
        told = work(decision, "compare", method=method)
    made = ps.Multidimensional() if method == "multidimensional" else ps.Microaggregate(k=3)
    with engines.opened() as engine:
        release = ps.publish(engine, table(rows), require, made)
        (verdict,) = release.verdicts.values()
        assert (told["safe"], told["method"]) == (release.safe, method)
        assert told["verdicts"][0]["value"] == str(verdict.value)
        assert told["baseline"] == ps.baseline(engine, release)["as_published"]


def test_marginals_are_tried_where_the_requirements_apply_to_them() -> None:
    rows = [(n, ["20", "25", "31"][n % 3], "abc"[n % 2], "fgh"[n % 3]) for n in range(18)]
    with decided(table(rows), {}, [ps.KLink(2)]) as decision:
        told = work(decision, "compare", method="marginals", seconds=5)
        assert told["method"] == "marginals" and told["baseline"] is None
        assert all(one["safe"] for one in told["verdicts"]) == told["safe"]
    with (
        decided(table(rows), {}, [ps.TCloseness("0.5")]) as decision,
        pytest.raises(UsageError, match="not to several marginals"),
    ):
        work(decision, "compare", method="marginals")
    with decided(table(rows), {}) as decision, pytest.raises(UsageError, match="no such method"):
        work(decision, "compare", method="noisy_counts")


def test_marginals_are_judged_by_what_stands_for_k_and_l_and_say_what_does_not_apply() -> None:
    rows = [(n, ["20", "25", "31"][n % 3], "abc"[n % 2], "fgh"[n % 3]) for n in range(18)]
    skyline = ps.PrivacySkyline([[0, 1, 0, "0.9"]])
    require = [ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.5"), skyline]
    with decided(table(rows), {}, require) as decision:
        told = work(decision, "compare", method="marginals", seconds=5)
        boxes = work(decision, "compare", method="multidimensional")
    stands = {one["about"]: one["requirement"] for one in told["verdicts"]}
    assert stands == {
        "k_anonymity(k=2)": "k_link(k=2)",
        "l_diversity(l=2)": "maxent_l_diversity(l=2, kind=distinct)",
    }
    assert told["not_here"] == ["t_closeness(t=0.5)", str(skyline)]
    assert not told["safe"], "what was not judged is not called safe"
    assert told["keeps"] == all(one["safe"] for one in told["verdicts"])
    assert [one["about"] for one in boxes["verdicts"]] == [str(asked) for asked in require]
    assert boxes["not_here"] == [] and boxes["safe"] == boxes["keeps"]


def test_a_tie_is_no_more_safe_in_marginals_than_in_a_table() -> None:
    rows = [(n, "20", "a", "fg"[n % 2]) for n in range(8)]  # one group, as many f as g: r1 = 1 * r2
    for strict in (True, False):
        tie = ps.LDiversity(2, kind="recursive", c=1, strict=strict)
        with decided(table(rows), {}, [tie]) as decision:
            assert decision.judged({}).safe is not strict
            told = work(decision, "compare", method="marginals", seconds=5)
        (verdict,) = told["verdicts"]
        assert (verdict["about"], verdict["value"]) == (str(tie), "1")
        assert verdict["safe"] is told["safe"] is told["keeps"] is not strict


def test_it_runs_beside_the_page(page: Asker) -> None:
    job = page.work("compare", method="multidimensional")
    assert job["state"] == "done" and job["answer"]["safe"]
    assert page.ask("compare")["choices"] == [] and page.decision.version == 1
