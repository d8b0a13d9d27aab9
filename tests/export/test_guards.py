"""The SQL that guards dbt models passes nothing that `check` refuses, and refuses more only at a limit."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.criteria import Criterion, make
from privacy_sql.export import dbt
from privacy_sql.query.portable import problems
from privacy_sql.query.template import Query, Sql, environment, folder, literal
from tests import cases as reading
from tests import engines
from tests.conftest import cases
from tests.seeds import NIGHTLY, START, enough

NEAR = Fraction(2, 10**9)
GUARDS = {
    "k_anonymity": "privacy_sql.unsafe_k_anonymity(relation, quasi, k)",
    "l_diversity": "privacy_sql.unsafe_l_diversity(relation, quasi, s, l, kind, c)",
    "t_closeness": "privacy_sql.unsafe_t_closeness(relation, quasi, s, t, distance, hierarchy)",
    "interval_disclosure": "privacy_sql.unsafe_interval_disclosure("
    "relation, quasi, s, width, share, distance, hierarchy, matrix)",
    "known_columns": "privacy_sql.unsafe_known_columns(relation, s, sets)",
    "reidentification_risk": "privacy_sql.unsafe_reidentification_risk("
    "relation, quasi, at_most, measure, above)",
    "ck_safety": "privacy_sql.unsafe_ck_safety(relation, quasi, s, c, k)",
    "privacy_skyline": "privacy_sql.unsafe_privacy_skyline(relation, quasi, s, skylines)",
}
MOST_FACTS = 2


def guard(criterion: Criterion, table: ps.Table, relation: Sql) -> Query:
    """The statement of a criterion's guard: its rows are the unsafe groups."""
    words: dict[str, Any] = {"kind": "", "c": None, "distance": "", "l": 1, **fields(criterion)}
    words |= {"quasi": list(table.quasi), "s": table.sensitives[0] if table.sensitives else None}
    words["hierarchy"] = table.sensitive_hierarchy.recipe() if table.sensitive_hierarchy else None
    words["matrix"] = (table.distances or {}).get(words["s"])
    if criterion.name == "known_columns":
        words["sets"] = known_sets(criterion, list(table.quasi))
    name = criterion.name
    if name == "reidentification_risk":  # the largest risk is k-anonymity
        ((kind, own),) = dbt.guards(criterion, table)
        words |= {name: str(value) for name, value in own.items() if name in ("at_most", "above")}
        words |= {"measure": own.get("measure"), "above": words.get("above"), "k": own.get("k")}
        name = "k_anonymity" if kind == "k_anonymous" else name
    made = environment([folder("sql"), folder("macros")]).from_string(f"{{{{ {GUARDS[name]} }}}}")
    return Query(made.render(relation=relation, **words), f"guards/{criterion.name}")


def fields(criterion: Any) -> dict[str, Any]:
    """A criterion's parameters as a user of dbt writes them."""
    if criterion.name == "privacy_skyline":
        skylines: dict[int, dict[str, Any]] = {}
        for limit in criterion.limits:
            value = [None, *(criterion.per_value or {})][limit.skyline]
            own = skylines.setdefault(limit.skyline, {"value": value, "points": []})
            own["points"].append((*limit.amounts, str(float(limit.limit))))
        return {"skylines": list(skylines.values())}
    found = {
        name: getattr(criterion, name)
        for name in ("k", "l", "t", "c", "kind", "distance", "width", "share")
        if hasattr(criterion, name)
    }
    return {
        name: str(float(Fraction(str(value))))
        if name in ("t", "c", "width", "share") and value is not None
        else value
        for name, value in found.items()
    }


def known_sets(criterion: Any, quasi: list[str]) -> list[dict[str, Any]]:
    """The sets that a requirement asks about, as a user of dbt writes them."""
    size = min(criterion.m or 0, len(quasi))
    several = [
        {"columns": list(some), "k": criterion.k, "share": criterion.share}
        for some in itertools.combinations(quasi, size)
    ]
    return [
        {**one, "share": None if one.get("share") is None else str(float(Fraction(str(one["share"]))))}
        for one in criterion.sets or several
    ]


