"""Everything that is out already, as an adversary reads it: registered releases, every version of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privacy_sql import manifest
from privacy_sql.history.described import Description, describe, described_by, joinable
from privacy_sql.history.register import Register


@dataclass(frozen=True)
class Out:
    """What is out: releases of groups to be attacked, and those whose counts put nobody in a group."""

    groups: tuple[Description, ...]
    noise: tuple[str, ...]  # their losses add up in the ledger
    counts: tuple[str, ...]  # marginals that say more than their join, which no attack here covers
    several: tuple[str, ...] = ()  # with several sensitive columns, of which an attack covers one only


def registered(register: Register, names: Iterable[str] | None = None) -> Out:
    """The named releases, or all; each unchanged since it was registered, or it is refused."""
    found = register.find(register.entries() if names is None else names)
    methods = {called: _method(place) for called, place in found.items()}
    sensitive = {called: _sensitive(place) for called, place in found.items()}
    beyond = [
        called for called, method in methods.items() if method == "marginals" and _beyond(found[called])
    ]
    groups = [
        called
        for called, method in methods.items()
        # without a sensitive column there is nothing to learn from it
        if method != "noisy_counts" and sensitive[called] == 1 and called not in beyond
    ]
    return Out(
        groups=tuple(replace(describe(found[called], 0), name=called) for called in groups),
        noise=tuple(called for called, method in methods.items() if method == "noisy_counts"),
        counts=tuple(beyond),
        several=tuple(called for called, number in sensitive.items() if number > 1),
    )


def _method(place: Path) -> str | None:
    """How one of our own releases was made; None for a description."""
    return manifest.read(place)["method"] if place.name.endswith(manifest.SUFFIX) else None


def _beyond(place: Path) -> bool:
    """Whether marginals say more than their join does, of a sensitive column."""
    return bool(_sensitive(place)) and not joinable(manifest.read(place)["choice"]["marginals"])


def _sensitive(place: Path) -> int:
    """How many sensitive columns a release publishes; a description names one."""
    if not place.name.endswith(manifest.SUFFIX):
        return 1
    content = manifest.read(place)
    roles = content.get("roles", {})
    return sum(roles.get(column["name"]) == "sensitive" for column in content["columns"])


def as_published(
    register: Register, release: str | Path | Mapping[str, Any] | Description, number: int
) -> list[Description]:
    """A release that was named by its file: a registered one of ours with what was kept of its day."""
    release = described_by(Path(release)) if isinstance(release, str | Path) else release
    kept = register.like(release) if isinstance(release, Path) else []
    return [describe(place, number) for place in kept] if kept else [describe(release, number)]
