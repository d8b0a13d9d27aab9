"""Nothing wrong is called safe: every method's published bytes are judged again by the slow definitions.

Random tables of up to eight people, with the values that most often go wrong (NULL, look-alikes, numbers
written in two ways), and limits so simple that ties are common. A release that is written must be safe by
brute force, hold every row once, and say nothing of a person that is not true; a release that is refused as
not safe must be unsafe by brute force.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import PrivacySqlError
from tests import parts
from tests.conftest import NIGHTLY
from tests.oracles.verdicts import Known, keeps
from tests.test_matrix import refused

few = settings(deadline=None, max_examples=3 if NIGHTLY else 2, suppress_health_check=list(HealthCheck))

AGES = [20, 21, 25, 31, 38]
PARENTS = {"a": "x", "b": "x", "c": "y", "d": "y"}
JOBS = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
NUMBERS = {"1": ["low", "*"], "2": ["low", "*"], "10": ["high", "*"], "-0.5": ["high", "*"]}
# texts that a careless comparison takes for one another
LOOK_ALIKES = ["flu", "Flu", "flu ", "ﬂu", "NULL", None]

PERSON = st.tuples(st.sampled_from(AGES), st.sampled_from(sorted(PARENTS)), st.sampled_from(sorted(NUMBERS)))
ODD = st.tuples(
    st.sampled_from([*AGES, None]), st.sampled_from([*PARENTS, None]), st.sampled_from(LOOK_ALIKES)
)
SHARE = st.sampled_from(["1/4", "1/3", "1/2", "2/3", "3/4", "1"])
SMALL = st.integers(1, 4)

CRITERIA: dict[str, Any] = {
    "k_anonymity": st.builds(ps.KAnonymity, SMALL),
    "l_diversity": st.one_of(
        st.builds(ps.LDiversity, SMALL),
        st.builds(
            lambda ell, kind: ps.LDiversity(ell, kind=kind),
            st.sampled_from(["1", "3/2", "2", "3"]),
            st.sampled_from(["entropy", "probabilistic"]),
        ),
        st.builds(
            lambda ell, c, strict: ps.LDiversity(ell, kind="recursive", c=c, strict=strict),
            SMALL,
            st.sampled_from(["1/2", "1", "2", "3"]),
            st.booleans(),
        ),
    ),
    "t_closeness": st.builds(ps.TCloseness, SHARE, st.sampled_from(["equal", "ordered", "hierarchical"])),
    "alpha_k_anonymity": st.builds(ps.AlphaKAnonymity, SHARE, st.integers(1, 3)),
    "beta_likeness": st.builds(
        ps.BetaLikeness,
        st.sampled_from(["1/3", "1/2", "1", "2", "3"]),
        st.sampled_from(["basic", "enhanced"]),
    ),
    "delta_disclosure": st.builds(ps.DeltaDisclosure, st.sampled_from(["0.3", "0.7", "1", "2"])),
    "k_map": st.builds(ps.KMap, SMALL),
    "delta_presence": st.builds(ps.DeltaPresence, st.sampled_from(["0", "1/4"]), SHARE),
    "ck_safety": st.builds(ps.CKSafety, SHARE, st.integers(0, 2)),
    "privacy_skyline": st.builds(
        lambda points, limit: ps.PrivacySkyline([[*points, limit]]),
        st.tuples(*[st.integers(0, 1)] * 3),
        SHARE,
    ),
    "bt_privacy": st.builds(
        # the oracle measures without smoothing, which a hierarchy of the sensitive values would bring
        lambda width, t: ps.BTPrivacy([[width, t]], distance="js"),
        st.sampled_from(["3/10", "1", "inf"]),
        st.sampled_from(["0.05", "0.2", "0.5"]),
    ),
    "k_link": st.builds(ps.KLink, SMALL),
    "k_combinatorial": st.builds(ps.KCombinatorial, SMALL),
    "maxent_l_diversity": st.one_of(
        st.builds(lambda ell, c: ps.MaxentLDiversity(l=ell, c=c), SMALL, st.sampled_from(["1", "2", "3"])),
        st.builds(
            lambda ell, kind: ps.MaxentLDiversity(
                l=ell, kind=kind, epsilon="1/3" if kind == "relaxed" else None
            ),
            SMALL,
            st.sampled_from(["entropy", "distinct", "relaxed"]),
        ),
    ),
}
LEVELS = st.fixed_dictionaries({"age": st.integers(0, 2), "job": st.integers(0, 2)})
SUPPRESSED = st.sampled_from(["0", "1/4", "1/2"])
METHODS: dict[str, Any] = {
    "generalise": st.builds(ps.Generalise, LEVELS, max_suppressed=SUPPRESSED),
    "full_domain": st.builds(
        lambda share, local: ps.FullDomain(max_suppressed=share, local_recoding=local),
        SUPPRESSED,
        st.booleans(),
    ),
    "bucketize": st.one_of(
        st.builds(ps.Bucketize, LEVELS),
        st.just(ps.Bucketize("anatomy")),
        st.just(ps.Bucketize("full_domain")),
        st.builds(lambda ell: ps.Bucketize("anatomy", l=ell), st.integers(2, 3)),
    ),
    "multidimensional": st.builds(
        lambda split, output, strict, share: ps.Multidimensional(
            split=split, output=output, strict=strict, max_suppressed=share
        ),
        st.sampled_from(["median", "range", "information_gain"]),
        st.sampled_from(["generalised", "bucketized"]),
        st.booleans(),
        SUPPRESSED,
    ),
    "microaggregate": st.builds(
        lambda k, size, together: ps.Microaggregate(k, size=size, together=together),
        st.integers(1, 3),
        st.sampled_from(["fixed", "variable"]),
        st.booleans(),
    ),
}
# a criterion that is not among these is drawn as its own test says, a method is tried as it declares itself;
# households are not among the columns here, and their own test publishes them;
# marginals are judged together in tests/criteria, and noisy counts are a promise of the noise
for other in parts.others("criteria", CRITERIA, ["composition", "household_k_anonymity"]):
    CRITERIA[other] = parts.own_test("criteria", other).DRAWN
for other in parts.others("methods", METHODS, ["marginals", "noisy_counts"]):
    METHODS[other] = st.just(parts.method(other))
# questions that read numbers, or what people are alike in, are asked of tables without NULL and look-alikes
PLAIN = {"t_closeness", "bt_privacy", "composition"}
PLAIN |= {name for name in CRITERIA if "PLAIN" in vars(parts.own_test("criteria", name))}


def label(age: Any, job: Any, levels: dict[str, int]) -> tuple[Any, Any]:
    """How a person's group is written, by hand; NULL is an empty field below the top."""
    ages = ("" if age is None else age, "" if age is None else f"{age // 10}0-{age // 10}9", "*")
    jobs = ("" if job is None else job, "" if job is None else PARENTS[job], "*")
    return str(ages[levels.get("age", 0)]), jobs[levels.get("job", 0)]


