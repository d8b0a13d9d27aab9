from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from privacy_sql.errors import DataError, NotSafe, PrivacySqlError, UsageError
from privacy_sql.history.register import Register
from tests.manifests import beside


@pytest.fixture
def register(tmp_path):
    return Register(tmp_path / "register.jsonl")


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "out.csv.manifest.json"
    path.write_text("{}")
    return path


def test_a_registered_release_is_found_by_name(register, manifest):
    register.add("hospital_b", manifest, ours=False)
    assert register.find(["hospital_b"]) == {"hospital_b": manifest}
    assert register.entries()["hospital_b"].file == manifest.name


def test_registering_the_same_twice_counts_once(register, manifest):
    register.add("hospital_b", manifest, ours=False)
    register.add("hospital_b", manifest, ours=False)
    assert len(register.history()) == 1


def test_a_new_version_of_a_foreign_release_may_not_push_the_old_one_out(register, manifest, tmp_path):
    first, second = tmp_path / "b_2024.yml", tmp_path / "b_2025.yml"
    first.write_text("file: b_2024.csv")
    second.write_text("file: b_2025.csv")
    register.add("hospital_b", first, ours=False)
    register.add("hospital_b", second, ours=False)
    assert register.find(["hospital_b"]) == {"hospital_b (1)": first, "hospital_b": second}
    first.write_text("file: b_2026.csv")
    with pytest.raises(UsageError, match="would be lost"):
        register.add("hospital_b", first, ours=False)


def published(folder: Path, rows: str, *, made: str = "today") -> Path:
    """A file with its manifest, as `write` leaves them."""
    output = folder / "out.csv"
    output.write_text(rows)
    return beside(output, made=made)


def test_an_overwritten_version_of_our_own_stays_readable(register, tmp_path):
    register.keep("ours", published(tmp_path, "age\n20-29\n"))
    register.keep("ours", published(tmp_path, "age\n20-39\n"))
    (tmp_path / "out.csv").unlink()
    found = register.find(["ours"])
    assert list(found) == ["ours (1)", "ours"]
    rows = [(place.parent / "out.csv").read_text() for place in found.values()]
    assert rows == ["age\n20-29\n", "age\n20-39\n"]


def test_the_same_rows_published_again_are_no_new_version(register, tmp_path):
    register.keep("ours", published(tmp_path, "age\n20-29\n"))
    register.keep("ours", published(tmp_path, "age\n20-29\n", made="tomorrow"))
    assert len(register.history()) == 1


def test_a_kept_version_that_was_changed_or_deleted_is_refused(register, tmp_path):
    entry = register.keep("ours", published(tmp_path, "age\n20-29\n"))
    (data,) = entry.data
    (tmp_path / data).write_text("age\n20-39\n")
    with pytest.raises(DataError, match="changed since"):
        register.find(["ours"])
    (tmp_path / data).unlink()
    with pytest.raises(DataError, match="is missing"):
        register.find(["ours"])


def test_an_output_that_is_not_as_written_is_not_kept(register, tmp_path):
    place = published(tmp_path, "age\n20-29\n")
    (tmp_path / "out.csv").write_text("age\n20-39\n")
    with pytest.raises(NotSafe, match="changed since it was written"):
        register.keep("ours", place)
    assert register.history() == []


def keep_many(folder: Path, number: int) -> None:
    """What one of several concurrent runs does; all of them publish one of the rows."""
    own = folder / str(number)
    own.mkdir()
    for version in range(6):
        register = Register(folder / "register.jsonl")
        register.keep(f"run {number}", published(own, f"run {number} version {version}\n"))
        register.keep("all", published(own, "the same\n"))


def test_runs_that_register_at_once_lose_nothing(register, tmp_path):
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.starmap(keep_many, [(tmp_path, number) for number in range(2)])
    names = [entry.name for entry in register.history()]
    assert {name: names.count(name) for name in names} == {"run 0": 6, "run 1": 6, "all": 1}
    assert len(register.find(["run 0", "run 1", "all"])) == 13


def test_every_release_that_is_missing_or_changed_is_refused_at_once(register, manifest, tmp_path):
    gone = tmp_path / "gone.json"
    gone.write_text("{}")
    register.add("changed", manifest, ours=True)
    register.add("gone", gone, ours=False)
    gone.unlink()
    manifest.write_text("{ }")
    with pytest.raises(PrivacySqlError) as refused:
        register.find(["changed", "gone", "chnged"])
    assert [part.code for part in refused.value.parts] == [
        "release_changed",
        "release_missing",
        "not_registered",
    ]
    assert 'Did you mean "changed"?' in str(refused.value)


def test_a_file_that_does_not_exist_is_not_registered(register, tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        register.add("nothing", tmp_path / "nothing.json", ours=False)


def test_a_tampered_register_is_refused(register, manifest):
    register.add("a", manifest, ours=True)
    register.path.write_text(register.path.read_text().replace('"ours":true', '"ours":false'))
    with pytest.raises(DataError, match="changed from outside"):
        register.find(["a"])
