"""Facts in plain words: one line each, about who has which sensitive value.

    Ed not Mumps
    Gary is Flu
    Hannah is Flu & Bob is Flu -> Charlie is Flu | Dave is Flu
    Ann not Flu -> Bob is Flu
    Ann is Flu <-> Bob is Flu
    family AIDS: Ann, Cary, Tom
    0.8: Ed does not have Mumps
    guess: Tom is AIDS

Write names and values as in the table, in double quotes if they contain a word of the grammar. The third form
is Martin et al. 2007, Definition 2; a family says that if one of the people has the value, all have it (Chen
et al. 2008, Sec. 3.2). A number and a colon before a fact say how strongly it is believed. One line may say
what to guess. Blank lines and lines that start with # are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from privacy_sql.errors import PrivacySqlError, UsageError, raise_all
from privacy_sql.parameters import number_in

GUESS = "guess:"
IF, IF_AND_ONLY_IF = ("->", "→"), ("<->", "↔")
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[^\s"]\S*|"')
_FAMILY_TOKEN = re.compile(r'"(?:[^"]|"")*"|[,:]|[^\s",:]+|"')
# also matches what was meant as a number, such as 0,8 or 80 %, and would otherwise become part of a name
_WEIGHT = re.compile(r"\s*([-+]?[0-9.,][0-9.,/eE+-]*\s*%?)\s*:(?![0-9])(\s*)(\S.*)")


@dataclass(frozen=True)
class NamedAtom:
    """One person has one sensitive value."""

    person: str
    value: str


@dataclass(frozen=True)
class NamedClause:
    """If all of `if_all` hold, at least one of `then_any` holds.

    `is` has nothing on the left, `not` nothing on the right.
    """

    if_all: tuple[NamedAtom, ...]
    then_any: tuple[NamedAtom, ...]


@dataclass(frozen=True)
class NamedFact:
    """What a line says: all of its clauses, with a weight; `line` is its number in the user's text."""

    clauses: tuple[NamedClause, ...]
    line: int
    weight: Fraction = Fraction(1)


Literal = tuple[bool, NamedAtom]  # whether the person has the value
Sentence = list[list[Literal]]  # one literal of each list holds


def parse_facts(lines: Iterable[str]) -> tuple[NamedFact, ...]:
    """What the lines say. One error names every line that could not be read.

    >>> parse_facts(["0.8: Ed not Mumps"])[0].weight
    Fraction(4, 5)
    >>> [
    ...     len(fact.clauses)
    ...     for fact in parse_facts(["family AIDS: Ann, Cary, Tom", "Ann is Flu <-> Bob is Flu"])
    ... ]
    [3, 2]
    """
    facts: list[NamedFact] = []
    errors: list[PrivacySqlError] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            facts.append(_parse_line(line, number))
        except UsageError as error:
            errors.append(error)
    raise_all(errors)
    return tuple(facts)


def without_guess(lines: Iterable[str]) -> tuple[list[str], str | None]:
    """The facts, each in its line, and the guess if a line gives one.

    >>> without_guess(["Ed not Mumps", "guess: Tom is AIDS"])
    (['Ed not Mumps', ''], 'Tom is AIDS')
    """
    found, guesses = list(lines), []
    for number, line in enumerate(found):
        if line.lstrip().startswith(GUESS):
            guesses.append(line.strip().removeprefix(GUESS).strip())
            found[number] = ""
    if len(guesses) > 1:
        hint = "Give one guess, with --atom or in a line of the file, not both."
        raise UsageError("two_guesses", "there is more than one guess", where="facts", hint=hint)
    return found, next(iter(guesses), None)


def parse_atom(text: str, where: str = "atom") -> NamedAtom:
    """The atom of a question such as "Tom is AIDS" or "Tom has AIDS"."""
    holds, atom = _literal(_tokens(text, where, _TOKEN), where)
    if not holds:
        hint = 'Ask for "Tom is AIDS"; the probability that he does not have it is 1 minus the answer.'
        raise _unreadable(where, "the question must say that somebody has a value", hint)
    return atom


def _parse_line(line: str, number: int) -> NamedFact:
    where = f"facts line {number}"
    weighted = _WEIGHT.fullmatch(line)
    weight = number_in(weighted[1]) if weighted else Fraction(1)
    if weight is None or not 0 <= weight <= 1 or (weighted and not weighted[2]):
        hint = (
            "Write 0.8: Name not Value, with a point and a space; put a name with a colon in double quotes."
        )
        raise _unreadable(where, "the weight must be a number from 0 to 1, then a colon", hint)
    said = weighted[3] if weighted else line
    if re.match(r"\s*family\s", said) and ":" in said:
        sentence = _family(_tokens(said, where, _FAMILY_TOKEN)[1:], where)
    else:
        sentence = _sentence(_tokens(said, where, _TOKEN), where)
    clauses = tuple(
        NamedClause(
            tuple(atom for holds, atom in literals if not holds),
            tuple(atom for holds, atom in literals if holds),
        )
        for literals in sentence
    )
    return NamedFact(clauses, number, weight)


