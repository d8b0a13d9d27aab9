"""The decision of `examples/questions`, replayed; `python -m tests.explorer.recorded` writes it anew."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from privacy_sql.project import example
from tests.conftest import ROOT
from tests.explorer.acting import count, keyed, text_of, waited
from tests.explorer.served import Asker, served
from tests.reporting.browser import browser

PLACE = ROOT / "examples" / "questions"
REPORT = Path("target", "report", "people.html")


def project(folder: Path) -> Path:
    """The example project as it was before the decision."""
    example.write(folder)
    return folder


def replay(driver: Any, asker: Asker) -> None:
    """Press every key of the recording, each when what it presses is there."""
    from tests.explorer.test_more_screens_in_browser import enter

    enter(driver, asker)
    for step in json.loads((PLACE / "steps.json").read_text(encoding="utf-8")):
        key = step.get("press") or step.get("choose") or step.get("write")
        selector = f'[data-key="{key}"]'
        if "go" in step:
            driver.execute_script("location.hash = arguments[0]", step["go"])
            waited(driver, lambda at=step["go"]: count(driver, f"section.screen.{at} h2"))
            continue
        waited(driver, lambda at=selector: count(driver, f"{at}:not([disabled])"))
        before = driver.current_url
        if "write" in step:
            keyed(driver, selector, *step["words"], "\ue004")  # Tab: it is taken when the field is left
        else:
            keyed(driver, selector, " " if "choose" in step else "\ue007")
        there = {
            "save": f"{selector}[disabled]",
            "run": ".done",
            "report": ".done",
            "set": "section.decide h2",
        }
        pressed = f'{selector}[aria-pressed="true"]' if key.startswith("step-") else f"{selector}:checked"
        if "write" in step:
            waited(driver, lambda words=step["words"]: words in text_of(driver, ".difference"))
        elif key == "next":
            waited(driver, lambda was=before: driver.current_url != was)
            waited(
                driver, lambda: f"Question {number(driver) + 1} of" in text_of(driver) or number(driver) == 7
            )
        else:
            at = there.get(key, pressed)
            waited(driver, lambda at=at: count(driver, at), 120)
            waited(driver, lambda key=key: key != "report" or "The report is written" in text_of(driver))


def number(driver: Any) -> int:
    """The question that the address names."""
    return int(re.search(r"[?&]q=(\d+)", driver.current_url)[1])  # type: ignore[index]


def main() -> None:
    with tempfile.TemporaryDirectory() as made, browser() as driver:
        folder = project(Path(made) / "project")
        shutil.copy(folder / "privacy.yml", PLACE / "before.yml")
        with served(folder) as asker:
            replay(driver, asker)
            driver.get("about:blank")
        shutil.copy(folder / "privacy.yml", PLACE / "after.yml")
        shutil.copy(folder / REPORT, PLACE / "report.html")


if __name__ == "__main__":
    main()
