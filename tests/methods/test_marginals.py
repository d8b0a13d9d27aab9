"""Publishing collections of marginals: found, injected, by the recipe, written, audited and verified."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.criteria import Criterion
from privacy_sql.errors import DataError, NoSafeChoice, NotSafe, PrivacySqlError, UsageError
from privacy_sql.export.standalone import compiled_marginals
from privacy_sql.judge import judge
from privacy_sql.kernels.marginals.junction_tree import contains
from privacy_sql.marginals.one_column import OneColumn
from privacy_sql.marginals.search import MarginalSearch
from privacy_sql.methods import marginals
from privacy_sql.publishing.published_marginals import read
from privacy_sql.searches import Limits
from tests import engines
from tests.seeds import seeds

# how it publishes the forty-eight people of tests/parts.py
EXAMPLE = {"collection": [{"age": 1, "illness": 0}, {"job": 1}]}

JOBS = ps.Tree(
    {
        job: [kind, "*"]
        for kind, jobs in {"food": ["baker", "cook"], "care": ["nurse", "medic"]}.items()
        for job in jobs
    }
)
REQUIRE = [ps.KLink(4), ps.KCombinatorial(4), ps.MaxentLDiversity(l=2, c=3)]


def people(n: int = 400, **more: Any) -> ps.Table:
    """Invented people whose illness depends on job and age."""
    chance = random.Random(11)
    rows = []
    for _ in range(n):
        age, job, sex = (
            chance.randrange(20, 60),
            chance.choice(["baker", "cook", "nurse", "medic"]),
            chance.choice("FM"),
        )
        ill = (
            chance.choice("abcd" if age < 40 else "bcde")
            if job in ("baker", "cook")
            else chance.choice("aabd")
        )
        rows.append((str(age), job, sex if chance.random() > 0.05 else None, ill))
    frame = pd.DataFrame(rows, columns=["age", "job", "sex", "ill"])
    quasi = {"age": ps.Intervals(5, 20), "job": JOBS, "sex": ps.KeepOrDrop()}
    return ps.Table(frame, quasi, "ill", name="people", **more)


def test_the_collection_found_is_safe_and_better_than_single_columns(engine: Any) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    assert release.safe and release.search["optimal"]
    single = ps.MarginalSet(engine, people(), [{"age": 1}, {"job": 0}, {"sex": 0}, {"ill": 0}])
    assert release.search["kl"] < single.kl
    found = ps.MarginalSet(engine, people(), release.choice["marginals"])
    assert found.decomposable and found.kl == pytest.approx(release.search["kl"], abs=1e-9)


def test_a_search_for_marginals_is_a_frame_and_its_levels_are_told_in_words() -> None:
    """One row per table, with no level where it lacks the column."""
    with engines.opened() as engine:
        found = ps.search(engine, people(), REQUIRE, ps.Marginals())
    frame = found.to_frame()
    assert (len(frame[frame.best]), len(frame[frame.minimal])) == (
        len(found.best["marginals"]),
        len(found.minimal),
    )
    levels = frame[["age", "job", "sex", "ill"]].astype(object)
    told = [{k: v for k, v in row.items() if not pd.isna(v)} for row in levels.to_dict("records")]
    assert told == [*map(dict, found.best["marginals"]), *(dict(table["levels"]) for table in found.minimal)]
    assert set(frame[frame.best].kl) == {found.best["values"]["kl"]}
    told_in_words = str(found)
    assert "ill exact" in told_in_words and "age in bands of " in told_in_words and "=" not in told_in_words


def test_too_many_collections_to_list_are_walked_and_the_best_met_is_not_called_optimal() -> None:
    with engines.opened() as engine:
        walked = ps.publish(engine, people(), REQUIRE, ps.Marginals(beam=1, most_choices=1))
        listed = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    assert walked.safe and not walked.search["optimal"] and listed.search["optimal"]
    assert walked.search["explored"] > 1 and walked.search["kl"] == pytest.approx(listed.search["kl"])


def test_a_limit_of_time_ends_the_same_search_with_the_same_collection_on_a_slow_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Work is limited first; how fast it is done, and the order an engine counts in, decide nothing."""
    monkeypatch.setattr(marginals, "WORK_PER_SECOND", 300)
    method = ps.Marginals(time_limit=200, most_choices=1)
    counted = OneColumn._count

    def slowly(search: OneColumn, marginal: Any) -> Any:
        time.sleep(0.002)
        found = counted(search, marginal)
        order = np.random.default_rng().permutation(len(found.arrays["n_rows"]))
        return replace(found, arrays={name: column[order] for name, column in found.arrays.items()})

    with engines.opened() as engine:
        found = ps.search(engine, people(), REQUIRE, method)
        monkeypatch.setattr(OneColumn, "_count", slowly)
        ran = ps.publish(engine, people(), REQUIRE, method)
    assert found.search["stopped"] == ran.search["stopped"] == "work limit"
    assert found.best["marginals"] == ran.choice["marginals"]
    assert found.search["explored"] == ran.search["explored"] and ran.safe


