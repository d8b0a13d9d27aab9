"""What tests share: engines, and cases read from `fixtures/cases`."""

from __future__ import annotations

import os
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import engines
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


# -- a skip that nobody meant is a failure where the data sets are at hand

counted: Counter[str] = Counter()  # passed tests by engine
_skipped: dict[str, str] = {}


NIGHTLY = 20  # times the examples of a property


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A property that names its number of examples for the build looks at more of them at night."""
    profile = os.environ.get("HYPOTHESIS_PROFILE")
    if profile not in ("nightly", "hunt"):
        return
    times = NIGHTLY if profile == "nightly" else 1
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


def pytest_configure(config: pytest.Config) -> None:
    # whoever starts the tests in the background of a shell leaves them deaf to interrupts, which some send
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        server.reserve()


def pytest_unconfigure(config: pytest.Config) -> None:
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
    if report.skipped and isinstance(report.longrepr, tuple):
        _skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput") and session.exitstatus == pytest.ExitCode.OK:
        for name in os.environ.get(server.REQUIRED, "").split():
            if counted[name] < engines.LEAST[name]:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
                sys.stderr.write(f"\n{counted[name]} cases ran on {name}, {engines.LEAST[name]} are meant to")
        if sum(_faults) > FAULTS and os.environ.get("HYPOTHESIS_PROFILE") != "nightly":
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            sys.stderr.write(
                f"\nplanted faults took {sum(_faults):.0f} s of the processor, over {FAULTS:.0f}"
            )
    if not os.environ.get("PRIVACY_SQL_DATA") or hasattr(session.config, "workerinput"):
        return
    lines = (Path(__file__).parent / "allowed_skips.txt").read_text(encoding="utf-8").splitlines()
    allowed = [line for line in lines if line and not line.startswith("#")]
    unmeant = {n: why for n, why in _skipped.items() if not any(fnmatch(why, line) for line in allowed)}
    if unmeant:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for nodeid, why in sorted(unmeant.items())[:20]:
            sys.stderr.write(f"\nskipped without being allowed to: {nodeid}: {why}")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the public data sets; only the build says where it is."""
    place = os.environ.get("PRIVACY_SQL_DATA")
    if not place:
        pytest.skip("needs the data sets: set PRIVACY_SQL_DATA")
    return Path(place)
