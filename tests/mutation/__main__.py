"""Plant each bug in a copy of the project and see whether its tests fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ("privacy_sql", "sql", "macros", "tests", "fixtures", "docs", "pyproject.toml", "README.md")


def bugs() -> list[dict[str, Any]]:
    """Every bug of planted.toml."""
    return list(tomllib.loads((Path(__file__).parent / "planted.toml").read_text(encoding="utf-8"))["bug"])


def places(bug: dict[str, Any], root: Path = ROOT) -> int:
    """How often the text stands that the bug replaces; once, or the bug is out of date."""
    return (root / bug["file"]).read_text(encoding="utf-8").count(bug["old"])


def caught(bug: dict[str, Any], root: Path) -> bool:
    """Whether the tests of a bug fail while it is planted in the copy at `root`."""
    place = root / bug["file"]
    whole = place.read_text(encoding="utf-8")
    place.write_text(whole.replace(bug["old"], bug["new"]), encoding="utf-8")
    try:
        return tested(bug["tests"], root) == 1
    finally:
        place.write_text(whole, encoding="utf-8")


def tested(tests: list[str], root: Path) -> int:
    """The exit code of pytest in the copy: 0 all passed, 1 some failed, anything else nothing was learnt."""
    # an installed package must not stand in for the copy
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    return subprocess.run(words, cwd=root, env=environment, capture_output=True, check=False).returncode


def main(wanted: list[str]) -> int:
    """Plant the bugs whose names hold one of the words, or all; 1 when one is not caught."""
    chosen = [bug for bug in bugs() if not wanted or any(word in bug["name"] for word in wanted)]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, Path(folder) / part)
        for bug in chosen:
            found = caught(bug, Path(folder))
            missed += [] if found else [bug["name"]]
            sys.stdout.write(f"{'caught' if found else 'MISSED'}  {bug['name']}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - len(missed)} of {len(chosen)} caught\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
