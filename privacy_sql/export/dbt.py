"""The dbt files of a release: its candidate, the published model, and the tests between the two.

The manifest says which choice was published. dbt repeats it every night with the macro `generalise`, or reads
the written table, and tests what SQL can decide. If only Python can decide, dbt compares the checksum of the
table that Python judged (docs/dbt.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql.beliefs.resemblance import read_matrix
from privacy_sql.criteria import Criterion, least
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies.base import text_of
from privacy_sql.manifest import Manifest, WrittenTable
from privacy_sql.query.template import condition
from privacy_sql.table import Table

if TYPE_CHECKING:
    from privacy_sql.criteria.interval_disclosure import IntervalDisclosure
    from privacy_sql.criteria.known_columns import KnownColumns
    from privacy_sql.criteria.l_diversity import LDiversity
    from privacy_sql.criteria.privacy_skyline import PrivacySkyline
    from privacy_sql.criteria.reidentification_risk import ReidentificationRisk
    from privacy_sql.criteria.t_closeness import TCloseness

GENERALISING = ("generalise", "full_domain")
MOST_FACTS = 2  # the cases of (c,k)-safety in macros/kernel/unsafe_ck_safety.sql
LARGEST_FAMILY = 50
LARGEST_MATRIX = 50  # values
MOST_SETS = 100  # of columns somebody may know
SHARES = 10**6  # shares of near values are written in whole parts of it
# requirements a group keeps or fails by itself
BY_GROUP = ("k_anonymous", "l_diverse", "t_close", "near_safe")
CHECKSUM = [f"h{piece}" for piece in range(1, 9)]

TO_A_TABLE = (
    "Publish to a table (`output: {connection: ..., relation: ...}`); matches_manifest then checks it."
)

Test = tuple[str, dict[str, Any]]


def files(name: str, table: Table, require: Sequence[Criterion], content: Manifest) -> dict[str, str]:
    """The two models and their schema, by file name."""
    table = as_published(table, content)
    refuse_changed(table, content)
    # dbt does not double a quote inside a name
    bad = [column for column in table.roles if '"' in column or "`" in column]
    if bad:
        raise UsageError(
            "bad_name", f"dbt cannot write the column {bad[0]}", where=table.name, hint="Rename the column."
        )
    model = re.sub(r"\W", "_", name)
    columns = list(content.shown)
    left = [str(criterion) for criterion in require if not list(guards(criterion, table))]
    by_levels = content.method in GENERALISING and "levels" in content.choice
    if left or not by_levels:
        output = content.one
        if not isinstance(
            output, WrittenTable
        ):  # what only Python can decide or create must be where dbt can read it
            what = (
                f"SQL alone cannot decide {', '.join(left)}"
                if left
                else "a dbt model cannot create these rows"
            )
            raise UsageError("not_in_sql", f"{what} ({content.method})", where=table.name, hint=TO_A_TABLE)
        # the rows as Python judged and wrote them
        candidate = f"select {_columns(columns)}\nfrom {_source(output.relation)}\n"
        checksum = [output.fingerprint[piece] for piece in CHECKSUM]
        written = {"columns": columns, "n_rows": output.n_rows, "checksum": checksum}
        tests = [*_required(require, table), *_alone(table, require), ("matches_manifest", written)]
    else:
        candidate = _generalised(table, require, content)
        tests = [_covered(table), *_required(require, table), *_alone(table, require)]
    lines = ["models:", f"  - name: {model}_candidate", "    data_tests:"]
    for number, (kind, arguments) in enumerate(tests, start=1):
        lines += [
            f"      - privacy_sql.{kind}:",
            f"          name: {model}_{kind}_{number}",
            # JSON is YAML, and quotes every text that needs it
            f"          arguments: {json.dumps(arguments, ensure_ascii=False)}",
        ]
    return {
        f"{model}_candidate.sql": f"{{{{ config(materialized='table', schema='restricted') }}}}\n{candidate}",
        f"{model}_public.sql": "{{ config(materialized='table') }}\n"
        f"select {_columns(columns)}\nfrom {{{{ ref('{model}_candidate') }}}}\n",
        f"{model}_public.yml": "\n".join(lines) + "\n",
    }


def as_published(table: Table, content: Manifest) -> Table:
    """The table with bands for fractions if the run found fractions in a column with whole bands."""
    then = content.hierarchies
    kinds = {
        column: kind.for_fractions()
        if column in then and then[column].checksum == kind.for_fractions().checksum()
        else kind
        for column, kind in table.hierarchies.items()
    }
    return replace(table, quasi=kinds)


def refuse_changed(table: Table, content: Manifest) -> None:
    """Refuse if the project has changed since the release."""
    same = {column: kind.checksum() for column, kind in table.hierarchies.items() if kind.height}
    then = {column: labels.checksum for column, labels in content.hierarchies.items()}
    if (same, table.roles, table.where) != (then, content.roles, content.where):
        hint = "Run it again, then compile."
        raise UsageError("project_changed", f"{table.name} has changed since it was published", hint=hint)


def leave_out(table: Table, require: Sequence[Criterion]) -> list[Test] | None:
    """The requirements whose failing groups are suppressed; None if SQL cannot find them all."""
    found = _leave_out(table, require)
    return found if len(found) == len(require) and len(table.sensitives) < 2 else None


def _generalised(table: Table, require: Sequence[Criterion], content: Manifest) -> str:
    """The call of `generalise`; with suppression it leaves out the same groups."""
    arguments: dict[str, Any] = {
        "quasi": _recipes(table),
        "levels": {column: level for column, level in content.choice["levels"].items() if level},
        "sensitive": list(table.sensitives),
        "insensitive": list(table.insensitive),
    }
    # a manifest rounds down the suppressed rows
    if content.suppressed or content.rows_rounded_to:
        arguments["leave_out"] = _leave_out(table, require)
    if table.where:
        arguments["where"] = _condition(table)
    lines = [f"    {name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    return "{{ privacy_sql.generalise(\n    " + ",\n".join([_reference(table), *lines]) + "\n) }}\n"


def _covered(table: Table) -> Test:
    """What a run refuses in the source: values outside a hierarchy, refused NULLs, repeated people."""
    refused = [column for column in table.quasi if table.nulls_of(column) == "refuse"]
    refused += [column for column in table.sensitives if table.sensitive_nulls == "refuse"]
    arguments: dict[str, Any] = {"of": _reference(table), "quasi": _recipes(table), "not_null": refused}
    if table.identifier:
        arguments["person"] = table.identifier
    if table.where:
        arguments["condition"] = _condition(table)
    return "covered", arguments


def _leave_out(table: Table, require: Sequence[Criterion]) -> list[Test]:
    made = _required(require, table)
    return [
        (kind, {name: value for name, value in arguments.items() if name not in ("quasi", "sensitive")})
        for kind, arguments in made
        if kind in BY_GROUP
    ]


def _reference(table: Table) -> str:
    """The source in dbt: a model or seed with the file's name, or a source with the relation's name."""
    if isinstance(table.source, (str, Path)) and Path(table.source).is_file():
        return f"ref({json.dumps(Path(table.source).name.partition('.')[0])})"
    return _source(str(table.source)).strip("{} ")


def _source(relation: str) -> str:
    schema, _, name = relation.replace('"', "").rpartition(".")
    return f"{{{{ source({json.dumps(schema or 'main')}, {json.dumps(name)}) }}}}"


def _columns(columns: Sequence[str]) -> str:
    return f"{{{{ privacy_sql.columns({json.dumps(list(columns), ensure_ascii=False)}) }}}}"


def _required(require: Sequence[Criterion], table: Table) -> list[Test]:
    return [test for criterion in require for test in guards(criterion, table)]


def _alone(table: Table, require: Sequence[Criterion]) -> list[Test]:
    """What a run refuses of insensitive columns, unless somebody gave a reason to publish them."""
    one_row_one_person = table.values_per_person == "one" and not table.count
    if not table.as_they_are or table.also_known or table.acknowledged or not one_row_one_person:
        return []
    return [("k_anonymous", {"quasi": [*table.quasi, *table.as_they_are], "k": least(require)})]


def _recipes(table: Table) -> dict[str, Any]:
    return {column: kind.recipe() for column, kind in table.hierarchies.items()}


def _condition(table: Table) -> str:
    return str(condition(str(table.where), list(table.roles)))


def guards(criterion: Criterion, table: Table) -> Iterator[Test]:
    """The dbt tests for a requirement; none if SQL alone cannot decide it.

    Each of several sensitive columns is tested with the others as quasi-identifiers.
    """
    maker = _MAKERS.get(criterion.name)
    one_row_one_person = table.values_per_person == "one" and not table.count
    if maker is None or not one_row_one_person or table.joint or table.group:
        return
    several = len(table.sensitives) > 1
    tables = [table.with_sensitive(sensitive) for sensitive in table.sensitives] if several else [table]
    made = [(one, maker(criterion, one)) for one in tables]
    if (criterion.reads_sensitive and not table.sensitives) or any(found is None for _, found in made):
        return  # a requirement is guarded for all of its columns, or not at all
    for one, found in made:
        kind, arguments = found or ("", {})
        own = {"sensitive": one.sensitive} if criterion.reads_sensitive else {}
        yield kind, {**own, "quasi": [*one.quasi], **arguments}


def _l_diverse(criterion: LDiversity, table: Table) -> Test | None:
    if criterion.ell.denominator != 1 or not criterion.strict:
        return None
    arguments = {"l": int(criterion.ell), "kind": criterion.kind}
    return "l_diverse", {**arguments, **({"c": _number(criterion.c)} if criterion.c is not None else {})}


def _t_close(criterion: TCloseness, table: Table) -> Test | None:
    arguments: dict[str, Any] = {"t": _number(criterion.t), "distance": criterion.distance}
    if criterion.distance == "hierarchical":
        if table.sensitive_hierarchy is None:
            return None
        arguments["hierarchy"] = table.sensitive_hierarchy.recipe()
    return "t_close", arguments


def _near_safe(criterion: IntervalDisclosure, table: Table) -> Test | None:
    """Near values at a width of decimals; of a matrix with names, and of few enough values to write out."""
    width, arguments = _number(criterion.width), {}
    if not _of_millionths(criterion.limit) or Fraction(str(width)) != Fraction(str(criterion.width)):
        return None
    if criterion.distance == "hierarchical":
        if table.sensitive_hierarchy is None:
            return None
        arguments["hierarchy"] = table.sensitive_hierarchy.recipe()
    if criterion.distance == "matrix":
        matrix = (table.distances or {}).get(table.sensitives[0])
        if not isinstance(matrix, (Mapping, str, Path)):
            return None
        named, cells = read_matrix(matrix, (), table.sensitives[0])
        texts = [text_of(value) for value in named]
        if len(texts) > LARGEST_MATRIX or any(
            Fraction(str(float(cell))) != cell for row in cells for cell in row
        ):
            return None
        arguments["matrix"] = {
            one: dict(zip(texts, map(float, row), strict=True)) for one, row in zip(texts, cells, strict=True)
        }
    share = _number(criterion.share)
    return "near_safe", {"width": width, "share": share, "distance": criterion.distance, **arguments}


def _known_safe(criterion: KnownColumns, table: Table) -> Test | None:
    """Sets of columns, where they are few enough to write out."""
    given: Sequence[Mapping[str, Any]] = criterion.sets or [{"k": criterion.k, "share": criterion.share}]
    shares = [None if one.get("share") is None else Fraction(str(one["share"])) for one in given]
    n_sets = len(criterion.sets) or comb(len(table.quasi), min(criterion.m or 0, len(table.quasi)))
    if n_sets > MOST_SETS or not all(share is None or _of_millionths(share) for share in shares):
        return None
    asked = [
        {**one, "k": one.get("k", 1), "share": None if share is None else float(share)}
        for one, share in zip(given, shares, strict=True)
    ]
    if not criterion.sets:
        return "known_safe", {"m": criterion.m, **asked[0]}
    columns = [[one["columns"]] if isinstance(one["columns"], str) else list(one["columns"]) for one in asked]
    return "known_safe", {"sets": [{**one, "columns": own} for one, own in zip(asked, columns, strict=True)]}


def _risk_safe(criterion: ReidentificationRisk, table: Table) -> Test | None:
    """A prosecutor's risk; the largest one is k-anonymity, whatever the decimals of the limit."""
    if criterion.needs_population:
        return None
    if criterion.measures == "maximum":
        return "k_anonymous", {"k": criterion.necessary()[0].fewest_people(table)}
    limits = {"at_most": criterion.at_most, "above": criterion.above}
    if not all(limit is None or _of_millionths(Fraction(str(limit))) for limit in limits.values()):
        return None
    own = {name: _number(limit) for name, limit in limits.items() if limit is not None}
    return "risk_safe", {"measure": criterion.measures, **own}


