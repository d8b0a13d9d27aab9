"""Propose a project for a table: a role and a hierarchy for every column, for a person to confirm.

Guesses use only counts and column names; no value of the table gets into the proposal. A person must say what
a column means, so a proposal names no output and `run` refuses it until somebody has read it.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from privacy_sql.counted.profiling import (
    FEW,
    NUMBER_OF,
    PERSON,
    WHOSE,
    Profile,
    ProfiledColumn,
    of_many_people,
    profile,
)
from privacy_sql.engines import Engine
from privacy_sql.engines._sources import is_file, no_file
from privacy_sql.errors import DataError, EngineError, UsageError, nearest_column, number_of, raise_all
from privacy_sql.project.starting_hierarchy import Spec, starting
from privacy_sql.query.template import Sql, render
from privacy_sql.studies.identifying import FEW_PEOPLE, KNOWN, MOST_CHOSEN, most_telling
from privacy_sql.table import Table

PROJECT = "privacy.yml"
# names of columns that nobody should learn about a person, those first that hurt most
SENSITIVE = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"diagnos|disease|illness|condition|symptom|(?<![a-z])icd|(?<![a-z])hiv|pregnan|genetic|krank|maladie"
        r"|enfermedad|病|診断",
        r"medic|drug|health|disab|behinder|handicap|(?<![a-z])sick|treatment|therap|procedure|surgery|blood|smok"
        r"|alcohol|addict|absen(t|ce)|abwesen|fehl(zeit|tag|gr[uü]nd)",
        r"religio|politic|party|orientation|sexual|crime|offen[cs]e|convict|(?<![a-z])union|gewerkschaft|syndica",
        r"salary|income|wage|earning|bonus|debt|credit|loan|gehalt|einkommen|lohn|salaire|revenu|salario|ingresos"
        r"|給与|年収",
        r"rating|performance|score|result|occupation",
    )
)
# why a column is dropped that may number people
NUMBERS = (
    "its name and its many values",
    "by its name it numbers somebody or something",
    "more than a tenth as many values as rows",
)
HARMS = 3  # those before this place are never taken for what a stranger knows
IDENTIFYING = re.compile(
    r"(^|[\W_])(id|key|uuid|no|nr|number|ssn|name|surname|e?mail|phone|passport|iban)($|[\W_])", re.IGNORECASE
)
# what names a person, or reaches one, by itself: it is never published
NAMES = re.compile(
    r"(?<![a-z])(sur|last|first|fore|given|family|middle|maiden|full|nick|user|vor|nach)[\W_]?name|^name$"
    rf"|(?<![a-z]){WHOSE}s?[\W_]?name|apellido|pr[eé]nom|^nom$|^nombre$|氏名|姓名",
    re.IGNORECASE,
)
REACHES = re.compile(
    r"e[\W_]?mail|phone|telefon|(?<![a-z])(mobile|handy|fax|tel|cell|address|street|rue|calle|iban|ssn|mrn)(?![a-z])"
    r"|stra(ss|ß)e|adresse|anschrift|direcci|passport|social[\W_]?security|licen[cs]e[\W_]?(no|num|plate)"
    rf"|(?<![a-z])(insurance|insured|account|card|record|policy){NUMBER_OF}(?![a-z])|電話|住所",
    re.IGNORECASE,
)
# when somebody was born: what nearly every study needs, at whatever level
AGE = re.compile(
    r"(?<![a-z])(age|ages|dob|alter|edad|[aâ]ge)(?![a-z])|birth_?d|birth_?y|date_?of_?birth|geburt|naissance|nacimiento"
    r"|年齢|年龄|生年|出生",
    re.IGNORECASE,
)
REMARKS = re.compile(
    r"remark|comment|(?<![a-z])notes?(?![a-z])|bemerk|anmerk|notiz|freitext|free[\W_]?text|observaci",
    re.IGNORECASE,
)
WEIGHT = re.compile(
    r"(survey|sampl\w*|person|final|design|household|replicate|stat\w*)[\W_]?(weight|wt|wgt)|fnlwgt|pweight",
    re.IGNORECASE,
)
WRITTEN = re.compile(r"timestamp|(?<![a-z])(created|updated|inserted|modified)|row[\W_]?n", re.IGNORECASE)
# limits for a guess; the first one that is well above the share of the most common value is proposed
GUESSES = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95")
GUESSED = "only a guess: the last column with several values"
METHOD = "{minimise: loss, max_suppressed: 0.02, time_limit: 60}"


@dataclass(frozen=True)
class Proposed:
    """One column: its proposed role, and why."""

    column: str
    role: str  # identifier, quasi, sensitive, drop
    reason: str
    hierarchy: Spec = None


def declared(table: Table, columns: Sequence[str]) -> list[Proposed]:
    """The columns of a release with their roles in privacy.yml."""
    words = {"quasi-identifier": "quasi", "dropped": "drop"}
    told = {column: words.get(role, role) for column, role in table.roles.items()}
    return [Proposed(c, told.get(c, "drop"), "privacy.yml" if c in told else "no role") for c in columns]


def roles(found: Profile, sensitive: Sequence[str] = ()) -> list[Proposed]:
    """A role for every column of a source, in order, from its name and its counts.

    If a person has named the `sensitive` columns, no other is guessed.
    """
    made = [_role(column) for column in found.columns.values()]
    # of several that say who a row is about the one whose name says it best; the others are never published
    people = [part.column for part in made if part.role == "identifier" and part.column not in sensitive]
    ranked = sorted(
        people,
        key=lambda name: (
            WRITTEN.search(name) is not None,
            PERSON.search(name) is None,
            IDENTIFYING.search(name) is None,
        ),
    )
    if not people:
        made = [_perhaps_person(part, found.columns[part.column]) for part in made]
    other = f"direct identifier: {ranked[0]} says already who a row is about" if ranked else ""
    made = [Proposed(part.column, "drop", other) if part.column in ranked[1:] else part for part in made]
    made = [Proposed(part.column, "sensitive", "") if part.column in sensitive else part for part in made]
    return _one_sensitive(made, found.columns, sensitive)


def propose(
    engine: Engine, file: Path, quasi: Sequence[str] = (), sensitive: Sequence[str] = ()
) -> tuple[list[Proposed], Profile]:
    """A role for every column of a file, in order; `quasi` and `sensitive` are used as given.

    Without `quasi`, at most eight columns become quasi-identifiers; others are dropped until somebody
    decides.
    """
    found = profile(engine, file)
    if not found.n_rows:
        raise DataError(
            "empty_table", f"{file.name} has no rows", hint="Check the file; a proposal needs rows."
        )
    named = [*quasi, *sensitive]
    problems = [
        UsageError(
            "unknown_column",
            f'{file.name} has no column "{column}"',
            hint=nearest_column(column, found.columns),
        )
        for column in named
        if column not in found.columns
    ]
    again = sorted({column for column in named if named.count(column) > 1})
    problems += [UsageError("two_roles", f'column "{name}" is named more than once') for name in again]
    raise_all(problems)
    made = []
    for part in _within_people(found, roles(found, sensitive), named):
        if part.column in quasi:
            part = Proposed(part.column, "quasi", *starting(found.columns[part.column]))
        elif part.column in sensitive:
            part = Proposed(part.column, "sensitive", "as you named it")
        elif quasi and part.role == "quasi":
            part = Proposed(part.column, "drop", "you named the quasi-identifiers")
        made.append(part)
    chosen = _most_telling(found, made, quasi)
    return [
        replace(part, hierarchy=starting(found.columns[part.column], found)[1])
        if part.role == "quasi"
        else part
        for part in chosen
    ], found


def _most_telling(found: Profile, made: list[Proposed], named: Sequence[str]) -> list[Proposed]:
    """Keep the columns that single out most people, those a stranger can know first; drop the others.

    With at most eight in all, those that add no groups stay, too: somebody may know them, and they may
    add groups in another sample. Columns that a person has named also stay.
    """
    able = [part.column for part in made if part.role == "quasi"]
    why = dict.fromkeys(able, "")
    secret = [part.column for part in made if part.role == "sensitive"]
    codes = {column: Sql(f"q{number}") for number, column in enumerate([*able, *secret], start=1)}
    chosen: list[str] = []
    n_groups = 1
    repeats = any(part.role == "identifier" and not found.columns[part.column].unique for part in made)
    counted = "rows" if repeats else "people"
    if able:
        columns = [(column, code) for column, code in codes.items()]
        coded = found.engine.create(render("project/coded.sql", source=found.relation, columns=columns))
        if not named:
            why |= _giving_away(found, coded, codes, able, secret)
            able = [column for column in able if not why[column]]
        first = named or [column for column in able if KNOWN.search(column)]
        asked = {column: (codes[column], found.columns[column].n_values + 1) for column in able}
        for telling in (
            most_telling(found.engine, coded, asked, first, len(named) or MOST_CHOSEN) if able else ()
        ):
            chosen.append(telling.column)
            n_groups = telling.n_groups
            crowds = f"{n_groups:,} groups, {telling.n_few:,} {counted} in groups below {FEW_PEOPLE}"
            by = "with those ranked before it" if chosen[1:] else "alone"
            why[telling.column] = f"rank {len(chosen)} by the groups it makes, {by}: {crowds}"
    if named or len(able) <= MOST_CHOSEN:
        why |= {column: why[column] or "adds no groups to the others" for column in able}
        chosen = able
    elif 2 * n_groups > found.n_rows and len(chosen) < MOST_CHOSEN:
        # nearly everybody is alone before anything is generalised, so what could add a group does not show
        same = _giving_away(found, coded, codes, [c for c in able if c not in chosen], chosen)
        able = [
            column for column in able if KNOWN.search(column) and not why[column] and not same.get(column)
        ]
        asked = {column: (codes[column], found.columns[column].n_values + 1) for column in able}
        for telling in (
            most_telling(found.engine, coded, asked, able, MOST_CHOSEN - len(chosen)) if able else ()
        ):
            chosen.append(telling.column)
            why[telling.column] = "it counts once those before are coarser"
    full = "it adds no groups"
    if len(chosen) == MOST_CHOSEN:
        full = f"no more than {MOST_CHOSEN} columns are proposed"
    elif 2 * n_groups > found.n_rows:
        full = "the chosen columns already single out nearly everybody"
    return [
        replace(part, reason=f"{part.reason}; {why[part.column]}")
        if part.column in chosen
        else Proposed(part.column, "drop", why[part.column] or full)
        if part.role == "quasi"
        else part
        for part in made
    ]


def _within_people(found: Profile, made: list[Proposed], named: Sequence[str]) -> list[Proposed]:
    """Drop quasi-identifiers that differ between the rows of one person, who must be in one group.

    The last of them is a better guess for the sensitive column than the last column of all.
    """
    person = next((part.column for part in made if part.role == "identifier"), None)
    if person is None or found.columns[person].unique:
        return made
    guessed = [part for part in made if part.reason == GUESSED]
    differ = []
    for part in made:
        if part.column not in named and (part.role == "quasi" or part in guessed):
            (apart,) = found.engine.fetch(
                render(
                    "counted/scattered.sql", source=found.relation, identifier=person, columns=[part.column]
                )
            )
            differ += [part.column] if apart["n_people"] else []
    secret = differ[-1] if differ and guessed else None
    return [
        Proposed(part.column, "sensitive", "only a guess: it differs between the rows of a person")
        if part.column == secret
        else Proposed(part.column, "drop", "it differs between the rows of a person")
        if part.column in differ
        else Proposed(part.column, "quasi", *starting(found.columns[part.column]))
        if part in guessed and secret
        else part
        for part in made
    ]


def _giving_away(
    found: Profile, coded: Sql, codes: Mapping[str, Sql], able: Sequence[str], secret: Sequence[str]
) -> dict[str, str]:
    """Columns that are another form of a sensitive one: a code for it, or other names of its values."""
    why: dict[str, str] = {}
    for column in secret:
        others = [name for name in able if name not in why]
        if not others:
            break
        groups = Sql(
            f"(select {codes[column]} as g, {', '.join(codes[name] for name in others)} from {coded}) as b"
        )
        asked = [(codes[name], found.columns[name].n_values + 1) for name in others]
        (pairs,) = found.engine.fetch(render("studies/widest.sql", groups=groups, columns=asked))
        size = {
            name: found.columns[name].n_values + bool(found.columns[name].n_nulls)
            for name in (column, *others)
        }
        for name in others:
            alike = size[name] == size[column] or column in name or name in column
            if pairs[codes[name]] == size[name] and alike:
                why[name] = f"each of its values occurs with only one value of {column}"
    return why


def _role(column: ProfiledColumn) -> Proposed:
    name, n_values = column.name, column.n_values
    many = n_values > max(FEW, column.n_rows / 10)
    sensitive = any(words.search(name) for words in SENSITIVE)
    if n_values == 0:
        return Proposed(name, "drop", "it is empty")
    if n_values + bool(column.n_nulls) < 2:
        return Proposed(name, "drop", "it has one value")
    if PERSON.search(name) and of_many_people(n_values, column.n_rows):
        repeats = (
            "its name" if column.unique else f"its name; {n_values:,} people have {column.n_rows:,} rows"
        )
        return Proposed(name, "identifier", repeats)
    if NAMES.search(name) and n_values > 2:
        return Proposed(name, "drop", "direct identifier: names of people")
    if REACHES.search(name) and n_values > min(FEW, column.n_rows / 2):
        return Proposed(name, "drop", "direct identifier: a way to reach somebody, or a number of theirs")
    if IDENTIFYING.search(name) and n_values > column.n_rows / 2:
        return Proposed(name, "identifier" if column.unique else "drop", NUMBERS[0])
    if IDENTIFYING.search(name) and n_values > FEW and column.kind != "number":
        return Proposed(name, "drop", NUMBERS[1])
    if column.free_text or (REMARKS.search(name) and 2 * column.n_phrases > n_values > FEW_PEOPLE):
        return Proposed(name, "drop", "free text, which may name people")
    if sensitive and n_values > max(FEW, column.n_rows / 2):
        return Proposed(name, "drop", "sensitive by its name, but its many values single people out")
    if sensitive:
        return Proposed(name, "sensitive", "its name")
    if WEIGHT.search(name):
        return Proposed(
            name, "drop", f"a survey weight by its name; weight: {{column: {name}}} has risks estimated"
        )
    if WRITTEN.search(name):
        return Proposed(name, "drop", "by its name it says when or where a row was written")
    if column.kind == "identifier" and column.n_rows > FEW:
        return Proposed(name, "identifier", "no value occurs twice")
    if column.fractions and n_values > column.n_rows / 2:
        return Proposed(name, "drop", "nearly every row has a number of its own")
    if many and not KNOWN.search(name):
        return Proposed(name, "drop", NUMBERS[2])
    known = "somebody may know it" if KNOWN.search(name) else "decide whether somebody may know it"
    why, hierarchy = starting(column)
    return Proposed(name, "quasi", f"{known}; {why}", hierarchy)


def _perhaps_person(part: Proposed, column: ProfiledColumn) -> Proposed:
    """A dropped column that may say whose row it is: without it, a person's rows count as several people."""
    repeats = column.n_values < column.n_rows and not column.n_nulls
    if part.reason not in NUMBERS or column.dates or column.fractions or not repeats:
        return part
    counts = f"{column.n_values:,} values in {column.n_rows:,} rows"
    return replace(
        part, reason=f"{part.reason}; if it says whose row it is, make it the identifier: {counts}"
    )


