"""Who a report is for, and what a public one keeps to itself.

A public report names no group's worst case and no count of people below k (5 where no k is required), and
hides so many others with it that no hidden one is a sum or a difference of those that are told.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Literal

from privacy_sql.errors import NotSafe
from privacy_sql.records import Record
from privacy_sql.reporting.words import AtMost, Below

Audience = Literal["internal", "public"]
LEAST = 5
UNTOLD = "A public report does not measure what few suppressed rows cost: it would tell how many they are."
FEWEST = 3  # "fewer than 2" would tell that it is one


def audience_of(run: Record, asked: str | None) -> Audience:
    """Internal for what is not safe or made with a seed, public for what is safe; refuses the opposite."""
    fit = bool(run["safe"]) and not run.get("rehearsal")
    if asked == "public" and not fit:
        why = "it was made with a seed" if run["safe"] else "it is not safe"
        hint = "Leave out --audience: the report is then internal."
        raise NotSafe("not_public", f"there is no public report of a release when {why}", hint=hint)
    return "internal" if asked == "internal" or not fit else "public"


def threshold(run: Record) -> int:
    """The smallest count of people a public report shows: the largest k that is required of groups."""
    required = [v["params"].get("k") for v in run.get("verdicts", []) if v["unit"] == "people"]
    return max(FEWEST, max([int(k) for k in required if str(k).isdigit()], default=LEAST))


def masked(found: Mapping[str, Any]) -> dict[str, Any]:
    """The records of a release as a public report may show them."""
    kept = copy.deepcopy(dict(found))
    k = threshold(kept["run"])
    shares = {v["requirement"] for v in kept["run"].get("verdicts", []) if v["unit"] != "people"}
    _run(kept["run"], shares, k)
    for name, mask in (
        ("search", _search),
        ("attack_knowledge", _knowledge),
        ("attack_intersection", _shared),
    ):
        if name in kept:
            mask(kept[name], shares, k)
    return kept


def few(number: Any, k: int) -> Any:
    """A count of people, hidden where it is small.

    >>> few(3, 5), few(0, 5), few(7, 5)
    (5, 0, 7)
    >>> str(few(3, 5))
    'fewer than 5'
    """
    return Below(k) if isinstance(number, int) and 0 < number < k else number


def parts(counts: Sequence[int], k: int) -> list[int]:
    """Counts whose sum is known: a small one is hidden together with the next larger.

    >>> list(map(str, parts([40, 3, 0, 9], 5))), list(map(str, parts([0, 3, 40], 5)))
    (['40', 'fewer than 5', '0', 'fewer than 40'], ['0', 'fewer than 5', 'fewer than 43'])
    >>> parts([40, 30], 5)
    [40, 30]
    """
    end = _above([number for number in counts if number], k, sum(counts))
    return [few(number, k) if number < k else few(number, end) for number in counts]


def _above(counts: Sequence[int], k: int, total: int) -> int:
    """Below which counts are hidden: k where none is smaller, else what leaves a second one hidden."""
    larger = sorted({number for number in counts if number >= k})
    if len(larger) == len(set(counts)) or not larger:
        return k
    return larger[1] if len(larger) > 1 else total


def _run(run: Record, shares: set[str], k: int) -> None:
    told = [*run.get("verdicts", []), *([run["unasked"]] if _there(run, "unasked") else [])]
    for verdict in told:
        _verdict(verdict, k)
    run["warnings"] = []
    # the rounds of a local recoding tell how many people each saved
    run["choice"] = {key: value for key, value in (run.get("choice") or {}).items() if key != "rounds"}
    run["suppressed"] = few(run.get("suppressed"), k)
    if isinstance(run["suppressed"], Below):
        run["rows_in"] = None  # the difference to the rows published would tell
        run["usefulness"] = {"missing": UNTOLD}  # so would what each row that is missing costs
    if _there(run, "groups"):
        _groups(run["groups"], k)
    if run.get("baseline"):  # counted from the published rows alone, which anybody may do
        for reader in (run["baseline"]["as_published"], *run["baseline"]["known"].values()):
            reader.update({name: few(reader[name], k) for name in ("alone", "certain", "smallest")})
    if _there(run, "skyline"):
        values = run["skyline"]["values"]
        for value, number in zip(values, parts([v["people"] for v in values], k), strict=True):
            value["people"] = number
    _lattice(run.get("lattice"), shares, k)


def _there(run: Record, part: str) -> bool:
    return bool(run.get(part)) and "missing" not in run[part]


def _verdict(verdict: Record, k: int) -> None:
    people = verdict.get("witness", {}).get("people")
    value = verdict["value_float"]
    if verdict["unit"] == "people":
        verdict["value_float"] = few(int(value), k) if value is not None else None
    elif people and value is not None and 0 < value * people < k:
        verdict["value_float"] = k / people  # a share of so few people, rounded up
    verdict.update(dict.fromkeys(("story",), ""), witness={}, notes=[], value=None)


def _groups(groups: Record, k: int) -> None:
    sizes = [size for size, _ in groups["sizes"]]
    total = 2 * sizes[-1] if groups["binned"] else sum(size * n for size, n in groups["sizes"])
    end = _above(sizes, k, total)
    for name in ("smallest", "median", "largest"):
        groups[name] = few(groups[name], k) if groups[name] < k else few(groups[name], end)
    small = sum(n for size, n in groups["sizes"] if size < end)
    large = [[size, n] for size, n in groups["sizes"] if size >= end]
    groups["sizes"] = [*([[Below(end), small]] if small else []), *large]


def _search(search: Record, shares: set[str], k: int) -> None:
    # a search for marginals has no frontier, and its tables no risks
    points = [*search["minimal"], *search.get("frontier", ()), *([search["best"]] if search["best"] else [])]
    for point in points:
        point["risks"] = _risks(point.get("risks", {}), shares, k)
        if "suppressed" in point:
            point["suppressed"] = few(point["suppressed"], k)
        if isinstance(point.get("suppressed"), Below):
            point["values"] = {}  # a utility tells how many rows it was charged for
    _lattice(search.get("lattice"), shares, k)


def _lattice(lattice: Record | None, shares: set[str], k: int) -> None:
    for point in (lattice or {}).get("choices", []):
        point["risks"] = _risks(point["risks"], shares, k)


def _risks(risks: Mapping[str, Any], shares: set[str], k: int) -> dict[str, Any]:
    """The risks of choices that were not published; what counts people, or may, is left out below k."""
    return {name: v for name, v in risks.items() if name in shares or (v is not None and v >= k)}


def _knowledge(attack: Record, shares: set[str], k: int) -> None:
    for adversary in attack["adversaries"]:
        adversary["vulnerable"] = few(adversary["vulnerable"], k)
        adversary["undecided"] = few(adversary["undecided"], k)
        adversary["witness"] = {}


def _shared(attack: Record, shares: set[str], k: int) -> None:
    """As it is where every set of people that can be told apart is empty or large; else in tenths."""
    told = {
        name: attack.get(name) for name in ("releases", "P", "n_ok", "n_empty", "VP", "perfect_new", "PVP")
    }
    if any(0 < people < k for people in _told_apart(attack)):
        everybody = attack["P"]
        told |= {"P": few(everybody, k), "n_ok": None, "n_empty": None, "VP": None}
        told["perfect_new"] = _tenths(attack["perfect_new"], everybody, k)
        told["PVP"] = {level: _tenths(share, everybody, k) for level, share in attack["PVP"].items()}
    attack.clear()
    attack.update(told)


def _told_apart(attack: Record) -> list[int]:
    """How many people are in each set that sums and differences of the attack's counts can tell."""
    everybody, found, lost = attack["P"], attack["n_ok"], attack["VP"]
    new, sure = (_people(attack[name], everybody) for name in ("perfect_new", "perfect"))
    exposed = sorted(_people(share, everybody) for share in attack["PVP"].values())
    steps = [after - before for before, after in zip([0, *exposed], [*exposed, found], strict=True)]
    known = [new, sure - new, lost - new, found - sure - lost + new, lost, found - lost]
    return [
        everybody,
        found,
        attack["n_empty"],
        attack["n_unlocated"],
        everybody - found,
        *steps,
        *exposed,
        *known,
    ]


def _people(percent: Any, everybody: int) -> int:
    return int(Fraction(str(percent)) * everybody / 100)


def _tenths(percent: Any, everybody: int, k: int) -> AtMost:
    """A percentage of people, rounded up to a whole step of ten percent, or of k people where that is more.

    >>> _tenths("7", 1000, 5), _tenths(0, 1000, 5), _tenths("12", 20, 5), _tenths("100", 3, 5)
    (10.0, 10.0, 25.0, 100.0)
    """
    step = max(Fraction(10), Fraction(100 * k, everybody))
    return AtMost(min(100.0, float(max(1, ceil(Fraction(str(percent)) / step)) * step)))
