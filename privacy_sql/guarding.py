"""The dbt files of a release: its candidate, what is published from it, and the tests between the two.

The manifest says which choice was made. dbt makes the same choice every night with the macro `generalise`, or
reads the table that was written, and tests in SQL what SQL can decide; what only Python can decide is guarded
by the checksum of the table that Python judged (docs/dbt.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from privacy_sql.criteria import Criterion
from privacy_sql.errors import UsageError
from privacy_sql.query import condition
from privacy_sql.table import Table

GENERALISING = ("generalise", "full_domain")
MOST_FACTS = 2  # of (c,k)-safety, written out in macros/kernel/unsafe_ck_safety.sql
LARGEST_FAMILY = 50
BY_GROUP = ("k_anonymous", "l_diverse", "t_close")  # requirements a group keeps or fails by itself
CHECKSUM = [f"h{piece}" for piece in range(1, 9)]

TO_A_TABLE = "Publish to a table (`output: {connection: ..., relation: ...}`), which matches_manifest guards."

Test = tuple[str, dict[str, Any]]


def files(
    name: str, table: Table, require: Sequence[Criterion], manifest: Mapping[str, Any]
) -> dict[str, str]:
    """The two models and their schema, by file name."""
    refuse_changed(table, manifest)
    model = re.sub(r"\W", "_", name)
    columns = [column["name"] for column in manifest["columns"]]
    return {
        f"{model}_candidate.sql": _candidate(table, require, manifest, columns),
        f"{model}_public.sql": _published(model, columns),
        f"{model}_public.yml": _schema(model, table, require, manifest, columns),
    }


def refuse_changed(table: Table, manifest: Mapping[str, Any]) -> None:
    """Refuse when the project no longer says what was published."""
    same = {column: kind.checksum() for column, kind in table.hierarchies.items() if kind.height}
    then = {column: kind["checksum"] for column, kind in manifest["hierarchies"].items()}
    if (same, table.roles, table.where) != (then, manifest["roles"], manifest["where"]):
        hint = "Run it again, then compile."
        raise UsageError("project_changed", f"{table.name} is not what was published", hint=hint)


def _candidate(
    table: Table, require: Sequence[Criterion], manifest: Mapping[str, Any], columns: Sequence[str]
) -> str:
    config = "{{ config(materialized='table', schema='restricted') }}\n"
    if manifest["method"] in GENERALISING and "levels" in manifest["choice"]:
        return f"{config}{_generalised(table, require, manifest)}"
    relation = manifest["output"].get("relation")
    if relation is None:
        raise UsageError(
            "not_in_sql",
            f"{manifest['method']} cannot be written as a dbt model",
            where=table.name,
            hint=TO_A_TABLE,
        )
    return f"{config}select {_columns(columns)}\nfrom {_source(relation)}\n"


def _generalised(table: Table, require: Sequence[Criterion], manifest: Mapping[str, Any]) -> str:
    """The call of `generalise`; after a suppression it leaves out what the suppression did."""
    arguments: dict[str, Any] = {
        "quasi": {column: kind.recipe() for column, kind in table.hierarchies.items()},
        "levels": {column: level for column, level in manifest["choice"]["levels"].items() if level},
        "sensitive": list(table.sensitives),
        "insensitive": list(table.insensitive),
    }
    if manifest["suppressed"]:
        made = [test for criterion in require for test in guards(criterion, table)]
        own = [(kind, _without_columns(arguments)) for kind, arguments in made if kind in BY_GROUP]
        arguments["leave_out"] = own
    if table.where:
        arguments["where"] = str(condition(table.where, list(table.roles)))
    lines = [f"    {name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    return "{{ privacy_sql.generalise(\n    " + ",\n".join([_reference(table), *lines]) + "\n) }}\n"


def _without_columns(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in ("quasi", "sensitive")}


def _reference(table: Table) -> str:
    """What dbt knows the source as: a model or seed of the file's name, or a source of the relation's."""
    if isinstance(table.source, (str, Path)) and Path(table.source).is_file():
        return f"ref({json.dumps(Path(table.source).name.partition('.')[0])})"
    return _source(str(table.source)).strip("{} ")


def _source(relation: str) -> str:
    schema, _, name = relation.replace('"', "").rpartition(".")
    return f"{{{{ source({json.dumps(schema or 'main')}, {json.dumps(name)}) }}}}"


def _columns(columns: Sequence[str]) -> str:
    return f"{{{{ privacy_sql.columns({json.dumps(list(columns), ensure_ascii=False)}) }}}}"


def _published(model: str, columns: Sequence[str]) -> str:
    config = "{{ config(materialized='table') }}"
    return f"{config}\nselect {_columns(columns)}\nfrom {{{{ ref('{model}_candidate') }}}}\n"


def _schema(
    model: str,
    table: Table,
    require: Sequence[Criterion],
    manifest: Mapping[str, Any],
    columns: Sequence[str],
) -> str:
    found = {str(criterion): list(guards(criterion, table)) for criterion in require}
    left = [requirement for requirement, made in found.items() if not made]
    chosen = [test for made in found.values() for test in made]
    output = manifest["output"]
    if all(piece in output for piece in CHECKSUM):
        marks = {"n_rows": output["n_rows"], "checksum": [output[piece] for piece in CHECKSUM]}
        chosen.append(("matches_manifest", {"columns": list(columns), **marks}))
    elif left:
        raise UsageError(
            "not_in_sql",
            f"SQL alone cannot decide {', '.join(left)}",
            where=table.name,
            hint=TO_A_TABLE,
        )
    lines = ["models:", f"  - name: {model}_candidate", "    data_tests:"]
    for number, (kind, arguments) in enumerate(chosen, start=1):
        lines += [
            f"      - privacy_sql.{kind}:",
            f"          name: {model}_{kind}_{number}",
            # JSON is YAML, and quotes every text that needs it
            f"          arguments: {json.dumps(arguments, ensure_ascii=False)}",
        ]
    return "\n".join(lines) + "\n"


def guards(criterion: Criterion, table: Table) -> Iterator[Test]:
    """The dbt tests that say what a requirement says; none where SQL alone cannot decide it.

    Each of several sensitive columns is tested with the others among the quasi-identifiers.
    """
    maker = _MAKERS.get(criterion.name)
    one_row_one_person = table.values_per_person == "one" and not table.count
    if maker is None or not one_row_one_person or table.joint or table.group:
        return
    for sensitive in table.sensitives or (None,):
        found = maker(criterion, table)
        if found is None or (sensitive is None and criterion.name != "k_anonymity"):
            return
        kind, arguments = found
        others = [column for column in table.sensitives if column != sensitive]
        own = {} if criterion.name == "k_anonymity" else {"sensitive": sensitive}
        yield kind, {**own, "quasi": [*table.quasi, *others], **arguments}


def _k_anonymous(criterion: Any, table: Table) -> Test:
    return "k_anonymous", {"k": criterion.k}


def _l_diverse(criterion: Any, table: Table) -> Test | None:
    if criterion.ell.denominator != 1 or not criterion.strict:
        return None
    arguments = {"l": int(criterion.ell), "kind": criterion.kind}
    return "l_diverse", {**arguments, **({"c": _number(criterion.c)} if criterion.c is not None else {})}


def _t_close(criterion: Any, table: Table) -> Test | None:
    arguments: dict[str, Any] = {"t": _number(criterion.t), "distance": criterion.distance}
    if criterion.distance == "hierarchical":
        if table.sensitive_hierarchy is None:
            return None
        arguments["hierarchy"] = table.sensitive_hierarchy.recipe()
    return "t_close", arguments


def _ck_safe(criterion: Any, table: Table) -> Test | None:
    return ("ck_safe", {"c": _number(criterion.c), "k": criterion.k}) if criterion.k <= MOST_FACTS else None


def _skyline_safe(criterion: Any, table: Table) -> Test | None:
    skylines: dict[str | None, list[Any]] = {}
    for limit in criterion.limits:
        value = [None, *(criterion.per_value or {})][limit.skyline]
        skylines.setdefault(value, []).append([*limit.amounts, _number(limit.limit)])
        if limit.amounts.family > LARGEST_FAMILY:
            return None
    own = {value: points for value, points in skylines.items() if value is not None}
    return "skyline_safe", {"points": skylines.get(None, []), "per_value": own}


def _number(value: Any) -> float:
    return float(Fraction(str(value)))


_MAKERS: Mapping[str, Callable[[Any, Table], Test | None]] = {
    "k_anonymity": _k_anonymous,
    "l_diversity": _l_diverse,
    "t_closeness": _t_close,
    "ck_safety": _ck_safe,
    "privacy_skyline": _skyline_safe,
}