def guarded(criterion: Criterion, table: ps.Table) -> bool:
    """Whether dbt has words for this requirement on this table."""
    if criterion.name not in GUARDS or table.values_per_person != "one" or not table.quasi or table.group:
        return False
    if criterion.name == "l_diversity":
        return Fraction(str(criterion.l)).denominator == 1  # type: ignore[attr-defined]
    if criterion.name == "interval_disclosure":
        numbers = (criterion.limit * 10**6, Fraction(str(criterion.width)) * 10**6)  # type: ignore[attr-defined]
        return all(number.denominator == 1 for number in numbers)
    if criterion.name == "known_columns":
        shares = [one.get("share") for one in criterion.sets] + [criterion.share]  # type: ignore[attr-defined]
        return all((Fraction(str(share or 0)) * 10**6).denominator == 1 for share in shares)
    if criterion.name == "reidentification_risk":
        return bool([*dbt.guards(criterion, table)])
    if criterion.name == "ck_safety":
        return criterion.k <= MOST_FACTS and not criterion.per_value  # type: ignore[attr-defined]
    return True


def spread(table: ps.Table) -> ps.Table:
    """The same table with every row as often as it counts."""
    rows: Any = table.source
    if not table.count:
        return table
    again = rows.loc[rows.index.repeat(rows[table.count])].drop(columns=table.count)
    more = {"sensitive_hierarchy": table.sensitive_hierarchy, "distances": table.distances}
    return ps.Table(again, list(table.quasi), table.sensitives, **more)


def agree(engine: Any, table: ps.Table, criterion: Criterion) -> bool:
    """Compare the guard with the verdict; returns what the guard says."""
    verdict = ps.check(engine, table, [criterion])[str(criterion)]
    with_rows = engine.session()
    query = guard(criterion, table, with_rows.source(table.source))
    assert problems(query.sql) == ()
    unsafe = with_rows.fetch(query)
    if verdict.safe != (not unsafe):
        assert unsafe, "the guard passes what is not safe"
        assert abs(Fraction(verdict.value) - Fraction(verdict.limit)) < NEAR
    assert set(unsafe[0] if unsafe else ()) <= {"g", "n_rows", "risk"}
    return not unsafe


def guarded_cases() -> list[Any]:
    """The cases of every requirement that dbt has words for."""
    made = [
        (p, make(p.values[0], p.values[1]["params"]), reading.table(p.values[1])) for p in cases("criteria")
    ]
    return [
        pytest.param(criterion, table, id=p.id) for p, criterion, table in made if guarded(criterion, table)
    ]


@pytest.mark.everywhere
@pytest.mark.parametrize(("criterion", "table"), guarded_cases())
def test_a_guard_says_what_the_case_says(engine: Any, criterion: Criterion, table: ps.Table) -> None:
    try:
        agree(engine, spread(table), criterion)
    except ps.PrivacySqlError as problem:
        # what `check` cannot read, a guard does not pass
        assert problem.code == "unmapped_value"
        rows = spread(table)
        session = engine.session()
        assert session.fetch(guard(criterion, rows, session.source(rows.source)))


def random_table(rng: random.Random) -> ps.Table:
    groups, values, rows = rng.randint(1, 4), rng.randint(1, 5), rng.randint(1, 24)
    people = [
        (str(rng.randrange(groups)), rng.choice(["1", "2", "30", "-4", None][:values])) for _ in range(rows)
    ]
    return ps.Table(pd.DataFrame(people, columns=["g", "s"]), ["g"], "s")


