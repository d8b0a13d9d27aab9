"""Charts as pictures, SVG and PNG, drawn by matplotlib: for documents that hold no page. Needs no screen.

The knowledge skyline, in the page tables and a scene to turn, is drawn at the value and the limit the page
opens with.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql.errors import UsageError
from privacy_sql.publishing import targets
from privacy_sql.reporting.charts import INK, PALE, SAFE, UNSAFE, Chart, ChartAxis, Value
from privacy_sql.reporting.sections import skyline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "cross": "P", "star": "*"}
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3))}
KINDS = ("svg", "png")
CREATOR = "privacy-sql, with a checksum"
PNG = b"\x89PNG\r\n\x1a\n"
PNG_END = 12  # bytes of the chunk that ends a PNG
# the checksum of a picture: a comment that ends an SVG, a text chunk before the last chunk of a PNG
SEAL = re.compile(
    rb"<!-- privacy-sql [0-9a-f]{64} -->\n\Z"
    rb"|\0\0\0\x4ctEXtprivacy-sql\0[0-9a-f]{64}.{4}(?=.{%d}\Z)" % PNG_END,
    re.DOTALL,
)
# how pictures began when they had no checksum
UNSEALED = re.compile(
    rb"<\?xml [^>]*>\s*<!DOCTYPE svg [^>]*>\s*<svg [^>]*>\s*<metadata>\s*<rdf:RDF [^>]*>\s*<cc:Work>\s*"
    rb"<dc:type [^>]*>\s*<dc:format>image/svg[+]xml</dc:format>\s*<dc:creator>\s*<cc:Agent>\s*"
    rb"<dc:title>privacy-sql</dc:title>"
    rb"|" + re.escape(PNG) + rb"\0\0\0\x0dIHDR.{17}\0\0\0\x14tEXtSoftware\0privacy-sql\xc9H\x84[)]",
    re.DOTALL,
)


def sealed(picture: bytes) -> bytes:
    """A picture with its checksum, by which a picture of ours that nobody changed is recognised."""
    digest = hashlib.sha256(picture).hexdigest().encode()
    if not picture.startswith(PNG):
        return picture + b"<!-- privacy-sql %s -->\n" % digest
    text = b"tEXtprivacy-sql\0" + digest
    chunk = (len(text) - 4).to_bytes(4, "big") + text + zlib.crc32(text).to_bytes(4, "big")
    return picture[:-PNG_END] + chunk + picture[-PNG_END:]


def is_ours(picture: bytes) -> bool:
    """Whether we wrote a picture and nobody changed it; earlier versions only said that they wrote it."""
    return sealed(SEAL.sub(b"", picture)) == picture or UNSEALED.match(picture) is not None


def draw(charts: Sequence[Chart], explored: Mapping[str, Any] | None, folder: Path) -> list[Path]:
    """Every chart, and the skyline where one was explored, in a folder, twice; returns the files."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        hint = "Install privacy-sql[static]."
        raise UsageError("no_matplotlib", "pictures are drawn by matplotlib", hint=hint) from None
    figures: dict[str, Any] = {}
    # text stays text, and the same chart is the same bytes; words of the data are no formulas
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "privacy_sql",
        "text.parse_math": False,
        "font.size": 10,
    }
    with mpl.rc_context(settings):
        for chart in charts:
            figures[chart.key] = Figure(figsize=(7.5, max(2.4, chart.height / 80)), layout="constrained")
            _draw(figures[chart.key].add_subplot(), chart)
        if explored:
            figures |= {"skyline": Figure(figsize=(12, 6)), "staircase": Figure(figsize=(7.5, 5.5))}
            _panels(figures["skyline"], explored)
            _staircase(figures["staircase"].add_subplot(projection="3d"), explored)
        places = {(key, kind): folder / f"{key}.{kind}" for key in figures for kind in KINDS}
        for path in places.values():  # before the first is replaced
            targets.admit_page(path, is_ours)
        drawn = {}
        for (key, kind), path in places.items():
            metadata = {"Date": None, "Creator": CREATOR} if kind == "svg" else {"Software": CREATOR}
            figures[key].savefig(picture := BytesIO(), format=kind, dpi=150, metadata=metadata)
            drawn[path] = sealed(picture.getvalue())
    for path, content in drawn.items():
        targets.put_page(path, content, is_ours)
    return list(drawn)


