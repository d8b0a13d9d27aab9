"""A published release, judged again from its own bytes by the rules of this version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from privacy_sql import __version__, criteria, files, registry
from privacy_sql.counted.base import count
from privacy_sql.counted.fingerprints import is_csv
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import EMPTY, Criterion
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe, PrivacySqlError, Undecided
from privacy_sql.judge import Verdicts, judge
from privacy_sql.manifest import Manifest
from privacy_sql.publishing import advisories, formulas, verifying
from privacy_sql.publishing import baseline as guesses
from privacy_sql.table import Table


@dataclass(frozen=True)
class Rejudged:
    """What today's rules say about a published release: verdicts, baseline, and what is wrong."""

    name: str
    verdicts: Verdicts
    baseline: guesses.Baseline | None
    rows: int
    groups: int | None  # None: they were not counted
    faults: tuple[PrivacySqlError, ...]
    require: tuple[Criterion, ...] = ()
    warnings: tuple[str, ...] = ()  # other faults, besides whether it is safe

    @property
    def safe(self) -> bool | None:
        """Whether it is safe; None if nothing is wrong but its rows do not decide everything."""
        return safe_of(fault.exit for fault in self.faults)


def safe_of(exits: Iterable[int]) -> bool | None:
    """Whether a release is safe, by what is wrong: no if that is why, and unknown after another error.

    >>> safe_of([]), safe_of([5, 1]), safe_of([5])
    (True, False, None)
    """
    found = set(exits)
    if NotSafe.exit in found:
        return False
    return None if found else True


def published_rows(engine: Engine, path: str | Path) -> tuple[Manifest, Table | None]:
    """The content of a manifest and its verified rows in their roles; None unless one person each."""
    place, _ = verifying.found(path, engine)
    content = verifying.verified(path, engine)
    return content, _table(content, place)


def guess(engine: Engine, content: Manifest, table: Table, grouping: Grouping) -> guesses.Baseline:
    """How sure a guess from published rows in these groups is."""
    # whether values are in random order within their group
    method = registry.known("methods", content.method)
    if (method is not None and method.permutes) or content.choice.get("output") == "bucketized":
        return guesses.of_group_numbers(grouping, table)
    return guesses.of_table(engine, table, grouping)


def rejudge(engine: Engine, path: str | Path) -> Rejudged:
    """Judge published rows by their requirements; names each fault, and what rows cannot show."""
    place, _ = verifying.found(path, engine)
    content = verifying.verified(path, engine)
    wrong: list[PrivacySqlError] = [
        NotSafe(
            "advisory", f"{advisory.name}: {advisory.sentence}", where=place.name, hint="See SECURITY.md."
        )
        for advisory in advisories.about(content)
    ]
    named = [place.parent / part.file for part in content.files]
    texts = [file for file in named if is_csv(file)]
    session = engine.session(texts)
    warnings = [
        *(f"{leak.name}: {leak.sentence}" for leak in advisories.about(content, advisories.LEAKS)),
        *formulas.warnings(session, [(session.source(file), None) for file in texts]),
    ]
    require, left = _required(content)
    table = _table(content, place)
    if table is None or left:
        names = ", ".join(left) or "the requirements"
        hint = _how_else(content)
        why = f"published rows alone do not decide {names}"
        wrong.append(Undecided("not_judged", why, where=place.name, hint=hint))
    wrong += [
        NotSafe("cannot_fail", f"{criterion} {EMPTY}", where=place.name, hint="Require more.")
        for criterion in require
        if criterion.cannot_fail
    ]
    if table is None:
        return Rejudged(
            content.release, Verdicts(), None, content.rows_out, None, tuple(wrong), (), tuple(warnings)
        )
    base = count(engine, table, several=True)
    grouping = Grouping.by(base, base.own_keys())
    verdicts = judge(grouping, require) if require else Verdicts()
    wrong += [
        NotSafe("not_safe", verdict.explain(), where=place.name, hint="Withdraw it and publish it again.")
        for verdict in verdicts.values()
        if not verdict.safe
    ]
    found = guess(engine, content, table, grouping)
    refusal = guesses.singled_out(table, require, found)
    wrong += [refusal] if refusal else []
    return Rejudged(
        content.release,
        verdicts,
        found,
        base.rows,
        grouping.n_groups,
        tuple(wrong),
        tuple(require),
        tuple(warnings),
    )


def _how_else(content: Manifest) -> str:
    """How to find out what published rows do not show. Noise is not drawn again, which would cost budget."""
    method = registry.known("methods", content.method)
    if method is not None and method.promises:
        return "`privacy-sql verify` finds any changed byte, `privacy-sql budget show` says what was charged."
    if content.versions.privacy_sql == __version__:
        return "This version judged it when it was published; `privacy-sql verify` finds any change since."
    return "Run the release again with this version, which judges it when publishing."


def _required(content: Manifest) -> tuple[list[Criterion], list[str]]:
    """The requirements that published rows decide, and the names of the others."""
    made: dict[str, Criterion] = {}
    left: list[str] = []
    for verdict in content.verdicts:
        if not registry.has("criteria", verdict.criterion):  # a promise of the method
            left.append(verdict.requirement)
            continue
        criterion = criteria.make(verdict.criterion, verdict.params)
        beyond = criterion.needs_base or criterion.needs_population or content.values_per_person != "one"
        of_values = verdict.params.get("distance") in ("hierarchical", "matrix")  # which no row shows
        if beyond or of_values or "with" in verdict.params:
            left.append(str(criterion))
        else:
            made[str(criterion)] = criterion
    return list(made.values()), list(dict.fromkeys(left))


def _table(content: Manifest, place: Path) -> Table | None:
    """The published rows in their roles; None if they are not rows of one table with one person each."""
    places = files.places(content, place.parent)
    method = registry.known("methods", content.method)
    counts = method is not None and not method.publishes_groups
    if len(places) != 1 or counts or content.values_per_person != "one":
        return None
    said = content.insensitive or {}
    known = set(said.get("columns", ())) if said.get("known") else set()
    reason = said.get("acknowledge")
    free = content.in_role("insensitive")
    return Table(
        places[0],
        [name for name in content.in_role("quasi-identifier") if name not in known],
        tuple(content.in_role("sensitive")) or None,
        group=content.group_column,
        insensitive={"columns": sorted(known), "known": True}
        if known
        else {"columns": free, **({"acknowledge": reason} if reason else {})}
        if free
        else (),
        name=f"{content.release} as published",
    )
