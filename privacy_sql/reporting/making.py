"""Make reports: of a release in memory, of written releases by their manifests, or of a whole project.

A written release is reported on only while its bytes are what its manifest says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from privacy_sql import files, manifest
from privacy_sql.errors import PrivacySqlError, UsageError, as_error, raise_all
from privacy_sql.manifest import Manifest
from privacy_sql.publishing import public_record, targets, verifying
from privacy_sql.release import Release, refuse_no_release
from privacy_sql.reporting import describing, named, recording, records, static
from privacy_sql.reporting import page as reporting
from privacy_sql.reporting.records import Record

INDEX = "index.html"
FACTS = "# INTERNAL, WITH VALUES OF PEOPLE: facts from a report of privacy_sql. Do not pass on."
# a release made anew from its source, by its name; None where that cannot be
Again = Callable[[str], AbstractContextManager[Release | None]]
# what a run's record and a manifest say in the same words
AS_WRITTEN = (
    *public_record.ROWS,
    *("method", "choice", "claims", "search", "sql", "baseline", "insensitive", "signoff", "determination"),
)


@dataclass(frozen=True)
class Wanted:
    """What kind of report is wanted."""

    audience: str | None = None
    static: bool = False
    dry_run: bool = False
    interactive: bool = False  # with plotly in the page, to turn the skyline
    show_values: bool = False  # the worst cases by their keys and values: for the eyes of a few
    again: Again | None = None  # with them, who is meant


@dataclass(frozen=True)
class Made:
    """A report that was written."""

    release: str
    file: Path
    audience: str
    safe: bool
    sections: Mapping[str, bool]  # whether there was anything to show
    sentence: str = ""
    made: str = ""
    judged: bool = True
    exit: int = 0  # of the run that is reported on
    pictures: Sequence[Path] = ()
    facts: Sequence[Path] = ()  # of the worst cases, for `facts`

    def to_json(self) -> dict[str, Any]:
        return {
            "release": self.release,
            "file": self.file.as_posix(),
            "audience": self.audience,
            "safe": self.safe,
            "sections": dict(self.sections),
            "pictures": [path.as_posix() for path in self.pictures],
            "facts": [path.as_posix() for path in self.facts],
        }


def report(
    release: Release,
    path: str | Path,
    *,
    audience: str | None = None,
    static: bool = False,
    interactive: bool = False,
) -> Path:
    """Write the report of a release that was written or not; returns its path.

    >>> import pandas as pd, tempfile
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["30", "31", "41", "44"], "illness": ["flu", "cold", "flu", "cold"]})
    >>> with ps.connect() as engine, tempfile.TemporaryDirectory() as folder:
    ...     table = ps.Table(rows, {"age": ps.Intervals(10)}, "illness")
    ...     release = ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1}))
    ...     print(ps.report(release, f"{folder}/report.html").name)
    report.html
    """
    refuse_no_release(release)
    files.refuse_no_path(path, "a report")
    run = recording.recorded(release)
    return write_page(
        {"release": release.name, "run": run}, Path(path), Wanted(audience, static, interactive=interactive)
    ).file


def is_facts(text: bytes) -> bool:
    """Whether we wrote a file of facts."""
    return text.startswith(FACTS.encode())


def refuse_public_values(ask: Wanted) -> None:
    """Values of people are in no public report."""
    if ask.show_values and ask.audience == "public":
        hint = "Leave out --audience, or --show-values."
        raise UsageError("bad_argument", "a public report names no values of people", hint=hint)


def _named(
    found: Record, place: Path | None, content: Manifest | None, again: Again | None
) -> Sequence[named.Named]:
    if place is None or content is None or not content.files:
        hint = "`privacy-sql check --show-values` names the worst cases of what was not published in files."
        raise UsageError(
            "no_file", "there is no published file to name values of", where=found["release"], hint=hint
        )
    with again(content.release) if again else nullcontext(None) as release:
        return named.worst_cases(place, found["run"], release)


def of_manifest(place: Path, target: Path | None, ask: Wanted, directory: Path) -> Made:
    """The report of a written release, with what the project in `directory` recorded about it."""
    file, content = verify(place)
    found = records.read(directory, content.release)
    run = (found or {}).get("run", {})
    there = (directory / str(run.get("manifest"))).resolve() == file.resolve()
    if found and there and is_about(found, content):
        found = describing.completed(directory, found, file, content, keep=not ask.dry_run)
    else:
        found = alone(content)
    chosen = target or file.with_name(file.name.removesuffix(manifest.SUFFIX) + ".report.html")
    return write_page(found, chosen, ask, content, place=file)


def verify(place: Path) -> tuple[Path, Manifest]:
    """The manifest that a path leads to; a release in files must be as it was written."""
    file, content = verifying.found(place)
    if content.files:
        verifying.verified(file)  # a table lies on a connection that a report does not open
    return file, content


def of_manifests(
    places: Sequence[Path], chosen: Sequence[Path | None], ask: Wanted, directory: Path
) -> tuple[list[Made], list[PrivacySqlError]]:
    """The reports of written releases, and what stood in the way of the others."""
    made: list[Made] = []
    problems: list[PrivacySqlError] = []
    for place, target in zip(places, chosen, strict=True):
        try:
            made.append(of_manifest(place, target, ask, directory))
        except Exception as problem:
            problems.append(as_error(problem))
    if not made:
        raise_all(problems)
    return made, problems


def alone(content: Manifest) -> Record:
    """The records of a release of which only the manifest is known."""
    return {"release": content.release, "run": from_manifest(content)}


def is_about(found: Record, content: Manifest) -> bool:
    """Whether records are about the release of this very manifest."""
    return bool(found["run"].get("checksum") == content.checksum)


def from_manifest(content: Manifest) -> Record:
    """What a manifest alone says of a release, in the words of a run's record."""
    told, roles = content.to_json(), content.roles
    verdicts = [
        describing.explained({**verdict.to_json(), "story": "", "notes": []}) for verdict in content.verdicts
    ]
    # manifests of 0.1.0 round none, and do not say so
    rounded = (
        dict.fromkeys(("step", "rounded_to"), content.rows_rounded_to) if content.rows_rounded_to != 0 else {}
    )
    shown = content.shown
    levels = content.choice.get("levels") or {}
    return {
        "roles": roles,
        "sensitive": [name for name, role in roles.items() if role == "sensitive"],
        "identified": "identifier" in roles.values() and content.values_per_person == "one",
        "hierarchies": {
            name: {"kind": "", "levels": list(labels.levels)} for name, labels in content.hierarchies.items()
        },
        "columns": [  # nothing is known of their values
            {
                "name": name,
                "role": roles.get(name, ""),
                "shown": name in shown,
                "level": levels.get(name),
                "shown_as": "" if name in levels or name in roles else shown.get(name, ""),
                "before": None,
                "after": None,
            }
            for name in dict.fromkeys([*roles, *shown])
        ],
        "made": content.made,
        "version": content.versions.privacy_sql,
        "safe": bool(verdicts) and all(verdict["safe"] for verdict in verdicts),
        "rehearsal": bool(content.rehearsal),
        "verdicts": verdicts,
        "require": [verdict["requirement"] for verdict in verdicts],
        "exit": 0,
        **{key: told.get(key) for key in AS_WRITTEN},
        **rounded,
    }


