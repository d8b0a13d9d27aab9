"""The script that turns the skyline in three dimensions. The only module that imports plotly."""

from __future__ import annotations

from functools import cache


@cache
def script() -> str:
    """The text of plotly's script, some five megabytes of it."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
