"""Propose a project for a table: a role and a hierarchy for every column, for a person to confirm.

Guesses rest on counts and column names only; no value of the table gets into the proposal. What a column
means is for a person to say: a proposal names no output, so `run` refuses it until somebody has read it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privacy_sql.counted.base import count
from privacy_sql.engines import Engine
from privacy_sql.engines._sources import no_file
from privacy_sql.errors import DataError, EngineError, UsageError, number_of
from privacy_sql.query.template import Sql, render
from privacy_sql.table import Table

PROJECT = "privacy.yml"
SENSITIVE = re.compile(
    r"diagnos|disease|illness|condition|symptom|medic|drug|health|salary|income|wage|religio|politic|party"
    r"|orientation|occupation|crime|offen[cs]e|debt|score|result"
    r"|krank|gehalt|einkommen|lohn|maladie|salaire|revenu|enfermedad|salario|ingresos|病|診断|給与|年収",
    re.IGNORECASE,
)
IDENTIFYING = re.compile(
    r"(^|[\W_])(id|key|uuid|ssn|name|surname|e?mail|phone|passport|iban)($|[\W_])", re.IGNORECASE
)
TECHNICAL = re.compile(r"weight|fnlwgt|timestamp|created|updated|row_?n", re.IGNORECASE)
# what a stranger can know of somebody, by the names such columns have
KNOWN = re.compile(
    r"(?<![a-z])ages?(?![a-z])|birth|born|dob|(?<![a-z])sex|gender|(?<![a-z])zip|postal|postcode|region|state|county"
    r"|city|municip|(?<![a-z])race|ethnic|citizen|national|marital|married|educat|degree|(?<![a-z])jobs?(?![a-z])"
    r"|occupation|profession|industry|workclass|household|famil|country"
    r"|(?<![a-z])alter(?![a-z])|geburt|geschlecht|(?<![a-z])plz|wohnort|familienstand|beruf|bildung|haushalt|staatsang"
    r"|naissance|sexe|ville|commune|nationalit|civil|dipl[oô]me|m[eé]nage|(?<![a-z])[aâ]ge(?![a-z])"
    r"|(?<![a-z])edad|nacimiento|ciudad|provincia|raza|nacionalidad|educaci|ocupaci|hogar"
    r"|年齢|年龄|生年|出生|性別|性别|郵便|邮编|住所|地区|都道府県|国籍|民族|婚姻|学歴|学历|職業|职业|世帯",
    re.IGNORECASE,
)
MOST_QUASI = 8  # more columns than this leave nearly everybody alone, whatever their levels
FEW_PEOPLE = 5
NICE = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
OWN = {"value": Sql("value"), "words": Sql("words")}  # what the template calls a value and its text
FEW = 60  # values a column may have and still be shown whole or not at all
MASKABLE = 3  # characters a code needs before hiding some of them makes levels


@dataclass(frozen=True)
class Proposed:
    """One column: what it is taken for, and why."""

    column: str
    role: str  # identifier, quasi, sensitive, drop
    reason: str
    hierarchy: Any = None
    decide: bool = False  # dropped until a person has decided


def propose(engine: Engine, file: Path) -> list[Proposed]:
    """A role for every column of a file, in its order."""
    session = engine.session([file])
    source = session.source(file)
    facts = {
        column: session.fetch(render("project/proposal.sql", source=source, column=column, **OWN))[0]
        for column in session.columns(source)
    }
    if not any(fact["n_rows"] for fact in facts.values()):
        raise DataError("empty_table", f"{file.name} has no rows", hint="There is nothing to propose from.")
    made = [_role(column, fact) for column, fact in facts.items()]
    return _at_most_eight(session, file, _one_person(_one_sensitive(made, facts)), facts)


def _at_most_eight(
    engine: Engine, file: Path, made: list[Proposed], facts: Mapping[str, Mapping[str, Any]]
) -> list[Proposed]:
    """The columns that tell people apart most, those a stranger can know first; the others are to be decided.

    Exact and greedy: repeatedly the column that makes most groups with those chosen, the first in the file
    among equals, until there are eight or no column adds a group. Where there are no more than eight at all,
    those that add none stay too: somebody may know them, and what they add may be of this sample only.
    """
    left = {part.column: _undecided(part, facts[part.column]) for part in made if part.role == "quasi"}
    able = [column for column, why in left.items() if not why]
    for column, why in _chosen(engine, file, able) if able else ():
        left[column] = why
    if len(able) <= MOST_QUASI:
        left |= {column: left[column] or "adds no group to the others" for column in able}
    chosen = [column for column in able if left[column]]
    full = "the eight columns above tell people apart" if len(chosen) == MOST_QUASI else "it adds no group"
    return [
        replace(part, reason=f"{part.reason}; {left[part.column]}")
        if part.column in chosen
        else replace(part, role="drop", reason=left[part.column] or full, hierarchy=None, decide=True)
        if part.role == "quasi"
        else part
        for part in made
    ]


def _undecided(part: Proposed, fact: Mapping[str, Any]) -> str:
    """Why a column cannot be proposed at all."""
    if fact["n_values"] + bool(fact["n_nulls"]) < 2:
        return "it has one value"
    many = fact["n_values"] > max(FEW, fact["n_rows"] / 10)
    if many and part.hierarchy == "keep_or_drop" and not KNOWN.search(part.column):
        return "more than a tenth as many values as rows, and no levels"
    return ""


def _chosen(engine: Engine, file: Path, able: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The columns in the order they are chosen, and what each comes to with those before."""
    counted = count(engine, Table(file, list(able)))
    codes = {column: Sql(counted.aliases[column]) for column in able}
    sizes = {column: counted.statistics[counted.aliases[column]]["top"] + 1 for column in able}
    engine, n_chosen = counted.engine, 0
    columns = ", ".join(codes.values())
    whole = Sql(f"(select 0 as g, {columns}, n_rows from {counted.relation}) as b")
    others = list(codes.values())
    groups = engine.create(render("project/narrowed.sql", groups=whole, column=Sql("0"), others=others))
    n_groups = 1
    for tier in ([c for c in able if KNOWN.search(c)], [c for c in able if not KNOWN.search(c)]):
        waiting = list(tier)
        while waiting and n_chosen < MOST_QUASI:
            asked = [(codes[column], sizes[column]) for column in waiting]
            (made,) = engine.fetch(render("project/widest.sql", groups=groups, columns=asked))
            best = max(waiting, key=lambda column: made[codes[column]])  # the first among equals
            if made[codes[best]] == n_groups:
                break
            waiting.remove(best)
            column = codes.pop(best)
            old, others = groups, list(codes.values())
            groups = engine.create(render("project/narrowed.sql", groups=old, column=column, others=others))
            engine.drop(old)
            (crowds,) = engine.fetch(render("project/crowds.sql", groups=groups, least=Sql(str(FEW_PEOPLE))))
            n_groups, n_chosen = crowds["n_groups"], n_chosen + 1
            few = f"{crowds['n_few']:,} people in groups below {FEW_PEOPLE}"
            yield best, f"number {n_chosen}: {number_of(n_groups, 'group')}, {few}"


