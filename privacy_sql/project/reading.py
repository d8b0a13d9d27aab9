"""privacy.yml as tables, requirements and methods; one error reports every mistake with its path.

Text stays text: `01234`, `NO` and `1e5` are what the user wrote, and only numeric parameters become numbers.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privacy_sql import criteria, files, manifest, methods, registry
from privacy_sql.criteria import Criterion, refuse_empty
from privacy_sql.engines import keys_of
from privacy_sql.errors import PrivacySqlError, UsageError, did_you_mean, raise_all
from privacy_sql.hierarchies.spec import from_spec
from privacy_sql.lattice.steering import ENDS, FREE, Steering
from privacy_sql.methods import Method
from privacy_sql.parameters import number_in, typed
from privacy_sql.project.fields import FILE as FILE
from privacy_sql.project.fields import Fields, add_lines, load
from privacy_sql.publishing import publication, targets
from privacy_sql.table import Table

PROJECT_KEYS = ("version", "name", "connections", "releases")
RELEASE_KEYS = (
    *("source", "identifier", "quasi_identifiers", "sensitive", "insensitive", "drop", "require"),
    *("method", "output", "population", "joint", "household", "weight", "signoff", "determination"),
)
SOURCE_KEYS = ("file", "connection", "relation", "where")
IDENTIFIER_KEYS = ("column", "on_duplicate")
QUASI_KEYS = ("column", "hierarchy", "nulls", "distance", *ENDS, "importance")
HOUSEHOLD_KEYS = ("column", "published")
SENSITIVE_KEYS = ("column", "nulls", "values_per_person", "hierarchy", "distance")
INSENSITIVE_KEYS = ("columns", "known", "acknowledge")
# what a person decides and signs, in their own words
SIGNOFF_KEYS = ("purpose", "recipient", "name", "role", "conditions", "review", "reasons")
# the fields of EMA's and Health Canada's template that only a person can fill in
DETERMINATION_KEYS = ("recipients", "threshold", "why", "expert", "valid_until")
OUTPUT_KEYS = ("target", "connection", "relation", "csv")
# files such as target/compiled/<name>.sql use the name of a release, so it must not be a path
RELEASE_NAME = re.compile(r"\w(?:[\w.-]{0,98}\w)?")
INLINE = re.compile("://[^/]*@|password|token=", re.IGNORECASE)
REST = "rest"  # of `drop:`, every column without a role
SECRETS = {"dsn", "password", "user", "host", "url", "token"}


@dataclass(frozen=True)
class Output:
    """The target of a release: a file, or a table of a connection."""

    file: Path | None = None
    connection: str | None = None
    relation: str | None = None
    escape: bool = False  # whether cells of a CSV file that a spreadsheet would run get an apostrophe


@dataclass(frozen=True)
class Plan:
    """One release of a project, as the user planned it."""

    name: str
    table: Table
    require: tuple[Criterion, ...]
    method: Method | None
    output: Output | None
    connection: str | None  # where the source lies; None: the embedded default
    drops_rest: bool = False  # every column without a role stays out of the release
    steering: Steering = FREE  # bounds of levels, and how much each column matters
    # for whom and why it is published, and the reason of each limit
    signoff: Mapping[str, Any] = field(default_factory=dict)
    # the risk limit of an authority or an expert, and the reason
    determination: Mapping[str, str] = field(default_factory=dict)

    def manifest(self, directory: Path) -> Path:
        """The place of the manifest of this release."""
        file = self.output.file if self.output else None
        if file is None:
            return directory / "target" / f"{self.name}{manifest.SUFFIX}"
        return manifest.manifest_path(file if file.suffix else file / f"{self.name}.csv")

    @property
    def engine(self) -> str:
        """The connection to run on: that of its output table, or of its source, or embedded."""
        return (self.output.connection if self.output else None) or self.connection or "default"

    def beside(self, written: Mapping[Path, Path]) -> Plan:
        """The same, with the manifests of other releases of the project for its method."""
        return self if self.method is None else replace(self, method=self.method.beside(written))


@dataclass(frozen=True)
class Project:
    """A project file that has been read without mistakes."""

    directory: Path
    name: str
    connections: Mapping[str, Mapping[str, str]]
    plans: Mapping[str, Plan]

    def selected(self, names: tuple[str, ...]) -> list[Plan]:
        """The named releases, or all."""
        raise_all(
            [
                UsageError(
                    "unknown_release", f'there is no release "{name}"', hint=did_you_mean(name, self.plans)
                )
                for name in names
                if name not in self.plans
            ]
        )
        return [plan for name, plan in self.plans.items() if not names or name in names]

    def kept(self, plan: Plan) -> list[targets.Kept]:
        """Everything that this project reads or its other releases publish, which no release may replace."""
        found: list[targets.Kept] = []
        for other in self.plans.values():
            read = targets.read_by(other.table, *other.require, other.method)
            if other.name != plan.name and other.output is not None:
                place = other.output.file or str(other.output.relation)
                what = f"the output of {other.name}"
                read += [targets.Kept(place, what), targets.Kept(other.manifest(self.directory), what)]
            # the same name is a different relation on another connection
            found += [each for each in read if isinstance(each.place, Path) or other.engine == plan.engine]
        found += [
            targets.Kept(self.directory / settings["path"], f"the database of the connection {name}")
            for name, settings in self.connections.items()
            if "path" in settings
        ]
        return found


def connection_keys(kind: str) -> tuple[str, ...]:
    """What privacy.yml may say of a connection to an engine."""
    return ("type", *keys_of(kind))


def read(directory: Path) -> Project:
    """The project of a folder."""
    path = directory / FILE
    if not path.is_file():
        raise UsageError(
            "no_project",
            f"there is no {FILE} here" if directory.is_dir() else f"there is no folder {directory}",
            hint="Create one with `privacy-sql init`, or name a folder with --project.",
        )
    content = load(path)
    if content is None or content == "":
        hint = "`privacy-sql init --example FOLDER` writes one to start from."
        raise UsageError("bad_project", f"{FILE} is empty", hint=hint)
    try:
        return understood(directory, content)
    except PrivacySqlError as problem:
        add_lines(path, problem.parts)
        raise


def understood(directory: Path, content: object) -> Project:
    """The project in the content of a file; its relative files are in `directory`."""
    return _Reader(directory).project(content)


class _Reader(Fields):
    """Reads the file and collects all mistakes instead of stopping at the first one."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.connections: dict[str, Mapping[str, str]] = {"default": {"type": "duckdb"}}

    def project(self, content: object) -> Project:
        fields = self.mapping(content, PROJECT_KEYS, "")
        if fields.get("version") != "1":
            self.wrong("version", "must be 1, the version that this privacy_sql reads")
        for name, settings in self.mapping(fields.get("connections") or {}, None, "connections").items():
            self.connections[name] = self.connection(settings, f"connections.{name}")
        plans = {
            name: self.plan(name, content, f"releases.{name}")
            for name, content in self.mapping(fields.get("releases"), None, "releases").items()
        }
        if not plans:
            self.wrong("releases", "the project has no releases")
        raise_all(self.problems)
        name = str(fields.get("name") or self.directory.resolve().name)
        made = [plan for plan in plans.values() if plan is not None]
        written = {self.directory / plan.name: plan.manifest(self.directory) for plan in made if plan.output}
        for plan in made:
            plans[plan.name] = plan.beside(written)
        return Project(self.directory, name, self.connections, {k: v for k, v in plans.items() if v})

    def connection(self, content: object, where: str) -> Mapping[str, str]:
        hint = "Name an environment variable: dsn_env: WAREHOUSE_DSN."
        if isinstance(content, Mapping) and (inline := SECRETS & set(content)):
            self.wrong(f"{where}.{min(inline)}", "do not put credentials into the project file", hint)
            return {}
        known = registry.available("engines")
        kind = content.get("type") if isinstance(content, Mapping) else None
        if not isinstance(content, Mapping) or not isinstance(kind, str) or kind not in known:
            self.wrong(f"{where}.type", f"a connection must be one of {', '.join(known)}")
            return {}
        for key, value in content.items():
            if INLINE.search(str(value)):
                self.wrong(f"{where}.{key}", "do not put credentials into the project file", hint)
        return self.mapping(content, connection_keys(kind), where)

    def plan(self, name: str, content: object, where: str) -> Plan | None:
        if not RELEASE_NAME.fullmatch(name):
            self.wrong(where, "the name of a release may have only letters, digits, _, - and inner dots")
        fields = self.mapping(content, RELEASE_KEYS, where)
        source, connection, condition = self.source(fields.get("source"), f"{where}.source")
        before = len(self.problems)
        columns = self.columns(fields, where)
        steering = self.steering(fields.get("quasi_identifiers"), f"{where}.quasi_identifiers")
        method = self.method(fields.get("method"), f"{where}.method", steering)
        require: tuple[Criterion, ...] = ()
        if method is None or not method.promises or "require" in fields:
            require = self.requirements(fields.get("require"), f"{where}.require")
        output = self.output(fields.get("output"), f"{where}.output")
        signoff = self.signoff(fields.get("signoff", {}), require, f"{where}.signoff")
        determined = self.determination(fields.get("determination", {}), f"{where}.determination")
        if len(self.problems) > before or source is None:
            return None
        with self.noting(where):
            table = Table(source, name=name, where=condition, **columns)
            steering.levels(table)  # names a level that a hierarchy does not have
            rest = fields.get("drop") == REST
            return Plan(name, table, require, method, output, connection, rest, steering, signoff, determined)
        return None

    # -- parts of a release ------------------------------------------------------------------------------

    def source(self, content: object, where: str) -> tuple[Any, str | None, str | None]:
        fields = self.mapping(content, SOURCE_KEYS, where)
        connection = self.known_connection(fields.get("connection"), f"{where}.connection")
        if ("file" in fields) == ("relation" in fields):
            self.wrong(where, "source must be {file: F} or {connection: C, relation: R}")
            return None, None, None
        source: Any = (
            self.path(fields["file"], f"{where}.file") if "file" in fields else str(fields["relation"])
        )
        return source, connection, fields.get("where")

    def columns(self, fields: Mapping[str, Any], where: str) -> dict[str, Any]:
        """The roles of the columns, as arguments of Table."""
        quasi, nulls, distances = self.quasi(fields.get("quasi_identifiers"), f"{where}.quasi_identifiers")
        person = self.column(fields.get("identifier"), IDENTIFIER_KEYS, f"{where}.identifier")
        if person.get("on_duplicate", "error") != "error":
            self.wrong(f"{where}.identifier.on_duplicate", "on_duplicate must be error")
        population = self.mapping(fields.get("population") or {}, ("file",), f"{where}.population")
        made = {
            "quasi": quasi,
            "quasi_nulls": nulls,
            "identifier": person.get("column"),
            "insensitive": self.insensitive(fields.get("insensitive"), f"{where}.insensitive"),
            "drop": () if fields.get("drop") == REST else self.names(fields.get("drop"), f"{where}.drop"),
            "population": self.path(population["file"], f"{where}.population.file")
            if "file" in population
            else None,
            "household": self.column(fields.get("household"), HOUSEHOLD_KEYS, f"{where}.household") or None,
            "weight": self.column(fields.get("weight"), ("column",), f"{where}.weight").get("column"),
            "joint": self.flag(fields.get("joint", "false"), f"{where}.joint"),
        }
        sensitive, more = self.sensitive(fields.get("sensitive"), f"{where}.sensitive")
        return {
            **made,
            "sensitive": sensitive,
            **more,
            "distances": {**distances, **more.pop("distances", {})},
        }

    def insensitive(self, content: object, where: str) -> Sequence[str] | Mapping[str, Any]:
        """Insensitive columns: a list, or a mapping that says whether they are known."""
        if not isinstance(content, Mapping):
            return self.names(content, where)
        fields = self.mapping(content, INSENSITIVE_KEYS, where)
        said = dict(fields, columns=self.names(fields.get("columns"), f"{where}.columns"))
        if "known" in fields:
            said["known"] = self.flag(fields["known"], f"{where}.known")
        return said

    def quasi(self, content: object, where: str) -> tuple[dict[str, Any], dict[str, str], dict[str, Path]]:
        hierarchies: dict[str, Any] = {}
        nulls: dict[str, str] = {}
        distances: dict[str, Path] = {}
        for number, entry in enumerate(self.listed(content, where)):
            place = f"{where}[{number}]"
            fields = self.column(entry, QUASI_KEYS, place)
            name = fields.get("column", "")
            if name in hierarchies:
                self.wrong(place, f'column "{name}" appears twice')
            with self.noting(place):
                hierarchies[name] = from_spec(
                    fields.get("hierarchy"), name, self.directory, f"{place}.hierarchy"
                )
            nulls[name] = fields.get("nulls", "value")
            distances |= self.distance(name, fields, place)
        return hierarchies, nulls, distances

    def steering(self, content: object, where: str) -> Steering:
        """The bounds of levels and the importance of quasi-identifiers."""
        bounds: dict[str, Any] = {}
        importance: dict[str, Any] = {}
        for number, entry in enumerate(content if isinstance(content, list) else []):
            if not isinstance(entry, Mapping) or not isinstance(name := entry.get("column"), str):
                continue
            ends: dict[str, Any] = {end: typed(entry[end], "int") for end in ENDS if end in entry}
            weight = {name: entry["importance"]} if "importance" in entry else {}
            with self.noting(f"{where}[{number}]"):
                said = Steering({name: ends} if ends else {}, weight)
                bounds |= said.bounds
                importance |= said.importance
        return Steering(bounds, importance)

    def sensitive(self, content: object, where: str) -> tuple[tuple[str, ...] | None, dict[str, Any]]:
        if content is None:
            return None, {}
        entries = content if isinstance(content, list) else [content]
        read = [self.column(entry, SENSITIVE_KEYS, where) for entry in entries]
        names = tuple(fields.get("column", "") for fields in read)
        first = read[0] if read else {}
        for key, usual in (("nulls", "value"), ("values_per_person", "one")):
            if len({str(fields.get(key, usual)) for fields in read}) > 1:
                self.wrong(where, f"several sensitive columns must have the same {key}")
        for key in ("nulls", "values_per_person"):
            if not isinstance(first.get(key, ""), str):
                self.wrong(f"{where}.{key}", "must be a word")
                return None, {}
        kinds = {}
        for name, fields in zip(names, read, strict=True):
            with self.noting(where):
                if fields.get("hierarchy") is not None:
                    kinds[name] = from_spec(fields["hierarchy"], name, self.directory, f"{where}.hierarchy")
        return names, {
            "sensitive_nulls": first.get("nulls", "value"),
            "values_per_person": first.get("values_per_person", "one"),
            "sensitive_hierarchy": kinds.get(names[0]) if len(names) == 1 else kinds or None,
            "distances": {
                k: v for n, f in zip(names, read, strict=True) for k, v in self.distance(n, f, where).items()
            },
        }

    def distance(self, name: str, fields: Mapping[str, Any], where: str) -> dict[str, Path]:
        if "distance" not in fields:
            return {}
        inner = self.mapping(fields["distance"], ("file",), f"{where}.distance")
        return {name: self.path(inner["file"], f"{where}.distance.file")} if "file" in inner else {}

    def requirements(self, content: object, where: str) -> tuple[Criterion, ...]:
        made: list[Criterion] = []
        before = len(self.problems)
        for name, params in self.mapping(content, None, where).items():
            several = isinstance(params, list)
            for number, part in enumerate(params if several else [params]):
                place = f"{where}.{name}[{number}]" if several else f"{where}.{name}"
                with self.noting(place):
                    asked = criteria.make(name, self.mapping(part or {}, None, place), place)
                    refuse_empty(asked, place)
                    made.append(asked.in_project().within(self.directory))
        if not made and len(self.problems) == before:
            self.wrong(where, "a release needs at least one requirement")
        return tuple(made)

    def method(self, content: object, where: str, steering: Steering) -> Method | None:
        if content is None:
            return None
        named = {content: {}} if isinstance(content, str) else content
        if not isinstance(named, Mapping) or len(named) != 1:
            self.wrong(where, "a release needs exactly one method")
            return None
        ((name, params),) = named.items()
        with self.noting(where):
            place = f"{where}.{name}"
            made = methods.make(name, self.mapping(params or {}, None, place), place)
            return made.steered(steering).within(self.directory)
        return None

    def output(self, content: object, where: str) -> Output | None:
        if content is None:
            return None
        fields = self.mapping(content, OUTPUT_KEYS, where)
        if ("target" in fields) == ("relation" in fields):
            self.wrong(where, "output must be {target: F} or {connection: C, relation: R}")
            return None
        if "target" in fields:
            if reason := files.no_place(str(fields["target"])):
                self.wrong(f"{where}.target", reason, "Name a path, such as out/people.csv.")
                return None
            escape = False
            with self.noting(f"{where}.csv"):
                escape = publication.escapes(self.mapping(fields.get("csv", {}), None, f"{where}.csv"))
            return Output(file=self.path(fields["target"], f"{where}.target"), escape=escape)
        if "csv" in fields:
            self.wrong(f"{where}.csv", "applies only to files; a spreadsheet does not open a table")
        connection = self.known_connection(fields.get("connection", "default"), f"{where}.connection")
        return Output(connection=connection, relation=str(fields["relation"]))

    def signoff(self, content: object, require: Sequence[Criterion], where: str) -> Mapping[str, Any]:
        """For whom and why it is published, in a person's words, and a reason for each requirement."""
        fields = self.mapping(content, SIGNOFF_KEYS, where)
        reasons = self.mapping(fields.pop("reasons", {}), None, f"{where}.reasons")
        known = {criterion.name for criterion in require}
        for name in reasons:
            if name not in known:
                hint = did_you_mean(name, known)
                self.wrong(f"{where}.reasons.{name}", f'"{name}" is not required', hint)
        self.sentences({**fields, **{f"reasons.{key}": said for key, said in reasons.items()}}, where)
        self.day(fields.get("review"), f"{where}.review")
        return {**fields, **({"reasons": reasons} if reasons else {})}

    def determination(self, content: object, where: str) -> Mapping[str, str]:
        """The limit for the risk, for whom and why; it is printed next to the numbers but never judged."""
        fields = self.mapping(content, DETERMINATION_KEYS, where)
        self.sentences(fields, where)
        limit = number_in(fields["threshold"]) if isinstance(fields.get("threshold"), str) else None
        if "threshold" in fields and (limit is None or not 0 < limit < 1):
            self.wrong(f"{where}.threshold", "must be a risk between 0 and 1, such as 0.09 or 1/11")
        self.day(fields.get("valid_until"), f"{where}.valid_until")
        return fields

    def sentences(self, fields: Mapping[str, object], where: str) -> None:
        for key, said in fields.items():
            if not isinstance(said, str) or not said.strip():
                hint = "If there is nothing to say, leave the field out; the report prints a blank."
                self.wrong(f"{where}.{key}", "must be a sentence", hint)

    def day(self, text: object, where: str) -> None:
        if isinstance(text, str):
            try:
                datetime.date.fromisoformat(text)
            except ValueError:
                self.wrong(where, "must be a date, such as 2027-01-31")

    def known_connection(self, name: str | None, where: str) -> str | None:
        if name is not None and str(name) not in self.connections:
            self.wrong(where, f'there is no connection "{name}"', did_you_mean(str(name), self.connections))
        return name
