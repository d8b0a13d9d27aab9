import json
import random
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from tests.oracles import composition
from tests.oracles import intersection_attack as oracle
from tests.seeds import seeds

LEVELS = [Fraction(1), Fraction(1, 2), Fraction(1, 3)]
sensitive = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4)
number = st.integers(0, 6)


@st.composite
def regions(draw):
    low, high = draw(number), draw(number)
    rules = [{"range": [min(low, high), max(low, high)]}, {"lt": low}, {"ge": high}, {"any": True}]
    return {"x": draw(st.sampled_from(rules[:3])), "y": draw(st.sampled_from([{"range": [0, 3]}, {"lt": 5}]))}


@st.composite
def releases(draw):
    locate = draw(st.sampled_from(["region", "exact", "centroid"]))
    groups = []
    for name in range(draw(st.integers(1, 4))):
        group = {"id": f"g{name}", "sensitive": draw(sensitive)}
        if locate == "region":
            group["region"] = draw(regions())
        elif locate == "exact":
            group["qi"] = [{"x": draw(number), "y": draw(number)} for _ in range(draw(st.integers(1, 4)))]
        else:
            # halves are exact in binary, so the oracle's ties are ties here too
            group["centroid"] = {"x": draw(number) / 2, "y": draw(number)}
        groups.append(group)
    scale = {"x": 4, "y": 8} if locate == "centroid" else {}
    return {
        "locate": locate,
        "groups": groups,
        "scale": scale,
        "map": draw(st.sampled_from([{}, {"a": "b"}])),
    }


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    published=st.lists(releases(), min_size=1, max_size=3),
    known=st.lists(st.tuples(number, number), min_size=1, max_size=6),
)
def test_any_attack_in_sql_agrees_with_the_attack_person_by_person(engine, published, known):
    people = [{"id": f"p{i}", "qi": {"x": x, "y": y}} for i, (x, y) in enumerate(known)]
    found = ps.intersection_attack(engine, published, people, LEVELS)
    expected = oracle.attack(published, people, LEVELS)
    for person, answer in zip(found.people(), expected["individuals"], strict=True):
        assert {name: person[name] for name in answer} == answer
    for name, value in expected["aggregate"].items():
        same = {str(level): share for level, share in value.items()} if name == "PVP" else value
        assert found.summary[name] == same


@pytest.fixture
def hospital(tmp_path):
    """A published file with a description beside it."""
    rows = "zip,years,illness\n130**,<30,flu\n130**,<30,cold\n148**,30-39,flu\n148**,30-39,Grippe\n"
    (tmp_path / "b.csv").write_text(rows)
    path = tmp_path / "b.yml"
    path.write_text(
        "file: b.csv\nsensitive: illness\n"
        "columns:\n  zip:\n  age: {column: years, bounds: '[)'}\nmap: {Grippe: flu}\n"
    )
    return path


PEOPLE = pd.DataFrame(
    {"name": ["Ann", "Bob", "Cem"], "age": ["28", "38", "39"], "zip": ["13012", "14850", "14850"]}
)


def test_a_file_from_elsewhere_is_attacked_by_its_description(engine, hospital):
    table = ps.Table(PEOPLE, ["age", "zip"], identifier="name")
    people = {person.id: person for person in ps.intersection_attack(engine, [hospital], table).people()}
    assert people["Ann"]["set"] == ["cold", "flu"]
    # two published values are one illness under its shared name, and 39 lies outside [30, 39)
    assert people["Bob"]["set"] == ["flu"] and people["Bob"].confidence == 1
    assert people["Cem"].status == "unlocated"


def test_hierarchy_nodes_cover_the_values_below_them(engine):
    frame = pd.DataFrame({"job": ["care", "care", "food"], "s": ["a", "b", "a"]})
    tree = {"tree": {"nurse": ["care", "*"], "cook": ["food", "*"]}}
    engine.source(frame)
    release = {"relation": frame, "sensitive": "s", "columns": {"job": {"hierarchy": tree}}}
    people = [{"id": 1, "qi": {"job": "nurse"}}, {"id": 2, "qi": {"job": "cook"}}]
    first, second = ps.intersection_attack(engine, [release], people).people()
    assert (first["set"], second["set"]) == (["a", "b"], ["a"])


KINDS = {"nurse": "care", "medic": "care", "cook": "food", "baker": "food", "smith": "craft"}


