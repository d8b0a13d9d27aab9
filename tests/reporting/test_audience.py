"""What a public report keeps to itself, against a reader who can add and subtract."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.kernels.composition.intersection import Tally, summarise
from privacy_sql.publishing.baseline import Guess
from privacy_sql.reporting import crowds
from privacy_sql.reporting.audience import UNTOLD, masked
from privacy_sql.reporting.page import material_of, page
from privacy_sql.reporting.recording import recorded
from privacy_sql.reporting.sections import Material, intersection
from tests import engines


def run(k: int) -> dict[str, Any]:
    verdict = {
        "requirement": f"k_anonymity(k={k})",
        "params": {"k": k},
        "unit": "people",
        "value_float": 12.0,
        "criterion": "k_anonymity",
        "safe": True,
        "value": "12",
        "limit": str(k),
        "relation": ">=",
        "exact": True,
        "question": "q",
        "against": "a",
        "estimated": 0,
    }
    return {"verdicts": [{**verdict, "witness": {"size": 12}, "story": "s", "notes": ["n"]}], "suppressed": 8}


def attack(*fates: int) -> dict[str, Any]:
    """The records of an attack: people unlocated, contradicted, then by anonymity before and after."""
    unlocated, contradicted, *rest = fates
    found = zip([(2, 1), (1, 1), (3, 2), (2, 2), (4, 3), (3, 3)], rest, strict=True)
    tallies = [Tally(before, after, n, (before, before)) for (before, after), n in found if n]
    tallies += [Tally(2, 0, contradicted, (2, 2))] if contradicted else []
    whole = summarise(tallies, people=sum(fates), releases=2, levels=(Fraction(1), Fraction(1, 2)))
    assert whole.n_unlocated == unlocated
    return {
        "P": whole.people,
        "VP": whole.vulnerable,
        "PVP": {str(level): str(share) for level, share in whole.percent_at.items()},
        **{name: getattr(whole, name) for name in ("n_ok", "n_empty", "n_unlocated")},
        **{name: str(getattr(whole, name)) for name in ("perfect", "perfect_new")},
    }


def public(k: int, found: dict[str, Any]) -> dict[str, Any]:
    return dict(masked({"run": run(k), "attack_intersection": found})["attack_intersection"])


def test_counts_below_the_k_that_is_required_are_hidden_and_the_records_stay() -> None:
    records = {"run": run(9)}
    shown = masked(records)["run"]
    assert str(shown["suppressed"]) == "fewer than 9" and shown["verdicts"][0]["witness"] == {}
    assert records["run"] == run(9)


def test_a_hidden_count_is_never_the_only_one_it_can_be() -> None:
    assert str(masked({"run": {**run(2), "suppressed": 1}})["run"]["suppressed"]) == "fewer than 3"


def test_no_count_below_k_follows_from_what_is_told_of_an_attack() -> None:
    """Not even for a reader who knows what is hidden when: every attack on eight people, k = 3."""
    alike: dict[str, list[tuple[int, ...]]] = {}
    for cuts in combinations(range(15), 7):
        fates = [after - before - 1 for before, after in pairwise([-1, *cuts, 15])]
        found = attack(*fates)
        alike.setdefault(repr(public(3, found)), []).append((*fates, found["n_ok"], found["VP"]))
    assert len(alike) > 5
    for tables in alike.values():
        known = [counts[0] for counts in zip(*tables, strict=True) if len(set(counts)) == 1]
        assert not [count for count in known if 0 < count < 3], tables


def test_an_attack_is_told_in_tenths_and_no_count_of_it() -> None:
    for found in (attack(0, 0, 50, 50, 100, 200, 300, 300), attack(0, 4, 50, 46, 100, 200, 300, 300)):
        shown = public(5, found)
        section = intersection.section(Material("r", "public", run(5), {"attack_intersection": shown}))
        assert [text for _, text in section.content["rows"]] == ["at most 10 %", "at most 40 %"]
        assert (section.content["people"], section.content["found"]) == (None, None)


def groups_of(people: int, start: int = 1, top: int = 1) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every way to put some people into groups: how many, and how many of them share the commonest value."""
    if not people:
        yield ()
    for n in range(start, people + 1):
        for most in range(top if n == start else 1, n + 1):
            for rest in groups_of(people - n, n, most):
                yield ((n, most), *rest)


