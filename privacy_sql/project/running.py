"""Run a project: plan, judge, write and audit every release, with the results in `target/`."""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privacy_sql import api, files, manifest
from privacy_sql.counted import base, levels
from privacy_sql.display import progress
from privacy_sql.engines import Engine
from privacy_sql.errors import (
    Interrupted,
    PrivacySqlError,
    PublishedNotRecorded,
    UnknownValue,
    UsageError,
    as_error,
    interrupted,
    nearest,
    number_of,
    raise_all,
)
from privacy_sql.history import group_contents
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.project.reading import Plan, Project
from privacy_sql.publishing import intents, private_files, register_check, targets
from privacy_sql.query.template import Query, render
from privacy_sql.release import Release
from privacy_sql.reporting import changes, recording, records

Connect = Callable[[Plan], Engine]
# a failure with one of these codes is about the release; the others are about the run
ROOM = 12288  # bytes in every folder that a run writes to, before it pays for anything
TOLD = (1, 3, 5)
MOST_VALUES = 10_000  # the most values to search for a misspelt one


@dataclass
class Result:
    """The result of one release."""

    name: str
    exit: int = 0
    target: str | None = None
    manifest: str | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    suppressed: int | None = None
    repeated: int | None = None
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    baseline: dict[str, Any] | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    published: bool = False
    release: Release | None = None
    problem: PrivacySqlError | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry of `releases` under `--json` and in run_results.json."""
        return {key: value for key, value in vars(self).items() if key not in ("release", "problem")}


def run_project(
    project: Project,
    plans: Sequence[Plan],
    connect: Connect,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    dry_write: bool = False,
) -> list[Result]:
    """Publish the releases of a project one after the other; a failing release does not stop the others.

    A dry run ends before anything is written; `dry_write` goes on and removes what it wrote.
    """
    results: list[Result] = []
    for plan in plans:
        results.append(Result(plan.name))
        try:
            with connect(plan) as engine, contextlib.ExitStack() as held:
                _run(project, plan, engine, held, results, overwrite, dry_run)
                if dry_write and results[-1].release is not None and results[-1].exit == 0:
                    assert dry_run
                    api.dry_write(results[-1].release, _ready(plan))
                    # what a run would keep for the report
                    recording.recorded_by_run(results[-1].release, _ready(plan))
        except KeyboardInterrupt as problem:
            _failed(results[-1], interrupted(problem))
        except OSError as problem:
            _failed(results[-1], files.unwritable(project.directory / "target", problem))
        except Exception as problem:
            _failed(results[-1], as_error(problem))
        if results[-1].exit == Interrupted.exit:
            break
        if (
            results[-1].problem is not None
            and not results[-1].published
            and results[-1].exit in TOLD
            and not dry_run
        ):
            _remember(project, results[-1], recording.unpublished(plan.table, plan.require))
    if not dry_run:
        content = {"schema": 1, "releases": [result.to_json() for result in results]}
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        try:
            files.write_alone(project.directory / "target" / "run_results.json", f"{text}\n".encode())
        except PrivacySqlError as problem:
            out = [result for result in results if result.published and result.exit == 0]
            if not out:
                raise
            for result in out:
                _failed(result, problem)
    return results


def _failed(result: Result, problem: PrivacySqlError) -> None:
    """Record what went wrong; a published release is never reported as unpublished."""
    if result.published and problem.code != "published_not_recorded":
        told = PublishedNotRecorded(result.name, problem)
        told.exit = problem.exit if problem.exit == 130 else told.exit
        problem = told
    result.exit, result.problem = problem.exit, problem
    result.errors = [part.to_json() for part in problem.parts]


def _run(
    project: Project,
    plan: Plan,
    engine: Engine,
    held: contextlib.ExitStack,
    results: list[Result],
    overwrite: bool,
    dry_run: bool,
) -> None:
    """Run one release: prepare, repair, check the target, choose and judge, report, write, record.

    A dry run changes nothing and ends before writing; an unsafe release ends there, too.
    """
    result = results[-1]
    output = _ready(plan)
    place = plan.manifest(project.directory)
    token = secrets.token_hex(6)
    if isinstance(output, Path) and not dry_run:
        # named before the engine opens, it reads back what it writes without another engine beside it
        engine.session([files.hidden(output, token)])
    if not dry_run:
        # finish or undo what a killed run left, and report it
        said = intents.settle(place, engine, Register(project.directory / FILE_NAME))
        result.warnings = [said] if said else []
    _admit(project, plan, engine, output, place, overwrite)
    if not dry_run:
        private_files.hashes(project.directory / "target" / "private")
        register_check.remember_standing(project.directory, place, plan.table.hierarchies)
    _refuse_unnamed(plan, engine)
    if plan.method is not None and plan.method.spends and not dry_run:
        held.enter_context(_ready_to_spend(project, plan, engine, output, place, overwrite))
    chosen = _chosen(project, plan, engine, results[:-1], dry_run)
    release = replace(
        chosen,
        signoff=plan.signoff,
        determination=plan.determination,
        importance=plan.steering.importance,
    )
    result.release = release
    result.rows_in, result.suppressed = release.rows_in, release.suppressed
    result.repeated = release.repeated
    result.verdicts = [verdict.to_json() for verdict in release.verdicts.values()]
    result.baseline = release.baseline.to_json() if release.baseline else None
    until = plan.determination.get("valid_until")
    if until and datetime.date.fromisoformat(until) < datetime.date.today():
        result.warnings.append(f"its determination was valid until {until}; somebody must decide again")
    if not release.safe:
        result.exit = 1
        result.errors = [release.refusal.to_json()] if release.refusal else []
        if not dry_run:
            _remember(project, result, recording.recorded(release))
        return
    api.refuse_read_alike(release, output)
    result.target = _shown(project, output)
    result.warnings += api.beside(release)
    if isinstance(output, Path) and files.kind_of(output) == "csv" and plan.output and not plan.output.escape:
        result.warnings += api.formulas(release)
    if dry_run:
        result.warnings += register_check.warnings(project.directory, release)
        return
    _compiled(project, release)
    before = changes.before(place, Register(project.directory / FILE_NAME), plan.name)
    place = _registered_and_written(project, plan, result, output, overwrite, place, token)
    progress.report(f"measuring {plan.name} for its report", 0, 1)
    found = recording.recorded_by_run(release, output)
    now = manifest.read(place)
    since = changes.between(before, now)
    _remember(project, result, found | {"checksum": now.checksum, "since": since})


def _chosen(project: Project, plan: Plan, engine: Engine, before: Sequence[Result], dry_run: bool) -> Release:
    """Choose and judge the release; values that no hierarchy covers go to a private file."""
    assert plan.method is not None
    # a method must not spend its budget if nothing is written
    method = plan.method.rehearsed() if dry_run else plan.method
    try:
        progress.report(f"choosing and judging {plan.name}", 0, 1)
        release = api.publish(engine, plan.table, plan.require, method)
        progress.report(f"choosing and judging {plan.name}", 1, 1)
    except PrivacySqlError as problem:
        if not dry_run and _unmapped(problem):
            _keep_unmapped(project, plan, engine, fresh=not any(_unmapped(r.problem) for r in before))
        if not dry_run and (unknown := _unknown(problem)):
            _keep_nearest(project, plan, engine, unknown, fresh=not any(_unknown(r.problem) for r in before))
        raise
    return release


def _registered_and_written(
    project: Project,
    plan: Plan,
    result: Result,
    output: Path | str,
    overwrite: bool,
    place: Path,
    token: str,
) -> Path:
    """The manifest of a published release; nobody else can publish between the last check and its entry."""
    release = result.release
    assert release is not None

    def told(place: Path) -> None:
        result.published = True
        result.manifest, result.rows_out = _shown(project, place), release.rows_out

    register = Register(project.directory / FILE_NAME)
    with register.held():
        result.warnings += register_check.warnings(project.directory, release)
        progress.report(f"writing {plan.name} and reading it back", 0, 1)
        source = plan.table.source if isinstance(plan.table.source, Path) else None
        folder = private_files.private(project.directory)
        # hashed before writing, which checks that the source is still the one that was counted
        digest = private_files.source_hash(folder, source) if source else None
        made = api.put_out(
            release,
            output,
            overwrite=overwrite,
            manifest_to=place,
            escape=plan.output is not None and plan.output.escape,
            register=register if register.path.exists() else None,
            kept=project.kept(plan),
            told=told,
            token=token,
        )
        group_contents.sweep(folder)
        if not register.path.exists():
            group_contents.keep_without_register(folder, release, manifest.read(made))
        if source and digest:
            private_files.keep_hash(folder, plan.name, source, digest)
        return made


@contextlib.contextmanager
def _ready_to_spend(
    project: Project, plan: Plan, engine: Engine, output: Path | str, place: Path, overwrite: bool
) -> Iterator[None]:
    """Lock and test the targets of a release, so that it is not charged if it cannot be written."""
    register, target = Register(project.directory / FILE_NAME), project.directory / "target"
    with register.held(), files.only_writer(place.parent, wait=not isinstance(output, Path)):
        # another run may have been faster
        _admit(project, plan, engine, output, place, overwrite)
        folders = [place.parent, target, target / "compiled", target / "records"]
        folders += [private_files.private(project.directory)]
        folders += [register.kept] if register.path.exists() else []
        files.refuse_unwritable(dict.fromkeys(folders, ROOM))
        if isinstance(output, str):
            schema, dot, _ = output.removeprefix(api.TABLE).rpartition(".")
            probe = f"{schema}{dot}ps_probe_{secrets.token_hex(6)}"
            with engine.transaction():
                engine.write_table(Query("select 1 as probe", "checking that tables can be written"), probe)
                engine.drop_table(probe)
        yield


def _remember(project: Project, result: Result, found: records.Record) -> None:
    """Store the records for the report of a release."""
    came_of_it = {
        **{"exit": result.exit, "target": result.target, "manifest": result.manifest},
        **{"errors": result.errors, "warnings": result.warnings},
    }
    records.start(project.directory, result.name, {**found, **came_of_it, "project": project.name})


def _ready(plan: Plan) -> Path | str:
    """The target of a plan; refuses a plan without method or output before any work."""
    if plan.method is None or plan.output is None:
        missing = "method" if plan.method is None else "output"
        example = "method: {full_domain: {}}" if plan.method is None else "output: {target: out/people.csv}"
        hint = f"For example {example}. `privacy-sql check` judges the unchanged table."
        raise UsageError(
            "incomplete_plan", f"{plan.name} has no {missing}, so there is nothing to publish", hint=hint
        )
    if plan.output.file is None:
        return f"{api.TABLE}{plan.output.relation}"
    files.kind_of(plan.output.file)
    return plan.output.file


def _admit(
    project: Project, plan: Plan, engine: Engine, output: Path | str, place: Path, overwrite: bool
) -> None:
    """Refuse a target that must not be replaced, before any work; `write` checks again."""
    if isinstance(output, Path):
        files.refuse_impossible(output.parent)
        targets.admit(place, [output], plan.name, overwrite=overwrite, kept=project.kept(plan))
    else:
        table = output.removeprefix(api.TABLE)
        kept = project.kept(plan)
        targets.admit_tables(engine, place, [table], plan.name, overwrite=overwrite, kept=kept)


def _refuse_unnamed(plan: Plan, engine: Engine) -> None:
    """Refuse columns without a role: a project must say which columns are dropped or published."""
    session = engine.session(base.files(plan.table))
    columns = list(session.columns(session.source(plan.table.source)))
    # unknown columns first, because in a file without a header the names are values of a row
    raise_all(plan.table.unknown(columns))
    unnamed = plan.table.unnamed(columns)
    if unnamed and not plan.drops_rest:
        raise UsageError(
            "no_role",
            f"{number_of(len(unnamed), 'column')} of the source without a role: {', '.join(unnamed)}",
            where=plan.name,
            hint="Name each under quasi_identifiers, sensitive, insensitive or drop, or write `drop: rest`.",
        )


def _unmapped(problem: PrivacySqlError | None) -> bool:
    return problem is not None and any(part.code == "unmapped_value" for part in problem.parts)


def _keep_unmapped(project: Project, plan: Plan, engine: Engine, *, fresh: bool) -> None:
    """List uncovered values in a private file; errors and logs never show them."""
    folder = private_files.private(project.directory)
    counted = base.count(engine, plan.table, several=True)
    kinds = {**counted.columns}
    if counted.table.sensitive_hierarchy is not None:
        kinds["s"] = (counted.table.sensitives[0], counted.table.sensitive_hierarchy)
    columns = [
        (name, levels.labels(counted.engine, counted.dictionaries[column], kind), kind.height)
        for column, (name, kind) in kinds.items()
        if kind.height
    ]
    found = folder / f".{private_files.UNMAPPED}"
    found.unlink(missing_ok=True)  # a killed run left it
    try:
        counted.engine.write_file(render("project/unmapped_values.sql", columns=columns), found, "csv")
        lines = found.read_bytes().splitlines(keepends=True)
        private_files.keep_listed(folder, private_files.UNMAPPED, lines, fresh=fresh)
    finally:
        found.unlink(missing_ok=True)


def _unknown(problem: PrivacySqlError | None) -> list[str]:
    """The values that requirements name and nobody has."""
    parts = () if problem is None else problem.parts
    return list(dict.fromkeys(part.value for part in parts if isinstance(part, UnknownValue)))


def _keep_nearest(
    project: Project, plan: Plan, engine: Engine, unknown: Sequence[str], *, fresh: bool
) -> None:
    """List the values of the data with the most similar spelling in a private file; no error shows them."""
    folder = private_files.private(project.directory)
    counted = base.count(engine, plan.table, several=True)
    stream = io.StringIO()
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(("column_name", "named", "nearest"))
    for one in (counted, *counted.sides):
        query = render("project/commonest_values.sql", dictionary=one.dictionaries["s"], most=MOST_VALUES)
        known = [str(row["value"]) for row in one.engine.fetch(query)]
        for value in unknown:
            lines.writerow((one.table.sensitives[0], value, nearest(value, known) or ""))
    written = stream.getvalue().encode().splitlines(keepends=True)
    private_files.keep_listed(folder, private_files.NEAREST, written, fresh=fresh)


def _compiled(project: Project, release: Release) -> None:
    folder = project.directory / "target" / "compiled"
    found = release.baseline if release.table.as_they_are else None
    said = [] if found is None else found.sentences(release.require)
    told = [f"-- {line}" for sentence in said for line in sentence.splitlines()]  # names may have line breaks
    text = "\n".join([*told, release.view.public(), ""])
    files.write_alone(folder / f"{release.name}.sql", text.encode())


def _shown(project: Project, place: Path | str) -> str:
    """A path relative to the project."""
    if isinstance(place, str):
        return place.removeprefix(api.TABLE)
    try:
        return place.relative_to(project.directory).as_posix()
    except ValueError:
        return place.as_posix()