@pytest.mark.parametrize("name", ["*", "all jobs", "any job", "ANY"])
@pytest.mark.parametrize("seed", seeds(2))
def test_a_name_of_everything_hides_nobody_whom_a_node_would_show(engine, name, seed):
    dice = random.Random(seed)
    above = {"*": ["*"], "ANY": [], "all jobs": ["all jobs"], "any job": ["any job", "all jobs"]}[name]
    tree = {"tree": {job: [kind, *above] for job, kind in KINDS.items()}}
    boxes = [
        (kind, ages, [dice.choice("abcdef") for _ in range(dice.randint(1, 4))])
        for kind in ("care", "food", "craft")
        for ages in dice.choice([["20-39"], ["20-29", "30-39"]])
    ]
    hides = [dice.random() < 0.5 for _ in boxes]
    asked = [{"id": f"{job}{age}", "qi": {"job": job, "age": age}} for job in KINDS for age in (25, 35)]

    def exposed(labels):
        shown = enumerate(zip(labels, boxes, strict=True))
        rows = [(box, label, ages, s) for box, (label, (_, ages, held)) in shown for s in held]
        frame = pd.DataFrame(rows, columns=["box", "job", "age", "s"])
        columns = {"job": {"hierarchy": tree}, "age": {}}
        release = {"relation": frame, "sensitive": "s", "group": "box", "columns": columns}
        found = ps.intersection_attack(engine, [release], asked)
        return found.summary.exposed, {person.id: person["set"] for person in found.people()}

    exact, sets = exposed([kind for kind, _, _ in boxes])
    shares, after = exposed([name if hide else kind for hide, (kind, _, _) in zip(hides, boxes, strict=True)])
    assert all(shares[level] >= exact[level] for level in exact)
    # whoever lies in a box that names their kind is known to be there
    for (kind, ages, held), hide in zip(boxes, hides, strict=True):
        for person in asked:
            low, high = map(int, ages.split("-"))
            if KINDS[person["qi"]["job"]] == kind and low <= person["qi"]["age"] <= high and not hide:
                assert after[person["id"]] == sets[person["id"]] == sorted(set(held))


@pytest.mark.parametrize("seed", seeds(4))
def test_one_more_group_for_the_rest_hides_nobody_whose_label_is_coded_differently(engine, seed):
    dice = random.Random(seed)
    labels = ["M", "male", "unknown", "20-29", "0.30", "130**", "*", None]
    groups = [(dice.choice(labels), dice.choice(["20-29", "30-39", "*", "thirties"])) for _ in range(4)]
    values = [
        (dice.choice(["M", "F", "0.3", "25", "13012", None]), dice.choice([25, 35, None])) for _ in "12345"
    ]
    asked = [{"id": i, "qi": {"sex": sex, "age": age}} for i, (sex, age) in enumerate(values)]

    def exposed(shown):
        rows = [
            (box, *label, s) for box, label in enumerate(shown) for s in "abcdefg"[box : box + 1 + box % 3]
        ]
        frame = pd.DataFrame(rows, columns=["box", "sex", "age", "s"], dtype=object)
        release = {"relation": frame, "sensitive": "s", "group": "box", "columns": {"sex": {}, "age": {}}}
        found = ps.intersection_attack(engine, [release], asked)
        # whoever fits no group at all is another question
        return {level: found.exposed(level) for level in LEVELS}

    before, after = exposed(groups), exposed([*groups, ("*", dice.choice(["*", "20-39"]))])
    assert all(after[level] >= before[level] for level in before)


def test_whom_no_label_names_may_be_under_a_star_or_under_another_name(engine):
    frame = pd.DataFrame({"sex": ["male", "*", "*", "*"], "s": list("abcd")})
    release = {"relation": frame, "sensitive": "s", "columns": {"sex": {}}}
    (person,) = ps.intersection_attack(engine, [release], [{"id": 1, "qi": {"sex": "M"}}]).people()
    assert (person["set"], person.confidence) == (["a"], 1)


def test_only_counts_reach_the_summary(engine, hospital):
    table = ps.Table(PEOPLE, ["age", "zip"], identifier="name")
    summary = ps.intersection_attack(engine, [hospital], table).summary
    told = json.dumps(summary, default=str)
    assert not any(value in told for value in ("Ann", "13012", "flu", "28"))
    assert summary.avg_group_size == [2] and summary.smallest_group == [2]
    assert summary.located == [Fraction(200, 3)]


def test_people_without_a_name_are_numbered(engine, hospital):
    found = ps.intersection_attack(engine, [hospital], ps.Table(PEOPLE[["age", "zip"]], ["age", "zip"]))
    assert sorted(person.id for person in found.people()) == [1, 2, 3]


def test_columns_coded_differently_are_warned_about(engine, hospital):
    table = ps.Table(pd.DataFrame({"age": ["young"], "zip": ["13012"]}), ["age", "zip"])
    (warning,) = ps.intersection_attack(engine, [hospital], table).warnings
    assert "same coding" in warning


def test_releases_without_a_common_value_are_warned_about(engine):
    first, second = (
        {"groups": [{"id": "g", "region": {"age": {"any": True}}, "sensitive": [value]}]}
        for value in ("Grippe", "flu")
    )
    found = ps.intersection_attack(engine, [first, second], [{"id": 1, "qi": {"age": 3}}])
    assert found.summary.n_empty == 1
    assert "map their names" in found.warnings[0]


def test_releases_that_share_no_column_with_the_people_are_refused(engine, hospital):
    with pytest.raises(UsageError, match="none of the columns"):
        ps.intersection_attack(engine, [hospital], [{"id": 1, "qi": {"height": 180}}])


@pytest.mark.parametrize("level", [0, 2, -1, "x", float("nan")])
def test_a_level_that_is_no_confidence_is_refused(engine, hospital, level):
    with pytest.raises(UsageError, match="confidence"):
        ps.intersection_attack(engine, [hospital], [{"id": 1, "qi": {"age": 3}}], [level])


