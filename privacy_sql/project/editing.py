"""Change privacy.yml as its owner would: comments, order and quotes stay, and nothing is overwritten blindly.

A change is an `Edit` of one release. The same reader checks the edited text before it is saved, so a file
that `run` would refuse is never written.
"""

from __future__ import annotations

import csv
import difflib
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from privacy_sql import files
from privacy_sql.errors import UsageError
from privacy_sql.parameters import number_in
from privacy_sql.project.fields import FILE
from privacy_sql.project.reading import Project, understood

# how files are indented: a list under its key, or two blanks further in
INDENTS = ((2, 4, 2), (2, 2, 0), (4, 6, 4), (4, 4, 0), (4, 4, 2))
LISTS = {"quasi": "quasi_identifiers", "sensitive": "sensitive", "drop": "drop", "insensitive": "insensitive"}


class Edit(ABC):
    """One change of a release."""

    @abstractmethod
    def apply(self, release: CommentedMap) -> None:
        """Apply it to the release's part of the file."""

    def moved(self, places: Mapping[str, Path]) -> Edit:
        """The same for files in other places."""
        return self


@dataclass(frozen=True)
class SetLimit(Edit):
    """Another value of one parameter; `number` is the index of the requirement in the release.

    `places` say where its parameters hold the value, as `Criterion.slider_places` does.
    """

    number: int
    places: tuple[tuple[str | int, ...], ...]
    value: str

    def apply(self, release: CommentedMap) -> None:
        places = [
            (params if isinstance(params, list) else asked, place if isinstance(params, list) else name)
            for asked in (release["require"],)
            for name, params in asked.items()
            for place in (range(len(params)) if isinstance(params, list) else (0,))
        ]
        holder, key = places[self.number]
        for *way, last in self.places:
            node = holder[key]
            for part in way:
                node = node[part]
            node[last] = scalar(self.value)


@dataclass(frozen=True)
class SetRequirements(Edit):
    """Replace all requirements of some `kinds` with these; other kinds do not change."""

    kinds: tuple[str, ...]
    asked: tuple[tuple[str, Mapping[str, str]], ...]

    def apply(self, release: CommentedMap) -> None:
        require, wanted = release["require"], dict(self.asked)
        for kind in self.kinds:
            params = {name: scalar(value) for name, value in wanted.get(kind, {}).items()}
            if kind not in wanted:
                require.pop(kind, None)
                release.get("signoff", {}).get("reasons", {}).pop(kind, None)
            elif isinstance(held := require.get(kind), CommentedMap):  # keep comments next to it
                for name in [name for name in held if name not in params]:
                    del held[name]
                held.update(params)
            else:
                require[kind] = _flow(params)


@dataclass(frozen=True)
class SetAllowed(Edit):
    """The share of rows that the method of the release may leave out."""

    allowed: str

    def apply(self, release: CommentedMap) -> None:
        method = release["method"]
        if not isinstance(method, CommentedMap):
            release["method"] = CommentedMap({method: _flow({"max_suppressed": scalar(self.allowed)})})
            return
        (name,) = method
        if not isinstance(method[name], CommentedMap):
            method[name] = _flow({})
        method[name]["max_suppressed"] = scalar(self.allowed)


@dataclass(frozen=True)
class SetLevels(Edit):
    """Fixed levels, instead of those that a method would find."""

    levels: Mapping[str, int]
    allowed: str = "0"  # the share of rows that may be left out

    def apply(self, release: CommentedMap) -> None:
        method = release.get("method")
        known = method.get("generalise") if isinstance(method, Mapping) else None
        if isinstance(known, CommentedMap) and isinstance(known.get("levels"), CommentedMap):
            for column in [column for column in known["levels"] if column not in self.levels]:
                del known["levels"][column]
            known["levels"].update(
                {c: n for c, n in self.levels.items() if str(known["levels"].get(c)) != str(n)}
            )
            return
        levels = CommentedMap(self.levels)
        levels.fa.set_flow_style()
        made = CommentedMap({"levels": levels})
        if Fraction(self.allowed):
            made["max_suppressed"] = scalar(self.allowed)
        put(release, "method", CommentedMap({"generalise": made}), before="output")


