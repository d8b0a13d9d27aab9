"""`verify`: is a release still what was written?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privacy_sql.commands import Outcome, shared


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--connect", "url", help="Where a published table lies, for example duckdb:file.db.")
@shared
def command(paths: tuple[Path, ...], url: str | None, **_: Any) -> Outcome:
    """Look for any changed byte in releases and their manifests. Exit 1: a difference was found.

    \b
    Example: privacy-sql verify out/people.csv
    """
    from privacy_sql.errors import PrivacySqlError, first_exit

    whole = Outcome("verify", safe=True)
    found = []
    for path in paths:
        try:
            content = _verified(path, url)
        except PrivacySqlError as problem:
            whole.exit = first_exit([whole.exit, problem.exit])
            whole.errors += [part.to_json() for part in problem.parts]
            whole.problems.append(problem)
            continue
        output = content["output"]
        name = output.get("file") or output.get("relation") or content["release"]
        whole.lines.append(f"{name}: as it was written, {content['rows_out']} rows")
        whole.rows = (whole.rows or 0) + content["rows_out"]
        whole.verdicts += content["verdicts"]
        found.append({"release": content["release"], "output": output})
    whole.safe = whole.exit == 0 and all(verdict["safe"] for verdict in whole.verdicts)
    whole.more = {"verified": found}
    return whole


def _verified(path: Path, url: str | None) -> dict[str, Any]:
    from privacy_sql.engines import connect
    from privacy_sql.verbs import verify

    if url is None:
        return verify(path)
    with connect(url) as engine:
        return verify(path, engine)
