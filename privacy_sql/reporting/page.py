"""The report of a release as one HTML file, from records alone: it runs no query and judges nothing.

Text, tables and charts stand in the page and need no script; one of ours serves the controls of the skyline.
A strict Content-Security-Policy forbids it to load or send anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import privacy_sql
from privacy_sql.manifest import Manifest, WrittenFile
from privacy_sql.query.template import KeptTemplates
from privacy_sql.reporting import drawing, words
from privacy_sql.reporting.audience import audience_of, masked, threshold
from privacy_sql.reporting.charts import Chart
from privacy_sql.reporting.sections import FIRST, SECOND, Material, made
from privacy_sql.reporting.verdict import in_words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from privacy_sql.reporting.named import Named

FORBID = "default-src 'none'; base-uri 'none'; form-action 'none'"
# how every page of ours begins, and no other one
BEGINS = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" content="' + FORBID.replace("'", "&#39;")
).encode()


def is_ours(html: bytes) -> bool:
    """Whether we wrote a page, in this or an earlier version."""
    return html.lstrip().startswith(BEGINS)


def material_of(
    found: Mapping[str, Any], audience: str | None = None, manifest: Manifest | None = None
) -> Material:
    """The records of a release, without what its audience may not see."""
    chosen = audience_of(found["run"], audience)
    run = found["run"]
    # records of the project count exactly, a manifest alone does not
    exact = {**found, "run": {**run, **words.rows(run, run.get("rounded_to"))}}
    kept = masked(found) if chosen == "public" else exact
    return Material(kept["release"], chosen, kept["run"], kept, manifest)


@dataclass(frozen=True)
class Page:
    """A report, its verdict in a sentence, the sections that have data, the charts and the skyline."""

    html: str
    sentence: str
    sections: Mapping[str, bool]
    charts: Sequence[Chart]
    skyline: Mapping[str, Any] | None


def page(
    material: Material,
    index: str = "",
    *,
    interactive: bool = False,
    named: Sequence[Named] | None = None,
    facts: Sequence[str] = (),
) -> Page:
    """The report of one release; `index` is the page of all releases beside it.

    `interactive`: the page holds plotly, to turn the skyline in three dimensions. `named`: the worst cases by
    their keys and values, for an internal page whose reader may see them, as far as anything can be named;
    `facts`: the files of their facts, in that order.
    """
    sections = made(material)
    verdict = in_words(material, sections)
    own = {section.key: section.data for section in sections if section.data is not None}
    needed = [*([_plotly()] if interactive else []), _text("report.js")]
    scripts = list(map(_raw, needed)) if own else []
    template = _environment().get_template("page.html.j2")
    charts = [chart for section in sections for chart in section.charts]
    data = json.dumps(own, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # nothing in it can end the element it stands in
    data = data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    covers = _covered(material)
    # at the foot of every printed sheet, so that sheets of two releases are not mixed
    foot = " · ".join([*([covers["sha256"][:8]] if covers else []), material.audience.upper()])
    said = f'content: "{foot} · " counter(page); font-size: 9px; color: #4b5a6e'
    html = template.render(
        material=material,
        verdict=verdict,
        sections=sections,
        least=threshold(material.run),
        index=index,
        version=privacy_sql.__version__,
        style=_raw(_text("report.css")),
        scripts=scripts,
        policy=_policy(scripts),
        data=_raw(data),
        interactive=interactive,
        covers=covers,
        running=_raw(f"@page {{ @bottom-right {{ {said} }} }}"),
        signoff=material.run.get("signoff") or {},
        since=material.run.get("since") or [],
        named=named,
        facts=dict(zip((one.rule for one in named or () if one.replay), facts, strict=True)),
        by_key={section.key: section for section in sections},
        first=FIRST,
        second=SECOND,
    )
    shown = {section.key: not section.missing for section in sections}
    explored = next(section.data for section in sections if section.key == "skyline")
    return Page(html, verdict.sentence, shown, charts, explored)


def _covered(material: Material) -> Mapping[str, str] | None:
    """The published file a signature stands for, and its checksum; several are covered by the manifest's."""
    if material.manifest is None:
        return None
    one = material.manifest.one
    if isinstance(one, WrittenFile):
        return {"file": one.file, "sha256": one.sha256}
    return {"file": "what the manifest lists", "sha256": material.manifest.checksum}


def index_page(project: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """A page that lists the releases of a project; it is public when all their reports are."""
    audience = "public" if rows and all(row["audience"] == "public" for row in rows) else "internal"
    style = _raw(_text("report.css"))
    template = _environment().get_template("index.html.j2")
    return str(
        template.render(project=project, rows=rows, audience=audience, style=style, policy=_policy([]))
    )


def _policy(scripts: Iterable[str]) -> str:
    """Only these very scripts run, styles stand in the page, and nothing is ever loaded."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    # a page without a script names none: what is not allowed here is forbidden by the default
    allowed = " ".join(["; script-src", *(f"'sha256-{digest}'" for digest in hashes)]) if hashes else ""
    return f"{FORBID}{allowed}; style-src 'unsafe-inline'; img-src data:"


@cache
def _plotly() -> str:
    """The script that turns the skyline in three dimensions, some five megabytes."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("privacy_sql.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        bytecode_cache=KeptTemplates(),
    )
    made.filters |= {
        "count": words.count,
        "number_of": words.number_of,
        "people": words.people,
        "percent": words.percent,
        "moment": words.moment,
        "shortened": words.shortened,
        "rows_of": drawing.rows_of,
        "plot_of": drawing.plot_of,
    }
    return made


def _text(name: str) -> str:
    return resources.files("privacy_sql.reporting").joinpath("templates", name).read_text(encoding="utf-8")


def _raw(text: str) -> Markup:
    """Text of ours that stands in the page as it is."""
    from markupsafe import Markup

    return Markup(text)


__all__ = ["Material", "index_page", "is_ours", "material_of", "page"]
