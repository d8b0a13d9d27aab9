"""A table in counts: for each column its number of values, how many are missing or unique, and their kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

from privacy_sql.display.progress import report
from privacy_sql.engines import Engine, Source
from privacy_sql.engines._sources import is_file, members
from privacy_sql.errors import DataError
from privacy_sql.query.template import Sql, render

DATE = re.compile(r"\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4}")
FEW = 60  # values a column may have and still be shown whole or not at all
CODE = 3  # more characters than this, as many in every value, make a code
CODE_NAME = re.compile(
    r"zip|postal|postcode|plz|code|kennziffer|(?<![a-z])(icd|puma|fips|cp|no|nr|num|number|id)(?![a-z])|郵便|邮编",
    re.IGNORECASE,
)
NUMBER_OF = r"[\W_]*(id|no|nr|num|number|key|code|nummer)"
WHOSE = (
    r"(person|patient|people|employee|staff|member|customer|client|subject|student|pupil|respondent|participant"
    r"|applicant|citizen|resident|user|insured|personal|mitarbeiter|besch[aä]ftigten?|kunden?|patienten"
    r"|versicherten?)"
)
PERSON = re.compile(rf"(?<![a-z]){WHOSE}{NUMBER_OF}(?![a-z])", re.IGNORECASE)
OWN = {"value": Sql("value"), "words": Sql("words")}  # what the template calls a value and its text


def of_many_people(n_values: int, n_rows: int) -> bool:
    """Whether a column that is named like a person's number has a value for each of many people."""
    return 2 * n_values > min(FEW, n_rows)


def says_whose(column: str) -> bool:
    """Whether a column is named like what says whose row it is.

    >>> says_whose("patient"), says_whose("Customer-No"), says_whose("patient_age"), says_whose("zip")
    (True, True, False, False)
    """
    return PERSON.search(column) is not None or re.fullmatch(WHOSE, column, re.IGNORECASE) is not None


@dataclass(frozen=True)
class ProfiledColumn:
    """One column in counts; all but the first five are counts of distinct values, or of their characters."""

    name: str
    type: str  # the type in the engine: text, integer, number, boolean, date or other
    n_rows: int
    n_nulls: int
    n_single: int  # values of a single row
    n_top: int  # rows of the most common value, missing ones together being one
    n_values: int
    n_numbers: int
    n_whole: int
    n_dates: int  # written as 2024-03-05
    n_other_dates: int
    n_commas: int  # numbers with a decimal comma
    n_phrases: int  # of four words or more
    low: float | None
    high: float | None
    shortest: int
    longest: int

    @property
    def unique(self) -> bool:
        """Whether every row has a value of its own."""
        return self.n_values == self.n_rows > 1

    @property
    def alone(self) -> Fraction:
        """The share of rows with a value that no other row has."""
        return Fraction(self.n_single, self.n_rows or 1)

    @property
    def dates(self) -> bool:
        """Whether its values are dates, in any order of day, month and year."""
        return 0 < self.n_values == self.n_dates + self.n_other_dates

    @property
    def decimal_commas(self) -> bool:
        """Whether its values are numbers, some with a decimal comma, which hierarchies do not read."""
        return 0 < self.n_commas == self.n_values - self.n_numbers

    @property
    def fractions(self) -> bool:
        """Whether some of its numbers are not whole."""
        return self.n_whole < self.n_numbers or self.decimal_commas

    @property
    def code(self) -> bool:
        """Whether it has many values, all of the same length.

        Numbers are one where some begin with 0, however few they are, or where the name says so: amounts may
        have one length too.
        """
        if not self.shortest == self.longest > CODE or self.fractions:
            return False
        if self.n_values <= FEW:
            return self.n_numbers == self.n_values and 0 <= (self.low or 0) < 10 ** (self.longest - 1)
        amount = self.n_numbers == self.n_values and (self.low or 0) >= 10 ** (self.longest - 1)
        return not amount or CODE_NAME.search(self.name) is not None

    @property
    def free_text(self) -> bool:
        """Whether its values are many, and most of them phrases."""
        return 2 * self.n_phrases > self.n_values > max(FEW, (self.n_rows - self.n_nulls) / 10)

    @property
    def kind(self) -> str:
        """What its values look like: empty, identifier, date, number, code, free text or text."""
        if not self.n_values:
            return "empty"
        if self.dates:
            return "date"
        if self.free_text:
            return "free text"
        numbers = self.n_numbers == self.n_values
        if self.unique and not (numbers and self.fractions) and not self.decimal_commas:
            return "identifier"
        if self.code:
            return "code"
        return "number" if numbers or self.decimal_commas else "text"

    def to_json(self) -> dict[str, object]:
        """Its counts, its kind, and the share of rows that it singles out."""
        counts = {name: part for name, part in asdict(self).items() if name not in ("name", "low", "high")}
        return {"column": self.name, "kind": self.kind, **counts, "alone": str(self.alone)}


@dataclass(frozen=True)
class Profile:
    """A source, read once: its rows as a relation, and its columns in counts."""

    engine: Engine
    relation: Sql
    columns: Mapping[str, ProfiledColumn]

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return next((column.n_rows for column in self.columns.values()), 0)


def profile(engine: Engine, source: Source) -> Profile:
    """The columns of a source in counts, in its order; a file is read once, not once per column."""
    named = members(Path(source)) if is_file(source) else []
    session = engine.session(named)
    relation = session.source(source)
    kinds = session.columns(relation)
    if named:
        report(f"reading {named[0].name}", 0, 1)
        everything = Sql("true")
        copied = render("counted/where.sql", source=relation, condition=everything, columns=list(kinds))
        relation = session.create(copied)
    made = {}
    for place, (name, kind) in enumerate(kinds.items()):
        report("counting values, column by column", place, len(kinds))
        (counts,) = session.fetch(render("counted/profile.sql", source=relation, column=name, **OWN))
        made[name] = ProfiledColumn(name, kind, **counts)
        if made[name].dates and DATE.fullmatch(name.strip()):
            # the first line is about a person, so no name of it may be shown
            raise DataError(
                "no_header",
                f"the source has no header: column {place + 1} has dates, and its name is a date",
                hint="Add a first line with the names of the columns.",
            )
    return Profile(session, relation, made)
