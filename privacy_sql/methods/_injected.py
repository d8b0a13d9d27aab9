"""A written release to which marginals are added; it must match its manifest and today's rows.

Its counts are public together with those of the marginals, but are judged from today's rows. With an edited
file or a changed source, the published counts would differ from the judged ones.
"""

from __future__ import annotations

from pathlib import Path

from privacy_sql import files, manifest
from privacy_sql.counted.base import Base
from privacy_sql.counted.fingerprints import fingerprint, is_csv
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import NotSafe, UsageError
from privacy_sql.manifest import Manifest
from privacy_sql.methods._views import generalised
from privacy_sql.query.template import Query

AGAIN = "Publish the table again, or give its levels instead of the release."


def read(named: str) -> tuple[Path, Manifest]:
    """The manifest of a written release with one level per column, and its place."""
    place = Path(named)
    file = place if place.name.endswith(manifest.SUFFIX) else manifest.manifest_path(place)
    if not file.is_file():
        hint = "Publish the table first, or give its levels."
        raise UsageError("no_such_file", f"{file.name} does not exist", where="inject", hint=hint)
    content = manifest.read(file)
    if content.choice.get("levels") is None:
        raise UsageError(
            "no_levels", f"{place.name} is not a release of a table with one level per column", where="inject"
        )
    return file, content


def refuse_other_counts(base: Base, file: Path, content: Manifest) -> None:
    """Refuse a release whose written rows differ from its manifest or from today's table."""
    if content.one is None or not all(
        (file.parent / part.file).exists() and manifest.checksum(file.parent / part.file) == part.sha256
        for part in content.files
    ):
        told = f"what {file.name} describes has changed since it was written"
        raise NotSafe("output_changed", told, where="inject", hint=AGAIN)
    (written,) = files.places(content, file.parent)
    beside = base.engine.session([written] if isinstance(written, Path) else ())
    if isinstance(written, str) and not beside.has_table(written):
        raise NotSafe("output_changed", f"{written} is missing", where="inject", hint=AGAIN)
    relation, csv = beside.source(written), is_csv(written)
    levels: dict[str, int] = dict(content.choice["levels"])
    shown = list(content.shown)
    if list(beside.columns(relation)) != shown:
        told = f"{file.name} describes other columns than the file has"
        raise NotSafe("output_changed", told, where="inject", hint=AGAIN)
    view, _ = generalised(Grouping.by(base, base.keys(levels)), levels)
    meant = base.engine.rows_of(Query(view.sql, "injected"))
    columns = [name for name in shown if name in base.aliases or name in base.table.sensitives]
    absent = [name for name in (*base.aliases, *base.table.sensitives) if name not in shown]
    marks = fingerprint(beside, relation, columns, empty_is_null=csv)
    if marks["n_rows"] != content.rows_out:
        told = f"{file.name} gives another number of rows than the file has"
        raise NotSafe("output_changed", told, where="inject", hint=AGAIN)
    if absent or marks != fingerprint(base.engine, meant, columns, empty_is_null=csv):
        why = f"it has no {', '.join(absent)}" if absent else "the source has changed, or rows were left out"
        raise UsageError(
            "other_counts",
            f"{content.release} as written does not have the counts of today's table: {why}",
            where="inject",
            hint=AGAIN,
        )
