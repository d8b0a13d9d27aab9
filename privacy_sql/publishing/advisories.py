"""The advisories of SECURITY.md that affect a release, as far as its manifest shows.

These are only faults that published rows cannot show; everything else is judged again from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privacy_sql.manifest import Manifest


@dataclass(frozen=True)
class Advisory:
    """A fault of an earlier version, by its name in SECURITY.md."""

    name: str
    sentence: str
    concerns: Callable[[Manifest], bool]


def _asked(content: Manifest, *criteria: str) -> bool:
    return any(verdict.criterion in criteria for verdict in content.verdicts)


def _several(content: Manifest) -> bool:
    return content.values_per_person != "one"


ADVISORIES = (
    Advisory(
        "PS-2026-01",
        "its noisy counts add up to the exact number of rows, whatever epsilon is",
        lambda it: it.method == "noisy_counts" and (it.where is not None or _several(it)),
    ),
    Advisory(
        "PS-2026-02",
        "composition was judged by rules that left people out (PS-2026-02 to 08, 23 and 24)",
        lambda it: _asked(it, "composition"),
    ),
    Advisory(
        "PS-2026-10",
        "a value that a person has twice was judged once and published twice",
        lambda it: it.values_per_person == "set",
    ),
    Advisory(
        "PS-2026-11",
        "it shows how many values each person has",
        lambda it: _several(it) and it.method not in ("marginals", "noisy_counts"),
    ),
    Advisory(
        "PS-2026-12",
        "k_combinatorial counted rows instead of people",
        lambda it: _several(it) and _asked(it, "k_combinatorial"),
    ),
    Advisory(
        "PS-2026-13",
        "the population was not filtered, or people outside a hierarchy counted as fitting",
        lambda it: _asked(it, "k_map", "delta_presence"),
    ),
    Advisory(
        "PS-2026-19",
        "its insensitive columns are published unchanged, and with several values per person nobody counted"
        " whom they single out",
        lambda it: _several(it) and "insensitive" in it.roles.values(),
    ),
)
# faults outside the published rows: the release itself may stay
LEAKS = (
    Advisory(
        "PS-2026-27",
        "its manifest has unrounded numbers about suppressed people; replace it by that of a new run",
        lambda it: bool({"values", "steps", "explored", "safe_choices"} & set(it.search or ())),
    ),
)


def about(content: Manifest, known: Sequence[Advisory] = ADVISORIES) -> list[Advisory]:
    """The advisories about a release of an earlier version."""
    if not content.versions.privacy_sql.startswith("0.1."):
        return []
    return [advisory for advisory in known if advisory.concerns(content)]
