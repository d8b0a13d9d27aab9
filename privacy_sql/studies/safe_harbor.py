"""What in a table looks like one of the eighteen identifiers of HIPAA's Safe Harbor (45 CFR 164.514(b)(2)).

A scan, not a verdict: it says what was found, what a column name suggests, and what was not seen. It never
says that something is absent or that a rule is met: a person has to judge free text, pictures and what a
reader knows. It reads distinct values in the engine and returns only counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from privacy_sql.counted.base import files, opened, refuse_strangers
from privacy_sql.engines import Engine, Row, Source
from privacy_sql.engines._sources import is_file, members
from privacy_sql.errors import DataError, UsageError, nearest_column, number_of, people
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.release import Release, refuse_no_release
from privacy_sql.table import Table

KINDS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than a year, ages of 90 and more",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan numbers",
    "J": "account numbers",
    "K": "certificates and licences",
    "L": "vehicles and their plates",
    "M": "devices and their serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "any other code of a person",
}
# the strongest first
FOUND, DECIDE, NAMED, NOT_SEEN = "found", "to decide", "named", "not seen"
STATES = (FOUND, DECIDE, NAMED, NOT_SEEN)
LEAST_PEOPLE = 20_000  # the least people of an area whose first three digits may stay
NEARLY_ALL = 20  # of so many people all but one have a value of their own: nearly a code
OTHER = "other"  # the kind of columns that hold times, lists or bytes


class Pattern(NamedTuple):
    """What values look like, in lower case and followed by a bar; for columns whose name fits, or all."""

    kind: str
    state: str
    text: str
    name: re.Pattern[str] | None = None
    by_digit: bool = False  # a vehicle identification number has a check digit


def _named(words: str) -> re.Pattern[str]:
    """Column names with one of these words; words in angle brackets must stand alone."""
    return re.compile(words.replace("<", "(?<![a-z])").replace(">", "(?![a-z])"), re.IGNORECASE)


AGE = _named("<ages?>|years?.?old|<alter>|<edad>|<[aâ]ge>|年齢|年龄")
DAY = _named(
    "<date|<dob>|<day>|<month>|week.?day|birth(?!.?year)|geburtst|naissance|nacimiento|生年月日|誕生"
)
FAX = _named("fax")
PHONE = _named("phone|<tel>|<mobile>|<cell>|<handy>|telef|電話|电话")
SSN = _named("<ssn>|social.?sec")
URL = _named("<urls?>|website|homepage|<web>")
ZIP = _named("<zip|postal|postcode|<plz>|<zcta|郵便|邮编")
NAMES = {
    "A": _named(
        r"<(first|last|full|given|family|middle|maiden|nick|patient|person|user|mother|father)?.?names?>"
        "|surname|forename|<initials>|vorname|nachname|pr[eé]nom|apellido|<nombre>|氏名|姓名|名前"
    ),
    "B": _named(
        "county|<city|<town|municip|street|address|<zip|postal|postcode|<plz>|<zcta|precinct|parish|district"
        "|geocode|latitude|longitude|<lat>|<lon>|<lng>|<tract|<block>|<puma|neighbou?rhood|village|hometown"
        "|stra(ss|ß)e|wohnort|<ville>|commune|ciudad|direcci|郵便|邮编|住所|市区町村"
    ),
    "C": DAY,
    "D": PHONE,
    "E": FAX,
    "F": _named("e.?mail|<mail>|メール"),
    "G": SSN,
    "H": _named(
        "<mrn>|record.?(id|no|num)|medical.?record|<chart|case.?(id|no|num)|patient.?(id|no|num)|<fallnummer>"
    ),
    "I": _named(
        "beneficiary|health.?plan|<plan.?(id|no|num)|member.?(id|no|num)|<policy|insurance.?(id|no|num)"
    ),
    "J": _named("<account|<acct|<iban>|<card.?(id|no|num)|<konto"),
    "K": _named("licen[sc]e|certificate|<permit|passport|<ausweis"),
    "L": _named("<vin>|vehicle|<plates?>|kennzeichen"),
    "M": _named("<device|serial|<imei>|<mac>|<udi>|implant"),
    "N": URL,
    "O": _named("<ip>|ip.?addr"),
    "P": _named("biometric|finger|voice|<iris|retina|<dna>|genom"),
    "Q": _named("photo|picture|<image|portrait|<face"),
    "R": _named("<id>|<ids>|uuid|<guid>|<key>|<token>|identifier"),
}

# in text a month may be shortened in any way; alone, or beside one number, it must be written as usual
_MONTH = "(jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*[.]?"
_PLAIN_MONTH = (
    "(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?"
    "|nov(ember)?|dec(ember)?)[.]?"
)
_WEEKDAY = "(mon|tue(s)?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?"
_BYTE = "(25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])"
_NUMBER = "([0-9][ ()./+-]{0,3}){7,15}"
_NINETY = "0*(9[0-9]|[1-9][0-9]{2,})([.][0-9]*)?"  # 90 and more
_ABOVE = "0*(9[1-9]|[1-9][0-9]{2,})([.][0-9]*)?"  # more than 90
_TO = " *(-|to|,) *"
_YEARS = "( *y(ea)?(rs?)?( old)?)?"
THREE_DIGITS = "^[0-9]{3}([*x#_]{2,7}|-?[*x#_]{2,6})[|]$"  # a shortened ZIP code
# the same in a column named as one; a spreadsheet dropped the leading zeros
BARE_THREE = "^([0-9]{1,2}|[0-9]{3}[^0-9a-z]*)[|]$"
PATTERNS = (
    # four digits: a spreadsheet dropped the leading zero; what has letters is a code of another country
    Pattern("B", FOUND, "[0-9]{4}", ZIP),
    Pattern("B", DECIDE, "[0-9].*[a-wyz]|[a-wyz].*[0-9]", ZIP),
    Pattern("B", FOUND, "^[0-9]{4}[*x]"),
    Pattern("B", FOUND, "(^|[^0-9])[0-9]{5}-[0-9]{4}([^0-9-])"),
    Pattern("B", FOUND, "(^|[^a-z])[a-z]{2},? [0-9]{5}[^0-9]"),
    Pattern("B", DECIDE, "^[0-9]{5}[|]$"),
    Pattern("C", FOUND, "(^|[^0-9])[0-9]{4}[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12][0-9]|3[01])([^0-9])"),
    Pattern("C", FOUND, "^(19|20)[0-9]{2}[ _](0[1-9]|1[0-2])[ _](0[1-9]|[12][0-9]|3[01])[|]$"),
    Pattern("C", FOUND, "(^|[^0-9])[0-3]?[0-9][-/.][0-3]?[0-9][-/.]([0-9]{4}|[0-9]{2})[^0-9]"),
    Pattern("C", FOUND, "^[0-9]{4}-?(0[1-9]|1[0-2]|q[1-4]|w[0-5][0-9])[|]$", DAY),
    Pattern("C", FOUND, "^[0-9]{4}-(0[1-9]|1[0-2]|q[1-4]|w[0-5][0-9])[|]$"),
    Pattern("C", FOUND, "^((19|20)[0-9]{2} ?(q[1-4]|w[0-5][0-9])|q[1-4][ /-]*(19|20)[0-9]{2})[|]$"),
    Pattern("C", FOUND, "^(0?[1-9]|1[0-2])[/.-](19|20)[0-9]{2}[|]$"),
    Pattern("C", FOUND, "[0-9]{4}年 ?(0?[1-9]|1[0-2])月"),
    Pattern("C", FOUND, f"(^|[^a-z]){_MONTH},? *([0-9]{{1,2}}(st|nd|rd|th)?,? +)?[0-9]{{4}}[^0-9]"),
    Pattern(
        "C", FOUND, f"(^|[^0-9])[0-9]{{1,2}}(st|nd|rd|th)?[. -]*{_MONTH}[ ,-]*([0-9]{{4}}|[0-9]{{2}})[^0-9]"
    ),
    # a day of a month, or a month of a year: both are finer than a year
    Pattern("C", FOUND, f"^({_PLAIN_MONTH}[ ,/-]*[0-9]{{1,2}}|[0-9]{{1,2}}[ /-]*{_PLAIN_MONTH})[|]$"),
    Pattern("C", DECIDE, f"^({_PLAIN_MONTH}|{_WEEKDAY})[|]$"),
    Pattern("C", DECIDE, "^(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[|]$"),
    # anything but four digits may be a day, a month, or a number of days or seconds
    Pattern("C", DECIDE, "^([0-9]{1,3}|[0-9]{5,})([.][0-9]*)?[|]$", DAY),
    Pattern("C", DECIDE, "^([0-9]{1,2}[-/. ][0-9]{1,2}|[0-9]{4}[-/. ]?[0-9]{3})[|]$", DAY),
    # one class for 90 and older is allowed; 90-94, 95+ and a bare 90 say more
    Pattern("C", FOUND, f"^[[(]?{_NINETY}({_TO}[0-9].*)?{_YEARS}[|]$", AGE),
    Pattern(
        "C",
        FOUND,
        f"^(>=?|≥|over|above|at least)? *{_ABOVE} *[+]?{_YEARS}( (and|or) (older|over|above|more))?[|]$",
        AGE,
    ),
    # some in the class may be 90, and others not
    Pattern(
        "C",
        DECIDE,
        f"^([[(]?0*[0-8]?[0-9]([.][0-9]*)?{_TO}({_NINETY}[]]?|{_ABOVE}[[)]){_YEARS}|> *90)[|]$",
        AGE,
    ),
    Pattern("C", FOUND, "(^|[^0-9])(9[0-9]|1[01][0-9])[ -]?(years?|yrs?|y)[ ./-]{0,2}o(ld)?[^a-z]"),
    Pattern("C", FOUND, "(^|[^a-z])aged? (of )?(9[0-9]|1[01][0-9])[^0-9+]"),
    Pattern("E", FOUND, f"{_NUMBER}[|]$", FAX),
    Pattern("E", FOUND, f"(^|[^a-z])fax[ .:a-z]{{0,12}}[+(]?{_NUMBER}"),
    Pattern("D", FOUND, f"{_NUMBER}[|]$", PHONE),
    Pattern("D", FOUND, f"(^|[^a-z])(tel|(tele)?phone|mobile|cell|call)[ .:a-z]{{0,12}}[+(]?{_NUMBER}"),
    Pattern(
        "D",
        FOUND,
        "(^|[^0-9])([+]?1[ .-]?)?([(][0-9]{3}[)] ?|[0-9]{3}[ ./-])[0-9]{3}[ .-]?[0-9]{4}[^0-9]",
    ),
    Pattern("D", FOUND, "([+]|(^|[^0-9])00)[1-9][0-9]{0,2}([ ()./-]{0,3}[0-9]){7,13}[^0-9]"),
    Pattern("D", DECIDE, "^1?[2-9][0-9]{2}[2-9][0-9]{6}([.]0)?[|]$"),
    Pattern("F", FOUND, "[^ @,;:<>()|]+@[^ @,;:<>()|]+[.][^ @.,;:<>()|0-9]{2,}"),
    # its last four digits come from it too
    Pattern("G", FOUND, "(^|[^0-9-])([0-9]{3}|[x*]{3})[-. ]([0-9]{2}|[x*]{2})[-. ][0-9]{4}([^0-9-])"),
    Pattern("G", FOUND, "[0-9]{4}", SSN),
    Pattern("G", DECIDE, "^[0-8][0-9]{8}([.]0)?[|]$"),
    Pattern("L", FOUND, "^[a-hj-npr-z0-9]{17}[|]$", by_digit=True),
    Pattern("L", DECIDE, "(^|[^a-z0-9])[a-hj-npr-z0-9]{17}[^a-z0-9]"),
    Pattern("N", FOUND, "(https?|ftp)://|(^|[^a-z0-9])www[.][a-z0-9]"),
    Pattern("N", FOUND, "(^|[^a-z0-9@._-])([a-z0-9-]+[.])+(com|org|net|edu|gov|info|example)(/|[|]$)"),
    Pattern("N", FOUND, "^([a-z0-9-]+[.])+[a-z]{2,}(/.*)?[|]$", URL),
    Pattern("O", FOUND, f"(^|[^0-9.])({_BYTE}[.]){{3}}{_BYTE}([^0-9.]|[.][^0-9])"),
    Pattern("O", FOUND, "(^|[^0-9a-f:])([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}[^0-9a-f:]"),
    Pattern("O", FOUND, "(^|[^0-9a-f:])([0-9a-f]{1,4}:){1,6}(:[0-9a-f]{1,4}){1,6}[^0-9a-f:]"),
    # zeros at the start, or at the end
    Pattern("O", FOUND, "^(:(:[0-9a-f]{1,4}){1,7}|([0-9a-f]{1,4}:){1,7}:)(/[0-9]+)?[|]$"),
)
# signs that are typed in several ways, and as which they are read
_TYPED = "０１２３４５６７８９‐‑‒–—−／．＠\u00a0\u2009\u202f\t\n"
_READ_AS = "0123456789------/.@" + " " * 5


@dataclass(frozen=True)
class SignOfIdentifier:
    """One column that may hold one kind of identifier: how sure that is, in how many rows and values."""

    kind: str
    column: str
    state: str
    rows: int = 0
    values: int = 0


@dataclass(frozen=True)
class Scan:
    """What the scan saw in the published columns of one table."""

    name: str
    rows: int
    columns: tuple[str, ...]
    seen: tuple[SignOfIdentifier, ...]
    as_text: tuple[str, ...]  # columns of times, lists or bytes, of which the text was read
    is_people: bool  # whether a row is a person

    def state(self, kind: str) -> str:
        """The strongest sign of a kind; never that it is absent."""
        states = {each.state for each in self.seen if each.kind == kind}
        return next((state for state in STATES if state in states), NOT_SEEN)

    def to_json(self) -> dict[str, Any]:
        counted = "people" if self.is_people else "rows"
        return {
            "name": self.name,
            counted: self.rows,
            "columns": list(self.columns),
            "kinds": {
                kind: {
                    "what": what,
                    "state": self.state(kind),
                    "columns": [
                        {
                            "column": each.column,
                            "state": each.state,
                            counted: each.rows,
                            "values": each.values,
                        }
                        for each in self.seen
                        if each.kind == kind
                    ],
                }
                for kind, what in KINDS.items()
            },
            "as_text": list(self.as_text),
        }

    def sentences(self) -> list[str]:
        """One line for each kind, and what a person has to decide."""
        count = people if self.is_people else lambda n: number_of(n, "row")
        lines = [f"{self.name}: {number_of(len(self.columns), 'column')} of {count(self.rows)}"]
        for kind, what in KINDS.items():
            told = [
                each.column
                if each.state == NAMED
                else f"{each.column} ({count(each.rows)}, {number_of(each.values, 'value')})"
                for each in self.seen
                if each.kind == kind and each.state == self.state(kind)
            ]
            lines.append(f"  {kind}  {self.state(kind):<9}  {what}{': ' if told else ''}{', '.join(told)}")
        if self.as_text:
            lines.append(f"  read as text, although the type is another: {', '.join(self.as_text)}")
        return [
            *lines,
            '  "not seen" means that the scan recognised nothing of the kind, not that there is none.',
            '  A person has to judge free text, pictures, what else a reader knows, and "actual knowledge".',
        ]


def safe_harbor(engine: Engine, table: Table | Release, *, areas: Source | None = None) -> Scan:
    """What looks like a Safe Harbor identifier in the published columns of a table or a release.

    All columns of a table count as published except those that never are: the identifier, the household, the
    weight and dropped columns. `areas` lists how many people live in the area of each three digits of a ZIP
    code (columns zip3 and people); without it a person has to decide on these.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["34", "91"], "note": ["fine", "call 617-555-0123"]})
    >>> with ps.connect() as engine:
    ...     found = ps.safe_harbor(engine, ps.Table(rows, ["age", "note"]))
    >>> found.state("C"), found.state("D"), found.state("F")
    ('found', 'found', 'not seen')
    """
    if not isinstance(table, Table):
        refuse_no_release(table)
        # the rows that would leave
        if table.promise is not None or table.parts or table.grouping.one_table is None:
            hint = "Scan a release that shows the rows of one table."
            raise UsageError("no_rows", f"{table.method} publishes no rows of people", hint=hint)
        engine = table.base.engine
        source = engine.rows_of(table.view)
        is_people = table.table.values_per_person == "one"
        return _scanned(engine, table.name, source, engine.columns(source), areas, is_people=is_people)
    refuse_strangers(engine, table)
    named = files(table)
    session = engine.session(named)
    source, kinds = opened(session, table)
    inside = {"identifier", "household", "weight", "count", "dropped"}
    columns = [name for name in kinds if table.roles.get(name) not in inside]
    if named and columns:  # read a file once, not once per column
        read = [*columns, *([table.identifier] if table.identifier else [])]
        source = session.create(
            render("counted/where.sql", source=source, condition=Sql("true"), columns=read)
        )
    is_people = table.values_per_person == "one" and table.count is None
    published = {name: kinds[name] for name in columns}
    return _scanned(
        session, table.name, source, published, areas, is_people=is_people, person=table.identifier
    )


def _scanned(
    engine: Engine,
    name: str,
    source: Sql,
    kinds: dict[str, str],
    areas: Source | None,
    *,
    is_people: bool,
    person: str | None = None,
) -> Scan:
    """`person` is the column that tells which rows are of one person; without it every row is another."""
    listed = None if areas is None else _areas(engine, areas)
    seen: list[SignOfIdentifier] = []
    (sizes,) = engine.fetch(render("counted/rows.sql", relation=source))
    as_text = [column for column, kind in kinds.items() if kind == OTHER]
    for column in kinds:
        # words of a name may begin with a capital letter: ageAtVisit
        named = f"{column} {re.sub('(?<=[a-z])(?=[A-Z])', '_', column)}"
        by_name = [
            SignOfIdentifier(kind, column, NAMED) for kind, pattern in NAMES.items() if pattern.search(named)
        ]
        asked = _asked(named, with_areas=listed is not None)
        query = _query(
            source, column, asked, _three_digits(named), listed, as_text=column in as_text, person=person
        )
        (found,) = engine.fetch(query)
        by_value = list(_by_value(column, asked, found))
        sure = {each.kind for each in by_value}
        seen += [*by_value, *(each for each in by_name if each.kind not in sure)]
    order = list(KINDS)
    seen.sort(key=lambda each: (order.index(each.kind), STATES.index(each.state)))
    return Scan(name, sizes["n_rows"], tuple(kinds), tuple(seen), tuple(as_text), is_people)


class _Kind(NamedTuple):
    """Patterns that are counted together: a value that fits two of them counts once."""

    kind: str
    state: str
    by_digit: bool


def _asked(named: str, *, with_areas: bool) -> dict[_Kind, str]:
    """The patterns of a column by the sign they give; with a list of areas nobody has to decide on those."""
    texts: dict[_Kind, list[str]] = {}
    for each in PATTERNS:
        if each.name is None or each.name.search(named):
            texts.setdefault(_Kind(each.kind, each.state, each.by_digit), []).append(each.text)
    if not with_areas:
        texts[_Kind("B", DECIDE, by_digit=False)].append(_three_digits(named))
    return {key: "|".join(f"({text})" for text in patterns) for key, patterns in texts.items()}


def _three_digits(named: str) -> str:
    return f"({THREE_DIGITS})|({BARE_THREE})" if ZIP.search(named) else THREE_DIGITS


def _query(
    source: Sql,
    column: str,
    asked: dict[_Kind, str],
    three: str,
    areas: Sql | None,
    *,
    as_text: bool,
    person: str | None,
) -> Query:
    """How many values and rows of a column fit the patterns of each kind."""
    patterns = [(Sql(f"p{n}"), Sql(f"'{text}'"), key.by_digit) for n, (key, text) in enumerate(asked.items())]
    words = {name: Sql(name) for name in ("words", "total")}
    return render(
        "studies/safe_harbor.sql",
        source=source,
        column=column,
        as_text=as_text,
        person=person,
        patterns=patterns,
        areas=areas,
        three_digits=Sql(f"'{three}'"),
        least=LEAST_PEOPLE,
        typed=Sql(f"'{_TYPED}'"),
        read_as=Sql(f"'{_READ_AS}'"),
        eleven=Sql("11"),
        **words,
    )


def _by_value(column: str, asked: Iterable[_Kind], found: Row) -> Iterator[SignOfIdentifier]:
    """What the values of a column look like, with the strongest sign of each kind."""
    told: dict[str, SignOfIdentifier] = {}
    if found.get("n_area"):
        told["B"] = SignOfIdentifier("B", column, FOUND, found["n_area"], found["n_areas"])
    for state in (FOUND, DECIDE):
        for n, key in enumerate(asked):
            if (
                key.state == state
                and found[f"p{n}"]
                and (key.kind not in told or told[key.kind].state == state)
            ):
                before = told.get(key.kind)
                rows = found[f"p{n}"] + (before.rows if before else 0)
                values = found[f"v_p{n}"] + (before.values if before else 0)
                told[key.kind] = SignOfIdentifier(key.kind, column, state, rows, values)
    alone, present, values = found["n_single"], found["n_present"], found["n_codes"]
    if values > 1 and alone == present:
        told["R"] = SignOfIdentifier("R", column, FOUND, present, values)
    elif values >= NEARLY_ALL - 1 and alone * NEARLY_ALL >= present * (NEARLY_ALL - 1):
        told["R"] = SignOfIdentifier("R", column, DECIDE, alone, values)
    return iter(told.values())


def _areas(engine: Engine, areas: Source) -> Sql:
    """How many people live in the area of each three digits; what is not a number counts as nobody."""
    session = engine.session(members(Path(areas)) if is_file(areas) else ())
    listed = session.source(areas)
    known = list(session.columns(listed))
    for column in ("zip3", "people"):
        if column not in known:
            raise DataError(
                "no_areas",
                f"the list of areas has no column {column}",
                where="areas",
                hint=nearest_column(column, known) or "It needs the columns zip3 and people.",
            )
    rows = session.fetch(render("studies/areas.sql", listed=listed, people=Sql("people")))
    columns = {
        "zip3": ("varchar", [row["zip3"] for row in rows]),
        "people": ("double", [row["people"] for row in rows]),
    }
    return engine.load(columns, "areas")
