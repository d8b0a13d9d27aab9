"""Charts for plotly: plain figures, and its script. The only module that imports plotly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from privacy_sql.reporting.charts import INK, UNSAFE, Axis, Bars, Chart, Line, Rule, Zone

Figure = dict[str, Any]
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": INK}


@cache
def script() -> str:
    """The text of plotly's script, which the report holds once."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def figure(chart: Chart) -> Figure:
    """The chart as plotly reads it."""
    return {
        "data": [*(_line(chart, line) for line in chart.lines), *(_bars(chart, bars) for bars in chart.bars)],
        "layout": {
            "height": chart.height,
            "margin": {"l": 8, "r": 16, "t": 30, "b": 8},
            "font": FONT,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "hovermode": "closest",
            "dragmode": False,
            "barmode": "group",
            "bargap": 0.25,
            "showlegend": chart.has_legend,
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "itemclick": False,
                       "itemdoubleclick": False},
            "xaxis": _axis(chart.x, category=bool(chart.bars) and not chart.across),
            "yaxis": _axis(chart.y, category=bool(chart.bars) and chart.across, flipped=True),
            "shapes": [*map(_zone, chart.zones), *map(_rule, chart.rules)],
            "annotations": [*_zone_words(chart), *_rule_words(chart)],
        },
    }  # fmt: skip


def text(words: str) -> str:
    """Words as plotly prints them: what looks like a tag is text.

    >>> text("<b>&")
    '&lt;b&gt;&amp;'
    """
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _line(chart: Chart, line: Line) -> Figure:
    mode = "+".join(word for word, on in (("lines", line.joined), ("markers", line.marker)) if on)
    drawn = {
        "type": "scatter",
        "mode": mode,
        "name": text(line.name),
        "x": list(line.x),
        "y": list(line.y),
        "line": {
            "color": line.colour,
            "dash": line.dash,
            "width": line.width,
            "shape": "hv" if line.step else "linear",
        },
        "marker": {
            "color": line.colour,
            "symbol": line.marker or "circle",
            "size": line.size,
            "line": {"color": "#fff", "width": 0 if line.joined else 0.5},
        },
        "showlegend": line.legend,
        "connectgaps": False,
    }
    # what is told of the point below the pointer
    if line.labels:
        return {**drawn, "text": list(map(text, line.labels)), "hovertemplate": "%{text}<extra></extra>"}
    if line.marker is None:
        return {**drawn, "hoverinfo": "skip"}
    x, y = (
        "%{" + name + (":.1%}" if axis.percent else "}") for axis, name in ((chart.x, "x"), (chart.y, "y"))
    )
    return {**drawn, "hovertemplate": f"{text(line.name)}: {x}, {y}<extra></extra>"}


def _bars(chart: Chart, bars: Bars) -> Figure:
    labels, values = list(map(text, bars.labels)), list(bars.values)
    x, y = (values, labels) if chart.across else (labels, values)
    return {
        "type": "bar",
        "orientation": "h" if chart.across else "v",
        "name": text(bars.name),
        "x": x,
        "y": y,
        "text": list(map(text, bars.texts)),
        "textposition": "outside",
        "cliponaxis": False,
        "constraintext": "none",
        "marker": {"color": bars.colour, "line": {"color": INK, "width": 0.5}},
        "showlegend": bars.legend,
        "hovertemplate": "%{label}: %{text}<extra></extra>",
    }


def _axis(axis: Axis, *, category: bool, flipped: bool = False) -> Figure:
    found: Figure = {
        "title": {"text": text(axis.title), "standoff": 8, "font": {"size": 13}},
        "automargin": True,
        "fixedrange": True,
        "gridcolor": "#e2e8f0",
        "zeroline": False,
        "linecolor": "#94a3b8",
        "visible": not axis.hidden,
    }
    if category:
        return {**found, "type": "category", "showgrid": False, "autorange": "reversed" if flipped else True}
    if axis.log:
        found |= {"type": "log", "dtick": 1}
    if axis.percent:
        found |= {"tickformat": ".0%"}
    if axis.whole:
        found |= {"tickformat": ",d", "dtick": 1}
    if axis.low is not None and axis.high is not None:
        found |= {"range": [axis.low, axis.high]}
    return found


def _rule(rule: Rule) -> Figure:
    along, across = ("y", "x") if rule.upright else ("x", "y")
    return {
        "type": "line",
        f"{along}ref": "paper",
        f"{along}0": 0,
        f"{along}1": 1,
        f"{across}0": rule.at,
        f"{across}1": rule.at,
        "line": {"color": UNSAFE, "width": 1.5, "dash": "dash"},
    }


def _zone(zone: Zone) -> Figure:
    sides = {"x0": zone.left, "x1": zone.right, "y0": zone.low, "y1": zone.high}
    fill = {"fillcolor": "rgba(185,58,10,0.10)", "line": {"color": UNSAFE, "width": 1, "dash": "dot"}}
    return {"type": "rect", "layer": "below", **sides, **fill}


def _rule_words(chart: Chart) -> Iterator[Figure]:
    for rule in chart.rules:
        at = {"x": rule.at, "yref": "paper", "y": 1, "xanchor": "left", "yanchor": "top", "xshift": 3}
        if not rule.upright:
            at = {"xref": "paper", "x": 1, "y": rule.at, "xanchor": "right", "yanchor": "top"}
        yield {**at, "text": text(rule.words), "showarrow": False, "font": {"color": UNSAFE, "size": 12}}


def _zone_words(chart: Chart) -> Iterator[Figure]:
    for zone in chart.zones:
        flat = zone.high - zone.low < 0.25  # no room for words inside
        at = {"x": zone.right if flat else zone.left, "y": zone.high, "xanchor": "left", "yanchor": "top"}
        words = text(zone.words).replace("\n", "<br>")
        yield {
            **at,
            "text": words,
            "showarrow": False,
            "align": "left",
            "font": {"color": UNSAFE, "size": 12},
        }
