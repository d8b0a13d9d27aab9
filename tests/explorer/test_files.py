"""Files that somebody else has, and an end in the middle of a save: nothing is replaced, nothing is left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from privacy_sql.cli.outcome import connected
from privacy_sql.explorer.decision import Decision
from privacy_sql.project import editing, reading
from privacy_sql.query.template import names, render

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
