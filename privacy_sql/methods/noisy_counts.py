"""Differentially private histograms: counts in SQL over a public grid, noise from OpenDP, a budget."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privacy_sql import files
from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.counted.levels import labels as labelled
from privacy_sql.counted.levels import unmapped
from privacy_sql.errors import DataError, UsageError, did_you_mean, number_of, raise_all
from privacy_sql.history.ledger import FILE_NAME, Charge, Ledger
from privacy_sql.kernels.composition.consistent_counts import (
    LARGEST_TABLE,
    NoisyMarginal,
    consistent,
    non_negative,
)
from privacy_sql.kernels.composition.noise import Noise, gaussian, laplace
from privacy_sql.methods import Asked, Method, Proposal, check_levels
from privacy_sql.parameters import number_or_refuse
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict, Witness

NEIGHBOURS = ("substitution", "add_remove")
NOISE = ("laplace", "gaussian")
MOST_CELLS = 1_000_000
# far outside these, scales and variances of noise are no floating-point numbers
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**100), Fraction(10**100)
PUBLIC = "public"
BYTES_OF_A_VALUE = 32  # in a published file and in its copy next to the register, together


@dataclass(frozen=True)
class NoisyCounts(Method):
    """Noisy counts of every cell of one histogram, or of several `marginals`, for a loss of `epsilon`.

    ganta2008, Sec. 4 (Def. 10 and Lemma 12). Neighbours differ by substitution, so one person changes a
    histogram by 2 (`add_remove`: by 1), and disjoint cells are not free. The cells are public: they come from
    `domains`, the table's domains or hierarchy files, never from the data. The ledger is charged before the
    noise is drawn. `fitted_count` is the noisy table made consistent and non-negative, which costs nothing.
    It adds up to `total` if one is declared: a number, or `public` for the number of rows in the table.
    Otherwise no total is read from the data, and nothing reveals the number of rows.

    >>> NoisyCounts(epsilon="0.5").neighbours
    'substitution'
    """

    name: ClassVar[str] = "noisy_counts"
    refuses_because: ClassVar[str] = (
        "it publishes no rows: differential privacy is a promise of the noise, kept in the ledger"
    )
    # its guarantee is a promise, so no requirement on rows applies
    promises: ClassVar[bool] = True
    publishes_groups: ClassVar[bool] = False
    spends: ClassVar[bool] = True  # of the privacy budget

    epsilon: str | float | Fraction
    delta: str | float | Fraction = 0
    noise: str = "laplace"
    neighbours: str = "substitution"
    marginals: Sequence[Sequence[str]] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    domains: Mapping[str, Any] = field(default_factory=dict)
    rows_per_person: int = 1
    total: str | int | None = None
    ledger: str = FILE_NAME
    drawn: bool = True

    def __post_init__(self) -> None:
        if self.neighbours not in NEIGHBOURS or self.noise not in NOISE:
            raise UsageError(
                "bad_parameter",
                f"neighbours must be one of {', '.join(NEIGHBOURS)}, and noise one of {', '.join(NOISE)}",
            )
        if not self._epsilon > 0:
            raise UsageError("bad_epsilon", f"epsilon is {self.epsilon}", hint="It must be above 0.")
        if not LEAST_EPSILON <= self._epsilon <= MOST_EPSILON:
            hint = "It must be between 1e-100 and 1e100."
            raise UsageError("bad_epsilon", f"epsilon is {self.epsilon}", hint=hint)
        if (self.noise == "gaussian") != bool(self._delta) or not 0 <= self._delta < 1:
            hint = "Laplace noise needs delta 0, gaussian noise a delta such as 1e-6."
            raise UsageError("bad_delta", f"delta is {self.delta}", hint=hint)
        if self.rows_per_person < 1:
            raise UsageError("bad_parameter", "rows_per_person must be 1 or more")
        number = isinstance(self.total, int) and not isinstance(self.total, bool) and self.total >= 0
        if not (number or self.total in (None, PUBLIC)):
            hint = "Write for example total: 5000, or total: public for the number of rows in the table."
            raise UsageError("bad_parameter", "total must be a whole number or public", hint=hint)

    @property
    def _epsilon(self) -> Fraction:
        return _exact(self.epsilon, "epsilon")

    @property
    def _delta(self) -> Fraction:
        return _exact(self.delta, "delta")

    def within(self, directory: Path) -> NoisyCounts:
        """The same method with its ledger relative to a folder."""
        return replace(self, ledger=str(directory / self.ledger))

    def rehearsed(self) -> NoisyCounts:
        """The same method, which charges nothing, draws nothing and shows no count."""
        return replace(self, drawn=False)

    def refuse_unfit(self, table: Table, asked: Asked) -> None:
        """Refuse requirements on rows, which cannot judge counts."""
        if asked.require:
            named = ", ".join(str(each) for each in asked.require)
            raise UsageError(
                "no_groups",
                f"noisy_counts publishes no rows, so {named} cannot judge it",
                hint="Remove `require`; it has differential privacy, which the ledger accounts for.",
            )
        # what the number of rows reveals about neighbouring tables
        told = ""
        if self.neighbours == "add_remove":
            told = "who is in the table, because under add_remove neighbours differ in their number of rows"
        elif table.where is not None:
            told = "how many rows meet `where:`, which one person may change"
        elif table.values_per_person != "one":
            told = "how many rows the people have, which one person may change"
        if self.total == PUBLIC and told:
            raise UsageError(
                "total_not_public",
                f"total: public would reveal {told}",
                where=table.name,
                hint="Declare a number that everybody may know, such as total: 5000, or remove total.",
            )

    def propose(self, base: Base, asked: Asked) -> Proposal:
        _refuse_repeated(base, self.rows_per_person)
        check_levels(base, {name: level for name, level in self.levels.items() if name in base.aliases})
        grids = self._grids(base)
        # one draw over all cells: a person changes each marginal, so the changes add up
        moves = (2 if self.neighbours == "substitution" else 1) * len(grids)
        if self.noise == "laplace":
            noise = laplace(moves * self.rows_per_person, self._epsilon)
        else:
            noise = gaussian(math.sqrt(moves) * self.rows_per_person, self._epsilon, self._delta)
        cells = [_true_counts(base, grid) for grid in grids] if self.drawn else []
        if self.drawn:
            # what is paid must be written, usually to the disk of the ledger
            room = sum(_size(grid) * (len(grid) + 1) * BYTES_OF_A_VALUE for grid in grids)
            files.refuse_unwritable({Path(self.ledger).parent: room})
        # everything that can be refused has been refused; only the draw is left
        name, ticket = base.table.name, secrets.token_hex(8)
        charge = Charge(name, self._epsilon, self._delta, noise.rho, ticket=ticket)
        if self.drawn:
            Ledger(Path(self.ledger)).charge(charge)
        else:
            Ledger(Path(self.ledger)).refuse_overspent(charge)
        drawn = None
        if self.drawn:
            noisy = noise.draw(np.concatenate(cells))
            drawn = np.split(noisy, np.cumsum([len(each) for each in cells])[:-1])
        fitted = self._fitted(base, grids, drawn, noise) if drawn else None
        view = _view(base, grids, drawn, fitted)
        return Proposal(
            grouping=Grouping.by(base, base.keys({})),
            view=view,
            choice={
                "marginals": [[column.name for column in grid] for grid in grids],
                "levels": dict(self.levels),
                "neighbours": self.neighbours,
                **({} if self.total is None else {"total": self.total}),
            },
            quasi=(),
            rehearsal=not self.drawn,
            claims={
                "differential_privacy": f"epsilon {charge.epsilon}, delta {charge.delta}, {self.neighbours}",
                "noise": f"OpenDP {noise.kind}, scale {noise.scale!r}, sensitivity {noise.sensitivity!r}",
                "ledger": f"charged as {charge.ticket}",
            },
            published=sum(_size(grid) for grid in grids),
            counted=base.rows if self.total == PUBLIC else None,
            promise=lambda: self._promise(noise, charge),
        )

    def _grids(self, base: Base) -> list[list[GridColumn]]:
        """The columns of each marginal with their public domains."""
        known = {**base.aliases, **dict.fromkeys(base.table.sensitives, "s")}
        asked = [list(marginal) for marginal in self.marginals] or [list(known)]
        for name in [name for marginal in asked for name in marginal]:
            if name not in known:
                hint = did_you_mean(name, known)
                raise UsageError("unknown_column", f'marginals: no column "{name}"', hint=hint)
        needed = dict.fromkeys(name for marginal in asked for name in marginal)
        columns = {name: self._column(base, name, known[name]) for name in needed}
        grids = [[columns[name] for name in marginal] for marginal in asked]
        cells = sum(_size(grid) for grid in grids)
        if cells > MOST_CELLS:
            hint = "Publish marginals of fewer columns, or coarser levels."
            raise UsageError(
                "too_many_cells", f"the domains span {cells} cells, more than {MOST_CELLS}", hint=hint
            )
        if found := _outside(base, list(columns.values())):
            guilty = [name for name, column in columns.items() if _outside(base, [column])]
            told = f"{number_of(found, 'row')} outside the declared domain of {' or '.join(guilty)}"
            hint = "Declare a domain with every value that may ever occur."
            raise DataError("outside_domain", told, hint=hint)
        return grids

    def _column(self, base: Base, name: str, alias: str) -> GridColumn:
        level, engine = self.levels.get(name, 0), base.engine
        declared = _domain(self.domains.get(name, (base.table.domains or {}).get(name)), base, name)
        labels, kind = declared, base.declared.get(name, base.table.sensitive_hierarchy)
        if level:
            assert kind is not None
            # the labels of the domain in order; a hierarchy writes others for fractions
            either = dict.fromkeys((kind, kind.for_fractions()))
            able = [each for each in either if all(text is None or each.maps(text) for text in declared)]
            if not able:
                told = f"the hierarchy of {name} does not cover its declared domain"
                raise UsageError("no_domain", told)
            kind = able[0]
            written = [None if text is None else str(kind.label(text, level)) for text in declared]
            labels = list(dict.fromkeys(written))
        domain = engine.load(
            {"place": ("bigint", list(range(len(labels)))), "label": ("varchar", labels)}, "domain"
        )
        relation = base.dictionaries[alias]
        if level and kind is not None:
            # the domain, and no row, says whether bands are written for fractions
            relation = labelled(engine, relation, kind)
            raise_all(unmapped(engine, relation, kind, base.table.name, name))
        shown = engine.create(render("methods/noisy_labels.sql", relation=relation, level=level))
        places = engine.create(render("methods/noisy_codes.sql", labels=shown, domain=domain))
        return GridColumn(name, alias, domain, places, len(labels))

    def _fitted(self, base: Base, grids: list[list[GridColumn]], drawn: list[Any], noise: Noise) -> list[Any]:
        """Consistent and non-negative, from the noisy numbers and public knowledge alone."""
        declared = base.rows if self.total == PUBLIC else self.total
        total = None if declared is None else float(declared)
        order = list(dict.fromkeys(column.name for grid in grids for column in grid))
        sizes = {column.name: column.size for grid in grids for column in grid}
        domain = [sizes[name] for name in order]
        if len(grids) == 1 or math.prod(domain) > LARGEST_TABLE:
            return [non_negative(each, total) for each in drawn]
        marginals = [
            NoisyMarginal(
                tuple(order.index(column.name) for column in grid),
                each.astype(float).reshape([column.size for column in grid]),
                noise.variance,
            )
            for grid, each in zip(grids, drawn, strict=True)
        ]
        return [each.ravel() for each in consistent(marginals, domain, total)]

    def _promise(self, noise: Noise, charge: Charge) -> dict[str, Verdict]:
        """The loss that the measurement's own map promises, safe only if the ledger has the charge."""
        charged = self.drawn and any(
            each.ticket == charge.ticket and each.epsilon >= noise.epsilon
            for each in Ledger(Path(self.ledger)).account().charges
        )
        params: dict[str, Any] = {"epsilon": str(charge.epsilon)}
        if charge.delta:
            params["delta"] = str(charge.delta)
        named = ", ".join(f"{key}={value}" for key, value in params.items())
        story = "The noise comes from OpenDP, and the ledger was charged before it was drawn."
        verdict = Verdict(
            requirement=f"differential_privacy({named})",
            criterion="differential_privacy",
            params=params,
            safe=(charged or not self.drawn) and noise.epsilon <= charge.epsilon,
            value=noise.epsilon,
            limit=charge.epsilon,
            relation="<=",
            witness=Witness({"sensitivity": noise.sensitivity, "scale": noise.scale}),
            story=story if charged else "The ledger does not have the charge.",
        )
        return {verdict.requirement: verdict}