def test_a_table_that_is_injected_into_stays(engine: Any) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals(inject={"age": 2, "job": 1, "sex": 1}))
    levels = release.choice["marginals"]
    assert any(m.get("age", 9) <= 2 and m.get("job", 9) <= 1 and "ill" in m for m in levels)
    alone = ps.MarginalSet(engine, people(), [{"age": 2, "job": 1, "ill": 0}])
    assert release.search["kl"] <= alone.kl


def test_the_recipe_adds_one_marginal_without_the_sensitive_column(engine: Any) -> None:
    """The remark after Theorem 6.3: more is known, and diversity is that of the table alone."""
    table = {"age": 2, "job": 1, "sex": 1}
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals(inject=table, recipe=True))
    first, second = sorted(release.choice["marginals"], key=lambda m: "ill" not in m)
    assert first == {"age": 2, "job": 1, "ill": 0} and "ill" not in second
    alone = ps.MarginalSet(engine, people(), [{**table, "ill": 0}])
    assert release.search["kl"] < alone.kl
    diversity = str(REQUIRE[2])
    assert release.verdicts[diversity].value == ps.check(engine, alone, REQUIRE)[diversity].value


def test_as_many_marginals_hold_the_sensitive_column_as_allowed(engine: Any) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals(max_with_sensitive=1))
    assert sum("ill" in marginal for marginal in release.choice["marginals"]) == 1


