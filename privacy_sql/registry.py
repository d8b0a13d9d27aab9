"""Find a part by its file name; there is no list to edit.

`get("criteria", "k_anonymity")` imports `privacy_sql.criteria.k_anonymity` and takes its one public
class. Other packages add parts through the entry point group `privacy_sql.<family>`; they cannot replace
built-in parts.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from privacy_sql.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FAMILIES = ("criteria", "methods", "searches", "utilities", "engines", "studies", "cli.verbs", "papers")


def available(family: str) -> list[str]:
    """The names of all parts of a family, built-in and from installed packages.

    >>> "k_anonymity" in available("criteria")
    True
    """
    return sorted({*_ours(family), *(entry.name for entry in _theirs(family))})


def has(family: str, name: str) -> bool:
    """Whether there is a part with that name; built-in parts come first, which takes no time."""
    return name in _ours(family) or any(entry.name == name for entry in _theirs(family))


def known(family: str, name: str) -> type[Any] | None:
    """The part that a manifest or a release names; None where it is not installed.

    >>> known("methods", "marginals").publishes_rows, known("methods", "from_elsewhere")
    (False, None)
    """
    return get(family, name) if has(family, name) else None


@cache
def _ours(family: str) -> tuple[str, ...]:
    """The names of the built-in parts."""
    package = importlib.import_module(f"privacy_sql.{family}")
    found = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


@cache
def _theirs(family: str) -> tuple[EntryPoint, ...]:
    """The parts that installed packages add to a family; finding them takes longer than loading a part."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=f"privacy_sql.{family}"))


@cache
def load(family: str, name: str) -> ModuleType:
    """The module of a built-in part."""
    if name not in _ours(family):
        hint = did_you_mean(name, available(family))
        one = {"criteria": "criterion", "searches": "search", "utilities": "utility"}.get(family, family[:-1])
        raise UsageError("unknown_part", f'unknown {one} "{name}"', hint=hint)
    return importlib.import_module(f"privacy_sql.{family}.{name}")


@cache
def get(family: str, name: str) -> type[Any]:
    """The part with that name: the one public class of its module."""
    if name not in _ours(family):
        for entry in _theirs(family):
            if entry.name == name:
                found: type[Any] = entry.load()
                return found
    module, wanted = load(family, name), class_name(name)
    for public, value in vars(module).items():
        if isinstance(value, type) and public.casefold() == wanted.casefold():
            return value
    raise AttributeError(f"{module.__name__} defines no class {wanted}")


def class_name(name: str) -> str:
    """CamelCase of a part's name.

    >>> class_name("k_anonymity")
    'KAnonymity'
    """
    return "".join(word.capitalize() for word in name.split("_"))


@cache
def by_class_name(wanted: str) -> type[Any]:
    """The part whose class has this name (`KAnonymity`), searched through criteria and methods."""
    for parts in (_ours, available):
        for family in ("criteria", "methods"):
            for name in parts(family):
                if class_name(name).casefold() == wanted.casefold():
                    return get(family, name)
    raise AttributeError(wanted)


def study(name: str) -> Callable[..., Any]:
    """The function of a study, which has the name of its file.

    >>> study("disclosure_curve").__module__
    'privacy_sql.studies.disclosure_curve'
    """
    found: Callable[..., Any] | None = vars(load("studies", name)).get(name)
    if not callable(found):
        raise AttributeError(name)
    return found


def studies() -> list[str]:
    """The studies that are one function, by name."""
    return [name for name in _ours("studies") if callable(vars(load("studies", name)).get(name))]