def source(people: list[Any], names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(people, columns=names, dtype=object).astype({"age": "Int64"})


def table(people: list[Any], population: list[Any]) -> ps.Table:
    """The people, each with a number that is published, so that who lies in which group is known."""
    numbers = all(value in NUMBERS for _, _, value in people)
    return ps.Table(
        source(
            [(*person, number) for number, person in enumerate(people)], ["age", "job", "illness", "number"]
        ),
        {"age": ps.Intervals(10), "job": JOBS},
        "illness",
        insensitive={"columns": ["number"], "acknowledge": "it says who is who"},
        sensitive_hierarchy=ps.Tree(NUMBERS) if numbers else None,
        population=source([(age, job) for age, job, _ in population], ["age", "job"]),
    )


def read(path: Path, release: ps.Release) -> list[tuple[Any, Any]]:
    """Label and sensitive value of every row of a CSV file."""
    keys = [release.group] if release.group else ["age", "job"]
    with path.open(newline="", encoding="utf-8") as lines:
        return [(tuple(row[key] for key in keys), row["illness"]) for row in csv.DictReader(lines)]


def together(path: Path) -> list[list[int]]:
    """Who lies in each group of a CSV file of generalised rows."""
    found: dict[Any, list[int]] = {}
    with path.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            found.setdefault((row["age"], row["job"]), []).append(int(row["number"]))
    return list(found.values())


def known(people: list[Any], population: list[Any], levels: dict[str, int]) -> Known:
    ages = sorted({age for age, _, _ in people if age is not None})
    span = max(ages, default=0) - min(ages, default=0)
    jobs = sorted(PARENTS)
    apart = [
        [[Fraction(abs(a - b), span or 1) for b in ages] for a in ages],
        [[JOBS.distance(a, b) for b in jobs] for a in jobs],
    ]
    who = [
        (label(age, job, levels), (ages.index(age), jobs.index(job)), value)
        for age, job, value in people
        if age is not None and job is not None
    ]
    everybody = [label(age, job, levels) for age, job, _ in population]
    return Known(everybody, who, apart, paths=NUMBERS)


def written(engine: Any, release: ps.Release, folder: Path) -> list[tuple[Any, Any]]:
    """The rows of a release as they left; one that is called safe is never refused when it is written."""
    out = folder / "out.csv"
    ps.verify(ps.write(engine, release, out, overwrite=True))
    return read(out, release)


PAIRS = [
    (method, criterion)
    for method in METHODS
    for criterion in CRITERIA
    if (method, criterion) not in refused()
    # what is known of a person's group follows from the levels of a generalisation only
    and (
        method in ("generalise", "full_domain") or criterion not in ("k_map", "delta_presence", "bt_privacy")
    )
]


@pytest.mark.widens(6)
@pytest.mark.parametrize(("method", "criterion"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
@few
@given(data=st.data())
def test_what_is_published_is_safe_by_the_definitions_and_what_is_refused_is_not(
    tmp_path: Path, engine: Any, method: str, criterion: str, data: st.DataObject
) -> None:
    person = PERSON if criterion in PLAIN or method == "microaggregate" else ODD
    # all worlds of eight people take minutes to list
    most = 5 if criterion in ("privacy_skyline", "bt_privacy") else 8
    people = data.draw(st.lists(person, min_size=1, max_size=most), label="people")
    others = data.draw(st.lists(person, max_size=4), label="others")
    asked, way = data.draw(CRITERIA[criterion], label="asked"), data.draw(METHODS[method], label="method")
    try:
        release = ps.publish(engine, table(people, [*people, *others]), [asked], way)
    except PrivacySqlError as problem:
        assert problem.code in EXCUSES, problem
        return
    facts = known(people, [*people, *others], release.levels if method != "bucketize" else {})
    if not release.safe:
        assert_unsafe(release, asked, people, facts)
        return
    rows = written(engine, release, tmp_path)
    if criterion == "bt_privacy":
        facts = replace(facts, together=together(tmp_path / "out.csv"))
    assert keeps(asked, rows, facts), (asked, rows)
    assert len(rows) + release.suppressed == len(people)
    assert release.suppressed <= Fraction(getattr(way, "max_suppressed", 0)) * len(people)
    assert not Counter(value for _, value in rows) - Counter(value or "" for _, _, value in people)
    if method in ("generalise", "full_domain") and not getattr(way, "local_recoding", False):
        truth = Counter((label(age, job, release.levels), value or "") for age, job, value in people)
        assert not Counter(rows) - truth


# no choice is safe, or none can be made
EXCUSES = {
    "nothing_safe",
    "no_anatomy",
    "no_safe_choice",
    "whole_not_safe",
    "too_few_rows",
    "undecided",
    "no_population_groups",  # of local recoding
}


def assert_unsafe(release: ps.Release, asked: Any, people: list[Any], facts: Known) -> None:
    """A generalisation without suppression that is called unsafe is unsafe."""
    if release.method == "generalise" and not release.suppressed:
        rows = [(label(age, job, release.levels), value or "") for age, job, value in people]
        assert not keeps(asked, rows, facts), (asked, rows)
