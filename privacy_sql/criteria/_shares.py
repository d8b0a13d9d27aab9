"""What criteria that compare a group's shares with those of the whole table say about the worst share."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from privacy_sql.criteria import Row
from privacy_sql.verdict import Witness

if TYPE_CHECKING:
    from privacy_sql.counted.groups import Bools, Groups, Ints

# in groups with fewer people, different shares are different doubles
TOLD_APART = 2**26


def rise(row: Row) -> Fraction:
    """The share in the group divided by the overall share."""
    return Fraction(row["n_rows"] * row["n_all"], row["n_people"] * row["n_overall"])


def told(row: Row) -> tuple[Witness, str]:
    """The counts of both shares, as a witness and in words."""
    facts = {
        "size": row["n_people"],
        "count": row["n_rows"],
        "overall_count": row["n_overall"],
        "rows": row["n_all"],
    }
    story = (
        f"A value of {row['n_overall']} in {row['n_all']} rows is {row['n_rows']} in {row['n_people']}"
        " in the worst group."
    )
    return Witness(facts, {"g": row["g"]}), story


def extremes(groups: Groups) -> tuple[list[Row], list[Row]]:
    """For each value, its counts at its largest and its smallest share."""
    order, ends = groups.by_share
    most, least = order[ends[1:] - 1], order[ends[:-1]]
    return _rows(groups, most), _rows(groups, least)


def gaining(groups: Groups, kept: Callable[[Row], bool], *, losing: bool = False) -> Bools:
    """The groups in which some value has a share too far above its overall share, or `losing` below it.

    If one share is within the limit, so are all nearer ones, so the first that is not is found by bisection.
    """
    order, ends = groups.by_share
    gone = groups.none
    for start, end, middle in zip(ends[:-1].tolist(), ends[1:].tolist(), groups.middles, strict=True):
        near, far = (middle - 1, start - 1) if losing else (middle, end)
        step = -1 if losing else 1
        if near == far or kept(_rows(groups, order[[far - step]])[0]):
            continue
        good, bad = near - step, far - step  # one within the limit so far, the other not
        while abs(bad - good) > 1:
            between = (good + bad) // 2
            if kept(_rows(groups, order[[between]])[0]):
                good = between
            else:
                bad = between
        failing = order[start : bad + 1] if losing else order[bad:end]
        gone[groups.of_each[failing]] = True
    return gone


def _rows(groups: Groups, places: Ints) -> list[Row]:
    """Some counts in the form of a template's rows, with the group's people and the value's overall count."""
    assert groups.overall is not None
    g = groups.of_each[places]
    columns = (groups.n[places], groups.people[g], groups.overall[groups.value[places]], g)
    found = zip(*(column.tolist() for column in columns), strict=True)
    names = ("n_rows", "n_people", "n_overall", "g")
    return [{**dict(zip(names, row, strict=True)), "n_all": groups.n_all} for row in found]
