"""Ask the register before a release leaves: whom would it expose together with what is out already?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from privacy_sql.described import COUNTS, Description, describe, publishes_counts
from privacy_sql.findings import Findings, Others
from privacy_sql.register import FILE_NAME, Register
from privacy_sql.release import Release


def warnings(directory: Path, release: Release) -> list[str]:
    """One line when the release composes badly with registered ones; a registered file that is gone refuses.

    Says nothing when the project asks for `composition` itself, which refuses instead of warning.
    """
    asked = any(criterion.name == "composition" for criterion in release.require)
    if asked or release.promise is not None or len(release.table.sensitives) != 1:
        return []
    if (
        release.method in COUNTS
    ):  # counts put nobody in a group: an intersection has nothing to take from them
        return []
    others = [each for each in registered(directory, release.name) if set(each.columns) & set(release.quasi)]
    if not others:
        return []
    found = Findings.beside(release.grouping, Others.of(release.grouping.base, others))
    told = [f"register: {warning}" for warning in found.warnings]
    share = found.summary.perfect_new
    if share:
        named = ", ".join(each.name for each in others)
        told.append(
            f"register: {float(share):.1f} % of people would be known for certain by this release together"
            f" with {named}; require composition to refuse"
        )
    return told


def registered(directory: Path, name: str) -> list[Description]:
    """Every registered release but the one this run would replace, each unchanged since it was registered."""
    register = Register(directory / FILE_NAME)
    entries = register.entries()
    kept = [each.name for each in entries.values() if not (each.ours and each.name == name)]
    files = {known: file for known, file in register.find(kept).items() if not publishes_counts(file)}
    numbered = enumerate(files.items(), start=1)
    return [replace(describe(file, number), name=known) for number, (known, file) in numbered]


def remember(directory: Path, name: str, manifest: Path) -> None:
    """Register a release that has left, in a project that keeps a register."""
    register = Register(directory / FILE_NAME)
    if register.path.exists():
        register.add(name, manifest, ours=True)
