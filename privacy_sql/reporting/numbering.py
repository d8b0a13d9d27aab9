"""Which sensitive value a worst case is about: its number by how common it is, as skylines have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from privacy_sql import criteria, registry
from privacy_sql.counted.grouping import Grouping
from privacy_sql.judge import judge
from privacy_sql.query.template import Sql, names, render
from privacy_sql.reporting.records import Record
from privacy_sql.verdict import Verdict

# what a worst case calls the people of its group who have the value in question
HELD = ("holders", "count", "largest_count")


def about_one(seen: Record) -> bool:
    """Whether a worst case that is not told fact by fact is about one value that somebody has."""
    return bool(seen.get("largest_count") or seen.get("count"))


def numbers(groups: Callable[[], Grouping], verdicts: Sequence[Record]) -> dict[str, list[int]]:
    """Of requirements whose worst case is about one value and is not told fact by fact: which one it is."""
    wanted = [v for v in verdicts if about_one(v["witness"]) and registry.has("criteria", v["criterion"])]
    if not wanted:
        return {}
    # judged anew: of several sensitive columns each verdict comes back under the same name
    kinds = {str(kind): kind for v in wanted for kind in [criteria.make(v["criterion"], v["params"])]}
    again = judge(groups(), [*kinds.values()])
    found = {}
    for verdict in wanted:
        requirement, seen = verdict["requirement"], verdict["witness"]
        other = again.get(requirement)
        same = other is not None and all(
            other.witness.get(fact) == seen[fact] for fact in HELD if fact in seen
        )
        if other is not None and same and (place := number(groups(), other)):
            found[requirement] = place
    return found


def number(grouping: Grouping, verdict: Verdict) -> list[int] | None:
    """The value in question by how common it is, and how many values there are; None where that is nobody's.

    Of values that are as common in the group, any may be the one; where the worst case compares with the
    whole table, as common there too.
    """
    # the groups beside the sensitive column that the requirement is about; a name may end as another one does
    parts = grouping.of_each_column() if grouping.base.sides or grouping.beside else [grouping]
    named = [p for p in parts if verdict.requirement.endswith(f") for {p.base.table.sensitives[0]}")]
    part = max(named, key=lambda part: len(part.base.table.sensitives[0]), default=parts[0])
    seen = verdict.witness
    held = next((seen[name] for name in HELD if name in seen), None)
    code = seen.private.get("value_code")
    if "g" not in seen.private or (code is None and not held):
        return None
    query = render("counted/listed.sql", relation=part.overall, columns=names(["s", "n_rows"]))
    rows = sorted(part.base.engine.fetch(query), key=lambda row: (-row["n_rows"], row["s"]))
    overall = {row["s"]: row["n_rows"] for row in rows}
    if code is None:
        code = _in_group(part, verdict, overall, held)
    return [list(overall).index(code) + 1, len(overall)] if code in overall else None


def _in_group(part: Grouping, verdict: Verdict, overall: dict[int, int], held: int | None) -> int | None:
    """The value of a group that as many people have as the worst case says."""
    seen, watched = verdict.witness, verdict.params.get("values")
    wanted = {"condition": Sql(f"g = {int(seen.private['g'])}"), "columns": names(["s", "n_rows"])}
    inside = render("counted/where.sql", source=part.histogram, **wanted)
    common = sorted(part.base.engine.fetch(inside), key=lambda row: (-row["n_rows"], row["s"]))
    if watched:  # no requirement is about the others
        engine, texts = part.base.engine, list(map(str, watched))
        columns = {"position": ("bigint", [*range(len(texts))]), "name": ("varchar", texts)}
        among = {"values": part.base.dictionaries["s"], "named": engine.load(columns, "named")}
        codes = {row["code"] for row in engine.fetch(render("criteria/named_values.sql", **among))}
        common = [row for row in common if row["s"] in codes]
    if (of_all := seen.get("overall_count")) is not None:
        common = [row for row in common if overall[row["s"]] == of_all and row["n_rows"] == held]
    place = int(seen.get("guess") or 1) - 1
    return common[place]["s"] if place < len(common) and common[place]["n_rows"] == held else None
