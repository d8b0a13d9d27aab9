"""Every number of the pages that are signed, against the run, the manifest, a check and a pencil."""

from __future__ import annotations

import csv
import html
import json
import random
import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.reporting.sections.people import GUESSES
from privacy_sql.reporting.words import count, number, percent
from tests.command_line import call
from tests.reporting.test_every_report import ILL, METHODS
from tests.reporting.test_report import drawn

FEW = 4  # a count below it is told on no public page
SEVERAL = {"bucketize_two", "marginals", "noisy_counts"}  # of which no one file shows people in groups


TILE = re.compile(
    r'<h3>([^<]*)</h3>\s*<p class="ba">.*?<span class="a \w+">(?:✖ )?([^<]*)</span>'
    r'.*?<p class="mut">([^<]*)</p>',
    re.DOTALL,
)
RUNG = re.compile(
    r'<li><div><p><strong>([^<]*)</strong>.*?<strong class="num \w+">(?:✖ )?([^<]*)</strong>', re.DOTALL
)
BIN = re.compile(r"[\d,]+")


def tiles(page: str) -> dict[str, tuple[str, str]]:
    """What stands on the tiles: the number in the file, and the words below it."""
    return {title: (number, html.unescape(told)) for title, number, told in TILE.findall(page)}


def rungs(page: str) -> dict[str, str]:
    """How sure each adversary is, as the ladder says it."""
    return dict(RUNG.findall(page))


def groups(place: Path) -> dict[tuple[str, ...], Counter[str]]:
    """The published rows as somebody with a pencil groups them: by all that is published but the illness."""
    with place.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbered = [name for name in rows[0] if name not in ("age", "sex", ILL)]
    keys = numbered or [name for name in rows[0] if name != ILL]
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        found[tuple(row[key] for key in keys)][row[ILL]] += 1
    return found


@pytest.mark.parametrize("audience", ["internal", "public"])
@pytest.mark.parametrize("name", METHODS)
def test_every_number_is_that_of_the_run_the_manifest_and_a_pencil(
    every_method: tuple[Path, dict[str, Any]], name: str, audience: str
) -> None:
    folder, told = every_method
    page = folder / audience / f"{name}.html"
    text = page.read_text(encoding="utf-8")
    manifest = json.loads((folder / "out" / f"{name}.csv.manifest.json").read_text(encoding="utf-8"))
    said, sure = tiles(text), rungs(text)
    # what the run said, what the manifest keeps
    assert told[name]["rows_out"] == manifest["rows_out"]
    if audience == "internal":
        assert told[name]["baseline"] == manifest["baseline"]
    for verdict in manifest["verdicts"]:
        assert verdict["requirement"] in html.unescape(text)
    if name in SEVERAL:
        assert "Only one row fits" not in said or manifest["baseline"]
        return  # the next test has the numbers of what is no one file of people
    published = said.get("People published", said.get("Rows published"))
    assert published is not None and published[0] == count(manifest["rows_out"])
    # by hand, from the published bytes
    by_hand = groups(folder / "out" / f"{name}.csv")
    sizes = {key: sum(values.values()) for key, values in by_hand.items()}
    best = {key: Fraction(max(values.values()), sizes[key]) for key, values in by_hand.items()}
    everybody = sum(sizes.values())
    assert everybody == manifest["rows_out"]
    alone = sum(n == 1 for n in sizes.values())
    above = {bound: sum(sizes[key] for key in sizes if best[key] > bound) for bound in
             (Fraction(1, 2), Fraction(4, 5), Fraction(95, 100))}  # fmt: skip
    first, *others = above.values()
    certain = sum(sizes[key] for key in sizes if best[key] == 1)
    chain = [0, certain, *reversed(above.values()), everybody]
    bins = [bounds(bin_) for bin_, _, _ in drawn(folder / "internal" / f"{name}.html")["sizes"]]
    by_size = [sum(n for n in sizes.values() if low <= n <= high) for low, high in bins]
    steps = [more - n for n, more in pairwise(chain)]
    few = [alone, *chain, *steps, *by_size, *shares(best, sizes).values()]
    # by chance a method that draws may make few certain, and then a public page tells none of these counts
    hidden = audience == "public" and any(0 < n < FEW for n in few)
    assert (said["Only one row fits"][0] == "not told") is hidden
    if hidden:
        assert said["Guessed over 50 %"][0] in ("0", "not told") and "Guessed right" not in said
        return
    assert said["Only one row fits"][0] == count(alone)
    assert said["Guessed over 50 %"][0] == count(first)
    words = said["Guessed over 50 %"][1]
    assert [re.findall(r"([\d,]+)$", part.strip())[0] for part in words.split(";")] == list(
        map(count, others)
    )
    right = sum(max(values.values()) for values in by_hand.values())
    assert said["Guessed right"][0] == percent(right / everybody)
    assert sure["A neighbour"] == percent(float(max(best.values())))
    # the commonest value of all
    most = max(sum((values for values in by_hand.values()), Counter()).values())
    if "A reader" in sure:
        assert sure["A reader"] == percent(most / everybody)
    assert manifest["baseline"]["as_published"]["worst_guess"] == str(max(best.values()))
    charts = drawn(page)
    if "sizes" in charts:
        for label, n, _ in charts["sizes"]:
            low, high = bounds(label)
            assert n == count(sum(size for size in sizes.values() if low <= size <= high)), label
    else:
        assert audience == "public"  # which would have to tell of few
    if "guessed" in charts:
        counted = shares(best, sizes)
        assert [(label, n) for label, n, _ in charts["guessed"]] == [(g, count(counted[g])) for g in GUESSES]
    # and a check of what was written says the same
    if audience == "internal":
        checked = call("check", folder / "out" / f"{name}.csv.manifest.json", "--json")
        values = {v["requirement"]: v["value"] for v in manifest["verdicts"]}
        again = {v["requirement"]: v["value"] for v in checked.json["verdicts"]}
        assert {key: value for key, value in again.items() if key in values} == values


