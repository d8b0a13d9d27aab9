"""Decide, Columns and Sign as somebody with a browser sees them, and a whole decision by keyboard alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.project import reading
from tests.command_line import call
from tests.conftest import ROOT
from tests.explorer.acting import (
    ENTER,
    TAB,
    attribute,
    clicked,
    count,
    keyed,
    pressed,
    tabbed,
    text_of,
    waited,
    written_over,
)
from tests.explorer.served import served
from tests.explorer.test_decide import NO_ONE_LEFT_OUT, REQUIRE, written
from tests.explorer.test_more_screens_in_browser import enter
from tests.reporting.browser import axe, browser, complaints, requests

SCREENS = ("decide", "columns?column=education", "sign")
NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as made:
        yield made


@contextmanager
def explorer(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`privacy-sql explore` as somebody starts it; its address."""
    command = [sys.executable, "-m", "privacy_sql", "explore", "--project", str(folder), "--no-browser"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = ""
        while "http://127.0.0.1:" not in line:
            line = process.stderr.readline()
            assert line, "it ended before it told its address"
        yield process, line.strip().rpartition(" ")[2]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.fixture
def opened(driver: Any, folder: Path) -> Iterator[tuple[Any, Path]]:
    """The example, its limits ones that can be moved, open in the browser."""
    written(folder, method=NO_ONE_LEFT_OUT)
    with served(folder) as asker:
        enter(driver, asker, "decide")
        sized(driver)
        waited(driver, lambda: text_of(driver, ".verdict h3"))
        yield driver, folder
        driver.get("about:blank")


def sized(driver: Any, width: int = 1440, zoom: int = 1, **media: str) -> None:
    size = {"width": width, "height": 1000, "deviceScaleFactor": zoom, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    named = {"prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference"}
    named |= {name.replace("_", "-"): value for name, value in media.items()}
    features = [{"name": name, "value": value} for name, value in named.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def go(driver: Any, screen: str) -> None:
    driver.execute_script("location.hash = arguments[0]", screen)
    name = screen.partition("?")[0]
    waited(driver, lambda: count(driver, f"section.screen.{name} h3"))


def all_known(driver: Any) -> None:
    """Every choice is decided."""
    waited(driver, lambda: text_of(driver, "#of-scatter").startswith("All "))


def safe_choices(driver: Any) -> int:
    found = re.search(r"([\d,]+) safe", text_of(driver, "#of-scatter"))
    assert found
    return int(found[1].replace(",", ""))


LOOKS = {
    "wide": {},
    "narrow and dark": {"width": 1024, "prefers_color_scheme": "dark"},
    "zoomed twice": {"width": 720, "zoom": 2},
}


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_and_nothing_is_cut_off(opened: tuple[Any, Path], look: str) -> None:
    driver, _ = opened
    script = axe()
    sized(driver, **LOOKS[look])  # type: ignore[arg-type]
    for screen in SCREENS:
        go(driver, screen)
        if screen == "decide":
            all_known(driver)
        if screen.startswith("columns"):
            waited(driver, lambda: "counted in the source" in text_of(driver, "#of-roles"))
            waited(driver, lambda: count(driver, ".labels li"))
        driver.execute_script(script)
        found = driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
            ".then(r => done(r.violations.map(v => [v.id, v.nodes.map(n => n.html)])))"
        )
        assert found == [], (screen, found)
        assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), screen
    assert complaints(driver) == []
    origin = driver.current_url.partition("/#")[0]
    assert {
        url for url in requests(driver) if not url.startswith((origin, "about:", "http://127.0.0.1:"))
    } == set()


def test_a_decision_from_opening_to_a_verified_release_by_keyboard_alone(opened: tuple[Any, Path]) -> None:
    driver, folder = opened
    assert "token" not in driver.current_url, "the token is not kept in the address"
    all_known(driver)
    levels = reading_levels(driver)
    key = attribute(driver, '.step.safe[aria-pressed="false"]', "data-key")
    tabbed(driver, f'[data-key="{key}"]')
    pressed(driver, ENTER)
    waited(driver, lambda: text_of(driver, "#state") == "Changed, not saved")
    waited(driver, lambda: reading_levels(driver) != levels)
    focused = driver.execute_script("return document.activeElement.dataset.key")
    assert focused == key, "the keyboard stays where it was"
    tabbed(driver, '[data-key="tab-sign"]')
    pressed(driver, ENTER)
    waited(driver, lambda: count(driver, "#sign-purpose-"))
    assert "The method full_domain is replaced" in text_of(driver, ".method")
    tabbed(driver, "#sign-purpose-")
    pressed(driver, "Planning", TAB)
    waited(driver, lambda: "purpose: Planning" in text_of(driver, ".difference"))
    tabbed(driver, '[data-key="save"]:enabled')
    pressed(driver, ENTER)
    waited(driver, lambda: text_of(driver, "#state") == "As privacy.yml says")
    tabbed(driver, '[data-key="run"]:enabled')
    pressed(driver, ENTER)
    waited(driver, lambda: "byte for byte" in text_of(driver, ".done"))
    tabbed(driver, '[data-key="report"]:enabled')
    pressed(driver, ENTER)
    waited(driver, lambda: "report is written" in text_of(driver, ".done"))
    (plan,) = reading.read(folder).plans.values()
    assert plan.signoff == {"purpose": "Planning"}
    assert call("verify", folder / "out/people.csv").exit == 0
    assert (folder / "target/report/people.html").is_file()
    assert complaints(driver) == []


def reading_levels(driver: Any) -> list[str]:
    script = (
        "return [...document.querySelectorAll('.step[aria-pressed=\"true\"]')].map((one) => one.textContent)"
    )
    return [str(one) for one in driver.execute_script(script)]


def test_a_limit_that_is_moved_asks_nobody_and_shows_what_search_says(opened: tuple[Any, Path]) -> None:
    driver, folder = opened
    all_known(driver)
    driver.execute_script(
        "window.asked = []; const real = window.fetch;"
        "window.fetch = (...all) => { window.asked.push(all[0]); return real(...all); };"
    )
    painted = driver.execute_async_script(
        """const done = arguments[0];
        const range = document.querySelector('[data-range="k_anonymity(k=10)"]');
        const before = window.asked.filter((path) => path !== "/api/alive").length;
        // a window that is not in front paints no frames, so what waits for one is next in turn
        window.requestAnimationFrame = (paint) => setTimeout(paint, 0);
        range.value = 120;
        range.dispatchEvent(new Event("input", {bubbles: true}));
        setTimeout(() => done({
          asked: window.asked.filter((path) => path !== "/api/alive").length - before,
          shown: document.querySelector('[data-number="k_anonymity(k=10)"]').value}), 0);"""
    )
    assert painted["asked"] == 0 and painted["shown"] != "10"
    now = safe_choices(driver)
    told = 'return document.querySelector(`[data-range="k_anonymity(k=${arguments[0]})"]`) !== null'
    waited(driver, lambda: driver.execute_script(told, painted["shown"]), 20)  # the server knows it by now
    assert safe_choices(driver) == now, "what is known of every choice is kept under its new name"
    text = (folder / "privacy.yml").read_text()
    (folder / "privacy.yml").write_text(text.replace("k: 10", f"k: {painted['shown']}"))
    found = call("search", "--json", "--project", folder)
    (folder / "privacy.yml").write_text(text)
    assert now == (found.json["safe_choices"] if found.exit == 0 else 0)


def test_the_price_of_a_limit_is_what_search_finds_there(opened: tuple[Any, Path]) -> None:
    """The limit that is free keeps the same detail; a stricter one does not."""
    driver, folder = opened
    all_known(driver)
    told = text_of(driver, ".price")
    found = re.search(r"could be below ([\d.]+) % for free", told)
    before = call("search", "--json", "--project", folder).json["best"]["values"]["loss"]
    if found is None:
        assert "A stricter limit would cost detail" in told
        free = 0.60
    else:
        free = float(found[1]) / 100
    written(folder, method=NO_ONE_LEFT_OUT, require=REQUIRE.replace("c: 0.6", f"c: {free:.2f}"))
    assert call("search", "--json", "--project", folder).json["best"]["values"]["loss"] == before
    written(folder, method=NO_ONE_LEFT_OUT, require=REQUIRE.replace("c: 0.6", f"c: {free - 0.01:.2f}"))
    stricter = call("search", "--json", "--project", folder)
    assert stricter.exit or stricter.json["best"]["values"]["loss"] > before


def test_the_one_change_that_makes_a_failing_choice_safe_does(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    all_known(driver)
    # looked for and clicked at once: the page may draw itself anew in between
    click = "const one = document.querySelector(arguments[0]); one?.click(); return Boolean(one)"
    waited(driver, lambda: driver.execute_script(click, ".step.fails"))
    waited(driver, lambda: "Not safe" in text_of(driver, ".verdict h3"))
    waited(driver, lambda: driver.execute_script(click, '[data-key="help"]'))
    waited(driver, lambda: text_of(driver, ".verdict h3").startswith("✔ Safe"))


def dragged(driver: Any, label: str, onto: str) -> None:
    """Drag a label by the mouse; pressed, moved and let go where things are at that moment."""
    from selenium.webdriver import ActionChains

    place = (
        "const one = document.querySelector(arguments[0]); one.scrollIntoView({block: 'center'});"
        "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]"
    )
    waited(driver, lambda: count(driver, label) and count(driver, onto))
    driver.execute_script(place, onto)
    (a, b), (c, d) = (
        driver.execute_script(place.replace("one.scrollIntoView({block: 'center'});", ""), each)
        for each in (label, onto)
    )
    moves = ActionChains(driver, duration=50)
    pointer = moves.w3c_actions.pointer_action
    pointer.move_to_location(int(a), int(b))
    pointer.pointer_down()
    pointer.move_to_location(int((a + c) / 2), int((b + d) / 2))
    pointer.move_to_location(int(c), int(d))
    pointer.pointer_up()
    moves.perform()


def labels(driver: Any, level: int) -> dict[str, int]:
    """The labels of a level of education with their people, as the page shows them."""
    clicked(driver, f'[data-key="level-{level}"]')
    waited(driver, lambda: count(driver, f'[data-key="level-{level}"][aria-pressed="true"]'))
    rows = driver.execute_script(
        "return [...document.querySelectorAll('.labels li')].map((one) =>"
        " [one.querySelector('.name').textContent, one.querySelector('meter').value])"
    )
    return {name: int(n) for name, n in rows}


def test_labels_are_merged_and_moved_by_dragging(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    go(driver, "columns?column=education")
    waited(driver, lambda: count(driver, ".labels li"))
    above, before = labels(driver, 2), labels(driver, 1)
    first, second, *_ = before
    dragged(driver, '[data-drag="0"]', '[data-drop="label-1"]')
    waited(driver, lambda: count(driver, ".labels li") == len(before) - 1)
    merged = labels(driver, 1)
    assert merged == {
        **{k: n for k, n in before.items() if k != first},
        second: before[first] + before[second],
    }
    last, (most, other) = list(merged)[-1], above
    dragged(driver, f'[data-drag="{len(merged) - 1}"]', '[data-drop="parent-0"]')
    after = {most: above[most] + merged[last], other: above[other] - merged[last]}
    waited(driver, lambda: labels(driver, 2) == after)
    assert not count(driver, ".problem") and complaints(driver) == []


SLOW = """
const real = window.fetch;
window.fetch = async (...all) => {
  if (all[0] !== "/api/alive") await new Promise((wait) => setTimeout(wait, 300));
  return real(...all);
};"""


def test_presses_that_are_faster_than_the_answers_are_all_taken(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    all_known(driver)
    before = reading_levels(driver)
    driver.execute_script(SLOW)
    driver.execute_script(
        "for (const key of ['sex-1', 'age-3', 'zip-2'])"
        " document.querySelector(`[data-key=step-${key}]`).click()"
    )
    pressed_now = '.step[data-key="step-{}"][aria-pressed="true"]'
    waited(
        driver,
        lambda: all(count(driver, pressed_now.format(key)) for key in ("sex-1", "age-3", "zip-2")),
    )
    assert not count(driver, ".problem")
    for _ in range(3):
        clicked(driver, "#undo")
    waited(driver, lambda: reading_levels(driver) == before)
    assert not count(driver, ".problem")


def test_decide_is_left_at_once_and_the_limit_that_was_moved_last_is_in_the_difference(
    opened: tuple[Any, Path],
) -> None:
    driver, _ = opened
    driver.execute_script(SLOW)
    driver.execute_script(
        """document.querySelector('[data-key="step-sex-1"]').click();
        const range = document.querySelector('[data-range="k_anonymity(k=10)"]');
        range.value = Number(range.value) + 20;
        range.dispatchEvent(new Event("input", {bubbles: true}));
        for (const screen of ["people", "decide", "columns", "sign"]) location.hash = screen;"""
    )
    waited(driver, lambda: count(driver, "section.screen.sign .difference"))
    told = text_of(driver, ".difference")
    assert "k_anonymity" in told and "sex: 1" in told
    time.sleep(1.5)  # what was asked by the screens that were left has been answered
    assert not count(driver, ".problem") and complaints(driver) == []
    assert text_of(driver, ".difference") == told


def test_two_tabs_show_the_same_and_back_leads_back(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    first = driver.current_window_handle
    address = driver.current_url
    driver.switch_to.new_window("tab")
    driver.get(address)
    waited(driver, lambda: count(driver, ".step"))
    clicked(driver, '[data-key="step-sex-1"]')
    waited(driver, lambda: text_of(driver, "#state") == "Changed, not saved")
    driver.close()
    driver.switch_to.window(first)
    waited(driver, lambda: text_of(driver, "#state") == "Changed, not saved")
    pressed_there = '[data-key="step-sex-1"][aria-pressed="true"]'
    waited(driver, lambda: count(driver, pressed_there))
    go(driver, "sign")
    driver.back()
    waited(driver, lambda: count(driver, "section.screen.decide .step"))


def test_a_reload_in_the_middle_of_a_job_begins_it_again(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    driver.refresh()
    waited(driver, lambda: count(driver, ".step"))
    driver.refresh()
    all_known(driver)
    assert not count(driver, ".problem")


def test_a_job_is_cancelled_and_the_page_stays_usable(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    driver.execute_script("document.querySelector('[data-key=cancel]')?.click()")
    waited(driver, lambda: not count(driver, "progress"))
    clicked(driver, '[data-key="step-sex-1"]')
    waited(driver, lambda: text_of(driver, "#state") == "Changed, not saved")


def test_motion_is_left_out_where_somebody_wants_none(opened: tuple[Any, Path]) -> None:
    driver, _ = opened
    script = "return getComputedStyle(document.querySelector('.step')).transitionDuration"
    assert driver.execute_script(script) != "0s"
    sized(driver, prefers_reduced_motion="reduce")
    assert driver.execute_script(script) == "0s"


def test_a_server_that_ends_under_the_page_is_told_there_and_leaves_nothing(
    driver: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "spill"))
    (tmp_path / "spill").mkdir()
    with explorer(folder) as (process, address):
        driver.get(address)
        waited(driver, lambda: count(driver, ".step"))
        assert any((tmp_path / "spill").iterdir())
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and "left nothing behind" in out
        assert not any((tmp_path / "spill").iterdir())
        waited(driver, lambda: "has ended or does not answer" in text_of(driver, "#gone"))
    assert tempfile.gettempdir() and os.listdir(tmp_path / "spill") == []


def test_a_closed_page_ends_the_server(driver: Any, folder: Path) -> None:
    with explorer(folder) as (process, address):
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        driver.get(address)
        waited(driver, lambda: count(driver, ".step"))
        began = time.monotonic()
        driver.close()
        driver.switch_to.window(first)
        process.wait(60)
        assert process.returncode == 0 and time.monotonic() - began < 60


def test_a_column_that_is_called_like_a_script_is_a_name(driver: Any, tmp_path: Path) -> None:
    rows = [[NASTY, "ill"], *([f"{NASTY}{n % 3}", "ab"[n % 2]] for n in range(24))]
    (tmp_path / "people.csv").write_text("".join(f"{a},{b}\n" for a, b in rows))
    (tmp_path / "privacy.yml").write_text(
        f"""version: 1
releases:
  people:
    source: {{file: people.csv}}
    quasi_identifiers: [{{column: "{NASTY}", hierarchy: keep_or_drop}}]
    sensitive: ill
    require: {{k_anonymity: {{k: 3}}, ck_safety: {{c: 0.9, k: 0}}}}
    signoff: {{purpose: "{NASTY}"}}
    method: {{full_domain: {{}}}}
    output: {{target: out/people.csv}}
"""
    )
    with explorer(tmp_path) as (_, address):
        complaints(driver)
        driver.get(address)
        waited(driver, lambda: count(driver, ".step"))
        clicked(driver, "#values")
        for screen in ("columns", "decide", "sign"):
            go(driver, screen)
            waited(driver, lambda: NASTY in text_of(driver, "main"))
            assert not count(driver, "main img")
        clicked(driver, '[data-key="tab-columns"]')
        waited(
            driver,
            lambda: f"{NASTY}1" in text_of(driver, ".labels") or count(driver, ".step"),
        )
        assert "onerror" not in driver.current_url
        assert complaints(driver) == []


def replayed(driver: Any, address: str) -> None:
    """The decision of examples/decision, as its README tells it."""
    driver.get(address)
    all_known(driver)
    clicked(driver, '[data-key="step-education-1"]')
    waited(driver, lambda: text_of(driver, ".verdict h3").startswith("✖ Not safe"))
    clicked(driver, '[data-key="help"]')
    waited(driver, lambda: text_of(driver, ".verdict h3").startswith("✔ Safe"))
    written_over(driver, '[data-number="k_anonymity(k=10)"]', f"15{ENTER}")
    waited(driver, lambda: "k_anonymity(k=15)" in text_of(driver, ".limits"))
    waited(driver, lambda: text_of(driver, ".verdict h3").startswith("✔ Safe"))
    go(driver, "sign")
    for selector, words in (
        ("#sign-purpose-", "To plan clinics"),
        ("#sign-reasons-k_anonymity", "The city's rule"),
    ):
        keyed(driver, selector, f"{words}{TAB}")
        waited(
            driver,
            lambda words=words: words.replace("'", "") in text_of(driver, ".difference").replace("'", ""),
        )
    clicked(driver, '[data-key="save"]')
    waited(driver, lambda: text_of(driver, "#state") == "As privacy.yml says")
    clicked(driver, '[data-key="run"]')
    waited(driver, lambda: "byte for byte" in text_of(driver, ".done"))
    clicked(driver, '[data-key="report"]')
    waited(driver, lambda: "report is written" in text_of(driver, ".done"))


def test_the_recorded_decision_is_made_again(driver: Any, folder: Path) -> None:
    """`WRITE_EXAMPLES=1` writes after.yml anew."""
    example = ROOT / "examples" / "decision"
    (folder / "privacy.yml").write_text((example / "before.yml").read_text())
    sized(driver)
    with explorer(folder) as (_, address):
        replayed(driver, address)
    made = (folder / "privacy.yml").read_text()
    if os.environ.get("WRITE_EXAMPLES"):
        (example / "after.yml").write_text(made)
    assert made == (example / "after.yml").read_text()
    assert call("verify", folder / "out/people.csv").exit == 0
    assert "To plan clinics" in (folder / "target/report/people.html").read_text()
