"""The example project: 20,000 invented people, their hierarchies and a privacy.yml to publish them safely.

Everything is drawn from one fixed sequence of uniform numbers of the standard library, which Python keeps
stable, so the files are the same on every machine. No person in it is real. Diagnoses depend on age and sex,
education and hours depend on age, so that a group of similar people says something about each of them.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, product
from pathlib import Path
from random import Random
from typing import TypeVar

from privacy_sql.errors import EngineError, UsageError

T = TypeVar("T")

N_PEOPLE = 20_000
SEED = 20_080_824
HEADER = (
    "person_id",
    "age",
    "sex",
    "zip",
    "marital_status",
    "education",
    "hours_per_week",
    "survey_weight",
    "diagnosis",
)

# people per five years of age, from 20-24 to 85-89
AGE_WEIGHTS = (9, 9, 9, 8.5, 8, 8, 8, 8, 7.5, 7, 6, 5, 4.5, 4)
# zip codes with the same first three digits are neighbours
ZIP_AREAS = {"130": 4.0, "131": 3.0, "148": 3.0}

MARITAL_STATUS = {
    "Never-married": ("Single", "*"),
    "Married": ("Couple", "*"),
    "Cohabiting": ("Couple", "*"),
    "Separated": ("Single", "*"),
    "Divorced": ("Single", "*"),
    "Widowed": ("Single", "*"),
}

EDUCATION = {
    "Primary": ("School", "No-degree", "*"),
    "Lower-secondary": ("School", "No-degree", "*"),
    "Upper-secondary": ("High-school", "No-degree", "*"),
    "Vocational": ("High-school", "No-degree", "*"),
    "Bachelor": ("First-degree", "Degree", "*"),
    "Master": ("Higher-degree", "Degree", "*"),
    "Doctorate": ("Higher-degree", "Degree", "*"),
}

# diagnosis: chapter, weight, change of the weight from age 20 to 90, factor for women
DIAGNOSES = {
    "Asthma": ("Respiratory", 9, 0.6, 1.1),
    "Bronchitis": ("Respiratory", 9, 1.3, 1.0),
    "Influenza": ("Respiratory", 12, 0.8, 1.0),
    "Hypertension": ("Circulatory", 10, 2.0, 0.9),
    "Coronary-disease": ("Circulatory", 6, 2.4, 0.7),
    "Diabetes": ("Metabolic", 8, 1.7, 0.9),
    "Thyroid-disorder": ("Metabolic", 7, 1.1, 1.5),
    "Depression": ("Mental", 10, 0.7, 1.3),
    "Anxiety": ("Mental", 9, 0.6, 1.3),
    "Back-pain": ("Musculoskeletal", 12, 1.1, 0.9),
    "Arthritis": ("Musculoskeletal", 8, 1.9, 1.2),
    "HIV": ("Infectious", 3, 0.6, 0.5),
    "Hepatitis": ("Infectious", 4, 0.9, 0.8),
}

PRIVACY_YML = """\
# What may somebody learn from the published table? This file says it; `privacy-sql run` enforces it.
version: 1
name: city_health_survey
releases:
  people:
    source: {file: data/people.csv}
    identifier: {column: person_id}
    quasi_identifiers:
      - {column: age, hierarchy: {intervals: [5, 10, 20, 40]}}
      - {column: sex, hierarchy: keep_or_drop}
      - {column: zip, hierarchy: {mask: [4, 3, 0]}}
      - {column: marital_status, hierarchy: {file: hierarchies/marital_status.csv}}
      - {column: education, hierarchy: {file: hierarchies/education.csv}}
    sensitive: {column: diagnosis, hierarchy: {file: hierarchies/diagnosis.csv}}
    # hours_per_week is left out: published unchanged (`insensitive:`), it would single out hundreds of
    # people.
    drop: [survey_weight, hours_per_week]
    require:
      k_anonymity: {k: 10}
      l_diversity: {kind: recursive, c: 3, l: 4}
      t_closeness: {t: 0.3}
    method:
      generalise:
        levels: {age: 2, sex: 0, zip: 2, marital_status: 1, education: 2}
        max_suppressed: 0.01
    output: {target: out/people.csv}