def lines_of(place: Path) -> list[dict[str, str]]:
    """A published file as its reader has it."""
    with place.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_every_number_of_count_tables_is_that_of_a_pencil(
    every_method: tuple[Path, dict[str, Any]], audience: str
) -> None:
    folder, told = every_method
    out, page = folder / "out", folder / audience / "marginals.html"
    manifest = json.loads((out / "marginals.csv.manifest.json").read_text(encoding="utf-8"))
    tables = [lines_of(out / part["file"]) for part in manifest["output"]["files"]]
    source = [(int(row["age"]), row["sex"], row[ILL]) for row in lines_of(folder / "people.csv")]
    # every table counts everybody, and the page says how many that are
    assert {sum(int(row["n_rows"]) for row in table) for table in tables} == {len(source)}
    assert told["marginals"]["rows_out"] == len(source)
    text = page.read_text(encoding="utf-8")
    assert tiles(text)["People published"][0] == count(len(source))
    # the smallest cell that somebody who knows no illness can link
    cells = Counter[tuple[int, str]]()
    for place, table in enumerate(tables):
        for row in table:
            key = ",".join(f"{name}={row[name]}" for name in row if name not in (ILL, "n_rows"))
            cells[place, key] += int(row["n_rows"])
    smallest = min(cells.values())
    assert manifest["verdicts"][0]["value"] == str(smallest) and f"{smallest} people" in text
    if audience == "public":
        assert "divergence" not in drawn(page)
        return
    assert f"has a count of {smallest}." in text
    # what a reader of the first table lacks: ages of its bands are equally likely for them
    first = {tuple(row[name] for name in row if name != "n_rows"): int(row["n_rows"]) for row in tables[0]}
    bands = {age: next(key[0] for key in first if within(age, key[0])) for age, _, _ in source}
    ages = Counter(bands.values())  # ages that occur in each band
    share = Counter(source)
    lost = sum(
        n / len(source) * log(n / (first[bands[age], sex, ill] / ages[bands[age]]))
        for (age, sex, ill), n in share.items()
    )
    assert drawn(page)["divergence"][0][1] == number(lost)