@dataclass(frozen=True)
class GridColumn:
    """One column of a grid: its public domain, and the index of each value in it."""

    name: str
    alias: str
    domain: Sql  # place, label
    places: Sql  # code, place
    size: int


def _size(grid: Sequence[GridColumn]) -> int:
    return math.prod(column.size for column in grid)


def _true_counts(base: Base, grid: Sequence[GridColumn]) -> npt.NDArray[np.int64]:
    columns = [(Sql(column.alias), column.places, column.domain, column.size) for column in grid]
    query = render("methods/noisy_grid.sql", base=base.relation, columns=columns)
    return base.engine.arrays(query)["n_rows"].astype(np.int64)


def _refuse_repeated(base: Base, allowed: int) -> None:
    """Refuse more rows per person than declared."""
    identifier = base.table.identifier
    if base.table.values_per_person == "one":
        return
    assert identifier is not None
    query = render("methods/rows_per_person.sql", source=base.source, identifier=identifier)
    most = base.engine.fetch(query)[0]["most"]
    if most > allowed:
        hint = "Declare the most rows a person may ever have with rows_per_person."
        raise DataError("repeated_person", f"a person has more than {number_of(allowed, 'row')}", hint=hint)


def _domain(declared: object, base: Base, name: str) -> list[str | None]:
    """The public values of a column in order: declared, or those of its hierarchy file."""
    kind = base.declared.get(name, base.table.sensitive_hierarchy)
    values: list[Any] = [] if declared is not None or kind is None else list(kind.leaves())
    if isinstance(declared, Mapping) and set(declared) == {"from", "to"}:
        values = list(range(int(declared["from"]), int(declared["to"]) + 1))
    elif isinstance(declared, Sequence) and not isinstance(declared, str) and declared:
        values = list(declared)
    elif not values:
        hint = f"Write for example domains: {{{name}: [a, b, c]}} or {{{name}: {{from: 0, to: 120}}}}."
        raise UsageError("no_domain", f"{name} has no declared domain", where="noisy_counts", hint=hint)
    # CSV can write NULL only as an empty cell
    texts = [None if value is None or value == "" else str(value) for value in values]
    if len(set(texts)) < len(texts):
        raise UsageError("bad_domain", f"the domain of {name} names a value twice")
    return texts


