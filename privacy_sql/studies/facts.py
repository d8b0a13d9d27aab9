"""Facts as people write them: one line each, about who has which sensitive value.

    Ed not Mumps
    Gary is Flu
    Hannah is Flu & Bob is Flu -> Charlie is Flu | Dave is Flu
    family AIDS: Ann, Cary, Tom

Names and values stand as in the table; those with a word of the grammar in them go in double quotes. The
third form is Martin et al. 2007, Definition 2; the fourth says that if one of the people has the value, all
have it (Chen et al. 2008, Sec. 3.2). Blank lines and lines that start with # are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from privacy_sql.errors import PrivacySqlError, UsageError, raise_all

ARROWS = ("->", "→")
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[^\s"]\S*|"')
_FAMILY_TOKEN = re.compile(r'"(?:[^"]|"")*"|[,:]|[^\s",:]+|"')


@dataclass(frozen=True)
class Atom:
    """One person has one sensitive value."""

    person: str
    value: str


@dataclass(frozen=True)
class Clause:
    """If all of `if_all` hold, at least one of `then_any` holds; `line` is where the user wrote it.

    `is` has nothing on the left, `not` nothing on the right.
    """

    if_all: tuple[Atom, ...]
    then_any: tuple[Atom, ...]
    line: int


def parse_facts(lines: Iterable[str]) -> tuple[Clause, ...]:
    """The clauses that the lines say, or every line that could not be read, at once.

    >>> parse_facts(["Ed not Mumps"])
    (Clause(if_all=(Atom(person='Ed', value='Mumps'),), then_any=(), line=1),)
    >>> len(parse_facts(["# three implications in a circle", "family AIDS: Ann, Cary, Tom"]))
    3
    """
    clauses: list[Clause] = []
    errors: list[PrivacySqlError] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            clauses += _parse_line(line, number)
        except UsageError as error:
            errors.append(error)
    raise_all(errors)
    return tuple(clauses)


def parse_atom(text: str, where: str = "atom") -> Atom:
    """The atom of a question such as "Tom is AIDS"."""
    return _atom(_tokens(text, where, _TOKEN), where)


def _parse_line(line: str, number: int) -> Iterator[Clause]:
    where = f"facts line {number}"
    if re.match(r"\s*family\s", line) and ":" in line:
        yield from _family(_tokens(line, where, _FAMILY_TOKEN)[1:], where, number)
        return
    tokens = _tokens(line, where, _TOKEN)
    arrow = [i for i, token in enumerate(tokens) if token in ARROWS]
    if not arrow:
        # `Gary is Flu`, or `Ed not Mumps`, which may also be written `Ed is not Mumps`
        if "not" not in tokens:
            yield Clause((), (_atom(tokens, where),), number)
            return
        at = tokens.index("not")
        before = tokens[: at - 1] if tokens[at - 1 : at] == ["is"] else tokens[:at]
        yield Clause((_atom([*before, "is", *tokens[at + 1 :]], where),), (), number)
        return
    if len(arrow) > 1:
        raise _unreadable(where, "it has more than one ->", "Write one implication per line.")
    left = _split(tokens[: arrow[0]], "&")
    right = _split(tokens[arrow[0] + 1 :], "|")
    yield Clause(
        tuple(_atom(part, where) for part in left), tuple(_atom(part, where) for part in right), number
    )


def _family(tokens: Sequence[str], where: str, number: int) -> Iterator[Clause]:
    """Everybody's value implies the next one's, around the circle: one has it, all have it."""
    at = tokens.index(":") if ":" in tokens else len(tokens)
    value, people = _name(tokens[:at], where, "a value"), _split(tokens[at + 1 :], ",")
    names = [_name(part, where, "a person") for part in people]
    if len(set(names)) < 2:
        raise _unreadable(where, "a family needs at least two people", "Write family Value: Name, Name.")
    for person, following in zip(names, names[1:] + names[:1], strict=True):
        yield Clause((Atom(person, value),), (Atom(following, value),), number)


def _atom(tokens: Sequence[str], where: str) -> Atom:
    if tokens.count("is") != 1:
        raise _unreadable(
            where,
            "a person, the word is and a value are expected, once each",
            "Write Name is Value or Name not Value; put double quotes around names with the words is, not, "
            "&, | or -> in them.",
        )
    at = tokens.index("is")
    return Atom(_name(tokens[:at], where, "a person"), _name(tokens[at + 1 :], where, "a value"))


def _name(tokens: Sequence[str], where: str, what: str) -> str:
    """The words of a name; a quoted one loses its quotes and keeps its blanks."""
    words = [token[1:-1].replace('""', '"') if token.startswith('"') else token for token in tokens]
    if not words or not all(words):
        raise _unreadable(where, f"{what} is missing", "Write Name is Value or Name not Value.")
    reserved = {"not", "&", "|", *ARROWS}
    if any(token in reserved for token in tokens):
        raise _unreadable(
            where, f"the name of {what} has a word of the grammar in it", "Put it in double quotes."
        )
    return " ".join(words)


def _tokens(line: str, where: str, pattern: re.Pattern[str]) -> list[str]:
    tokens: list[str] = pattern.findall(line.strip())
    if '"' in tokens:
        raise _unreadable(where, "a double quote is not closed", 'Write "Name" in two double quotes.')
    return tokens


def _split(tokens: Sequence[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _unreadable(where: str, message: str, hint: str) -> UsageError:
    return UsageError("unreadable_fact", f"this line is not a fact: {message}", where=where, hint=hint)