@dataclass(frozen=True)
class SetRole(Edit):
    """Another role for one column: quasi, sensitive, insensitive, known, identifier or drop."""

    column: str
    role: str

    def apply(self, release: CommentedMap) -> None:
        entry = _taken(release, self.column)
        if self.role == "identifier":
            put(release, "identifier", _flow({"column": self.column}), before="quasi_identifiers")
        elif self.role == "quasi":
            self._add(
                release,
                "quasi_identifiers",
                entry or _flow({"column": self.column, "hierarchy": "keep_or_drop"}),
            )
        elif self.role == "sensitive":
            self._add(release, "sensitive", _flow({"column": self.column}))
        elif self.role in ("insensitive", "known"):
            self._as_it_is(release)
        elif release.get("drop") != "rest":
            self._add(release, "drop", self.column)

    def _add(self, release: CommentedMap, key: str, entry: object) -> None:
        held = release.get(key)
        if held is None:
            listed = CommentedSeq([entry])
            if key == "drop":
                listed.fa.set_flow_style()
            put(release, key, listed, before="require")
        elif isinstance(held, list):
            held.append(entry)
        else:  # one sensitive column, written without a list
            release[key] = CommentedSeq([held, entry])

    def _as_it_is(self, release: CommentedMap) -> None:
        held, known = release.get("insensitive"), self.role == "known"
        if held is None:
            columns = CommentedSeq([self.column])
            columns.fa.set_flow_style()
            put(
                release,
                "insensitive",
                _flow({"columns": columns, "known": True}) if known else columns,
                before="require",
            )
            return
        is_known = isinstance(held, Mapping) and str(held.get("known", "")).lower() == "true"
        if is_known != known:
            told = "insensitive columns are either all known or all not known"
            hint = "Change the role of the others first, or make this one a quasi-identifier."
            raise UsageError("mixed_insensitive", told, where=self.column, hint=hint)
        (held["columns"] if isinstance(held, Mapping) else held).append(self.column)


@dataclass(frozen=True)
class SetHierarchy(Edit):
    """Another hierarchy for a quasi-identifier, as written under `hierarchy:`."""

    column: str
    spec: str | Mapping[str, object]

    def moved(self, places: Mapping[str, Path]) -> Edit:
        named = str(self.spec.get("file")) if isinstance(self.spec, Mapping) else ""
        return replace(self, spec={"file": places[named].as_posix()}) if named in places else self

    def apply(self, release: CommentedMap) -> None:
        held = release["quasi_identifiers"]
        for place, entry in enumerate(held):
            if entry == self.column:
                held[place] = _flow({"column": self.column})
            if _names(held[place], self.column):
                held[place]["hierarchy"] = _written(self.spec)


@dataclass(frozen=True)
class SetSignoff(Edit):
    """What a person says about a release; `requirement` names the requirement of a reason."""

    field: str
    words: str
    requirement: str = ""

    def apply(self, release: CommentedMap) -> None:
        signoff = release.get("signoff")
        if signoff is None:
            signoff = CommentedMap()
            put(release, "signoff", signoff, before="require")
        holder, key = (
            (signoff.setdefault("reasons", CommentedMap()), self.requirement)
            if self.requirement
            else (signoff, self.field)
        )
        if self.words.strip():
            holder[key] = self.words.strip()
        else:
            holder.pop(key, None)
        if self.requirement and not holder:
            del signoff["reasons"]
        if not signoff:
            del release["signoff"]


def edited(text: str, release: str, edits: Sequence[Edit]) -> str:
    """The text of privacy.yml with some changes to a release, and everything else unchanged.

    >>> text = "# ours\\nreleases:\\n  people:\\n    require:\\n      k_anonymity: {k: 5}  # five\\n"
    >>> print(edited(text, "people", [SetLimit(0, "k", "10")]), end="")
    # ours
    releases:
      people:
        require:
          k_anonymity: {k: 10} # five
    """
    if not edits:
        return text
    plain = text.replace("\r\n", "\n")
    lines = plain.splitlines()

    def strange(indents: tuple[int, int, int]) -> int:
        """How many lines of the text would be indented in another way."""
        yaml = _writer(indents)
        again = _dumped(yaml, yaml.load(plain)).splitlines()
        changed = sum(one != other for one, other in zip(lines, again, strict=False))
        return changed + abs(len(lines) - len(again))

    yaml = _writer(min(INDENTS, key=strange))
    content = yaml.load(plain)
    for edit in edits:
        edit.apply(content["releases"][release])
    made = _dumped(yaml, content)
    return made.replace("\n", "\r\n") if "\r\n" in text else made


