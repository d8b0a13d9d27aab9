"""No value of a person is in any answer unless the switch is on; none is in an address, a file or a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from privacy_sql import registry
from tests import canaries
from tests.explorer.served import Asker, served

# of the file of the hierarchy: labels, which the page may show
LABEL = f"{canaries.MARK}H"


def answers(asker: Asker) -> str:
    """Everything that was ever answered, labels of hierarchies aside."""
    return " ".join(asker.replies).replace(LABEL, "")


def everything(asker: Asker, **more: object) -> None:
    """Every question of the screens that are decided on, those that fail among them."""
    for screen in registry.available("explorer.screens"):
        asker.tell(f"/api/{screen}", more)
        for word in ("age", f"{canaries.MARK}Q1", "nobody"):
            asker.tell(f"/api/{screen}", {"action": "show", "column": word, "levels": {word: 1}, **more})
    for question in (
        {"action": "story"},
        {"action": "take", "levels": {"age": 0}, "version": 1},
        {"action": "story"},
        {"action": "limit", "requirement": "k_anonymity(k=3)", "limit": "4", "version": 2},
    ):
        asker.tell("/api/decide", {**question, **more})
    asker.tell("/api/columns", {"action": "preview", "column": "age", **more})
    asker.tell(
        "/api/columns", {"action": "preview", "column": "age", "kind": "mask", "parameters": "3", **more}
    )
    asker.tell(
        "/api/columns", {"action": "preview", "column": "age", "kind": "intervals", "parameters": "5", **more}
    )
    for role in ("quasi", "sensitive", "insensitive", "known"):
        asker.tell("/api/columns", {"action": "role", "column": "free", "role": role, "version": 3, **more})
    asker.work("columns", do="profile", **more)
    asker.work("columns", do="identify", **more)
    asker.work("decide", **more)


def test_no_answer_holds_a_value_of_a_person(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    folder = canaries.project(tmp_path)
    with served(folder, "people") as asker:
        run = asker.work("sign", do="run")
        assert run["answer"]["published"], run
        asker.work("sign", do="report")
        asker.ask("sign")
        everything(asker)
        asker.ask("sign", action="save", version=asker.ask("decide")["summary"]["version"])
        # what a reader will see is invented: a column that is published as it is shows no value of its own
        version = asker.ask("decide")["summary"]["version"]
        asker.ask("decide", action="take", levels={"age": 0}, version=version)
        reader = asker.ask("decide", action="story")["reader"]["shape"]
        assert {"age", "illness"} <= set(reader["header"]) and set(reader["rows"][0]) == {"value 2"}
        assert canaries.MARK not in answers(asker)
    told = capfd.readouterr()
    assert canaries.MARK not in told.out + told.err + caplog.text.replace(LABEL, "")


def test_values_are_shown_where_somebody_asks_for_them(tmp_path: Path) -> None:
    with served(canaries.project(tmp_path), "people") as asker:
        asker.ask("columns", action="preview", column="age", values=True)
        assert f"{canaries.MARK}Q1" in answers(asker)
        asker.replies.clear()
        for switch in (1, "true", "yes", [True]):
            asker.tell("/api/columns", {"action": "preview", "column": "age", "values": switch})
        assert f"{canaries.MARK}Q1" not in answers(asker)