def test_every_marginal_is_written_with_one_manifest(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    place = ps.write(engine, release, tmp_path / "people.csv")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["people.csv.manifest.json", *(f"people.{part}.csv" for part in release.parts)]
    content = ps.verify(place)
    assert ps.verify(tmp_path / "people.marginal_1.csv") == content
    assert content["choice"]["marginals"] == release.choice["marginals"]
    written = pd.read_csv(tmp_path / "people.marginal_1.csv")
    assert written["n_rows"].sum() == 400 and list(written) == sorted(written, key=lambda c: c == "n_rows")


def test_one_changed_byte_of_any_marginal_is_found(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    place = ps.write(engine, release, tmp_path / "people.csv")
    last = tmp_path / f"people.{list(release.parts)[-1]}.csv"
    last.write_bytes(last.read_bytes()[:-2] + b"7\n")
    with pytest.raises(NotSafe, match="changed since it was written"):
        ps.verify(place)


def test_an_old_collection_goes_whole_when_it_is_overwritten(engine: Any, tmp_path: Path) -> None:
    ps.write(engine, ps.publish(engine, people(), REQUIRE, ps.Marginals()), tmp_path / "people.csv")
    smaller = ps.publish(engine, people(), REQUIRE, ps.Marginals(collection=[{"age": 1}]))
    with pytest.raises(UsageError, match="exists"):
        ps.write(engine, smaller, tmp_path / "people.csv")
    ps.verify(ps.write(engine, smaller, tmp_path / "people.csv", overwrite=True))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"people.marginal_1.csv", "people.csv.manifest.json"}


def test_marginals_are_written_as_tables(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    place = ps.write(engine, release, "table:public_people", manifest_to=tmp_path / "m.manifest.json")
    assert ps.verify(place, engine)["output"]["relations"][0]["relation"] == "public_people_marginal_1"
    with pytest.raises(UsageError, match="database"):
        ps.verify(place)
    assert ps.write(engine, release, "table:public_people", overwrite=True, manifest_to=place) == place


def test_what_is_written_is_judged_and_not_what_was_chosen(tmp_path: Path) -> None:
    """The views of a finer collection behind the verdicts of a coarse one: the bytes give it away."""
    with engines.opened() as engine:
        coarse = ps.publish(engine, people(), REQUIRE, ps.Marginals(collection=[{"age": 2, "ill": 0}]))
        fine = ps.publish(engine, people(), REQUIRE, ps.Marginals(collection=[{"age": 0, "ill": 0}]))
        assert coarse.safe and not fine.safe
        with pytest.raises(NotSafe):
            lying = replace(coarse, proposal=replace(coarse.proposal, parts=fine.parts))
            ps.write(engine, lying, tmp_path / "people.csv")
    assert not list(tmp_path.iterdir())


def test_marginals_of_two_tables_are_refused_together(engine: Any, tmp_path: Path) -> None:
    """The foreign collection: totals that differ, then equal totals with counts that differ."""
    collection = ps.Marginals(collection=[{"age": 2, "sex": 0}, {"age": 2, "job": 0}])
    one = ps.publish(engine, people(), REQUIRE[:1], collection)
    ps.write(engine, one, tmp_path / "one.csv")
    for rows, problem in ((399, "different numbers of rows"), (400, "cells differently")):
        other = tmp_path / f"{rows}.csv"
        frame = pd.read_csv(tmp_path / "one.marginal_2.csv")
        frame.loc[0, "n_rows"] -= 400 - rows or 1
        frame.loc[1, "n_rows"] += rows == 400
        frame.iloc[0, 0] = frame.iloc[-1, 0] if rows == 400 else frame.iloc[0, 0]
        frame.to_csv(other, index=False)
        with engines.opened() as stranger:
            session = stranger.session([tmp_path / "one.marginal_1.csv", other])
            relations = {"a": session.source(tmp_path / "one.marginal_1.csv"), "b": session.source(other)}
            with pytest.raises(DataError, match=problem):
                read(session, relations, one.grouping)


def test_published_marginals_without_closed_form_are_judged_alike_and_name_the_same_cell(
    engine: Any, tmp_path: Path
) -> None:
    ring = ps.Marginals(collection=[{"age": 2, "job": 1}, {"job": 1, "sex": 0}, {"age": 2, "sex": 0}])
    release = ps.publish(engine, people(), REQUIRE[:2], ring)
    assert not release.grouping.decomposable and release.safe
    ps.write(engine, release, tmp_path / "people.csv")
    with engines.opened() as stranger:
        files = [tmp_path / f"people.{part}.csv" for part in release.parts]
        session = stranger.session(files)
        tables = read(session, {f.name: session.source(f) for f in files}, release.grouping)
        again = judge(tables, release.require)[str(REQUIRE[1])]
        named = again.witness.reveal()["cell"]
    meant = release.verdicts[str(REQUIRE[1])]
    assert again.value == meant.value and dict(again.witness) == dict(meant.witness)
    assert named.keys() == {"age", "job", "sex"}


def test_the_maximum_entropy_table_is_a_join_over_the_published_tables(engine: Any, tmp_path: Path) -> None:
    """What an analyst runs gives the counts that the package expects, and all rows together."""
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    ps.write(engine, release, "table:p", manifest_to=tmp_path / "m.manifest.json")
    found = ps.MarginalSet(engine, people(), release.choice["marginals"])
    query = found.maximum_entropy_sql([f"p_{part}" for part in _parts(found, release)])
    rows = engine.fetch(query)
    assert sum(row["expected"] for row in rows) == pytest.approx(400)
    women = sum(row["expected"] for row in rows if row["sex"] == "F")
    assert women == pytest.approx(float(found.expected_count({"sex": ["F"]})))


def _parts(found: Any, release: Any) -> list[str]:
    """The names of the parts in the order of the set's marginals."""
    names = dict(zip(map(str, release.choice["marginals"]), release.parts, strict=True))
    return [names[str(marginal)] for marginal in found.marginals]


def test_expected_counts_answer_questions_at_the_leaves(engine: Any) -> None:
    found = ps.MarginalSet(engine, people(), [{"age": 1, "ill": 0}, {"job": 1, "sex": 0}])
    assert found.expected_count({}) == 400
    old = found.expected_count({"age": lambda age: int(age) >= 40, "ill": ["a"]})
    exact = sum(
        int(a) >= 40 and i == "a" for a, i in zip(people().source["age"], people().source["ill"], strict=True)
    )
    assert old == exact  # age bands of 5 end at 40, and age and illness are published together
    with pytest.raises(UsageError, match="no column"):
        found.expected_count({"zip": ["1"]})


def test_samples_come_from_published_cells_only(engine: Any) -> None:
    found = ps.MarginalSet(engine, people(), [{"job": 1, "sex": 0}])
    rows = found.sample(200, np.random.default_rng(3))
    cells = found.max_entropy()
    assert all(cells[row] > 0 for row in rows) and len({row[1] for row in rows}) == 4


def test_samples_fall_on_cells_as_often_as_the_table_expects(engine: Any) -> None:
    found = ps.MarginalSet(engine, people(), [{"job": 1, "ill": 0}, {"sex": 0, "ill": 0}])
    rows = found.sample(20_000, np.random.default_rng(8))
    expected = found.expected_count({"sex": ["F"], "ill": ["a"]}) / 400
    drawn = sum(row[2] == "F" and row[3] == "a" for row in rows) / 20_000
    spread = (float(expected) * (1 - float(expected)) / 20_000) ** 0.5
    assert abs(drawn - float(expected)) < 4 * spread


def test_a_domain_of_all_declared_values_is_another_divergence_and_is_told(engine: Any) -> None:
    """A hierarchy with a job that nobody has: suppressed columns are spread over it as well."""
    wide = ps.Tree({**{job: list(path) for job, *path in JOBS.rows()}, "tailor": ["cloth", "*"]})
    table = replace(people(), quasi={"age": ps.Intervals(5, 20), "job": wide, "sex": ps.KeepOrDrop()})
    table = replace(table, domains={"age": [str(n) for n in range(20, 60)], "sex": ["F", "M", None]})
    table = replace(table, domains={**table.domains, "ill": list("abcde")})
    kls = [ps.MarginalSet(engine, table, [{"sex": 0}], domain=d).kl for d in ("active", "hierarchy")]
    assert kls[1] - kls[0] == pytest.approx(log(5 / 4), abs=1e-9)
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    assert release.search["domain"] == "active"


def test_nothing_safe_says_so(engine: Any) -> None:
    with pytest.raises(NoSafeChoice, match="no collection"):
        ps.publish(engine, people(), [ps.KLink(4), ps.MaxentLDiversity(l=9, c=3)], ps.Marginals())


def test_k_larger_than_the_table_says_so(engine: Any) -> None:
    with pytest.raises(NoSafeChoice, match="more than the 400 rows"):
        ps.publish(engine, people(), [ps.KLink(401)], ps.Marginals())


def test_an_unsafe_table_is_not_injected_into(engine: Any) -> None:
    with pytest.raises(NoSafeChoice, match="does not meet"):
        ps.publish(engine, people(), REQUIRE, ps.Marginals(inject={"age": 0, "job": 0, "sex": 0}))


def test_a_search_refuses_what_no_requirement_tells_it_how_to_decide(engine: Any) -> None:
    """Somebody's own requirement would hold of every collection if nobody asked it."""

    class Unasked(ps.KLink):
        def judge(self, evidence: Any) -> ps.Verdict:
            return self.verdict(None, ps.Witness({}), safe=False)

    class Behind(ps.KLink, ps.TCloseness):
        """A mixin behind it may judge as well."""

    class Silent(Criterion):
        name, relation, against, question = "silent", ">=", "nobody", "Is it asked?"
        of_marginals = True

    class Asked(Silent):
        name = "asked"
        in_marginals = property(lambda self: self)
        smallest_cell = 1

        def holds_of(self, joined: Any) -> bool:
            return not joined.cliques

    class InWords(ps.KLink):
        question = "Is anybody alone in a table?"

    for own in (Unasked(4), Silent()):
        for ask in (ps.search, ps.publish):
            with pytest.raises(UsageError, match="does not say how a search for marginals decides it"):
                ask(engine, people(), [own, ps.KCombinatorial(4)], ps.Marginals())
    assert Unasked(4).in_marginals is Behind(4).in_marginals is None
    given = ps.Marginals(collection=[{"age": 1}])
    assert not ps.publish(engine, people(), [Unasked(4)], given).safe
    told, ours = (ps.search(engine, people(), [kind(4)], ps.Marginals()) for kind in (InWords, ps.KLink))
    assert told.best == ours.best and any("ill" in marginal for marginal in ours.best["marginals"])
    search = MarginalSearch(count(engine, people()), (Asked(), ps.KLink(4)))
    found = search.best(10, 10_000, np.random.default_rng(0), Limits())
    chosen = search.space.marginals(found.best)
    assert chosen and not any("ill" in search.attributes.levels(marginal) for marginal in chosen)


def test_requirements_on_one_table_are_refused(engine: Any) -> None:
    with pytest.raises(UsageError, match="applies to one table"):
        ps.publish(engine, people(), [ps.KAnonymity(2)], ps.Marginals())
    with pytest.raises(UsageError, match="applies to one table"):
        ps.check(engine, ps.MarginalSet(engine, people(), [{"age": 1}]), [ps.LDiversity(2)])


@pytest.mark.parametrize(
    ("collection", "problem"),
    [
        ([[("age", 1), ("age", 2)]], "two levels"),
        ([{"zip": 0}], "neither a quasi-identifier"),
        ([{}], "shows no column"),
        ([{"age": 3}], "shows no column"),
        ([{"age": 7}], "levels 0 to 3"),
        ([{"age": True}], "levels 0 to 3"),
        ([], "has no marginals"),
    ],
)
def test_a_collection_that_makes_no_sense_is_refused(engine: Any, collection: Any, problem: str) -> None:
    with pytest.raises(PrivacySqlError, match=problem):
        ps.MarginalSet(engine, people(), collection)


def test_everything_wrong_with_a_collection_is_said_at_once(engine: Any) -> None:
    with pytest.raises(PrivacySqlError) as problem:
        ps.MarginalSet(engine, people(), [{"agee": 0}, {"job": 9}])
    assert 'Did you mean "age"?' in str(problem.value) and "job has the levels" in str(problem.value)


@pytest.mark.parametrize(
    "params", [{"collection": [], "inject": {}}, {"recipe": True}, {"beam": 0}, {"max_with_sensitive": 0}]
)
def test_bad_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ps.Marginals(**params)


def test_a_written_release_can_be_injected_into_by_its_manifest(engine: Any, tmp_path: Path) -> None:
    require = [ps.KAnonymity(4), ps.LDiversity(l=2, kind="recursive", c=3, strict=False)]
    table = ps.publish(engine, people(), require, ps.Generalise({"age": 2, "job": 1, "sex": 1}))
    place = ps.write(engine, table, tmp_path / "table.csv")
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals(inject=str(place)))
    assert any(contains((3, 3, 3), (1,) * 3) and "ill" in m for m in release.choice["marginals"])


def test_a_written_release_is_injected_into_only_with_the_counts_it_has(engine: Any, tmp_path: Path) -> None:
    """The file that is out and the table of today are one; else what leaves is not what was judged."""
    require = [ps.KAnonymity(4), ps.LDiversity(l=2, kind="recursive", c=3, strict=False)]
    method = ps.Generalise({"age": 2, "job": 1, "sex": 1})
    table = ps.publish(engine, people(), require, method)
    place = ps.write(engine, table, tmp_path / "table.csv")
    inject = ps.Marginals(inject=str(place))

    today = people()
    frame = today.source.copy()
    frame.loc[:9, "ill"] = "a"  # the counts of the source are others now
    changed = replace(today, source=frame)
    with pytest.raises(UsageError, match="does not have the counts of today's table"):
        ps.publish(engine, changed, REQUIRE, inject)

    file = tmp_path / "table.csv"
    whole = file.read_bytes()
    head, *rows = whole.decode().splitlines(keepends=True)
    for edited in (whole + rows[0].encode(), "".join([head, *sorted(rows, reverse=True)]).encode(), None):
        file.unlink()
        if edited is not None:
            file.write_bytes(edited)
        with pytest.raises(NotSafe, match="changed since it was written"):
            ps.publish(engine, people(), REQUIRE, inject)
        file.write_bytes(whole)
    assert ps.publish(engine, people(), REQUIRE, inject).safe


def of_two_columns(seed: int) -> pd.DataFrame:
    draw = random.Random(seed)
    rows = [(draw.choice("12"), draw.choice("ab"), draw.choice("xyz"), draw.choice("uv")) for _ in range(40)]
    return pd.DataFrame(rows, columns=["age", "sex", "ill", "pay"])


TWO = [{"age": 0, "ill": 0}, {"sex": 0, "pay": 0}, {"ill": 0, "pay": 0}]


@pytest.mark.parametrize(
    "collection", [TWO, TWO[:2], [{"age": 0, "sex": 0}, {"pay": 0, "ill": 0, "sex": 0}], [{"age": 0}]]
)
@pytest.mark.parametrize("seed", seeds(2))
def test_each_of_several_sensitive_columns_is_judged_with_the_others_as_quasi_identifiers(
    engine: Any, seed: int, collection: list[dict[str, int]]
) -> None:
    rows, quasi = of_two_columns(seed), {"age": None, "sex": None}
    require = [ps.KLink(2), ps.KCombinatorial(2), ps.MaxentLDiversity(2, c=3)]
    require += [ps.MaxentLDiversity(2, kind="relaxed", epsilon="0.2")]
    together = ps.check(
        engine, ps.MarginalSet(engine, ps.Table(rows, quasi, ("ill", "pay")), collection), require
    )
    assert len(together) == 8
    for one, other in (("ill", "pay"), ("pay", "ill")):
        alone = ps.MarginalSet(engine, ps.Table(rows, {**quasi, other: None}, one), collection)
        for name, verdict in ps.check(engine, alone, require).items():
            found = together[f"{name} for {one}"]
            assert (found.value, found.safe, found.limit) == (verdict.value, verdict.safe, verdict.limit)


def test_a_collection_with_two_sensitive_columns_is_published_audited_and_put_together_again(
    engine: Any, tmp_path: Path
) -> None:
    rows = of_two_columns(1)
    table = ps.Table(rows, {"age": ps.KeepOrDrop(), "sex": ps.KeepOrDrop()}, ("ill", "pay"), name="two")
    require = [ps.KLink(2), ps.MaxentLDiversity(2, c=5)]
    release = ps.publish(engine, table, require, ps.Marginals(collection=TWO))
    assert list(release.verdicts) == [f"{asked} for {one}" for one in ("ill", "pay") for asked in require]
    manifest = ps.write(engine, release, tmp_path / "two.csv")
    ps.verify(manifest)
    received = ps.reconstruct(manifest, engine)
    cells = {cell.values: cell for cell in received.query("ill, pay").cells}
    assert {values: cell.least for values, cell in cells.items()} == dict(rows.groupby(["ill", "pay"]).size())
    unsafe = ps.publish(
        engine, table, [ps.MaxentLDiversity(3, kind="distinct")], ps.Marginals(collection=TWO)
    )
    assert [verdict.safe for verdict in unsafe.verdicts.values()] == [True, False]
    with pytest.raises(NotSafe):
        ps.write(engine, unsafe, tmp_path / "unsafe.csv")


def test_errors_and_manifests_hold_no_value(engine: Any, tmp_path: Path) -> None:
    release = ps.publish(engine, people(), REQUIRE, ps.Marginals())
    text = ps.write(engine, release, tmp_path / "people.csv").read_text()
    told = text.partition('"sql"')[0]
    assert "baker" not in told and "35-39" not in told


@pytest.mark.parametrize("more", [{"identifier": "id", "values_per_person": "set"}, {"group": "g"}])
def test_tables_whose_rows_are_not_people_in_columns_are_refused(engine: Any, more: dict[str, str]) -> None:
    rows = pd.DataFrame({"id": ["1", "2"], "g": ["x", "y"], "age": ["1", "2"], "ill": ["a", "b"]})
    with pytest.raises(UsageError, match="marginals"):
        ps.MarginalSet(engine, ps.Table(rows, ["age"], "ill", **more), [{"age": 0}])


def test_the_relaxation_counts_values_nearly_as_likely_as_the_first(engine: Any) -> None:
    rows = pd.DataFrame({"a": list("0000000"), "ill": list("aaabbbc")})
    found = ps.MarginalSet(engine, ps.Table(rows, ["a"], "ill"), [{"a": 0, "ill": 0}])
    assert [found.relaxed_diversity(e) for e in ("0", "0.6", "0.7")] == [2, 2, 3]
    with pytest.raises(UsageError):
        found.relaxed_diversity("1")


def test_standalone_sql_gives_the_published_cells_and_their_join(engine: Any) -> None:
    """What `compile` prints for a collection, run by hand on the source."""
    frame = people().source
    engine.write_table(ps.Query(f"select age, job, sex, ill from {engine.source(frame)}"), "people")
    table = ps.Table("people", people().hierarchies, "ill")
    collection = [{"age": 1, "sex": 0}, {"age": 2, "job": 1, "ill": 0}]
    release = ps.publish(engine, table, REQUIRE[:1], ps.Marginals(collection=collection))
    *parts, together = compiled_marginals(table, release.choice["marginals"])
    counts = release.base.engine
    for number, (statement, view) in enumerate(zip(parts, release.parts.values(), strict=True), start=1):
        assert sorted(map(str, engine.fetch(statement.query))) == sorted(map(str, counts.fetch(view)))
        engine.write_table(statement.query, f"people_marginal_{number}")
    assert sum(row["expected"] for row in engine.fetch(together.query)) == pytest.approx(400)


def test_standalone_sql_says_where_there_is_no_closed_form() -> None:
    ring = [{"age": 0, "job": 0}, {"job": 0, "sex": 0}, {"age": 0, "sex": 0}]
    assert "No closed form" in compiled_marginals(people(), ring)[-1].text("postgres")
