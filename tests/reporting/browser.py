"""Headless Chromium for tests that look at a page as its reader does."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.engines import server

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SWITCHES = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--disable-extensions", "--disable-background-networking", "--disable-component-update"),
)
FLAT = ("--disable-gpu",)  # drawing through WebGL takes a quarter more of the processor
WEBGL = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)  # without a graphics card


@contextmanager
def browser(*, webgl: bool = False) -> Iterator[Any]:
    """A browser that keeps its console and what it asks the network for."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs a browser: Debian's chromium and chromium-driver, or unset PRIVACY_SQL_AXE")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (*SWITCHES, *(WEBGL if webgl else FLAT)):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # what a browser leaves goes with the folder that all workers of a run share
    place = os.environ.get(server.PLACE) or tempfile.gettempdir()
    driver = webdriver.Chrome(options=options, service=Service(DRIVER, env={**os.environ, "TMPDIR": place}))
    driver.set_page_load_timeout(120)
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


def opened(driver: Any, page: Path, width: int = 1240) -> None:
    """Open a page at a width, its charts drawn."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.as_uri())


PAPER = {"a4": (210 / 25.4, 297 / 25.4), "letter": (8.5, 11)}  # in inches


def printed(driver: Any, paper: str) -> bytes:
    """The page at hand as a PDF, with the margins it asks for."""
    width, height = PAPER[paper]
    # the page names its margins and no size of paper
    asked = {"paperWidth": width, "paperHeight": height, "printBackground": True, "preferCSSPageSize": False}
    return base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", asked)["data"])


def complaints(driver: Any) -> list[str]:
    """Errors on the console; a broken Content-Security-Policy is one."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def requests(driver: Any) -> set[str]:
    """Every address the browser asked for; what stands in the page itself is no request."""
    asked = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"])
    return {address for address in asked if not address.startswith(("data:", "blob:"))}


def axe() -> str:
    """The text of axe-core, which the build fetches for these tests only."""
    place = os.environ.get("PRIVACY_SQL_AXE")
    if not place:
        pytest.skip("needs axe-core: set PRIVACY_SQL_AXE to its axe.min.js")
    return Path(place).read_text(encoding="utf-8")
