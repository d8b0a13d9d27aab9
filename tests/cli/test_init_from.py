"""`init --from FILE`: a project proposed from counts and names, confirmed by a person before it publishes."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from privacy_sql.cli.main import run
from privacy_sql.engines import connect
from privacy_sql.hierarchies import Dates, Intervals, KeepOrDrop, Mask
from privacy_sql.project import reading
from privacy_sql.project.proposing import propose
from privacy_sql.studies.identifying import KNOWN
from tests.seeds import seeds

HEADER = "patient_id,age,zip,sex,admitted,survey_weight,no,diagnosis\n"
LINES = [
    f"P{n:04d},{20 + n % 60},{10000 + 7 * (n % 90)},{'FM'[n % 2]},2024-0{1 + n % 9}-1{n % 9},{n / 7:.3f},"
    f",CANARY{n % 5}\n"
    for n in range(200)
]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(HEADER + "".join(LINES))
    return path


def test_every_column_gets_a_role_and_every_quasi_identifier_a_hierarchy(people, tmp_path):
    outcome = run(["init", "--from", str(people), str(tmp_path / "p")])
    assert outcome.exit == 0, outcome.errors
    (plan,) = reading.read(tmp_path / "p").plans.values()
    table = plan.table
    assert table.identifier == "patient_id" and table.sensitives == ("diagnosis",)
    assert table.hierarchies == {
        "age": Intervals(5, 10, 20),
        "zip": Mask(4, 3, 0),
        "sex": KeepOrDrop(),
        "admitted": Dates("month", "quarter"),  # all of one year
    }
    assert plan.drops_rest and not table.drop
    text = (tmp_path / "p" / "privacy.yml").read_text()
    assert "drop: rest    # decide: 2 columns" in text
    assert (
        "#   a survey weight by its name; weight: {column: survey_weight}" in text
        and '#   it is empty: "no"' in text
    )


def test_the_proposal_is_checked_and_searched_but_publishes_nothing_until_an_output_is_named(
    people, tmp_path
):
    place = tmp_path / "p"
    run(["init", "--from", str(people), str(place)])
    assert run(["search", "--project", str(place)]).exit == 0
    refused = run(["run", "--project", str(place)])
    assert refused.exit == 2
    text = (place / "privacy.yml").read_text()
    (place / "privacy.yml").write_text(text.replace("# output:", "output:"))
    assert run(["run", "--project", str(place)]).exit == 0
    assert (place / "out" / "people.csv").is_file()


def test_no_value_of_the_table_gets_into_the_proposal_or_what_is_printed(people, tmp_path):
    outcome = run(["init", "--from", str(people), str(tmp_path / "p")])
    told = (tmp_path / "p" / "privacy.yml").read_text() + "\n".join(outcome.lines) + str(outcome.to_json())
    assert "CANARY" not in told and "P0001" not in told


def test_a_dry_run_and_an_existing_project_write_nothing(people, tmp_path):
    assert run(["init", "--from", str(people), str(tmp_path / "p"), "--dry-run"]).exit == 0
    assert not (tmp_path / "p").exists()
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "privacy.yml").write_text("mine")
    assert run(["init", "--from", str(people), str(tmp_path / "p")]).exit == 2
    assert (tmp_path / "p" / "privacy.yml").read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "exit"), [("a,b\n", 3), ("a,b\n1\n", 3), (None, 2)], ids=["empty", "ragged", "missing"]
)
def test_a_file_that_cannot_be_read_is_an_error(tmp_path, text, exit):
    path = Path(tmp_path / "t.csv")
    if text is not None:
        path.write_text(text)
    assert run(["init", "--from", str(path), str(tmp_path / "p")]).exit == exit
    assert not (tmp_path / "p").exists()


def test_neither_or_both_starting_points_are_refused(people):
    assert run(["init"]).exit == 2
    assert run(["init", "--example", "--from", str(people)]).exit == 2


def test_names_that_yaml_would_read_as_something_else_survive(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        'NO,"a: b, #c",01234,x\n' + "".join(f"{n % 3},{n % 4},{n % 5},{n % 2}\n" for n in range(50))
    )
    assert run(["init", "--from", str(path), str(tmp_path / "p")]).exit == 0
    (plan,) = reading.read(tmp_path / "p").plans.values()
    dropped = {"NO", "a: b, #c", "01234", "x"} - set(plan.table.roles)
    assert set(plan.table.roles) | dropped == {"NO", "a: b, #c", "01234", "x"} and len(dropped) < 2


def test_without_a_telling_name_the_last_column_is_called_a_guess(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("c,d\n" + "".join(f"{n % 3},{n % 4}\n" for n in range(50)))
    with connect() as engine:
        last = propose(engine, path)[0][-1]
    assert last.role == "sensitive" and "guess" in last.reason


EUROPEAN = "Nr;born;Gehalt;weight_kg;height;visits;part\n" + "".join(
    f"{n:04d};{1 + n % 28:02d}.{1 + n % 12:02d}.{1950 + n % 50};{30 + n % 9}.000,50;{60 + n % 40},5;"
    f"1,{60 + n % 30};{n % 20};12-{n % 90 + 10}-3456\n"
    for n in range(200)
)


def test_european_numbers_and_dates_are_called_so_and_never_masked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(EUROPEAN)
    with connect() as engine:
        proposed = {part.column: part for part in propose(engine, path)[0]}
    assert proposed["Nr"].role == "identifier"
    assert proposed["Gehalt"].role == "sensitive"
    assert "2024-03-05" in proposed["born"].reason and proposed["born"].hierarchy == "keep_or_drop"
    assert "decimal comma" in proposed["height"].reason and proposed["height"].hierarchy == "keep_or_drop"
    assert proposed["visits"].hierarchy == {"intervals": [5, 10]}
    assert proposed["weight_kg"].role == "quasi"  # in kilograms, no survey weight
    assert proposed["part"].role == "drop" and "a tenth as many values" in proposed["part"].reason
    with connect() as engine:  # named all the same
        (part,) = [part for part in propose(engine, path, ["part"])[0] if part.role == "quasi"]
    assert part.hierarchy == {"mask": [4, 0]}  # 12- and -3456 are the same for all


def test_neither_a_salary_nor_a_date_that_differs_for_all_is_taken_for_the_person(tmp_path):
    path = tmp_path / "t.csv"
    days = [f"{1 + n % 28:02d}.{1 + n // 28:02d}.1980" for n in range(200)]
    path.write_text("salary,born,sex\n" + "".join(f"{1000 + n},{days[n]},{n % 2}\n" for n in range(200)))
    with connect() as engine:
        assert [part.role for part in propose(engine, path)[0]] == ["drop", "quasi", "sensitive"]


def wide(tmp_path: Path, seed: int, columns: int = 20, rows: int = 300) -> tuple[Path, list[str], list]:
    """A table with more columns than can be published together, some known by name, some copies."""
    draw = random.Random(seed)
    named = ["age_group", "zip_area", "marital", "region", "sex"]
    names = [*named, *(f"c{n}" for n in range(columns - len(named)))]
    draw.shuffle(names)
    kinds = [draw.randrange(2, 8) for _ in names]
    table = [[f"v{draw.randrange(k)}" for k in kinds] for _ in range(rows)]
    for row in table:
        row[3] = row[2]  # a copy adds no group
        row[5] = "v0"  # a constant tells nobody apart
    path = tmp_path / f"wide{seed}.csv"
    lines = [",".join([*names, "diagnosis"]), *(",".join([*row, draw.choice("abc")]) for row in table)]
    path.write_text("\n".join(lines) + "\n")
    return path, names, table


def greedy(names: list[str], table: list) -> list[tuple[str, int, int]]:
    """The oracle: in each tier, repeatedly the column that makes most groups, by counting rows of tuples."""
    chosen: list[int] = []
    told = []
    several = [place for place in range(len(names)) if len({row[place] for row in table}) > 1]
    for known in (True, False):
        waiting = [place for place in several if bool(KNOWN.search(names[place])) == known]
        while waiting and len(chosen) < 8:
            sizes = {
                place: Counter(tuple(row[p] for p in [*chosen, place]) for row in table) for place in waiting
            }
            best = max(waiting, key=lambda place: (len(sizes[place]), -place))
            before = len({tuple(row[p] for p in chosen) for row in table})
            if len(sizes[best]) == before:
                break
            waiting.remove(best)
            chosen.append(best)
            few = sum(n for n in sizes[best].values() if n < 5)
            told.append((names[best], len(sizes[best]), few))
    return told


@pytest.mark.parametrize("seed", seeds(4))
def test_at_most_eight_columns_are_proposed_by_the_groups_they_make_and_the_rest_is_to_be_decided(
    tmp_path: Path, seed: int
) -> None:
    path, names, table = wide(tmp_path, seed)
    with connect() as engine:
        proposed = {part.column: part for part in propose(engine, path)[0]}
    expected = greedy(names, table)
    quasi = {column for column, part in proposed.items() if part.role == "quasi"}
    assert quasi == {column for column, _, _ in expected} and len(quasi) <= 8
    for number, (column, groups, few) in enumerate(expected, start=1):
        by = "with those ranked before it" if number > 1 else "alone"
        told = (
            f"rank {number} by the groups it makes, {by}: {groups:,} groups, {few:,} people in groups below 5"
        )
        assert told in proposed[column].reason
    outcome = run(["init", "--from", str(path), str(tmp_path / "p")])
    assert outcome.exit == 0
    text = (tmp_path / "p" / "privacy.yml").read_text()
    undecided = len(names) - len(quasi)
    assert f"drop: rest    # decide: {undecided} columns" in text
    comments = " ".join(line.strip(" #") for line in text.splitlines() if line.startswith("    #   "))
    assert all(re.search(rf"\b{name}\b", comments) for name in set(names) - quasi)
    assert run(["search", "--project", str(tmp_path / "p")]).exit in (0, 5)  # valid as it stands
    assert run(["run", "--project", str(tmp_path / "p")]).exit == 2  # and publishes nothing


def test_names_that_a_stranger_can_know_are_told_from_others() -> None:
    for name in ("age", "Age_Group", "birth_date", "zip", "PLZ", "Geschlecht", "état_civil", "edad", "年齢"):
        assert KNOWN.search(name), name
    for name in ("wage", "language", "percentage", "capital_gain", "c1", "visits", "race_time"):
        assert not KNOWN.search(name) or name == "race_time", name


def table(tmp_path: Path, columns: dict[str, list[str]]) -> Path:
    path = tmp_path / "t.csv"
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_what_a_person_names_is_taken_as_named_and_all_else_stays_out(people, tmp_path):
    place = str(tmp_path / "p")
    named = ["--quasi", "zip,age", "--sensitive", "sex"]
    assert run(["init", "--from", str(people), *named, place]).exit == 0
    (plan,) = reading.read(tmp_path / "p").plans.values()
    assert list(plan.table.quasi) == ["age", "zip"] and plan.table.sensitives == ("sex",)
    assert plan.table.identifier == "patient_id" and plan.drops_rest
    wrong = run(["init", "--from", str(people), "--quasi", "agee,sex", "--sensitive", "sex", str(tmp_path)])
    assert wrong.exit == 2
    assert [error["code"] for error in wrong.errors] == ["unknown_column", "two_roles"]
    assert 'Did you mean "age"?' in wrong.errors[0]["hint"]
    assert run(["init", "--example", "--quasi", "age", str(tmp_path / "q")]).exit == 2


def test_one_sensitive_column_is_proposed_and_what_says_the_same_is_left_out(tmp_path: Path) -> None:
    draw = random.Random(5)
    jobs = [draw.randrange(12) for _ in range(400)]
    path = table(
        tmp_path,
        {
            "age": [str(draw.randrange(20, 80)) for _ in jobs],
            "occupation_code": [str(1000 + job) for job in jobs],
            "occupation": [f"job {job}" for job in jobs],
            "trade": [f"t{job}" for job in jobs],
        },
    )
    with connect() as engine:
        found = {part.column: part for part in propose(engine, path)[0]}
    roles = {name: part.role for name, part in found.items()}
    assert list(roles.values()).count("sensitive") == 1
    assert {name for name, role in roles.items() if role == "quasi"} == {"age"}
    assert found["trade"].reason == "each of its values occurs with only one value of occupation_code"
    path.write_text(path.read_text().replace("trade", "income"))
    with connect() as engine:
        roles = {part.column: part.role for part in propose(engine, path)[0]}
    assert [name for name, role in roles.items() if role == "sensitive"] == [
        "income"
    ]  # nobody knows it anyway
    assert roles["occupation"] == roles["occupation_code"] == "drop"  # and both tell it


@pytest.mark.parametrize(
    ("shares", "bound"),
    [
        ([4, 3, 3], "l_diversity: {kind: probabilistic, l: 2}"),
        ([6, 4], "alpha_k_anonymity: {alpha: 0.7, k: 5}"),
        ([49, 1], "so it can always be guessed"),
    ],
)
def test_the_proposed_requirement_bounds_the_best_guess_above_the_share_of_the_commonest(
    tmp_path: Path, shares: list[int], bound: str
) -> None:
    values = [f"v{place}" for place, n in enumerate(shares) for _ in range(n * 4)]
    ages = [str(20 + n % 7) for n in range(len(values))]
    path = table(tmp_path, {"age": ages, "sex": ["FM"[n % 2] for n in range(len(values))], "illness": values})
    assert run(["init", "--from", str(path), str(tmp_path / "p")]).exit == 0
    assert bound in (tmp_path / "p" / "privacy.yml").read_text()
    assert run(["search", "--project", str(tmp_path / "p")]).exit == 0  # it can be kept


def test_a_hierarchy_to_fill_in_is_one_already_and_shows_its_values_nowhere_else(people, tmp_path):
    place = tmp_path / "p"
    run(["init", "--from", str(people), str(place)])
    tried = run(["init", "--hierarchy", "diagnosis", "--project", str(place), "--dry-run"])
    assert tried.exit == 0 and not (place / "hierarchies").exists()
    outcome = run(["init", "--hierarchy", "sex", "--project", str(place)])
    assert outcome.exit == 0, outcome.errors
    file = place / "hierarchies" / "sex.csv"
    assert file.read_text() == "sex,group\nF,F\nM,M\n" and file.stat().st_mode & 0o77 == 0
    text = (place / "privacy.yml").read_text()
    changed = text.replace(
        "column: sex, hierarchy: keep_or_drop", "column: sex, hierarchy: {file: hierarchies/sex.csv}"
    )
    assert changed != text
    (place / "privacy.yml").write_text(changed)
    assert run(["search", "--project", str(place)]).exit == 0
    again = run(["init", "--hierarchy", "sex", "--project", str(place)])
    assert again.exit == 2 and file.read_text().startswith("sex,group")
    assert "CANARY" not in str(run(["init", "--hierarchy", "diagnosis", "--project", str(place)]).to_json())
    missing = run(["init", "--hierarchy", "sexx", "--project", str(place)])
    assert missing.exit == 2 and 'Did you mean "sex"?' in missing.errors[0]["hint"]


def test_drop_rest_is_the_same_as_naming_every_other_column(people, tmp_path):
    place = tmp_path / "p"
    run(["init", "--from", str(people), "--quasi", "age,sex", str(place)])
    text = (place / "privacy.yml").read_text().replace("# output:", "output:")
    (place / "privacy.yml").write_text(text)
    assert run(["run", "--project", str(place)]).exit == 0
    kept = (place / "out" / "people.csv").read_text()
    assert kept.splitlines()[0] == "age,sex,diagnosis"
    listed = 'drop: [zip, admitted, survey_weight, "no"]'
    (place / "privacy.yml").write_text(re.sub("drop: rest", listed, text))
    assert run(["run", "--project", str(place), "--overwrite"]).exit == 0
    assert (place / "out" / "people.csv").read_text() == kept
    (place / "privacy.yml").write_text(text.replace("drop: rest", "drop: rests"))
    wrong = run(["run", "--project", str(place)])
    assert wrong.exit == 2 and "list" in wrong.errors[0]["message"]


def proposed_for(path: Path) -> dict[str, tuple[str, str]]:
    with connect() as engine:
        return {part.column: (part.role, part.reason) for part in propose(engine, path)[0]}


@pytest.mark.parametrize("name", ["Personalnummer", "Personal-Nr", "Patientennummer", "Beschäftigten_ID"])
def test_a_number_of_the_staff_is_the_person_although_it_repeats(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        f"{name},sex,ill\n" + "".join(f"P{n // 2},{'FM'[n % 4 // 2]},{n % 3}\n" for n in range(400))
    )
    assert proposed_for(path)[name][0] == "identifier"


def test_a_repeating_number_that_may_be_the_person_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("nr,card,sex,ill\n" + "".join(f"P{n // 2},c{n // 3},F,{n % 3}\n" for n in range(400)))
    found = proposed_for(path)
    for column, counts in (("nr", "200 values in 400 rows"), ("card", "134 values in 400 rows")):
        role, reason = found[column]
        assert role == "drop" and reason.endswith(
            f"if it says whose row it is, make it the identifier: {counts}"
        )
    assert run(["init", "--from", str(path), str(tmp_path / "p")]).exit == 0
    assert "every row counts as a person" in (tmp_path / "p" / "privacy.yml").read_text()


def test_what_differs_between_the_rows_of_a_person_is_no_quasi_identifier(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "person_id,sex,where,why,part\n"
        + "".join(f"P{n // 2},{'FM'[n // 2 % 2]},w{n % 4},y{n % 7},{n // 2 % 5}\n" for n in range(400))
    )
    found = proposed_for(path)
    assert found["where"] == ("drop", "it differs between the rows of a person")
    assert found["why"] == ("sensitive", "only a guess: it differs between the rows of a person")
    assert found["sex"][0] == found["part"][0] == "quasi"
    assert "rows in groups below 5" in found["sex"][1] and "people in groups" not in found["sex"][1]
    assert run(["init", "--from", str(path), str(tmp_path / "p")]).exit == 0
    assert run(["search", "--project", str(tmp_path / "p")]).exit == 0


def test_remarks_stay_out_also_when_many_people_have_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "sex,Bemerkung,ill\n"
        + "".join(f"F,Gespräch mit Person {n % 30} geführt,{n % 3}\n" for n in range(900))
    )
    assert proposed_for(path)["Bemerkung"] == ("drop", "free text, which may name people")


def test_the_proposed_limit_can_hold_where_people_have_several_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "person_id,sex,diagnosis\n" + "".join(f"P{n // 2},{'FM'[n // 2 % 2]},y{n % 3}\n" for n in range(400))
    )
    assert run(["init", "--from", str(path), str(tmp_path / "p")]).exit == 0
    # each value has a third of the rows, but two thirds of the people have it
    assert "alpha_k_anonymity: {alpha: 0.8, k: 5}" in (tmp_path / "p" / "privacy.yml").read_text()
    assert run(["search", "--project", str(tmp_path / "p")]).exit == 0


def test_a_file_of_another_kind_is_refused_and_its_first_row_not_shown(tmp_path: Path) -> None:
    for name in ("people", "people.dat", "people.json"):
        path = tmp_path / name
        path.write_text("CANARY;1\n" * 99)
        outcome = run(["init", "--from", str(path), str(tmp_path / "p")])
        assert outcome.exit == 2 and "CANARY" not in str(outcome.to_json())
        assert not (tmp_path / "p").exists()
