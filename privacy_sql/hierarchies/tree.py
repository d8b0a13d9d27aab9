"""Hierarchies as a table: one row per raw value, one column per level (the papers' taxonomy trees)."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import ClassVar

from privacy_sql.errors import DataError, UsageError, unread
from privacy_sql.hierarchies.base import TOP, Hierarchy, text_of
from privacy_sql.manifest import opened

Row = tuple[str, ...]
JAVA = b"\xac\xed"  # the first bytes of a serialised Java object, as ARX saves the rules of a hierarchy


@dataclass(frozen=True, init=False)
class Tree(Hierarchy):
    """A lookup table: each raw value with its label at every level above.

    A node is a level and a label, so one label may appear at two levels. Each level is stored as a list of
    labels and a list of parents, because a list for each of a million values would take too much memory.

    >>> place = Tree(
    ...     {
    ...         "Oslo": ["Norway", "Europe", "*"],
    ...         "Rome": ["Italy", "Europe", "*"],
    ...         "Lima": ["Peru", "America", "*"],
    ...     }
    ... )
    >>> place.label("Rome", 2), place.height, place.distance("Oslo", "Rome"), place.distance("Oslo", "Lima")
    ('Europe', 3, Fraction(2, 3), Fraction(1, 1))
    """

    lists_values: ClassVar[bool] = True

    nodes: tuple[tuple[str, ...], ...] = field(repr=False)  # labels per level, raw values first
    parents: tuple[tuple[int, ...], ...] = field(
        repr=False
    )  # for each node below the top, the index of its parent
    names: tuple[str, ...]
    file: str | None = field(compare=False)
    place: Path | None = field(repr=False, compare=False)  # where that file lies
    root: str = field(compare=False)  # what the rows call the node above all, which is published as `*`
    _places: dict[str, int] = field(repr=False, compare=False)  # raw value -> its place in nodes[0]

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        given: object = paths
        if not isinstance(given, Mapping):
            hint = 'For example ps.Tree({"Oslo": ["Norway", "*"]}), or ps.Tree.from_file(path, column).'
            raise UsageError("bad_hierarchy", "a tree must map each value to its labels", hint=hint)
        rows = ((str(leaf), *map(str, above)) for leaf, above in paths.items())
        self._build(rows, "the tree")

    @classmethod
    def from_file(cls, path: str | Path, column: str, *, written: str | None = None) -> Tree:
        """Read a hierarchy file with `;` or `,`; the first row is a header only if it starts with the column.

        `written` is the user's own spelling of the path, for the manifest.
        """
        header, rows = read_rows(Path(path), column)
        tree = cls.__new__(cls)
        tree._build(rows, Path(path).name, header, written or str(path))
        object.__setattr__(tree, "place", Path(path))
        return tree

    def _build(
        self,
        rows: Iterable[tuple[str, ...]],
        source: str,
        header: Sequence[str] = (),
        file: str | None = None,
    ) -> None:
        nodes, parents, root = _nested_levels(rows, source, len(header))
        names = header[1:] if header else [f"level {level}" for level in range(1, len(nodes))]
        object.__setattr__(self, "nodes", tuple(map(tuple, nodes)))
        object.__setattr__(self, "parents", tuple(map(tuple, parents)))
        object.__setattr__(self, "names", ("raw", *names[: len(nodes) - 2], TOP))
        object.__setattr__(self, "file", file)
        object.__setattr__(self, "place", None)
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "_places", nodes[0])

    def level_names(self) -> tuple[str, ...]:
        return self.names

    def has_label(self, label: str) -> bool:
        return any(label in nodes for nodes in self._known) or label == self.root

    def covers_all(self, label: str) -> bool:
        """Whether a label covers every value, at the top or below it."""
        return label == self.root or any(nodes == (label,) for nodes in self.nodes[1:])

    def tells_apart(self, level: int) -> bool:
        return len(self.nodes[level]) > 1

    @cached_property
    def _known(self) -> tuple[frozenset[str], ...]:
        return tuple(map(frozenset, self.nodes))

    def to_spec(self) -> Mapping[str, object]:
        return {"file": self.file} if self.file else self.recipe()

    def recipe(self) -> Mapping[str, object]:
        return {"tree": {leaf: labels for leaf, *labels in self.rows()}}

    def checksum(self) -> str:
        """Independent of the order of the rows and of where the file lies."""
        digest = hashlib.sha256()
        for row in sorted(self.rows()):
            digest.update(json.dumps(row).encode())
        return digest.hexdigest()

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The lookup table, columns l0 to lH, one row per raw value."""
        return zip(*(self._labels_of_leaves(level) for level in range(self.height + 1)), strict=True)

    def leaves(self) -> Iterator[str]:
        """Every raw value."""
        return iter(self._places)

    def distance(self, a: object, b: object) -> Fraction:
        """The distance of two values: the level of their lowest common ancestor over the height.

        Li et al. 2009, Sec. II.C: d = h(a, b) / H; the same value is at distance 0.
        """
        one, other = self._place_of(a), self._place_of(b)
        level = 0
        while one != other:
            one, other = self.parents[level][one], self.parents[level][other]
            level += 1
        return Fraction(level, self.height)

    def leaves_under(self, level: int) -> dict[str, int]:
        """For each label of a level, how many raw values it covers."""
        return dict(Counter(self._labels_of_leaves(level)))

    def _place_of(self, value: object) -> int:
        place = self._places.get(text_of(value))
        if place is None:
            raise DataError(
                "unmapped_value", "a value is missing from the hierarchy", hint=self.unmapped_hint
            )
        return place

    def _labels_of_leaves(self, level: int) -> Iterator[str]:
        """The label at a level of each raw value, in the order of the raw values."""
        places: Iterable[int] = range(len(self.nodes[0]))
        for parents in self.parents[:level]:
            places = map(parents.__getitem__, places)
        return map(self.nodes[level].__getitem__, places)

    def _covers(self, text: str) -> bool:
        return text in self._places

    def _label(self, text: str, level: int) -> str | None:
        place = self._places[text]
        for parents in self.parents[:level]:
            place = parents[place]
        return self.nodes[level][place]


