"""A skip says what it needs; what an engine cannot do yet is expected by its error and told when it goes."""

from __future__ import annotations

import pytest

from privacy_sql.errors import EngineError
from tests import needs
from tests.engines import server

CANNOT = EngineError("no_arrays", "spark has no arrays here")


def test_a_skip_is_meant_when_it_says_what_would_make_it_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRIVACY_SQL_DATA", raising=False)
    assert needs.meant("test_x", "needs the data sets: set PRIVACY_SQL_DATA")
    assert not needs.meant("test_x", "could not start")
    monkeypatch.setenv("PRIVACY_SQL_DATA", "/somewhere")
    assert not needs.meant("test_x", "needs the data sets: set PRIVACY_SQL_DATA")


def test_nothing_is_skipped_on_an_engine_that_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "needs PostgreSQL: apt-get install postgresql"
    monkeypatch.setenv(server.REQUIRED, "")
    assert needs.meant("test_x[postgres]", why)
    monkeypatch.setenv(server.REQUIRED, "postgres")
    assert not needs.meant("test_x[postgres]", why)


def test_what_an_engine_cannot_do_yet_is_expected_by_its_error() -> None:
    with pytest.raises(pytest.xfail.Exception), needs.not_yet("spark", EngineError, "no arrays"):
        raise CANNOT


def test_another_error_than_the_expected_one_is_a_failure() -> None:
    with pytest.raises(EngineError), needs.not_yet("spark", EngineError, "no dates"):
        raise CANNOT
    with pytest.raises(ZeroDivisionError), needs.not_yet("spark", EngineError, "no arrays"):
        raise ZeroDivisionError


def test_the_day_an_engine_passes_its_marker_shouts() -> None:
    with pytest.raises(pytest.fail.Exception, match="passes now"), needs.not_yet("spark", EngineError, "x"):
        pass


@pytest.mark.not_yet("duckdb", EngineError, "no arrays")
@pytest.mark.not_yet("postgres", EngineError, "no arrays")
@pytest.mark.not_yet("postgres_travelling", EngineError, "no arrays")
@pytest.mark.parametrize("engine", ["duckdb", "postgres", "postgres_travelling"], indirect=False)
def test_the_marker_of_a_test_is_read(engine: str) -> None:
    raise CANNOT
