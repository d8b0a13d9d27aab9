"""People, Knowledge, Usefulness, Compare and the seven questions, as somebody with a browser sees them."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from privacy_sql.explorer.jobs import Job
from privacy_sql.explorer.screens import decide
from tests.explorer.acting import clicked, count, keyed, text_of, waited
from tests.explorer.served import Asker, served
from tests.reporting.browser import axe, browser, complaints, requests

SCREENS = ("people", "knowledge", "usefulness", "compare", "guide")
# the state of each screen that shows most
FULL = {
    "people": "people?facts=2&by=size&low=20",
    "knowledge": "knowledge?facts=3",
    "usefulness": "usefulness",
    "compare": "compare?pins=2.0.2.1.2_3.0.2.1.2",
    "guide": "guide?q=3&looks=anyone&hidden=5&harm=yes",
}
NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as made:
        yield made


@pytest.fixture
def looked_at(driver: Any, folder: Path) -> Iterator[tuple[Any, Asker]]:
    """The example project, its best guess limited too, open in the browser."""
    yml = folder / "privacy.yml"
    text = yml.read_text()
    limit = "      t_closeness: {t: 0.3}\n"
    yml.write_text(text.replace(limit, f"{limit}      ck_safety: {{c: 0.5, k: 2}}\n"))
    with served(folder) as asker:
        enter(driver, asker)
        yield driver, asker
        driver.get("about:blank")


def enter(driver: Any, asker: Asker, at: str = "guide") -> None:
    """Open the page with the cookie that the asker got."""
    name, _, value = asker.cookie.partition("=")
    sized(driver)
    driver.get(f"{asker.origin}/page/icon.svg")
    driver.delete_all_cookies()
    driver.execute_cdp_cmd("Network.setCookie", {"name": name, "value": value, "url": asker.origin})
    complaints(driver), requests(driver)
    driver.get(f"{asker.origin}/#{at}")
    waited(driver, lambda: count(driver, "main h2"))


def sized(driver: Any, width: int = 1440, zoom: int = 1, dark: bool = False) -> None:
    size = {"width": width, "height": 1000, "deviceScaleFactor": zoom, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    colours = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": colours})


def at(driver: Any, state: str) -> None:
    """Go to a state of a screen, by its address."""
    screen = state.partition("?")[0]
    driver.execute_script("location.hash = arguments[0]", state)
    waited(driver, lambda: count(driver, f"section.screen.{screen} h2:not(.vh)"))
    if "low=" in state:
        waited(driver, lambda: count(driver, "#chosen"))


LOOKS = {"wide": {}, "narrow and dark": {"width": 1024, "dark": True}, "zoomed": {"width": 720, "zoom": 2}}


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_and_nothing_is_cut_off(looked_at: tuple[Any, Asker], look: str) -> None:
    driver, asker = looked_at
    script = axe()
    sized(driver, **LOOKS[look])  # type: ignore[arg-type]
    for screen in SCREENS:
        at(driver, FULL[screen])
        driver.execute_script(script)
        found = driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
            ".then(r => done(r.violations.map(v => [v.id, v.nodes.map(n => n.html)])))"
        )
        assert found == [], (screen, found)
        wider = driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        assert wider <= 0, screen
        assert not count(driver, ".problem"), text_of(driver, ".problem")
    assert complaints(driver) == []
    asked = {url for url in requests(driver) if not url.startswith(asker.origin) and url != "about:blank"}
    # the page of the test before may be slow to say that it leaves
    assert {url for url in asked if not re.fullmatch(r"http://127\.0\.0\.1:\d+/api/leave", url)} == set()


def test_every_bar_has_the_numbers_of_its_answer_and_opens_by_keyboard(
    looked_at: tuple[Any, Asker],
) -> None:
    driver, asker = looked_at
    at(driver, "people?facts=2")
    told = asker.ask("people", facts=2)["columns"][0]
    for bar in told["sizes"]:
        shown = text_of(driver, f'[data-key="size-0-{int(bar["low"])}"]')
        assert (
            f"{bar['people']:,} people in {bar['groups']:,} groups, {bar['source']:,} in the source" in shown
        )
        assert ("✖" in shown) == (bar["high"] < 10)  # not by colour alone
    for place, bar in enumerate(told["guesses"]):
        selector = f'[data-key="guess-0-{place}"]'
        if count(driver, selector):
            shown = text_of(driver, selector)
            assert f"{bar['people']:,} people in {bar['groups']:,} groups" in shown
            assert ("✖" in shown) == (bar["low"] >= 0.5)
    keyed(driver, '[data-key="size-0-20"]', "\ue007")
    waited(driver, lambda: count(driver, "#chosen"))
    group = asker.ask("people", action="groups", by="size", low=20, facts=2)
    assert f"{group['people']:,} people in {group['groups']} groups" in text_of(driver, "#chosen")
    waited(driver, lambda: count(driver, '[data-key="size-0-20"][aria-pressed="true"]'))
    # the keyboard is where it was
    assert driver.execute_script("return document.activeElement.dataset.key") == "size-0-20"
    driver.back()
    waited(driver, lambda: not count(driver, "#chosen"))


def test_values_appear_with_the_switch_only_and_never_in_the_address(looked_at: tuple[Any, Asker]) -> None:
    driver, _ = looked_at
    at(driver, FULL["people"])
    heads = "return [...document.querySelectorAll('#chosen thead th')].map(e => e.textContent)"
    assert "sex" not in driver.execute_script(heads)
    keyed(driver, "#values", " ")
    waited(driver, lambda: "sex" in driver.execute_script(heads))
    assert "values" not in driver.current_url
    driver.refresh()
    waited(driver, lambda: count(driver, "#chosen"))
    assert "sex" not in driver.execute_script(heads)  # it is off again


def test_people_are_left_out_and_come_back(looked_at: tuple[Any, Asker]) -> None:
    driver, asker = looked_at
    asker.ask("decide", action="take", levels={"age": 1}, version=asker.decision.version)
    driver.refresh()
    at(driver, "people")
    told = asker.ask("people")["columns"][0]["sizes"]
    low = next(int(bar["low"]) for bar in told if bar["people"])
    at(driver, f"people?by=size&low={low}")
    leave = asker.ask("people", action="groups", by="size", low=low)["leave"]
    assert leave["possible"], leave
    keyed(driver, '[data-key="leave"]', "\ue007")
    waited(driver, lambda: f"{leave['people']:,} people are left out" in text_of(driver))
    assert asker.ask("people")["left_out"] == leave["people"]
    keyed(driver, "#undo", "\ue007")
    waited(driver, lambda: f"{leave['people']:,} people are left out" not in text_of(driver))


def test_the_slider_of_facts_asks_nobody(looked_at: tuple[Any, Asker]) -> None:
    driver, asker = looked_at
    at(driver, "knowledge?facts=2")
    (column,) = asker.ask("knowledge")["columns"]
    waited(driver, lambda: count(driver, "#facts"))
    requests(driver)
    keyed(driver, "#facts", "\ue014", "\ue014", "\ue014")  # arrow right
    assert text_of(driver, "#facts-now") == "5 facts" and driver.current_url.endswith("facts=5")
    story = column["stories"][5]
    shown = text_of(driver, "#story-0")
    assert all(fact in shown for fact in story["knows"])
    assert count(driver, "#story-0 li") == story["facts"] == 5
    assert not [url for url in requests(driver) if "/api/knowledge" in url]
    rows = driver.execute_script(
        "return [...document.querySelectorAll('#curve-0 tbody tr')].map(r => r.cells[1].textContent)"
    )
    assert len(rows) == 13 and rows[-1] == "100 %"


def test_long_questions_show_their_answer(looked_at: tuple[Any, Asker]) -> None:
    driver, _ = looked_at
    at(driver, "knowledge")
    keyed(driver, '[aria-labelledby="skyline-title"] button', "\ue007")
    assert waited(driver, lambda: count(driver, "table.grid tbody tr")) == 14
    at(driver, "compare")
    boxes = (
        "const found = [...document.querySelectorAll('.asks button')]"
        ".find((one) => one.textContent.includes('boxes')); found?.click(); return Boolean(found)"
    )
    waited(driver, lambda: driver.execute_script(boxes))
    waited(driver, lambda: "Boxes" in text_of(driver))


def test_a_question_of_ones_own_is_answered_and_stays_out_of_the_address(
    looked_at: tuple[Any, Asker],
) -> None:
    driver, asker = looked_at
    at(driver, "usefulness")
    keyed(driver, "#query-0", "33-47")
    keyed(driver, "#query-5", *"Asthma", "\ue007")
    asked = {"age": "33-47", "diagnosis": "Asthma"}
    told = asker.ask("usefulness", action="query", conditions=asked)
    shown = waited(driver, lambda: text_of(driver, "#answered"))
    assert (
        f"{told['true']:,} people" in shown
        and f"{round(told['published'], 1):,}".rstrip("0").rstrip(".") in shown
    )
    assert driver.current_url == f"{asker.origin}/#usefulness"


def test_choices_are_pinned_compared_and_used(looked_at: tuple[Any, Asker]) -> None:
    driver, asker = looked_at
    at(driver, "compare")
    keyed(driver, '[data-key="pin"]', "\ue007")
    waited(driver, lambda: count(driver, "table.compared"))
    asker.ask("decide", action="take", levels={"sex": 1}, version=asker.decision.version)
    driver.refresh()
    waited(driver, lambda: count(driver, "table.compared"))
    keyed(driver, '[data-key="pin"]', "\ue007")
    waited(driver, lambda: count(driver, "table.compared thead th:not(.source)") == 2)
    row = (
        "return [...document.querySelectorAll('table.compared tr')]"
        ".find((one) => one.textContent.startsWith(arguments[0])).querySelectorAll('td')[1].innerText"
    )
    choices = asker.ask("compare", choices=[{**asker.decision.levels, "sex": n} for n in (0, 1)])["choices"]
    for name, value in choices[1]["values"].items():
        shown = driver.execute_script(row, name)
        assert float(shown.split()[-1].replace(",", "")) == pytest.approx(value["float"], rel=1e-3)
        assert ("✔" in shown) == value["safe"]
    keyed(driver, '[data-key="use-0"]', "\ue007")
    waited(driver, lambda: asker.decision.levels["sex"] == 0)


def test_the_questions_are_answered_by_keyboard_and_set_what_must_hold(looked_at: tuple[Any, Asker]) -> None:
    driver, asker = looked_at
    at(driver, "guide")
    before = asker.decision.version
    for number, answer in enumerate(["anyone", "11", "yes", "2/3", "1", "yes", ""]):
        waited(driver, lambda n=number: f"Question {n + 1} of 7" in text_of(driver))
        if answer:
            keyed(driver, f'[data-key="answer-{answer}"]', " ")
            waited(
                driver,
                lambda a=answer: count(driver, f'[data-key="answer-{a}"]:checked'),
            )
        keyed(driver, '[data-key="next"]', "\ue007")
    waited(driver, lambda: "What will be required" in text_of(driver))
    assert asker.decision.version == before  # it could have been left until here
    driver.back()
    waited(driver, lambda: "Question 7 of 7" in text_of(driver))
    driver.forward()
    waited(driver, lambda: "What will be required" in text_of(driver))
    keyed(driver, '[data-key="set"]', "\ue007")
    waited(driver, lambda: asker.decision.version == before + 1)
    required = [str(c) for c in asker.decision.plan.require]
    assert required == ["k_anonymity(k=11)", "l_diversity(l=4, kind=recursive, c=3)", "ck_safety(c=2/3, k=1)"]
    waited(driver, lambda: count(driver, "section.screen.decide"))


def test_a_requirement_with_several_limits_is_shown_without_a_slider(driver: Any, folder: Path) -> None:
    yml = folder / "privacy.yml"
    skyline = "      privacy_skyline: {points: [[0, 1, 0, 0.95], [1, 0, 1, 0.9]]}\n"
    limit = "      t_closeness: {t: 0.3}\n"
    yml.write_text(yml.read_text().replace(limit, limit + skyline))
    with served(folder) as asker:
        enter(driver, asker)
        driver.execute_script("location.hash = 'decide'")
        waited(driver, lambda: "it has several limits" in text_of(driver))
        assert count(driver, "input[type=range]") == 3
        assert complaints(driver) == []
        driver.get("about:blank")


def several_values(folder: Path, method: str = "levels: {age: 2, town: 1}") -> Path:
    """People with several values each, as a project."""
    rows = [(n, "abc"[n // 8], 20 + n % 4, ill) for n in range(24) for ill in ("f", "g", "gh")[n % 3]]
    (folder / "people.csv").write_text(
        "who,town,age,ill\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    )
    (folder / "privacy.yml").write_text(
        "version: 1\nname: several\nreleases:\n  people:\n    source: {file: people.csv}\n"
        "    identifier: who\n    quasi_identifiers:\n      - {column: town, hierarchy: keep_or_drop}\n"
        "      - {column: age, hierarchy: {intervals: [2, 10]}}\n"
        "    sensitive: {column: ill, values_per_person: set}\n    require:\n      k_anonymity: {k: 3}\n"
        "      privacy_skyline: {points: [[1, 0, 1, 0.95]]}\n"
        f"    method: {{generalise: {{{method}}}}}\n    output: {{target: out/people.csv}}\n"
    )
    return folder


def holding(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Nothing that takes long is decided until this is set."""
    gate, report = threading.Event(), Job.report

    def held(job: Job, task: str, done: int, total: int) -> None:
        report(job, task, done, total)
        while not gate.wait(0.02):  # the page is answered meanwhile: who reports holds no lock
            report(job, task, done, total)

    monkeypatch.setattr(decide, "SECONDS", -1.0)
    monkeypatch.setattr(Job, "report", held)
    return gate


