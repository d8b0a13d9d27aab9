"""Interval disclosure: in no group do too many people have nearly the same value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql import registry
from privacy_sql.beliefs.resemblance import is_span
from privacy_sql.criteria import Criterion, Exact, Row, exact, one_of
from privacy_sql.criteria._on_arrays import ByFormula, Formula
from privacy_sql.errors import DataError, UsageError, number_of, people
from privacy_sql.hierarchies.base import text_of
from privacy_sql.hierarchies.numeric import NUMBER
from privacy_sql.kernels import near_values
from privacy_sql.query.template import names, render
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping
    from privacy_sql.counted.groups import Groups
    from privacy_sql.engines import Columns
    from privacy_sql.table import Table

DISTANCES = ("absolute", "relative", "matrix", "hierarchical")
# other widths that a report compares: parts of the domain, or multiples of the required one
PARTS = ("0", "1/100", "2/100", "5/100", "1/10")
TIMES = ("0", "1/4", "1/2", "1", "2", "4")
# the most pairs of a value and a ball around it, over all groups, that a matrix may give
MOST_PAIRS = 10**7
# the most counts of groups and values to fetch as arrays
MOST_COUNTS = 5 * 10**6


@dataclass(frozen=True)
class IntervalDisclosure(ByFormula):
    """No group has more than `share` of its people in one set of near values; `value` is the largest share.

    The l-diversity of martin2007, Sec. 1 treats near values as different. `distance` defines near values
    without looking at the table:

    - absolute: numbers at most `width` apart, so `width` is the diameter of the set
    - relative: numbers of one sign, the largest at most 1 + width times the smallest; zero with zero only
    - matrix: values at most `width` from one value of the column's distance matrix, whether it occurs or not
    - hierarchical: values under one node whose level over the height is at most `width`

    People without a value form one more set. At width 0 this is the probabilistic l_diversity of numbers. It
    differs from (e,m)-anonymity (Li, Tao and Xiao 2008), whose sets are around the group's own values, so
    that a merged group can be worse than both parts.
    """

    name: ClassVar[str] = "interval_disclosure"
    question: ClassVar[str] = "Can somebody guess nearly the right value?"
    against: ClassVar[str] = (
        "somebody who has found a person's group and needs only a value near the true one"
    )
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<="
    safe_under_merging: ClassVar[bool] = True
    safe_under_suppression: ClassVar[bool] = True

    width: Exact
    share: Exact
    distance: str = "absolute"

    def __post_init__(self) -> None:
        exact(self.width, self.name, "width", 0)
        one_of(self.distance, DISTANCES, self.name, "distance")
        if not 0 < exact(self.share, self.name, "share", 0, 1) < 1:
            hint = "At 1 no table can fail, and at 0 every table fails."
            raise UsageError("bad_parameter", f"share of {self.name} must be between 0 and 1", hint=hint)
        if self.distance == "hierarchical" and self._width > 1:
            hint = "It is a level over the height: 0.5 is half-way up, and at 1 all values are near."
            told = f"width of {self.name} is at most 1 with distance=hierarchical"
            raise UsageError("bad_parameter", told, hint=hint)

    @property
    def needs_one_value(self) -> bool:
        return True

    @property
    def slider(self) -> str:
        return "share"

    @property
    def limit(self) -> Fraction:
        return Fraction(str(self.share))

    @property
    def _width(self) -> Fraction:
        return Fraction(str(self.width))

    def necessary(self) -> Sequence[Criterion]:
        """Each person's own value is a set of near values, with a share of at least 1/n among n people."""
        return (registry.get("criteria", "k_anonymity")(ceil(1 / self.limit)),)

    def at_widths(self, table: Table) -> Mapping[Fraction, Criterion]:
        """Every level of a hierarchy, parts of the declared domain, or else parts and multiples of it."""
        own = Fraction(str(self.width))
        domain = (table.domains or {}).get(table.sensitives[0])
        if self.distance == "hierarchical":
            height = table.sensitive_hierarchy.height
            found = [Fraction(level, height) for level in range(height + 1)]
        elif self.distance == "absolute" and is_span(domain):
            low, high = (Fraction(str(end)) for end in domain)
            found = [Fraction(part) * (high - low) for part in PARTS]
        else:
            found = [Fraction(times) * own for times in TIMES]
        return {width: replace(self, width=width) for width in sorted({own, *found})}

    def context(self) -> dict[str, Any]:
        return {"distance": self.distance}

    def tables(self, base: Base) -> Mapping[str, Columns]:
        if self.distance == "matrix":
            pairs = [(centre, code) for centre, ball in enumerate(self._balls(base)) for code in ball]
            centres, codes_of_balls = [centre for centre, _ in pairs], [code for _, code in pairs]
            return {"balls": {"centre": ("bigint", centres), "code": ("bigint", codes_of_balls)}}
        codes, line = self._line(base)
        bins = near_values.bins(line)
        columns: dict[str, Sequence[int]] = {
            "code": codes,
            "place": line.place.tolist(),
            "upto": line.upto.tolist(),
            # two neighbouring bins are together in one of these
            "bins": [number // 2 for number in bins],
            "shifted_bins": [(number + 1) // 2 for number in bins],
            "is_second": [number % 2 for number in bins],
        }
        return {"near": {name: ("bigint", column) for name, column in columns.items()}}

    def gather(self, grouping: Grouping) -> list[Row] | None:
        """Count the windows on arrays, which takes half the time of sorting all counts in SQL.

        The template counts balls, and windows with too many counts for memory; a matrix with too many pairs
        is refused.
        """
        base = grouping.base
        if self.distance != "matrix" and base.combinations <= MOST_COUNTS:
            from privacy_sql.criteria import _near

            columns = names(["g", "s", "n_rows"])
            counts = base.engine.arrays(
                render("counted/listed.sql", relation=grouping.histogram, columns=columns)
            )
            return _near.fullest_of_kinds(counts["g"], counts["s"], counts["n_rows"], *self._line(base))
        if self.distance == "matrix" and self._n_pairs(grouping.base) * grouping.n_groups > MOST_PAIRS:
            raise UsageError(
                "too_many_pairs",
                f"{self} compares {number_of(self._n_pairs(grouping.base), 'pair')} of near values in each of"
                f" {number_of(grouping.n_groups, 'group')}, which is too many",
                where=grouping.base.table.name,
                hint="Use a smaller width, coarser groups, or distance=hierarchical.",
            )
        return None

    # -- which values are near ------------------------------------------------------------------------------

    def _line(self, base: Base) -> tuple[Sequence[int], near_values.ValueLine]:
        """The codes of the values, and what is near each."""

        def make() -> tuple[Sequence[int], near_values.ValueLine]:
            if self.distance == "hierarchical":  # by their labels at the highest level within the width
                codes = base.sensitive_codes
                height = base.table.sensitive_hierarchy.height
                level = min(height, int(self._width * height))
                columns = names(["code", f"c{level}"])
                query = render("counted/listed.sql", relation=codes, columns=columns)
                rows = base.engine.fetch(query)
                labels = [row[f"c{level}"] if row["code"] else None for row in rows]
                return [row["code"] for row in rows], near_values.by_label(labels)
            found = self._values(base)
            numbers = self._numbers(base, list(found.values()))
            relative = self.distance == "relative"
            return list(found), near_values.by_number(numbers, self._width, relative=relative)

        key = "interval_disclosure", self.distance, self._width
        return base.memory.once(key, make)

    def _values(self, base: Base) -> dict[int, str | None]:
        """The values by code, as text: 0.7 is 0.7 in single precision, too."""
        query = render("criteria/value_texts.sql", values=base.dictionaries["s"])
        return {row["code"]: row["value"] for row in base.engine.fetch(query)}

    def _numbers(self, base: Base, texts: Sequence[str | None]) -> list[Decimal | None]:
        """The values as the exact numbers of their text."""
        numbers = [None if text is None or not NUMBER.fullmatch(text) else Decimal(text) for text in texts]
        stray = sum(text is not None and n is None for text, n in zip(texts, numbers, strict=True))
        known = {number for number in numbers if number is not None}
        blurred = len(known) - len({float(number) for number in known})
        for count, code, reason in (
            (stray, "unmapped_value", "are not numbers"),
            (blurred, "blurred_value", "have more digits than a double can hold"),
        ):
            if count:
                raise DataError(
                    code,
                    f"{number_of(count, 'sensitive value')} {reason}, so near values are unknown",
                    where=base.table.name,
                    hint="Use distance=hierarchical, or exclude those rows with `where:`.",
                )
        return numbers

    def _balls(self, base: Base) -> list[frozenset[int]]:
        """The codes of the values in each ball around a value of the matrix, without repeated balls."""

        def made() -> list[frozenset[int]]:
            from privacy_sql.beliefs.resemblance import read_matrix

            name = base.table.sensitives[0]
            matrix = (base.table.distances or {}).get(name)
            if matrix is None:
                hint = f"Give {name} a distance matrix in its entry: `distance: {{file: FILE}}`."
                raise UsageError("no_matrix", f"{self} needs distances, but {name} has none", hint=hint)
            found = self._values(base)
            named, cells = read_matrix(matrix, [value for value in found.values() if value is not None], name)
            column = {text_of(value): place for place, value in enumerate(named)}
            places = {code: column.get(value) for code, value in found.items() if value is not None}
            strangers = sum(place is None for place in places.values())
            if strangers:
                raise DataError(
                    "unmapped_value",
                    f"the distance matrix of {name} does not cover {number_of(strangers, 'value')}",
                    where=name,
                    hint="Add a row and a column for each.",
                )
            width = self._width
            balls = (
                frozenset(code for code, place in places.items() if place is not None and row[place] <= width)
                for row in cells
            )
            missing = frozenset(code for code, value in found.items() if value is None)
            return [ball for ball in dict.fromkeys([*balls, missing]) if ball]

        return base.memory.once(("balls", self._width), made)

    def _n_pairs(self, base: Base) -> int:
        return sum(map(len, self._balls(base)))

    # -- decided ---------------------------------------------------------------------------------------------

    def fits(self, base: Base) -> bool:
        return self.distance != "matrix" or self._n_pairs(base) * base.combinations <= MOST_PAIRS

    def formulas(self, groups: Groups) -> Sequence[Formula]:
        from privacy_sql.criteria import _near

        assert groups.values is not None
        base = groups.values.base
        if self.distance == "matrix":
            near = _near.fullest_ball(groups, self._balls(base))
        else:
            codes, line = self._line(base)
            near = _near.fullest_window(groups, codes, line)
        return [Formula(near, groups.people, "<=", self.limit)]

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The group with the largest share of people who have near values decides.

        >>> row = {"n_people": 6, "n_near": 6, "n_values": 6, "low": 1, "high": 6, "g": 7}
        >>> IntervalDisclosure(5, "1/2").judge([row]).value
        Fraction(1, 1)
        """
        if not evidence:
            return self.verdict(None, Witness({}))
        worst = max(evidence, key=lambda row: Fraction(row["n_near"], row["n_people"]))
        facts = {
            "size": worst["n_people"],
            "count": worst["n_near"],
            "values": worst["n_values"],
            "width": str(self.width),
        }
        missing = worst["high"] == 0
        private = {"g": worst["g"]}
        if not missing and self.distance in ("absolute", "relative"):
            private["ends"] = (worst["low"], worst["high"])
        near = f"{worst['n_near']} of {people(worst['n_people'])}"
        alike = {
            "absolute": f"a value within {self.width} of each other",
            "relative": f"values of which the largest is at most 1 + {self.width} times the smallest",
            "matrix": f"a value within {self.width} of the same value",
            "hierarchical": f"values under one label, at most {self.width} of the height up",
        }[self.distance]
        story = f"In the worst group {near} have {'no value' if missing else alike}."
        return self.verdict(Fraction(worst["n_near"], worst["n_people"]), Witness(facts, private), story)

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        """The groups of every failing row: one group, or all that are equal."""
        broken = [row for row in evidence if not self.judge([row]).safe]
        return sorted(int(g) for row in broken for g in row.get("groups", [row["g"]]))