def difference(before: str, after: str) -> list[str]:
    """What would change, line by line, as in `diff -u`."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), FILE, f"{FILE} (new)", lineterm="", n=2
    )
    return list(lines)


def read_text(directory: Path) -> str:
    """privacy.yml as it is now."""
    return (directory / FILE).read_bytes().decode("utf-8")


def understood_text(directory: Path, text: str) -> Project:
    """The project in a text of privacy.yml, or every mistake in it."""
    return understood(directory, YAML(typ="base").load(text))


def save(directory: Path, before: str, after: str) -> None:
    """Write privacy.yml if it is still the same as `before`; otherwise raise an error."""
    understood_text(directory, after)
    place = (directory / FILE).resolve()  # a link stays one

    def changed() -> bytes:
        if place.read_bytes() != before.encode("utf-8"):
            hint = "Start the explorer again and repeat your decisions on the new file."
            raise UsageError("changed_meanwhile", f"{FILE} was changed meanwhile", hint=hint)
        return after.encode("utf-8")

    files.change_alone(place, changed, place.stat().st_mode & 0o777)


def write_tree(place: Path, column: str, level_names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a tree as a hierarchy file of values and labels that only this user can read."""
    stream = io.StringIO()
    lines = csv.writer(stream, delimiter=";", lineterminator="\n")
    lines.writerow([column, *level_names])
    lines.writerows(rows)
    write_new(place, stream.getvalue().encode())


def write_new(place: Path, content: bytes) -> None:
    """Write a new file that only this user can read."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        files.write_synced(place, content, 0o600)
    except OSError as problem:
        raise files.unwritable(place.parent, problem) from None


def scalar(text: str) -> int | float | str:
    """A number without quotes; text that is not a decimal number stays text.

    >>> scalar("10"), scalar("0.5"), scalar("1/3"), scalar("0.10"), scalar("1e3"), scalar("1/0")
    (10, 0.5, '1/3', 0.1, 1000, '1/0')
    """
    exact = number_in(text)  # a page may send anything: a fraction over 0, an endless exponent
    if exact is None or "/" in text:
        return text
    if exact.denominator == 1 and "." not in text:
        return int(exact)
    return float(text) if number_in(repr(float(text))) == exact else text


def put(mapping: CommentedMap, key: str, value: object, *, before: str) -> None:
    """Set a key; a new one goes before another one, where people expect it, or at the end."""
    if key in mapping or before not in mapping:
        mapping[key] = value
    else:
        mapping.insert(list(mapping).index(before), key, value)


def _taken(release: CommentedMap, column: str) -> CommentedMap | None:
    """Remove a column from every role; returns its entry as a quasi-identifier."""
    found = None
    for key in LISTS.values():
        held = release.get(key)
        columns = held.get("columns") if isinstance(held, Mapping) and key == "insensitive" else held
        if isinstance(columns, list):
            for entry in [entry for entry in columns if entry == column or _names(entry, column)]:
                found = entry if key == "quasi_identifiers" and isinstance(entry, CommentedMap) else found
                columns.remove(entry)
            if not columns and key != "quasi_identifiers":
                del release[key]
        elif _names(held, column) or held == column:
            del release[key]
    if _names(release.get("identifier"), column) or release.get("identifier") == column:
        del release["identifier"]
    return found


def _names(entry: object, column: str) -> bool:
    return isinstance(entry, Mapping) and entry.get("column") == column


def _flow(content: Mapping[str, object]) -> CommentedMap:
    made = CommentedMap(content)
    made.fa.set_flow_style()
    return made


def _written(spec: object) -> object:
    """A hierarchy as people write it, on one line."""
    if isinstance(spec, Mapping):
        return _flow({key: _written(part) for key, part in spec.items()})
    if isinstance(spec, list | tuple):
        listed = CommentedSeq([_written(part) for part in spec])
        listed.fa.set_flow_style()
        return listed
    return scalar(spec) if isinstance(spec, str) and spec[:1].isdigit() else spec


def _writer(indents: tuple[int, int, int]) -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000  # do not wrap lines
    mapping, sequence, offset = indents
    yaml.indent(mapping=mapping, sequence=sequence, offset=offset)
    return yaml


def _dumped(yaml: YAML, content: object) -> str:
    stream = io.StringIO()
    yaml.dump(content, stream)
    return stream.getvalue()
