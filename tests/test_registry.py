"""Parts are found by their file name; packages outside add to them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from json import JSONDecoder
from types import ModuleType
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.criteria.k_anonymity import KAnonymity
from privacy_sql.errors import UsageError
from privacy_sql.history.described import refuse_counts


@pytest.fixture
def outside(monkeypatch: Any) -> Iterator[None]:
    """A package that adds one requirement, and another under the name of one of ours."""
    added = [
        EntryPoint(name, "json:JSONDecoder", "privacy_sql.criteria") for name in ("house_rule", "k_anonymity")
    ]
    monkeypatch.setattr(registry, "_theirs", lambda family: tuple(added) if family == "criteria" else ())
    caches = (registry.get, registry.load, registry.by_class_name)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_a_part_of_a_package_outside_is_found_by_its_name(outside: None) -> None:
    assert "house_rule" in registry.available("criteria")
    assert registry.get("criteria", "house_rule") is JSONDecoder
    assert registry.by_class_name("HouseRule") is JSONDecoder


def test_a_package_outside_does_not_take_the_place_of_a_part(outside: None) -> None:
    assert registry.get("criteria", "k_anonymity") is KAnonymity
    assert registry.by_class_name("KAnonymity") is KAnonymity


def test_a_part_nobody_has_is_an_error_with_the_nearest_name(outside: None) -> None:
    with pytest.raises(UsageError) as problem:
        registry.get("criteria", "house_rules")
    assert problem.value.hint == 'Did you mean "house_rule"?'


def test_every_criterion_and_method_is_completed_by_the_name_of_its_class() -> None:
    shown = dir(ps)
    assert not any(isinstance(getattr(ps, name), ModuleType) for name in shown)
    assert [name for name in shown if name.startswith("_")] == ["__version__"]
    assert {"CKSafety", "BTPrivacy", "KAnonymity", "FullDomain"} <= set(shown)
    assert all(getattr(ps, name).__name__ == name for name in shown if name.endswith(("Safety", "Privacy")))


def test_what_a_manifest_asks_of_its_method_is_declared_there() -> None:
    """A method that is not installed says nothing; what needs to know how it published is then refused."""
    methods = {name: registry.get("methods", name) for name in registry.available("methods")}
    said = {
        "publishes_rows": {name for name, part in methods.items() if not part.publishes_rows},
        "publishes_groups": {name for name, part in methods.items() if not part.publishes_groups},
        "shows_centres": {name for name, part in methods.items() if part.shows_centres},
        "permutes": {name for name, part in methods.items() if part.permutes},
        "shows_labels": {name for name, part in methods.items() if part.shows_labels},
        "spends": {name for name, part in methods.items() if part.spends},
    }
    assert said == {
        "publishes_rows": {"marginals"},
        "publishes_groups": {"marginals", "noisy_counts"},
        "shows_centres": {"microaggregate"},
        "permutes": {"bucketize"},
        "shows_labels": {"generalise", "full_domain"},
        "spends": {"noisy_counts"},
    }
    assert registry.known("methods", "from_elsewhere") is None
    for name in (*methods, "from_elsewhere"):
        if name in said["publishes_groups"]:
            with pytest.raises(UsageError, match="publishes counts, not groups"):
                refuse_counts(name, "it")
        else:
            refuse_counts(name, "it")
