"""The SQL that guards dbt models passes nothing that `check` refuses, and refuses more only at a limit."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.criteria import Criterion, make
from privacy_sql.query.portable import problems
from privacy_sql.query.template import Query, Sql, environment, folder, literal
from tests import cases as reading
from tests.conftest import cases
from tests.seeds import NIGHTLY, START, enough

NEAR = Fraction(2, 10**9)
GUARDS = {
    "k_anonymity": "privacy_sql.unsafe_k_anonymity(relation, quasi, k)",
    "l_diversity": "privacy_sql.unsafe_l_diversity(relation, quasi, s, l, kind, c)",
    "t_closeness": "privacy_sql.unsafe_t_closeness(relation, quasi, s, t, distance, hierarchy)",
    "interval_disclosure": "privacy_sql.unsafe_interval_disclosure(relation, quasi, s, width, share)",
    "ck_safety": "privacy_sql.unsafe_ck_safety(relation, quasi, s, c, k)",
    "privacy_skyline": "privacy_sql.unsafe_privacy_skyline(relation, quasi, s, skylines)",
}
MOST_FACTS = 2


def guard(criterion: Criterion, table: ps.Table, relation: Sql) -> Query:
    """The statement of a criterion's guard: its rows are the unsafe groups."""
    words: dict[str, Any] = {"kind": "", "c": None, "distance": "", "l": 1, **fields(criterion)}
    words |= {"quasi": list(table.quasi), "s": table.sensitives[0] if table.sensitives else None}
    words["hierarchy"] = table.sensitive_hierarchy.recipe() if table.sensitive_hierarchy else None
    made = environment([folder("sql"), folder("macros")]).from_string(f"{{{{ {GUARDS[criterion.name]} }}}}")
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


def guarded(criterion: Criterion, table: ps.Table) -> bool:
    """Whether dbt has words for this requirement on this table."""
    if criterion.name not in GUARDS or table.values_per_person != "one" or not table.quasi or table.group:
        return False
    if criterion.name == "l_diversity":
        return Fraction(str(criterion.l)).denominator == 1  # type: ignore[attr-defined]
    if criterion.name == "interval_disclosure":
        whole = (criterion.limit * 10**6).denominator == 1  # type: ignore[attr-defined]
        return whole and criterion.distance == "absolute"  # type: ignore[attr-defined]
    if criterion.name == "ck_safety":
        return criterion.k <= MOST_FACTS and not criterion.per_value  # type: ignore[attr-defined]
    return True


def spread(table: ps.Table) -> ps.Table:
    """The same table with every row as often as it counts."""
    rows: Any = table.source
    if not table.count:
        return table
    again = rows.loc[rows.index.repeat(rows[table.count])].drop(columns=table.count)
    return ps.Table(again, list(table.quasi), table.sensitives, sensitive_hierarchy=table.sensitive_hierarchy)


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
    with ps.connect() as engine:
        for _ in range(150 if NIGHTLY else 75):
            said[agree(engine, random_table(rng), random_requirement(rng))] += 1
    assert enough(min(said.values()), 26)


def test_names_of_every_kind_are_quoted() -> None:
    rows = pd.DataFrame({"g": ["1", "1"], "s": ["a", "b"], 'say "hi"': ["x", "x"], "n_rows": [1, 1]})
    table = ps.Table(rows, ["g", 'say "hi"', "n_rows"], "s")
    with ps.connect() as engine:
        for criterion in (ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.1"), ps.CKSafety("0.6", 0)):
            assert agree(engine, table, criterion)


def test_a_value_is_text_and_never_sql() -> None:
    rows = pd.DataFrame({"g": ["1"] * 4, "s": ["it's", "b", "c", "d"]})
    criterion = ps.PrivacySkyline(per_value={"it's": [[0, 1, 0, "0.2"]]})
    with ps.connect() as engine:
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


def agree_or_fail(engine: Any, table: ps.Table, criterion: Criterion) -> bool:
    """What the guard says, which passes nothing that `check` refuses."""
    session = engine.session()
    unsafe = session.fetch(guard(criterion, table, session.source(table.source)))
    verdict = ps.check(engine, table, [criterion])[str(criterion)]
    assert verdict.safe or unsafe
    return not unsafe


def test_a_guard_keeps_texts_apart_that_a_collation_holds_equal() -> None:
    with ps.connect() as engine:
        engine.connection.execute("create table t (g varchar collate nocase, s varchar)")
        engine.connection.execute("insert into t values ('A', 'x'), ('a', 'y'), ('B', 'x'), ('b', 'y')")
        table = ps.Table("t", ["g"], "s")
        for criterion in (ps.KAnonymity(2), ps.LDiversity(2)):
            assert not agree(engine, table, criterion)
