"""Search on tables: the safe choices, their minimal ones and what they cost follow from the definitions."""

import random
from collections import Counter
from fractions import Fraction
from math import prod
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import Undecided, UsageError
from privacy_sql.lattice.search import LatticeSearch, frontier
from privacy_sql.searches import Limits
from privacy_sql.utilities.query_error import QueryError
from tests import engines, parts
from tests.conftest import ROOT
from tests.oracles import full_domain as oracle
from tests.oracles import utility as utility_oracle
from tests.oracles.lattice import minimal
from tests.seeds import seeds

VALUES = "abcde"
RULES = {
    "k": ([ps.KAnonymity(2)], [oracle.k_anonymous(2)]),
    "k and distinct": ([ps.KAnonymity(3), ps.LDiversity(2)], [oracle.k_anonymous(3), oracle.distinct(2)]),
    "recursive": ([ps.LDiversity(2, kind="recursive", c=2)], [oracle.recursive(2, 2)]),
}
LARGE = (0, 6, 9, 10, 19)  # seeds of tables with up to 27 choices
SHARES = {"none": Fraction(0), "a fifth": Fraction(1, 5), "half": Fraction(1, 2)}


class Small:
    """A random table of at most 14 rows with nested hierarchies, for the package and for the oracle."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.hierarchies = [self._hierarchy(rng) for _ in range(rng.randint(1, 3))]
        self.rows = [
            (*(rng.choice(VALUES) for _ in self.hierarchies), rng.choice(["flu", "cold", "none"]))
            for _ in range(rng.randint(4, 14))
        ]
        self.names = [f"c{c}" for c, _ in enumerate(self.hierarchies)]

    @staticmethod
    def _hierarchy(rng):
        """Raw values, perhaps pairs of them, perhaps everything; as one dict of labels per level."""
        levels = [{v: v for v in VALUES}]
        if rng.random() < 0.7:
            cut = rng.randint(1, 4)
            levels.append({v: f"{VALUES.index(v) < cut}" for v in VALUES})
        if len(levels) > 1 or rng.random() < 0.7:
            levels.append(dict.fromkeys(VALUES, "*"))
        return levels

    def base(self, engine):
        return count(engine, self.table())

    def table(self):
        quasi = {
            name: ps.Tree({v: [level[v] for level in levels[1:]] for v in VALUES})
            if len(levels) > 1
            else None
            for name, levels in zip(self.names, self.hierarchies, strict=True)
        }
        frame = pd.DataFrame(self.rows, columns=[*self.names, "s"])
        return ps.Table(frame, quasi, "s")


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("rule", RULES)
def test_the_safe_and_minimal_choices_are_those_of_the_definition(engine, rule, share):
    require, rules = RULES[rule]
    for seed in (*seeds(4), *LARGE):
        small = Small(seed)
        search = LatticeSearch(small.base(engine), tuple(require), "loss", SHARES[share])
        found = search.run("all")
        safe = oracle.safe_choices(small.rows, small.hierarchies, rules, SHARES[share])
        assert set(found.minimal) == minimal(safe), seed
        assert found.safe_choices == len(safe), seed
        assert found.complete and found.optimal == bool(safe)


COSTS = {
    "loss": lambda s, release, domains: utility_oracle.loss(release, domains),
    "ncp": lambda s, release, domains: utility_oracle.ncp(release, domains),
    "discernibility": lambda s, release, domains: utility_oracle.discernibility(release),
    "average_group_size": lambda s, release, domains: utility_oracle.average_group_size(release),
    "c_avg": lambda s, release, domains: utility_oracle.average_group_size(release) / 2,  # k is 2
    "information_gain_privacy_loss": lambda s, release, domains: (
        -utility_oracle.information_gain_privacy_loss(s.rows, release)
    ),
    "entropy": lambda s, release, domains: utility_oracle.entropy(s.rows, release, domains),
    "ambiguity": lambda s, release, domains: utility_oracle.ambiguity(release, domains),
    "classification": lambda s, release, domains: utility_oracle.classification(s.rows, release),
    "query_error": lambda s, release, domains: query_error(s, release, domains),
    "kl": lambda s, release, domains: utility_oracle.kl(
        s.rows, release, domains, sorted({r[-1] for r in s.rows})
    ),
}


def query_error(small, release, domains):
    """The mean relative error of the queries, answered row by row; suppressed rows are missing."""
    sensitive = sorted({row[-1] for row in small.rows})
    shown = [(row, labels) for row, labels in zip(small.rows, release, strict=True) if labels]
    errors = []
    for query in QueryError().queries([*map(len, domains), len(sensitive)]):
        values = {c: {[*domains, sensitive][c][place] for place in places} for c, places in query.items()}
        actual = sum(all(row[c] in wanted for c, wanted in values.items()) for row in small.rows)
        estimate = 0.0
        for row, labels in shown:
            cells = [[*labels, [row[-1]]][c] for c in values]
            pairs = zip(values.values(), cells, strict=True)
            estimate += prod(len(wanted & set(cell)) / len(cell) for wanted, cell in pairs)
        if actual:
            errors.append(abs(actual - estimate) / actual)
    return sum(errors) / len(errors) if errors else 0.0


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", COSTS)
def test_the_best_choice_costs_what_the_definition_says_and_nothing_safe_costs_less(engine, name, share):
    require, rules = RULES["k"]
    for seed in seeds(5):
        small = Small(seed)
        search = LatticeSearch(small.base(engine), tuple(require), name, SHARES[share])
        domains = oracle.occurring(small.rows, small.hierarchies)
        costs = {
            choice: COSTS[name](
                small, oracle.release(small.rows, small.hierarchies, choice, rules, SHARES[share]), domains
            )
            for choice in oracle.safe_choices(small.rows, small.hierarchies, rules, SHARES[share])
        }
        for goal in ("all", "best"):
            found = search.run(goal)
            if not costs:
                assert found.best is None
                continue
            assert found.cost[0] == pytest.approx(min(costs.values()), abs=1e-9), seed
            assert costs[found.best] == pytest.approx(min(costs.values()), abs=1e-9), seed
        for choice, cost in costs.items():
            assert search.pricing.priced(search.pricing.utility, choice) == pytest.approx(cost, abs=1e-9), (
                seed,
                choice,
            )


@pytest.mark.parametrize("name", ["loss", "ncp", "height"])
def test_the_costs_of_many_choices_are_those_of_each(engine, name):
    for seed in seeds(5):
        search = LatticeSearch(Small(seed).base(engine), (ps.KAnonymity(2),), name)
        choices = list(search.lattice.choices())
        one_by_one = [search.pricing.of_levels(name, choice) for choice in choices]
        assert search.pricing.each_of_levels(name, choices) == one_by_one
        assert search.pricing.each_of_levels(name, []) == []


def test_every_utility_found_by_name_is_compared_with_its_definition_here_or_in_a_test_of_its_own():
    elsewhere = {
        "height",  # compared in tests/utilities, as it reads the choice alone
        "precision",
        "classification_accuracy",  # below, with the accuracy of the release itself
    }
    for name in parts.others("utilities", COSTS, elsewhere):
        assert (ROOT / "tests" / "utilities" / f"test_{name}.py").is_file(), name


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("rule", RULES)
def test_choices_that_are_counted_together_get_the_answers_they_get_alone(engine, rule, share):
    require, _ = RULES[rule]
    for seed in (6, 10):
        base = Small(seed).base(engine)
        together, alone = (LatticeSearch(base, tuple(require), "loss", SHARES[share]) for _ in range(2))
        choices = list(together.lattice.choices())
        assert together.decide(choices) == [alone.decide([choice])[0] for choice in choices], seed
        assert decided(together) == decided(alone)


def decided(search):
    """What was decided about every choice; the groups named as witnesses may differ."""
    return {
        choice: {requirement: (verdict.safe, verdict.value) for requirement, verdict in verdicts.items()}
        for choice, verdicts in search.verdicts.items()
    }


@pytest.mark.everywhere
def test_several_choices_take_as_many_statements_with_results_as_one(engine, monkeypatch):
    require = (ps.KAnonymity(1), ps.LDiversity(1))
    search = LatticeSearch(Small(10).base(engine), require, in_memory=False)
    choices = list(search.lattice.choices())
    assert search.base.level_codes  # looked up once for all of them
    kind, fetched = type(search.base.engine), []
    fetch = kind.fetch
    monkeypatch.setattr(kind, "fetch", lambda self, query: fetched.append(query.origin) or fetch(self, query))
    counts = []
    for asked in (choices[:1], choices[1:3], choices[3:]):
        fetched.clear()
        search.decide(asked)
        counts.append(len(fetched))
    # sizes (which some engines tell of one choice as they count it), and the evidence of each requirement
    assert len(choices) > 6 and counts[0] <= 3 and counts[1:] == [3, 3]


def test_people_with_several_values_are_counted_as_people(engine):
    frame = pd.DataFrame(
        [("p1", "a", "flu"), ("p1", "a", "cold"), ("p2", "b", "flu"), ("p3", "b", "cold")],
        columns=["id", "c", "s"],
    )
    tree = ps.Tree({"a": ["*"], "b": ["*"]})
    table = ps.Table(frame, {"c": tree}, "s", identifier="id", values_per_person="set")
    found = LatticeSearch(count(engine, table), (ps.KAnonymity(2),)).run("all")
    assert found.minimal == ((1,),)  # a stands for one person, however many rows it has
    assert LatticeSearch(count(engine, table), (ps.KAnonymity(3),)).run("all").best == (1,)
    assert LatticeSearch(count(engine, table), (ps.KAnonymity(4),)).run("all").best is None


def test_keys_too_many_to_be_packed_into_one_integer_are_numbered(engine):
    names = [f"c{number}" for number in range(12)]
    frame = pd.DataFrame(
        {name: [str((row * (n + 3)) % 50) for row in range(60)] for n, name in enumerate(names)}
    )
    quasi = {name: ps.KeepOrDrop() for name in names}
    base = count(engine, ps.Table(frame, quasi))
    found = LatticeSearch(base, (ps.KAnonymity(2),)).run("all")
    rows = [(*row, None) for row in frame.itertuples(index=False)]
    levels = [{str(v): str(v) for v in range(50)}, {str(v): "*" for v in range(50)}]
    assert set(found.minimal) == minimal(oracle.safe_choices(rows, [levels] * 12, [oracle.k_anonymous(2)]))


def test_counting_a_choice_from_another_gives_what_counting_the_base_gives(engine):
    small = Small(5)
    base = small.base(engine)
    search = LatticeSearch(base, (ps.KAnonymity(2), ps.LDiversity(2)))
    for choice in sorted(search.lattice.choices(), key=sum):
        rolled = search.rollup.grouping(choice)
        direct = Grouping.by(base, base.keys(search.rollup.named(choice)))
        assert histogram(rolled) == histogram(direct)


def histogram(grouping):
    relation = grouping.candidate
    keys = ", ".join(f"k{n}" for n, _ in enumerate(grouping.keys, start=1))
    rows = grouping.base.engine.fetch(
        ps.Query(f"select {keys}, s, cast(sum(n_rows) as bigint) as n from {relation} group by {keys}, s")
    )
    return sorted(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", ["loss", "discernibility", "kl"])
def test_the_frontier_holds_what_no_choice_asked_about_beats_with_the_costs_of_the_definition(
    engine, name, share
):
    """Published as far as may be; a choice that would suppress too much is shown whole, and not safe."""
    require, rules = RULES["k"]
    for seed in (0, 9):
        small = Small(seed)
        search = LatticeSearch(small.base(engine), tuple(require), name, SHARES[share])
        search.run("all")
        points = {}
        for choice in search.tried:
            safe = choice in oracle.safe_choices(small.rows, small.hierarchies, rules, SHARES[share])
            kept = rules if safe else []
            release = oracle.release(small.rows, small.hierarchies, choice, kept, SHARES[share])
            smallest = min(Counter(labels for labels in release if labels).values())
            cost = COSTS[name](small, release, oracle.occurring(small.rows, small.hierarchies))
            points[choice] = (round(cost, 9), -smallest, safe)
        wanted = {
            point
            for point in points.values()
            if not any(other[:2] != point[:2] and other[0] <= point[0] and other[1] <= point[1]
                       for other in points.values())
        }  # fmt: skip
        found = frontier(search)
        told = {(round(p["cost"], 9), -p["risks"]["k_anonymity(k=2)"], p["safe"]) for p in found}
        assert told == wanted, seed
        assert [p["cost"] for p in found] == sorted(p["cost"] for p in found)


def test_the_frontier_asks_every_requirement_also_where_the_first_one_failed(engine):
    search = LatticeSearch(Small(10).base(engine), (ps.KAnonymity(2), ps.LDiversity(2)), "loss")
    search.run("all")
    assert any(len(verdicts) == 1 for verdicts in search.verdicts.values())
    points = frontier(search)
    assert points and all(len(point["risks"]) == 2 for point in points)
    assert {point["safe"] for point in points} == {True, False}


def test_a_search_that_was_stopped_is_not_asked_more_for_its_frontier(engine):
    search = LatticeSearch(Small(10).base(engine), (ps.KAnonymity(2), ps.LDiversity(2)), "discernibility")
    search.run("all", Limits(budget=3))
    before = {choice: dict(verdicts) for choice, verdicts in search.verdicts.items()}
    assert frontier(search, finished=False) == []  # its costs would have to be counted
    assert search.verdicts == before


def test_a_requirement_that_says_no_wins_over_one_that_is_undecided(engine):
    """Asked first or last; only where nothing says no is the search undecided."""
    table = ps.Table(pd.DataFrame({"c": ["a", "b"]}), {"c": ps.KeepOrDrop()})
    base = count(engine, table)
    for require in ((Puzzled(2), ps.KAnonymity(3)), (ps.KAnonymity(3), Puzzled(2))):
        assert LatticeSearch(base, require).run("all").best is None
    with pytest.raises(Undecided):
        LatticeSearch(base, (Puzzled(2), ps.KAnonymity(2))).run("all")


class Puzzled(ps.KAnonymity):
    def judge(self, evidence):
        raise Undecided("too_large", "too large for this test")


@pytest.mark.parametrize("kind", ["set", "multiset"])
@pytest.mark.parametrize("allowed", ["0", "0.9"])
def test_a_table_in_which_nobody_has_a_value_is_searched_without_what_needs_values(
    kind: Any, allowed: str
) -> None:
    rows = pd.DataFrame({"id": [0, 1], "age": ["x", "y"], "s": [None, None]}, dtype=object)
    with engines.opened() as engine:
        table = ps.Table(rows, ["age"], "s", identifier="id", values_per_person=kind)
        (best,) = ps.search(engine, table, [ps.KAnonymity(1)], ps.FullDomain(max_suppressed=allowed)).minimal
        assert best["levels"] == {"age": 0} and "loss" in best["values"] and "kl" not in best["values"]
        with pytest.raises(UsageError, match="kl needs somebody with a sensitive value"):
            ps.search(engine, table, [ps.KAnonymity(1)], ps.FullDomain("kl", max_suppressed=allowed))
