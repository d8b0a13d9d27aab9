"""`privacy-sql experiment`: figures on disk, and clear errors without data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from privacy_sql import files, registry
from privacy_sql.cli.main import run
from privacy_sql.errors import UsageError
from privacy_sql.papers import Figure
from privacy_sql.papers._printed import PRINTED

DATA = os.environ.get("PRIVACY_SQL_DATA")


@pytest.mark.skipif(not DATA, reason="needs the data sets: set PRIVACY_SQL_DATA")
def test_an_experiment_writes_its_figures(tmp_path: Path) -> None:
    arguments = ["experiment", "martin", "--part", "fig5", "--data", str(DATA), "-o", str(tmp_path / "out")]
    dry = run([*arguments, "--dry-run"])
    assert dry.exit == 0 and not (tmp_path / "out").exists()
    outcome = run(arguments)
    assert outcome.exit == 0, outcome.errors
    assert outcome.more["written"] == ["fig5.csv", "fig5.json", "fig5.svg"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == outcome.more["written"]


def test_an_experiment_without_its_data_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PRIVACY_SQL_DATA", raising=False)
    for arguments in (["martin"], ["martin", "--data", str(tmp_path / "none")], ["martyn"]):
        assert run(["experiment", *arguments]).exit == 2


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt, 130), (MemoryError, 4), (UsageError, 2)])
def test_what_is_finished_is_on_disk_before_the_next_figure_begins_and_outlives_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stop: type[BaseException], code: int
) -> None:
    out = tmp_path / "out"

    class Long:
        @staticmethod
        def run(engine: object, data: Path, parts: object) -> Iterator[Figure]:
            yield Figure("first", "The first figure", ("k", "value"), ((0, 0.5), (1, 0.75)), x="k", y="value")
            assert {path.name for path in out.iterdir()} == {"first.csv", "first.json", "first.svg"}
            raise stop("code", "message") if stop is UsageError else stop

    load = registry.load
    monkeypatch.setattr(registry, "load", lambda kind, name: Long if kind == "papers" else load(kind, name))
    outcome = run(["experiment", "long", "--data", str(tmp_path), "-o", str(out)])
    assert (out / "first.csv").read_text() == "k,value\n0,0.5\n1,0.75\n"
    assert outcome.exit == code and outcome.errors
    assert outcome.more["written"] == ["first.csv", "first.json", "first.svg"]


def test_all_papers_make_one_page_with_the_papers_numbers_beside_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What stops one paper is told on the page, and costs the others nothing."""

    class Whole:
        @staticmethod
        def run(engine: object, data: Path, parts: object) -> Iterator[Figure]:
            columns = ("criterion", "average_group_size", "kl")
            rows = (("value-centric", 106.4, 1.4), ("attribute-centric", 2380.0, 1.9))
            yield Figure("table3", "Table 3: <sizes>", columns, rows)

    class Broken:
        @staticmethod
        def run(engine: object, data: Path, parts: object) -> Iterator[Figure]:
            yield Figure("fig5", "Fig. 5", ("k", "value"), ((0, 0.5), (1, 0.75)), x="k", y="value")
            raise UsageError("code", "the data ran out")

    load = registry.load
    papers = {"chen": Whole, "martin": Broken}
    monkeypatch.setattr(
        registry, "load", lambda kind, name: papers[name] if kind == "papers" else load(kind, name)
    )
    available = registry.available
    monkeypatch.setattr(
        registry, "available", lambda kind: list(papers) if kind == "papers" else available(kind)
    )
    out = tmp_path / "out"
    words = ["experiment", "all", "--data", str(tmp_path), "--out", str(out)]
    assert run([*words, "--dry-run"]).exit == 2 and not out.exists()
    outcome = run(words)
    assert outcome.exit == 2 and outcome.errors[0]["where"] == "martin"
    page = (out / "index.html").read_text()
    assert "Table 3: &lt;sizes&gt;" in page and "the data ran out" in page
    # a table without axes is read as one, and every number of the paper stands beside ours
    assert (
        page.count("<svg") == 1
        and "<details open>" in page
        and "<td>79.45</td><td>106.4</td>" in page
        and "unexplained" in page
    )
    assert "  by value, group size: paper 79.45, here 106.4" in outcome.lines
    assert {"chen/table3.svg", "martin/fig5.csv", "index.html"} <= set(outcome.more["written"])
    assert run(words).exit == 2 and "the data ran out" in (out / "index.html").read_text()
    (out / "index.html").write_text("somebody else's page")
    assert "is not a page written by privacy_sql" in str(run(words).errors)
    assert (out / "index.html").read_text() == "somebody else's page"
    # and so is one that appears while ours is written, or that names the papers itself
    (out / "index.html").write_text("<p><title>The papers, computed again</title>")
    assert "is not a page written by privacy_sql" in str(run(words).errors)
    (out / "index.html").unlink()
    write_synced = files.write_synced

    def late(path: Path, *given: Any) -> None:
        write_synced(path, *given)
        if path.name.endswith("-index.html"):
            (out / "index.html").write_text("somebody else's page")

    monkeypatch.setattr(files, "write_synced", late)
    assert "is not a page written by privacy_sql" in str(run(words).errors)
    assert (out / "index.html").read_text() == "somebody else's page"


