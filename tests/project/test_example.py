"""The example project: its raw table is not safe, the choice in its privacy.yml is, and stays useful."""

import csv
import hashlib
import time
from collections import Counter
from fractions import Fraction

import pytest
from ruamel.yaml import YAML

from privacy_sql.project import example
from tests.oracles import classical

CHECKSUM = "1c13c75ab0490d5be68b300d4f87ac155d624d2e86389498660b5d0af9f35b73"


@pytest.fixture(scope="module")
def files():
    return example.files()


@pytest.fixture(scope="module")
def release(files):
    return YAML(typ="safe").load(files["privacy.yml"])["releases"]["people"]


@pytest.fixture(scope="module")
def people(files):
    return list(csv.DictReader(files["data/people.csv"].splitlines()))


def hierarchy(files, name):
    lines = (line.split(";") for line in files[f"hierarchies/{name}.csv"].splitlines())
    return {line[0]: line for line in lines}


def at_levels(files, person, levels):
    """The published key of a person, from the meaning of each hierarchy."""
    width = [1, 5, 10, 20, 40][levels["age"]]
    kept = [5, 4, 3, 0][levels["zip"]]
    tables = {name: hierarchy(files, name)[person[name]] for name in ("marital_status", "education")}
    return (
        int(person["age"]) // width,
        person["sex"] if levels["sex"] == 0 else "*",
        person["zip"][:kept],
        *(tables[name][levels[name]] for name in tables),
    )


def test_the_files_are_the_same_on_every_machine(files):
    text = "".join(f"{path}\n{files[path]}" for path in sorted(files))
    assert hashlib.sha256(text.encode()).hexdigest() == CHECKSUM


def test_it_is_made_in_under_a_second():
    began = time.process_time()
    example.files()
    assert time.process_time() - began < 1


def test_every_column_has_a_role_and_every_file_is_there(files, release, people):
    named = {entry["column"] for entry in release["quasi_identifiers"]}
    named |= {release["identifier"]["column"], release["sensitive"]["column"]}
    assert named | set(release["drop"]) == set(people[0])
    assert len(people) == example.N_PEOPLE == len({person["person_id"] for person in people})
    for entry in [*release["quasi_identifiers"], release["sensitive"]]:
        if isinstance(entry["hierarchy"], dict) and "file" in entry["hierarchy"]:
            known = hierarchy(files, entry["column"])
            assert {person[entry["column"]] for person in people} <= set(known)


def test_in_the_raw_table_nearly_everybody_is_alone(files, release, people):
    raw = dict.fromkeys(release["method"]["generalise"]["levels"], 0)
    sizes = Counter(at_levels(files, person, raw) for person in people)
    assert sum(n for n in sizes.values() if n == 1) > 0.6 * len(people)


def test_the_chosen_levels_are_safe_after_little_suppression_and_useful(files, release, people):
    chosen, require = release["method"]["generalise"], release["require"]
    rows = [(at_levels(files, person, chosen["levels"]), person["diagnosis"]) for person in people]
    t = Fraction(str(require["t_closeness"]["t"]))
    table = classical.overall(rows)
    histograms: dict = {}
    for group, value in rows:
        histograms.setdefault(group, Counter())[value] += 1
    failing = {
        group
        for group, counts in histograms.items()
        if classical.earth_movers_distance(classical.shares(counts), table, classical.equal_distance) > t
    }
    kept = [row for row in rows if row[0] not in failing]
    assert 0 < len(rows) - len(kept) <= chosen["max_suppressed"] * len(rows)
    diversity = require["l_diversity"]
    assert classical.k_anonymity(kept, require["k_anonymity"]["k"]).safe
    assert classical.recursive_l_diversity(kept, Fraction(diversity["c"]), diversity["l"]).safe
    assert classical.t_closeness(kept, t, classical.equal_distance).safe
    assert len({group for group, _ in kept}) > 100
