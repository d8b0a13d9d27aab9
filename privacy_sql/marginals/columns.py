"""The columns of marginals, at their levels, and what can be wrong with a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from privacy_sql.errors import PrivacySqlError, UsageError, did_you_mean, raise_all
from privacy_sql.kernels.marginals.junction_tree import Resolutions
from privacy_sql.query.template import Sql

if TYPE_CHECKING:
    from privacy_sql.table import Table

Levels = Mapping[str, int]
Shown = Levels | Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Attributes:
    """The columns of marginals: quasi-identifiers, then the sensitive column."""

    names: tuple[str, ...]
    aliases: tuple[str, ...]  # q1, q2, ..., s
    finest: Resolutions  # the resolution of the raw value; 0 is "not in the marginal"
    sensitive: int | None

    @classmethod
    def of(cls, table: Table) -> Attributes:
        """The attributes of a table with at most one sensitive column."""
        if table.values_per_person != "one":
            hint = "Publish by generalise or full_domain, or keep one row per person."
            raise UsageError(
                "several_values",
                "marginals count rows, but a person may have several rows here",
                where=table.name,
                hint=hint,
            )
        if table.group:
            raise UsageError("grouped_table", f"marginals need columns, not the groups of {table.group}")
        if len(table.sensitives) > 1:
            raise UsageError(
                "several_sensitive", "marginals can be judged for one sensitive column only", where=table.name
            )
        names = (*table.hierarchies, *table.sensitives)
        # an unchanged column can still be left out, so it has two resolutions as well
        finest = tuple(max(kind.height, 1) for kind in table.hierarchies.values())
        return cls(
            names,
            (*(f"q{n}" for n, _ in enumerate(table.hierarchies, start=1)), *("s" for _ in table.sensitives)),
            (*finest, *(1 for _ in table.sensitives)),
            len(names) - 1 if table.sensitives else None,
        )

    def resolutions(self, levels: Levels) -> Resolutions:
        """A marginal's resolutions, from its levels."""
        return tuple(
            finest - min(levels.get(name, finest), finest)
            for name, finest in zip(self.names, self.finest, strict=True)
        )

    def levels(self, resolutions: Resolutions) -> dict[str, int]:
        """The levels of the attributes a marginal shows."""
        return {
            name: finest - r
            for name, finest, r in zip(self.names, self.finest, resolutions, strict=True)
            if r
        }

    def as_in(self, other: Attributes, resolutions: Resolutions) -> Resolutions:
        """The same marginal with its columns in another order, for another sensitive column."""
        shown = dict(zip(other.names, resolutions, strict=True))
        return tuple(shown[name] for name in self.names)

    def columns(self, resolutions: Resolutions) -> list[Sql]:
        """The code columns of a marginal or separator, the sensitive value last."""
        return [
            Sql("s") if a == self.sensitive else Sql(f"{self.aliases[a]}_{self.finest[a] - r}")
            for a, r in enumerate(resolutions)
            if r
        ]

    def levels_beside(self, a: int, r: int, chosen: Sequence[Resolutions]) -> list[int]:
        """The levels of an attribute in a marginal: its own, and the coarser ones that others use."""
        used = sorted({m[a] for m in chosen if 0 < m[a] < r} | ({r} if r else set()), reverse=True)
        return [self.finest[a] - resolution for resolution in used]

    def without_sensitive(self, resolutions: Resolutions) -> Resolutions:
        """The same marginal with the sensitive value summed out."""
        return tuple(0 if a == self.sensitive else r for a, r in enumerate(resolutions))


def published(attributes: Attributes, collection: Sequence[Shown]) -> tuple[Resolutions, ...]:
    """The resolutions of every marginal; one error names everything that is wrong with the collection."""
    named = [_named(levels, number) for number, levels in enumerate(collection, start=1)]
    raise_all([problem for n, m in enumerate(named, start=1) for problem in _problems(m, attributes, n)])
    if not named:
        raise UsageError(
            "empty_collection", "the collection has no marginals", hint="Name at least one marginal."
        )
    return tuple(attributes.resolutions(levels) for levels in named)


def _named(levels: Shown, number: int) -> Levels:
    given = list(levels.items()) if isinstance(levels, Mapping) else list(levels)
    if any(isinstance(pair, str) or len(pair) != 2 for pair in given):
        hint = 'For example {"age": 1, "sex": 0}; level 0 shows the values unchanged.'
        raise UsageError("bad_marginal", f"marginal {number} must name the level of each column", hint=hint)
    pairs = [(str(name), level) for name, level in given]  # a column name may be 5
    twice = sorted({name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1})
    if twice:
        raise UsageError(
            "two_levels",
            f"marginal {number} shows {', '.join(twice)} at two levels",
            hint="Use the finer one; the coarser one is implied.",
        )
    return dict(pairs)


def _problems(levels: Levels, attributes: Attributes, number: int) -> list[PrivacySqlError]:
    """What is wrong with one marginal: unknown columns, levels that do not exist, nothing shown."""
    heights = dict(zip(attributes.names, attributes.finest, strict=True))
    found: list[PrivacySqlError] = [
        UsageError(
            "unknown_column",
            f'marginal {number}: "{name}" is neither a quasi-identifier nor the sensitive column',
            hint=did_you_mean(name, heights),
        )
        for name in levels
        if name not in heights
    ]
    for name, level in levels.items():
        height = heights.get(name)
        whole = isinstance(level, int) and not isinstance(level, bool)
        if height is not None and not (whole and 0 <= level <= height):
            found.append(UsageError("no_level", f"marginal {number}: {name} has the levels 0 to {height}"))
    if not found and not any(attributes.resolutions(levels)):
        found.append(UsageError("empty_marginal", f"marginal {number} shows no column", hint="Leave it out."))
    return found