def test_a_page_that_was_ended_names_the_papers_it_did_not_reach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Ended:
        @staticmethod
        def run(engine: object, data: Path, parts: object) -> Iterator[Figure]:
            yield Figure("fig5", "The first figure", ("k", "value"), ((0, 0.5),), x="k", y="value")
            raise KeyboardInterrupt

    load = registry.load
    monkeypatch.setattr(registry, "load", lambda kind, name: Ended if kind == "papers" else load(kind, name))
    out = tmp_path / "out"
    assert run(["experiment", "all", "--data", str(tmp_path), "--out", str(out)]).exit == 130
    page = (out / "index.html").read_text()
    papers = registry.available("papers")
    assert page.count("The first figure") >= 1 and page.count("Not complete:") == len(papers) > 1
    assert page.count("ended before this paper") == len(papers) - 1


def test_every_figure_of_a_paper_says_what_the_paper_prints_and_no_other_is_named() -> None:
    """A number of a paper is looked for in a column of ours, so its figure must be one of the module's."""
    for name, figures in PRINTED.items():
        made = registry.load("papers", name)
        text = "".join(path.read_text() for path in Path(made.__file__).parent.glob("*.py"))
        for figure, said in figures.items():
            assert said.finds and (f'"{figure}"' in text or figure.startswith("fig4_")), figure
            assert said.differs or said.finds.startswith("Not in the paper"), figure
            for number in said.numbers:
                assert f'"{number.column}"' in text


@pytest.mark.parametrize("axes", [("k", "value"), (None, None)])
def test_no_word_of_a_drawing_stands_outside_it(axes: tuple[str | None, str | None]) -> None:
    """Long names of lines and long titles make a drawing wider; it says how wide it wants to be."""
    x, y = axes
    for name in ("one", "ipums: mdav nearest and mdav nearest", "requirement " * 12):
        for title in ("Short", "A title that says more of its figure than there is room for " * 3):
            figure = Figure("f", title, ("who", "k", "value"), ((name, 0, 0.5), (name, 1, 1.0)), x, y, "who")
            drawing = ElementTree.fromstring(figure.svg())
            width, height = (float(drawing.attrib[side]) for side in ("width", "height"))
            assert drawing.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
            words = [each for each in drawing.iter("{http://www.w3.org/2000/svg}text") if each.get("x")]
            assert {title, name} <= {each.text for each in words}
            for each in words:
                # letters of 13 points are 7.5 wide on average, of 15 points 8.5
                letter = 8.5 if each.get("font-size") else 7.5
                assert float(each.attrib["x"]) + letter * len(each.text or "") <= width or each.get(
                    "text-anchor"
                )
