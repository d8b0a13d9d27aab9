"""Hierarchies of text: unchanged, keep or drop, and masks that keep the first characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from privacy_sql.errors import UsageError
from privacy_sql.hierarchies.base import TOP, Hierarchy


@dataclass(frozen=True)
class AsIs(Hierarchy):
    """The column stays unchanged: one level, the raw value.

    >>> AsIs().height
    0
    """

    ordered: ClassVar[bool] = True

    def level_names(self) -> tuple[str, ...]:
        return ("raw",)

    def to_spec(self) -> Mapping[str, object]:
        return {"as_is": True}

    def _label(self, text: str, level: int) -> str | None:
        raise AssertionError("an unchanged column has no level between the raw value and the top")


@dataclass(frozen=True)
class KeepOrDrop(Hierarchy):
    """The raw value or nothing.

    >>> KeepOrDrop().label("White", 1)
    '*'
    """

    def level_names(self) -> tuple[str, ...]:
        return ("raw", TOP)

    def to_spec(self) -> Mapping[str, object]:
        return {"keep_or_drop": True}

    def _label(self, text: str, level: int) -> str | None:
        raise AssertionError("keep or drop has no level between the raw value and the top")


@dataclass(frozen=True, init=False)
class Mask(Hierarchy):
    """Keep the first characters, with a star for each hidden one: `130**` is every value of that length.

    >>> zip_code = Mask(4, 3, 0)
    >>> [zip_code.label("02139", level) for level in range(4)]
    ['02139', '0213*', '021**', '*']
    """

    kept: tuple[int, ...]

    def __init__(self, *kept: int) -> None:
        if not kept or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in kept):
            raise UsageError(
                "bad_mask",
                "a mask needs whole numbers of characters to keep",
                hint="Write {mask: [4, 3, 0]} in privacy.yml, ps.Mask(4, 3, 0) in Python.",
            )
        # fewer characters at each level, or the levels would not nest
        for level, (finer, coarser) in enumerate(pairwise(kept), start=2):
            if coarser >= finer:
                raise UsageError(
                    "not_nested",
                    f"level {level} of the mask keeps {coarser} characters, level {level - 1} only {finer}",
                    hint="Each level must keep fewer characters than the one before.",
                )
        object.__setattr__(self, "kept", kept)

    def level_names(self) -> tuple[str, ...]:
        names = ("raw", *map(str, self.kept))
        return names if self.kept[-1] == 0 else (*names, TOP)

    def to_spec(self) -> Mapping[str, object]:
        return {"mask": list(self.kept)}

    def _label(self, text: str, level: int) -> str | None:
        return text[: self.kept[level - 1]].ljust(len(text), "*")
