"""What tests share: engines, and cases read from `fixtures/cases`."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb
import pytest
from hypothesis import settings

from tests import engines, needs
from tests.engines import server

# the same examples on every run of the build; `.ci/run nightly` looks for new ones
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=500, print_blob=True)
# as many examples as the build, drawn from the seed that `tests/hunt.py` gives
settings.register_profile("hunt", deadline=None, print_blob=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "ci")

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


@pytest.fixture(params=engines.NAMES)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An engine of the test's own, of every kind that is up; everything runs where the data is."""
    with engines.connected(request.param) as made:
        request.node.user_properties.append(("engine", request.param))
        yield made


def cases(family: str) -> list[Any]:
    """Every case of a family as a pytest parameter, its id the criterion and the case's name."""
    found = []
    for path in sorted((FIXTURES / "cases" / family).glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            found.append(pytest.param(path.stem, case, id=f"{path.stem}: {case['name']}"))
    return found


# -- what is left out, and what an engine cannot do yet, is told

counted: Counter[str] = Counter()  # passed tests by engine
_skipped: dict[str, str] = {}


TIMES = 20  # the examples of a property at night, beside those of the build
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
OTHERS = 5  # off DuckDB one in so many cases of a test runs
OTHERS_OF_FILE = 5  # and of what is left of a file one in so many
# and where counts travel from the one to the other, one in so many of a file
TRAVELLING, TRAVELLING_ENGINES = 30, 3
# a property has one in so many of its examples in the build, and no fewer than the least
SHARE_OF_EXAMPLES = {None: 4, "duckdb": 8, "postgres": 8, "postgres_travelling": 8}
LEAST_EXAMPLES = 3  # the first example of a property is its simplest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """At night a property that names its number of examples looks at more of them, and all engines see all.

    In the build every case runs on DuckDB. What PostgreSQL adds is its words and its types: of the tests of
    each file one in five runs there, each with one in five of its cases, and those of tests/engines with
    all. A test that alone runs a template on PostgreSQL is marked `everywhere` and always runs there. The
    third engine has the rows of one and the counts of the other, and adds the way between them: there one in
    thirty of each file's, and of tests/engines one in three.
    """
    profile = os.environ.get("HYPOTHESIS_PROFILE")
    if not NIGHTLY:
        left = _shared_out(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in left])
        items[:] = [item for item in items if item in left]
    if profile not in ("nightly", "hunt"):
        return
    times = TIMES if profile == "nightly" else 1
    for test in {getattr(item, "function", None) for item in items}:
        chosen = getattr(test, "_hypothesis_internal_use_settings", None)
        if chosen is not None and chosen is not settings.default:
            many = settings(chosen, max_examples=times * chosen.max_examples, derandomize=False)
            test._hypothesis_internal_use_settings = many  # type: ignore[union-attr]


FAULTS = 120.0  # seconds of the processor that all planted faults of a build may take together
_faults: list[float] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What a planted fault costs, with the programs that it starts."""
    before = os.times()
    yield
    if item.get_closest_marker("fault") is not None:
        item.user_properties.append(("fault", sum(os.times()[:4]) - sum(before[:4])))


def _shared_out(items: list[pytest.Item]) -> dict[pytest.Item, None]:
    """The items without most of the cases off DuckDB; which are left, the name decides."""
    cases_of: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if (engine := _engine_of(item)) in SHARE_OF_EXAMPLES and engine not in (None, "duckdb"):
            test, file = item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]
            if engine == "postgres_travelling":
                cases_of[f"{file} travelling"].append(item)
            elif not file.startswith("tests/engines/"):
                cases_of[test].append(item)
    left_out = _only_widening(items)
    of_files: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for name, found in cases_of.items():
        share = OTHERS
        if name.endswith(" travelling"):
            share = TRAVELLING_ENGINES if name.startswith("tests/engines/") else TRAVELLING
        taken = _one_in(share, name, found)
        left_out |= set(found) - set(taken)
        if share == OTHERS:
            of_files[name.partition("::")[0]] += [i for i in taken if not i.get_closest_marker("everywhere")]
    for name, found in of_files.items():
        left_out |= set(found) - set(_one_in(OTHERS_OF_FILE, name, found))
    return dict.fromkeys(item for item in items if item not in left_out)


