"""People, not groups: by how well they can be guessed, and by how many others look alike."""

from __future__ import annotations

from collections.abc import Iterator

from privacy_sql.reporting.charts import Bars, Chart, ChartAxis
from privacy_sql.reporting.crowds import GUESSED
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import count, number_of, people, percent

TITLE, SHORT = "How many people are found or guessed", "People"
CERTAIN = "certain"
GUESSES = (CERTAIN, "80 to 99 %", "60 to 79 %", "40 to 59 %", "20 to 39 %", "under 20 %")
FEW = "Some of these counts are of fewer people than a public report tells of."
WHY = "A run counts this where it publishes rows of one table."

assert len(GUESSES) == len(GUESSED)


def section(material: Material) -> Section:
    crowds = material.part("crowds")
    if not crowds or not crowds["as_published"]:
        why = FEW if crowds else material.why_not("crowds", WHY)
        return Section("people", TITLE, SHORT, missing=why)
    also = " and ".join((material.run.get("insensitive") or {}).get("columns", ()))
    readers = [("", "a neighbour", crowds["as_published"])]
    if crowds["known"]:
        readers.append(("_known", f"a colleague, who also knows {also}", crowds["known"]))
    charts = [
        chart
        for suffix, who, found in readers
        for chart in _charts(suffix, who, found, crowds["k"], several=len(readers) > 1)
    ]
    groups = material.part("groups")
    told = (
        f"{number_of(groups['n_groups'], 'group', 'groups')}, from {people(groups['smallest'])} to"
        f" {people(groups['largest'])}; half of the groups have {people(groups['median'])} or more."
        if groups
        else ""
    )
    return Section("people", TITLE, SHORT, {"told": told}, charts)


def _charts(suffix: str, who: str, found: Record, k: int, *, several: bool) -> Iterator[Chart]:
    closed = "," if ", " in who else ""
    if found["by_guess"] is not None:
        counted = zip(GUESSES, found["by_guess"], strict=True)
        guesses = [(label, n, bool(n and label == CERTAIN)) for label, n in counted]
        says = f"People by how well {f'{who}{closed} can guess them' if several else 'they can be guessed'}"
        yield _bars(f"guessed{suffix}", says, "best guess is right", guesses)
    if found["by_size"] is not None:
        sizes = [
            (
                f"{low:,} or more"
                if high is None
                else "alone"
                if high == 1
                else f"{low:,}"
                if low == high
                else f"{low:,} to {high:,}",
                n,
                bool(n and low < k),
            )
            for low, high, n in found["by_size"]
        ]
        yield _bars(
            f"sizes{suffix}",
            f"People by how many look alike{f' to {who}' if several else ''}",
            "people who look alike",
            sizes,
            k,
        )


def _bars(key: str, says: str, what: str, bins: list[tuple[str, int, bool]], k: int | None = None) -> Chart:
    everybody = sum(n for _, n, _ in bins)
    end = f"; ✖: fewer than {k}" if k is not None and any(bad for _, _, bad in bins) else ""
    return Chart(
        key,
        f"{says}{end}.",
        ChartAxis("people", 0, max(1, *(n for _, n, _ in bins))),
        ChartAxis(what),
        bars=[
            Bars(
                "people",
                [label for label, _, _ in bins],
                [n for _, n, _ in bins],
                [f"✖ {count(n)}" if bad else count(n) for _, n, bad in bins],
            )
        ],
        across=True,
        height=90 + 26 * len(bins),
        header=(what, "people", "share"),
        rows=[(label, count(n), percent(n / everybody) if everybody else "–") for label, n, _ in bins],
    )
