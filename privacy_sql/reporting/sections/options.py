"""Risk against usefulness: the choices that were searched, which are safe, and what each costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privacy_sql.display.levels import choice, column, level
from privacy_sql.reporting.charts import INK, PALE, PLAIN, SAFE, UNSAFE, Chart, ChartAxis, Line, Rule
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import limit, measured, number, people, percent, slack
from privacy_sql.verdict import holds

MOST_EDGES = 400  # choices up to which every single step is drawn
MOST_ROWS = 12
SIDE_BY_SIDE = 150  # choices that fit half the page
HOW = "Run privacy-sql search --select {name}, then make the report again."
PUBLIC = "A public report shows only the published choice."
OTHERWISE = "The search was not over one level per column, so there is no picture of its choices."
# within the limit that is drawn, and still not to be published
ELSEWHERE = "not safe: another requirement fails"
# how a choice is drawn: marker, colour and size
KINDS = {
    "this release": ("star", INK, 15),
    "safe, cannot be finer": ("diamond", SAFE, 10),
    "safe, coarser": ("circle", PALE, 7),
    "not safe": ("square", UNSAFE, 5),
    ELSEWHERE: ("cross", UNSAFE, 6),
}


def section(material: Material) -> Section:
    title, short = "Options: risk against usefulness", "Options"
    if not material.internal:
        return Section("options", title, short, missing=PUBLIC)
    search = material.found.get("search")
    if search and search["best"] and "levels" not in search["best"]:
        return Section("options", title, short, missing=OTHERWISE)
    lattice = (search or {}).get("lattice") or material.run.get("lattice")
    if not lattice or not lattice["choices"]:
        return Section(
            "options", title, short, missing=OTHERWISE if search else HOW.format(name=material.name)
        )
    own = [(material.run.get("choice") or {}).get("levels", {}).get(c) for c in lattice["columns"]]
    charts = [chart for chart in (_frontier(material, lattice, own), _lattice(lattice, own)) if chart]
    # the minimal safe choices, the best first, then those that lose least
    cost, found = (search or {}).get("minimise", lattice["cost_of"]), (search or {}).get("best")
    others = [c for c in (search or {}).get("minimal", ()) if not found or c["levels"] != found["levels"]]
    others.sort(key=lambda c: (c["values"].get(cost) is None, c["values"].get(cost)))
    minimal = _rows(material, [*([found] if found else []), *others], material.hierarchies, cost)
    bands = (search or {}).get("bands") or {"best": None}
    # rows this release leaves out, where the search that is shown left out none
    content = {
        "total": lattice["total"],
        "drawn": len(lattice["choices"]),
        "safe": (search or {}).get("safe_choices"),
        "complete": (search or {}).get("complete", False),
        "rows": minimal[:MOST_ROWS],
        "left_out": max(0, len(minimal) - MOST_ROWS),
        "best": bool(found),
        "bands": _rows(material, [bands["best"]], bands["hierarchies"], cost) if bands["best"] else [],
        "cost_of": lost(cost),
        "wide": len(lattice["choices"]) > SIDE_BY_SIDE,
        "left_out_rows": (
            None if "suppressed" in (found or {}) or search is None else material.run.get("suppressed")
        ),
    }
    return Section("options", title, short, content, charts)


def lost(cost: str) -> str:
    """What a choice costs, by the name of its measure."""
    return "share of detail lost" if cost == "loss" else f"lost ({cost})"


def best(material: Material) -> str | None:
    """The best safe choice that was found, in words: what would make the release safe."""
    search = material.found.get("search")
    found = search.get("best") if search else None
    if not found or "levels" not in found:
        return None
    asked = {name.partition(" for ")[0] for name in found["risks"]}
    if asked != set(material.run.get("require", [])):
        return None  # the search was asked for something else
    return choice(found["levels"], material.hierarchies)


def one_change(material: Material) -> str | None:
    """One column made coarser that would make the release safe, the one that costs least, and its price."""
    search = material.found.get("search")
    lattice = (search or {}).get("lattice") or material.run.get("lattice")
    if not lattice or (search and best(material) is None):
        return None
    levels = (material.run.get("choice") or {}).get("levels", {})
    own = [levels.get(column) for column in lattice["columns"]]
    safe = [
        (point["cost"], place, point["levels"][place])
        for point in lattice["choices"]
        if point["safe"] and point["cost"] is not None
        # the one place where it differs
        for places in [
            [n for n, pair in enumerate(zip(point["levels"], own, strict=True)) if len({*pair}) > 1]
        ]
        for place in places
        if len(places) == 1 and own[place] is not None
    ]
    if not safe:
        return None
    cost, place, step = min(safe)
    name = lattice["columns"][place]
    kind = material.hierarchies.get(name)
    price = ""
    if lattice["cost_of"] == "loss":
        now = next((p["cost"] for p in lattice["choices"] if p["levels"] == own), None)
        before = f", instead of {percent(1 - now)}" if now is not None else ""
        price = f" {percent(1 - cost)} of the detail is then kept{before}."
    shown, instead = column(name, kind, step), level(kind, own[place])
    return f"publish {shown}, instead of {instead}; every requirement then holds.{price}"


def in_bands(material: Material) -> str:
    """What a search found for the columns that are published as they are, taken for quasi-identifiers."""
    search = material.found.get("search") or {}
    if "bands" not in search:
        return f"To find bands that would do, run privacy-sql search --select {material.name}."
    found = search["bands"]
    if not found:
        return ""
    names = " and ".join(found["columns"])
    found_best = found["best"]
    if found_best is None:
        return f"No bands of {names} would keep every requirement."
    own, kinds = (material.run.get("choice") or {}).get("levels", {}), found["hierarchies"]
    others = {name: step for name, step in found_best["levels"].items() if name not in found["columns"]}
    changed = {name: step for name, step in others.items() if own.get(name, step) != step}
    shown = choice({name: found_best["levels"][name] for name in found["columns"]}, kinds)
    beside = f", with {choice(changed, kinds)}" if changed else ""
    gone = f", without {' and '.join(found['left_out'])}" if found["left_out"] else ""
    out, lost = found_best.get("suppressed"), found_best["values"].get("loss")
    kept = "" if lost is None else f", and {percent(1 - lost)} of the detail is kept"
    price = f" It leaves {people(out) if out else 'nobody'} out{kept}."
    them = "them" if len(found["columns"]) > 1 else "it"
    return f"Or publish {shown}{beside}{gone}: every requirement then holds on {them} too.{price}"


def _rows(
    material: Material, choices: Sequence[Record], kinds: Mapping[str, Any], cost: str
) -> list[dict[str, Any]]:
    """Choices that were found safe: in words, with what was measured and what they cost."""
    units = {v["requirement"]: v["unit"] for v in material.verdicts}
    return [
        {
            "words": choice(c["levels"], kinds),
            "risks": [f"{name}: {measured(v, units.get(name, ''))}" for name, v in c["risks"].items()],
            "cost": number(c["values"].get(cost)) if c["values"].get(cost) is not None else "not measured",
        }
        for c in choices
    ]


def _frontier(material: Material, lattice: Record, own: Sequence[Any]) -> Chart | None:
    """What was measured of each choice: the risk that decides against what it loses."""
    # the requirement a picture shows: one about knowledge rather than sizes, where there is one
    asked = {name for point in lattice["choices"] for name in point["risks"]}
    able = [v for v in material.verdicts if v["requirement"] in asked and v["limit"] is not None]
    verdict = min(able, key=lambda v: ({"share": 0, "people": 2}.get(v["unit"], 1), slack(v)), default=None)
    if verdict is None:
        return None
    name, unit = verdict["requirement"], verdict["unit"]
    # the release itself as its own verdict says, rows left out and all
    its_own = {verdict["requirement"]: verdict["value_float"]}
    measures = [
        {**p, "risks": p["risks"] | its_own} if p["levels"] == list(own) else p for p in lattice["choices"]
    ]
    known = [p for p in measures if p["risks"].get(name) is not None and p["cost"] is not None]
    if not known:
        return None
    groups = _by_kind(known, own, verdict)

    def levels(point: Record) -> str:
        return choice(dict(zip(lattice["columns"], point["levels"], strict=True)), material.hierarchies)

    lines = [
        _marks(
            kind,
            [(p["risks"][name], p["cost"]) for p in points],
            [f"{levels(p)}: {number(p['cost'])}" for p in points],
        )
        for kind, points in groups
    ]
    # the line through the choices that no drawn one beats in risk and in loss
    sign = 1 if verdict["relation"].startswith("<") else -1
    edge: list[tuple[float, float]] = []
    for risk, cost in sorted((sign * p["risks"][name], p["cost"]) for p in known):
        if not edge or cost < edge[-1][1]:
            edge.append((risk, cost))
    x, y = [sign * risk for risk, _ in edge], [cost for _, cost in edge]
    safer = "a lower" if verdict["relation"].startswith("<") else "a higher"
    return Chart(
        "frontier",
        f"Each mark is one choice of levels that was measured: {name} against what its labels lose.",
        ChartAxis(f"{name}: {safer} value is safer", percent=unit == "share"),
        ChartAxis(lost(lattice["cost_of"])),
        lines=[Line("best trade-offs", x, y, PLAIN, "dash", None, step=True, width=1.2), *lines],
        rules=[Rule(float(Fraction(verdict["limit"])), limit(verdict), upright=True)],
        header=("choice", name, lost(lattice["cost_of"]), "which"),
        rows=[
            (levels(p), measured(p["risks"][name], unit), number(p["cost"]), kind)
            for kind, points in groups
            for p in points[:MOST_ROWS]
        ],
    )  # fmt: skip


def _marks(kind: str, at: Sequence[tuple[float, float]], labels: list[str]) -> Line:
    """The choices of one kind, each with a mark and its numbers."""
    marker, colour, size = KINDS[kind]
    x, y = [x for x, _ in at], [y for _, y in at]
    return Line(kind, x, y, colour, marker=marker, size=size, joined=False, labels=labels)


def _by_kind(
    points: Sequence[Record], own: Sequence[Any], drawn: Record | None = None
) -> list[tuple[str, list[Record]]]:
    """The choices by their verdicts; where one requirement is `drawn`, a failing other one is named."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for point in points:
        if point["levels"] == list(own):
            kind = "this release"
        elif point["safe"]:
            kind = "safe, cannot be finer" if point["minimal"] else "safe, coarser"
        elif drawn is not None and holds(
            point["risks"][drawn["requirement"]], drawn["relation"], Fraction(drawn["limit"])
        ):
            kind = ELSEWHERE  # on the safe side of the limit that is drawn
        else:
            kind = "not safe"
        groups[kind].append(point)
    return [(kind, groups[kind]) for kind in reversed(KINDS) if kind in groups]