def _one_in(share: int, name: str, items: list[pytest.Item]) -> list[pytest.Item]:
    """One in so many, and one at least, wherever the name says to begin."""
    return items[crc32(name.encode()) % min(share, len(items)) :: share]


def _only_widening(items: list[pytest.Item]) -> set[pytest.Item]:
    """The cases only the night looks at: of a random test with the marker `widens(n)` all but one in n."""
    cases_of: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    shares = {}
    for item in items:
        if (mark := item.get_closest_marker("widens")) is not None and _engine_of(item) in (None, "duckdb"):
            test = item.nodeid.partition("[")[0]
            cases_of[test].append(item)
            shares[test] = mark.args[0]
    left_out: set[pytest.Item] = set()
    for test, found in cases_of.items():
        left_out |= set(found) - set(_one_in(shares[test], test, found))
    return left_out


def _engine_of(item: pytest.Item) -> str | None:
    called = getattr(item, "callspec", None)
    return called.params.get("engine") if called else None


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """What an engine cannot do yet ends as its marker says; in the build a property has fewer examples."""
    engine = _engine_of(pyfuncitem)
    for mark in pyfuncitem.iter_markers("not_yet"):
        if mark.args[0] == engine:
            with needs.not_yet(*mark.args):
                return (yield)
    test = getattr(pyfuncitem, "function", None)
    chosen = getattr(test, "_hypothesis_internal_use_settings", None)
    if NIGHTLY or chosen is None:
        return (yield)
    share = chosen.max_examples // SHARE_OF_EXAMPLES.get(engine, 1)
    fewer = min(chosen.max_examples, max(LEAST_EXAMPLES, share))
    test._hypothesis_internal_use_settings = settings(chosen, max_examples=fewer)  # type: ignore[union-attr]
    try:
        return (yield)
    finally:
        test._hypothesis_internal_use_settings = chosen  # type: ignore[union-attr]


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of tests that stay are not looked through again and again
    gc.set_threshold(200_000, 20, 20)


MEMORY = Path("/dev/shm")  # where Linux keeps files in memory
ROOM = 4 << 30  # what is left of a run that fails, and what a test with millions of rows writes


def _write_to_memory() -> None:
    """Let tests write their thousands of small files to memory, unless somebody chose a folder."""
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def pytest_configure(config: pytest.Config) -> None:
    # whoever starts the tests in the background of a shell leaves them deaf to interrupts, which some send
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        _write_to_memory()
        server.reserve()
        if not NIGHTLY:
            # threads for matrices that wait by counting would take the other worker's core
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if sys.dont_write_bytecode:
            # the programs that tests start find compiled modules and templates, as an installation does
            os.environ["PYTHONPYCACHEPREFIX"] = str(Path(os.environ[server.PLACE]) / "compiled")
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    elif not NIGHTLY:
        # each worker has a core; at night, and without workers, DuckDB has all of them
        duckdb.connect = functools.partial(duckdb.connect, config={"threads": 1})


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()
    if not hasattr(config, "workerinput"):
        server.stop()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if counted.total():
        terminalreporter.write_line(f"cases run: {', '.join(f'{name} {n}' for name, n in counted.items())}")
    if _faults:
        terminalreporter.write_line(
            f"faults planted: {len(_faults)} tests, {sum(_faults):.0f} s of the processor"
        )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.passed and report.when == "call":
        counted.update(value for name, value in report.user_properties if name == "engine")
        _faults.extend(value for name, value in report.user_properties if name == "fault")
    if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        _skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return
    if sum(_faults) > FAULTS and not NIGHTLY:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        sys.stderr.write(f"\nplanted faults took {sum(_faults):.0f} s of the processor, over {FAULTS:.0f}")
    unmeant = {test: why for test, why in _skipped.items() if not needs.meant(test, why)}
    if unmeant:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for nodeid, why in sorted(unmeant.items())[:20]:
            sys.stderr.write(f"\nskipped, and what it needs is there or not said: {nodeid}: {why}")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the public data sets; only the build says where it is."""
    place = os.environ.get("PRIVACY_SQL_DATA")
    if not place:
        pytest.skip("needs the data sets: set PRIVACY_SQL_DATA")
    return Path(place)
