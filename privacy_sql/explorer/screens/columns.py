"""Columns: what each holds in counts, the role it has and the one proposed, and how it is generalised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from privacy_sql.counted import levels as counted_levels
from privacy_sql.counted.profiling import ProfiledColumn, profile
from privacy_sql.engines._sources import is_file
from privacy_sql.errors import PrivacySqlError, UsageError, number_of
from privacy_sql.explorer.asking import flag, text, texts, whole
from privacy_sql.explorer.screens import Decision, Job, Json, Question, Screen
from privacy_sql.hierarchies import Hierarchy, from_spec
from privacy_sql.project import editing, proposing
from privacy_sql.project.proposing import Proposed
from privacy_sql.query.template import names, render
from privacy_sql.studies.identifying import identify

ROLES = ("identifier", "quasi", "sensitive", "insensitive", "known", "drop")
MOST_LABELS = 60  # of a level that are listed, those of most people
MOST_VALUES = 20_000  # distinct values whose labels are previewed
SETS = 12  # sets of columns that are listed, those that leave most people alone
LARGEST_SET = 3


class Columns(Screen):
    """The roles of columns, and their hierarchies."""

    name: ClassVar[str] = "columns"
    title: ClassVar[str] = "Columns"
    place: ClassVar[int] = 10

    def answer(self, decision: Decision, question: Question) -> Json:
        action = text(question, "action", "show")
        if action == "preview":
            kind = _asked(decision, question)
            return _preview(decision, text(question, "column"), kind, values=flag(question, "values"))
        if action == "role":
            decision.take(decision.with_edits(*_role(decision, question)), whole(question, "version"))
        elif action == "insensitive":
            decision.take(decision.with_edits(*_of_all(decision, question)), whole(question, "version"))
        elif action == "hierarchy":
            column, kind = text(question, "column"), _asked(decision, question)
            ((word, levels),) = kind.to_spec().items()
            edit = editing.SetHierarchy(column, word if levels is True else {word: levels})
            decision.take(decision.with_edits(edit), whole(question, "version"))
        elif action == "tree":
            column = text(question, "column")
            file = decision.keep_tree(column, *_reshaped(decision, column, question))
            edit = editing.SetHierarchy(column, {"file": file.as_posix()})
            decision.take(decision.with_edits(edit), whole(question, "version"))
        elif action != "show":
            raise UsageError(
                "bad_question", f'there is no "{action}" on this screen', hint="Reload the page."
            )
        return _shown(decision)

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        """What columns hold and what is proposed; or which sets of columns single people out."""
        if text(question, "do", "profile") == "identify":
            return _identified(decision)
        with decision.lock:
            known = decision.memory.get("profile")
        if known is None:
            known = _profiled(decision)
            with decision.lock:
                decision.memory["profile"] = known
        return known


# -- what columns hold ---------------------------------------------------------------------------------------


def _profiled(decision: Decision) -> Json:
    """Every column in counts, with the role that `init --from` would propose, and why."""
    with decision.beside() as (engine, plan):
        source, sensitive = plan.table.source, list(plan.table.declared_sensitive)
        if is_file(source):
            proposed, found = proposing.propose(engine, Path(source), sensitive=sensitive)
        else:
            found = profile(engine, source)
            proposed = proposing.roles(found, sensitive)
        return {part.column: _column(found.columns[part.column], part) for part in proposed}


def _column(counts: ProfiledColumn, part: Proposed) -> Json:
    spec = part.hierarchy
    return {
        "kind": counts.kind,
        "values": counts.n_values,
        "missing": counts.n_nulls,
        "alone": float(counts.alone),
        "proposed": part.role,
        "why": part.reason,
        "hierarchy": spec
        if spec is None or isinstance(spec, str)
        else {k: dict(v) if isinstance(v, Mapping) else list(v) for k, v in spec.items()},
    }


def _identified(decision: Decision) -> Json:
    """The small sets of quasi-identifiers that single most people out."""
    with decision.beside() as (engine, plan):
        found = identify(engine, plan.table, LARGEST_SET)
    ordered = sorted(found.ratios.items(), key=lambda part: (-part[1].unique, len(part[0]), part[0]))
    sets: list[Json] = [
        {"columns": list(columns), "alone": round(ratios.unique * found.people)}
        for columns, ratios in ordered[:SETS]
        if ratios.unique
    ]
    return {
        "people": found.people,
        "singled": [{"columns": size, "people": n} for size, n in found.people_by_least_size.items()],
        "with_column": dict(found.people_with_column),
        "sets": sets,
    }


def _shown(decision: Decision) -> Json:
    """Every column with its role, and the hierarchy of those that have one."""
    table, base = decision.plan.table, decision.counted.base
    words = {"quasi-identifier": "quasi", "dropped": "drop"}
    told = {column: words.get(role, role) for column, role in table.roles.items()}
    told |= dict.fromkeys(table.also_known, "known")
    columns: list[Json] = [
        {
            "name": name,
            "role": told.get(name, "drop"),
            "named": name in told,
            "hierarchy": _described(table.hierarchies[name]) if told.get(name) == "quasi" else None,
        }
        for name in base.source_columns
    ]
    return {
        "summary": decision.summary(),
        "columns": columns,
        "roles": list(ROLES),
        "can_edit": decision.project is not None,
    }


def _described(kind: Hierarchy) -> Json:
    """A hierarchy as the page edits it; what a tree holds is asked for level by level."""
    if kind.lists_values:
        return {"kind": "tree", "levels": list(kind.level_names()), "parameters": ""}
    ((name, found),) = kind.to_spec().items()
    typed = ""  # what stands behind the kind, as somebody types it
    if isinstance(found, list):
        parts = [found] if not all(isinstance(part, list) for part in found) else found  # one for each level
        typed = "; ".join(", ".join(map(str, part)) for part in parts)
    return {"kind": name, "levels": list(kind.level_names()), "parameters": typed}


# -- roles ---------------------------------------------------------------------------------------------------


def _role(decision: Decision, question: Question) -> list[editing.Edit]:
    """Another role; a column that becomes a quasi-identifier gets the hierarchy that is proposed for it."""
    column, role = text(question, "column"), text(question, "role")
    if role not in ROLES or column not in decision.counted.base.source_columns:
        raise UsageError("bad_question", f'{column} cannot become "{role}"', hint="Reload the page.")
    edits: list[editing.Edit] = [editing.SetRole(column, role)]
    known = decision.memory.get("profile")
    found = known.get(column) if isinstance(known, Mapping) else None
    spec = found.get("hierarchy") if isinstance(found, Mapping) else None
    if role == "quasi" and isinstance(spec, str | Mapping):
        edits.append(editing.SetHierarchy(column, spec))
    return edits


def _of_all(decision: Decision, question: Question) -> list[editing.Edit]:
    """All insensitive columns as known, or left out: what they single out is decided for all of them."""
    role = text(question, "role")
    if role not in ("known", "drop"):
        raise UsageError(
            "bad_question", f'insensitive columns cannot become "{role}"', hint="Reload the page."
        )
    columns = decision.plan.table.as_they_are
    edits: list[editing.Edit] = [editing.SetRole(column, "drop") for column in columns]
    return edits + [editing.SetRole(column, "known") for column in columns if role == "known"]


# -- hierarchies ---------------------------------------------------------------------------------------------


def _asked(decision: Decision, question: Question) -> Hierarchy:
    """The hierarchy that a question describes: the one of now where it names no kind."""
    column, kind = text(question, "column"), text(question, "kind", "")
    now = decision.plan.table.hierarchies.get(column)
    if now is None:
        raise UsageError(
            "unknown_column", f'"{column}" is not a quasi-identifier', hint="Give it that role first."
        )
    if kind in ("", "tree"):
        return now
    levels = [
        [part.strip() for part in level.split(",") if part.strip()]
        for level in text(question, "parameters", "").split(";")
    ]
    spec: object = {kind: levels if kind == "breaks" else levels[0]}
    if kind in ("keep_or_drop", "as_is"):
        spec = kind
    directory = decision.project.directory if decision.project else Path()
    return from_spec(spec, column, directory, "hierarchy")


def _preview(decision: Decision, column: str, kind: Hierarchy, *, values: bool) -> Json:
    """How many people each label would stand for, level by level; values of people only where asked for."""
    rows = _labelled(decision, column, kind)
    raw = {row[0] for row, _ in rows}
    listed: list[Json] = []
    for level in range(kind.height + 1):
        people, below = Counter[str | None](), Counter[str | None]()
        for row, n in rows:
            people[row[level]] += n
            below[row[level]] += 1
        most = _ordered(people)[:MOST_LABELS]
        # a label that reads like a value of somebody is one
        labels: list[Json] = [
            {
                "label": label if values or (level and label not in raw) else None,
                "number": number,
                "people": n,
                "values": below[label],
            }
            for number, (label, n) in enumerate(most)
        ]
        listed.append(
            {
                "name": kind.level_names()[level],
                "words": kind.in_words(level),
                "n": len(people),
                "labels": labels,
            }
        )
    return {"column": column, "levels": listed, "problems": _uncovered(decision, column, kind)}


def _labelled(decision: Decision, column: str, kind: Hierarchy) -> list[tuple[tuple[str | None, ...], int]]:
    """Every value of a column with its labels, and how often it occurs."""
    base = decision.counted.base
    dictionary = base.dictionaries[base.aliases[column]]
    n_values = base.statistics[base.aliases[column]]["n_values"]
    if n_values > MOST_VALUES:
        hint = "The screen Decide still shows its levels."
        raise UsageError(
            "many_values", f"{column} has {number_of(n_values, 'value')}, too many to list", hint=hint
        )
    made = counted_levels.labels(base.engine, dictionary, kind)
    columns = names(["n_rows", *(f"l{level}" for level in range(kind.height + 1))])
    found = base.engine.fetch(render("counted/listed.sql", relation=made, columns=columns))
    base.engine.drop(made)
    return [
        (
            tuple(None if row[f"l{n}"] is None else str(row[f"l{n}"]) for n in range(kind.height + 1)),
            int(row["n_rows"]),
        )
        for row in found
    ]


def _uncovered(decision: Decision, column: str, kind: Hierarchy) -> list[Json]:
    """What the hierarchy does not cover, in counts."""
    base = decision.counted.base
    if not kind.height:
        return []
    made = counted_levels.labels(base.engine, base.dictionaries[base.aliases[column]], kind)
    found: Sequence[PrivacySqlError] = counted_levels.unmapped(
        base.engine, made, kind, base.table.name, column
    )
    return [f"{problem.message}. {problem.hint}" for problem in found]


Reshaped = tuple[list[str], list[tuple[str, ...]]]


def _reshaped(decision: Decision, column: str, question: Question) -> Reshaped:
    """The rows of a tree with labels merged or moved, or with a level more or less; its level names too.

    `labels` and `parent` are numbers of the preview, most people first. `merge`: `small` merges the labels of
    fewer people; `move`: the labels stand under `parent` of the level above, and under what it stands under.
    """
    kind = _asked(decision, {"column": column})
    rows = [(row, n) for row, n in _labelled(decision, column, kind) if row[0] is not None]
    inner = [[str(part) for part in row[: kind.height or 1]] for row, _ in rows]  # the top is always `*`
    level_names = list(kind.level_names()[1 : kind.height])
    what = text(question, "what")
    if what == "level":
        inner = [[*row, row[-1]] for row in inner]
        level_names.append(text(question, "name", "") or f"group {len(level_names) + 1}")
    elif what == "drop":
        place = _inner_level(question, len(level_names))
        inner = [row[:place] + row[place + 1 :] for row in inner]
        del level_names[place - 1]
    elif what == "merge":
        place, into = _inner_level(question, len(level_names)), text(question, "into").strip()
        if not into:
            raise UsageError("no_label", "the merged label needs a name", where=column)
        people = Counter[str | None]()
        for row, (_, n) in zip(inner, rows, strict=True):
            people[row[place]] += n
        few = whole(question, "small", 0)
        chosen = (
            {label for label, n in people.items() if n < few}
            if few
            else _marked(rows, place, texts(question, "labels"))
        )
        if len(chosen) < 1:
            raise UsageError("nothing_to_merge", "no label is chosen", where=column, hint="Mark two or more.")
        inner = [
            [into if n == place and part in chosen else part for n, part in enumerate(row)] for row in inner
        ]
    elif what == "move":
        above = _inner_level(question, len(level_names), below=1)
        moving = _marked(rows, above - 1, texts(question, "labels"))
        parent = _marked(rows, above, [text(question, "parent")])
        if not moving or not parent:
            hint = "Mark one or more, and choose where they go."
            raise UsageError("nothing_to_move", "no label is chosen", where=column, hint=hint)
        there = next(row[above:] for row in inner if row[above] in parent)
        inner = [[*row[:above], *there] if row[above - 1] in moving else row for row in inner]
    else:
        raise UsageError("bad_question", f'a tree cannot "{what}"', hint="Reload the page.")
    return level_names, [tuple(row) for row in inner]


def _ordered(people: Counter[str | None]) -> list[tuple[str | None, int]]:
    """Labels in the order of their numbers: most people first, equal ones by name, missing values last."""
    return sorted(people.items(), key=lambda part: (part[0] is None, -part[1], str(part[0])))


def _marked(
    rows: Sequence[tuple[tuple[str | None, ...], int]], place: int, numbers: Sequence[str]
) -> set[str]:
    """The labels of a level that have these numbers in the preview."""
    people = Counter[str | None]()
    for row, n in rows:
        people[row[place]] += n
    ordered = [label for label, _ in _ordered(people) if label is not None]
    places = [int(number) for number in numbers if number.isdecimal()]
    return {ordered[place] for place in places if place < len(ordered)}


def _inner_level(question: Question, n: int, below: int = 0) -> int:
    """The level of a question, or the one so far above it: one that is neither the values nor the top."""
    level = whole(question, "level") + below
    if not 1 <= level <= n:
        hint = "Add a level first; the exact values and the single label at the top cannot change."
        raise UsageError("no_level", f"the labels of level {level} cannot be changed", hint=hint)
    return level
