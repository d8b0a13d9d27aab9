"""The name of a published column is a statement, like the values below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import NotSafe, UsageError
from tests import engines

ROWS = pd.DataFrame(
    {"zip": [11, 12, 21, 22] * 6, "age": [21, 22, 35, 36] * 6, "illness": ["flu", "cold"] * 12}
)
SEVERAL_LEVELS: Any = [{"zip": 1}, {"age": 1, "zip": 2}, {"illness": 0}]
RENAMED = {
    "one_table": [("", "age", "years"), ("", "illness", "ruled_out")],
    "two_tables": [
        ("_people", "zip", "phone_area"),
        ("_people", "group_id", "n"),
        ("_values", "illness", "ruled_out"),
        ("_values", "n_people", "n_deaths"),
    ],
    "marginals": [
        ("_marginal_1", "illness", "ruled_out"),
        ("_marginal_2", "zip_level_2", "zip"),
        ("_marginal_3", "zip_level_1", "zip"),
        ("_marginal_3", "n_rows", "n_deaths"),
    ],
}


@pytest.mark.parametrize("layout", RENAMED)
def test_a_renamed_column_of_any_table_is_found_and_the_table_is_not_replaced(
    tmp_path: Path, layout: str
) -> None:
    method: Any = ps.Bucketize(by="anatomy", layout=layout if layout != "marginals" else "one_table")
    require: list[Any] = [ps.LDiversity(2)]
    if layout == "marginals":
        method, require = ps.Marginals(collection=SEVERAL_LEVELS), [ps.KLink(2)]
    with engines.opened() as engine:
        table = ps.Table(ROWS, {"zip": ps.Intervals(10, 20), "age": ps.Intervals(10, 20)}, "illness")
        made = ps.publish(engine, table, require, method)

        def write(overwrite: bool) -> Path:
            return ps.write(
                engine, made, "table:out", manifest_to=tmp_path / "p.manifest.json", overwrite=overwrite
            )

        place = write(False)
        assert ps.verify(place, engine)
        for part, name, new in RENAMED[layout]:
            engine.connection.execute(f"alter table out{part} rename {name} to {new}")
            with pytest.raises(NotSafe) as found:
                ps.verify(place, engine)
            assert found.value.code == "output_changed"
            with pytest.raises(UsageError) as refused:
                write(True)
            assert refused.value.code == "target_exists"
            engine.connection.execute(f"alter table out{part} rename {new} to {name}")
            assert ps.verify(place, engine)
