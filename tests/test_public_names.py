"""What a user's own code is told by a type checker about the public names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.public_names import STUB, written

SCRIPT = """
from fractions import Fraction

import privacy_sql as ps

with ps.connect() as engine:
    table = ps.Table("people.csv", {"age": ps.Intervals(10), "zip": ps.Mask(3, 0)}, "illness")
    require = [ps.KAnonymity(5), ps.CKSafety(c="3/5", k=3)]
    release = ps.publish(engine, table, require, ps.FullDomain(minimise="loss"))
    value: int | Fraction | float | None = release.verdicts["k_anonymity(k=5)"].value
    safe: bool = ps.check(engine, table, require)["k_anonymity(k=5)"].safe
    ps.write(engine, release, "out/people.csv")
    ps.report(release, "report.html")
    ps.KAnonymity("many")
    ps.KAnonimity(5)
    release.verdict
    asked: str = release.require[0].question
    known: int | None = release.baseline.smallest_known if release.baseline else None
    release.require[0].nobody
    release.baseline.nobody
"""


def test_the_public_names_are_those_that_are_there() -> None:
    assert STUB.read_text(encoding="utf-8") == written(), "python -m tests.public_names writes them anew"


def test_a_users_script_is_checked_by_its_types(tmp_path: Path) -> None:
    """With the settings of the project, so that what mypy knows of the package already is read again."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(script)]
    told = subprocess.run(
        mypy, cwd=ROOT, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True, check=False
    ).stdout
    found = [line.partition("script.py:")[2] for line in told.splitlines() if "error:" in line]
    lines = SCRIPT.splitlines()
    wrong = [lines[int(error.partition(":")[0]) - 1].strip() for error in found]
    assert wrong == [
        'ps.KAnonymity("many")',
        "ps.KAnonimity(5)",
        "release.verdict",
        "release.require[0].nobody",
        "release.baseline.nobody",
        "release.baseline.nobody",  # and it may be None
    ], told
