"""Cells of a CSV file that a spreadsheet takes for formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from privacy_sql.engines import Engine
from privacy_sql.engines._escaping import FORMULA, is_formula
from privacy_sql.errors import number_of
from privacy_sql.query.template import Sql, render


def warnings(engine: Engine, shown: Iterable[tuple[Sql, Sql | None]]) -> tuple[str, ...]:
    """A warning for each CSV column with text that starts like a formula.

    `shown` are relations, each with the column of row counts, if it has one.
    """
    counts: Counter[str] = Counter()
    for relation, counted in shown:
        counts.update({name: 1 for name in engine.columns(relation) if is_formula(name)})
        texts = [name for name, kind in engine.columns(relation).items() if kind == "text"]
        if texts:
            query = render(
                "publishing/formulas.sql", relation=relation, columns=texts, formula=FORMULA, counted=counted
            )
            (found,) = engine.fetch(query)
            counts.update({name: found[f"n{place}"] for place, name in enumerate(texts, start=1)})
    return tuple(
        f"{name}: {number_of(n, 'cell')} of the CSV start with = + - @ or a tab, and a spreadsheet may take"
        " them for formulas; write `csv: {formulas: escape}` under output, or import the columns as text"
        for name, n in counts.items()
        if n
    )
