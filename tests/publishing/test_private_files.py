"""The key of a project: made once, complete, and the same for every run from then on."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pandas as pd
import pytest

from privacy_sql.errors import DataError
from privacy_sql.publishing import private_files
from tests.command_line import call

THEIRS = b"A" * 32


def test_of_two_first_runs_both_hash_with_the_key_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / private_files.KEY
    source = tmp_path / "people.csv"
    source.write_text("age\n1\n")

    def late(size: int) -> bytes:
        place.write_bytes(THEIRS)  # another run is faster
        return b"B" * size

    monkeypatch.setattr(secrets, "token_bytes", late)
    told = private_files.source_hash(tmp_path, source)
    assert place.read_bytes() == THEIRS
    assert private_files.source_hash(tmp_path, source) == told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", private_files.KEY]


@pytest.mark.parametrize("begun", [b"", b"half of it"])
def test_a_key_that_another_run_may_be_completing_is_never_replaced(tmp_path: Path, begun: bytes) -> None:
    place = tmp_path / private_files.KEY
    source = tmp_path / "people.csv"
    source.write_text("age\n1\n")
    place.write_bytes(begun)
    with pytest.raises(DataError) as refused:
        private_files.source_hash(tmp_path, source)
    assert refused.value.code == "bad_key" and place.read_bytes() == begun


def test_a_killed_run_leaves_no_second_copy_of_the_key(tmp_path: Path) -> None:
    place, source = tmp_path / private_files.KEY, tmp_path / "people.csv"
    source.write_text("age\n1\n")
    told = private_files.source_hash(tmp_path, source)
    (tmp_path / f".0123456789ab-{private_files.KEY}").write_bytes(place.read_bytes())
    assert private_files.source_hash(tmp_path, source) == told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", private_files.KEY]
    assert place.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("named", ["people.parquet", "people.parquet/*.parquet"])
def test_a_project_publishes_what_several_files_hold(tmp_path: Path, named: str) -> None:
    (tmp_path / "people.parquet").mkdir()
    for number in range(2):
        frame = pd.DataFrame({"age": [30 + number] * 3, "ill": ["flu", "cold", "gout"]})
        frame.to_parquet(tmp_path / "people.parquet" / f"part{number}.parquet")
    (tmp_path / "privacy.yml").write_text(
        f"version: 1\nreleases:\n  people:\n    source: {{file: '{named}'}}\n"
        "    quasi_identifiers: [{column: age, hierarchy: {intervals: [10]}}]\n    sensitive: ill\n"
        "    require: {k_anonymity: {k: 3}}\n    method: {generalise: {levels: {age: 0}}}\n"
        "    output: {target: out/people.csv}\n"
    )
    told = call("run", "--project", tmp_path)
    assert told.exit == 0, told.everything
    assert len((tmp_path / "out" / "people.csv").read_text().splitlines()) == 7
    folder, source = tmp_path / "target" / "private", tmp_path / named
    kept = json.loads((folder / private_files.HASHES).read_text())["people"]
    assert kept == {"file": source.name, "hmac_sha256": private_files.source_hash(folder, source)}
    pd.DataFrame({"age": [9], "ill": ["flu"]}).to_parquet(tmp_path / "people.parquet" / "part1.parquet")
    assert private_files.source_hash(folder, source) != kept["hmac_sha256"]