def random_requirement(rng: random.Random) -> Criterion:
    c = rng.choice(["1/2", "2/3", "3/4", "0.9", "1"])
    amounts = [rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 3)]
    return rng.choice(
        [
            ps.KAnonymity(rng.randint(1, 5)),
            ps.LDiversity(rng.randint(1, 4), rng.choice(["distinct", "probabilistic", "entropy"])),
            ps.LDiversity(rng.randint(1, 4), "recursive", rng.choice(["1/2", "1", "2"])),
            ps.TCloseness(rng.choice(["0.1", "1/3", "0.5"])),
            ps.IntervalDisclosure(rng.choice(["0", "1", "5", "28"]), rng.choice(["0.25", "0.5", "0.666667"])),
            *(ps.CKSafety(c, k) for k in range(MOST_FACTS + 1)),
            ps.PrivacySkyline(points=[[*amounts, c]], per_value={"1": [[1, 1, 1, "0.8"]]}),
            # a point may not stand there twice
            ps.PrivacySkyline(points=[[0, 1, 0, "0.9"], *([[*amounts, c]] if amounts != [0, 1, 0] else [])]),
        ]
    )


def test_guards_agree_with_check_on_random_tables() -> None:
    rng = random.Random(START + 7)
    said = {True: 0, False: 0}
    with engines.opened() as engine:
        for _ in range(150 if NIGHTLY else 40):
            said[agree(engine, random_table(rng), random_requirement(rng))] += 1
    assert enough(min(said.values()), 26)


