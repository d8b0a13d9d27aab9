"""The register and a run: warn, refuse, remember."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.cli.main import run
from privacy_sql.errors import UsageError
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.publishing import register_check
from tests import engines

PROJECT = """
version: 1
releases:
  people:
    source: {{file: people.csv}}
    quasi_identifiers: [{{column: age, hierarchy: {{intervals: [10]}}}}]
    sensitive: {{column: illness}}
    require:
      k_anonymity: {{k: 2}}
{more}
    method: {{generalise: {{levels: {{age: 1}}}}}}
    output: {{target: out/people.csv}}
"""
ROWS = "age,illness\n21,AIDS\n22,flu\n31,cold\n32,flu\n"
NOISY = "{noisy_counts: {epsilon: 1, marginals: [[illness]], domains: {illness: [AIDS, flu, cold]}}}"
OTHERS = "age,illness\n20-29,AIDS\n20-29,gout\n30-39,cold\n30-39,flu\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "privacy.yml").write_text(PROJECT.format(more=""))
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text(OTHERS)
    (tmp_path / "b.yml").write_text("file: b.csv\nsensitive: illness\ncolumns: [age]\n")
    return tmp_path


def _run(project: Path, *words: str) -> object:
    return run([*words, "--project", str(project)])


def test_a_run_without_a_register_keeps_none(project: Path) -> None:
    assert _run(project, "run").exit == 0
    assert not (project / FILE_NAME).exists()


def test_a_run_warns_when_it_composes_badly_and_is_registered_afterwards(project: Path) -> None:
    _run(project, "register", "add", "hospital_b", str(project / "b.yml"))
    outcome = _run(project, "run")
    assert outcome.exit == 0, outcome.errors
    (warning,) = outcome.more["releases"][0]["warnings"]
    assert "50.0 % of people" in warning and "hospital_b" in warning
    assert set(Register(project / FILE_NAME).entries()) == {"hospital_b", "people"}
    # the same rows again are no new version
    again = _run(project, "run", "--overwrite")
    assert again.exit == 0, again.errors
    assert len(Register(project / FILE_NAME).history()) == 2


def test_a_check_warns_when_the_table_composes_badly_with_a_registered_release(project: Path) -> None:
    _run(project, "register", "add", "hospital_b", str(project / "b.yml"))
    raw = PROJECT.format(more="").replace("{intervals: [10]}", "keep_or_drop")
    (project / "privacy.yml").write_text(raw)
    # a table that was anonymised already: groups by label
    (project / "people.csv").write_text("age,illness\n20-29,AIDS\n20-29,flu\n30-39,cold\n30-39,flu\n")
    outcome = _run(project, "check")
    assert outcome.exit == 0, outcome.errors
    assert any("register: 50.0 % of people" in line for line in outcome.lines)
    (project / "b.csv").unlink()
    assert _run(project, "check").exit == 3


VERSIONS = "age,illness\n20,gout\n22,flu\n24,AIDS\n26,cold\n28,flu\n30,gout\n31,AIDS\n"


def _version(project: Path, first: int, more: str = "") -> None:
    """People in fives from `first`: each version is 2-anonymous, and two of them cut the groups apart."""
    text = PROJECT.format(more=more).replace("{intervals: [10]}", f"{{intervals: [5], origin: {first}}}")
    (project / "privacy.yml").write_text(text)
    (project / "people.csv").write_text(VERSIONS)


def test_a_new_version_is_held_against_the_one_it_overwrites(project: Path) -> None:
    _version(project, 0)
    # published before there is a register, and registered before it is gone
    assert _run(project, "run").exit == 0
    Register(project / FILE_NAME).path.touch()
    _version(project, 3)
    outcome = _run(project, "run", "--overwrite")
    assert outcome.exit == 0, outcome.errors
    (warning,) = outcome.more["releases"][0]["warnings"]
    assert "42.9 % of people" in warning and "together with people;" in warning
    assert list(Register(project / FILE_NAME).find(["people"])) == ["people (1)", "people"]
    _version(project, 0, "      composition: {with: register, max_exposed: 0.4}")
    outcome = _run(project, "run", "--overwrite")
    assert outcome.exit == 1
    (verdict,) = [
        each for each in outcome.more["releases"][0]["verdicts"] if each["criterion"] == "composition"
    ]
    assert verdict["value"] == "3/7"


def test_a_registered_table_is_not_overwritten(tmp_path: Path) -> None:
    rows = pd.DataFrame({"age": ["21", "22"], "illness": ["flu", "cold"]})
    place = tmp_path / "people.manifest.json"
    with engines.opened() as engine:
        table = ps.Table(rows, {"age": ps.Intervals(10)}, "illness")
        release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1}))
        ps.write(engine, release, "table:published_people", manifest_to=place)
    # without a register nothing is kept from being replaced
    register_check.remember_standing(tmp_path, place)
    Register(tmp_path / FILE_NAME).path.touch()
    with pytest.raises(UsageError, match="published_people has a registered release"):
        register_check.remember_standing(tmp_path, place)
    assert len(Register(tmp_path / FILE_NAME).history()) == 1


def test_releases_of_noise_are_left_to_the_ledger(project: Path) -> None:
    pytest.importorskip("opendp", reason="needs the extra dp")
    noisy = PROJECT.format(more="").replace("    require:\n      k_anonymity: {k: 2}\n", "")
    noisy = noisy.replace("{generalise: {levels: {age: 1}}}", NOISY)
    (project / "privacy.yml").write_text(noisy)
    Register(project / FILE_NAME).path.touch()
    outcome = _run(project, "run")
    assert outcome.exit == 0, outcome.errors
    more = "      composition: {with: register, max_exposed: 0}"
    (project / "privacy.yml").write_text(
        PROJECT.format(more=more).replace("  people:", "  groups:").replace("out/people", "out/groups")
    )
    outcome = _run(project, "run", "--overwrite")
    (verdict,) = [
        each for each in outcome.more["releases"][0]["verdicts"] if each["criterion"] == "composition"
    ]
    assert (verdict["safe"], verdict["witness"]["noisy_releases_left_to_the_ledger"]) == (True, 1)


def test_a_required_composition_refuses_and_publishes_nothing(project: Path) -> None:
    _run(project, "register", "add", "hospital_b", str(project / "b.yml"))
    more = "      composition: {with: [hospital_b], max_exposed: 0.4}"
    (project / "privacy.yml").write_text(PROJECT.format(more=more))
    outcome = _run(project, "run")
    assert outcome.exit == 1 and not (project / "out").exists()
    (project / "privacy.yml").write_text(PROJECT.format(more=more.replace("0.4", "0.5")))
    assert _run(project, "run").exit == 0


def test_a_required_composition_with_some_releases_hides_no_warning_of_others(project: Path) -> None:
    (project / "c.csv").write_text("age,illness\n*,AIDS\n*,flu\n*,cold\n*,gout\n")
    (project / "c.yml").write_text("file: c.csv\nsensitive: illness\ncolumns: [age]\n")
    for name in ("b", "c"):
        _run(project, "register", "add", f"hospital_{name}", str(project / f"{name}.yml"))
    for named, warned in (
        ("[hospital_c]", True),
        ("[c.yml]", True),
        ("[hospital_b, hospital_c]", False),
        ("register", False),
    ):
        more = f"      composition: {{with: {named}, max_exposed: 0.5}}"
        (project / "privacy.yml").write_text(PROJECT.format(more=more))
        outcome = _run(project, "run", "--dry-run")
        assert outcome.exit == 0, (named, outcome.errors)
        (told,) = outcome.more["releases"]
        assert any("hospital_b" in warning for warning in told["warnings"]) is warned, (named, told)


def test_a_registered_release_that_is_gone_or_changed_refuses(project: Path) -> None:
    _run(project, "register", "add", "hospital_b", str(project / "b.yml"))
    (project / "b.yml").unlink()
    assert _run(project, "run").exit == 3
    assert not (project / "out" / "people.csv").exists()


def test_a_registered_release_whose_rows_changed_refuses(project: Path) -> None:
    _run(project, "register", "add", "hospital_b", str(project / "b.yml"))
    (project / "b.csv").write_text(OTHERS.replace("gout", "cold"))
    outcome = _run(project, "run")
    assert (outcome.exit, outcome.errors[0]["code"]) == (3, "release_changed")


def test_a_tampered_register_refuses(project: Path) -> None:
    _run(project, "register", "add", "hospital_b", str(project / "b.yml"))
    register = project / FILE_NAME
    register.write_text(register.read_text().replace("hospital_b", "hospital_c"))
    outcome = _run(project, "run")
    assert outcome.exit == 3 and outcome.errors[0]["code"] == "tampered_chain"


@pytest.mark.parametrize("method", ["multidimensional", "{microaggregate: {k: 2}}"])
def test_the_same_rows_in_groups_again_are_no_new_version(project: Path, method: str) -> None:
    """What stands is not registered once more by its labels: what its groups hold was kept already."""
    text = PROJECT.format(more="").replace("{generalise: {levels: {age: 1}}}", method)
    (project / "privacy.yml").write_text(text)
    Register(project / FILE_NAME).path.touch()
    assert _run(project, "run").exit == 0
    (first,) = Register(project / FILE_NAME).history()
    assert _run(project, "run", "--overwrite").exit == 0
    manifest_file = str(project / "out" / "people.csv.manifest.json")
    assert _run(project, "register", "add", "people", manifest_file).exit == 0
    assert Register(project / FILE_NAME).history() == [first]


def test_a_published_file_stands_for_its_manifest(project: Path) -> None:
    assert _run(project, "run").exit == 0
    out, people = str(project / "out" / "people.csv"), str(project / "people.csv")
    attacks = [
        _run(project, "attack", "intersection", name, str(project / "b.yml"), "--people", people)
        for name in (f"{out}.manifest.json", out)
    ]
    assert [each.exit for each in attacks] == [0, 0], attacks[1].errors
    assert attacks[0].lines == attacks[1].lines
    assert _run(project, "register", "add", "people", out).exit == 0
    (entry,) = Register(project / FILE_NAME).history()
    assert entry.ours and entry.file.endswith("people.csv.manifest.json")
