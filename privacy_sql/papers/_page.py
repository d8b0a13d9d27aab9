"""All figures of the papers on one HTML page: the paper's finding and numbers beside ours, with reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from privacy_sql.papers import Figure
from privacy_sql.papers._printed import beside, printed, shown

NAMES = {
    "martin": "Martin, Kifer, Machanavajjhala, Gehrke, Halpern 2007: worst-case background knowledge",
    "chen": "Chen, LeFevre, Ramakrishnan 2008: privacy skylines",
    "li": "Li, Li, Zhang 2009: (B,t)-privacy",
    "ganta": "Ganta, Kasiviswanathan, Smith 2008: composition attacks",
    "kifer": "Kifer, Gehrke 2006: anonymized marginals",
}
SHORT = 12  # a table with more rows is folded
# how the page begins, and no other one
BEGINS = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<title>The papers, computed again</title>
"""
STYLE = """
body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0}
td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd}
.number{text-align:right;white-space:nowrap}
.wide,details{margin:1rem 0;overflow-x:auto}
"""


def page(papers: Mapping[str, Sequence[Figure]], problems: Mapping[str, str]) -> str:
    """The page; `problems` says for each paper what stopped it, or why a part is missing."""
    parts = [
        BEGINS.decode().rstrip(),
        '<meta name="viewport" content="width=device-width">',
        f"<style>{STYLE}</style></head><body><h1>The papers, computed again</h1>",
        "<nav><ul>",
        *(f'<li><a href="#{escape(name)}">{escape(NAMES.get(name, name))}</a></li>' for name in papers),
        "</ul></nav>",
    ]
    for name, figures in papers.items():
        parts.append(f'<h2 id="{escape(name)}">{escape(NAMES.get(name, name))}</h2>')
        parts += [part for figure in figures for part in _figure(name, figure)]
        if name in problems:
            parts.append(f"<p><strong>Not complete:</strong> {escape(problems[name])}</p>")
    return "\n".join([*parts, "</body></html>\n"])


def _figure(paper: str, figure: Figure) -> list[str]:
    said = printed(paper, figure.name)
    compared = beside(said, figure.to_json()["rows"])
    drawn = figure.x is not None and figure.y is not None
    # a short table is shown; numbers that are also drawn, and long tables, are folded
    seen = " open" if not drawn and len(figure.rows) <= SHORT else ""
    numbers = f"<details{seen}><summary>Numbers</summary>{_table(figure.columns, figure.rows)}</details>"
    return [
        f"<section><h3>{escape(figure.title)}</h3>",
        # full width: a phone scrolls it sideways, and its labels stay readable
        f'<div class="wide" tabindex="0">{figure.svg()}</div>' if drawn else numbers,
        f"<p>{escape(figure.note)}</p>" if figure.note else "",
        f"<p><strong>The paper:</strong> {escape(said.finds)}</p>" if said.finds else "",
        _table(["", "paper", "here"], compared) if compared else "",
        f"<p><strong>Difference:</strong> {escape(said.differs)}</p>" if said.differs else "",
        numbers if drawn else "",
        "</section>",
    ]


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = (
        "".join(
            f'<td class="number">{shown(cell)}</td>'
            if isinstance(cell, int | float)
            else f"<td>{escape(shown(cell)).replace(',', ',<wbr>')}</td>"
            for cell in row
        )
        for row in rows
    )
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{cells}</tr>' for cells in body)}</table>"