@pytest.mark.parametrize(
    ("k", "everybody", "releases"), [(3, 12, 1479), (3, 14, 4167), (4, 13, 2485), (5, 13, 2485)]
)
def test_no_count_below_k_follows_from_the_counts_of_a_page(k: int, everybody: int, releases: int) -> None:
    """For a reader who knows what is hidden when: every release of so many people.

    They see every count and share on the page but the best guess, which is what the page is about.
    """
    alike: dict[str, list[dict[str, int]]] = {}
    for groups in groups_of(everybody):
        guess = Guess(tuple((n, top, groups.count((n, top))) for n, top in sorted(set(groups))))
        told = crowds.told([guess], k)
        assert told is not None and told["people"] == everybody
        record = {"as_published": guess.to_json(), "known": {}}
        found = {"k": k, "before": None, "reader": None, "as_published": told, "known": None}
        shown = masked({"run": {**run(k), "rows_out": everybody, "baseline": record, "crowds": found}})["run"]
        reader, page_of = dict(shown["baseline"]["as_published"]), shown["crowds"]["as_published"]
        del reader["worst_guess"]
        counts = {name: told[name] for name in ("alone", "certain", "below")}
        counts |= {f"above {sure}": n for sure, n in told["people_above"].items()}
        counts |= {f"alike {low}": n for low, _, n in told["by_size"]}
        counts |= {f"guessed {place}": n for place, n in enumerate(told["by_guess"])}
        if reader["smallest"] is None and page_of is None:
            # beside how many people are in groups of each size, which it then hides too
            counts["people of the smallest group"] = min(n for n, _ in groups)
        alike.setdefault(f"{reader} {page_of}", []).append(counts)
    assert len(alike) > 100 and sum(map(len, alike.values())) == releases
    for view, same in alike.items():
        for name in same[0]:
            possible = {counts[name] for counts in same}
            assert len(possible) > 1 or not 0 < next(iter(possible)) < k, (view, name, possible)


