"""A release of several tables: the names of its files and tables, and the audit of all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privacy_sql.engines import Engine
from privacy_sql.judge import Verdicts
from privacy_sql.publishing import audit
from privacy_sql.release import Release


def part_files(target: Path, release: Release) -> dict[str, Path]:
    """The files of the parts: `out/people.csv` becomes `out/people.marginal_1.csv` and so on."""
    return {name: target.with_name(f"{target.stem}.{name}{target.suffix}") for name in release.parts}


def part_tables(table: str, release: Release) -> dict[str, str]:
    """The tables of the parts: `people` becomes `people_marginal_1` and so on."""
    return {name: f"{table}_{name}" for name in release.parts}


def audited(engine: Engine, published: Mapping[str, Any], release: Release) -> Verdicts:
    """The verdicts on the written tables together: groups if they share a number, otherwise marginals."""
    if release.group:
        return audit.audit_groups(engine, published, release)
    # modules for marginals are loaded only if needed
    from privacy_sql.publishing.published_marginals import audit_parts

    return audit_parts(engine, published, release)
