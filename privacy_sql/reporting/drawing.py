"""Where everything of a chart stands, in thousandths of its area: a template draws it, without a script.

Lines are SVG that is stretched to the width at hand, so it holds no text: words and numbers are HTML around
it and keep their size on a phone. Bars are rows of HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from privacy_sql.reporting.charts import INK, PALE, PLAIN, SAFE, UNSAFE, Chart, ChartAxis, Line, Value

SIDE = 1000
# as the style sheet calls the colours, which differ in the dark
COLOURS = {
    SAFE: "var(--safe)",
    UNSAFE: "var(--bad)",
    PLAIN: "var(--plain)",
    PALE: "var(--pale)",
    INK: "var(--ink)",
}
STROKES = {"solid": "", "dash": "6 4", "dot": "2 3", "dashdot": "6 3 2 3", "longdash": "10 4"}
HOLLOW = {"diamond", "cross", "star"}  # marks with a hole, so that series differ without colour
SQUARE = {"square", "triangle-up", "cross"}
MOST_TICKS = 6


@dataclass(frozen=True)
class Tick:
    """A number beside an axis; `at` is a share of its length in percent."""

    at: float
    words: str


@dataclass(frozen=True)
class Stroke:
    """One series: a path through its points, and a mark at each."""

    name: str
    colour: str
    path: str  # empty: not joined
    dash: str
    width: float
    marks: str  # empty: no marks
    size: int
    square: bool
    hollow: bool
    legend: bool


@dataclass(frozen=True)
class PlacedWords:
    """What stands in the area, by its left upper corner in percent."""

    left: float
    top: float
    words: str
    from_right: bool = False


@dataclass(frozen=True)
class Plot:
    """A chart of lines."""

    height: int
    across: Sequence[Tick]
    upwards: Sequence[Tick]
    strokes: Sequence[Stroke]
    rules: Sequence[str]  # paths
    zones: Sequence[tuple[float, float, float, float]]  # left, top, width, height
    words: Sequence[PlacedWords]

    @property
    def margin(self) -> int:
        """The letters that the numbers on the left need."""
        return 2 + max((len(tick.words) for tick in self.upwards), default=0)


@dataclass(frozen=True)
class Row:
    """One bar: its label, its width in percent, its number and its colour."""

    label: str
    width: float
    words: str
    colour: str


def rows_of(chart: Chart) -> list[Row]:
    """The bars of a chart, lying down.

    >>> from privacy_sql.reporting.charts import Bars
    >>> rows_of(
    ...     Chart(
    ...         "k",
    ...         "says",
    ...         ChartAxis("x"),
    ...         ChartAxis("y"),
    ...         bars=[Bars("n", ["a", "b"], [2, 1], ["two", "one"])],
    ...     )
    ... )[1]
    Row(label='b', width=50.0, words='one', colour='var(--pale)')
    """
    axis = chart.x if chart.across else chart.y
    most = axis.high or max((value for bars in chart.bars for value in bars.values), default=0)
    return [
        Row(
            label, round(100 * value / most, 2) if most else 0.0, words, COLOURS.get(bars.colour, bars.colour)
        )
        for bars in chart.bars
        for label, value, words in zip(bars.labels, bars.values, bars.texts, strict=True)
    ]


BARS_WIDE, BARS_HIGH = 100, 24


def bars(counts: Sequence[int] | None) -> str:
    """The path of small bars beside one another, in an area of 100 by 24; empty where nothing was counted.

    >>> bars([2, 1]), bars(None)
    ('M1 24V0h48v24zM51 24V12h48v12z', '')
    """
    if not counts or not any(counts):
        return ""
    step, most = BARS_WIDE / len(counts), max(counts)
    gap = min(1.0, step / 10)
    tall = [round(BARS_HIGH * n / most, 1) for n in counts]
    return "".join(
        f"M{round(place * step + gap, 2):g} {BARS_HIGH}V{BARS_HIGH - high:g}"
        f"h{round(step - 2 * gap, 2):g}v{high:g}z"
        for place, high in enumerate(tall)
        if high
    )


def plot_of(chart: Chart) -> Plot:
    """The lines of a chart, its limits and what has to be stayed out of."""
    xs = [value for line in chart.lines for value in line.x]
    ys = [value for line in chart.lines for value in line.y]
    xs += [rule.at for rule in chart.rules if rule.upright]
    ys += [rule.at for rule in chart.rules if not rule.upright]
    across, upwards = _Scale(chart.x, xs), _Scale(chart.y, ys)
    return Plot(
        height=chart.height,
        across=list(across.ticks()),
        upwards=list(upwards.ticks()),
        strokes=[_stroke(line, across, upwards) for line in chart.lines],
        rules=[
            f"M{across.place(rule.at)} 0V{SIDE}"
            if rule.upright
            else f"M0 {SIDE - upwards.place(rule.at)}H{SIDE}"
            for rule in chart.rules
        ],
        zones=[
            (
                across.place(zone.left),
                SIDE - upwards.place(zone.high),
                across.place(zone.right) - across.place(zone.left),
                upwards.place(zone.high) - upwards.place(zone.low),
            )
            for zone in chart.zones
        ],
        words=[
            *(
                PlacedWords(across.place(zone.left) / 10, 100 - upwards.place(zone.high) / 10, zone.words)
                for zone in chart.zones
            ),
            *(
                PlacedWords(across.place(rule.at) / 10, 0, rule.words)
                if rule.upright
                else PlacedWords(0, 100 - upwards.place(rule.at) / 10, rule.words, from_right=True)
                for rule in chart.rules
            ),
        ],
    )


class _Scale:
    """From the numbers of an axis to places along it."""

    def __init__(self, axis: ChartAxis, values: Sequence[Value]) -> None:
        self.axis = axis
        # words stand one after the other
        self.names = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        numbers = [float(v) for v in values if not isinstance(v, str) and v is not None and isfinite(v)]
        low, high = (min(numbers), max(numbers)) if numbers else (0.0, max(1.0, len(self.names) - 1.0))
        spare = 0.04 * (high - low) or 0.5
        self.low = low - spare if axis.low is None else axis.low
        self.high = high + spare if axis.high is None else axis.high
        if axis.low is None and low >= 0 > self.low:
            self.low = 0.0

    def place(self, value: Value) -> float:
        """How far along a value stands, in thousandths; outside of the axis it stands at its end."""
        number = self.names.index(value) if isinstance(value, str) else float(value or 0)
        share = (number - self.low) / (self.high - self.low)
        return round(SIDE * min(1.0, max(0.0, share)), 1)

    def ticks(self) -> Iterator[Tick]:
        """Round numbers along the axis."""
        if self.axis.hidden:
            return
        if self.names:
            for number, name in enumerate(self.names):
                yield Tick(self.place(name) / 10, name if number < MOST_TICKS else "")
            return
        rough = (self.high - self.low) / MOST_TICKS
        power = 10 ** floor(log10(rough))
        step = float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999))
        if self.axis.whole:
            step = max(1.0, step)
        decimals = max(0, -floor(log10(step) + 1e-9))
        number = ceil(self.low / step - 1e-9)
        while number * step <= self.high + 1e-9 * step:
            value = number * step
            percent = f"{value:.{0 if step >= 0.01 else 1}%}"
            yield Tick(self.place(value) / 10, percent if self.axis.percent else f"{value:,.{decimals}f}")
            number += 1


def _stroke(line: Line, across: _Scale, upwards: _Scale) -> Stroke:
    points = [
        None if x is None or y is None else (across.place(x), round(SIDE - upwards.place(y), 1))
        for x, y in zip(line.x, line.y, strict=True)
    ]
    return Stroke(
        name=line.name,
        colour=COLOURS.get(line.colour, line.colour),
        path="".join(_path(points, step=line.step)) if line.joined else "",
        dash=STROKES[line.dash],
        width=line.width,
        marks="".join(f"M{x:g} {y:g}h.01" for x, y in filter(None, points)) if line.marker else "",
        size=line.size,
        square=line.marker in SQUARE,
        hollow=line.marker in HOLLOW,
        legend=line.legend,
    )


def _path(points: Sequence[tuple[float, float] | None], *, step: bool) -> Iterator[str]:
    """Through the points in turn; a gap interrupts it, and a step goes along before it goes up."""
    before: tuple[float, float] | None = None
    for point in points:
        if point is not None and before is None:
            yield f"M{point[0]:g} {point[1]:g}"
        elif point is not None:
            yield f"H{point[0]:g}V{point[1]:g}" if step else f"L{point[0]:g} {point[1]:g}"
        before = point
