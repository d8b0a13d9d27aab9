"""A line chart as SVG text, readable in print and without colour: every line has its own marker."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

ACROSS, HEIGHT = 500, 460  # the same width of axes in every chart
LEFT, TOP, BOTTOM = 70, 50, 60  # margins; the legend is on the right, as wide as its longest name
LETTER, TITLE_LETTER = 8, 9  # no letter is wider on average, in the sizes below
COLOURS = ("#1b6ca8", "#c1440e", "#3c7a3c", "#7b4b94", "#8a6d1b", "#444444")
MARKERS = ("M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M0-5L5 0L0 5L-5 0Z")
DASHES = ("none", "6 3", "2 3", "9 3 2 3")


def plotted(title: str, x: str, y: str, lines: Mapping[str, Points]) -> str:
    """The chart of named lines."""
    right = LEFT + ACROSS
    legend = max(map(len, lines), default=0) * LETTER + 50
    width = max(right + legend, LEFT + len(title) * TITLE_LETTER)
    across = _Axis.over([p[0] for points in lines.values() for p in points], LEFT, right)
    upwards = _Axis.over([p[1] for points in lines.values() for p in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}"'
        f' width="{width}" height="{HEIGHT}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
        *_grid(across, upwards, x, y),
    ]
    for number, (label, points) in enumerate(lines.items()):
        at = [(across.at(a), upwards.at(b)) for a, b in points]
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
        marker, legend = MARKERS[number % len(MARKERS)], TOP + 20 * number
        path = " ".join(f"{a},{b}" for a, b in at)
        marked = [*at, (LEFT + ACROSS + 24, legend)]
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"',
            f' stroke-dasharray="{dash}"/>',
            *(f'<path transform="translate({a} {b})" d="{marker}" fill="{colour}"/>' for a, b in marked),
            f'<text x="{LEFT + ACROSS + 38}" y="{legend + 4}">{escape(label)}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


def tabled(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as SVG text, for figures without axes.

    >>> tabled("T", ["a"], [["1"]]).count("<text")
    3
    """
    lines = [list(columns), *map(list, rows)]
    widths = [LETTER * max(len(line[place]) for line in lines) + 24 for place in range(len(columns))]
    lefts = [LEFT / 2 + sum(widths[:place]) for place in range(len(columns))]
    width = max(LEFT + sum(widths), LEFT + len(title) * TITLE_LETTER)
    height = TOP + 22 * len(lines) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:g}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT / 2:g}" y="24" font-size="15">{escape(title)}</text>',
    ]
    for number, line in enumerate(lines):
        bold = ' font-weight="bold"' if number == 0 else ""
        parts += [
            f'<text x="{left:g}" y="{TOP + 22 * (number + 1)}"{bold}>{escape(cell)}</text>'
            for left, cell in zip(lefts, line, strict=True)
        ]
    return "\n".join([*parts, "</svg>\n"])


class _Axis:
    """Round marks over a range of numbers, and where each number is drawn."""

    def __init__(self, marks: Sequence[float], start: float, end: float) -> None:
        self.marks, self.start, self.end = marks, start, end

    @classmethod
    def over(cls, numbers: Sequence[float], start: float, end: float) -> _Axis:
        low, high = min(numbers, default=0.0), max(numbers, default=1.0)
        span = (high - low) or 1.0
        rough = span / 6
        unit: float = 10 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls([n * step for n in range(first, max(last, first + 1) + 1)], start, end)

    def at(self, number: float) -> float:
        share = (number - self.marks[0]) / (self.marks[-1] - self.marks[0])
        return round(self.start + share * (self.end - self.start), 1)


def _grid(across: _Axis, upwards: _Axis, x: str, y: str) -> list[str]:
    low, high, left, right = upwards.start, upwards.end, across.start, across.end
    parts = []
    for mark in across.marks:
        at = across.at(mark)
        parts.append(f'<path d="M{at} {low}V{high}" stroke="#ddd"/>')
        parts.append(f'<text x="{at}" y="{low + 18}" text-anchor="middle">{_short(mark)}</text>')
    for mark in upwards.marks:
        at = upwards.at(mark)
        parts.append(f'<path d="M{left} {at}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4}" text-anchor="end">{_short(mark)}</text>')
    middle = (low + high) / 2
    return [
        *parts,
        f'<text x="{(left + right) / 2}" y="{HEIGHT - 18}" text-anchor="middle">{escape(x)}</text>',
        f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{escape(y)}</text>',
    ]


def _short(mark: float) -> str:
    """A short label for a mark.

    >>> _short(0.25), _short(2500), _short(12_000_000)
    ('0.25', '2500', '12M')
    """
    return f"{mark / 1e6:g}M" if abs(mark) >= 1e6 else f"{mark:g}"
