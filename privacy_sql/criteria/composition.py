"""Composition: what a release reveals together with earlier releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from privacy_sql.attacks.intersection_summary import Findings, Others
from privacy_sql.counted.base import OUT, Base
from privacy_sql.criteria import Exact, JoinedMarginals, Row, Splits, exact
from privacy_sql.criteria._in_marginals import InMarginals
from privacy_sql.errors import DataError, UsageError, people
from privacy_sql.history.described import Description
from privacy_sql.history.register import FILE_NAME, Out, Register, as_published, registered
from privacy_sql.query.template import render
from privacy_sql.verdict import Verdict, Witness

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Grouping, Together


@dataclass(frozen=True)
class Composition(InMarginals):
    """At most a share `max_exposed` of people reach confidence `at` when this release joins those in `with`.

    ganta2008, Sec. 2.1 (Algorithm 1 and Def. 9): a person in several releases can only have values that all
    of them allow. A release without a group for a person says nothing about them. If releases contradict each
    other about a person, those that agree and allow the fewest values count, so one more release never makes
    it safer. `with` lists registered releases by name, manifests or descriptions, or is `register` for all
    registered releases. The people are those of the population if there is one (the people known to be in
    several releases), and otherwise everybody in the table. Merging and suppression may both break it, so a
    search tries every choice.
    """

    name: ClassVar[str] = "composition"
    question: ClassVar[str] = "Who is exposed by this release together with earlier ones?"
    against: ClassVar[str] = "somebody who also has the other releases named here, and no others"
    unit: ClassVar[str] = "share"
    relation: ClassVar[str] = "<="
    needs_base: ClassVar[bool] = True
    needs_register: ClassVar[bool] = True

    with_: str | Sequence[Any]
    at: Exact = 1
    max_exposed: Exact = 0
    register: str = FILE_NAME

    def __post_init__(self) -> None:
        if not self.with_:
            raise UsageError("bad_parameter", "with of composition must name at least one release")
        if not self._level:
            raise UsageError("bad_parameter", "at of composition must be a confidence above 0")
        exact(self.max_exposed, self.name, "max_exposed", 0, 1)

    @property
    def cannot_fail(self) -> bool:
        return Fraction(str(self.max_exposed)) == 1

    def within(self, directory: Path) -> Composition:
        """The same requirement with its files relative to a folder."""
        named = (
            self.with_ if isinstance(self.with_, str) else [_below(each, directory) for each in self.with_]
        )
        return replace(self, with_=named, register=str(directory / self.register))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as the user wrote them; releases by name."""
        given = [self.with_] if isinstance(self.with_, str) else self.with_
        named = [
            str(each.get("name", f"release {number}"))
            if isinstance(each, Mapping)
            else (each.name if isinstance(each, Description | Path) else str(each))
            for number, each in enumerate(given, start=1)
        ]
        return {"with": named, "at": self.at, "max_exposed": self.max_exposed}

    @property
    def slider(self) -> str:
        return "max_exposed"

    @property
    def limit(self) -> Fraction:
        return exact(self.max_exposed, self.name, "max_exposed", 0, 1)

    @property
    def _level(self) -> Fraction:
        return exact(self.at, self.name, "at", 0, 1)

    def weighs(self, releases: Sequence[Description]) -> bool:
        if self.with_ == "register":
            return True
        return {each.place for each in releases} <= {each.place for each in self.releases().groups}

    def releases(self) -> Out:
        """The releases to compose with; refuses a registered one that is missing or changed."""
        register = Register(Path(self.register))
        if self.with_ == "register":
            out = registered(register)
            if not register.entries():
                hint = "Register earlier releases: privacy-sql register add NAME MANIFEST."
                raise UsageError("empty_register", "no release is registered", where=self.register, hint=hint)
        else:
            given = [self.with_] if isinstance(self.with_, str) else list(self.with_)
            named = [each for each in given if isinstance(each, str) and not Path(each).suffix]
            out = registered(register, named)
            others = [(number, each) for number, each in enumerate(given, 1) if each not in named]
            spelt = [one for number, each in others for one in as_published(register, each, number)]
            out = replace(out, groups=(*out.groups, *spelt))
        if out.several:
            raise UsageError(
                "several_sensitive",
                f"{', '.join(out.several)} has several sensitive columns, but the attack covers one",
                where="composition",
                hint="Describe the release with one sensitive column and name the description under `with`.",
            )
        centres = [each.name for each in out.groups if each.by_centre]
        if centres:
            raise DataError(
                "not_kept",
                f"{', '.join(centres)} shows centres, and no record of who is near which was kept",
                where="composition",
                hint="Publish the same rows again with this version; the register then keeps the record.",
            )
        if out.counts:
            raise UsageError(
                "exact_counts",
                f"{', '.join(out.counts)} publishes marginals that together say more than their join, but the"
                " attack covers only the join",
                where="composition",
                hint="Name the other releases under `with`; decomposable marginals are covered.",
            )
        return out

    @property
    def of_marginals(self) -> bool:
        return True

    def holds_of(self, joined: JoinedMarginals) -> bool:
        return joined.judged(self).safe

    def together(self, collection: Together) -> list[Row]:
        """For marginals, their join is the release: everybody can have the values that all of them allow."""
        return self.gather(collection.possible())

    def gather(self, grouping: Grouping) -> list[Row]:
        """People by the number of remaining values, from the attack on this and the other releases."""
        others, noise = self._beside(grouping.base)
        found = Findings.beside(grouping, others)
        more = {"everybody": found.crowd.people, "noise": noise, "warnings": others.warnings}
        return [{**row, **more} for row in found.left]

    def _beside(self, base: Base) -> tuple[Others, int]:
        """The other releases with everybody located in them, and the number of noisy releases."""
        # a search judges many candidates of one base; the places of its people in other releases stay the
        # same
        known: dict[int, tuple[Composition, Others, int]] = base.memory.once(OUT, dict)
        if id(self) not in known:
            out = self.releases()
            others = Others.of(base, out.groups)
            if others.nobody_in:
                raise DataError(
                    "nobody_located",
                    f"no person matches any group of {', '.join(others.nobody_in)}, so nobody can be judged",
                    where="composition",
                    hint="Check that its columns use the same coding; a description can map them.",
                )
            known[id(self)] = self, others, len(out.noise)  # held, so that nobody else gets its id
        _, others, noise = known[id(self)]
        return others, noise

    def splits(self, whole: Grouping) -> _CompositionSplits:
        """Who is exposed over all boxes, while a search cuts groups."""
        return _CompositionSplits(whole, self._beside(whole.base)[0], self.limit, self._level)

    def failing(self, evidence: Sequence[Row]) -> list[int]:
        """No single group is at fault."""
        return []

    def judge(self, evidence: Sequence[Row]) -> Verdict:
        """The share of people with so few remaining values that the adversary is confident.

        >>> rows = [
        ...     {"fewest": 1, "people": 2, "everybody": 8},
        ...     {"fewest": 3, "people": 6, "everybody": 8},
        ... ]
        >>> Composition(["hospital"], "1/2", "1/4").judge(rows).value
        Fraction(1, 4)
        """
        everybody = max((row["everybody"] for row in evidence), default=0)

        def number(*conditions: tuple[str, int]) -> int:
            asked = (row for row in evidence if all(row.get(key) == value for key, value in conditions))
            return sum(row["people"] for row in asked)

        contradicted = number(("contradicted", 1))
        if not everybody or (contradicted and not number(("contradicted", 0), ("shared", 1))):
            raise DataError(
                "no_common_value",
                "the releases allow no value for anybody, so nothing can be judged",
                where="composition",
                hint="Map the names of sensitive values to each other, and name under `with` only releases"
                " with values of the same kind. Each sensitive column is compared, so publish other kinds"
                " separately.",
            )
        fewest = [row["fewest"] for row in evidence if row["fewest"]]
        exposed = sum(row["people"] for row in evidence if row["fewest"] and row["fewest"] * self._level <= 1)
        located = number(("everywhere", 1), ("contradicted", 0))
        facts = {
            "people": everybody,
            "located": located,
            "exposed": exposed,
            "contradicted": contradicted,
            "in_no_release": number(("fewest", None)),  # type: ignore[arg-type]
            "fewest_values_left": min(fewest, default=None),
            "noisy_releases_left_to_the_ledger": max(row.get("noise", 0) for row in evidence),
        }
        story = (
            f"Of {people(everybody)}, {exposed} have so few possible values left that an adversary is sure"
            f" at {self._level} or more. Every release has {located} of them."
        )
        notes = next((tuple(row["warnings"]) for row in evidence if row.get("warnings")), ())
        return self.verdict(Fraction(exposed, everybody), Witness(facts), story, notes=notes)


