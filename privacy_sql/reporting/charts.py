"""A chart as plain numbers, before any library draws it; every chart can also be read as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# safe and unsafe also differ by marker, dash or words: colour alone says nothing
SAFE, UNSAFE, PLAIN, PALE, INK = "#0b6a8f", "#b93a0a", "#64748b", "#9cc5d6", "#1e293b"
SERIES = ("#0b6a8f", "#b93a0a", "#3f6212", "#6b21a8", "#854d0e", "#334155")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid")

Value = float | int | str | None


@dataclass(frozen=True)
class Line:
    """Points by x and y, joined or not; None in y interrupts the line."""

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    colour: str = SAFE
    dash: str = "solid"
    marker: str | None = "circle"  # None: no markers
    joined: bool = True
    step: bool = False
    size: int = 7
    width: float = 2
    legend: bool = True
    labels: Sequence[str] = ()  # what each point is, shown on pointing at it


@dataclass(frozen=True)
class Bars:
    """One bar per label, with its number written beside it."""

    name: str
    labels: Sequence[str]
    values: Sequence[float]
    texts: Sequence[str]
    colour: str = PALE
    legend: bool = False


@dataclass(frozen=True)
class Rule:
    """A limit, drawn as a dashed line with its words."""

    at: float
    words: str
    upright: bool = False


@dataclass(frozen=True)
class Zone:
    """A rectangle that must be stayed out of."""

    left: float
    right: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class ChartAxis:
    """What an axis measures; numbers from `low` to `high` where they are given."""

    title: str
    low: float | None = None
    high: float | None = None
    percent: bool = False
    log: bool = False
    hidden: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Chart:
    """A chart: what it says in one sentence, its axes, what is drawn, and the same as a table."""

    key: str
    says: str
    x: ChartAxis
    y: ChartAxis
    lines: Sequence[Line] = ()
    bars: Sequence[Bars] = ()
    across: bool = False  # bars lie down, their labels on the left
    rules: Sequence[Rule] = ()
    zones: Sequence[Zone] = ()
    height: int = 340
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = field(default=())

    @property
    def has_legend(self) -> bool:
        """Whether there is more than one thing to tell apart."""
        return sum(line.legend for line in self.lines) + sum(bars.legend for bars in self.bars) > 1
