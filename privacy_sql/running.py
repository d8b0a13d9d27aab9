"""Run a project: every release planned, judged, written and audited, with what came of it in `target/`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privacy_sql import base, consulting, levels, manifest, verbs, writing
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, PrivacySqlError, UsageError
from privacy_sql.project import Plan, Project
from privacy_sql.query import render
from privacy_sql.release import Release

Connect = Callable[[Plan], Engine]


@dataclass
class Result:
    """What came of one release."""

    name: str
    exit: int = 0
    target: str | None = None
    manifest: str | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    suppressed: int | None = None
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    release: Release | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry of `releases` under `--json` and in run_results.json."""
        return {key: value for key, value in vars(self).items() if key != "release"}


def run_project(
    project: Project,
    plans: Sequence[Plan],
    connect: Connect,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
) -> list[Result]:
    """Publish the releases of a project one after the other; a failure of one does not stop the others."""
    results = []
    for plan in plans:
        result = Result(plan.name)
        try:
            with connect(plan) as engine:
                _run(project, plan, engine, result, overwrite, dry_run)
        except PrivacySqlError as problem:
            result.exit = problem.exit
            result.errors = [part.to_json() for part in problem.parts]
        results.append(result)
    if not dry_run:
        _record(project, results)
    return results


def _run(
    project: Project, plan: Plan, engine: Engine, result: Result, overwrite: bool, dry_run: bool
) -> None:
    output = _ready(plan, overwrite)
    _refuse_unnamed(plan, engine)
    try:
        assert plan.method is not None
        method = plan.method
        # a method that spends something must not when nothing is written
        rehearsed = getattr(method, "rehearsed", None)
        if dry_run and rehearsed is not None:
            method = rehearsed()
        release = verbs.publish(engine, plan.table, plan.require, method)
    except DataError as problem:
        _keep_unmapped(project, plan, engine, problem)
        raise
    result.release = release
    result.rows_in, result.suppressed = release.rows_in, release.suppressed
    result.verdicts = [verdict.to_json() for verdict in release.verdicts.values()]
    _compiled(project, release)
    if not release.safe:
        result.exit = 1
        return
    result.target = _shown(project, output)
    result.warnings = consulting.warnings(project.directory, release)
    if dry_run:
        return
    kept = project.directory / "target" / f"{plan.name}{manifest.SUFFIX}"
    place = verbs.write(engine, release, output, overwrite=overwrite, manifest_to=kept)
    consulting.remember(project.directory, plan.name, place)
    result.manifest = _shown(project, place)
    result.rows_out = release.rows_out


def _ready(plan: Plan, overwrite: bool) -> Path | str:
    """Where a plan goes; refuses a plan without method or output, and a taken target, before any work."""
    if plan.method is None or plan.output is None:
        missing = "method" if plan.method is None else "output"
        hint = "For example method: {generalise: {levels: {age: 1}}}."
        raise UsageError("incomplete_plan", f"{plan.name} has no {missing}, so it is only checked", hint=hint)
    if plan.output.file is None:
        return f"{verbs.TABLE}{plan.output.relation}"
    writing.kind_of(plan.output.file)
    writing.refuse_existing(plan.output.file, overwrite=overwrite)
    return plan.output.file


def _refuse_unnamed(plan: Plan, engine: Engine) -> None:
    """In a project every column has a role: none is dropped or published without a word."""
    session = engine.session(base.files(plan.table))
    columns = list(session.columns(session.source(plan.table.source)))
    unnamed = plan.table.unnamed(columns)
    if unnamed:
        raise UsageError(
            "no_role",
            f"{len(unnamed)} columns of the source have no role: {', '.join(unnamed)}",
            where=plan.name,
            hint="Name each under quasi_identifiers, sensitive, insensitive or drop.",
        )


def _keep_unmapped(project: Project, plan: Plan, engine: Engine, problem: DataError) -> None:
    """List values missing from hierarchies in a private file; errors and logs never show them."""
    if not any(part.code == "unmapped_value" for part in problem.parts):
        return
    folder = private(project.directory)
    counted = base.count(engine, plan.table)
    for column, (name, kind) in counted.columns.items():
        if kind.height:
            found_levels = levels.labels(counted.engine, counted.dictionaries[column], kind)
            query = render("unmapped_values.sql", levels=found_levels, height=kind.height, name=name)
            (found,) = counted.engine.fetch(render("unmapped.sql", levels=found_levels, height=kind.height))
            if found["n_values"]:
                path = folder / "unmapped.csv"
                path.unlink(missing_ok=True)
                counted.engine.write_file(query, path, "csv")
                path.chmod(0o600)


def private(directory: Path) -> Path:
    """`target/private`, readable by this user alone."""
    folder = directory / "target" / "private"
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def _compiled(project: Project, release: Release) -> None:
    folder = project.directory / "target" / "compiled"
    writing.write_atomically(folder / f"{release.name}.sql", f"{release.view.sql}\n".encode())


def _shown(project: Project, place: Path | str) -> str:
    """A path as the project's user knows it."""
    if isinstance(place, str):
        return place.removeprefix(verbs.TABLE)
    try:
        return place.relative_to(project.directory).as_posix()
    except ValueError:
        return place.as_posix()


def _record(project: Project, results: Sequence[Result]) -> None:
    content = {"schema": 1, "releases": [result.to_json() for result in results]}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    writing.write_atomically(project.directory / "target" / "run_results.json", f"{text}\n".encode())
