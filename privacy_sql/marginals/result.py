"""What a search for marginals found, for people and for `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.display.levels import choice
from privacy_sql.display.rounding import shown
from privacy_sql.errors import number_of

if TYPE_CHECKING:
    import pandas as pd

FLAGS = ("best", "minimal", "kl")  # the columns of a frame beside the levels


@dataclass(frozen=True)
class MarginalResult:
    """The best collection found, and the minimal safe tables that a collection could be injected into.

    Kifer & Gehrke 2006, Sect. 8, with the divergence of both in nats.
    """

    minimise: ClassVar[str] = "kl"
    frontier: ClassVar[tuple[Any, ...]] = ()
    without_frontier: ClassVar[str] = "a collection of marginals is not a choice of levels"
    lattice: ClassVar[Mapping[str, Any]] = {}  # collections do not form a lattice of levels
    # counts of cells put nobody in a group
    baseline: ClassVar[None] = None
    refusal: ClassVar[None] = None

    name: str
    rows: int
    minimal: tuple[Mapping[str, Any], ...]  # tables: {"levels", "values"}
    best: Mapping[str, Any]  # {"marginals", "values"}
    search: Mapping[str, Any]  # explored, optimal, stopped
    # the levels of each column, to describe them in words
    hierarchies: Mapping[str, Mapping[str, object]] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The fields that `search --json` adds; the number of collections is not counted."""
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
        """How far the best collection may be from the optimum."""
        return float(self.best["values"]["kl"] - self.search["least_kl"])

    def in_words(self, levels: Mapping[str, int]) -> str:
        """The columns of a marginal, each with how it is shown."""
        return choice(levels, self.hierarchies)

    def to_frame(self) -> pd.DataFrame:
        """One row per table: the level of each column (empty if it is not shown) and its divergence.

        First the marginals of the best collection, each with the divergence of the whole collection.
        """
        import pandas

        best = {"best": True, "minimal": False, "kl": self.best["values"]["kl"]}
        rows = [{**levels, **best} for levels in self.best["marginals"]]
        rows += [
            {**table["levels"], "best": False, "minimal": True, "kl": table["values"]["kl"]}
            for table in self.minimal
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        columns = [*(name for name in names if name not in FLAGS), *FLAGS]
        levels = {name: "Int64" for name in columns if name not in FLAGS}
        return pandas.DataFrame(rows, columns=columns).astype(levels)

    def __str__(self) -> str:
        measured = number_of(self.search["explored"], "collection")
        lines = [f"{self.name}    {measured} of marginals measured"]
        if self.search["stopped"]:
            lines.append(f"stopped     {self.search['stopped']}")
        lines += [
            f"table       {self.in_words(t['levels'])}    (kl {shown(t['values']['kl'])})"
            for t in self.minimal
        ]
        proof = "optimal"
        if not self.search["optimal"]:
            proof = f"not proved optimal; none can be below {shown(self.search['least_kl'])}"
        lines.append(f"best        kl {shown(self.best['values']['kl'])}, {proof}")
        return "\n".join([*lines, *(f"  marginal  {self.in_words(m)}" for m in self.best["marginals"])])
