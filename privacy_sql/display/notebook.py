"""Results as small tables of HTML for notebooks; every text is escaped, colour is never the only sign."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape

SAFE, UNSAFE = "✔ safe", "✖ NOT SAFE"


def table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], notes: Iterable[str] = ()
) -> str:
    """A table under a title, with sentences below.

    >>> table("<b>", ["a"], [["1 < 2"]])
    '<div><p><strong>&lt;b&gt;</strong></p><table><tr><th>a</th></tr><tr><td>1 &lt; 2</td></tr></table></div>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes if note)
    grid = f"<table><tr>{head}</tr>{body}</table>"
    return f"<div><p><strong>{escape(title)}</strong></p>{grid}{below}</div>"


def word(safe: bool) -> str:
    """Safe or not, in words that need no colour."""
    return SAFE if safe else UNSAFE


def running() -> bool:
    """Whether this is a notebook, whose reader may sit at another machine."""
    return "ipykernel" in sys.modules


def shown_address(address: str) -> None:
    """Show an address to open, below the cell."""
    from IPython.display import HTML, display

    safe = escape(address, quote=True)
    display(HTML(f'<p>Open <a href="{safe}" target="_blank" rel="noopener">the explorer</a>: {safe}</p>'))
