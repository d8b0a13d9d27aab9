"""Verdict: safe or not, how close, and what the worst adversary knows."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from privacy_sql.display import notebook
from privacy_sql.display.rounding import MOST_DIGITS, as_float, rounded
from privacy_sql.display.rounding import Number as Number
from privacy_sql.display.rounding import as_asked as as_asked
from privacy_sql.display.rounding import shown as shown

# Without an exact form, a value this close to its limit is not safe (rounding cannot decide).
TOLERANCE = 1e-9
LONGEST = 14_000  # bits of a denominator: Python writes no integer of more than 4300 digits


class Witness(Mapping[str, Any]):
    """What the worst adversary uses: group number, size, counts and ranks, but never names of values.

    `reveal()` reads the published keys and sensitive values for these numbers from the engine; its result is
    internal. The private part is not in the mapping and never printed.
    """

    def __init__(self, facts: Mapping[str, Any], private: Mapping[str, Any] | None = None) -> None:
        self._facts = dict(facts)
        self.private = dict(private or {})
        self._reveal: Callable[[Witness], Mapping[str, Any]] | None = None

    def __getitem__(self, key: str) -> Any:
        return self._facts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return f"Witness({self._facts!r})"

    def revealed_by(self, reveal: Callable[[Witness], Mapping[str, Any]], **facts: object) -> Witness:
        """The same witness with more facts and with access to its names."""
        made = Witness({**facts, **self._facts}, self.private)
        made._reveal = reveal
        return made

    def reveal(self) -> Mapping[str, Any]:
        """INTERNAL: the facts with their published keys and sensitive values."""
        return {**self._facts, **(self._reveal(self) if self._reveal else {})}


@dataclass(frozen=True)
class Verdict:
    """One requirement, judged: `value` stands in `relation` to `limit`, or it is not safe."""

    requirement: str
    criterion: str
    params: Mapping[str, Any]
    safe: bool
    value: Number | None
    limit: Number | None
    relation: str
    exact: bool = True
    witness: Witness = field(default_factory=lambda: Witness({}))
    story: str = ""
    notes: tuple[str, ...] = ()
    # results for single points or values, for criteria with several limits
    points: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return self.safe

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was ignored and may be a mistake."""
        return self.notes

    @property
    def danger(self) -> float:
        """A number that grows with the risk; a risk without a value is above all others."""
        if self.value is None:
            return math.inf
        return -float(self.value) if self.relation.startswith(">") else float(self.value)

    @property
    def estimated_groups(self) -> int:
        """Groups whose contribution is an estimate and not a bound."""
        return int(self.witness.get("estimated_groups", 0))

    def explain(self) -> str:
        """One or two plain sentences: the requirement, the result, and the worst case."""
        word = "holds" if self.safe else "does NOT hold"
        found = (
            "is unbounded or undefined"
            if self.value is None
            else f"is {shown(self.value, beside=self.limit)}"
        )
        need = f", and must be {self.relation} {as_asked(self.limit)}" if self.limit is not None else ""
        parts = [f"{self.requirement} {word}: its value {found}{need}.", self.story, *self.notes]
        return " ".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        """The verdict in a notebook; shows no values of the data."""
        return notebook.table(
            self.requirement,
            ["value", "limit", "verdict"],
            [[*measured(self), notebook.word(self.safe)]],
            [self.story, *self.notes],
        )

    def to_json(self) -> dict[str, Any]:
        """The entry of `verdicts` under `--json`; NaN and Infinity never appear."""
        return {
            "requirement": self.requirement,
            "criterion": self.criterion,
            "params": dict(self.params),
            "safe": self.safe,
            "value": exact_text(self.value, up=self.relation in ("<", "<=")) if self.exact else None,
            "value_float": finite(self.value),
            "limit": exact_text(self.limit),
            "relation": self.relation,
            "exact": self.exact,
            "witness": dict(self.witness),
        }


def exact_text(number: Number | None, *, up: bool = True) -> str | None:
    """A number as exact text; one that nobody can read, and Python does not write, is rounded up or down.

    >>> from fractions import Fraction
    >>> exact_text(Fraction(2, 3)), exact_text(5), exact_text(None)
    ('2/3', '5', None)
    >>> exact_text(Fraction(1, 3**10_000)), exact_text(1 - Fraction(1, 3**10_000), up=False)[:9]
    ('6.1298917239524146E-4772', '0.9999999')
    """
    if number is None or (isinstance(number, float) and not math.isfinite(number)):
        return None
    if isinstance(number, Fraction) and number.denominator.bit_length() > LONGEST:
        return rounded(number, MOST_DIGITS, up=up)
    return str(number)


def finite(number: Number | None) -> float | None:
    """A number as a float for JSON; None if unbounded or undefined."""
    if number is None:
        return None
    value = as_float(number)
    return value if math.isfinite(value) else None


def measured(verdict: Verdict) -> tuple[str, str]:
    """The value and the limit of a verdict for people."""
    limit = f"{verdict.relation} {as_asked(verdict.limit)}" if verdict.limit is not None else ""
    return shown(verdict.value, beside=verdict.limit), limit


COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


def holds(value: Number | None, relation: str, limit: Number) -> bool:
    """Whether the value is within its limit; floats must exceed the tolerance.

    >>> from fractions import Fraction
    >>> holds(Fraction(3, 5), "<", Fraction("0.6")), holds(0.6 - 1e-12, "<", Fraction("0.6"))
    (False, False)
    >>> holds(float("nan"), "<=", 1), holds(None, "<=", 1), holds(5, ">=", 5)
    (False, False, True)
    """
    if value is None:
        return False
    if not isinstance(value, float):
        return COMPARE[relation](value, limit)
    if not math.isfinite(value) or abs(value - float(limit)) < TOLERANCE:
        return False
    return COMPARE[relation](value, float(limit))
