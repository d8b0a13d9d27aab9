"""How much processor time a cold start takes. Wall time would measure the machine's other work."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from privacy_sql.project import example
from tests.conftest import ROOT

RUN = "import sys; from privacy_sql.cli.main import main; main(sys.argv[1:])"


def seconds(*words: str) -> float:
    """Processor time of one cold call, the best of two."""
    best = float("inf")
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", RUN, *words], cwd=ROOT, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode in (0, 1), done.stderr
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return best


def test_a_cold_check_of_the_example_takes_less_than_two_seconds(tmp_path: Path) -> None:
    example.write(tmp_path)
    assert seconds("check", "--project", str(tmp_path)) < 2


def test_help_takes_less_than_three_tenths_of_a_second() -> None:
    assert seconds("--help") < 0.3
    assert seconds("check", "--help") < 0.3


def test_help_loads_no_engine_and_no_frames() -> None:
    heavy = {"duckdb", "pandas", "numpy", "sqlglot", "networkx", "pyarrow", "rich", "opendp", "sklearn"}
    code = (
        "import sys\nfrom privacy_sql.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"sys.exit(','.join({heavy} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"loaded {done.stderr}"


def test_checking_and_publishing_a_table_loads_no_frames_graphs_or_parsers() -> None:
    heavy = {"pandas", "sqlglot", "networkx", "pyarrow", "rich", "opendp", "sklearn", "plotly"}
    code = (
        "import sys\nimport privacy_sql as ps\n"
        "ages = 'values (30), (30), (41), (41)'\n"
        "with ps.connect() as engine:\n"
        "    engine.connection.execute(f'create table people as select * from ({ages}) as t(age)')\n"
        "    table = ps.Table('people', {'age': ps.Intervals(20)})\n"
        "    assert ps.check(engine, table, [ps.KAnonymity(2)])\n"
        "    assert ps.publish(engine, table, [ps.KAnonymity(4)], ps.FullDomain()).rows_out == 4\n"
        f"sys.exit(','.join({heavy} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"loaded {done.stderr}"


def test_checking_a_project_loads_no_arrays(tmp_path: Path) -> None:
    """The example asks for k-anonymity, ℓ-diversity and t-closeness, which statements decide."""
    example.write(tmp_path)
    heavy = {"numpy", "pandas", "sqlglot", "rich"}
    code = (
        "import sys\nfrom privacy_sql.cli.main import main\n"
        f"try: main(['check', '--project', {str(tmp_path)!r}])\nexcept SystemExit: pass\n"
        f"sys.exit(','.join({heavy} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"loaded {done.stderr}"
