"""The JSON Schema of privacy.yml: it takes what the reader takes, and refuses the keys the reader refuses."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from privacy_sql.errors import PrivacySqlError
from privacy_sql.project import example, reading
from privacy_sql.project.schema import schema
from tests.conftest import ROOT
from tests.project.test_project import PROJECT

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_a(content: Any, kind: str) -> bool:
    """Whether a value is of a type of JSON; a truth value is no number."""
    if kind in ("number", "integer"):
        numbers = int if kind == "integer" else (int, float)
        return isinstance(content, numbers) and not isinstance(content, bool)
    return isinstance(content, TYPES[kind])


def fits(content: Any, rule: Any) -> bool:
    """The part of JSON Schema that ours uses, straight from its definitions."""
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_a(content, kind) for kind in kinds):
        return False
    if ("const" in rule and content != rule["const"]) or ("enum" in rule and content not in rule["enum"]):
        return False
    if "oneOf" in rule and sum(fits(content, one) for one in rule["oneOf"]) != 1:
        return False
    if isinstance(content, list):
        enough = len(content) >= rule.get("minItems", 0)
        return enough and all(fits(part, rule.get("items", {})) for part in content)
    if not isinstance(content, dict):
        return True
    own, more = rule.get("properties", {}), rule.get("additionalProperties", {})
    most = rule.get("maxProperties", len(content))
    if not rule.get("minProperties", 0) <= len(content) <= most or set(rule.get("required", ())) - set(
        content
    ):
        return False
    if more is False and set(content) - set(own):
        return False
    return all(fits(part, own.get(key, more or {})) for key, part in content.items())


def projects() -> list[Any]:
    """Every privacy.yml that the project shows somewhere."""
    texts = [example.PRIVACY_YML]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        texts += re.findall(r"^```yaml\n(version: 1\n.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return texts


@pytest.mark.parametrize("text", projects())
def test_every_project_shown_anywhere_fits(text: str) -> None:
    assert fits(YAML(typ="safe").load(text), schema())


def test_a_project_that_names_every_engine_loads_no_library_of_one() -> None:
    """Its package may be missing, here or where an editor asks for the schema."""
    connections = {"a": {"type": "duckdb", "threads": "2"}, "b": {"type": "postgres"}, "c": {"type": "spark"}}
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from privacy_sql.project import reading, schema\n"
        f"reading.understood(Path(), {PROJECT | {'connections': connections}!r})\nschema.schema()\n"
        "sys.exit(','.join({'duckdb', 'psycopg', 'pyspark', 'pyarrow'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The mappings inside a project, but for those whose keys are names of columns."""
    pairs = dict(enumerate(content)) if isinstance(content, list) else content
    if not isinstance(pairs, dict) or path[-1:] == ("levels",):
        return []
    own = [path] if pairs is content and path not in [(), ("connections",), ("releases",)] else []
    return [*own, *(place for key, part in pairs.items() for place in places(part, (*path, key)))]


def as_yaml(content: Any) -> Any:
    """The same with numbers and truth values as YAML reads them."""
    if isinstance(content, dict):
        return {key: as_yaml(part) for key, part in content.items()}
    if isinstance(content, list):
        return [as_yaml(part) for part in content]
    return int(content) if str(content).isdigit() else content


@pytest.mark.parametrize("place", places(PROJECT), ids=str)
def test_a_key_that_the_reader_does_not_know_does_not_fit(tmp_path: Path, place: tuple[Any, ...]) -> None:
    (tmp_path / "people.csv").write_text("age,sex,illness\n1,f,a\n")
    content = as_yaml(copy.deepcopy(PROJECT))
    assert fits(content, schema())
    with_it = copy.deepcopy(PROJECT)
    for whole in (content, with_it):
        inner: Any = whole
        for key in place:
            inner = inner[key]
        inner["surely_unknown"] = {}
    with pytest.raises(PrivacySqlError) as refused:
        reading._Reader(tmp_path).project(with_it)
    told = " ".join(f"{part.message}{part.where}" for part in refused.value.parts)
    assert ("surely_unknown" in told or "needs exactly one method" in told) and not fits(content, schema())
