"""An invented table of 43 columns and 300,000 people, as wide as a census extract, for the first hour.

`python -m benchmarks.wide_table FILE.csv [ROWS]` writes it, the same rows every time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

ROWS = 300_000
# what a stranger may know of somebody, with how many values
KNOWN = {
    "age": 91,
    "sex": 2,
    "race": 5,
    "hispanic_origin": 10,
    "marital_status": 7,
    "education": 17,
    "citizenship": 5,
    "state_of_previous_residence": 51,
    "region_of_previous_residence": 6,
    "country_of_birth_self": 43,
    "country_of_birth_father": 43,
    "country_of_birth_mother": 43,
    "detailed_industry": 52,
    "detailed_occupation": 47,
    "household_status": 38,
}
OTHERS = {
    "class_of_worker": 9,
    "enrolled_last_week": 3,
    "union_member": 3,
    "reason_for_unemployment": 6,
    "full_or_part_time": 8,
    "capital_gains": 130,
    "capital_losses": 110,
    "dividends": 1500,
    "tax_filer": 6,
    "migration_code": 10,
    "migration_within_region": 9,
    "lived_here_a_year": 3,
    "previous_residence_sunbelt": 4,
    "persons_worked_for": 7,
    "parents_present": 5,
    "own_business": 3,
    "questionnaire": 3,
    "veterans_benefits": 3,
    "weeks_worked": 53,
    "year": 2,
    "one_value": 1,
    "panel": 4,
    "rotation": 8,
    "interview_month": 12,
    "mode": 3,
}


def write(place: Path, rows: int = ROWS) -> None:
    """Write the table as CSV; frequent values come first, and columns know nothing of one another."""
    columns = ["'P' || lpad(cast(n as varchar), 7, '0') as person_id"]
    for number, (name, values) in enumerate({**KNOWN, **OTHERS}.items()):
        share = f"(hash(n * 64 + {number}) % 1000003) / 1000003.0"
        value = f"cast(floor(pow({share}, {1 + number % 3}) * {values}) as integer)"
        words = values <= 60 and name != "weeks_worked" and name != "year"
        columns.append(f"'{name[:4]}-' || {value} as {name}" if words else f"{value} as {name}")
    columns.append("round(100 + (hash(n * 64 + 61) % 1000003) / 700.0, 2) as survey_weight")
    illness = ["none", "asthma", "flu", "diabetes", "gout", "mumps", "migraine", "anaemia"]
    chosen = f"cast(floor(pow((hash(n * 64 + 62) % 1000003) / 1000003.0, 1.2) * {len(illness)}) as integer)"
    columns.append(f"{illness}[{chosen} + 1] as diagnosis")
    with duckdb.connect() as connection:
        selected = f"select {', '.join(columns)} from range({rows}) as r(n)"
        connection.execute(f"copy ({selected}) to '{place}' (header)")


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROWS)