def _role(column: str, fact: Mapping[str, Any]) -> Proposed:
    unique = fact["n_values"] == fact["n_rows"] > 1
    fractions = fact["n_whole"] < fact["n_numbers"] or _decimal_commas(fact)
    if IDENTIFYING.search(column) and fact["n_values"] > fact["n_rows"] / 2:
        return Proposed(column, "identifier" if unique else "drop", "its name and its many values")
    if fact["n_values"] == 0:
        return Proposed(column, "drop", "it is empty")
    if SENSITIVE.search(column) and fact["n_values"] > max(FEW, fact["n_rows"] / 2):
        return Proposed(column, "drop", "sensitive by its name, but its many values tell people apart")
    if SENSITIVE.search(column):
        return Proposed(column, "sensitive", "its name")
    if unique and not fractions and not _dates(fact) and fact["n_rows"] > FEW:
        return Proposed(column, "identifier", "no value occurs twice")
    if TECHNICAL.search(column) or (fractions and fact["n_values"] > fact["n_rows"] / 2):
        return Proposed(column, "drop", "it looks like a technical value")
    return Proposed(column, "quasi", *_levels(fact))


def _levels(fact: Mapping[str, Any]) -> tuple[str, Any]:
    """Why a column is generalised the way it is, and how."""
    n_values = fact["n_values"]
    if fact["n_dates"] == n_values:
        return "all its values are dates", {"dates": ["month", "year"]}
    if _dates(fact):
        return "dates; written as 2024-03-05 they would have months and years", "keep_or_drop"
    if _decimal_commas(fact):
        return "numbers with a decimal comma; with a point they would have intervals", "keep_or_drop"
    all_numbers = fact["n_numbers"] == n_values
    if all_numbers and fact["shortest"] == fact["longest"] > MASKABLE and n_values > FEW:
        return _mask(fact)
    if all_numbers and n_values > 12:
        return "all its values are numbers", _bands(fact)
    if fact["shortest"] == fact["longest"] > MASKABLE and n_values > FEW:
        return _mask(fact)
    return f"{number_of(n_values, 'value')}; a hierarchy file would keep more", "keep_or_drop"


def _dates(fact: Mapping[str, Any]) -> bool:
    """Whether a column holds dates, in whichever order."""
    return bool(fact["n_values"] == fact["n_dates"] + fact["n_other_dates"])


def _decimal_commas(fact: Mapping[str, Any]) -> bool:
    """Whether a column holds numbers, some of them with a comma where hierarchies read a point."""
    return bool(0 < fact["n_commas"] == fact["n_values"] - fact["n_numbers"])


