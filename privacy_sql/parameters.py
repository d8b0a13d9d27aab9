"""Bind the parameters of a part (a criterion, a method) from text in a project file or a command line.

Whole numbers become integers; the rest stays text as written. One error reports all problems.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from privacy_sql.errors import PrivacySqlError, UsageError, did_you_mean, raise_all

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def bind(kind: type[T], name: str, params: Mapping[str, Any], where: str = "") -> T:
    """An instance of a part's dataclass; one error names all unknown and missing parameters."""
    # a parameter named like a Python keyword (`with`) has a field that ends in _
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    raise_all(_misnamed(fields, name, params, where))
    try:
        # the types written out, because an alias would hide that it has numbers
        declared = get_type_hints(kind)
    except NameError:  # a type that a third-party part imports only for its type checker
        declared = {field.name: field.type for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    try:
        return kind(
            **{
                fields[key].name: typed(value, str(declared[fields[key].name]))
                for key, value in params.items()
            }
        )
    except PrivacySqlError as problem:
        problem.where = problem.where or where
        raise
    except (TypeError, ValueError):
        hint = "See the documentation of its parameters."
        raise UsageError(
            "bad_parameter", f"the parameters of {name} cannot be read", where=where, hint=hint
        ) from None


def _misnamed(
    fields: Mapping[str, dataclasses.Field[Any]], name: str, params: Mapping[str, Any], where: str
) -> list[PrivacySqlError]:
    """Unknown parameters of a part, and missing ones."""
    unknown = [
        UsageError("unknown_parameter", f'{name} has no parameter "{key}"', where=where, hint=hint)
        for key, hint in ((key, did_you_mean(key, fields)) for key in params if key not in fields)
    ]
    missing = [
        UsageError("missing_parameter", f"{name} needs {key}", where=where)
        for key, field in fields.items()
        if key not in params
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    return [*unknown, *missing]


def typed(value: object, annotation: str) -> object:
    """Convert text to a field's type: whole numbers and booleans, also inside mappings and lists.

    >>> typed("5", "int"), typed("0.5", "Exact"), typed({"age": "2"}, "Mapping[str, int]")
    (5, '0.5', {'age': 2})
    """
    if isinstance(value, Mapping):
        return {key: typed(part, annotation) for key, part in value.items()}
    if isinstance(value, list):
        return [typed(part, annotation) for part in value]
    words = set(re.findall(r"\w+", annotation))
    if isinstance(value, str) and {"int", "Exact"} & set(words) and re.fullmatch(r"-?\d+", value.strip()):
        return int(value)
    if isinstance(value, str) and "bool" in words and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value


def given(part: DataclassInstance) -> dict[str, Any]:
    """The parameters of a part, or the fields of any dataclass, by name."""
    return {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}


def number_in(value: object) -> Fraction | None:
    """A number as the exact fraction of its shortest text; None if it is not a number.

    >>> number_in("0.6"), number_in(0.1), number_in("1/3"), number_in("a tenth"), number_in(True)
    (Fraction(3, 5), Fraction(1, 10), Fraction(1, 3), None, None)
    """
    # nobody means an exponent with many digits, which would take forever to expand
    if isinstance(value, bool) or re.search(r"[eE][+-]?\d{4}", str(value)):
        return None
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def number_or_refuse(
    value: object, refusal: UsageError, holds: Callable[[Fraction], bool] = lambda number: True
) -> Fraction:
    """The number a text says, inside its range; what is none, or lies outside, is refused by this error.

    >>> number_or_refuse("1/3", UsageError("bad_argument", "a share is below 1"), lambda share: share < 1)
    Fraction(1, 3)
    """
    number = number_in(value)
    if number is None or not holds(number):
        raise refusal
    return number


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a requirement in its usual notation, `name(key=value, ...)`.

    >>> parse_call("l_diversity(kind=recursive, c=3, l=6)")
    ('l_diversity', {'kind': 'recursive', 'c': '3', 'l': '6'})
    >>> parse_call("privacy_skyline(points=[[1, 1, 5, 0.9]])")
    ('privacy_skyline', {'points': [['1', '1', '5', '0.9']]})
    """
    found = re.fullmatch(r"\s*([a-z_]\w*)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if not found:
        hint = "For example k_anonymity(k=5)."
        raise UsageError("bad_requirement", "a requirement must be written name(key=value, ...)", hint=hint)
    params: dict[str, Any] = {}
    for part in _split(found[2] or ""):
        key, equals, value = part.partition("=")
        if not equals:
            hint = f"Write {found[1]}(name={part.strip()}), for example k_anonymity(k=5)."
            before, last = list(params.items())[-1] if params else ("", "")
            if part.strip().isdigit() and str(last).lstrip("+-").isdigit():
                told = f"{before} of {found[1]} has a decimal comma, but commas separate parameters"
                hint = f"Write {before}={last}.{part.strip()} with a decimal point."
                raise UsageError("bad_requirement", told, hint=hint)
            raise UsageError("bad_requirement", f"a parameter of {found[1]} has no name", hint=hint)
        if key.strip() in params:
            raise UsageError("bad_requirement", f"{key.strip()} of {found[1]} is given twice")
        params[key.strip()] = yaml_value(value.strip())
    return found[1], params


def _split(text: str) -> list[str]:
    """The parts between commas outside brackets and quotes."""
    parts, depth, quoted, start = [], 0, "", 0
    for place, letter in enumerate(text):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def yaml_value(text: str) -> object:
    """A value in YAML's flow style; `01234`, `NO` and `1e5` stay text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if not any(letter in text for letter in "[{'\""):
        return text
    try:
        return YAML(typ="base").load(re.sub(r"=(?=[^=])", ": ", text) if text.startswith("{") else text)
    except (YAMLError, RecursionError):
        raise UsageError("bad_value", "a value cannot be read", hint="Write lists as [1, 2].") from None