class _CompositionSplits(Splits[tuple[Findings, dict[int, int], list[int]]]):
    """How many people are exposed now, and how many more each tried part would expose.

    A person's remaining values depend only on their own box, so boxes add up, and cutting one changes nobody
    in another. A cut may also make somebody less exposed, because releases that contradict each other say
    less.
    """

    def __init__(self, whole: Grouping, others: Others, limit: Fraction, level: Fraction) -> None:
        self.others = others
        self.most = level.denominator // level.numerator  # so few remaining values count as exposure
        self.engine = others.crowd.engine
        outcomes = Findings.beside(whole, others).outcomes
        self.now = self.engine.create(render("attacks/exposed.sql", outcomes=outcomes, most=self.most))
        (found,) = self.engine.fetch(render("attacks/exposed_people.sql", exposed=self.now))
        self.exposed = int(found["n_people"])
        self.room = limit * others.crowd.people
        self._taken: tuple[Findings, list[int]] | None = None

    def seen(self, grouping: Grouping) -> tuple[Findings, dict[int, int], list[int]]:
        """What the parts would expose, which parts are taken, and how many more people each exposes."""
        if self._taken is not None:
            # store who is exposed after the cuts so far
            before, groups = self._taken
            taken = self.engine.load({"g": ("bigint", groups)}, "taken")
            after = render("attacks/exposed_after.sql", **self._of(before), taken=taken)
            self.now, self._taken = self.engine.create(after), None
        found = Findings.beside(grouping, self.others)
        query = render("attacks/exposed_parts.sql", **self._of(found))
        more = {row["g"]: row["n_more"] for row in self.engine.fetch(query)}
        return found, more, []

    def allows(self, evidence: tuple[Findings, dict[int, int], list[int]], groups: Sequence[int]) -> bool:
        _, more, _ = evidence
        return self.exposed + sum(more.get(group, 0) for group in groups) <= self.room

    def accept(self, evidence: tuple[Findings, dict[int, int], list[int]], groups: Sequence[int]) -> None:
        found, more, taken = evidence
        self.exposed += sum(more.get(group, 0) for group in groups)
        taken += groups
        self._taken = found, taken

    def _of(self, found: Findings) -> dict[str, Any]:
        own = found.releases[0].located
        return {"located": own, "outcomes": found.outcomes, "exposed": self.now, "most": self.most}


def _below(release: object, directory: Path) -> object:
    """A file named in a project is relative to the project's folder."""
    if isinstance(release, str) and Path(release).suffix:
        return directory / release
    if isinstance(release, Mapping) and "file" in release:
        return {**release, "file": str(directory / release["file"])}
    return release
