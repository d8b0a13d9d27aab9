"""The report as a reader meets it, in a real browser."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call
from tests.conftest import NIGHTLY
from tests.reporting.browser import axe, browser, complaints, opened, requests

PAGES = ("good", "public", "bad", "index", "amber", "named")


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as found:
        yield found


def script(driver: Any, text: str) -> Any:
    return driver.execute_script(f"return {text}")


def until(true: Callable[[], Any], seconds: float = 60) -> None:
    """Look again and again, since a browser draws when it likes."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.05)


def cells(driver: Any) -> list[list[str]]:
    """Text and class of every cell of the small pictures."""
    found: list[list[str]] = script(
        driver,
        "Array.from(document.querySelectorAll('.panel td')).map(c => [c.textContent, c.className.trim()])",
    )
    return found


def set_value(driver: Any, control: str, value: int, event: str) -> None:
    driver.execute_script(
        "var e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event(arguments[2], {bubbles: true}))",
        control,
        value,
        event,
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_error_and_asks_for_nothing_but_itself(driver: Any, pages: Path, name: str) -> None:
    page = pages / f"{name}.html"
    driver.get("about:blank")
    complaints(driver), requests(driver)
    opened(driver, page)
    if name != "index":
        driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert complaints(driver) == []
    assert requests(driver) == {page.as_uri()}


@pytest.mark.parametrize("name", PAGES)
def test_names_with_tags_and_quotes_stay_text(driver: Any, pages: Path, name: str) -> None:
    opened(driver, pages / f"{name}.html")
    assert script(driver, "typeof window.broken") == "undefined"
    assert "</script><script>window.broken=1</script>\"'<b>&amp;" in script(
        driver, "document.body.textContent"
    )
    # the project's name has an opened <b>: nothing after it may have become bold
    assert script(driver, "document.querySelectorAll('b').length") == 0


def test_every_section_has_its_chart_drawn(driver: Any, pages: Path) -> None:
    opened(driver, pages / "good.html")
    wanted = script(driver, "Array.from(document.querySelectorAll('[data-chart]')).map(c => c.dataset.chart)")
    assert set(wanted) == {
        *("guessed", "sizes", "kept", "errors"),
        *("facts", "frontier", "lattice", "mixed", "background", "exposed", "divergence"),
    }
    every = "Array.from(document.querySelectorAll('[data-chart]'))"
    assert min(script(driver, f"{every}.map(c => c.querySelectorAll('.area path, .fill').length)")) > 0
    # what is drawn lies in its area, and every bar is as long as its number says
    inside = (
        "Array.from(document.querySelectorAll('.area path:not(.grid)')).every(p => {"
        "const a = p.closest('.area').getBoundingClientRect(), b = p.getBBox();"
        "return b.x >= 0 && b.y >= 0 && b.x + b.width <= 1001 && b.y + b.height <= 1001 && a.width > 200})"
    )
    assert script(driver, inside) is True
    errors = (
        "Array.from(document.querySelectorAll('[data-chart=errors] .row')).map(r => ["
        "r.querySelector('.fill').getBoundingClientRect().width,"
        "parseFloat(r.querySelector('.n').textContent)])"
    )
    pairs = [pair for pair in script(driver, errors) if pair[1] > 1]
    scale = max(width / told for width, told in pairs)
    assert pairs and all(width == pytest.approx(told * scale, rel=0.1, abs=3) for width, told in pairs)


def test_the_limit_changes_cells_summary_and_skyline(driver: Any, pages: Path) -> None:
    opened(driver, pages / "good.html")
    before, said = cells(driver), script(driver, "document.getElementById('skyline-summary').textContent")
    set_value(driver, "skyline-limit", 50, "input")
    after = cells(driver)
    assert [text for text, _ in after] == [text for text, _ in before]  # what is known did not change
    assert sum("unsafe" in kind for _, kind in after) > sum("unsafe" in kind for _, kind in before)
    assert all(("unsafe" in kind) == (int(text) >= 50) for text, kind in after)
    assert script(driver, "document.getElementById('skyline-shown').textContent") == "50 %"
    now = script(driver, "document.getElementById('skyline-summary').textContent")
    assert now != said and "below 50 %" in now
    corners = [n for n, (_, kind) in enumerate(after) if "edge" in kind]
    assert corners and not [n for n in corners if "unsafe" in after[n][1]]


def test_the_script_draws_what_the_page_holds_without_it(driver: Any, pages: Path) -> None:
    page = pages / "good.html"
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(driver, page)
        plain = cells(driver), script(driver, "document.getElementById('skyline-summary').textContent")
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    opened(driver, page)
    assert (cells(driver), script(driver, "document.getElementById('skyline-summary').textContent")) == plain


def test_the_value_changes_the_numbers(driver: Any, pages: Path) -> None:
    opened(driver, pages / "good.html")
    chosen = int(script(driver, "document.getElementById('skyline-value').value"))
    before = cells(driver)
    set_value(driver, "skyline-value", 0 if chosen else 5, "change")
    assert [text for text, _ in cells(driver)] != [text for text, _ in before]
    set_value(driver, "skyline-value", chosen, "change")
    assert cells(driver) == before


def test_the_controls_work_with_the_keyboard_alone(driver: Any, pages: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    opened(driver, pages / "good.html")
    driver.find_element("css selector", "#skyline-grid > summary").send_keys(Keys.ENTER)
    driver.find_element("id", "skyline-value").send_keys(Keys.TAB)
    slider = driver.switch_to.active_element
    assert slider.get_attribute("id") == "skyline-limit"
    start = int(slider.get_attribute("value"))
    slider.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert script(driver, "document.getElementById('skyline-shown').textContent") == f"{start - 2} %"
    summary = driver.find_element("css selector", "figure summary")
    summary.send_keys(Keys.ENTER)
    assert script(driver, "document.querySelector('figure details').open") is True


def test_three_dimensions_draw_under_the_policy(records: Path, tmp_path: Path) -> None:
    words = ["--select", "good", "--audience", "internal", "--interactive"]
    assert call("report", "--project", records, *words, "-o", tmp_path).exit == 0
    with browser(webgl=True) as driver:
        opened(driver, tmp_path / "good.html")
        complaints(driver)
        driver.execute_script("document.getElementById('skyline-3d').open = true")
        until(lambda: script(driver, "document.querySelectorAll('#skyline-stairs canvas').length") > 0)
        place = driver.find_element("id", "skyline-stairs")
        driver.execute_script("arguments[0].scrollIntoView()", place)
        until(lambda: coloured(place.screenshot_as_png) > 5000)
        first = place.screenshot_as_png
        set_value(driver, "skyline-limit", 45, "input")
        until(lambda: place.screenshot_as_png != first)
        assert complaints(driver) == []
        assert script(driver, "document.getElementById('skyline-no3d').hidden") is True


def coloured(png: bytes) -> int:
    """How many points of a picture are no shade of grey."""
    import io

    from matplotlib.image import imread

    picture = imread(io.BytesIO(png))[:, :, :3]
    return int(((picture.max(axis=2) - picture.min(axis=2)) > 0.1).sum())


@pytest.mark.parametrize("width", [390, 640])  # a phone, and twice the size on a screen of 1280
@pytest.mark.parametrize("name", PAGES)
def test_nothing_scrolls_sideways_on_a_narrow_screen(driver: Any, pages: Path, name: str, width: int) -> None:
    opened(driver, pages / f"{name}.html", width)
    driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    until(lambda: script(driver, "document.readyState") == "complete")
    assert script(driver, "document.documentElement.scrollWidth") <= width
    cut = (
        "Array.from(document.querySelectorAll('main *'))"
        f".filter(e => e.getBoundingClientRect().right > {width + 1}"
    )
    wide = script(driver, f"{cut} && !e.closest('.wide, pre, .chart3d, .vh')).map(e => e.className)")
    assert wide == []


@pytest.mark.parametrize("name", ["good", "public", "bad"])
def test_text_and_tables_are_there_with_script_off(driver: Any, pages: Path, name: str) -> None:
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(driver, pages / f"{name}.html")
        assert script(driver, "document.documentElement.className") == ""
        shown = script(driver, "document.body.innerText")
        assert {"What is published, column by column", "Provenance"} <= set(
            shown.splitlines()
        ) or name == "bad"
        assert "k_anonymity(k=5)" in shown and "value 1 of 6 (" not in shown
        # what needs a script is not there to be clicked in vain, and what needs none is
        assert script(driver, "document.querySelector('.controls').offsetHeight") == 0
        assert script(driver, "document.querySelector('[data-chart]').offsetHeight") > 80
        assert len(cells(driver)) == 6 * 13 * 7
        driver.execute_script("document.querySelector('figure details').open = true")
        assert script(driver, "document.querySelector('figure details table').offsetHeight") > 100
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_it_prints_without_its_controls_and_what_is_closed_stays_closed(driver: Any, pages: Path) -> None:
    opened(driver, pages / "good.html")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        height = "(s) => document.querySelector(s).offsetHeight"
        assert script(driver, f"['nav', '.controls'].map({height})") == [0, 0]
        closed = "Array.from(document.querySelectorAll('details:not(.shape)'))"
        assert script(driver, f"{closed}.filter(d => d.open).length") == 0
        assert script(driver, f"({height})('[data-chart]')") > 60
        printed = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert printed.startswith(b"%PDF") and 4 <= printed.count(b"/Type /Page\n") <= 40


def test_what_is_unsafe_can_be_told_without_colour(driver: Any, pages: Path) -> None:
    opened(driver, pages / "good.html")
    style = (
        "s => [getComputedStyle(document.querySelector(s))].flatMap(c => [c.fontWeight, c.backgroundImage])"
    )
    safe, unsafe = script(driver, f"['.panel td:not(.unsafe)', '.panel td.unsafe'].map({style})")
    assert safe != unsafe and unsafe[0] == "700" and "gradient" in unsafe[1]
    opened(driver, pages / "bad.html")
    told = script(driver, "document.querySelector('.verdict').innerText")
    assert "✖" in told and "Do not release" in told
    assert "✖ FAILS" in script(driver, "document.getElementById('criteria').innerText")
    assert "✖" in script(driver, "document.querySelector('.measured.bad').innerText")


# a screen in both themes, the same at twice the size, and a phone
@pytest.mark.parametrize("width", [1280, 640, 390])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(driver: Any, pages: Path, name: str, width: int) -> None:
    opened(driver, pages / f"{name}.html", width)
    driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    driver.execute_script(axe())
    for theme in ("dark", "light") if width == 1280 or NIGHTLY else ("light",):
        chosen = {"media": "", "features": [{"name": "prefers-color-scheme", "value": theme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", chosen)
        found = driver.execute_async_script(
            "axe.run({resultTypes: ['violations']})"
            ".then(arguments[0], e => arguments[0]({violations: [String(e)]}))"
        )
        told = [
            v if isinstance(v, str) else (v["id"], [n["html"][:120] for n in v["nodes"][:3]])
            for v in found["violations"]
        ]
        assert told == [] and len(found["passes"]) > 10, theme
