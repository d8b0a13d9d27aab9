"""What a search for marginals found, for people and for `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from privacy_sql.display.rounding import shown


@dataclass(frozen=True)
class MarginalResult:
    """The best collection met, and the minimal safe tables that a collection could be injected into.

    Kifer & Gehrke 2006, Sect. 8: the divergence of both, in nats.
    """

    minimise: ClassVar[str] = "kl"
    frontier: ClassVar[tuple[Any, ...]] = ()
    without_frontier: ClassVar[str] = "a collection of marginals is no choice of levels"
    lattice: ClassVar[Mapping[str, Any]] = {}  # collections are no lattice of levels

    name: str
    rows: int
    minimal: tuple[Mapping[str, Any], ...]  # tables: {"levels", "values"}
    best: Mapping[str, Any]  # {"marginals", "values"}
    search: Mapping[str, Any]  # explored, optimal, stopped

    def to_json(self) -> dict[str, Any]:
        """The fields `search --json` adds; how many collections there are is not counted."""
        return {
            "choices": None,
            "safe_choices": None,
            "minimal": [dict(table) for table in self.minimal],
            "minimise": self.minimise,
            "domain": self.search["domain"],
            "best": dict(self.best),
            "optimal": self.search["optimal"],
            "explored": self.search["explored"],
            "stopped": self.search["stopped"],
            "least_kl": self.search["least_kl"],
            "gap": self.gap,
        }

    @property
    def gap(self) -> float:
        """How far the best collection is from proven: no collection leaves so much less divergence."""
        return float(self.best["values"]["kl"] - self.search["least_kl"])

    def __str__(self) -> str:
        lines = [f"{self.name}    {self.search['explored']} collections of marginals looked at"]
        if self.search["stopped"]:
            lines.append(f"stopped     {self.search['stopped']}")
        lines += [
            f"table       {_shown(t['levels'])}    (kl {shown(t['values']['kl'])})" for t in self.minimal
        ]
        proof = "optimal"
        if not self.search["optimal"]:
            proof = f"not proved optimal: none can be below {shown(self.search['least_kl'])}"
        lines.append(f"best        kl {shown(self.best['values']['kl'])}, {proof}")
        return "\n".join([*lines, *(f"  marginal  {_shown(m)}" for m in self.best["marginals"])])


def _shown(levels: Mapping[str, int]) -> str:
    return " ".join(f"{column}={level}" for column, level in levels.items())
