"""A decision is saved as its owner would write it, and published as `run` does."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from privacy_sql.project import editing, reading
from tests.command_line import call
from tests.explorer.served import Asker, served


@pytest.fixture
def asker(folder: Path) -> Iterator[Asker]:
    """An explorer of a copy of the example."""
    with served(folder) as made:
        yield made


def test_nothing_decided_changes_no_byte(asker: Asker) -> None:
    assert asker.ask("sign")["difference"] == []


def test_a_saved_decision_keeps_comments_and_order_and_changes_only_its_lines(
    asker: Asker, folder: Path
) -> None:
    before = (folder / "privacy.yml").read_text()
    asker.ask("decide", action="take", levels={"age": 3}, version=1)
    asker.ask("decide", action="limit", requirement="k_anonymity(k=10)", limit="12", version=2)
    shown = asker.ask("sign", action="signoff", field="purpose", words="To plan: clinics, #1", version=3)
    asker.ask(
        "sign", action="signoff", field="reasons", requirement="k_anonymity", words="Our rule", version=4
    )
    shown = asker.ask("sign")
    assert (folder / "privacy.yml").read_text() == before, "nothing is written before somebody saves"
    asker.ask("sign", action="save", version=5)
    after = (folder / "privacy.yml").read_text()
    changed = [line[1:] for line in shown["difference"][2:] if line[:1] in "+-"]
    assert changed == [
        "    signoff:",
        "      purpose: 'To plan: clinics, #1'",
        "      reasons:",
        "        k_anonymity: Our rule",
        "      k_anonymity: {k: 10}",
        "      k_anonymity: {k: 12}",
        "        levels: {age: 2, sex: 0, zip: 2, marital_status: 1, education: 2}",
        "        levels: {age: 3, sex: 0, zip: 2, marital_status: 1, education: 2}",
    ]
    assert editing.difference(before, after) == shown["difference"]
    (plan,) = reading.read(folder).plans.values()
    assert plan.signoff == {"purpose": "To plan: clinics, #1", "reasons": {"k_anonymity": "Our rule"}}
    assert not asker.ask("decide")["summary"]["unsaved"]


def test_a_file_that_changed_meanwhile_is_not_overwritten(asker: Asker, folder: Path) -> None:
    asker.ask("decide", action="take", levels={"age": 3}, version=1)
    with (folder / "privacy.yml").open("a") as stream:
        stream.write("# somebody else was here\n")
    there = (folder / "privacy.yml").read_bytes()
    told = asker.tell("/api/sign", {"action": "save", "version": 2})
    assert told["error"]["code"] == "changed_meanwhile" and "changed meanwhile" in told["error"]["message"]
    assert (folder / "privacy.yml").read_bytes() == there
    job = asker.tell("/api/jobs", {"screen": "sign", "do": "run"})
    while job["state"] == "running":
        job = asker.tell(f"/api/jobs/{job['id']}", {})
    assert job["error"]["code"] == "not_saved"
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_what_is_published_is_what_run_publishes(asker: Asker, folder: Path, tmp_path: Path) -> None:
    asker.ask("decide", action="take", levels={"age": 3}, version=1)
    asker.ask("sign", action="save", version=2)
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    job = asker.work("sign", do="run")
    answer = job["answer"]
    assert answer["exit"] == 0 and answer["published"] and answer["verified"]
    run = call("run", "--json", "--project", other).json["releases"][0]
    for key in ("rows_in", "rows_out", "suppressed", "target", "manifest"):
        assert answer[key] == run[key], key
    assert [v["value"] for v in answer["verdicts"]] == [v["value"] for v in run["verdicts"]]
    assert (folder / "out/people.csv").read_text().splitlines()[0] == (
        other / "out/people.csv"
    ).read_text().splitlines()[0]
    assert sorted((folder / "out/people.csv").read_text().splitlines()) == sorted(
        (other / "out/people.csv").read_text().splitlines()
    )
    assert call("verify", folder / "out/people.csv").exit == 0
    told = asker.ask("sign")
    assert {one["column"]: one["then"] for one in told["out"]["columns"]}["age"] == "bands of 20"
    steps = {column["name"]: column["steps"] for column in told["summary"]["columns"]}
    for one in told["out"]["columns"]:  # in the words of Decide, where the labels are the same
        assert (
            one["then"]
            == one["now"]
            == steps[one["column"]][told["summary"]["levels"][one["column"]]]["words"]
        )
    refused = asker.work("sign", do="run")["answer"]
    assert refused["exit"] == 2 and not refused["published"], (
        "a release that is out is replaced only when asked"
    )
    assert "Replace the release that is out" in refused["errors"][0]["hint"]
    assert asker.work("sign", do="run", overwrite=True)["answer"]["exit"] == 0
    assert asker.work("sign", do="report")["answer"]["file"] == "target/report/people.html"
    assert (folder / "target/report/people.html").is_file()
    assert asker.work("sign", do="register")["answer"]["registered"] == "people"
    assert [
        entry["name"] for entry in call("register", "list", "--json", "--project", folder).json["entries"]
    ] == ["people"]


def test_a_choice_that_is_not_safe_publishes_nothing(asker: Asker, folder: Path) -> None:
    asker.ask("decide", action="take", levels={"age": 0, "zip": 0}, version=1)
    asker.ask("sign", action="save", version=2)
    answer = asker.work("sign", do="run")["answer"]
    assert answer["exit"] == 1 and not answer["published"] and not (folder / "out").exists()


@pytest.mark.parametrize(
    "method",
    [
        "{full_domain: {minimise: loss, max_suppressed: 0.02}}",
        "full_domain",
        "{generalise: {}}",
        "generalise",
    ],
)
def test_levels_are_pinned_whatever_the_method_was(folder: Path, method: str) -> None:
    text = (folder / "privacy.yml").read_text()
    text = (
        text[: text.index("    method:")]
        + f"    method: {method}   # ours\n"
        + text[text.index("    output:") :]
    )
    (folder / "privacy.yml").write_text(text)
    with served(folder) as asker:
        levels = {**asker.ask("decide")["summary"]["levels"], "sex": 1}
        asker.ask("decide", action="take", levels={"sex": 1}, version=1)
        asker.ask("sign", action="save", version=2)
    (plan,) = reading.read(folder).plans.values()
    assert plan.method is not None and dict(plan.method.named_levels or {}) == levels
    assert str(plan.method.allowed) == ("1/50" if "0.02" in method else "0")


ODD = """\
# first
releases:   # all of them
- wrong
"""


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_file_keeps_its_line_ends_rights_and_link(folder: Path, eol: str) -> None:
    real = folder / "elsewhere.yml"
    text = (folder / "privacy.yml").read_text().replace("\n", eol)
    (folder / "privacy.yml").unlink()
    real.write_bytes(text.encode())
    real.chmod(0o600)
    (folder / "privacy.yml").symlink_to(real)
    after = editing.edited(text, "people", [editing.SetLimit(0, (("k",),), "11")])
    assert after.replace("k: 11", "k: 10") == text
    editing.save(folder, text, after)
    assert (folder / "privacy.yml").is_symlink() and real.read_bytes() == after.encode()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_text_that_run_would_refuse_is_never_written(folder: Path) -> None:
    text = (folder / "privacy.yml").read_text()
    with pytest.raises(Exception, match=r"unknown key|releases|errors"):
        editing.save(folder, text, ODD)
    assert (folder / "privacy.yml").read_text() == text


@pytest.mark.parametrize("indent", ["  ", ""])
def test_lists_keep_their_indent(indent: str) -> None:
    text = (
        f"releases:\n  a:\n    drop:\n    {indent}- x  # why\n    {indent}- y\n"
        f"    require:\n      k_anonymity:\n      {indent}- k: 5\n      {indent}- k: 7\n"
    )
    after = editing.edited(text, "a", [editing.SetLimit(1, (("k",),), "9")])
    assert after == text.replace("k: 7", "k: 9")
