"""The raw values that a published label covers, and how well it covers them.

A stranger reads the label's text: `20-29`, `[20, 30)`, `<30`, `≥40`, `130**`, `a..f` and `*` explain
themselves; a description may write a label as `{"range": [20, 29]}`. Any other label covers the value it is
equal to. `*` covers what no other label covers: a box prints it if it has NULL and other values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from privacy_sql.errors import UsageError

INFINITE = 1e308
_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_BETWEEN = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})")
_BRACKETS = re.compile(rf"([\[(])\s*({_NUMBER}|-inf)\s*[,;]\s*({_NUMBER}|inf)\s*([\])])", re.IGNORECASE)
_COMPARED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_WORDS = re.compile(r"(.+?)\.\.(.+)", re.DOTALL)
_PLUS = re.compile(rf"({_NUMBER})\+")
_MASKED = re.compile(r"([^*]+)(\*+)")
_ANYTHING = ("*", "any", "all")
BOUNDS = ("[]", "[)", "(]", "()")
# how well a label covers a value; a person is searched in the groups that fit best
AS_IT_SAYS, SAME_NUMBER, STAR = 0, 1, 2
# what a label may be that nobody has: it names anything, or anything where its length fits no value of the
# people, or where they have no numbers or its column codes of another length
NAME, MASK, NUMBER = 1, 2, 3


@dataclass(frozen=True)
class LabelRule:
    """One way in which a label covers values: everything, NULL, one text, a prefix, or a range.

    `known` covers everything except NULL. `unread` marks a label that may name anything where nobody has it.
    """

    everything: bool = False
    known: bool = False
    nothing: bool = False
    text: str | None = None
    prefix: str | None = None
    length: int | None = None
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    first: str | None = None
    last: str | None = None
    tier: int = AS_IT_SAYS
    guessed: bool = False
    unread: int = 0


def spelt(text: str) -> str:
    """A text in the one spelling that a date at midnight and a truth value have in any type of column.

    >>> spelt("1987-05-14 00:00:00"), spelt("True"), spelt("1987-05-14 10:00:00")
    ('1987-05-14', 'true', '1987-05-14 10:00:00')
    """
    if len(text) == 19 and text[10:] in (" 00:00:00", "T00:00:00"):
        return text[:10]
    return text.lower() if text.lower() in ("true", "false") else text


def exactly(label: str | None) -> list[LabelRule]:
    """The rules of an unchanged value: it covers only itself, even if it is `all`, `1-2` or `12**`.

    >>> [rule.text for rule in exactly("12**")], [rule.low for rule in exactly("0.30")]
    (['12**'], [None, 0.3])
    """
    if label is None:
        return [LabelRule(nothing=True)]
    # 0.3 and 0.30 are the same number; equal text comes first
    number = [_bound(label)] if re.fullmatch(_NUMBER, label.strip()) else []
    return [LabelRule(text=label), *(LabelRule(low=n, high=n, tier=SAME_NUMBER) for n in number)]


def rules(label: str | None, bounds: str = "[]") -> list[LabelRule]:
    """The rules of a published label; `bounds` says whether `20-29` includes its ends.

    >>> rule = rules("<30")[1]
    >>> rule.high, rule.high_open
    (30.0, True)
    >>> [rule.prefix for rule in rules("130**")]
    [None, '130']
    """
    if label is None:
        return [LabelRule(nothing=True)]
    text = label.strip()
    # a value may look like a label, so equal text always covers
    found = exactly(label)
    if text.casefold() in _ANYTHING:
        return [*found, LabelRule(everything=True, tier=STAR)]
    masked = _MASKED.fullmatch(text)
    if masked:
        label_itself = replace(found[0], unread=MASK, length=len(text))
        return [label_itself, LabelRule(prefix=masked[1], length=len(text))]
    numeric = _numeric(text, bounds)
    words = _WORDS.fullmatch(label)
    if words and not numeric:
        return [*found, LabelRule(first=words[1], last=words[2])]
    if not numeric:  # a value, a name of one, or of anything else
        itself = replace(found[0], unread=NAME if len(found) == 1 else NUMBER, length=len(text))
        return [itself, *found[1:]]
    return [*found, *(replace(rule, guessed=True) for rule in numeric)]


def _numeric(text: str, bounds: str) -> list[LabelRule]:
    if match := _BETWEEN.fullmatch(text):
        return [_between(float(match[1]), float(match[2]), bounds)]
    if match := _BRACKETS.fullmatch(text):
        low, high = (max(min(float(end), INFINITE), -INFINITE) for end in (match[2], match[3]))
        return [_between(low, high, match[1] + match[4])]
    if match := _COMPARED.fullmatch(text):
        return [_compared(match[1].replace("≤", "<=").replace("≥", ">="), float(match[2]))]
    if match := _PLUS.fullmatch(text):
        return [_compared(">=", float(match[1]))]
    return []


def _between(low: float, high: float, bounds: str) -> LabelRule:
    return LabelRule(low=low, high=high, low_open=bounds[0] == "(", high_open=bounds[1] == ")")


def _compared(sign: str, bound: float) -> LabelRule:
    if sign[0] == "<":
        return LabelRule(low=-INFINITE, high=bound, high_open=sign == "<")
    return LabelRule(low=bound, high=INFINITE, low_open=sign == ">")


def between_words(label: str) -> list[LabelRule]:
    """The rules of `a..f` if it can only be a range of texts; one end may be empty or contain dots.

    >>> [(rule.first, rule.last) for rule in between_words("..10")]
    [('', '10')]
    """
    return [
        LabelRule(first=label[:place], last=label[place + 2 :])
        for place in range(len(label) - 1)
        if label[place : place + 2] == ".."
    ]


def spelt_out(cover: object, where: str) -> list[LabelRule]:
    """The rules of a label that a description writes out, such as {"prefix": "130"} or {"range": [20, 29]}.

    >>> spelt_out({"lt": 30}, "age")[0].high_open
    True
    """
    if not isinstance(cover, Mapping) or not cover:
        raise _bad(where)
    try:
        found = _spelt_number(cover)
    except (TypeError, ValueError):
        raise _bad(where) from None
    if found is not None:
        return [found]
    ((word, bound), *more) = cover.items()
    if more:
        raise _bad(where)
    if word == "prefix" and isinstance(bound, str):
        return [LabelRule(prefix=bound)]
    if word == "values" and isinstance(bound, Sequence) and not isinstance(bound, str):
        return [LabelRule(text=str(value)) for value in bound]
    if word == "any":
        return [LabelRule(everything=True)]
    raise _bad(where)


def of_box(text: str) -> list[LabelRule]:
    """The rules for the contents of our own box, as `held` writes them.

    >>> [rule.nothing or rule.high for rule in of_box('{"range": ["20", "29"], "null": true}')]
    [True, 29.0]
    """
    cover = json.loads(text)
    found = [LabelRule(nothing=True)] if cover.get("null") else []
    if cover.get("empty"):
        found.append(LabelRule(text=""))
    if "range" in cover:
        low, high = map(_bound, cover["range"])
        found.append(_between(low, high, "[]"))
    if "words" in cover:
        found.append(LabelRule(first=cover["words"][0], last=cover["words"][1]))
    if "values" in cover:
        found += [rule for value in cover["values"] for rule in exactly(value)]
    if cover.get("known"):
        found.append(LabelRule(known=True))
    return found


def node_of_box(text: str | None) -> tuple[int, str] | None:
    """The level and label of the node that covers our own box, if there is one."""
    found = None if text is None else json.loads(text).get("node")
    return None if found is None else (int(found[0]), str(found[1]))


_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _spelt_number(cover: Mapping[str, Any]) -> LabelRule | None:
    """A range (with bounds), or one or two comparisons; None if it is not about numbers."""
    if set(cover) in ({"range"}, {"range", "bounds"}):
        low, high = map(_bound, cover["range"])
        bounds = cover.get("bounds", "[]")
        if bounds not in BOUNDS:
            raise ValueError
        return _between(low, high, bounds)
    if not set(cover) <= set(_SIGNS):
        return None
    sides = [_compared(_SIGNS[word], _bound(bound)) for word, bound in cover.items()]
    below = [side for side in sides if side.low == -INFINITE]
    above = [side for side in sides if side.high == INFINITE]
    if len(below) > 1 or len(above) > 1:
        raise ValueError
    if not (below and above):
        return sides[0]
    return replace(above[0], high=below[0].high, high_open=below[0].high_open)


def _bound(value: str | float) -> float:
    number = float(value)
    if number != number:
        raise ValueError
    return max(min(number, INFINITE), -INFINITE)


def written(cover: object) -> str:
    """A written-out label as one text, the same for equal labels."""
    return json.dumps(cover, sort_keys=True)


def columns(labels: Iterable[tuple[int, int, list[LabelRule]]]) -> dict[str, tuple[str, list[Any]]]:
    """The rules of labels, with the number of the column and the code, as a small table for the engine."""
    listed = [(column, code, rule) for column, code, found in labels for rule in found]
    rows = [(code, rule) for _, code, rule in listed]
    return {
        "k": ("bigint", [column for column, _, _ in listed]),
        "label": ("bigint", [code for code, _ in rows]),
        "tier": ("bigint", [rule.tier for _, rule in rows]),
        "everything": ("bigint", [int(rule.everything) for _, rule in rows]),
        "known": ("bigint", [int(rule.known) for _, rule in rows]),
        "nothing": ("bigint", [int(rule.nothing) for _, rule in rows]),
        "exact": ("varchar", [rule.text for _, rule in rows]),
        "spelt": ("varchar", [None if rule.text is None else spelt(rule.text) for _, rule in rows]),
        "prefix": ("varchar", [rule.prefix for _, rule in rows]),
        "width": ("bigint", [rule.length for _, rule in rows]),
        "low": ("double", [rule.low for _, rule in rows]),
        "high": ("double", [rule.high for _, rule in rows]),
        "low_open": ("bigint", [int(rule.low_open) for _, rule in rows]),
        "high_open": ("bigint", [int(rule.high_open) for _, rule in rows]),
        "first_word": ("varchar", [rule.first for _, rule in rows]),
        "last_word": ("varchar", [rule.last for _, rule in rows]),
        "first_spelt": ("varchar", [None if rule.first is None else spelt(rule.first) for _, rule in rows]),
        "last_spelt": ("varchar", [None if rule.last is None else spelt(rule.last) for _, rule in rows]),
        "guessed": ("bigint", [int(rule.guessed) for _, rule in rows]),
        "unread": ("bigint", [rule.unread for _, rule in rows]),
    }


def _bad(where: str) -> UsageError:
    hint = 'Write for example {"range": [20, 29]}, {"lt": 30}, {"ge": 20, "lt": 30}, {"prefix": "130"},'
    hint += ' {"values": ["a"]}, {"any": true}.'
    return UsageError("bad_label", "a label is not a valid rule", where=where, hint=hint)
