import pytest

from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from privacy_sql.register import Register


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


def test_registering_the_same_twice_counts_once_and_a_new_version_is_added(register, manifest):
    register.add("ours", manifest, ours=True)
    register.add("ours", manifest, ours=True)
    manifest.write_text('{"version": 2}')
    register.add("ours", manifest, ours=True)
    assert len(register.history()) == 2
    assert register.find(["ours"]) == {"ours": manifest}


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
