"""Files that somebody else has, and an end in the middle of a save: nothing is replaced, nothing is left."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.cli.outcome import connected
from privacy_sql.explorer.decision import Decision
from privacy_sql.project import editing, reading
from privacy_sql.query.template import names, render
from tests.command_line import call
from tests.conftest import ROOT
from tests.explorer.served import served

KILLED = """
import os, signal, sys
from pathlib import Path
from privacy_sql.project import editing
folder = Path(sys.argv[1])
text = editing.read_text(folder)
after = editing.edited(text, "people", [editing.SetLimit(0, (("k",),), "11")])
os.{call} = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
editing.save(folder, text, after)
"""


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_kill_in_the_middle_of_a_save_leaves_the_old_file_whole_and_the_next_save_sweeps(
    folder: Path, call: str
) -> None:
    text = editing.read_text(folder)
    there = {path.name for path in folder.iterdir()}
    ended = subprocess.run([sys.executable, "-c", KILLED.format(call=call), str(folder)], check=False)
    assert ended.returncode == -9
    assert editing.read_text(folder) == text
    assert reading.read(folder).plans, "a second start reads it"
    after = editing.edited(text, "people", [editing.SetLimit(0, (("k",),), "12")])
    editing.save(folder, text, after)
    assert editing.read_text(folder) == after
    assert {path.name for path in folder.iterdir()} == there


@pytest.mark.parametrize("there", ["a file", "a link to nothing", "a link to a file"])
def test_a_hierarchy_never_replaces_what_somebody_has_at_its_place(
    folder: Path, tmp_path: Path, there: str
) -> None:
    read = reading.read(folder)
    (plan,) = read.plans.values()
    theirs, elsewhere = folder / "hierarchies" / "sex.csv", tmp_path / "elsewhere.csv"
    theirs.parent.mkdir(exist_ok=True)
    if there == "a file":
        theirs.write_text("theirs")
    else:
        theirs.symlink_to(elsewhere)
    if there == "a link to a file":
        elsewhere.write_text("theirs")
    with Decision(plan, lambda plan: connected(read, plan), read) as decision:
        base = decision.counted.base
        values = base.dictionaries[base.aliases["sex"]]
        query = render("counted/listed.sql", relation=values, columns=names(["value"]))
        rows = [(str(row["value"]), "somebody") for row in base.engine.fetch(query)]
        place = decision.keep_tree("sex", ["all"], rows)
        edit = editing.SetHierarchy("sex", {"file": place.as_posix()})
        decision.take(decision.with_edits(edit), 1)
        decision.save()
    assert (folder / "hierarchies" / "sex_2.csv").read_text().startswith("sex;all")
    assert theirs.is_symlink() == (there != "a file")
    assert elsewhere.exists() == (there == "a link to a file")
    if there != "a link to nothing":
        assert theirs.read_text() == "theirs"
    assert "sex_2.csv" in editing.read_text(folder)


RUN_KILLED = """
import sys
from pathlib import Path
from tests.explorer.served import served
from tests.kills import arm
with served(Path(sys.argv[1])) as asker:
    asker.ask("decide", action="take", levels={"age": 3}, version=1)
    asker.ask("sign", action="save", version=2)
    arm(int(sys.argv[2]), kind="rename")
    asker.work("sign", do="run", overwrite=True)
"""


@pytest.mark.parametrize("at", [1, 3])
def test_a_kill_in_the_middle_of_a_run_from_the_page_leaves_one_release_or_none_and_the_next_run_mends(
    folder: Path, at: int
) -> None:
    assert call("run", "--project", folder).exit == 0
    out = folder / "out" / "people.csv"
    old, before = out.read_bytes(), {path.name for path in out.parent.iterdir()}
    ended = subprocess.run([sys.executable, "-c", RUN_KILLED, str(folder), str(at)], check=False, cwd=ROOT)
    assert ended.returncode == -9, "it was over before it was killed"
    told = call("verify", out) if out.is_file() else None
    killed = out.read_bytes() if told and told.exit == 0 else None
    assert call("run", "--overwrite", "--project", folder).exit == 0
    assert call("verify", out).exit == 0 and {path.name for path in out.parent.iterdir()} == before
    assert old != out.read_bytes(), "the two releases can be told apart"
    # whoever reads while nobody has run again has the old one, the new one, or one that is not vouched for
    assert killed in (old, out.read_bytes(), None)


def test_of_two_tabs_that_save_one_does_and_the_other_is_told(folder: Path) -> None:
    with served(folder) as asker:
        asker.ask("decide", action="take", levels={"age": 3}, version=1)
        told: list[dict[str, Any]] = []
        both = [
            threading.Thread(
                target=lambda: told.append(asker.tell("/api/sign", {"action": "save", "version": 2}))
            )
            for _ in range(2)
        ]
        for tab in both:
            tab.start()
        for tab in both:
            tab.join(60)
        assert sorted(one["error"]["code"] if "error" in one else "saved" for one in told) == [
            "changed_meanwhile",
            "saved",
        ]
        assert "age: 3" in editing.read_text(folder)
        # another explorer of the same project, opened before the save
        with served(folder) as other:
            other.ask("decide", action="take", levels={"sex": 1}, version=1)
            asker.ask("decide", action="take", levels={"age": 2}, version=3)
            asker.ask("sign", action="save", version=4)
            there = editing.read_text(folder)
            refused = other.tell("/api/sign", {"action": "save", "version": 2})
            assert refused["error"]["code"] == "changed_meanwhile"
            assert "Start the explorer again" in refused["error"]["hint"]
            assert editing.read_text(folder) == there


def test_a_folder_that_cannot_be_written_is_told_in_plain_words_and_the_decision_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes, opens = os.O_WRONLY | os.O_RDWR | os.O_CREAT, os.open

    def read_only(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & writes and str(path).startswith(str(folder)):
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return opens(path, flags, *more, **named)

    with served(folder) as asker:
        before = editing.read_text(folder)
        asker.ask("decide", action="take", levels={"age": 3}, version=1)
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", read_only)
            refused = asker.tell("/api/sign", {"action": "save", "version": 2})["error"]
            assert refused["message"] == "cannot write to project: read-only file system", refused
        assert editing.read_text(folder) == before
        assert asker.ask("decide")["summary"]["unsaved"], "nothing that was decided is lost"
        asker.ask("sign", action="save", version=2)
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", read_only)
            job = asker.work("sign", do="run")
            told = job.get("error") or job["answer"]["errors"][0]
            assert "read-only file system" in told["message"] and str(folder) not in told["message"], told
        assert not (folder / "out" / "people.csv").exists()
        assert asker.work("sign", do="run")["answer"]["published"]
