"""Read the value of `hierarchy:` in privacy.yml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from privacy_sql.errors import PrivacySqlError, UsageError, did_you_mean
from privacy_sql.hierarchies.base import Hierarchy
from privacy_sql.hierarchies.dates import Dates
from privacy_sql.hierarchies.numeric import Breaks, Intervals
from privacy_sql.hierarchies.text import AsIs, KeepOrDrop, Mask
from privacy_sql.hierarchies.tree import Tree

SHAPES = "Write {intervals: [5, 10]}, {mask: [4, 3, 0]}, {file: F}, {dates: [month, year]} or keep_or_drop."


def from_spec(spec: object, column: str, directory: Path, where: str = "hierarchy") -> Hierarchy:
    """The hierarchy of a column from the project file; without one the column stays unchanged.

    A relative `file:` starts at `directory`; errors name `where`, the path inside the project file. Reading
    back what `recipe()` returns gives an equal hierarchy.

    >>> from_spec({"intervals": ["5", "10"]}, "age", Path("."))
    Intervals(widths=(5, 10), origin=0, fractions=False)
    """
    if spec is None:
        return AsIs()
    fields = {spec: True} if isinstance(spec, str) else spec
    if not isinstance(fields, Mapping) or not fields:
        raise UsageError("bad_hierarchy", "a hierarchy names one kind", where=where, hint=SHAPES)
    # the one kind named; only `intervals` takes further keys, `origin` and `clip`
    kinds = [key for key in fields if key in _MAKERS and not (key == "clip" and "intervals" in fields)]
    kind, *others = kinds or [""]
    if not kind or others:
        hint = SHAPES if others else did_you_mean(str(next(iter(fields))), _MAKERS)
        raise UsageError("bad_hierarchy", "a hierarchy names one kind", where=where, hint=hint)
    beside = {"intervals": {"origin", "clip"}, "clip": {"origin"}}
    allowed = {kind, *beside.get(kind, ())}
    for key in fields:
        if key not in allowed:
            hint = did_you_mean(str(key), sorted(allowed))
            raise UsageError("unknown_key", f'unknown key "{key}"', where=f"{where}.{key}", hint=hint)
    try:
        return _MAKERS[kind](fields, column, directory)
    except PrivacySqlError as error:
        raise type(error)(error.code, error.message, where=f"{where}.{kind}", hint=error.hint) from None


def rebuilt(levels: Sequence[str], checksum: str) -> Hierarchy | None:
    """The hierarchy with these level names and this checksum, if the names say everything; a tree's do not.

    >>> rebuilt(Mask(3, 0).level_names(), Mask(3, 0).checksum())
    Mask(kept=(3, 0))
    """
    inner = list(levels[1:-1])
    tried: list[Callable[[], Hierarchy]] = [
        AsIs,
        KeepOrDrop,
        lambda: Dates(*inner),
        lambda: Mask(*map(int, inner)),
        lambda: Mask(*map(int, inner), 0),
        lambda: Intervals(*inner),
        lambda: Intervals(*inner).for_fractions(),
        lambda: Intervals(*inner[1:], clip=_ends(inner[0])),
        lambda: Intervals(*inner[1:], clip=_ends(inner[0])).for_fractions(),
        lambda: Breaks(*(level.split(", ") for level in inner)),
    ]
    for make in tried:
        try:
            kind = make()
        except (PrivacySqlError, ValueError, IndexError):
            continue
        if kind.checksum() == checksum:
            return kind
    return None


def _ends(name: str) -> dict[str, str]:
    """What a level of this name hides.

    >>> _ends("<18 90+"), _ends("90+")
    ({'bottom': '18', 'top': '90'}, {'top': '90'})
    """
    ends = {"bottom" if word.startswith("<") else "top": word for word in name.split(" ")}
    return {end: word.strip("<") if end == "bottom" else word.removesuffix("+") for end, word in ends.items()}


def _intervals(fields: Mapping[str, Any], column: str, directory: Path) -> Hierarchy:
    widths = _listed(fields.get("intervals", []))
    return Intervals(*widths, origin=fields.get("origin", 0), clip=fields.get("clip"))


def _file(fields: Mapping[str, Any], column: str, directory: Path) -> Hierarchy:
    if not isinstance(fields["file"], str) or not fields["file"] or "\0" in fields["file"]:
        raise UsageError("bad_hierarchy", "the hierarchy file needs a path")
    return Tree.from_file(directory / fields["file"], column, written=fields["file"])


def _tree(fields: Mapping[str, Any], column: str, directory: Path) -> Hierarchy:
    paths = fields["tree"]
    if not isinstance(paths, Mapping) or any(isinstance(above, str) for above in paths.values()):
        raise UsageError(
            "bad_hierarchy", "a tree must give each raw value the list of its labels, level by level"
        )
    return Tree({leaf: _listed(above) for leaf, above in paths.items()})


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise UsageError("bad_hierarchy", "expected a list", hint=SHAPES)
    return list(value)


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], str, Path], Hierarchy]] = {
    "intervals": _intervals,
    "clip": _intervals,
    "mask": lambda fields, column, directory: Mask(
        *(
            int(n) if isinstance(n, str) and n.isascii() and n.isdigit() else n
            for n in _listed(fields["mask"])
        )
    ),
    "file": _file,
    "keep_or_drop": lambda fields, column, directory: KeepOrDrop(),
    "dates": lambda fields, column, directory: Dates(*_listed(fields["dates"])),
    "breaks": lambda fields, column, directory: Breaks(*_listed(fields["breaks"])),
    "tree": _tree,
    "as_is": lambda fields, column, directory: AsIs(),
}

KINDS = tuple(_MAKERS)  # the words of `hierarchy:`