def test_names_of_every_kind_are_quoted() -> None:
    rows = pd.DataFrame({"g": ["1", "1"], "s": ["a", "b"], 'say "hi"': ["x", "x"], "n_rows": [1, 1]})
    table = ps.Table(rows, ["g", 'say "hi"', "n_rows"], "s")
    with engines.opened() as engine:
        for criterion in (ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.1"), ps.CKSafety("0.6", 0)):
            assert agree(engine, table, criterion)


def test_a_value_is_text_and_never_sql() -> None:
    rows = pd.DataFrame({"g": ["1"] * 4, "s": ["it's", "b", "c", "d"]})
    criterion = ps.PrivacySkyline(per_value={"it's": [[0, 1, 0, "0.2"]]})
    with engines.opened() as engine:
        assert not agree(engine, ps.Table(rows, ["g"], "s"), criterion)
    assert str(literal("it's")) == "'it''s'"


def test_numbers_that_one_double_cannot_tell_apart_do_not_pass_a_guard(engine: Any) -> None:
    near = [("a", "9007199254740992"), ("b", "9007199254740993")]
    table = ps.Table(pd.DataFrame(near * 2, columns=["g", "s"], dtype=object), ["g"], "s")
    criterion, session = ps.TCloseness("0.1", "ordered"), engine.session()
    assert session.fetch(guard(criterion, table, session.source(table.source)))


def test_the_guard_of_near_values_never_passes_what_check_refuses(engine: Any) -> None:
    """Decimals whose difference no double holds, at widths that are exactly between two of them."""
    rng = random.Random(START + 24)
    said = {True: 0, False: 0}
    for _ in range(12):
        drawn = [rng.choice(["0.7", "0.8", "0.1", "0.3", "0.25", "1e-3", "-0.2", None]) for _ in range(9)]
        rows = pd.DataFrame({"g": [str(n // 3) for n in range(9)], "s": drawn})
        asked = ps.IntervalDisclosure(rng.choice(["0.1", "0.2", "0.05"]), rng.choice(["0.4", "0.7"]))
        said[agree_or_fail(engine, ps.Table(rows, ["g"], "s"), asked)] += 1
    assert said[False]


PATHS = {"1": ["x", "u", "*"], "2": ["x", "u", "*"], "30": ["y", "u", "*"], "-4": ["z", "w", "*"]}
FAR = {one: {other: abs(int(one) - int(other)) / 4 for other in PATHS} for one in PATHS}


@pytest.mark.parametrize("distance", ["relative", "hierarchical", "matrix"])
def test_guards_of_every_distance_agree_with_check(engine: Any, distance: str) -> None:
    rng = random.Random(f"{START} {distance}")
    widths = {"relative": ["0", "0.5", "1", "14"], "hierarchical": ["0", "0.4", "0.7", "1"]}
    said = {True: 0, False: 0}
    for _ in range(12):
        table = random_table(rng)
        more = {"sensitive_hierarchy": ps.Tree(PATHS), "distances": {"s": FAR}}
        near = ps.Table(table.source, ["g"], "s", **more)
        width = rng.choice(widths.get(distance, ["0", "0.25", "1.25", "7", "9"]))
        said[agree(engine, near, ps.IntervalDisclosure(width, rng.choice(["0.5", "0.75"]), distance))] += 1
    assert min(said.values())


@pytest.mark.parametrize("distance", ["relative", "hierarchical", "matrix"])
def test_a_value_that_is_near_nothing_known_fails_the_guard(engine: Any, distance: str) -> None:
    strange = {"relative": "many", "hierarchical": "5", "matrix": "5"}[distance]
    for values, passes in ((["1", "30", "-4", None], True), (["1", "30", "-4", strange], False)):
        rows = pd.DataFrame({"g": ["x"] * 4, "s": values}, dtype=object)
        table = ps.Table(rows, ["g"], "s", sensitive_hierarchy=ps.Tree(PATHS), distances={"s": FAR})
        asked, session = ps.IntervalDisclosure("0", "0.5", distance), engine.session()
        assert (not session.fetch(guard(asked, table, session.source(rows)))) is passes


def test_the_guard_of_known_columns_says_what_check_says(engine: Any) -> None:
    rng = random.Random(START + 25)
    said = {True: 0, False: 0}
    for _ in range(20):
        drawn = [tuple(rng.choice(["x", "y", None]) for _ in range(3)) for _ in range(rng.randint(6, 30))]
        rows = pd.DataFrame(drawn, columns=["a", "b", "c"], dtype=object)
        rows["s"] = [rng.choice(["p", "q", "r", None]) for _ in drawn]
        asked = rng.choice(
            [
                ps.KnownColumns(m=rng.randint(1, 4), k=rng.randint(2, 3)),
                ps.KnownColumns(m=rng.randint(1, 2), share=rng.choice(["0.6", "0.75"])),
                ps.KnownColumns(
                    sets=[{"columns": ["a"], "k": 3, "share": "0.75"}, {"columns": ["b", "c"], "k": 2}]
                ),
            ]
        )
        said[agree(engine, ps.Table(rows, ["a", "b", "c"], "s"), asked)] += 1
    assert min(said.values())


@pytest.mark.everywhere
def test_the_guard_of_a_risk_says_what_check_says(engine: Any) -> None:
    rng = random.Random(START + 26)
    said = {(kind, safe): 0 for kind in ("k_anonymous", "risk_safe") for safe in (True, False)}
    for _ in range(40):
        drawn = [(rng.choice(["x", None]), rng.choice("pq")) for _ in range(rng.randint(1, 24))]
        table = ps.Table(pd.DataFrame(drawn, columns=["a", "b"], dtype=object), ["a", "b"])
        asked = rng.choice(
            [
                ps.ReidentificationRisk(rng.choice(["1/2", "0.5", "1/3", "0.34"])),
                ps.ReidentificationRisk(rng.choice(["0.5", "0.25", "0.4"]), measure="average"),
                ps.ReidentificationRisk(
                    rng.choice(["0", "0.2", "0.5"]), above=rng.choice(["0.5", "0.333333"])
                ),
            ]
        )
        ((kind, _),) = dbt.guards(asked, table)
        said[kind, agree(engine, table, asked)] += 1
    assert min(said.values())


def test_a_risk_that_no_guard_says_is_left_to_python() -> None:
    people = pd.DataFrame({"a": ["x"]})
    table = ps.Table(people, ["a"], population=people)
    for asked in (
        ps.ReidentificationRisk("0.5", adversary="journalist"),
        ps.ReidentificationRisk("1/3", measure="average"),
        ps.ReidentificationRisk("0.1", above="1/3"),
    ):
        assert not [*dbt.guards(asked, table)]
    assert [*dbt.guards(ps.ReidentificationRisk("0.09"), table)] == [
        ("k_anonymous", {"quasi": ["a"], "k": 12})
    ]


def agree_or_fail(engine: Any, table: ps.Table, criterion: Criterion) -> bool:
    """What the guard says, which passes nothing that `check` refuses."""
    session = engine.session()
    unsafe = session.fetch(guard(criterion, table, session.source(table.source)))
    verdict = ps.check(engine, table, [criterion])[str(criterion)]
    assert verdict.safe or unsafe
    return not unsafe


def test_a_guard_keeps_texts_apart_that_a_collation_holds_equal() -> None:
    with engines.opened() as engine:
        engine.connection.execute("create table t (g varchar collate nocase, s varchar)")
        engine.connection.execute("insert into t values ('A', 'x'), ('a', 'y'), ('B', 'x'), ('b', 'y')")
        table = ps.Table("t", ["g"], "s")
        for criterion in (ps.KAnonymity(2), ps.LDiversity(2)):
            assert not agree(engine, table, criterion)


def test_a_requirement_is_guarded_for_every_sensitive_column_or_for_none() -> None:
    """A matrix of a few values is written out, one of many is not; and a hierarchy belongs to its column."""
    rows = pd.DataFrame({"g": ["x", "x"], "s": ["1", "2"], "t": ["1", "2"]})
    wide = {str(one): {str(other): abs(one - other) for other in range(60)} for one in range(60)}
    asked = ps.IntervalDisclosure(1, "0.5", "matrix")
    for other, kinds in ((FAR, ["near_safe", "near_safe"]), (wide, [])):
        table = ps.Table(rows, ["g"], ("s", "t"), distances={"s": FAR, "t": other})
        assert [kind for kind, _ in dbt.guards(asked, table)] == kinds
    for trees, kinds in (
        ({"s": ps.Tree(PATHS), "t": ps.Tree(PATHS)}, ["t_close", "t_close"]),
        ({"t": ps.Tree(PATHS)}, []),
    ):
        table = ps.Table(rows, ["g"], ("s", "t"), sensitive_hierarchy=trees)
        made = list(dbt.guards(ps.TCloseness("0.3", "hierarchical"), table))
        assert [kind for kind, _ in made] == kinds
        assert all(own["hierarchy"]["tree"]["1"][:2] == ["x", "u"] for _, own in made)


def test_known_columns_are_written_out_for_dbt_as_they_are_asked() -> None:
    rows = pd.DataFrame({"a": ["x"], "b": ["y"], "s": ["1"]})
    plain, with_s = ps.Table(rows, ["a", "b"]), ps.Table(rows, ["a", "b"], "s")
    sets = [{"columns": "a", "k": 3}, {"columns": ["a", "b"], "share": "0.5"}]
    assert list(dbt.guards(ps.KnownColumns(m=2, k=5), plain)) == [
        ("known_safe", {"quasi": ["a", "b"], "m": 2, "k": 5, "share": None})
    ]
    ((_, own),) = dbt.guards(ps.KnownColumns(sets=sets), with_s)
    assert own["sensitive"] == "s" and own["sets"] == [
        {"columns": ["a"], "k": 3, "share": None},
        {"columns": ["a", "b"], "k": 1, "share": 0.5},
    ]
    # no sensitive column to have a share of, and a share that no six decimals say
    assert not [*dbt.guards(ps.KnownColumns(m=1, share="0.5"), plain)]
    assert not [*dbt.guards(ps.KnownColumns(m=1, share="1/3"), with_s)]
