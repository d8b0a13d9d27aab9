"""What criteria about at least k people have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privacy_sql.criteria import Criterion, at_least


@dataclass(frozen=True)
class AtLeastKPeople(Criterion):
    """A number of people is at least k, whatever their sensitive values; k = 1 holds of every table."""

    unit: ClassVar[str] = "people"
    relation: ClassVar[str] = ">="
    reads_sensitive: ClassVar[bool] = False

    k: int

    def __post_init__(self) -> None:
        at_least(self.k, 1, self.name, "k")

    @property
    def cannot_fail(self) -> bool:
        return self.k == 1

    @property
    def slider(self) -> str:
        return "k"

    @property
    def limit(self) -> int:
        return self.k
