"""The numbers that decide: people published, found alone and guessed, before and after, and detail kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from privacy_sql.display.levels import weighing
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.sections import Material, Section
from privacy_sql.reporting.words import Below, count, number_of, percent

WHY = "A run counts this where it publishes rows of one table."


@dataclass(frozen=True)
class Tile:
    """One number before and after, as shares of all people for its bars, and what it means."""

    title: str
    before: str
    after: str
    told: str
    bars: tuple[float | None, float | None]
    tone: str = "plain"  # `good`, `bad`

    @property
    def sign(self) -> str:
        """The tone without colour."""
        return "✖ " if self.tone == "bad" else ""


def section(material: Material) -> Section:
    title, short = "The numbers that decide", "Numbers"
    tiles = list(_tiles(material))
    if not tiles:
        return Section("glance", title, short, missing=material.why_not("crowds", WHY))
    # of whom the numbers speak: before and after is the same person
    before = (material.part("crowds") or {}).get("before")
    adversary = ""
    if before:
        names_removed = f"Before (names removed, {count(before['people'])} people)"
        adversary = f"{names_removed} → in the file, for {knowing(material)}."
    return Section("glance", title, short, {"tiles": tiles, "adversary": adversary})


def knowing(material: Material) -> str:
    """The adversary of these numbers in words."""
    free = material.as_they_are
    also = [*free, *([material.others] if material.others else [])]
    roles = material.run.get("roles", {})
    keys = [name for name, role in roles.items() if role == "quasi-identifier" and name not in free]
    many = "both" if len(keys) == 2 else f"all {len(keys)}"
    known = f"{many} quasi-identifiers" if len(keys) > 1 else keys[0] if keys else ""
    return f"somebody who knows {' and '.join([*([known] if known else []), *also]) or 'nothing'}"


def strongest(material: Material) -> Record | None:
    """The guesses of somebody who knows every column that is published as it is, too."""
    found = material.run.get("baseline")
    if not found:
        return None
    known: Record = found["known"].get("all") or found["as_published"]
    return known


def _tiles(material: Material) -> Iterator[Tile]:
    run, crowds, reader = material.run, material.part("crowds") or {}, strongest(material)
    before: Record | None = crowds.get("before")
    after: Record | None = crowds.get("known") or crowds.get("as_published")
    if run.get("rows_out") is not None and not run.get("claims"):
        yield _people(material)
    if reader:
        n = before["people"] if before else None
        published = after["people"] if after else None
        few = ""
        if after and "k" in crowds:
            few = f"{count(before['below'])} → {count(after['below'])}" if before else count(after["below"])
            few = f"groups below {crowds['k']}: {few}"
        yield Tile(
            "Only one row fits",
            count(before["alone"]) if before else "",
            count(reader["alone"]),
            few,
            (_share(before["alone"] if before else None, n), _share(reader["alone"], published)),
            _tone(reader["alone"]),
        )
        if reader["worst_guess"] is not None:
            yield _guessed(before, reader, n, published)
        if reader["right_in_all"] is not None:
            right = Fraction(reader["right_in_all"])
            earlier = float(Fraction(before["right_in_all"])) if before else None
            most = crowds.get("reader")
            yield Tile(
                "Guessed right",
                percent(earlier) if earlier is not None else "",
                percent(float(right)),
                f"on average; a reader: {percent(most[0] / most[1])}" if most else "on average",
                (earlier, float(right)),
            )
    useful = material.part("usefulness") or {}
    kept, loss = useful.get("kept"), useful.get("utilities", {}).get("loss")
    if kept and loss is not None:
        columns = number_of(len(kept), "quasi-identifier", "quasi-identifiers")
        told = weighing(useful.get("importance", {}))
        beside = f"of {columns}; {told}" if told else f"of {columns}"
        yield Tile("Detail kept", "", percent(1 - loss), beside, (None, 1 - loss))


def _people(material: Material) -> Tile:
    run = material.run
    read, out, gone = run.get("rows_in"), run["rows_out"], run.get("suppressed")
    one, many = ("person", "people") if run.get("identified") else ("row", "rows")
    title = f"{many.capitalize()} published" if material.published else f"{many.capitalize()} to publish"
    told = number_of(gone, one, many) + " left out" if gone else "nobody left out" if gone == 0 else ""
    if gone and read and not isinstance(gone, Below):
        told += f" ({percent(gone / read)})"
    return Tile(
        title,
        count(read) if read is not None else "",
        count(out),
        told,
        (1.0 if read else None, _share(out, read)),
    )


def _guessed(before: Record | None, reader: Record, n: int | None, published: int | None) -> Tile:
    sure = list(reader["people_above"])
    numbers = {
        each: (count(before["people_above"][each]) if before else "", count(reader["people_above"][each]))
        for each in sure
    }
    first, *others = sure
    told = "; ".join(
        f"{percent(float(each))}: {' → '.join(part for part in numbers[each] if part)}" for each in others
    )
    above = reader["people_above"][first]
    return Tile(
        f"Guessed over {percent(float(first))}",
        *numbers[first],
        told,
        (_share(before["people_above"][first] if before else None, n), _share(above, published)),
        _tone(above),
    )


def _share(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def _tone(n: int | None) -> str:
    return "plain" if n is None else "bad" if n else "good"
