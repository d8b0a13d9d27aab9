"""Compiled templates are kept where Python keeps compiled modules, and never outlive a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from privacy_sql.query import template


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are kept during a test."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("importlib.util.cache_from_source", lambda file: str(folder / Path(file).name))
    return folder


def rendered(folder: Path) -> str:
    """The one template of a folder, by an environment that has rendered nothing yet."""
    made: Any = template.environment([folder])
    made.bytecode_cache = template.KeptTemplates()
    text: str = made.get_template("one.sql").render()
    return text


def test_a_template_that_changed_is_compiled_again(tmp_path: Path, kept: Path) -> None:
    for text in ("select 1", "select 2"):
        (tmp_path / "one.sql").write_text(text)
        assert [rendered(tmp_path), rendered(tmp_path)] == [text, text]
    assert len(list(kept.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"j2", b"\x00" * 400])
def test_what_is_broken_is_made_anew(tmp_path: Path, kept: Path, content: bytes) -> None:
    (tmp_path / "one.sql").write_text("select 1")
    rendered(tmp_path)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(content or whole[:-9])
    assert rendered(tmp_path) == "select 1"
    assert file.read_bytes() == whole


def test_nothing_is_kept_where_python_keeps_nothing(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.sql").write_text("select 1")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert rendered(tmp_path) == "select 1" and not list(kept.iterdir())
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    kept.rmdir()
    assert rendered(tmp_path) == "select 1"  # and where it may not be written, nothing fails
