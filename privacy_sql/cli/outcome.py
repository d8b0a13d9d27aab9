"""The outcome of a verb: its lines, its JSON object and its exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

import click

from privacy_sql.display.plain import plain as plain
from privacy_sql.errors import first_exit, number_of
from privacy_sql.parameters import given

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.project.reading import Plan, Project
    from privacy_sql.verdict import Verdict

SCHEMA = 1
F = TypeVar("F", bound=Callable[..., Any])


class Common(TypedDict):
    """What `shared` gives every verb, besides the folder."""

    as_json: bool
    unsafe_debug: bool


@dataclass
class Outcome:
    """The outcome of a verb: lines for people, one object for programs, and the exit code."""

    verb: str
    exit: int = 0
    lines: list[str] = field(default_factory=list)
    safe: bool | None = None
    rows: int | None = None
    groups: int | None = None
    ignored_columns: list[str] = field(default_factory=list)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    more: Mapping[str, Any] = field(default_factory=dict)
    quiet: bool = False
    problems: list[PrivacySqlError] = field(default_factory=list)  # shown in full only with --unsafe-debug

    def add(self, problem: PrivacySqlError) -> None:
        """Add the error that prevented a part of the answer."""
        self.exit = first_exit([self.exit, problem.exit])
        self.errors += [part.to_json() for part in problem.parts]
        self.problems.append(problem)

    def to_json(self) -> dict[str, Any]:
        """The object of `--json`, with the same keys on success and on failure."""
        unsaid = ("lines", "more", "quiet", "problems")
        fixed = {key: part for key, part in given(self).items() if key not in unsaid}
        return {"schema": SCHEMA, **{key: plain(part) for key, part in {**fixed, **self.more}.items()}}


def shared(verb: F) -> F:
    """The options every verb has."""
    folder = click.Path(path_type=Path)
    help_text = "The folder of privacy.yml."
    for option in (
        click.option("--project", "directory", type=folder, default=".", show_default=True, help=help_text),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout."),
        click.option("--unsafe-debug", is_flag=True, help="Show engine errors in full. They may quote rows."),
    ):
        verb = option(verb)
    return verb


def public(verdict: Verdict, show_values: bool) -> dict[str, Any]:
    """A verdict for `--json`, with names of keys and values only on request."""
    content = verdict.to_json()
    if show_values:
        content["witness"] = dict(verdict.witness.reveal())
    return content


class Sized(Protocol):
    """Something with a number of rows and groups."""

    @property
    def rows(self) -> int: ...

    @property
    def groups(self) -> int | None: ...


def size(found: Sized) -> str:
    """The size in rows and, if they were counted, groups."""
    groups = "" if found.groups is None else f", {number_of(found.groups, 'group')}"
    return f"{number_of(found.rows, 'row')}{groups}"


def explained(verdicts: Mapping[str, Verdict], show_values: bool) -> list[str]:
    """The verdicts as a table, and the worst case of each in words."""
    from privacy_sql.release import verdict_lines

    lines = ["INTERNAL: names values of the data. Do not pass on.", ""] if show_values else []
    lines += [*verdict_lines(verdicts), ""]
    for verdict in verdicts.values():
        lines.append(f"{verdict.requirement}: {verdict.story}" if verdict.story else verdict.explain())
        lines += [f"  note: {note}" for note in verdict.notes]
        if show_values:
            revealed = verdict.witness.reveal()
            lines += [f"  {key}: {revealed[key]}" for key in ("keys", "values", "others") if key in revealed]
    return lines


def connected(project: Project, plan: Plan, unsafe_debug: bool = False) -> Engine:
    """The engine of a release: that of its output table, or of its source, or embedded."""
    from privacy_sql.engines import connect

    settings = dict(project.connections[plan.engine])
    kind = settings.pop("type")
    if kind != "duckdb":
        return connect(f"{kind}:", unsafe_debug=unsafe_debug, **settings)
    place = settings.pop("path", "")
    path = str(project.directory / place) if place else ""
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    named = (plan.table.source, plan.table.population)
    return connect(
        f"duckdb:{path}",
        unsafe_debug=unsafe_debug,
        files=[source for source in named if isinstance(source, Path)],
        **settings,
    )
