"""What the page says of insensitive columns, of what is no limit or no day, and while choices are decided."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.explorer.acting import TAB, attribute, clicked, count, text_of, waited, written_over
from tests.explorer.served import Asker, served
from tests.explorer.test_decide import NO_ONE_LEFT_OUT, written
from tests.explorer.test_more_screens_in_browser import at, enter, sized
from tests.reporting.browser import axe, browser, complaints


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as made:
        yield made


@pytest.fixture
def page(driver: Any, folder: Path) -> Iterator[tuple[Any, Asker]]:
    """The example, with `hours_per_week` published as it is."""
    text = (folder / "privacy.yml").read_text()
    listed = "drop: [survey_weight, hours_per_week]"
    (folder / "privacy.yml").write_text(
        text.replace(listed, "drop: [survey_weight]\n    insensitive: [hours_per_week]")
    )
    with served(folder) as asker:
        yield driver, asker
        driver.get("about:blank")


@pytest.fixture
def plain(driver: Any, folder: Path) -> Iterator[tuple[Any, Asker]]:
    """The example as it is."""
    with served(folder) as asker:
        yield driver, asker
        driver.get("about:blank")


def axe_finds(driver: Any) -> Any:
    driver.execute_script(axe())
    return driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
        ".then(r => done(r.violations.map(v => [v.id, v.nodes.map(n => n.html)])))"
    )


def test_nothing_is_called_safe_beside_a_refusal_and_the_ways_out_are_buttons(page: Any) -> None:
    driver, asker = page
    enter(driver, asker, "decide")
    waited(
        driver, lambda: "Not safe: somebody who also knows hours_per_week" in text_of(driver, ".verdict h3")
    )
    waited(driver, lambda: "being decided" not in text_of(driver, "#of-scatter"))
    whole = text_of(driver)
    assert "Safe" not in whole.replace("Not safe", "") and "One change" not in whole
    assert "Best guess, also knowing hours_per_week: right 100 % of the time; 566 people alone" in whole
    assert "is asked about for the choice of now only" in whole
    assert count(driver, '[data-key="insensitive-known"]') and count(driver, '[data-key="insensitive-drop"]')
    assert axe_finds(driver) == []
    driver.execute_script("location.hash = 'sign'")
    waited(driver, lambda: "This choice is not safe" in text_of(driver, ".verdict"))
    assert "can be signed" not in text_of(driver) and 'acknowledge: "the reason"' in text_of(
        driver, ".verdict"
    )
    assert axe_finds(driver) == []
    clicked(driver, '[data-key="run"]')
    waited(driver, lambda: "✖ Not published." in text_of(driver, ".done"))
    assert "can be signed" not in text_of(driver)
    clicked(driver, '[data-key="insensitive-drop"]')
    waited(driver, lambda: "✔ This choice can be signed" in text_of(driver, ".verdict"))
    driver.execute_script("location.hash = 'decide'")
    waited(driver, lambda: text_of(driver, ".verdict h3") == "✔ Safe: all 3 requirements hold")
    assert complaints(driver) == []


def test_a_run_that_publishes_nothing_takes_the_green_banner_away(plain: Any) -> None:
    driver, asker = plain
    assert asker.work("sign", do="run")["answer"]["published"]
    enter(driver, asker, "sign")
    waited(driver, lambda: "✔ This choice can be signed" in text_of(driver, ".verdict"))
    clicked(driver, '[data-key="run"]')  # what is out is not replaced unasked
    waited(driver, lambda: "✖ Not published." in text_of(driver, ".done"))
    assert "✖ Run did not publish this choice" in text_of(driver, ".verdict")
    assert "can be signed" not in text_of(driver)


@pytest.mark.parametrize("typed", ["0", "abc", "1.5"])
def test_what_is_no_limit_stays_and_the_page_says_what_is_one(plain: Any, typed: str) -> None:
    driver, asker = plain
    enter(driver, asker, "decide")
    field = '[data-number="k_anonymity(k=10)"]'
    waited(driver, lambda: count(driver, field))
    written_over(driver, field, *typed, TAB)
    told = f"✖ {typed} is no limit: write a whole number, 1 or more. It is still at least 10 people."
    waited(driver, lambda: told in text_of(driver, ".limits"))
    assert driver.execute_script("return document.querySelector(arguments[0]).value", field) == typed
    assert attribute(driver, field, "aria-invalid") == "true"
    written_over(driver, field, "1", "2", TAB)
    waited(driver, lambda: asker.ask("decide")["summary"]["requirements"][0]["slider"]["limit"] == "12")
    waited(driver, lambda: "is no limit" not in text_of(driver, ".limits"))


def test_a_day_that_is_none_stays_and_nothing_is_saved(plain: Any) -> None:
    driver, asker = plain
    enter(driver, asker, "sign")
    written_over(driver, '[data-key="sign-name-"]', *"Ada", TAB)
    waited(driver, lambda: "name: Ada" in text_of(driver, ".difference"))
    written_over(driver, '[data-key="sign-review-"]', *"soon", TAB)
    waited(driver, lambda: "Nothing is saved before this is mended" in text_of(driver))
    value = "return document.querySelector(arguments[0]).value"
    assert driver.execute_script(value, '[data-key="sign-review-"]') == "soon"
    assert driver.execute_script("return document.querySelector('[data-key=save]').disabled")
    assert "When it is looked at again" in text_of(driver, '[role="alert"]')
    assert "says all of it already" not in text_of(driver) and axe_finds(driver) == []
    written_over(driver, '[data-key="sign-review-"]', *"2031-01-31", TAB)
    waited(driver, lambda: "2031-01-31" in text_of(driver, ".difference"))
    clicked(driver, '[data-key="save"]')
    waited(driver, lambda: "says all of it already" in text_of(driver))
    assert asker.decision.plan.signoff["name"] == "Ada"


def test_the_choice_of_now_counts_while_the_others_are_decided(plain: Any, monkeypatch: Any) -> None:
    driver, asker = plain
    import threading

    from privacy_sql.explorer.screens import decide

    held, begins = threading.Event(), decide.Decide.work

    def waits(self: Any, decision: Any, question: Any, job: Any) -> Any:
        held.wait(60)
        return begins(self, decision, question, job)

    monkeypatch.setattr(decide.Decide, "work", waits)
    enter(driver, asker, "decide")
    waited(driver, lambda: "1 safe, the others being decided" in text_of(driver, "#of-scatter"))
    assert "No choice" not in text_of(driver, ".price") and "still being decided" in text_of(driver, ".price")
    held.set()
    waited(driver, lambda: text_of(driver, "#of-scatter").startswith("All "))
    assert "decided" not in text_of(driver, ".price")


def test_two_requirements_are_both_and_a_limit_above_all_people_has_a_price(
    driver: Any, folder: Path
) -> None:
    with served(written(folder, method=NO_ONE_LEFT_OUT, require="k_anonymity: {k: 10}")) as asker:
        enter(driver, asker, "decide")
        waited(driver, lambda: text_of(driver, "#of-scatter").startswith("All "))
        assert "✔ Safe: the requirement holds" in text_of(driver, ".verdict h3")
        assert "○ safe" in text_of(driver, "[data-said]")
        version = asker.ask("decide")["summary"]["version"]
        asker.ask("decide", action="limit", requirement="k_anonymity(k=10)", limit="50000", version=version)
        waited(driver, lambda: "No choice holds at this limit." in text_of(driver, ".price"))
        assert "A limit of 20,000 people would keep no detail." in text_of(driver, ".price")
        driver.get("about:blank")
    require = "k_anonymity: {k: 10}\n      t_closeness: {t: 0.3}"
    with served(written(folder, method=NO_ONE_LEFT_OUT, require=require)) as asker:
        enter(driver, asker, "decide")
        waited(driver, lambda: text_of(driver, ".verdict h3") == "✔ Safe: both requirements hold")
        driver.get("about:blank")


def test_the_worst_case_says_that_a_value_is_not_shown(plain: Any) -> None:
    driver, asker = plain
    enter(driver, asker, "decide")
    hidden = "and one value of sex (shown with Show values of people): "
    waited(driver, lambda: hidden in text_of(driver, ".verdict"))
    clicked(driver, "#values")
    waited(
        driver, lambda: "sex " in text_of(driver, ".verdict b") and hidden not in text_of(driver, ".verdict")
    )


def test_knowledge_says_that_its_group_is_one(plain: Any) -> None:
    driver, asker = plain
    enter(driver, asker)
    at(driver, "knowledge?facts=1")
    waited(driver, lambda: "In this group, before any fact, the guess is right" in text_of(driver))
    sized(driver)