def _draw(axes: Axes, chart: Chart) -> None:
    axes.set_title(chart.says, loc="left", fontsize=10, wrap=True)
    for zone in chart.zones:
        size = (zone.right - zone.left, zone.high - zone.low)
        axes.bar(zone.left, size[1], size[0], zone.low, align="edge", color=UNSAFE, alpha=0.1)
        axes.text(zone.left, zone.high, zone.words, color=UNSAFE, va="top")
    for line in chart.lines:
        style: Any = DASHES[line.dash] if line.joined else "none"
        marker = MARKERS[line.marker] if line.marker else ""
        axes.plot(
            _gaps(line.x),
            _gaps(line.y),
            linestyle=style,
            marker=marker,
            markersize=line.size * 0.8,
            color=line.colour,
            linewidth=line.width * 0.7,
            drawstyle="steps-post" if line.step else "default",
            label=line.name if line.legend else "_",
            zorder=2 if line.marker else 1,
        )
    for bars in chart.bars:
        places = range(len(bars.labels))
        drawn = (axes.barh if chart.across else axes.bar)(
            places,
            bars.values,
            color=bars.colour,
            edgecolor=INK,
            linewidth=0.5,
            label=bars.name if bars.legend else "_",
        )
        axes.bar_label(drawn, bars.texts, padding=3)
        (axes.set_yticks if chart.across else axes.set_xticks)(places, bars.labels)
        if chart.across:
            axes.invert_yaxis()  # the first bar stands on top
    for rule in chart.rules:
        (axes.axvline if rule.upright else axes.axhline)(
            rule.at, color=UNSAFE, linestyle="--", label=rule.words
        )
    _axis(axes.xaxis, chart.x)
    _axis(axes.yaxis, chart.y)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if chart.has_legend or chart.rules:
        axes.legend(frameon=False, fontsize=9)


def _gaps(values: Sequence[Value]) -> list[Any]:
    return [float("nan") if value is None else value for value in values]


def _axis(axis: XAxis | YAxis, wanted: ChartAxis) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axis.set_visible(not wanted.hidden)
    axis.set_label_text(wanted.title)
    if wanted.low is not None and wanted.high is not None:
        axis.axes.set(**{f"{axis.axis_name}lim": (wanted.low, wanted.high)})
    if wanted.percent:
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    if wanted.whole:
        axis.set_major_locator(MaxNLocator(integer=True))


def _panels(figure: Figure, explored: Mapping[str, Any]) -> None:
    """The small pictures, one per number of values ruled out."""
    value, limit = explored["values"][explored["value"]], explored["limit"]
    figure.suptitle(skyline.summary(value["label"], value["breach"], limit), x=0.02, ha="left", fontsize=10)
    every = figure.subplots(2, 3, sharex=True, sharey=True)
    for ruled_out, axes in enumerate(every.flat):
        shown = skyline.panel(value["breach"], ruled_out, limit, explored["required"])
        for row in shown["rows"]:
            for k, cell in enumerate(row["cells"]):
                m = row["family"]
                hatch, colour = ("", "white") if cell["safe"] else ("////", "#f6d5c6")
                axes.bar(k, 1, 1, m - 0.5, color=colour, edgecolor="#cbd5e1", linewidth=0.5, hatch=hatch)
                if cell["edge"]:
                    axes.plot(k, m, marker="o", markersize=17, fillstyle="none", color=SAFE)
                if cell["required"]:
                    axes.plot(k, m, marker="s", markersize=19, fillstyle="none", color=INK)
                axes.text(k, m, str(cell["percent"]), ha="center", va="center", fontsize=8)
        axes.set(title=f"rules out {ruled_out} (ℓ)", xlim=(-0.5, skyline.KNOWN - 0.5))
        axes.set(ylim=(-0.5, skyline.FAMILY - 0.5), xticks=range(0, skyline.KNOWN, 2))
    figure.supxlabel("other people known (k); hatched: at the limit or above, ring: skyline, frame: required")
    figure.supylabel("family known (m)")


def _staircase(axes: Axes, explored: Mapping[str, Any]) -> None:
    """What stays below the limit in three dimensions: a flat step per number of values ruled out."""
    value, limit = explored["values"][explored["value"]], explored["limit"]
    for ruled_out in range(skyline.RULED_OUT):
        rows = skyline.panel(value["breach"], ruled_out, limit, explored["required"])["rows"]
        heights = [sum(row["cells"][k]["safe"] for row in rows) for k in range(skyline.KNOWN)]
        axes.bar(range(skyline.KNOWN), heights, zs=ruled_out, zdir="z", width=1, align="edge", color=PALE,
                 edgecolor=SAFE, linewidth=0.6, alpha=0.6)  # fmt: skip
    edge = list(skyline.edge(value["breach"], limit))
    for points, marker, colour in ((edge, "o", SAFE), (explored["required"], "s", UNSAFE)):
        for ruled_out, k, m in points:
            axes.plot([k + 0.5], [m + 0.5], [ruled_out], marker=marker, color=colour)
    axes.set(xlabel="other people known (k)", ylabel="family known (m)", zlabel="values ruled out (ℓ)")
    axes.set_title(f"{value['label']}: steps stay below {limit} %", fontsize=10)