def _of_millionths(share: Fraction) -> bool:
    return (share * SHARES).denominator == 1


def _skyline_safe(criterion: PrivacySkyline, table: Table) -> Test | None:
    skylines: dict[str | None, list[Any]] = {}
    for limit in criterion.limits:
        value = [None, *(criterion.per_value or {})][limit.skyline]
        skylines.setdefault(value, []).append([*limit.amounts, _number(limit.limit)])
        if limit.amounts.family > LARGEST_FAMILY:
            return None
    own = {value: points for value, points in skylines.items() if value is not None}
    return "skyline_safe", {"points": skylines.get(None, []), "per_value": own}


def _number(value: object) -> float:
    return float(Fraction(str(value)))


_MAKERS: Mapping[str, Callable[[Any, Table], Test | None]] = {
    "k_anonymity": lambda criterion, table: ("k_anonymous", {"k": criterion.k}),
    "l_diversity": _l_diverse,
    "t_closeness": _t_close,
    "interval_disclosure": _near_safe,
    "known_columns": _known_safe,
    "reidentification_risk": _risk_safe,
    "ck_safety": lambda criterion, table: (
        ("ck_safe", {"c": _number(criterion.c), "k": criterion.k})
        if criterion.k <= MOST_FACTS and not criterion.per_value
        else None
    ),
    "privacy_skyline": _skyline_safe,
}
