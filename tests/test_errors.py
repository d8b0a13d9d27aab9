"""Errors: exit codes, the JSON of --json, and the nearest name."""

from __future__ import annotations

import pytest

from privacy_sql.errors import (
    DataError,
    EngineError,
    NoSafeChoice,
    PrivacySqlError,
    SeveralErrors,
    Undecided,
    UsageError,
    did_you_mean,
    nearest,
    raise_all,
)


def test_an_error_says_what_where_and_what_next_in_this_order() -> None:
    error = UsageError(
        "unknown_column", 'patients has no column "zipcode"', where="quasi_identifiers", hint="Use zip."
    )
    assert str(error) == 'patients has no column "zipcode" (quasi_identifiers). Use zip.'


def test_json_holds_exactly_the_four_fields() -> None:
    assert DataError("empty_table", "patients is empty").to_json() == {
        "code": "empty_table",
        "where": "",
        "message": "patients is empty",
        "hint": "",
    }


@pytest.mark.parametrize(
    ("kind", "code"),
    [(UsageError, 2), (DataError, 3), (EngineError, 4), (NoSafeChoice, 5), (Undecided, 5)],
)
def test_each_class_has_the_exit_code_of_the_interface(kind: type[PrivacySqlError], code: int) -> None:
    assert kind("x", "y").exit == code


def test_several_errors_keep_every_part_and_the_most_urgent_exit_code() -> None:
    inner = SeveralErrors([UsageError("a", "first"), DataError("b", "second")])
    outer = SeveralErrors([inner, NoSafeChoice("c", "third")])
    assert [part.code for part in outer.parts] == ["a", "b", "c"]
    assert outer.exit == 3
    assert all(text in str(outer) for text in ("3 errors", "first", "second", "third"))


def test_raising_all_of_one_error_raises_that_error() -> None:
    only = UsageError("a", "first")
    with pytest.raises(UsageError) as caught:
        raise_all([only])
    assert caught.value is only


def test_the_nearest_name_ignores_letter_case() -> None:
    assert nearest("ZIP", ["age", "zip"]) == "zip"


def test_a_hint_without_any_known_name_is_empty() -> None:
    assert did_you_mean("zip", []) == ""