def test_steps_that_take_long_are_waited_for_or_cancelled_and_can_be_taken_all_the_same(
    driver: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People with several values each; nothing but the choice of now is decided until the gate opens."""
    gate = holding(monkeypatch)
    tags = (
        "return [...document.querySelectorAll('.step')].map((s) => [s.dataset.key, s.className, s.innerText])"
    )
    unknown = '.step:not(.safe, .fails)[data-key^="step-"]'
    with served(several_values(tmp_path)) as asker:
        enter(driver, asker, "decide")
        waited(driver, lambda: "being decided" in text_of(driver, unknown))
        assert count(driver, ".columns progress") == 1 and count(driver, ".step.safe") == 2  # now
        waited(driver, lambda: "value 2" in text_of(driver, ".reader td"))
        reader = text_of(driver, ".reader")
        clicked(driver, '[data-key="cancel-steps"]')
        waited(driver, lambda: not count(driver, ".columns progress"))
        waited(driver, lambda: text_of(driver, unknown).count("not decided") == count(driver, unknown) == 4)
        assert not count(driver, ".problem")
        clicked(driver, '[data-key="step-age-1"]')
        waited(driver, lambda: asker.decision.levels["age"] == 1)
        waited(driver, lambda: count(driver, '[data-key="step-age-1"][aria-pressed="true"]'))
        waited(driver, lambda: count(driver, ".columns progress"))
        gate.set()
        waited(driver, lambda: count(driver, ".step") == 6 and not count(driver, unknown))
        waited(driver, lambda: not count(driver, "progress"))
        steps = asker.ask("decide")["steps"]
        for key, kind, words in driver.execute_script(tags):
            _, column, level = key.split("-")
            assert ("step safe" if steps[column][int(level)]["safe"] else "step fails") == kind, (key, words)
            assert "decided" not in words
        waited(driver, lambda: "least" in text_of(driver, ".reader") and text_of(driver, ".reader") != reader)
        assert not count(driver, ".problem") and complaints(driver) == []
        driver.get("about:blank")


def test_a_choice_that_takes_long_is_left_or_waited_for(
    driver: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = holding(monkeypatch)
    with served(several_values(tmp_path, "levels: {age: 2, town: 1}, max_suppressed: 0.3")) as asker:
        enter(driver, asker, "decide")
        waited(driver, lambda: "is being decided" in text_of(driver, ".verdict h3"))
        assert text_of(driver, ".limits .status") == "being decided being decided"
        clicked(driver, '[data-key="cancel-steps"]')
        waited(driver, lambda: "is not decided" in text_of(driver, ".verdict h3"))
        clicked(driver, '[data-key="step-town-0"]')
        waited(driver, lambda: count(driver, '[data-key="step-town-0"][aria-pressed="true"]'))
        waited(driver, lambda: "is being decided" in text_of(driver, ".verdict h3"))
        gate.set()
        waited(driver, lambda: "decided" not in text_of(driver, ".step"))
        safe = asker.ask("decide")["now"]["safe"]
        waited(driver, lambda: ("✔ Safe" if safe else "✖ Not safe") in text_of(driver, ".verdict h3"))
        waited(driver, lambda: "in the source itself" in text_of(driver, ".limits"))
        waited(driver, lambda: "least" in text_of(driver, ".reader"))
        assert not count(driver, ".problem") and complaints(driver) == []
        driver.get("about:blank")


def test_names_and_values_that_look_like_markup_are_text(driver: Any, tmp_path: Path) -> None:
    folder = tmp_path / "nasty"
    folder.mkdir()
    rows = [f'"{NASTY}{n % 2}",{20 + n % 3},"{NASTY}{n % 3}"' for n in range(24)]
    (folder / "people.csv").write_text("\n".join([f'"{NASTY}",age,"<b>ill</b>"', *rows]) + "\n")
    (folder / "privacy.yml").write_text(
        "version: 1\nname: nasty\nreleases:\n  people:\n    source: {file: people.csv}\n"
        "    quasi_identifiers:\n"
        f"      - {{column: {json.dumps(NASTY)}, hierarchy: keep_or_drop}}\n"
        "      - {column: age, hierarchy: {intervals: [10]}}\n"
        "    sensitive: {column: '<b>ill</b>'}\n    require:\n      k_anonymity: {k: 3}\n"
        "    method: {generalise: {levels: {age: 1}}}\n    output: {target: out/people.csv}\n"
    )
    with served(folder) as asker:
        enter(driver, asker)
        keyed(driver, "#values", " ")
        for state in ("people?by=size&low=10", "knowledge", "usefulness", "compare?pins=0.1", "guide"):
            at(driver, state)
            assert not count(driver, "main img, main b b"), state
            assert NASTY in text_of(driver) or "ill</b>" in text_of(driver) or state == "knowledge", state
        assert complaints(driver) == []
        driver.get("about:blank")
