"""The wheel works where nothing of this folder is known: templates inside, a release published."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = """
import pathlib, privacy_sql as ps
from privacy_sql.query.template import folder
home = pathlib.Path(ps.__file__).parent
assert folder("sql") == home / "_sql" and folder("macros") == home / "_macros"
from privacy_sql.cli.main import main
main(["demo", "tour"])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this folder, built by the build backend itself."""
    place = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(place)], cwd=ROOT, check=True, capture_output=True)
    (made,) = place.glob("*.whl")
    return made


def test_the_wheel_holds_the_templates_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for folder in ("sql", "macros"):
        files = {path.relative_to(ROOT / folder).as_posix() for path in (ROOT / folder).rglob("*.sql")}
        assert files == {name.partition(f"/_{folder}/")[2] for name in names if f"/_{folder}/" in name}
    assert not [name for name in names if name.startswith(("tests", "fixtures"))]
    assert "privacy_sql/py.typed" in names
    page = ROOT / "privacy_sql" / "explorer" / "page"
    assert {file.relative_to(ROOT).as_posix() for file in page.rglob("*") if file.is_file()} <= set(names)


def test_the_wheel_publishes_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    site = next((tmp_path / "venv" / "lib").glob("python*")) / "site-packages"
    zipfile.ZipFile(wheel).extractall(site)
    # dependencies come from here; .pth files there (an editable install) are not followed from another .pth
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    done = subprocess.run([python, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tour" / "out" / "people.csv.manifest.json").is_file()