def test_a_page_with_few_people_guessed_counts_none_and_stays_amber(tmp_path: Path) -> None:
    # three people who can be guessed better than one half, beside many who cannot
    rows = [("a", "x", "1")] * 2 + [("a", "y", "2")] + [("b", ill, "3") for ill in "xy" * 8]
    rows += [("c", ill, "4") for ill in "xyzw" * 10]
    frame = pd.DataFrame(rows, columns=["age", "ill", "job"])
    free = {"columns": ["job"], "acknowledge": "wanted"}
    for insensitive in (None, free):
        with engines.opened() as engine:
            more = {"insensitive": insensitive} if insensitive else {"drop": ["job"]}
            table = ps.Table(frame, ["age"], "ill", **more)
            release = ps.publish(engine, table, [ps.LDiversity(2)], ps.Generalise())
            text = ps.report(release, tmp_path / "few.html", audience="public").read_text(encoding="utf-8")
        plain = " ".join(
            html.unescape(re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", text, flags=re.DOTALL)).split()
        )
        assert "Guessed over 50 % not told" in plain and "Only one row fits not told" in plain
        assert "✖ 3" not in plain and "right 33.9 %" not in plain
        # whom it singles out is not counted, and the limits are called weak all the same
        assert ("they are weak" in plain) == bool(insensitive)
        assert ("finds people alone, or few alike" in plain) == bool(insensitive)


def test_an_attack_on_fewer_people_than_k_is_not_told() -> None:
    shown = public(5, attack(0, 0, 1, 0, 0, 0, 0, 3))
    assert (
        "too few"
        in intersection.section(Material("r", "public", run(5), {"attack_intersection": shown})).missing
    )


@pytest.mark.parametrize("rare", ["yy", "yyyyzzzz"])
def test_no_cost_of_a_release_tells_how_many_rows_it_suppresses(tmp_path: Path, rare: str) -> None:
    frame = pd.DataFrame({"a": [*("x" * 40), *rare], "ill": (["1", "2"] * 24)[: 40 + len(rare)]})
    with engines.opened() as engine:
        table, method = (
            ps.Table(frame, {"a": ps.KeepOrDrop()}, "ill"),
            ps.Generalise({}, max_suppressed="0.2"),
        )
        release = ps.publish(engine, table, [ps.KAnonymity(6)], method)
        text = ps.report(release, tmp_path / "few.html", audience="public").read_text()
        best = ps.FullDomain(minimise="discernibility", max_suppressed="0.2")
        found = ps.search(engine, table, [ps.KAnonymity(6)], best)
    # each suppressed row costs as many as there are rows
    assert f"{40**2 + len(rare) * (40 + len(rare)):,}" not in text and UNTOLD in text
    assert "search" not in masked({"run": run(6), "search": found.to_json()})


def marked(record: Any, mark: str) -> Any:
    """A record with a key nobody knows in every mapping."""
    if isinstance(record, dict):
        return {**{name: marked(part, mark) for name, part in record.items()}, f"un{mark}": mark}
    return [marked(part, mark) for part in record] if isinstance(record, list) else record


@pytest.mark.parametrize("method", ["generalise", "bucketize"])
def test_a_record_with_an_unknown_name_reaches_no_public_page(tmp_path: Path, method: str) -> None:
    frame = pd.DataFrame({"a": [*("xy" * 20)], "ill": ["1", "2", "2", "1"] * 10})
    kinds = {"generalise": ps.Generalise({"a": 1}), "bucketize": ps.Bucketize([])}
    with engines.opened() as engine:
        table = ps.Table(frame, {"a": ps.KeepOrDrop()}, "ill")
        release = ps.publish(
            engine, table, [ps.KAnonymity(6), ps.BTPrivacy(bandwidth="1", t="0.9")], kinds[method]
        )
        found = {"release": "r", "run": recorded(release), "search": {}, "every_choice": {}, "new": {}}
    plain = {**found, "run": {**found["run"], "hierarchies": {}}}
    names = ("run", "search", "every_choice", "new")
    canary = {**plain, **{name: marked(plain[name], "CANARY") for name in names}}
    for mapping in ("roles", "hierarchies"):  # their names are columns of the release
        canary["run"][mapping].pop("unCANARY")
    canary["run"]["baseline"]["known"].pop("unCANARY", None)
    canary["run"]["choice"] = {**plain["run"]["choice"], "unCANARY": "CANARY"}
    for verdict in (*canary["run"]["verdicts"], canary["run"]["unasked"]):
        verdict["params"].pop("unCANARY")  # what somebody declared
    (tmp_path / "page.html").write_text(page(material_of(canary, "public")).html)
    assert "CANARY" not in (tmp_path / "page.html").read_text()
    assert "CANARY" not in str(masked(canary))


def test_a_report_of_noise_names_its_columns_and_counts_nothing_of_the_source(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": ["1"] * 20 + ["2"] * 3, "ill": ["a"] * 23})
    domains = {"age": {"from": 1, "to": 40}, "ill": ["a", "b"]}
    method = ps.NoisyCounts(epsilon=1, marginals=[["age"], ["ill"]], ledger=str(tmp_path / "ledger.jsonl"))
    with engines.opened() as engine:
        release = ps.publish(engine, ps.Table(frame, ["age"], "ill", domains=domains), [], method)
        columns = recorded(release)["columns"]
        text = ps.report(release, tmp_path / "noise.html", audience="public").read_text()
    assert [(c["name"], c["shown"], c["levels"], c["before"]) for c in columns] == [
        ("age", True, [0], None),
        ("ill", True, [0], None),
    ]
    assert "in count tables" in text and "nothing was published" not in text


def test_rows_left_out_or_written_again_are_told_in_steps_that_add_up() -> None:
    for suppressed, repeated, told in (
        (10, 2, ["at least 29", "20", "at least 9", "fewer than 9"]),
        (10, 0, ["at least 29", "20", "at least 9", "fewer than 9"]),
        (8, 18, ["at least 38", "20", "fewer than 9", "at least 18"]),
        (0, 0, ["at least 20", "20", "fewer than 9", "fewer than 9"]),
    ):
        counts = {"rows_out": 20, "suppressed": suppressed, "repeated": repeated}
        found = {**run(9), **counts, "rows_in": 20 + suppressed + repeated, "step": 9}
        shown = masked({"run": found})["run"]
        assert [str(shown[name]) for name in ("rows_in", "rows_out", "suppressed", "repeated")] == told
    # nothing may be left out, so nothing is hidden
    exact = {**run(9), "rows_in": 20, "rows_out": 20, "suppressed": 0, "repeated": 0, "step": None}
    assert masked({"run": exact})["run"]["rows_in"] == 20
    # what 0.1.0 recorded does not say whether some may be
    old = {**run(9), "rows_in": 28, "rows_out": 20, "suppressed": 8, "repeated": 0}
    assert str(masked({"run": old})["run"]["suppressed"]) == "fewer than 9"