def _one_sensitive(
    made: list[Proposed], columns: Mapping[str, ProfiledColumn], given: Sequence[str]
) -> list[Proposed]:
    """One column is proposed as sensitive: by its name, the one that hurts most of those no stranger knows.

    Others that a stranger may know become quasi-identifiers. Without a telling name, the last column with
    several values is a guess.
    """
    named = [part for part in made if part.role == "sensitive"]
    rank = {
        part.column: next((n for n, words in enumerate(SENSITIVE) if words.search(part.column)), -1)
        for part in named
    }
    # what somebody earns or works as may be known; what they suffer from hurts all the same
    known = [name for name, place in rank.items() if place >= HARMS and KNOWN.search(name)]
    secret = sorted(named, key=lambda part: (part.column in known, rank[part.column]))
    kept = [part for part in named if part.column in given] if given else secret[:1]
    if kept:
        other = f"you named {' and '.join(given)}" if given else f"one is proposed, {kept[0].column}"
        return [
            part
            if part in kept or part not in named
            else Proposed(part.column, "quasi", *starting(columns[part.column]))
            if part.column in known
            else Proposed(part.column, "drop", f"sensitive by its name too; {other}")
            for part in made
        ]
    several = [part for part in made if part.role == "quasi" and columns[part.column].n_values > 1]
    if len(several) < 2:
        return made
    guess = Proposed(several[-1].column, "sensitive", GUESSED)
    return [guess if part is several[-1] else part for part in made]


