"""The pieces of privacy.yml, with every scalar as text, and their mistakes with line numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql.errors import PrivacySqlError, UsageError, did_you_mean, unread
from privacy_sql.publishing.targets import PROJECT_FILE

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

FILE = PROJECT_FILE


def load(path: Path) -> object:
    """Read the YAML of a file with every scalar as text; errors name the line."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="base").load(path.read_text(encoding="utf-8"))
    except DuplicateKeyError as problem:
        named = re.match(r'found duplicate key "(\w+)"', str(problem.problem))
        told = f'the key "{named[1]}" appears twice' if named else "a key appears twice"
        raise UsageError("duplicate_key", told, where=_line(path, problem)) from None
    except MarkedYAMLError as problem:
        place, mark = _line(path, problem), problem.problem_mark
        line = path.read_text(encoding="utf-8").split("\n")[mark.line] if mark else ""
        if "\t" in line[: len(line) - len(line.lstrip())]:
            told, hint = "a tab indents the line, but YAML allows only spaces", "Replace it with spaces."
        else:
            told, hint = (
                "the file is not valid YAML",
                "Check the indentation, the colons and the quotes there.",
            )
        raise UsageError("bad_yaml", told, where=place, hint=hint) from None
    except RecursionError:
        told = "brackets or indentation are nested too deeply"
        raise UsageError("bad_yaml", told, where=path.name) from None
    except (YAMLError, UnicodeError, OSError) as problem:
        told = f"the file {unread(problem) or 'is not valid YAML in UTF-8'}"
        raise UsageError("bad_yaml", told, where=path.name) from None


def _line(path: Path, problem: MarkedYAMLError) -> str:
    return f"{path.name}, line {problem.problem_mark.line + 1}" if problem.problem_mark else path.name


def add_lines(path: Path, problems: Sequence[PrivacySqlError]) -> None:
    """Add to each mistake its line in the file, or the line of its parent."""
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    lines: dict[str, int] = {}
    waiting = [("", YAML(typ="base").compose(path.read_text(encoding="utf-8")))]
    for name, node in waiting:
        if isinstance(node, MappingNode):
            for key, value in node.value:
                inner = f"{name}.{key.value}" if name else str(key.value)
                lines[inner] = key.start_mark.line + 1
                waiting.append((inner, value))
        elif isinstance(node, SequenceNode):
            for number, value in enumerate(node.value):
                lines[f"{name}[{number}]"] = value.start_mark.line + 1
                waiting.append((f"{name}[{number}]", value))
    for problem in problems:
        place = problem.where.removeprefix(f"{FILE}: ")
        while place and place not in lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        if place:
            problem.where += f", line {lines[place]}"


class Fields:
    """Checked mappings, lists, names and paths, with the mistakes found."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.problems: list[PrivacySqlError] = []

    def mapping(self, content: object, keys: Sequence[str] | None, where: str) -> dict[str, Any]:
        if not isinstance(content, Mapping):
            self.wrong(where or FILE, "must be a mapping of names to values")
            return {}
        for key in content:
            if keys is not None and key not in keys:
                place = f"{where}.{key}" if where else str(key)
                self.wrong(place, f'unknown key "{key}"', did_you_mean(str(key), keys), "unknown_key")
        return {str(key): value for key, value in content.items()}

    def column(self, content: object, keys: tuple[str, ...], where: str) -> dict[str, Any]:
        if content is None:
            return {}
        fields = {"column": content} if isinstance(content, str) else self.mapping(content, keys, where)
        if not isinstance(fields.get("column"), str) or not fields["column"]:
            self.wrong(where, "must name a column")
            fields["column"] = ""
        return fields

    def listed(self, content: object, where: str) -> list[Any]:
        if not isinstance(content, list):
            self.wrong(where, "must be a list")
            return []
        return content

    def names(self, content: object, where: str) -> tuple[str, ...]:
        given = self.listed(content, where) if content is not None else []
        for number, name in enumerate(given):
            if not isinstance(name, str) or not name:
                self.wrong(f"{where}[{number}]", "must name a column")
        return tuple(map(str, given))

    def path(self, text: object, where: str) -> Path:
        if not isinstance(text, str) or not text or "\0" in text:
            self.wrong(where, "must be the path of a file")
        return self.directory / str(text)

    def flag(self, text: object, where: str) -> bool:
        if text not in ("true", "false"):
            self.wrong(where, "must be true or false")
        return bool(text == "true")

    def wrong(self, where: str, message: str, hint: str = "", code: str = "bad_project") -> None:
        self.problems.append(UsageError(code, message, where=f"{FILE}: {where}", hint=hint))

    def noting(self, where: str) -> _Noting:
        """Collect an error of a part, with its place in the file, and go on reading."""
        return _Noting(self, where)


@dataclass(frozen=True)
class _Noting:
    fields: Fields
    where: str

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> bool:
        if not isinstance(problem, PrivacySqlError):
            return False
        for part in problem.parts:
            part.where = f"{FILE}: {part.where or self.where}"
            self.fields.problems.append(part)
        return True
