"""Published marginals as views: the names of their columns, and the maximum-entropy table as a join."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_sql.errors import UsageError
from privacy_sql.history.described import CELL_ROWS
from privacy_sql.kernels.marginals.junction_tree import Resolutions, is_decomposable, junction_tree
from privacy_sql.marginals.columns import Attributes
from privacy_sql.query.template import Query, quote, render

COUNT = CELL_ROWS


def published_columns(
    attributes: Attributes, published: Sequence[Resolutions], marginal: Resolutions
) -> dict[str, tuple[int, int]]:
    """The columns of a published marginal: name -> attribute and level, with the coarser levels of others.

    A column with one level in the whole collection keeps its name. With several, the level is added, so that
    analysts can join marginals on the columns they share.
    """
    found = {}
    for a, r in enumerate(marginal):
        levels = [0] if a == attributes.sensitive and r else attributes.levels_beside(a, r, published)
        several = len({m[a] for m in published if m[a]}) > 1
        for level in levels:
            name = attributes.names[a]
            found[f"{name}_level_{level}" if several else name] = (a, level)
    return found


def maximum_entropy(
    attributes: Attributes, published: Sequence[Resolutions], relations: Sequence[str]
) -> Query:
    """The maximum-entropy table as one SELECT that joins published marginals over their separators.

    `relations` are their names, in the order of `published`; no marginal may contain another. Only
    decomposable collections have this closed form.
    """
    if not is_decomposable(published):
        hint = "Publish a decomposable collection."
        raise UsageError("not_decomposable", "these marginals have no closed form", hint=hint)
    if len(relations) != len(published):
        raise UsageError("bad_relations", f"expected the names of {len(published)} marginals")
    named = dict(zip(published, relations, strict=True))
    tree = junction_tree(published)
    columns = [published_columns(attributes, published, branch.clique) for branch in tree]
    first: dict[str, int] = {}
    for part, names in enumerate(columns, start=1):
        for name in names:
            first.setdefault(name, part)
    parts = []
    for branch, names_of in zip(tree, columns, strict=True):
        # of what a marginal shares with its parent the finest level of each column is enough
        levels = attributes.levels(branch.separator)
        shared = [name for name, (a, level) in names_of.items() if levels.get(attributes.names[a]) == level]
        parts.append((quote(named[branch.clique]), (branch.parent or 0) + 1, shared))
    return render(
        "marginals/maximum_entropy.sql",
        parts=parts,
        shown=list(first.items()),
        count=COUNT,
    )
