"""What somebody does on a page of the explorer and sees there.

The page draws itself anew when an answer comes, which may be at any moment: an element that was found a
moment ago may be gone. So whatever is found is used by the same script.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ENTER, TAB = "\ue007", "\ue004"


def waited(driver: Any, there: Callable[[], Any], seconds: float = 60) -> Any:
    """What `there` says as soon as it says something."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, seconds, poll_frequency=0.05).until(lambda _: there())


def count(driver: Any, selector: str) -> int:
    """How many there are."""
    return int(driver.execute_script("return document.querySelectorAll(arguments[0]).length", selector))


def text_of(driver: Any, selector: str = "main") -> str:
    """The text of all that are there, nothing where none is."""
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent).join(' ')"
    return str(driver.execute_script(script, selector))


def attribute(driver: Any, selector: str, name: str) -> str | None:
    """An attribute of the first, once it is there."""
    waited(driver, lambda: count(driver, selector))
    script = "return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null"
    found: str | None = driver.execute_script(script, selector, name)
    return found


def clicked(driver: Any, selector: str) -> None:
    """Click the first as soon as it is there and can be pressed."""
    script = (
        "const one = document.querySelector(arguments[0]);"
        "if (!one || one.disabled) return false; one.click(); return true"
    )
    waited(driver, lambda: driver.execute_script(script, selector))


def pressed(driver: Any, *keys: str) -> None:
    """Press keys where the keyboard is."""
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(driver).send_keys(key).perform()


def keyed(driver: Any, selector: str, *keys: str) -> None:
    """Put the keyboard where Tab would bring it, and press keys.

    What a redraw replaces gives its focus to what stands in its place.
    """
    focus = "const e = document.querySelector(arguments[0]); e?.focus(); return e ? e.tabIndex >= 0 : false"
    waited(driver, lambda: driver.execute_script(focus, selector))
    pressed(driver, *keys)


def written_over(driver: Any, selector: str, *keys: str) -> None:
    """Press keys in a field in place of what stands there."""
    select = "const e = document.querySelector(arguments[0]); e?.focus(); e?.select(); return Boolean(e)"
    waited(driver, lambda: driver.execute_script(select, selector))
    pressed(driver, *keys)


def tabbed(driver: Any, selector: str, most: int = 300) -> None:
    """Reach an element by Tab alone."""
    for _ in range(most):
        if driver.execute_script("return document.activeElement?.matches(arguments[0]) ?? false", selector):
            return
        pressed(driver, TAB)
    raise AssertionError(f"{selector} is not reached by Tab")