NO_IDENTIFIER = (
    "    # No identifier is proposed, so every row counts as a person. If somebody may have several rows,",
    "    # name the column that says whose row it is: identifier: {column: COLUMN}. It is never published.",
)
ABOUT_QUASI = (
    "    # What somebody may know about a person and look up. Each is published at one level of its",
    "    # hierarchy, from its values to `*`. A hierarchy file keeps more detail than keep_or_drop:",
    "    # `privacy-sql init --hierarchy COLUMN` writes one to fill in. `importance: 2` says that the",
    "    # detail of a column counts twice when levels are chosen, as for ages here; others count once.",
)


def project_text(file: Path, folder: Path, proposed: Sequence[Proposed], found: Profile) -> str:
    """The proposal as privacy.yml, which says what each line does and gives the reason of every guess."""
    name = re.sub(r"\W+", "_", file.name.partition(".")[0]).strip("_").lower() or "table"
    source = Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    by_role = {
        role: [part for part in proposed if part.role == role]
        for role in ("identifier", "quasi", "sensitive", "drop")
    }
    lines = [
        "# A proposal. Read every line: counts cannot say what a column means.",
        "# Nothing is published until you name an output (last line).",
        "version: 1",
        f"name: {_yaml(name)}",
        "releases:",
        f"  {_yaml(name)}:",
        f"    source: {{file: {_yaml(source)}}}    # the table; it is read and never changed",
    ]
    if by_role["identifier"]:
        lines.append("    # The column that says who a row is about. It is never published.")
    else:
        lines += NO_IDENTIFIER
    lines += [f"    identifier: {{column: {_yaml(p.column)}}}    # {p.reason}" for p in by_role["identifier"]]
    lines += [
        *ABOUT_QUASI,
        "    quasi_identifiers:" if by_role["quasi"] else "    quasi_identifiers: []",
        *(
            f"      # {p.reason}\n      - {{column: {_yaml(p.column)}, hierarchy: {_yaml(p.hierarchy)}"
            f"{', importance: 2' if AGE.search(p.column) else ''}}}"
            for p in by_role["quasi"]
        ),
    ]
    if by_role["sensitive"]:
        lines += ["    # What nobody should learn about a person."]
        if by_role["sensitive"][1:]:
            lines += [
                "    # Each is judged against somebody who knows the others.",
                "    # Where `search` finds nothing, or little, keep one here and leave out the others.",
            ]
        more = ""
        if any(not found.columns[p.column].unique for p in by_role["identifier"]):
            lines += [
                "    # A person has several rows: how often somebody has a value counts for nothing (set)."
            ]
            more = ", values_per_person: set"
        shown = [f"{{column: {_yaml(p.column)}{more}}}    # {p.reason}" for p in by_role["sensitive"]]
        lines += ["    sensitive:", *(f"      - {column}" for column in shown)]
    if by_role["drop"]:
        lines += [
            "    # All other columns stay out of the release. To publish one, move it up.",
            f"    drop: rest    # decide: {number_of(len(by_role['drop']), 'column')}",
            *_dropped(by_role["drop"]),
        ]
    lines += [
        "    require:",
        "      # everybody has the same published values as at least four others",
        "      k_anonymity: {k: 5}",
        *_bounded(
            {part.column: _share(found, part.column, by_role["identifier"]) for part in by_role["sensitive"]}
        ),
        "    # Finds the finest levels that meet the requirements; at most 2 % of the rows are left out.",
        f"    method: {{full_domain: {METHOD}}}",
        "    # Remove the # before `output` to publish.",
        f"    # output: {{target: out/{name}.csv}}",
    ]
    return "\n".join(lines) + "\n"


