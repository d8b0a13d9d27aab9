"""Check the register before publishing: whom would the release expose together with earlier ones?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from privacy_sql import manifest
from privacy_sql.counted.grouping import Candidate
from privacy_sql.criteria import Criterion
from privacy_sql.display.rounding import decimals
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.history.group_contents import writers_of_waiting
from privacy_sql.history.register import FILE_NAME, Register, registered
from privacy_sql.judge import required
from privacy_sql.release import Release


def warnings(directory: Path, release: Release) -> list[str]:
    """A warning if the release composes badly with registered ones; a missing registered file is an error.

    Earlier versions of the release itself count, because they are public.
    """
    if release.promise is not None:
        return []
    return compared(directory, release.grouping, required(release))


def compared(directory: Path, grouping: Candidate, require: Sequence[Criterion]) -> list[str]:
    """What registered releases and these groups together say.

    Empty if a requirement such as `composition` refuses what each of them exposes, instead of warning.
    """
    out = registered(Register(directory / FILE_NAME))
    if out.groups and any(criterion.weighs(out.groups) for criterion in require):
        return []
    told = [
        f"register: {name} publishes marginals that say more than their join, which this check leaves out"
        for name in out.counts
    ]
    told += [
        f"register: {name} has several sensitive columns, which this check leaves out" for name in out.several
    ]
    if not out.groups:
        return told
    # loaded only if there is something to compare with
    from privacy_sql.attacks.intersection_summary import Findings, Others
    from privacy_sql.attacks.locating import known_of

    groups = grouping.attacked
    if groups is None or len(groups.base.table.sensitives) != 1:
        return [*told, "register: not compared, because there are no groups with one sensitive column"]
    known, *_ = known_of(groups.base, (column for each in out.groups for column in each.columns))
    others = [each for each in out.groups if set(each.columns) & set(known) and not each.by_centre]
    apart = [each.name for each in out.groups if each not in others]
    if apart:
        why = "no common column, or centres without a record of their people"
        told.append(f"register: not compared with {', '.join(apart)}: {why}")
    if not others:
        return told
    found = Findings.beside(groups, Others.of(groups.base, others))
    told += [f"register: {warning}" for warning in found.warnings]
    share = Fraction(100 * found.newly_known, found.crowd.people)
    if share:
        named = ", ".join(each.name for each in others)
        told.append(
            f"register: {decimals(share, 1)} % of people would be known for certain by this release together"
            f" with {named}; require composition to refuse"
        )
    return told


def remember_standing(directory: Path, place: Path, kinds: Mapping[str, Hierarchy] | None = None) -> None:
    """Register the current release at the target before it is overwritten, because it is public as well.

    A killed run, or one from before there was a register, may have published without registering. The
    register keeps no copy of a table, so a table is not overwritten.
    """
    register = Register(directory / FILE_NAME)
    if not register.path.exists() or not place.exists():
        return
    content = manifest.read(place)
    # the contents of its groups were counted at publication; today's knowledge says less
    folder, read = directory / "target" / "private", register.reads(content)
    for private in writers_of_waiting(folder, content, kinds or {}, registered=read):
        register.keep(content.release, place, private=private)
    tables = [part.relation for part in content.tables]
    if tables:
        raise UsageError(
            "version_lost",
            f"{', '.join(tables)} has a registered release, which must stay readable",
            where=content.release,
            hint="Publish the new version to another table.",
        )