def within(age: int, band: str) -> bool:
    """Whether an age lies in a band such as 20-39."""
    low, high = band.split("-")
    return int(low) <= age <= int(high)


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_every_number_of_noisy_counts_is_that_of_a_pencil(
    every_method: tuple[Path, dict[str, Any]], audience: str
) -> None:
    folder, told = every_method
    text = html.unescape((folder / audience / "noisy_counts.html").read_text(encoding="utf-8"))
    manifest = json.loads((folder / "out" / "noisy_counts.csv.manifest.json").read_text(encoding="utf-8"))
    rows = lines_of(folder / "out" / "noisy_counts.csv")
    cells = 40 * 2 * 3  # of the declared domains: ages, sexes, illnesses
    assert len(rows) == cells == manifest["rows_out"] == told["noisy_counts"]["rows_out"]
    assert re.search(rf"noisy counts published</th><td><code>{cells}<", text)
    # one person more here and one less there: two counts move by one, so the noise has scale 2 / epsilon
    assert "noise = OpenDP laplace, scale 2.0, sensitivity 2" in text
    assert "differential_privacy = epsilon 1, delta 0, substitution" in text
    (verdict,) = manifest["verdicts"]
    assert (verdict["value"], verdict["limit"]) == ("1", "1")
    assert manifest["claims"]["ledger"] in text
    # how many people there are is what the noise hides
    people = len(lines_of(folder / "people.csv"))
    shown = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", text, flags=re.DOTALL)
    assert not re.search(rf"\b{people}\b", re.sub(r"<[^>]+>", " ", shown))


def bounds(label: str) -> tuple[int, int]:
    """The sizes of a bin, from its words."""
    if label == "alone":
        return 1, 1
    numbers = [int(number.replace(",", "")) for number in BIN.findall(label)]
    return numbers[0], 10**9 if "or more" in label else numbers[-1]


def shares(best: dict[tuple[str, ...], Fraction], sizes: dict[tuple[str, ...], int]) -> Counter[str]:
    """People by how surely each is guessed."""
    counted = Counter[str]()
    for key, share in best.items():
        counted[guess(share)] += sizes[key]
    return counted


def guess(share: Fraction) -> str:
    """The bin of a best guess."""
    certain, *between, rest = GUESSES
    if share == 1:
        return certain
    return next((label for label in between if share >= Fraction(int(label.split()[0]), 100)), rest)


def test_detail_kept_by_column_adds_up_to_what_the_loss_leaves(
    every_method: tuple[Path, dict[str, Any]],
) -> None:
    folder, _ = every_method
    for name in ("generalise", "generalise_suppressing", "full_domain"):
        record = json.loads((folder / "target" / "records" / f"{name}.json").read_text(encoding="utf-8"))
        found = record["run"]["usefulness"]
        assert sum(found["kept"].values()) / len(found["kept"]) == pytest.approx(
            1 - found["utilities"]["loss"]
        )
        page = folder / "internal" / f"{name}.html"
        assert [row[1] for row in drawn(page)["kept"]] == list(map(percent, found["kept"].values()))
        assert tiles(page.read_text(encoding="utf-8"))["Detail kept"][0] == percent(
            1 - found["utilities"]["loss"]
        )