"""


def files() -> dict[str, str]:
    """The text of every file of the example project by its path in the project.

    >>> sorted(files())[:2]
    ['data/people.csv', 'hierarchies/diagnosis.csv']
    """
    return {
        "privacy.yml": PRIVACY_YML,
        "data/people.csv": "".join(",".join(row) + "\n" for row in [HEADER, *people()]),
        "hierarchies/marital_status.csv": _hierarchy(MARITAL_STATUS),
        "hierarchies/education.csv": _hierarchy(EDUCATION),
        "hierarchies/diagnosis.csv": _hierarchy({name: (row[0], "*") for name, row in DIAGNOSES.items()}),
    }


def write(folder: Path, *, dry_run: bool = False) -> list[str]:
    """Write the example project without touching existing files; returns the paths of its files."""
    content = files()
    taken = [name for name in content if (folder / name).exists()]
    if taken:
        hint = f"Choose another folder, or run the project there: privacy-sql run --project {folder}"
        name = "privacy.yml" if "privacy.yml" in taken else taken[0]
        raise UsageError("project_exists", f"{name} exists", hint=hint)
    for name, text in () if dry_run else content.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("x", encoding="utf-8") as stream:  # never overwrite
                stream.write(text)
        except OSError:
            raise EngineError("cannot_write", f"cannot write to {folder}") from None
    return sorted(content)


def people() -> Iterator[tuple[str, ...]]:
    """The invented people, in the order of HEADER; the order of their numbers is random."""
    random = Random(SEED)
    zips = [f"{area}{n:02d}" for area in ZIP_AREAS for n in range(1, 13)]
    zip_weights = [weight / (n + 3) for weight in ZIP_AREAS.values() for n in range(12)]
    diagnosis = {}
    for age, sex in product(range(20, 90), "FM"):
        grown = (age - 20) / 70
        weights = [
            weight * (1 + (change - 1) * grown) * (women if sex == "F" else 1)
            for _, weight, change, women in DIAGNOSES.values()
        ]
        diagnosis[age, sex] = _draw(tuple(DIAGNOSES), weights)
    zip_code, age_band = _draw(zips, zip_weights), _draw(range(20, 90, 5), AGE_WEIGHTS)
    marital = {age: _draw(tuple(MARITAL_STATUS), _marital_weights(age)) for age in range(20, 90)}
    education = {age: _draw(tuple(EDUCATION), _education_weights(age)) for age in range(20, 90)}
    for number in range(N_PEOPLE):
        u = random.random
        age = age_band(u()) + int(5 * u())
        sex = "F" if u() < 0.515 else "M"
        full_time = 40 if age < 66 else 8
        yield (
            f"P{(number * 7_919 + 104_729) % 1_000_003:07d}",
            str(age),
            sex,
            zip_code(u()),
            marital[age](u()),
            education[age](u()),
            str(max(0, min(70, round(full_time + 24 * (u() - 0.6))))),
            f"{0.6 + 0.8 * u():.3f}",
            diagnosis[age, sex](u()),
        )


def _draw(values: Sequence[T], weights: Sequence[float]) -> Callable[[float], T]:
    """A function from a uniform number in [0, 1) to a value, by weight."""
    sums = list(accumulate(weights))
    return lambda uniform: values[min(bisect(sums, uniform * sums[-1]), len(values) - 1)]


def _marital_weights(age: int) -> list[float]:
    """People marry or move together early, separate in middle age and are widowed late."""
    early, late = max(0.0, (42 - age) / 22), max(0.0, (age - 57) / 32)
    return [8 + 70 * early, 50 - 30 * early, 14, 4, 5 + 9 * (1 - early), 1 + 34 * late]


def _education_weights(age: int) -> list[float]:
    """Older people spent less time at school, and the youngest have not finished."""
    older, student = (age - 20) / 70, 1.0 if age < 25 else 0.0
    return [
        4 + 10 * older,
        10 + 12 * older,
        30 + 14 * student,
        22,
        20 - 6 * older - 10 * student,
        11 * (1 - student),
        3 * (1 - student),
    ]


def _hierarchy(parents: Mapping[str, tuple[str, ...]]) -> str:
    return "".join(";".join((value, *labels)) + "\n" for value, labels in parents.items())
