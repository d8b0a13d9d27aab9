"""Who a report is for, and what a public one tells.

A public page is made from an allow-list: what follows from the published rows, what was declared, and nothing
else. A record with a name that is not on the list never reaches it. It names no group's worst case and no
count of people below k (5 where no k is required), nor one from which such a count follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Any, Literal

from privacy_sql.errors import NotSafe, UsageError
from privacy_sql.publishing import public_record
from privacy_sql.publishing.baseline import SURE
from privacy_sql.publishing.public_record import only, smallest_told
from privacy_sql.reporting import words
from privacy_sql.reporting.records import Record
from privacy_sql.reporting.words import AtMost, Below

Audience = Literal["internal", "public"]
UNTOLD = "A public report tells what the published rows tell, and this needs rows that were not published."
SEVERAL = (
    "A public report does not count people who may have several rows: the rows do not tell whose they are."
)
FEW = "Some groups are of fewer people than a public report tells of."

# of a run: declared, or seen by whoever holds the release
RUN = (
    *("roles", "sensitive", "values_per_person", "identified", "made", "version", "project", "safe"),
    *("rows_out", "method", "require", "rehearsal", "exit", "target", "manifest", "checksum", "sql"),
    "without_role",
)
CLAIMS = ("differential_privacy", "noise", "ledger")
HIERARCHY = ("kind", "levels")
VERDICT = (*public_record.VERDICT, "question", "against", "unit", "estimated")
COLUMN = ("name", "role", "shown", "level", "levels", "shown_as", "invented", "words")
GROUPS = ("n_groups", "smallest", "median", "largest")
CURVES = ("implications", "negations")
SKYLINE = ("label", "people", "breach")
INSENSITIVE = ("columns", "known", "acknowledge")
NEAR = ("requirement", "distance", "width", "share", "points")
CROWD = ("people", "below", "by_size", "by_guess")
READER = ("worst_guess", "certain", "right_in_all", "alone", "smallest")


def audience_of(run: Record, asked: str | None) -> Audience:
    """Internal for what is not safe or made with a seed, public for what is safe; refuses the opposite."""
    if asked not in (None, "internal", "public"):
        raise UsageError("bad_argument", "a report is internal or public", hint="Leave out the audience.")
    fit = bool(run["safe"]) and not run.get("rehearsal")
    if asked == "public" and not fit:
        why = "it was made with a seed" if run["safe"] else "it is not safe"
        hint = "Leave out --audience: the report is then internal."
        raise NotSafe("not_public", f"there is no public report of a release when {why}", hint=hint)
    return "internal" if asked == "internal" or not fit else "public"


def threshold(run: Record) -> int:
    """The smallest count of people a public report shows."""
    return smallest_told(run.get("verdicts", []))


def masked(found: Mapping[str, Any]) -> dict[str, Any]:
    """The records of a release as a public report may show them."""
    run = found["run"]
    k = threshold(run)
    # the steps in which rows left out or written again are counted; earlier records do not say
    step = run.get("step", k if run.get("suppressed") or run.get("repeated") else None)
    several = run.get("values_per_person", "one") != "one"
    shown: Record = {
        **only(run, RUN),
        **words.rows(run, step),
        "choice": public_record.choice(run.get("choice")),
        "claims": only(run.get("claims"), CLAIMS),
        "hierarchies": {name: only(kind, HIERARCHY) for name, kind in run.get("hierarchies", {}).items()},
        "verdicts": [_verdict(verdict, k) for verdict in run.get("verdicts", [])],
        "warnings": [],
        "errors": [],
        "usefulness": {"missing": UNTOLD},
        "insensitive": only(run.get("insensitive"), INSENSITIVE),
        "baseline": _baseline(run, k) if run.get("baseline") else None,
        # how many values there are counts people who were left out
        "columns": _part(
            run,
            "columns",
            lambda columns: [
                {**only(each, COLUMN), "before": None, "after": None, "bars": None} for each in columns
            ],
        ),
    }
    for name, mask in (
        # as they are, or not at all: sums of sizes tell a size that is hidden beside others
        ("groups", lambda groups, k: {"missing": FEW} if groups["smallest"] < k else only(groups, GROUPS)),
        ("curves", lambda curves, k: only(curves, CURVES)),
        ("unasked", _verdict),
        ("skyline", _skyline),
        ("crowds", _crowds),
        # shares of published groups that anybody may count, where the rows tell the groups
        (
            "near_widths",
            lambda curves, k: (
                [only(curve, NEAR) for curve in curves]
                if all(curve["by_rows"] for curve in curves)
                else {"missing": UNTOLD}
            ),
        ),
        # people by label, of columns in which every label is of enough people
        (
            "bars",
            lambda bars, k: {
                column: counts
                for column, counts in bars.items()
                if column in run.get("roles", {}) and min(counts or [0]) >= k
            },
        ),
    ):
        shown[name] = {"missing": SEVERAL} if several else _part(run, name, partial(mask, k=k))
    told = {"run": shown}
    if "release" in found:
        told["release"] = found["release"]
    if "attack_intersection" in found:
        told["attack_intersection"] = _shared(found["attack_intersection"], k)
    return told


def few(number: object, k: int) -> object:
    """A count of people, hidden where it is small.

    >>> few(3, 5), few(0, 5), few(7, 5)
    (5, 0, 7)
    >>> str(few(3, 5))
    'fewer than 5'
    """
    return Below(k) if isinstance(number, int) and 0 < number < k else number


def _part(run: Record, name: str, mask: Callable[[Any], object]) -> object:
    """A part of a run as it may be shown; our own words, and no others, say why it is missing."""
    found = run.get(name)
    if isinstance(found, dict) and "missing" in found:
        return {"missing": UNTOLD}
    return mask(found) if found else None


def _verdict(verdict: Record, k: int) -> Record:
    told = only(public_record.verdict(verdict, by_rows=verdict.get("by_rows", True)), VERDICT)
    told |= only(verdict, ("question", "against", "unit", "estimated"))
    people = verdict.get("witness", {}).get("people")
    value = told["value_float"]
    if told["unit"] == "people":
        told["value_float"] = few(int(value), k) if value is not None else None
    elif people and value is not None and 0 < value * people < k:
        told["value_float"] = k / people  # a share of so few people, rounded up
    withheld = not verdict.get("by_rows", True)
    return {**told, "story": "", "witness": {}, "notes": [], "value": None, "withheld": withheld}


def _baseline(run: Record, k: int) -> Record:
    """Counted from the published rows alone, which anybody may do; few are not told all the same.

    The counts contain one another: where one of them is small, or two differ by few people, none is told.
    """
    crowds = run.get("crowds") or {}
    shown = _crowds(crowds, k) if "as_published" in crowds else {}

    def reader(found: Record, hidden: bool) -> Record:
        above = [found["people_above"][sure] for sure in SURE]
        chain = [n for n in (0, found["certain"], *reversed(above), run.get("rows_out")) if n is not None]
        steps = [more - n for n, more in pairwise(chain)]
        if not (hidden or any(0 < n < hidden_below(k) for n in (found["alone"], *chain, *steps))):
            above_each = {"people_above": only(found["people_above"], tuple(SURE))}
            return only(found, READER) | above_each | {"smallest": few(found["smallest"], k)}
        # nobody, or not told: even that a count is small would give some of them away
        people_above = {sure: n and None for sure, n in found["people_above"].items() if sure in SURE}
        unknown = {"alone": None, "smallest": None, "right_in_all": None}
        told = {"worst_guess": found["worst_guess"], "certain": found["certain"] and None}
        # the sentence that calls limits weak says whether there are any such groups; with a bound of three it
        # would tell that the smallest has two people, where nobody is certain and so nobody alone
        alike = {"few_alike": found["smallest"] < hidden_below(max(k, crowds.get("k", k)))}
        return {**told, **unknown, **alike, "people_above": people_above}

    def hides(which: str) -> bool:
        return which in shown and shown[which] is None and crowds[which] is not None

    known = {name: reader(found, hides("known")) for name, found in run["baseline"]["known"].items()}
    return {"as_published": reader(run["baseline"]["as_published"], hides("as_published")), "known": known}


def hidden_below(k: int) -> int:
    """The size below which a count hides those that it stands beside.

    One more than two where k is three: where nobody is alone, a count of one or two would have to be two.
    """
    return max(k, 4)


def _crowds(crowds: Record, k: int) -> Record:
    """People of the published rows; where one count is small, none, since they add up."""

    def reader(found: Record | None) -> Record | None:
        if found is None:
            return None
        sizes = [n for _, _, n in found["by_size"] or []]
        counts = [found["below"], *sizes, *(found["by_guess"] or [])]
        if any(0 < n < hidden_below(k) for n in counts):
            return None
        return only(found, CROWD)

    most = crowds["reader"]
    return {
        "k": crowds["k"],
        "before": None,
        "reader": most if most and most[0] >= k else None,
        "as_published": reader(crowds["as_published"]),
        "known": reader(crowds["known"]),
    }


def _skyline(skyline: Record, k: int) -> Record:
    """Every value, and how many people have it if every value shows that."""
    values = [only(value, SKYLINE) for value in skyline["values"]]
    if any(value["people"] < k for value in values) or len(values) < skyline["n_values"]:
        values = [{**value, "people": None} for value in values]
    return {"values": values, "n_values": skyline["n_values"]}


def _shared(attack: Record, k: int) -> Record:
    """Shares of the people somebody was looked for among, in tenths and rounded up; no count."""
    everybody = attack["P"]
    told: Record = {"releases": attack.get("releases"), "P": few(everybody, k)}
    if isinstance(told["P"], Below):
        return told
    told |= {"P": None, "n_ok": None, "n_empty": None, "VP": None}
    told["perfect_new"] = _tenths(attack["perfect_new"], everybody, k)
    told["PVP"] = {level: _tenths(share, everybody, k) for level, share in attack["PVP"].items()}
    return told


def _tenths(percent: object, everybody: int, k: int) -> AtMost:
    """A percentage of people, rounded up to a whole step of ten percent, or of k people where that is more.

    >>> _tenths("7", 1000, 5), _tenths(0, 1000, 5), _tenths("12", 20, 5), _tenths("100", 3, 5)
    (10.0, 10.0, 25.0, 100.0)
    """
    step = max(Fraction(10), Fraction(100 * k, everybody))
    return AtMost(min(100.0, float(max(1, ceil(Fraction(str(percent)) / step)) * step)))