def _outside(base: Base, columns: Sequence[GridColumn]) -> int:
    """How many rows have a value outside the public domain of one of these columns."""
    places = [(Sql(column.alias), column.places) for column in columns]
    asked = render("methods/noisy_outside.sql", base=base.relation, columns=places)
    return int(base.engine.fetch(asked)[0]["n_rows"])


def _view(
    base: Base, grids: Sequence[Sequence[GridColumn]], drawn: list[Any] | None, fitted: list[Any] | None
) -> Query:
    names = list(dict.fromkeys(column.name for grid in grids for column in grid))
    marginals = []
    for number, grid in enumerate(grids):
        noisy = drawn[number].tolist() if drawn else []
        near = fitted[number].tolist() if fitted else []
        loaded = {
            "cell": ("bigint", list(range(len(noisy)))),
            "noisy": ("bigint", noisy),
            "fitted": ("double", near),
        }
        # the last column varies fastest, as in the order of the grid
        steps = {column.name: _size(grid[place + 1 :]) for place, column in enumerate(grid)}
        domains = {column.name: column.domain for column in grid}
        shown = [(name, domains.get(name), steps.get(name, 1)) for name in names]
        marginals.append((number + 1, base.engine.load(loaded, "noisy"), shown))
    return render("methods/noisy_counts.sql", marginals=marginals)


def _exact(value: object, name: str) -> Fraction:
    return number_or_refuse(value, UsageError(f"bad_{name}", f"{name} of noisy_counts is not a number"))
