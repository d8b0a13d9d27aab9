"""`search`: the safe combinations of levels, minimal and best, or the best marginals."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from privacy_sql.cli.outcome import Common, Outcome, connected, shared
from privacy_sql.cli.tables import each_release, refuse_promise
from privacy_sql.display.rounding import percent
from privacy_sql.errors import UsageError
from privacy_sql.parameters import number_in

if TYPE_CHECKING:
    from privacy_sql.engines import Engine
    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.lattice.result import SearchResult
    from privacy_sql.marginals.result import MarginalResult
    from privacy_sql.methods import Method
    from privacy_sql.project.reading import Plan
    from privacy_sql.searches.full_domain import Goal


class SearchOptions(Common):
    """Options for the method of a release, in addition to its own."""

    minimise: str | None
    max_suppressed: str | None
    time_limit: float | None


GROUP = "decide"  # of `--help`
MUCH = 0.5  # the share of detail
MUCH_LOST = "            More than half of the detail is lost."
KEEP_MORE = [
    "            To keep more, group values in a hierarchy file (privacy-sql init --hierarchy COLUMN), leave",
    "            a column out, or relax a requirement: privacy-sql explore shows what each costs.",
]


@click.command()
@click.option("--select", "names", multiple=True, help="A release of the project. Repeatable; default all.")
@click.option("--minimise", help="A utility; default: that of the release's method, or loss.")
@click.option("--max-suppressed", help="The share of rows that may be left out.")
@click.option(
    "--time-limit",
    type=float,
    help="Seconds for each release, including reading it; then the best so far is reported.",
)
@click.option("--goal", type=click.Choice(["all", "best", "one"]), default="all", show_default=True)
@click.option("--minimal", is_flag=True, help="List every safe combination of which no finer one is safe.")
@click.option("--frontier", is_flag=True, help="Show what each step of risk gains.")
@shared
def command(
    names: tuple[str, ...],
    goal: Goal,
    minimal: bool,
    frontier: bool,
    directory: Path,
    **options: Unpack[SearchOptions],
) -> Outcome:
    """Find the levels at which each release of privacy.yml is safe. Publishes nothing.

    For a release of marginals, find the best collection and the minimal safe tables.

    \b
    Example: privacy-sql search --select people --minimise discernibility
    """
    from privacy_sql import api
    from privacy_sql.project import costliest, in_bands, reading
    from privacy_sql.reporting import records

    read = reading.read(directory)
    whole = Outcome("search", safe=True, rows=0)
    searches: list[dict[str, Any]] = []
    refusals: list[PrivacySqlError] = []  # what `run` says of the best levels

    def ask(plan: Plan) -> None:
        refuse_promise(plan, "search")
        with connected(read, plan, options["unsafe_debug"]) as engine:
            method = _method(plan, options)
            began = time.monotonic()
            result = api.search(engine, plan.table, plan.require, method, goal=goal)
            refused = not (records.read(directory, plan.name) or {}).get("run", {}).get("safe", True)
            # what is left of the time is enough for the curve, or there is none
            left = None if method.seconds is None else method.seconds - (time.monotonic() - began)
            result, note = _with_own(engine, plan, method, result, left)
            curve = _curve(engine, plan, method, result, left) if refused else None
            bands = None
            if plan.table.acknowledged and not refused and method.chooses_levels:
                bands = in_bands.searched(engine, plan, method, left)
            lost = (result.best["values"].get("loss") or 0) if result.best else 0
            costs = None
            if lost > MUCH and method.chooses_levels:
                left = None if method.seconds is None else method.seconds - (time.monotonic() - began)
                costs = costliest.costliest(engine, plan, method, lost, left)
        differs = _differs(plan, options)
        if result.refusal is not None:
            refusals.append(result.refusal)
            whole.add(result.refusal)
        searches.append({"name": plan.name, **result.to_json(), "differs": differs})
        found = {**result.to_json(), "lattice": result.lattice, "curve": curve, "bands": bands}
        records.add(directory, plan.name, "search", found)
        whole.rows = (whole.rows or 0) + result.rows
        first, *more = str(result).splitlines()
        reason = f" Without {costs[0]} the loss would be {costs[1]:.4g}." if costs else ""
        least = [f"minimal     {result.in_words(choice['levels'])}" for choice in result.minimal]
        whole.lines += [
            "\n".join(["; ".join([first, *differs]), *more]),
            *([MUCH_LOST + reason, *KEEP_MORE] if lost > MUCH else []),
            *(_table(result, note) if frontier else []),
            *(least if minimal else []),
            "",
        ]

    each_release(whole, read.selected(names), ask)
    whole.safe = False if refusals else None if whole.exit else True
    # one release: its fields stand at the top, as `searches` has them for every release
    first = {key: value for key, value in searches[0].items() if key != "name"} if searches else {}
    whole.more = {**first, "searches": searches}
    return whole


def _method(plan: Plan, options: SearchOptions) -> Method:
    """The release's own method if it searches, otherwise full_domain, with the options of the command line.

    The search may leave out as many rows as the method of the release.
    """
    from privacy_sql.methods.full_domain import FullDomain

    asked: Mapping[str, Any] = options
    given = {
        key: asked[key] for key in ("minimise", "max_suppressed", "time_limit") if asked[key] is not None
    }
    own = plan.method
    if own is None or not own.searches:
        allowed = own.allowed if own else 0
        own = FullDomain(max_suppressed=str(allowed)).steered(plan.steering)
    unfit = [f"--{key.replace('_', '-')}" for key in given if key not in own.params]
    if unfit:
        told = f"{' and '.join(unfit)} does not apply to {own.name}"
        raise UsageError("unfit_option", told, where=plan.name)
    return own.with_params(given)


def _differs(plan: Plan, options: SearchOptions) -> list[str]:
    """How `run` differs from this search."""
    own = plan.method
    if own is None:
        told = ["`run` has no method"]
    elif own.named_levels is not None:
        told = ["`run` publishes the levels of privacy.yml"]
    elif not own.searches:
        told = [f"`run` uses {own.name}, but this searches full-domain levels"]
    else:
        told = ["`run` recodes rows that would be left out"] if own.recodes else []
        asked, utility = options["minimise"], own.params.get("minimise")
        told += [f"`run` minimises {utility}"] if asked and asked != utility else []
    suppressed = options["max_suppressed"]
    if own is not None and suppressed is not None and number_in(suppressed) != own.allowed:
        told.append(f"`run` leaves out at most {percent(own.allowed)} of the rows")
    return told


def _with_own(
    engine: Engine,
    plan: Plan,
    method: Method,
    result: SearchResult | MarginalResult,
    left: float | None,
) -> tuple[SearchResult | MarginalResult, str]:
    """The result, with the release's own levels and suppressed rows.

    A search that leaves nobody out judges whole groups, so it may call unsafe what was published.
    """
    from dataclasses import replace

    from privacy_sql import deadlines
    from privacy_sql.api import publish
    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.lattice.result import SearchResult
    from privacy_sql.publishing.baseline import left_out
    from privacy_sql.verdict import finite

    own = plan.method
    if own is None or own.named_levels is None or not own.allowed or method.allowed:
        return result, ""
    most = own.params["max_suppressed"]
    note = f"nobody is left out here, but the release may leave out rows: --max-suppressed {most}"
    levels = {name: own.named_levels.get(name, 0) for name in plan.table.quasi}
    if levels not in [point["levels"] for point in result.frontier] or (left is not None and left <= 0):
        return result, note
    try:
        with deadlines.within(left, plan.name):
            release = publish(engine, plan.table, plan.require, own)
    except PrivacySqlError:  # the run says why
        return result, note
    shown = {
        "risks": {name: finite(verdict.value) for name, verdict in release.verdicts.items()},
        "safe": release.safe,
        "suppressed": left_out(release),
    }
    points = [{**p, **shown} if p["levels"] == levels else p for p in result.frontier]
    assert isinstance(result, SearchResult)
    return replace(result, frontier=tuple(points)), note


def _curve(
    engine: Engine, plan: Plan, method: Method, result: SearchResult | MarginalResult, left: float | None
) -> list[float] | None:
    """How much facts would disclose at the best choice; None if no table is published at levels."""
    from privacy_sql import deadlines
    from privacy_sql.api import publish
    from privacy_sql.display.rounding import as_float
    from privacy_sql.errors import PrivacySqlError
    from privacy_sql.methods.generalise import Generalise
    from privacy_sql.reporting.describing import FACTS
    from privacy_sql.studies.disclosure_curve import disclosure_curve

    if left is not None and left <= 0:
        return None
    if not result.best or "levels" not in result.best or not plan.table.sensitives:
        return None
    there = Generalise(result.best["levels"], max_suppressed=str(method.allowed))
    try:
        with deadlines.within(left, plan.name):
            release = publish(engine, plan.table, plan.require, there)
            return list(map(as_float, disclosure_curve(engine, release, FACTS)))
    except PrivacySqlError:  # several sensitive columns, or too many facts to decide
        return None


def _table(result: SearchResult | MarginalResult, note: str) -> list[str]:
    """The frontier: what less risk costs."""
    from privacy_sql.verdict import shown

    lines = ["", f"frontier    {result.minimise} of the cheapest combination for each risk"]
    for point in result.frontier:
        risks = "  ".join(f"{name}: {shown(value)}" for name, value in point["risks"].items())
        levels = result.in_words(point["levels"])
        asked = not (result.baseline or result.refusal) or (
            result.best and point["levels"] == result.best["levels"]
        )
        safe = ("safe" if asked else "holds") if point["safe"] else "not safe"
        gone = f", {point['suppressed']} left out" if point.get("suppressed") else ""
        lines.append(f"  {shown(point['cost']):<10}{safe:<10}{risks}    {levels}{gone}")
    if not result.frontier:
        lines.append(f"  not measured: {result.without_frontier}")
    return [*lines, *([note] if note else [])]
