"""The small tables printed in the papers, and the numbers that hold for them.

Every number is recomputed here: criteria from their definitions, chances by listing every world that agrees
with the release and with the facts.
"""

import csv
import tomllib
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest

from tests.oracles import classical

PAPERS = Path(__file__).parent.parent / "fixtures" / "papers"
DOCUMENTS = {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in PAPERS.glob("*/*.toml")}


def entries(kind):
    """Every entry of a kind, with the tables of its paper."""
    found = [
        pytest.param(document["table"], entry, id=f"{key}-{kind}-{number}")
        for key, document in sorted(DOCUMENTS.items())
        for number, entry in enumerate(document.get(kind, []))
    ]
    assert found, kind
    return pytest.mark.parametrize(("tables", "entry"), found)


def table_named(tables, name):
    return next(table for table in tables if table["name"] == name)


def lines_of(table):
    return list(csv.DictReader(table["rows"].strip().splitlines()))


def rows_of(table):
    """(group, sensitive value) for every line."""
    return [(tuple(line[key] for key in table["keys"]), line[table["sensitive"]]) for line in lines_of(table)]


def worlds(table):
    """Every way to give the sensitive values of each group to its people; all are equally likely."""
    groups: dict = {}
    for line, (group, value) in zip(lines_of(table), rows_of(table), strict=True):
        people, values = groups.setdefault(group, ([], []))
        people.append(line[table["person"]])
        values.append(value)
    orders = (
        [dict(zip(people, order, strict=True)) for order in permutations(v)] for people, v in groups.values()
    )
    for parts in product(*orders):
        yield {person: value for part in parts for person, value in part.items()}


def holds(fact, world):
    if "->" in fact:
        before, after = (part.strip() for part in fact.split("->"))
        return not holds(before, world) or holds(after, world)
    person, verb, value = fact.split(" ", 2)
    return (world[person] == value) == {"is": True, "not": False}[verb]


def test_the_five_papers_are_here_and_say_where_each_table_stands():
    assert set(DOCUMENTS) == {"martin2007", "ganta2008", "li2009", "chen2008", "kifer2006"}
    assert all(table["where"] for document in DOCUMENTS.values() for table in document["table"])


@entries("verdict")
def test_the_definition_gives_the_stated_value_and_verdict(tables, entry):
    params = {
        name: Fraction(value) if name != "strict" and name not in ("k", "ell") else value
        for name, value in entry["params"].items()
    }
    if entry["criterion"] == "t_closeness":
        params["distance"] = classical.equal_distance
    if entry["criterion"] in ("entropy_l_diversity", "probabilistic_l_diversity"):
        params["ell"] = Fraction(params["ell"])
    rows = rows_of(table_named(tables, entry["table"]))
    value, safe = getattr(classical, entry["criterion"])(rows, **params)
    assert safe == entry["safe"]
    if "value" not in entry:
        assert value is None
    else:
        assert float(value) == pytest.approx(float(Fraction(entry["value"])), abs=1e-12)


@entries("chance")
def test_the_chance_over_all_worlds_is_the_stated_one(tables, entry):
    table = table_named(tables, entry["table"])
    atoms = [entry["of"], *entry["given"]]
    possible = [w for w in worlds(table) if all(holds(fact, w) for fact in atoms[1:])]
    assert Fraction(sum(holds(atoms[0], world) for world in possible), len(possible)) == Fraction(
        entry["value"]
    )


@entries("belief")
def test_the_posterior_over_all_assignments_is_the_stated_one(tables, entry):
    table = table_named(tables, entry["table"])
    prior = {who: {value: Fraction(p) for value, p in row.items()} for who, row in entry["prior"].items()}
    person, target = entry["of"]
    weights: Counter = Counter()
    for world in worlds(table):
        weight = Fraction(1)
        for who, value in world.items():
            weight *= prior[who][value]
        weights[world[person]] += weight
    assert weights[target] / sum(weights.values()) == Fraction(entry["exact"])


@entries("belief")
def test_the_omega_estimate_is_the_stated_one(tables, entry):
    counts = Counter(value for _, value in rows_of(table_named(tables, entry["table"])))
    prior = {who: {value: Fraction(p) for value, p in row.items()} for who, row in entry["prior"].items()}
    person, target = entry["of"]
    columns = {value: sum(row[value] for row in prior.values()) for value in counts}
    estimate = {value: counts[value] * prior[person][value] / columns[value] for value in counts}
    assert estimate[target] / sum(estimate.values()) == Fraction(entry["omega"])


@entries("intersection")
def test_the_groups_share_exactly_the_stated_values(tables, entry):
    found = []
    for name, label in entry["groups"]:
        table = table_named(tables, name)
        found.append([line[table["sensitive"]] for line in lines_of(table) if line[entry["column"]] == label])
    assert [len(values) for values in found] == entry["sizes"]
    assert [len(set(values)) for values in found] == entry["distinct"]
    assert sorted(set.intersection(*map(set, found))) == entry["common"]


@entries("marginal")
def test_the_printed_counts_are_those_of_the_original_table(tables, entry):
    ages = [int(line["age"]) for line in lines_of(table_named(tables, entry["of"]))]
    for band, n_rows in entry["counts"].items():
        low, high = map(int, band.split("-"))
        assert sum(low <= age <= high for age in ages) == n_rows


@pytest.mark.parametrize(
    ("published", "columns"),
    [("zip and condition", {"zip": str, "condition": str}), ("zip and age", {"zip": str, "age": "decade"})],
)
def test_the_marginals_of_kifer_and_gehrke_come_from_their_original_table(published, columns):
    tables = DOCUMENTS["kifer2006"]["table"]

    def label(column, value):
        if columns[column] != "decade" or "-" in value:
            return value
        low = (int(value) - 1) // 10 * 10 + 1
        return f"{low}-{low + 9}"

    def counted(table):
        return Counter(tuple(label(column, line[column]) for column in columns) for line in lines_of(table))

    assert counted(table_named(tables, published)) == counted(table_named(tables, "original"))
