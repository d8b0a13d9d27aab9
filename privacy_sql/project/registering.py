"""Enter a release into the register of a project, with the hierarchies of its publication."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privacy_sql import manifest
from privacy_sql.errors import DataError, UsageError, did_you_mean
from privacy_sql.hierarchies import Hierarchy, Tree
from privacy_sql.hierarchies.spec import rebuilt
from privacy_sql.history import kept_privately
from privacy_sql.history.described import describe, described_by
from privacy_sql.history.group_contents import writers_of_waiting
from privacy_sql.history.register import FILE_NAME, Register, refuse_unnamed
from privacy_sql.manifest import Manifest
from privacy_sql.project import reading


def register(
    directory: Path,
    name: str,
    file: Path,
    *,
    ours: bool = False,
    hierarchies: Sequence[str] = (),
    dry_run: bool = False,
) -> list[str]:
    """Register a release by its manifest or description; returns the columns used to read it."""
    refuse_unnamed(name)
    known_as, file = Register(directory / FILE_NAME), described_by(file)
    if file.name.endswith(manifest.SUFFIX) and file.is_file():
        content = manifest.read(file)
        columns = [column for column, role in content.roles.items() if role == "quasi-identifier"]
        known = known_hierarchies(content, directory, hierarchies)
        # what was kept at publication says more than what is known today
        kept_already = name == content.release and not hierarchies and known_as.reads(content)
        if not dry_run:
            folder = directory / "target" / "private"
            for private in writers_of_waiting(folder, content, known, registered=kept_already):
                known_as.keep(name, file, private=private)
        return columns
    described = describe(file, 1)
    if not dry_run:
        known_as.add(name, file, ours=ours, data=described.files)
    return list(described.columns)


def hierarchies_then(place: Path, directory: Path, given: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies a release of ours was published with: of the project, given, or kept registered."""
    content = manifest.read(place)
    found = known_hierarchies(content, directory, given)
    if lacking := content.hierarchies.keys() - found.keys():
        for version in Register(directory / FILE_NAME).like(place):
            kept = kept_privately.read(version.parent)
            then = {} if kept is None else kept.hierarchies
            found |= {name: then[name] for name in lacking & then.keys()}
    return found


def known_hierarchies(content: Manifest, directory: Path, given: Sequence[str]) -> dict[str, Any]:
    """The hierarchies of a manifest: from files, or from the project if it still has the same ones."""
    told = content.hierarchies
    found = {name: rebuilt(each.levels, each.checksum) for name, each in told.items()}
    if (directory / reading.FILE).is_file():
        for plan in reading.read(directory).plans.values():
            for name, kind in plan.table.hierarchies.items():
                for each in (kind, kind.for_fractions()):
                    if name in told and each.checksum() == told[name].checksum:
                        found[name] = each
    for named in given:
        column, equals, path = named.partition("=")
        if not equals or column not in told:
            hint = did_you_mean(column, told) or "Write for example --hierarchy job=jobs.csv."
            raise UsageError("bad_hierarchy", f'the release has no hierarchy of "{column}"', hint=hint)
        kind = Tree.from_file(Path(path), column)
        if kind.checksum() != told[column].checksum:
            raise DataError(
                "hierarchy_changed",
                f"{Path(path).name} is not the hierarchy that {column} was published with",
                where="--hierarchy",
                hint="Give the file that was used when the release was published.",
            )
        found[column] = kind
    return {name: kind for name, kind in found.items() if kind is not None}