def _dropped(parts: Sequence[Proposed]) -> list[str]:
    """The dropped columns as comments, by reason."""
    reasons = dict.fromkeys(part.reason for part in parts)
    told = [
        f"{reason}: {', '.join(_yaml(part.column) for part in parts if part.reason == reason)}"
        for reason in reasons
    ]
    wrap = textwrap.TextWrapper(100, "    #   ", "    #     ", break_long_words=False)
    return [line for text in told for line in wrap.wrap(text)]


def _share(found: Profile, column: str, person: Sequence[Proposed]) -> Fraction:
    """The share of the people who have the most common value; somebody with several rows has several."""
    counts = found.columns[column]
    if not person or found.columns[person[0].column].unique:
        return Fraction(counts.n_top, counts.n_rows)
    query = render(
        "project/most_people.sql", source=found.relation, identifier=person[0].column, column=column
    )
    (people,) = found.engine.fetch(query)
    return Fraction(people["n_top"], people["n_people"])


def _bounded(shares: Mapping[str, Fraction]) -> list[str]:
    """A requirement that limits the best guess, which cannot be below a value's share of all people."""
    if not shares:
        return []
    commonest = max(shares.values())
    most = next((share for share in GUESSES if commonest <= Fraction(share) * Fraction(9, 10)), None)
    names = " or ".join(shares)
    if most is None:
        return [f"      # nearly everybody has the same {names}: so it can always be guessed"]
    told = f"      # nobody's {names} can be guessed right more than {float(most) * 100:g} % of the time"
    if most == GUESSES[0]:
        return [told, "      l_diversity: {kind: probabilistic, l: 2}"]
    return [told, f"      alpha_k_anonymity: {{alpha: {most}, k: 5}}"]


def _yaml(value: object) -> str:
    """A value in YAML's flow style; names are quoted, so that NO and 01234 stay what they are."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(part) for part in value) + "]"
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_./-]*[A-Za-z_][A-Za-z_0-9./-]*", value)
    quoted = not plain or str(value).lower() in {"no", "yes", "on", "off", "true", "false", "null", "y", "n"}
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and quoted else str(value)


def write(
    engine: Engine,
    file: Path,
    folder: Path,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    *,
    dry_run: bool = False,
) -> list[Proposed]:
    """Write the proposal for a file into a folder without a project."""
    if not (
        file.is_file() and is_file(str(file))
    ):  # a file of another kind has a row of people as its header
        raise no_file(file)
    place = folder / PROJECT
    if place.exists():
        raise UsageError("project_exists", f"{PROJECT} exists", hint="Choose another folder.")
    proposed, found = propose(engine, file, quasi, sensitive)
    if not dry_run:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8") as stream:  # never overwrite a file created meanwhile
                stream.write(project_text(file, folder, proposed, found))
        except OSError:
            raise EngineError("cannot_write", f"cannot write to {folder}") from None
    return proposed