def _lattice(lattice: Record, own: Sequence[Any]) -> Chart:
    """Every choice as a mark, coarser ones higher up; a step up makes one column coarser."""
    # the sum of its levels says how high a choice stands; those of one height are evenly spread across
    rows: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for point in lattice["choices"]:
        rows[sum(point["levels"])].append(tuple(point["levels"]))
    places = {
        levels: (place - (len(row) - 1) / 2, height)
        for height, row in rows.items()
        for place, levels in enumerate(sorted(row))
    }
    lines = []
    if len(places) <= MOST_EDGES:  # the single steps between neighbouring choices
        x: list[float | None] = []
        y: list[float | None] = []
        for levels, here in places.items():
            for column, step in enumerate(levels):
                above = places.get((*levels[:column], step + 1, *levels[column + 1 :]))
                if above:
                    x += [here[0], above[0], None]
                    y += [here[1], above[1], None]
        lines.append(Line("one step", x, y, "#cbd5e1", marker=None, width=0.8, legend=False))
    by_kind = _by_kind(lattice["choices"], own)
    for kind, points in by_kind:
        at = [places[tuple(p["levels"])] for p in points]
        words = [
            ", ".join(f"{c} {step}" for c, step in zip(lattice["columns"], p["levels"], strict=True))
            for p in points
        ]
        lines.append(_marks(kind, at, words))
    return Chart(
        "lattice",
        "All choices of levels; every step up makes one column coarser.",
        ChartAxis("", hidden=True),
        ChartAxis("steps of coarsening, all columns together"),
        lines=lines,
        height=420,
        header=("choices", "how many"),
        rows=[(kind, len(points)) for kind, points in by_kind],
    )
