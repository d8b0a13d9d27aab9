"""The numbers below those that decide: requirements, ladder, story, columns, risk, curves, skyline, detail.

Each is worked out again from the published rows by its definition, for every method whose rows show groups
and for both audiences; what a public page does not tell must not stand there.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import comb, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privacy_sql.reporting.words import count, number, number_of, people, percent
from tests.oracles import classical
from tests.oracles.worst_case import recursion_of_the_paper
from tests.reporting.test_every_report import ILL, METHODS
from tests.reporting.test_numbers import SEVERAL, groups, guess, lines_of, rungs
from tests.reporting.test_report import drawn, explored

OF_ROWS = [name for name in METHODS if name not in SEVERAL]
FEWEST = 3  # people that a public page of these releases tells of, who ask for groups of two
ASKED = re.compile(
    r'(?:<p class="axis-bar" role="img" aria-label="(\d+) %[^"]*">.*?)?'
    r'<p class="measured \w+">[✔✖] ([^<]*)</p><p class="mut">([^<]*?) · .*?<code>([^<]*)</code>',
    re.DOTALL,
)
Groups = Mapping[tuple[str, ...], Counter[str]]


class Seen:
    """One page, the file it is about, and what a pencil makes of that file."""

    def __init__(self, folder: Path, name: str, audience: str) -> None:
        self.page = folder / audience / f"{name}.html"
        self.text = html.unescape(self.page.read_text(encoding="utf-8"))
        self.manifest = json.loads((folder / "out" / f"{name}.csv.manifest.json").read_text("utf-8"))
        self.rows = lines_of(folder / "out" / f"{name}.csv")
        self.source = lines_of(folder / "people.csv")
        self.groups: Groups = groups(folder / "out" / f"{name}.csv")
        self.sizes = sorted(values.total() for values in self.groups.values())
        self.internal = audience == "internal"

    def plain(self, element: str) -> str:
        """The text of one section."""
        found = re.search(rf'<section[^>]*id="{element}".*?</section>', self.text, re.DOTALL)
        return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split()) if found else ""


@pytest.fixture(params=["internal", "public"])
def audience(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=OF_ROWS)
def seen(
    every_method: tuple[Path, dict[str, Any]],
    request: pytest.FixtureRequest,
    audience: str,
) -> Seen:
    return Seen(every_method[0], request.param, audience)


def test_what_was_measured_of_each_requirement(seen: Seen, every_method: tuple[Path, dict[str, Any]]) -> None:
    alike = [(key, ill) for key, values in seen.groups.items() for ill in values.elements()]
    told = {rule: (used, value, limit) for used, value, limit, rule in ASKED.findall(seen.text)}
    run = {v["requirement"]: v for v in every_method[1][seen.page.stem]["verdicts"]}
    assert set(told) == set(run)
    for rule, (used, value, limit) in told.items():
        bound = int(re.findall(r"\d+", rule)[-1])
        if rule.startswith("k_anonymity"):
            found = classical.k_anonymity(alike, bound).value
            few = not seen.internal and found < FEWEST
            assert value == (f"fewer than {FEWEST} people" if few else f"{found} people")
            assert limit == f"at least {bound} people"
        else:
            found = classical.distinct_l_diversity(alike, Fraction(bound)).value
            assert value == f"{found} values" and limit == f"at least {bound} values"
        if seen.internal:
            assert run[rule]["value"] == str(found)
            assert int(used) == round(100 * bound / found)


def test_how_many_groups_there_are_and_how_large_they_are(seen: Seen) -> None:
    least, middle, most = seen.sizes[0], seen.sizes[len(seen.sizes) // 2], seen.sizes[-1]
    many = number_of(len(seen.sizes), "group", "groups")
    sentence = (
        f"{many}, from {people(least)} to {people(most)}; half of the groups have {people(middle)} or more."
    )
    # a small count hides those beside it, and one of three where so few are told of: it could only be two
    guessed, alike = Counter[str](), Counter(seen.sizes)
    for values in seen.groups.values():
        guessed[guess(Fraction(max(values.values()), values.total()))] += values.total()
    few = any(0 < n <= FEWEST for n in [*guessed.values(), *(size * n for size, n in alike.items())])
    hidden = not seen.internal and (least < FEWEST or few)
    assert (sentence in seen.plain("people")) or hidden
    if not seen.internal and (least < FEWEST or any(0 < n <= FEWEST for n in guessed.values())):
        assert sentence not in seen.plain("people")
    # half of them are indeed as large
    assert 2 * sum(size >= middle for size in seen.sizes) >= len(seen.sizes)


def test_how_sure_somebody_with_facts_is(seen: Seen) -> None:
    counts = [list(values.values()) for values in seen.groups.values()]
    by_hand = [recursion_of_the_paper(counts, facts) for facts in range(13)]
    # with negations alone: the values of one person are ruled out, the most common others first
    denied = [
        max(
            Fraction(n, values.total() - sum(sorted(others, reverse=True)[:facts]))
            for values in seen.groups.values()
            for value, n in values.items()
            for others in [[m for other, m in values.items() if other != value]]
        )
        for facts in range(13)
    ]
    shown = drawn(seen.page)["facts"]
    assert [int(row[0]) for row in shown] == list(range(13))
    assert [row[1] for row in shown] == [percent(float(share)) for share in by_hand]
    assert [row[2] for row in shown] == [percent(float(share)) for share in denied]
    sure = rungs(seen.page.read_text(encoding="utf-8"))
    assert sure["A well-informed neighbour"] == percent(float(by_hand[3]))
    certain = next((facts for facts, share in enumerate(by_hand) if share == 1), None)
    assert ("An insider" in sure) == (certain is not None and certain > 3)
    if "An insider" in sure:
        assert f"also knows the worst {certain} facts about others" in seen.text


def test_the_easiest_person_is_in_such_a_group(seen: Seen) -> None:
    card = re.search(r'<section class="card story-card".*?</section>', seen.text, re.DOTALL)
    assert (card is not None) == seen.internal
    if card is None:
        return
    told = " ".join(re.sub(r"<[^>]+>", " ", card[0]).split())
    best = max(Fraction(max(values.values()), values.total()) for values in seen.groups.values())
    n = int(re.findall(r"(\d+) people in the file agree in", told)[0])
    everybody = f"All of them have the same {ILL}" in told
    top = n if everybody else int(re.findall(rf"(\d+) of them ha(?:s|ve) the same {ILL}", told)[0])
    alike = sum(values.total() == n and max(values.values()) == top for values in seen.groups.values())
    assert Fraction(top, n) == best and alike
    if not everybody:
        assert f"right {percent(float(best))} of the time" in told
    assert (f"There are {count(alike)} such groups." in told) == (alike > 1)
    figures, marked = card[0].count("<use"), card[0].count('class="same"') + card[0].count('class="bad"')
    assert figures == min(n, 60) and (figures < n or marked == top)


def test_every_column_before_and_after(seen: Seen) -> None:
    table = re.search(r'<table class="cols.*?</table>', seen.text, re.DOTALL)
    assert table
    for name in ("age", "sex", ILL):
        row = re.search(rf"<tr[^>]*><th[^>]*><code>{name}</code>.*?</tr>", table[0], re.DOTALL)
        if row is None:
            assert name not in seen.rows[0]
            continue
        before = {line[name] for line in seen.source}
        many = re.findall(r'<td class="many">(\d+) values?', row[0])
        assert many == ([str(len(before))] if seen.internal else [])
        shown = re.findall(r", (\d+) values?</td>", row[0])
        if shown:
            assert seen.internal and int(shown[0]) == len({line[name] for line in seen.rows})


def test_the_risk_of_being_found(seen: Seen) -> None:
    told = seen.plain("risk")
    assert bool(told) == seen.internal
    if not told:
        return
    everybody = sum(seen.sizes)
    assert f"one of the {count(everybody)} published people" in told
    assert f"finds their group, one of {count(len(seen.sizes))}," in told
    rows = re.search(r'<section[^>]*id="risk".*?<tbody>(.*?)</tbody>', seen.text, re.DOTALL)
    assert rows
    largest, average, *above = re.findall(r'<td class="n"[^>]*>([^<]*)</td>', rows[1].split("</tr>")[0])
    thresholds = [Fraction(word) for word in re.findall(r'data-label="People above ([\d.]+)"', rows[1])][:4]

    def share(number: Fraction) -> str:
        return f"{float(100 * number):.1f} %"

    assert largest == share(Fraction(1, seen.sizes[0]))
    assert average == share(Fraction(len(seen.sizes), everybody))
    for word, limit in zip(above, thresholds, strict=True):
        at_risk = Fraction(sum(n for n in seen.sizes if Fraction(1, n) > limit), everybody)
        assert float(word.removesuffix(" %")) == pytest.approx(float(100 * at_risk), abs=0.051)


def test_the_skyline_along_each_kind_of_knowledge(seen: Seen) -> None:
    """Each kind by itself, from its definition, for every value that is drawn."""
    data = explored(seen.page)["skyline"]
    overall = Counter(ill for values in seen.groups.values() for ill in values.elements())
    ranked = sorted(overall.values(), reverse=True)
    assert len(data["values"]) == len(overall)
    for one in data["values"]:
        n = ranked[int(one["label"].split()[1]) - 1]
        able = [value for value in overall if overall[value] == n]
        breach = one["breach"]
        shown = (
            [breach[amount][0][0] for amount in range(len(breach))],
            [breach[0][amount][0] for amount in range(len(breach[0]))],
            [breach[0][0][amount] for amount in range(len(breach[0][0]))],
        )
        assert any(
            all(
                abs(10_000 * float(by_hand(seen.groups, value, amount)) - found) <= 1
                for by_hand, its in zip((ruled_out, known, family), shown, strict=True)
                for amount, found in enumerate(its)
            )
            for value in able
        ), one["label"]


def test_the_sentence_of_the_skyline_is_as_much_as_is_not_enough_of_each_kind(seen: Seen) -> None:
    data = explored(seen.page)["skyline"]
    said = re.search(r'id="skyline-summary"[^>]*>([^<]*)<', seen.text)
    assert said
    breach, stop = data["values"][data["value"]]["breach"], 100 * data["limit"]
    of_each = ([row[0][0] for row in breach], breach[0][0], [row[0] for row in breach[0]])
    ruled_out, family, known = (
        [n for n in range(end + 1) if all(chance < stop for chance in row[: n + 1])]
        for row, end in zip(of_each, [data["shown"][kind] for kind in (0, 2, 1)], strict=True)
    )
    if not ruled_out:
        assert "not safe even when nothing more is known" in said[1]
        return
    told = re.findall(r"(\d+) (?:other values?|other person|other people|family members?)", said[1])
    assert list(map(int, told)) == [ruled_out[-1], known[-1], family[-1]]


def ruled_out(of: Groups, value: str, amount: int) -> Fraction:
    """The target has none of so many other values of the group."""
    return max(
        Fraction(n, values.total() - sum(sorted(others, reverse=True)[:amount]))
        for values in of.values()
        if (n := values[value])
        for others in [[m for other, m in values.items() if other != value]]
    )


def known(of: Groups, value: str, amount: int) -> Fraction:
    """Up to so many others of the group are known, none of them with the value."""
    return max(
        Fraction(n, values.total() - min(amount, values.total() - n))
        for values in of.values()
        if (n := values[value])
    )


def family(of: Groups, value: str, amount: int) -> Fraction:
    """The target has the value if any of up to so many people of one group has it."""
    best = Fraction(0)
    for key, values in of.items():
        n = values[value]
        if not n:
            continue
        against = Fraction(values.total() - n, n)
        for other, its in of.items():
            for m in range(amount + 1):
                # the chance that none of the family has it, where the target has not
                here = its.total() - (other == key)
                if m <= here:
                    none = (
                        Fraction(comb(here - its[value], m), comb(here, m))
                        if here >= its[value]
                        else Fraction(0)
                    )
                    best = max(best, 1 / (1 + against * none))
    return best


@pytest.mark.parametrize("name", ["generalise", "generalise_suppressing", "full_domain"])
def test_the_detail_that_each_column_keeps(every_method: tuple[Path, dict[str, Any]], name: str) -> None:
    """Iyengar's: of a value's column, the other values its label may stand for, over all other values."""
    seen = Seen(every_method[0], name, "internal")
    domains = {"age": {line["age"] for line in seen.source}, "sex": {line["sex"] for line in seen.source}}

    def covered(column: str, label: str) -> int:
        if label == "*":
            return len(domains[column])
        if column == "age" and "-" in label:
            low, high = map(int, label.split("-"))
            return sum(low <= int(age) <= high for age in domains[column])
        return 1

    told = drawn(seen.page)["kept"]
    assert len(told) == 2
    for column, (label, share) in zip(domains, told, strict=True):
        assert label.startswith(column)
        if column not in seen.rows[0]:  # removed: every label stands for all
            assert share == percent(0)
            continue
        whole = len(domains[column]) - 1
        lost = sum(Fraction(covered(column, line[column]) - 1, whole) for line in seen.rows)
        lost += len(seen.source) - len(seen.rows)  # of people who are left out nothing is kept
        assert share == percent(float(1 - lost / len(seen.source))), column


PER_KIND = 25  # questions of each kind; each asks for a third of the values of its columns and one illness


@pytest.mark.parametrize("name", ["generalise", "full_domain", "bucketize"])
def test_the_errors_of_typical_questions(every_method: tuple[Path, dict[str, Any]], name: str) -> None:
    """Each question is asked of the source and of the published rows, whose labels are spread evenly.

    Where values are permuted within a group, everybody there has a share of each value.
    """
    seen = Seen(every_method[0], name, "internal")
    told = dict(drawn(seen.page)["errors"])
    kinds: list[list[str]] = [[], ["age"], ["sex"], ["age", "sex"]]
    assert list(told) == [" and ".join(kind) or "nothing else" for kind in kinds]
    domains = {c: sorted({line[c] for line in seen.source}) for c in ("age", "sex", ILL)}
    draw = np.random.default_rng(2009)

    def some(column: str, wanted: int) -> set[str]:
        chosen = draw.choice(len(domains[column]), size=max(1, wanted), replace=False)
        return {domains[column][place] for place in chosen}

    def has(line: Mapping[str, str], ill: str) -> Fraction:
        if name != "bucketize":
            return Fraction(line[ILL] == ill)
        group = seen.groups[tuple(line[key] for key in line if key not in ("age", "sex", ILL))]
        return Fraction(group[ill], group.total())

    for kind in kinds:
        errors = []
        for _ in range(PER_KIND):
            asked = {column: some(column, round(len(domains[column]) / 3)) for column in kind}
            (ill,) = some(ILL, 1)
            true = sum(line[ILL] == ill and all(line[c] in asked[c] for c in kind) for line in seen.source)
            answer = Fraction(0)
            for line in seen.rows:
                share = has(line, ill)
                for column in kind:
                    stands_for = covers(line.get(column, "*"), column, domains[column])
                    share *= Fraction(len(asked[column] & stands_for), len(stands_for))
                answer += share
            if true:
                errors.append(abs(true - answer) / true)
        shown = told[" and ".join(kind) or "nothing else"]
        assert shown == percent(float(sum(errors, Fraction(0)) / len(errors))), kind


def covers(label: str, column: str, domain: list[str]) -> set[str]:
    """The values that a label may stand for; a column that is not published may hold any."""
    if label == "*":
        return set(domain)
    if column == "age" and "-" in label:
        low, high = map(int, label.split("-"))
        return {age for age in domain if low <= int(age) <= high}
    return {label}


def test_the_choices_that_were_searched(every_method: tuple[Path, dict[str, Any]]) -> None:
    """Risk against what is lost, each choice applied to the source with a pencil."""
    seen = Seen(every_method[0], "full_domain", "internal")
    ages = {line["age"] for line in seen.source}
    steps: dict[str, Callable[[str], str]] = {
        "age exact": str,
        "age in bands of 20": lambda age: str(int(age) // 20),
        "age in bands of 40": lambda age: str(int(age) // 40),
        "age removed": lambda age: "*",
    }
    told = drawn(seen.page)["frontier"]
    assert len(told) >= 3 and "l_diversity(l=2)</th>" in seen.text
    assert sum(int(many) for _, many in drawn(seen.page)["lattice"]) <= 8
    for words, risk, cost, which in told:
        age, sex = words.split(" · ")
        keys = [(steps[age](line["age"]), line["sex"] * (sex == "sex exact")) for line in seen.source]
        ills: dict[tuple[str, str], set[str]] = {}
        for key, line in zip(keys, seen.source, strict=True):
            ills.setdefault(key, set()).add(line[ILL])
        fewest = min(map(len, ills.values()))
        assert risk == number_of(fewest, "value", "values"), words
        alike = Counter(keys)
        safe = fewest >= 2 and min(alike.values()) >= 2
        assert (which == "not safe") == (not safe), words
        of_age = [sum(steps[age](a) == steps[age](line["age"]) for a in ages) - 1 for line in seen.source]
        lost = Fraction(sum(of_age), len(of_age) * (len(ages) - 1)) + (sex != "sex exact")
        assert cost == number(float(lost / 2)), words


@pytest.mark.parametrize("name", ["generalise", "full_domain"])
def test_what_is_lost(every_method: tuple[Path, dict[str, Any]], name: str) -> None:
    """Of releases that leave nobody out: what a reader would make of the rows, and how large groups are."""
    seen = Seen(every_method[0], name, "internal")
    assert len(seen.rows) == len(seen.source)
    told = seen.plain("divergence")
    everybody = len(seen.rows)
    domains = {c: sorted({line[c] for line in seen.source}) for c in ("age", "sex")}
    # the reader spreads every published row evenly over the values that its labels cover
    guessed: Counter[tuple[str, str, str]] = Counter()
    for line in seen.rows:
        cells = [covers(line.get(c, "*"), c, values) for c, values in domains.items()]
        for age, sex in product(*cells):
            guessed[age, sex, line[ILL]] += Fraction(1, everybody * len(cells[0]) * len(cells[1]))  # type: ignore[assignment]
    true = Counter((line["age"], line["sex"], line[ILL]) for line in seen.source)
    nats = sum(n / everybody * log(Fraction(n, everybody) / guessed[cell]) for cell, n in true.items())
    by_hand = {
        "divergence from the source (nats)": nats,
        "discernibility (sum of squared group sizes)": sum(n * n for n in seen.sizes),
        "people in a group, on average": everybody / len(seen.sizes),
    }
    for words, value in by_hand.items():
        assert f"{words} {number(value)}" in told, (words, value, told)
