"""A user's script, which mypy reads with the package: what is wrong with it is said, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import privacy_sql as ps


def script() -> None:
    """A comment that ignores an error which mypy does not find is an error itself."""
    with ps.connect() as engine:
        table = ps.Table("people.csv", {"age": ps.Intervals(10), "zip": ps.Mask(3, 0)}, "illness")
        require = [ps.KAnonymity(5), ps.CKSafety(c="3/5", k=3)]
        release = ps.publish(engine, table, require, ps.FullDomain(minimise="loss"))
        value: int | Fraction | float | None = release.verdicts["k_anonymity(k=5)"].value
        safe: bool = ps.check(engine, table, require)["k_anonymity(k=5)"].safe
        ps.write(engine, release, "out/people.csv")
        ps.report(release, "report.html")
        ps.KAnonymity("many")  # type: ignore[arg-type]
        ps.KAnonimity(5)  # type: ignore[attr-defined]
        print(release.verdict)  # type: ignore[attr-defined]
        asked: str = release.require[0].question
        known: int | None = release.baseline.smallest_known if release.baseline else None
        print(release.require[0].nobody)  # type: ignore[attr-defined]
        print(release.baseline.nobody)  # type: ignore[union-attr]
        assert value and safe and asked and known