Levels = tuple[list[dict[str, int]], list[list[int]], str]


def _nested_levels(rows: Iterable[tuple[str, ...]], source: str, width: int) -> Levels:
    """The nodes of each level and the parent of each node; refuses a node with two parents.

    `width` is the number of columns in the header, 0 without a header.

    Equal rows count once, so a repeated row never multiplies anything.
    """
    nodes: list[dict[str, int]] = [{} for _ in range(width)]
    parents: list[list[int]] = [[] for _ in range(width - 1)]
    torn: list[set[int]] = [set() for _ in parents]
    for row in rows:
        if not nodes:
            nodes, parents = [{} for _ in row], [[] for _ in row[1:]]
            torn = [set() for _ in parents]
        if len(row) != len(nodes):
            raise DataError("bad_hierarchy", f"the rows of {source} differ in their number of levels")
        # enter one row from the top down, noting nodes that already have another parent
        above = nodes[-1].setdefault(row[-1], len(nodes[-1]))
        for level in range(len(parents) - 1, -1, -1):
            place = nodes[level].setdefault(row[level], len(nodes[level]))
            if place == len(parents[level]):
                parents[level].append(above)
            elif parents[level][place] != above:
                torn[level].add(place)
            above = place
    if not nodes or not nodes[0]:
        raise DataError("bad_hierarchy", f"{source} has no rows")
    _refuse_torn(torn, source)
    # the top is always `*`: added above the last column unless that has only one label
    if len(nodes) > 1 and len(nodes[-1]) == 1:
        return [*nodes[:-1], {TOP: 0}], parents, next(iter(nodes[-1]))
    return [*nodes, {TOP: 0}], [*parents, [0] * len(nodes[-1])], TOP


def _refuse_torn(torn: Sequence[set[int]], source: str) -> None:
    """A value with two different rows, or a label with two parents: the levels do not nest."""
    for level, places in enumerate(torn):
        if places and level == 0:
            raise DataError(
                "conflicting_rows",
                f"in {source}, {len(places)} raw values have two different rows",
                hint="Keep one row for each raw value.",
            )
        if places:
            raise DataError(
                "not_nested",
                f"level {level} of {source} does not nest in level {level + 1}:"
                f" {len(places)} of its labels are under several labels there",
                hint="Give each label one parent, or give the labels different names.",
            )


def read_rows(path: Path, column: str) -> tuple[Row, Iterator[Row]]:
    """The header (empty if there is none) and an iterator over the rows.

    The first row is a header only if its first cell is the column's name.
    """
    rows = _cells(path)
    first = next(rows, ())
    if first[:1] == (column,):
        return first, rows
    return (), chain([first] if first else [], rows)


def _cells(path: Path) -> Iterator[Row]:
    lines = _lines(path)
    opening = next(lines, "")
    reader = csv.reader(chain([opening], lines), delimiter=_delimiter(opening), strict=True)
    try:
        for row in reader:
            if not row:
                continue
            if not all(row):
                raise _fault(path, reader.line_num, "has an empty cell", "Fill it, or leave the row out.")
            yield tuple(row)
    except csv.Error:
        raise _fault(path, reader.line_num, "has a misplaced quote or field", "") from None


def _delimiter(line: str) -> str:
    """`;` if it separates the first line, otherwise `,`; a single column has neither.

    >>> _delimiter("Bachelors;Higher, other;*"), _delimiter('"a;b",c')
    (';', ',')
    """
    try:
        return ";" if len(next(csv.reader([line], delimiter=";"), ())) > 1 else ","
    except csv.Error:  # the reader of the rows reports it with its line number
        return ","


def _lines(path: Path) -> Iterator[str]:
    """Decoded lines; an error gives the number of a line that is not UTF-8."""
    for place, line in enumerate(_bytes(path), start=1):
        try:
            text = line.decode("utf-8-sig" if place == 1 else "utf-8")
        except UnicodeDecodeError:
            raise _fault(path, place, "is not UTF-8", "Save the file as UTF-8.") from None
        if "\0" in text:
            raise _fault(path, place, "contains a NUL character", "Save the file as UTF-8 text.")
        yield text


def _bytes(path: Path) -> Iterable[bytes]:
    try:
        with opened(path) as file:
            if path.suffix.lower() == ".ahs" or file.peek(2)[:2] == JAVA:
                # reading it would execute it, and the rules alone do not give the labels
                told = f"{path.name} has the rules of an ARX hierarchy as a Java object, not its labels"
                hint = "Open it in ARX, export the hierarchy as CSV, and name that file."
                raise UsageError("bad_hierarchy", told, hint=hint)
            yield from file
    except OSError as error:
        reason = (
            "does not exist" if isinstance(error, FileNotFoundError) else unread(error) or "cannot be read"
        )
        raise UsageError("no_such_file", f"the hierarchy file {path.name} {reason}") from None


def _fault(path: Path, line: int, what: str, hint: str) -> DataError:
    return DataError("bad_hierarchy", f"line {line} of the hierarchy file {path.name} {what}", hint=hint)
