"""What a release does otherwise than the one it replaced, from their manifests."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from privacy_sql import manifest
from privacy_sql.display.levels import level
from privacy_sql.errors import PrivacySqlError
from privacy_sql.history.register import Register
from privacy_sql.manifest import Manifest, WrittenFile
from privacy_sql.reporting.words import count, moment

log = logging.getLogger("privacy_sql")


def before(place: Path, register: Register, name: str) -> Manifest | None:
    """The manifest of the release before: what stands at its place, or went elsewhere and is registered.

    Of both the later one; asked before anything is replaced.
    """
    found = [_read(each) for each in (place, *_registered(register, name))]
    return max((each for each in found if each is not None), key=lambda each: each.made, default=None)


def _registered(register: Register, name: str) -> Iterator[Path]:
    """The kept manifest of the last version of a release, unchanged since it was registered."""
    try:
        entry = register.entries().get(name) if register.path.exists() else None
        if entry is not None and entry.ours and entry.file.endswith(manifest.SUFFIX):
            yield register.find([name])[name]
    except (PrivacySqlError, OSError):
        _warn()


def _read(place: Path) -> Manifest | None:
    try:
        return manifest.read(place) if place.exists() else None
    except (PrivacySqlError, OSError):
        _warn()
        return None


def _warn() -> None:
    log.warning("the release before left no manifest that can be read; the report will not compare with it")


def between(earlier: Manifest | None, now: Manifest) -> list[str]:
    """In sentences; empty where nothing was released there before."""
    if earlier is None:
        return []
    file = f", SHA-256 {earlier.one.sha256[:8]}" if isinstance(earlier.one, WrittenFile) else ""
    told = list(_differences(earlier, now)) or ["same columns, levels, requirements and number of rows"]
    return [f"made {moment(earlier.made)}{file}: {'; '.join(told)}."]


def _differences(earlier: Manifest, now: Manifest) -> Iterator[str]:
    if earlier.rows_out != now.rows_out:
        yield f"{count(now.rows_out)} rows now, {count(earlier.rows_out)} before"
    was, is_ = (content.shown.keys() for content in (earlier, now))
    yield from _named("published now", is_ - was)
    yield from _named("no longer published", was - is_)
    if earlier.method != now.method:
        yield f"by {now.method} now, by {earlier.method} before"
    before, after = _levels(earlier), _levels(now)
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield f"{name} {after[name]} now, {before[name]} before"
    asked, asks = ({verdict.requirement for verdict in content.verdicts} for content in (earlier, now))
    yield from _named("required now", asks - asked)
    yield from _named("no longer required", asked - asks)


def _named(what: str, names: set[str]) -> Iterator[str]:
    if names:
        yield f"{what}: {', '.join(sorted(names))}"


def _levels(content: Manifest) -> Mapping[str, str]:
    """Each column at the level it is shown at, in words."""
    levels: Mapping[str, int] = content.choice.get("levels") or {}
    kinds = {name: labels.to_json() for name, labels in content.hierarchies.items()}
    return {name: level(kinds.get(name), step) for name, step in levels.items()}