def _sentence(tokens: Sequence[str], where: str) -> Sentence:
    """One side, or two with an arrow between them."""
    arrows = [place for place, token in enumerate(tokens) if token in (*IF, *IF_AND_ONLY_IF)]
    if len(arrows) > 1:
        raise _unreadable(where, "it has more than one arrow", "Write one implication per line.")
    if not arrows:
        return _side(tokens, where)
    left, right = _side(tokens[: arrows[0]], where), _side(tokens[arrows[0] + 1 :], where)
    sentence = _either(_denied(left), right)
    return sentence if tokens[arrows[0]] in IF else sentence + _either(_denied(right), left)


def _side(tokens: Sequence[str], where: str) -> Sentence:
    """Atoms that all hold (joined by &) or of which at least one holds (joined by |)."""
    if "&" in tokens and "|" in tokens:
        raise _unreadable(where, "one side mixes & and |", "Write two lines.")
    if "|" in tokens:
        return [[_literal(part, where) for part in _split(tokens, "|")]]
    return [[_literal(part, where)] for part in _split(tokens, "&")]


def _denied(side: Sentence) -> Sentence:
    """The negation of a side: one atom of an & fails, or all atoms of a | fail."""
    literals = [(not holds, atom) for part in side for holds, atom in part]
    return [[literal] for literal in literals] if len(side) == 1 else [literals]


def _either(one: Sentence, other: Sentence) -> Sentence:
    """At least one of two sides holds."""
    return [[*left, *right] for left in one for right in other]


def _literal(tokens: Sequence[str], where: str) -> Literal:
    """`Gary is Flu` or `Gary has Flu`, `Ed not Mumps`, `Ed is not Mumps` or `Ed does not have Mumps`."""
    words = list(tokens)
    for place in range(len(words) - 2):
        if words[place : place + 3] == ["does", "not", "have"]:
            words[place : place + 3] = ["not"]
            break
    if words.count("has") == 1 and "is" not in words and "not" not in words:
        words[words.index("has")] = "is"
    if "not" not in words:
        return True, _atom(words, where)
    at = words.index("not")
    before = words[: at - 1] if words[at - 1 : at] == ["is"] else words[:at]
    return False, _atom([*before, "is", *words[at + 1 :]], where)


def _family(tokens: Sequence[str], where: str) -> Sentence:
    """Each person's value implies the next one's, in a circle: if one has it, all have it."""
    at = tokens.index(":") if ":" in tokens else len(tokens)
    value, people = _name(tokens[:at], where, "a value"), _split(tokens[at + 1 :], ",")
    names = [_name(part, where, "a person") for part in people]
    if len(set(names)) < 2:
        raise _unreadable(where, "a family needs at least two people", "Write family Value: Name, Name.")
    atoms = [NamedAtom(person, value) for person in names]
    return [[(False, one), (True, following)] for one, following in pairwise([*atoms, atoms[0]])]


def _atom(tokens: Sequence[str], where: str) -> NamedAtom:
    if tokens.count("is") != 1:
        raise _unreadable(
            where,
            'expected a person, the word "is" and a value, once each',
            "Write Name is Value or Name not Value; put double quotes around names with the words is, not, "
            "&, | or -> in them.",
        )
    at = tokens.index("is")
    return NamedAtom(_name(tokens[:at], where, "a person"), _name(tokens[at + 1 :], where, "a value"))


def _name(tokens: Sequence[str], where: str, what: str) -> str:
    """The words of a name; a quoted one loses its quotes and keeps its spaces."""
    words = [token[1:-1].replace('""', '"') if token.startswith('"') else token for token in tokens]
    if not words:
        raise _unreadable(where, f"{what} is missing", "Write Name is Value or Name not Value.")
    reserved = {"not", "&", "|", *IF, *IF_AND_ONLY_IF}
    if any(token in reserved for token in tokens):
        raise _unreadable(
            where, f"the name of {what} contains a word of the grammar", "Put it in double quotes."
        )
    return " ".join(words)


def _tokens(line: str, where: str, pattern: re.Pattern[str]) -> list[str]:
    tokens: list[str] = pattern.findall(line.strip())
    if '"' in tokens:
        raise _unreadable(where, "a double quote is never closed", 'Write "Name" in two double quotes.')
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
