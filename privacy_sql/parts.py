"""Write a release of several tables: all of them and one manifest, audited together, or nothing.

The order of `writing` for one file, for many: temporary files, fsync, audit of their own bytes, the old
manifest away, renames, a last look at the bytes, the manifest last. Files without their manifest are no
release.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from privacy_sql import audit, fingerprints, manifest, writing
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe, PrivacySqlError, UsageError
from privacy_sql.judging import Verdicts
from privacy_sql.release import Release

Describe = Callable[[Verdicts, dict[str, Any]], bytes]


def part_files(target: Path, release: Release) -> dict[str, Path]:
    """Where the parts go: `out/people.csv` becomes `out/people.marginal_1.csv` and so on."""
    return {name: target.with_name(f"{target.stem}.{name}{target.suffix}") for name in release.parts}


def write_parts(release: Release, target: Path, *, overwrite: bool, describe: Describe) -> Path:
    """Write every part beside the target and one manifest for all; returns the manifest's path."""
    place = manifest.manifest_path(target)
    files = part_files(target, release)
    with writing.only_writer(target.parent):
        for file in (*files.values(), target):
            writing.sweep(file)
        for file in files.values():
            writing.refuse_existing(file, overwrite=overwrite)
        writing.refuse_existing(target, overwrite=overwrite)
        temporaries = {
            name: file.with_name(f".{secrets.token_hex(6)}-{file.name}") for name, file in files.items()
        }
        try:
            return _written(release, files, temporaries, place, overwrite, describe)
        finally:
            for temporary in temporaries.values():
                writing.remove(temporary)


def audited(engine: Engine, published: Mapping[str, Any], release: Release) -> Verdicts:
    """The verdicts on the written tables together: groups where they share a number, else marginals."""
    if release.group:
        return audit.audit_groups(engine, published, release)
    # what marginals need is loaded for them only
    from privacy_sql.published_marginals import audit_parts

    return audit_parts(engine, published, release)


def _written(
    release: Release,
    files: Mapping[str, Path],
    temporaries: Mapping[str, Path],
    place: Path,
    overwrite: bool,
    describe: Describe,
) -> Path:
    home: Engine = release.grouping.base.engine
    for name, view in release.parts.items():
        home.write_file(view, temporaries[name], writing.kind_of(files[name]))
        writing.sync_all(temporaries[name])
    accepted = {name: manifest.checksum(temporary) for name, temporary in temporaries.items()}
    with home.beside() as auditor:
        verdicts = audited(auditor.session(list(temporaries.values())), temporaries, release)
    if overwrite:
        _remove_old(place)
    for name, temporary in temporaries.items():
        writing.rename(temporary, files[name], overwrite)
    _refuse_changed(files, accepted)
    output = [
        {"file": file.name, "sha256": accepted[name], "bytes": manifest.size(file)}
        for name, file in files.items()
    ]
    try:
        writing.write_atomically(place, describe(verdicts, {"files": output}))
    except BaseException:
        # without their manifest they are no release, so they must not look like one
        for file in files.values():
            writing.remove(file)
        raise
    return place


def _remove_old(place: Path) -> None:
    """Take the old manifest away first, then the files it named: a kill in between leaves no release."""
    old: list[dict[str, Any]] = []
    if place.is_file():
        with contextlib.suppress(PrivacySqlError):
            old = manifest.read(place)["output"].get("files", [])
        place.unlink()
        writing.sync(place.parent)
    for entry in old:
        writing.remove(place.parent / Path(entry["file"]).name)


def _refuse_changed(files: Mapping[str, Path], accepted: Mapping[str, str]) -> None:
    """The bytes that were audited are the bytes that stand there now, or nothing stands there."""
    if any(manifest.checksum(file) != accepted[name] for name, file in files.items()):
        for file in files.values():
            writing.remove(file)
        raise NotSafe("changed_bytes", "a file changed while it was checked", hint="Nothing was published.")


def write_part_tables(
    release: Release, table: str, place: Path, *, overwrite: bool, describe: Describe
) -> Path:
    """Write every part as a table, `people` becoming `people_marginal_1` and so on, and one manifest."""
    home: Engine = release.grouping.base.engine
    final = {name: f"{table}_{name}" for name in release.parts}
    taken = [relation for relation in final.values() if home.has_table(relation)]
    if taken and not overwrite:
        raise UsageError("target_exists", f"{taken[0]} exists", hint="Use --overwrite.")
    schema, dot, _ = table.rpartition(".")
    temporary = {name: f"{schema}{dot}ps_new_{secrets.token_hex(6)}" for name in release.parts}
    if overwrite:
        place.unlink(missing_ok=True)
    with home.transaction():
        for name, view in release.parts.items():
            home.write_table(view, temporary[name])
        verdicts = audited(home, temporary, release)
        for name, relation in temporary.items():
            if final[name] in taken:
                home.drop_table(final[name])
            home.rename_table(relation, final[name])
    output = [{"relation": relation, **fingerprints.of_table(home, relation)} for relation in final.values()]
    writing.write_atomically(place, describe(verdicts, {"relations": output}))
    return place
