"""A JSON Schema of privacy.yml, generated from its reader, so that editors complete and check the file."""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Callable, Mapping, Sequence

from privacy_sql import registry
from privacy_sql.hierarchies.spec import KINDS
from privacy_sql.project import reading

Schema = dict[str, object]

TEXT: Schema = {"type": ["string", "number", "boolean"]}  # a scalar is what was written
FLAG: Schema = {"type": "boolean"}
NAMES: Schema = {"type": "array", "items": {"type": "string"}}


def schema() -> Schema:
    """What privacy.yml may contain, and which keys it needs."""
    releases: Schema = {"type": "object", "minProperties": 1, "additionalProperties": _release()}
    connections = [
        _object(reading.connection_keys(kind), {"type": {"const": kind}}, ["type"])
        for kind in registry.available("engines")
    ]
    known: Schema = {
        "version": {"const": 1},
        "connections": {"type": "object", "additionalProperties": {"oneOf": connections}},
        "releases": releases,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "privacy.yml",
        **_object(reading.PROJECT_KEYS, known, ["version", "releases"]),
    }


def _release() -> Schema:
    file = _object(("file",), {}, ["file"])
    kinds = sorted(set(KINDS) | {"origin"})
    anything: Schema = {key: {} for key in kinds}
    hierarchy = {"oneOf": [{"enum": ["keep_or_drop", "as_is"]}, _object(kinds, anything, [])]}
    column = {"column": {"type": "string"}, "hierarchy": hierarchy, "distance": file}
    quasi = {"oneOf": [{"type": "string"}, _object(reading.QUASI_KEYS, column, ["column"])]}
    sensitive = {"oneOf": [{"type": "string"}, _object(reading.SENSITIVE_KEYS, column, ["column"])]}
    insensitive = _object(reading.INSENSITIVE_KEYS, {"columns": NAMES, "known": FLAG}, ["columns"])
    person = _object(reading.IDENTIFIER_KEYS, {}, ["column"])
    methods, params = _parts("methods")
    method = {**_object(methods, params, []), "minProperties": 1, "maxProperties": 1}
    known: Schema = {
        "source": _object(reading.SOURCE_KEYS, {}, []),
        "identifier": {"oneOf": [{"type": "string"}, person]},
        "quasi_identifiers": {"type": "array", "items": quasi},
        "sensitive": {"oneOf": [sensitive, {"type": "array", "items": sensitive}]},
        "insensitive": {"oneOf": [NAMES, insensitive]},
        "drop": {"oneOf": [{"const": reading.REST}, NAMES]},
        "require": {**_object(*_parts("criteria", several=True), []), "minProperties": 1},
        "method": {"oneOf": [{"enum": registry.available("methods")}, method]},
        "output": _object(reading.OUTPUT_KEYS, {"csv": {"type": "object"}}, []),
        "population": file,
        "joint": FLAG,
        "household": {"oneOf": [{"type": "string"}, _object(reading.HOUSEHOLD_KEYS, {}, ["column"])]},
        "weight": {"oneOf": [{"type": "string"}, _object(("column",), {}, ["column"])]},
        "determination": _object(reading.DETERMINATION_KEYS, {}, []),
        "signoff": _object(reading.SIGNOFF_KEYS, {"reasons": {"type": "object"}}, []),
    }
    return _object(reading.RELEASE_KEYS, known, ["source", "quasi_identifiers"])


def _parts(family: str, *, several: bool = False) -> tuple[list[str], Schema]:
    """The parts of a family and their parameters; with `several`, also as a list."""
    names = registry.available(family)
    found = {name: registry.get(family, name) for name in names}
    # a Python keyword among the parameters of a method has another name in Python
    bound = {name: part.bound if family == "methods" else dict for name, part in found.items()}
    made = {name: _parameters(part, bound[name]) for name, part in found.items()}
    nothing: Schema = {"type": "null"}
    known: Schema = {}
    for name, part in made.items():
        ways = [part] if part["required"] else [part, nothing]
        lists: list[Schema] = [{"type": "array", "items": part, "minItems": 1}] if several else []
        known[name] = {"oneOf": [*ways, *lists]}
    return names, known


def _parameters(part: type, bound: Callable[[Mapping[str, int]], Mapping[str, int]]) -> Schema:
    """The parameters of a criterion or a method, by the names they have in the file."""
    known: Schema = {}
    required = []
    for field in dataclasses.fields(part):
        if not field.init:
            continue
        name = field.name.rstrip("_")
        name = next((word for word in keyword.kwlist if bound({word: 0}) == {field.name: 0}), name)
        # its type, as far as the annotation says
        annotation = str(field.type)
        if set(re.findall(r"\w+", annotation)) & {"Any", "Sequence", "Mapping"}:
            known[name] = {}
        elif annotation == "int":
            known[name] = {"type": "integer"}
        else:
            known[name] = FLAG if annotation == "bool" else {"type": ["string", "number", "boolean", "null"]}
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(name)
    return _object(list(known), known, required)


def _object(keys: Sequence[str], known: Schema, required: Sequence[str]) -> Schema:
    """A mapping with only these keys; those without a known type are text."""
    return {
        "type": "object",
        "properties": {key: known.get(key, TEXT) for key in keys},
        "required": list(required),
        "additionalProperties": False,
    }
