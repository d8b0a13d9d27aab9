"""The sections of a report, in their order: each turns records into words, a table and charts.

A section computes nothing. One whose records are not there says in a line how to get them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privacy_sql.manifest import Manifest
from privacy_sql.reporting.audience import Audience
from privacy_sql.reporting.charts import Chart
from privacy_sql.reporting.records import Record

# a section that is not named here comes after these
FIRST = ("glance", "readers", "published")  # the decision
SECOND = ("criteria", "people", "kept", "analyst")  # how it was checked
ORDER = (
    *FIRST,
    *SECOND,
    "worst_case",
    "disclosure",
    "skyline",
    "options",
    "groups",
    "risk",
    "background",
    "intersection",
    "divergence",
    "provenance",
    "glossary",
)


@dataclass(frozen=True)
class Material:
    """Everything a report of one release is made from."""

    name: str
    audience: Audience
    run: Record
    found: Mapping[str, Any] = field(default_factory=dict)  # what other verbs recorded
    manifest: Manifest | None = None

    @property
    def safe(self) -> bool:
        return bool(self.run["safe"])

    @property
    def published(self) -> bool:
        """Whether a release left."""
        return self.safe and self.run.get("exit", 0) == 0

    @property
    def internal(self) -> bool:
        return self.audience == "internal"

    def part(self, name: str) -> Any:
        """A part of the run's record; None when it is missing."""
        found = self.run.get(name)
        return None if not found or (isinstance(found, dict) and "missing" in found) else found

    def why_not(self, name: str, otherwise: str) -> str:
        """Why a part is missing, or what to do to have it."""
        found = self.run.get(name)
        return str(found["missing"]) if isinstance(found, dict) and "missing" in found else otherwise

    @property
    def hierarchies(self) -> Mapping[str, Any]:
        return dict(self.run.get("hierarchies", {}))

    @property
    def sensitive(self) -> str:
        """The sensitive columns by name."""
        return " and ".join(self.run.get("sensitive", [])) or "sensitive value"

    @property
    def guessed(self) -> str:
        """What a guess is about: one of several sensitive columns, unless they are read as one."""
        return self.sensitive if not self.others else " or ".join(self.run["sensitive"])

    @property
    def others(self) -> str:
        """The sensitive columns that count as known where another one is guessed."""
        names = self.run.get("sensitive", [])
        ends = tuple(f" for {name}" for name in names)
        if len(names) < 2 or not any(verdict["requirement"].endswith(ends) for verdict in self.verdicts):
            return ""
        return "the other sensitive column" + ("s" if len(names) > 2 else "")

    @property
    def as_they_are(self) -> Sequence[str]:
        """The insensitive columns, whether they count as known or not."""
        return list((self.run.get("insensitive") or {}).get("columns", ()))

    def story_of(self, verdict: Record) -> str:
        """The worst case in a sentence, and which value it is about, by the number that skylines give it."""
        number = (self.part("value_numbers") or {}).get(verdict["requirement"])
        which = f" The value in question is {self.value_called(verdict, number)}." if number else ""
        return f"{verdict['story']}{which if verdict['story'] else ''}"

    def value_called(self, verdict: Record, number: Sequence[int]) -> str:
        """A value by its number, with the column it is of where several are sensitive."""
        ends = [n for n in self.run.get("sensitive", []) if verdict["requirement"].endswith(f") for {n}")]
        return " of ".join([f"value {number[0]} of {number[1]}", *sorted(ends, key=len)[-1:]])

    @property
    def verdicts(self) -> Sequence[Record]:
        return list(self.run.get("verdicts", []))


@dataclass(frozen=True)
class Section:
    """One section: a heading, what its template needs, its charts, or one line on how to get its data."""

    key: str
    title: str
    short: str  # in the list of contents
    content: Mapping[str, Any] = field(default_factory=dict)
    charts: Sequence[Chart] = ()
    missing: str = ""
    data: Mapping[str, Any] | None = None  # for controls of its own


def names() -> tuple[str, ...]:
    """The sections that there are, in their order."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name not in ORDER)
    return (*ORDER, *found)


def made(material: Material) -> list[Section]:
    """Every section of a report."""
    modules = (importlib.import_module(f"privacy_sql.reporting.sections.{name}") for name in names())
    return [module.section(material) for module in modules]