def test_an_attack_on_nobody_is_refused(engine, hospital):
    with pytest.raises(DataError, match="people table is empty"):
        ps.intersection_attack(engine, [hospital], ps.Table(PEOPLE[:0], ["age", "zip"]))


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"file": "x.csv"},
        {"file": "x.csv", "relation": "x", "sensitive": "s", "columns": ["a"]},
        {"file": "x.csv", "sensitive": "s", "columns": ["a"], "locate": "guess"},
        {"file": "x.csv", "sensitve": "s", "columns": ["a"]},
        {"file": "x.csv", "sensitive": "s", "columns": {"a": {"bounds": "<>"}}},
        {"file": "x.csv", "sensitive": "s", "columns": {"a": {"scale": 3}}},
        {"file": "x.csv", "sensitive": "s", "columns": ["a"], "scale": {"a": 0}},
        "nowhere.json",
        7,
    ],
)
def test_a_description_that_says_too_little_or_too_much_is_refused(engine, description):
    with pytest.raises(PrivacySqlError):
        ps.intersection_attack(engine, [description], [{"id": 1, "qi": {"a": 3}}])


@pytest.mark.parametrize(
    ("region", "ages"),
    [
        ({"age": {"ge": 20, "lt": 30}}, [20, 29]),
        ({"age": {"gt": 20, "le": 30}}, [29, 30]),
        ({"age": {"range": [20, 30], "bounds": "[)"}}, [20, 29]),
        ({"age": {"range": [20, 30], "bounds": "()"}}, [29]),
        ({"age": {"range": [20, 30]}}, [20, 29, 30]),
        ({}, [19, 20, 29, 30]),
    ],
)
def test_a_region_holds_the_ages_between_its_ends_and_every_age_when_it_names_none(engine, region, ages):
    first = {"id": "first", "region": {"zip": {"prefix": "1"}, **region}, "sensitive": ["flu"]}
    other = {"id": "other", "region": {"age": {"lt": 0}}, "sensitive": ["flu", "cold"]}
    people = [{"id": age, "qi": {"age": age, "zip": "130"}} for age in (19, 20, 29, 30)]
    found = ps.intersection_attack(engine, [{"groups": [first, other]}], people)
    assert [person["id"] for person in found.people() if person["candidates"] == [["first"]]] == ages


@pytest.mark.parametrize(
    "cover", [{"lt": 1, "le": 2}, {"ge": 1, "prefix": "1"}, {"lt": "nan"}, {}, {"range": [1]}]
)
def test_ends_that_cannot_be_meant_together_are_refused(engine, cover):
    group = {"id": "a", "region": {"age": cover}, "sensitive": ["flu"]}
    with pytest.raises(UsageError, match="not a valid rule"):
        ps.intersection_attack(engine, [{"groups": [group]}], [{"id": "Ann", "qi": {"age": 1}}])


@pytest.mark.parametrize(
    "people", [pd.DataFrame({"age": [1]}), ["Ann"], {"id": 1, "qi": {}}, [{"id": 1}], [{"qi": {}}], 3, None]
)
def test_people_who_are_not_spelt_out_are_refused_in_words(engine, people):
    group = {"id": "a", "region": {"age": {"lt": 1}}, "sensitive": ["flu"]}
    with pytest.raises(UsageError, match=r"people must be a ps\.Table"):
        ps.intersection_attack(engine, [{"groups": [group]}], people)


@pytest.mark.parametrize("seed", seeds(6))
def test_whoever_fits_no_group_of_a_release_they_are_in_is_not_told_to_be_safe(engine, seed):
    """Bands that leave people out said "3 found, 3 not" and 0 % exposed."""
    dice = random.Random(seed)
    bands = [dice.sample(["20-29", "30-39", "40-49"], dice.randint(1, 3)) for _ in range(dice.randint(1, 3))]
    held = [{band: dice.sample("abcd", dice.randint(1, 3)) for band in some} for some in bands]
    ages = [dice.randint(20, 49) for _ in range(6)]
    asked = [{"id": number, "qi": {"age": age}} for number, age in enumerate(ages)]
    releases = [
        {
            "relation": pd.DataFrame(
                [(b, v) for b, values in some.items() for v in values], columns=["age", "s"]
            ),
            "sensitive": "s",
            "columns": {"age": {}},
        }
        for some in held
    ]
    found = ps.intersection_attack(engine, releases, asked, LEVELS).summary

    def exposed(age, level):
        of = [set(some.get(f"{age // 10}0-{age // 10}9", ())) for some in held]
        if not all(of):
            return True  # in a release that has no group for them
        left = composition.fewest([[frozenset(values)] for values in of])
        return left is not None and left * level <= 1

    for level in LEVELS:
        truth = Fraction(100 * sum(exposed(age, level) for age in ages), len(ages))
        assert found.exposed[str(level)] == truth
    # the fields of the paper speak of people found everywhere, as they did
    assert found.n_unlocated == sum(
        not all(f"{age // 10}0-{age // 10}9" in some for some in held) for age in ages
    )