def write_page(
    found: Record,
    target: Path,
    ask: Wanted,
    content: Manifest | None = None,
    index: str = "",
    place: Path | None = None,
) -> Made:
    """One page; `place` is the manifest of the release in files, where there is one."""
    targets.admit_page(target, reporting.is_ours)
    audience = "internal" if ask.show_values else ask.audience
    named = _named(found, place, content, ask.again) if ask.show_values else ()
    # the worst facts of a page with values, each in a file of its own
    said = [(one.rule, one.replay) for one in named if one.replay]
    facts = {
        target.with_suffix(f".facts{f'-{number}' if number > 1 else ''}.txt"): "".join(
            f"{line}\n" for line in (FACTS, f"# {rule}", *replay.lines)
        )
        for number, (rule, replay) in enumerate(said, start=1)
    }
    for file in facts:
        targets.admit_page(file, is_facts)
    material = reporting.material_of(found, audience, content)
    page = reporting.page(
        material,
        index,
        interactive=ask.interactive,
        named=named if ask.show_values else None,
        facts=[file.name for file in facts],
    )
    pictures: list[Path] = []
    if not ask.dry_run:
        mode = 0o600 if ask.show_values else 0o666
        targets.put_page(target, page.html.encode(), reporting.is_ours, mode)
        for file, text in facts.items():
            targets.put_page(file, text.encode(), is_facts, 0o600)
        every = f"{escape(target.stem)}.facts*.txt"
        with files.only_writer(target.parent, wait=True):
            # facts of a page that was here before name people of a page that is gone
            for file in target.parent.glob(every):
                if file not in facts and file.is_file() and is_facts(file.read_bytes()):
                    file.unlink()
            # and so does what a killed run left of them
            for left in target.parent.glob(f".{'?' * 12}-{every}"):
                files.sweep(left.with_name(left.name[14:]))
        if ask.static:
            pictures = static.draw(page.charts, page.skyline, target.with_suffix(""))
    return Made(
        release=material.name,
        file=target,
        audience=material.audience,
        safe=material.safe,
        sections=page.sections,
        sentence=page.sentence,
        made=material.run["made"],
        judged=bool(material.verdicts),
        exit=found["run"].get("exit") or 0,
        pictures=pictures,
        facts=list(facts),
    )