def _mask(fact: Mapping[str, Any]) -> tuple[str, Any]:
    length = fact["longest"]
    return f"all its values have {length} characters", {"mask": [length - 1, length - 2, 0]}


def _bands(fact: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Four widths, each a multiple of the one before, the finest making about fifteen bands."""
    extent = fact["high"] - fact["low"]
    first = next((width for width in NICE if width * 15 >= extent), NICE[-1])
    widths = [first, first * 2, first * 4]
    if fact["n_whole"] < fact["n_numbers"]:
        return {"intervals": [f"{width}.0" for width in widths]}
    return {"intervals": widths}


def _one_sensitive(made: list[Proposed], facts: Mapping[str, Mapping[str, Any]]) -> list[Proposed]:
    """Without a telling name the last column with several values is taken for the sensitive one."""
    if any(part.role == "sensitive" for part in made):
        return made
    candidates = [part for part in made if part.role == "quasi" and facts[part.column]["n_values"] > 1]
    if len(candidates) < 2:
        return made
    chosen = candidates[-1]
    guess = Proposed(chosen.column, "sensitive", "only a guess: the last column with several values")
    return [guess if part is chosen else part for part in made]


def _one_person(made: list[Proposed]) -> list[Proposed]:
    """One column names the person; further ones are dropped."""
    people = [part for part in made if part.role == "identifier"]
    return [
        Proposed(part.column, "drop", "another column names the person already")
        if part.role == "identifier" and part is not people[0]
        else part
        for part in made
    ]


def project_text(file: Path, folder: Path, proposed: Sequence[Proposed]) -> str:
    """The proposal as privacy.yml, every guess with its reason beside it."""
    name = re.sub(r"\W+", "_", file.name.partition(".")[0]).strip("_").lower() or "table"
    source = Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    lines = [
        "# A proposal. Read every line: what a column means cannot be told from counts.",
        "# Nothing is published until you name an output (last line).",
        "version: 1",
        f"name: {_yaml(name)}",
        "releases:",
        f"  {_yaml(name)}:",
        f"    source: {{file: {_yaml(source)}}}",
    ]
    by_role = {
        role: [part for part in proposed if part.role == role]
        for role in ("identifier", "quasi", "sensitive")
    }
    lines += [f"    identifier: {{column: {_yaml(p.column)}}}    # {p.reason}" for p in by_role["identifier"]]
    lines += ["    quasi_identifiers:" if by_role["quasi"] else "    quasi_identifiers: []"]
    lines += [
        f"      - {{column: {_yaml(p.column)}, hierarchy: {_yaml(p.hierarchy)}}}    # {p.reason}"
        for p in by_role["quasi"]
    ]
    if by_role["sensitive"]:
        lines.append("    sensitive:")
        lines += [f"      - {{column: {_yaml(p.column)}}}    # {p.reason}" for p in by_role["sensitive"]]
    dropped = [part for part in proposed if part.role == "drop"]
    if dropped:
        lines.append("    drop:")
        undecided = sum(part.decide for part in dropped)
        lines[-1] += f"    # decide: {number_of(undecided, 'column')}" if undecided else ""
        lines += [
            f"      - {_yaml(part.column)}    # {'decide: ' if part.decide else ''}{part.reason}"
            for part in dropped
        ]
    return "\n".join([*lines, *_ending(bool(by_role["sensitive"]), name)]) + "\n"


def _ending(has_sensitive: bool, name: str) -> list[str]:
    lines = ["    require:", "      k_anonymity: {k: 5}"]
    if has_sensitive:
        lines.append("      l_diversity: {l: 2}")
    return [
        *lines,
        "    method: {full_domain: {minimise: loss}}",
        f"    # output: {{target: out/{name}.csv}}",
    ]


def _yaml(value: object) -> str:
    """A value in YAML's flow style; names are quoted, so that NO and 01234 stay what they are."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(part) for part in value) + "]"
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_./-]*[A-Za-z_][A-Za-z_0-9./-]*", value)
    quoted = not plain or str(value).lower() in {"no", "yes", "on", "off", "true", "false", "null", "y", "n"}
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and quoted else str(value)


def write(engine: Engine, file: Path, folder: Path, *, dry_run: bool = False) -> list[Proposed]:
    """Write the proposal for a file into a folder that has no project yet."""
    if not file.is_file():
        raise no_file(file)
    place = folder / PROJECT
    if place.exists():
        raise UsageError("project_exists", f"{PROJECT} exists", hint="Choose another folder.")
    proposed = propose(engine, file)
    if not dry_run:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8") as stream:  # never over what came meanwhile
                stream.write(project_text(file, folder, proposed))
        except OSError:
            raise EngineError("cannot_write", f"cannot write to {folder}") from None
    return proposed