def test_before_is_what_the_source_tells_without_its_names(every_method: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = every_method
    with (folder / "people.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row["age"], row["sex"], row[ILL]) for row in csv.DictReader(file)]
    sizes = Counter((age, sex) for age, sex, _ in rows)
    values: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for age, sex, ill in rows:
        values[age, sex][ill] += 1
    record = json.loads((folder / "target" / "records" / "generalise.json").read_text(encoding="utf-8"))
    before = record["run"]["crowds"]["before"]
    assert before["people"] == len(rows) and before["alone"] == sum(n == 1 for n in sizes.values())
    assert before["right_in_all"] == str(Fraction(sum(max(v.values()) for v in values.values()), len(rows)))
    half = sum(sizes[key] for key in sizes if 2 * max(values[key].values()) > sizes[key])
    assert before["people_above"]["0.5"] == half
    text = (folder / "internal" / "generalise.html").read_text(encoding="utf-8")
    shown = re.search(r'<h3>Only one row fits</h3>\s*<p class="ba"><span class="b">([^<]*)<', text)
    assert shown and shown[1] == count(before["alone"])
    # a public report does not tell it
    assert '<span class="b">' not in (folder / "public" / "generalise.html").read_text(
        encoding="utf-8"
    ).replace('<h3>People published</h3>\n<p class="ba"><span class="b">', "")


FREE = [{}, {"columns": ["job"], "acknowledge": "wanted"}, {"columns": ["job"], "known": "true"}]


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("free", FREE, ids=["none", "acknowledged", "known"])
def test_before_after_and_the_reader_are_about_the_same_of_several_sensitive_columns(
    tmp_path: Path, joint: bool, free: dict[str, Any]
) -> None:
    draw = random.Random(4)
    people = [
        (
            draw.choice("123456"),
            draw.choice("FM"),
            draw.choice("abcd"),
            draw.choice("yyyn"),
            draw.choice("pq"),
        )
        for _ in range(300)
    ]
    lines = ["age,sex,illness,insured,job", *(",".join(row) for row in people)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [{"column": name, "hierarchy": "keep_or_drop"} for name in ("age", "sex")],
        "sensitive": [{"column": ILL}, {"column": "insured"}],
        "require": {"k_anonymity": {"k": "4" if free.get("known") else "8"}},
        "method": {"generalise": {"levels": {"sex": "1"}, "max_suppressed": "0.9"}},
        "output": {"target": "out/two.csv"},
        **({"joint": "true"} if joint else {}),
        **({"insensitive": free} if free else {"drop": ["job"]}),
    }
    (tmp_path / "privacy.yml").write_text(
        json.dumps({"version": "1", "name": "two", "releases": {"two": release}})
    )
    ran = call("run", "--project", tmp_path, "--json")
    assert ran.exit == 0, ran.everything
    made = call("report", "--project", tmp_path, "--audience", "internal", "-o", tmp_path / "page")
    assert made.exit == 0, made.everything
    page = html.unescape((tmp_path / "page" / "two.html").read_text(encoding="utf-8"))
    record = json.loads((tmp_path / "target" / "records" / "two.json").read_text(encoding="utf-8"))["run"]
    known = (0, 1, 4) if free else (0, 1)
    guesses = [(known, (2, 3))] if joint else [((*known, 3), (2,)), ((*known, 2), (3,))]
    before = [told(people, *columns) for columns in guesses]
    crowds = record["crowds"]
    assert crowds["before"]["alone"] == max(alone for alone, _, _ in before)
    assert crowds["before"]["people_above"]["0.5"] == max(half for _, half, _ in before)
    assert crowds["before"]["right_in_all"] == str(max(right for _, _, right in before))
    with (tmp_path / "out" / "two.csv").open(newline="", encoding="utf-8") as file:
        left = [tuple(row.get(name, "") for name in lines[0].split(",")) for row in csv.DictReader(file)]
    assert len(left) == record["rows_out"] and (joint or len(left) < len(people))
    most = max(
        Counter(tuple(row[at] for at in value) for row in left).most_common(1)[0][1] for _, value in guesses
    )
    assert crowds["reader"] == [most, len(left)]
    after = [told(left, *columns) for columns in guesses]
    assert tiles(page)["Guessed right"][0] == percent(float(max(right for _, _, right in after)))
    # nobody knows a column twice, and a guess is about one of them unless they are read as one
    assert f"guesses the most common {'illness and insured' if joint else 'illness or insured'}" in page
    assert f"knows {'age and sex' if joint else 'age, sex and the other sensitive column'}<" in page


def told(
    rows: list[tuple[str, ...]], known: tuple[int, ...], value: tuple[int, ...]
) -> tuple[int, int, Fraction]:
    """People alone, people guessed better than one half, and how many are guessed right, by hand."""
    found: dict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for row in rows:
        found[tuple(row[at] for at in known)][tuple(row[at] for at in value)] += 1
    sizes = [(values.total(), max(values.values())) for values in found.values()]
    return (
        sum(n == 1 for n, _ in sizes),
        sum(n for n, top in sizes if 2 * top > n),
        Fraction(sum(top for _, top in sizes), len(rows)),
    )


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_a_requirement_about_households_has_a_report(tmp_path: Path, audience: str) -> None:
    rows = [f"{n},h{n // 2},{n % 2},a" for n in range(12)]
    (tmp_path / "people.csv").write_text("\n".join(["id,home,age,illness", *rows]) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "identifier": {"column": "id"},
        "household": {"column": "home", "published": "no"},
        "quasi_identifiers": [{"column": "age", "hierarchy": "keep_or_drop"}],
        "sensitive": {"column": ILL},
        "require": {"household_k_anonymity": {"k": "3"}},
        "method": {"generalise": {"levels": {}}},
        "output": {"target": "out/homes.csv"},
    }
    (tmp_path / "privacy.yml").write_text(
        json.dumps({"version": "1", "name": "homes", "releases": {"homes": release}})
    )
    ran = call("run", "--project", tmp_path)
    assert ran.exit == 0, ran.everything
    made = call("report", "--project", tmp_path, "--audience", audience, "-o", tmp_path / "page")
    assert made.exit == 0, made.everything
    page = (tmp_path / "page" / "homes.html").read_text(encoding="utf-8")
    # readers of the file count no households: they are told that the limit is met, and no more
    assert ("6 households" in page) == (audience == "internal") and "at least 3 households" in page


def test_every_column_has_its_bars_before_and_after_and_those_left_out_are_counted(tmp_path: Path) -> None:
    draw = random.Random(6)
    people = [(draw.choice("123456"), str(draw.randrange(9)), draw.choice("abcd")) for _ in range(200)]
    more = [f"note_{n}" for n in range(34)]
    lines = [",".join(["id", "age", "hours", ILL, *more])]
    lines += [",".join([str(n), *row, *("x" for _ in more)]) for n, row in enumerate(people)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "identifier": {"column": "id"},
        "quasi_identifiers": [{"column": "age", "hierarchy": "keep_or_drop"}],
        "sensitive": {"column": ILL},
        "insensitive": {"columns": ["hours"], "acknowledge": "wanted"},
        "drop": "rest",
        "require": {"k_anonymity": {"k": "20"}},
        "method": {"generalise": {"levels": {}, "max_suppressed": "0.5"}},
        "output": {"target": "out/people.csv"},
    }
    (tmp_path / "privacy.yml").write_text(
        json.dumps({"version": "1", "name": "all", "releases": {"people": release}})
    )
    ran = call("run", "--project", tmp_path)
    assert ran.exit == 0, ran.everything
    pages = {}
    for audience in ("internal", "public"):
        made = call("report", "--project", tmp_path, "--audience", audience, "-o", tmp_path / audience)
        assert made.exit == 0, made.everything
        pages[audience] = (tmp_path / audience / "people.html").read_text(encoding="utf-8")
    record = json.loads((tmp_path / "target" / "records" / "people.json").read_text(encoding="utf-8"))["run"]
    with (tmp_path / "out" / "people.csv").open(newline="", encoding="utf-8") as file:
        left = [(row["age"], row["hours"], row[ILL]) for row in csv.DictReader(file)]
    places = {"age": 0, "hours": 1, ILL: 2}
    by_column = {column["name"]: column.get("bars") for column in record["columns"]}
    by_column["hours"] = record["crowds"]["free"]["hours"]["bars"]
    for name, at in places.items():
        before, after = (Counter(row[at] for row in rows) for rows in (people, left))
        ordered = (
            [sorted(n.values(), reverse=True) for n in (before, after)]
            if name == ILL
            else [[n[value] for value in sorted(n, key=int)] for n in (before, after)]
        )
        assert [by_column[name], record["bars"][name]] == ordered, name
        row = re.search(rf"<code>{name}</code>.*?</tr>", pages["internal"], re.DOTALL)
        assert row and row[0].count("<svg") == 2, name
        assert f"{len(before)} values" in html.unescape(row[0])
        told = re.search(rf"<code>{name}</code>.*?</tr>", pages["public"], re.DOTALL)
        # how often a value occurs in the source is not told there, nor how many there are
        assert told and told[0].count("<svg") <= 1 and "values" not in told[0]
    text = html.unescape(re.sub(r"<[^>]+>", "", pages["internal"]))
    assert "35 columns are left out: id (names the person) and 34 more." in text


def test_figures_say_how_many_people_they_stand_for(tmp_path: Path) -> None:
    # 61 alike in the easiest group: sixty figures stand for them all
    people = [("1", "ab"[n % 2]) for n in range(61)]
    (tmp_path / "people.csv").write_text("\n".join(["age,illness", *map(",".join, people)]) + "\n")
    release = {
        "source": {"file": "people.csv"},
        "quasi_identifiers": [{"column": "age", "hierarchy": "keep_or_drop"}],
        "sensitive": {"column": ILL},
        "require": {"k_anonymity": {"k": "20"}},
        "method": {"generalise": {"levels": {}}},
        "output": {"target": "out/people.csv"},
    }
    (tmp_path / "privacy.yml").write_text(
        json.dumps({"version": "1", "name": "all", "releases": {"people": release}})
    )
    assert call("run", "--project", tmp_path).exit == 0
    assert call("report", "--project", tmp_path, "--audience", "internal").exit == 0
    page = (tmp_path / "target" / "report" / "people.html").read_text(encoding="utf-8")
    assert "60 figures stand for 61 people." in page and "31 of them have the same illness" in page
