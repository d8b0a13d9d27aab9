"""Call the command line inside a test and look at what came of it."""

from __future__ import annotations

import contextlib
import io
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privacy_sql.cli import main


@dataclass(frozen=True)
class Told:
    """Everything a call of the command line said, and its exit code."""

    exit: int
    out: str
    err: str
    log: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out, parse_constant=_no_constant)

    @property
    def codes(self) -> list[str]:
        return [error["code"] for error in self.json["errors"]]

    @property
    def everything(self) -> str:
        return self.out + self.err + self.log


def _no_constant(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def call(*arguments: object) -> Told:
    """Run the command line in this process, with every log of ours caught."""
    out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.getLogger("privacy_sql")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main.main([str(argument) for argument in arguments])
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return Told(code, out.getvalue(), err.getvalue(), log.getvalue())


def check(source: Path, *more: object, quasi: str = "age", sensitive: str = "illness") -> Told:
    """`check --json` of a file with two usual columns."""
    words = ["check", "--json", "--source", source, "--quasi", quasi, "--sensitive", sensitive]
    return call(*words, *(more or ["--require", "k_anonymity(k=2)"]))
