"""Every method, audience and recorded verb has a report, and no release costs another one its own."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import parts
from tests.command_line import call

AGE, ILL = "age", "illness"
K = {"k_anonymity": {"k": "2"}, "l_diversity": {"l": "2"}}
LINKS = {"k_link": {"k": "2"}}
DOMAINS = {AGE: {"from": "20", "to": "59"}, "sex": ["F", "M"], ILL: ["a", "b", "c"]}
METHODS: dict[str, dict[str, Any]] = {
    "generalise": {"method": {"generalise": {"levels": {AGE: "1"}}}, "require": K},
    "generalise_suppressing": {
        "method": {"generalise": {"levels": {AGE: "1"}, "max_suppressed": "0.5"}},
        "require": {"k_anonymity": {"k": "23"}},
    },
    "full_domain": {"method": {"full_domain": {"max_suppressed": "0.2"}}, "require": K},
    "full_domain_recoded": {"method": {"full_domain": {"local_recoding": "true"}}, "require": K},
    "bucketize": {"method": {"bucketize": {"by": "anatomy"}}, "require": {"l_diversity": {"l": "2"}}},
    "bucketize_two": {
        "method": {"bucketize": {"by": ["sex"], "layout": "two_tables"}},
        "require": {"l_diversity": {"l": "2"}},
    },
    "multidimensional": {"method": {"multidimensional": {}}, "require": K},
    "microaggregate": {"method": {"microaggregate": {"k": "3"}}, "require": {"k_anonymity": {"k": "2"}}},
    "marginals": {"method": {"marginals": {}}, "require": LINKS},
    "noisy_counts": {
        "method": {"noisy_counts": {"epsilon": "1", "domains": DOMAINS}},
        "require": None,
    },
}


SHOWN = {method for release in METHODS.values() for method in release["method"]}
METHODS |= {
    name: {"method": {name: parts.own_test("methods", name).EXAMPLE}, "require": K}
    for name in parts.others("methods", SHOWN)
}


def write(folder: Path) -> Path:
    """A project with a release of every method."""
    draw = random.Random(3)
    people = [(20 + draw.randrange(40), draw.choice("FM"), draw.choice("abc")) for _ in range(120)]
    rows = [f"{n},{age},{sex},{ill}" for n, (age, sex, ill) in enumerate(people)]
    (folder / "people.csv").write_text("\n".join([f"id,{AGE},sex,{ILL}", *rows]) + "\n")
    releases = {}
    for name, asked in METHODS.items():
        release = {
            "source": {"file": "people.csv"},
            "identifier": {"column": "id"},
            "quasi_identifiers": [
                {"column": AGE, "hierarchy": {"intervals": ["20", "40"]}},
                {"column": "sex", "hierarchy": "keep_or_drop"},
            ],
            "sensitive": {"column": ILL},
            "output": {"target": f"out/{name}.csv"},
            **asked,
        }
        releases[name] = {key: value for key, value in release.items() if value is not None}
    (folder / "privacy.yml").write_text(json.dumps({"version": "1", "name": "all", "releases": releases}))
    return folder


@pytest.fixture(scope="module")
def project(every_method: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every release run; every verb that records has been asked about every release it is for."""
    folder = Path(shutil.copytree(every_method[0], tmp_path_factory.mktemp("every") / "project"))
    assert [release["exit"] for release in every_method[1].values()] == [0] * len(METHODS)
    recorded: dict[str, int] = {}
    for name in METHODS:
        for verb in (["search"], ["curve", "--every-choice"], ["attack", "knowledge"]):
            told = call(*verb, "--select", name, "--project", folder)
            assert told.exit in (0, 2), (name, verb, told.everything)
            recorded[verb[-1]] = recorded.get(verb[-1], 0) + (told.exit == 0)
    pair = [folder / "out" / f"{name}.csv.manifest.json" for name in ("generalise", "full_domain")]
    words = ["--people", folder / "people.csv", "--identifier", "id", "--project", folder]
    assert call("attack", "intersection", *pair, *words).exit == 0
    assert all(recorded.values()), recorded
    return folder


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_every_release_has_a_report_for_everybody_whatever_was_recorded(
    project: Path, tmp_path: Path, audience: str
) -> None:
    told = call("report", "--project", project, "--audience", audience, "-o", tmp_path, "--json")
    assert told.exit == 0, told.everything
    assert {page.stem for page in tmp_path.glob("*.html")} == {*METHODS, "index"}
    for name in METHODS:
        records = json.loads((project / "target" / "records" / f"{name}.json").read_text())
        verbs = set(records) - {"schema", "release", "run"}
        alone = tmp_path / "alone"
        for verb in verbs:  # each verb by itself, beside nothing but the run
            kept = {key: value for key, value in records.items() if key not in verbs or key == verb}
            assert _rendered(kept, audience), (name, verb, alone)


def _rendered(found: dict[str, Any], audience: str) -> str:
    from privacy_sql.reporting import page as reporting

    return reporting.page(reporting.material_of(found, audience)).html


def test_one_release_without_a_report_costs_no_other_one_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder)
    for name in ("generalise", "marginals", "bucketize"):
        assert call("run", "--project", folder, "--select", name).exit == 0
    spoilt = folder / "target" / "records" / "generalise.json"
    found = json.loads(spoilt.read_text())
    del found["run"]["columns"][0]["name"]  # as another version may have written it
    spoilt.write_text(json.dumps(found))
    (folder / "out" / "bucketize.csv").write_text("edited")
    told = call("report", "--project", folder, "--json")
    pages = folder / "target" / "report"
    assert (pages / "marginals.html").exists() and (pages / "index.html").exists()
    assert not (pages / "generalise.html").exists() and not (pages / "bucketize.html").exists()
    assert told.exit == 4 and told.codes == ["unexpected", "output_changed"], told.everything
    assert [page["release"] for page in told.json["reports"]] == ["marginals"]
    assert told.json["safe"] is None
    assert (pages / "index.html").read_text().count("no report") == 2
