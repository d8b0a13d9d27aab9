"""A project in which every cell is a canary, the verbs that read it, and engines that are made to fail.

For tests/test_leaks_everywhere.py and for tests/engines/test_spark.py, which has an environment of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError
from tests.command_line import call

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MARK = "CANARY"
COLUMNS = ("id", "age", "illness", "free")
ROWS = [(f"{MARK}P{n}", f"{MARK}Q{n % 4}", f"{MARK}S{n % 3}", f"{MARK}F{n}") for n in range(24)]
OWN = {"people.csv", "ages.csv", "known.txt"}  # the files of the user
RELEASED, STORE = "out/people.csv", "store.db"


def project(folder: Path, connection: str = "") -> Path:
    """A folder with two releases, a file and a table; their rows lie in a file or, given an engine, on it."""
    lines = [",".join(row) for row in (COLUMNS, *ROWS)]
    (folder / "people.csv").write_text("".join(f"{line}\n" for line in lines))
    (folder / "ages.csv").write_text("".join(f"{MARK}Q{n},{MARK}H{n % 2},*\n" for n in range(4)))
    (folder / "known.txt").write_text(f"{MARK}P1 not {MARK}S1\n")
    release: dict[str, Any] = {
        "source": {"connection": "home", "relation": "people"} if connection else {"file": "people.csv"},
        "identifier": "id",
        "quasi_identifiers": [{"column": "age", "hierarchy": {"file": "ages.csv"}}],
        "sensitive": "illness",
        "drop": ["free"],
        "require": {"k_anonymity": {"k": "3"}, "l_diversity": {"l": "2"}},
        "method": {"full_domain": {}},
        "output": {"target": RELEASED},
    }
    stored = {**release, "output": {"connection": "home", "relation": "published"}}
    home = {"type": connection} if connection else {"type": "duckdb", "path": STORE}
    content = {
        "version": "1",
        "connections": {"home": home},
        "releases": {"people": release, "stored": stored},
    }
    (folder / "privacy.yml").write_text(json.dumps(content))
    return folder


def verbs(url: str = "") -> dict[str, list[str]]:
    """What each verb that reads a table is asked, where a release was published before."""
    connect = ["--connect", url] if url else []
    source = ["--source", "people" if url else "people.csv", *connect]
    table = [*source, "--quasi", "age", "--sensitive", "illness"]
    people = ["--people", "people" if url else "people.csv"]
    return {
        "attack intersection": [f"{RELEASED}.manifest.json", *people, *connect],
        "attack measure": [
            *("--source", "people" if url else "people.csv", "--release", RELEASED),
            *("--known", "age", "--secret", "illness", *connect),
        ],
        "attack knowledge": [*table, "--group", "free", "--bandwidth", "0.3"],
        "check": [*table, "--require", "k_anonymity(k=9)", "--require", "ck_safety(c=0.5, k=2)"],
        "compile": ["people", "--steps"],
        "curve": [*table, "--facts", "2"],
        "facts": ["known.txt", *table, "--identifier", "id"],
        "init": ["--from", "people.csv", "proposed"],
        "profile": source,
        "report": [],
        "risk": [*source, "--quasi", "age", "--sensitive", "illness"],
        "run": ["--overwrite", "--select", "stored"],
        "search": ["--select", "people"],
        "show": ["people"],
        "skyline": table,
        "verify": [RELEASED, "target/stored.manifest.json"],
    }


AFTER = {"attack intersection", "attack measure", "report", "verify"}  # they read what was published before
SILENT_ON_ROWS = {"report"}  # it reads manifests and records, and asks no engine
EMBEDDED_ONLY = {"init"}  # it proposes a project for a file


def prepared(verb: str) -> None:
    """Publish first what the verb reads."""
    if verb in AFTER:
        assert call("run").exit == 0


def silent(verb: str, words: Iterable[str], *form: str) -> int:
    """The exit code of a verb that must not show any cell."""
    told = call(*verb.split(), *words, *form)
    assert MARK not in told.everything, told.everything
    return told.exit


def holding(folder: Path) -> set[str]:
    """The files that hold a canary, other than the releases and those the user wrote."""
    found = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and MARK.encode() in path.read_bytes()
    }
    return found - OWN - {RELEASED, STORE}


# -- every class of error ----------------------------------------------------------------------------------

Fault = Callable[[], BaseException]
SAID = f'Conversion Error: could not convert "{MARK}"\nLINE 1: {MARK}'
# what Python itself may say, a value in its message
PYTHON: dict[str, Fault] = {
    "RuntimeError": lambda: RuntimeError(MARK),
    "MemoryError": lambda: MemoryError(MARK),
    "OSError": lambda: OSError(28, MARK),
    "UnicodeDecodeError": lambda: UnicodeDecodeError("utf-8", MARK.encode(), 0, 1, MARK),
    "RecursionError": lambda: RecursionError(MARK),
    "KeyError": lambda: KeyError(MARK),
}


def faults(kind: type[BaseException], *libraries: ModuleType) -> dict[str, Fault]:
    """Every class of error an engine's libraries have, and Python's, each quoting a row."""
    kinds = {
        found
        for library in libraries
        for found in vars(library).values()
        if isinstance(found, type) and issubclass(found, kind)
    }
    assert kinds
    named = sorted(kinds, key=lambda found: found.__name__)
    return {**{found.__name__: lambda found=found: found(SAID) for found in named}, **PYTHON}


@contextlib.contextmanager
def failing(home: type[Any], fault: Fault, at: int) -> Iterator[list[str]]:
    """The statement with this number fails as if the engine had said so; yields what was raised."""
    explained, seen, raised = home._explained, 0, []

    @contextlib.contextmanager
    def fail(self: Any, about: Any) -> Iterator[None]:
        nonlocal seen
        with explained(self, about):
            seen += 1
            if seen == at:
                raised.append(str(about))
                raise fault()
            yield

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "_explained", fail)
        yield raised


LATER = (2, 3, 5, 8, 13, 21, 34)  # statements that fail with one class of error each


def tried(
    home: type[Any], verb: str, words: list[str], asked: dict[str, Fault], later: Sequence[int] = LATER
) -> None:
    """Every class of error in the first statement of a verb, and some in later ones; none shows a cell.

    The build takes a quarter of the classes for each verb, another quarter for the next, and the night all.
    """
    prepared(verb)
    names = list(asked)
    first = [name for number, name in enumerate(names) if NIGHTLY or (number + crc32(verb.encode())) % 4 == 0]
    plan = [(1, name) for name in first] + [(at, names[at % len(names)]) for at in later]
    for number, (at, name) in enumerate(plan):
        with failing(home, asked[name], at) as raised:
            code = silent(verb, words, *(["--json"] if number % 2 else []))
        assert raised or at > 1, f"{verb} asked no statement"
        # a published table that cannot be looked at is, for `verify`, not as it was written
        refused = {3, 4, 130} | ({1} if verb == "verify" else set())
        # a table that an engine does not know, when asked whether it is there, is not there
        looking = bool(raised) and "looking for a table" in raised[0]
        unknown = looking and name in ("CatalogException", "PermissionException")
        answered = not raised or unknown
        assert code in (refused | {0, 1} if answered else refused), (verb, name, at, code)
        if not raised:
            return  # the verb asks no statement with a higher number either


# -- errors the engine makes itself ------------------------------------------------------------------------

# a cell in the message of each, where the engine puts it
BROKEN = {
    "no number": "select cast(age as bigint) as n from people",
    "no date": "select cast(age as date) as n from people",
    "no number, late": "select sum(cast(illness as double)) as n from people group by age",
    "no such column": f'select "{MARK}" as n from people',
    "no such table": f'select 1 as n from "{MARK}"',
    "out of range": f"select cast(length(age) * 1000000000000 as integer) as n, '{MARK}' as m from people",
}


def ways(engine: Any, query: ps.Query, folder: Path) -> list[Callable[[], Any]]:
    """Every way an engine has of being asked."""
    return [
        lambda: engine.fetch(query),
        lambda: engine.create(query),
        lambda: engine.fetch(ps.Query(f"select * from {engine.create(query, view=True)}", "b")),
        lambda: engine.arrays(query),
        lambda: engine.arrow(query),
        lambda: engine.write_table(query, "broken"),
        lambda: engine.write_file(query, folder / "broken.csv", "csv"),
        lambda: engine.write_file(query, folder / "broken.parquet", "parquet"),
    ]


def provoked(engine: Any, text: str, folder: Path) -> int:
    """Ask for a broken statement in every way; how many ways were refused without a cell."""
    asked = ways(engine, ps.Query(text, "a/broken"), folder)
    for way in asked:
        with pytest.raises(PrivacySqlError) as caught:
            way()
        assert MARK not in "".join(traceback.format_exception(caught.value))
    return len(asked)
