"""What the explorer costs: one choice, every choice, a slider, and the way from the command to a verdict.

Adult's people, as in `in_memory.py`. Processor time, and its ratio to one GROUP BY over the counted base in
the same run; the slider is timed in a real browser, from the input event to the painted page. `--rows`
resamples people; `--minutes` asks a server at random for so long and looks at its memory (nightly). Prints
JSON; a goal that is missed says MISSED. Needs PRIVACY_SQL_DATA (adult.csv.gz and hierarchies), and chromium
for the slider.

    python -m benchmarks.explore [--rows 1000000] [--minutes 5] [--no-browser]
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

import privacy_sql as ps
from benchmarks.in_memory import SEVEN, _goal, _people
from privacy_sql.explorer import server
from privacy_sql.explorer.decision import Decision
from privacy_sql.explorer.jobs import Job
from privacy_sql.project.reading import Plan

REQUIRE = (
    ps.KAnonymity(5),
    ps.LDiversity(4),
    ps.TCloseness("0.4"),
    ps.CKSafety("0.9", 2),
    ps.PrivacySkyline([[1, 0, 1, "0.9"], [0, 1, 1, "0.9"], [1, 1, 2, "0.95"]]),
)
AS_WRITTEN = """    require:
      k_anonymity: {k: 5}
      l_diversity: {l: 4}
      t_closeness: {t: 0.4}
      ck_safety: {c: 0.9, k: 2}
      privacy_skyline: {points: [[1, 0, 1, 0.9], [0, 1, 1, 0.9], [1, 1, 2, 0.95]]}
"""
GOALS = {"choice_ms": 25, "slider_ms": 50, "every_choice_s": 3, "memory": 1.1}
MORE_THAN_CHECK, AND_SECONDS = 1.5, 1.0
CHOICES = 200


def main() -> None:
    options = _options()
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz and hierarchies.")
    place = Path(data)
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    told: dict[str, Any] = {"benchmark": "explore", "machine": machine}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        adult = _people(place, folder, None)
        told["one_choice"] = one_choice(seven(adult, place))
        told["every_choice"] = every_choice(four(adult, place))
        if not options.no_browser:
            told["slider"] = slider(four(adult, place))
        if options.rows:
            file = _people(place, folder, options.rows)
            told["first_verdict"] = first_verdict(project(file, folder / "large", place), options.rows)
        if options.minutes:
            told["memory"] = memory(project(adult, folder / "small", place), options.minutes)
    json.dump(told, sys.stdout, indent=2)
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--no-browser", action="store_true")
    return parser.parse_args()


def seven(file: Path, data: Path) -> ps.Table:
    """Seven columns with the hierarchies of ARX."""
    names = {name: f"{data}/hierarchies/arx/adult_hierarchy_{name.replace('_', '-')}.csv" for name in SEVEN}
    return ps.Table(str(file), {n: ps.Tree.from_file(path, n) for n, path in names.items()}, "occupation")


def four(file: Path, data: Path) -> ps.Table:
    """The four columns of martin2007 with their 72 choices."""
    marital = ps.Tree.from_file(f"{data}/hierarchies/adult/marital_status.csv", "marital_status")
    quasi = {"age": ps.Intervals(5, 10, 20, 40), "marital_status": marital}
    return ps.Table(
        str(file), quasi | {"race": ps.KeepOrDrop(), "sex": ps.KeepOrDrop()}, "occupation", name="adult"
    )


def decision_of(table: ps.Table) -> Decision:
    plan = Plan("adult", table, REQUIRE, None, None, None)
    return Decision(plan, lambda _: ps.connect("duckdb:", threads=1))


def group_by(decision: Decision) -> float:
    """One GROUP BY over the counted base, in seconds; the least of five."""
    base = decision.counted.base
    columns = ", ".join(base.columns)
    asked = ps.Query(
        f"select count(*) from (select {columns}, s, sum(n_rows) from {base.relation} group by {columns}, s)"
    )
    return min(_spent(lambda: base.engine.fetch(asked)) for _ in range(5))


def _spent(work: Any) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def one_choice(table: ps.Table) -> dict[str, Any]:
    """Random choices judged as the page asks for them, each for the first time."""
    with decision_of(table) as decision:
        counted = decision.counted
        floor = group_by(decision)
        every = list(counted.search.lattice.choices())
        counted.judged(counted.search.lattice.top)  # what is counted once is counted
        runs = sorted(
            _spent(lambda choice=choice: counted.judged(choice))
            for choice in random.Random(1).sample(every, CHOICES)
        )
        at = {f"{share}%": runs[int(CHOICES * share / 100) - 1] for share in (50, 95, 100)}
    return {
        "choices": len(every),
        "combinations": counted.base.combinations,
        "ms": {name: round(seconds * 1000, 2) for name, seconds in at.items()},
        "times_a_group_by": {name: round(seconds / floor, 2) for name, seconds in at.items()},
        "goal_95_percent_ms": _goal(at["95%"] * 1000, GOALS["choice_ms"]),
    }


def every_choice(table: ps.Table) -> dict[str, Any]:
    """From opening to the last of all choices being tagged, and to the first answer of the page."""
    began = time.process_time()
    with decision_of(table) as decision:
        decide = server.screens()["decide"]
        decide.answer(decision, {})
        first = time.process_time() - began
        job = Job(1, "decide")
        told = decide.work(decision, {}, job)
        every = time.process_time() - began
        floor = group_by(decision)
    assert isinstance(told, dict)
    return {
        "choices": told["choices"],
        "tagged": len(job.parts),
        "first_answer_s": round(first, 3),
        "all_s": round(every, 3),
        "times_a_group_by": round(every / floor, 1),
        "goal_s": _goal(every, GOALS["every_choice_s"]),
    }


@contextmanager
def served(decision: Decision) -> Iterator[str]:
    """The address of a page that is served in this process."""
    ready, enough, address = threading.Event(), threading.Event(), []

    def opened(told: str) -> None:
        address.append(told)
        ready.set()

    thread = threading.Thread(target=server.serve, args=(decision, 0, opened, enough), daemon=True)
    thread.start()
    ready.wait(60)
    try:
        yield address[0]
    finally:
        enough.set()
        thread.join(30)


MOVES = """
const done = arguments[0], slider = document.querySelector('input[type=range]');
(async () => {
  const took = [];
  for (let turn = 0; turn < 40; turn++) {
    const low = Number(slider.min), high = Number(slider.max);
    slider.value = String(low + Math.round((high - low) * ((turn * 7) % 20) / 20));
    const began = performance.now();
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    // a message sent while a frame is made is heard when it is painted
    await new Promise((next) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = next;
      channel.port2.postMessage(null);
    }));
    took.push(performance.now() - began);
  }
  done(took);
})();
"""


def slider(table: ps.Table) -> dict[str, Any]:
    """The slider of a limit in a real browser: from the input event to the painted page."""
    chromium, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        return {"skipped": "needs chromium and chromedriver"}
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(switch)
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        with served(decision_of(table)) as address:
            driver.set_script_timeout(120)
            driver.get(address)
            WebDriverWait(driver, 60).until(lambda d: d.find_elements("css selector", "input[type=range]"))
            time.sleep(3)  # every choice is placed, and nothing else is going on
            took = sorted(driver.execute_async_script(MOVES))
    finally:
        driver.quit()
    median, nearly_all = statistics.median(took), took[int(len(took) * 0.95) - 1]
    return {
        "ms": {"50%": round(median, 1), "95%": round(nearly_all, 1)},
        "goal_ms": _goal(median, GOALS["slider_ms"]),
    }


def project(file: Path, folder: Path, data: Path) -> Path:
    """The seven columns as a project."""
    folder.mkdir()
    quasi = "".join(
        f"      - {{column: {name}, hierarchy: {{file: {data}/hierarchies/arx/adult_hierarchy_"
        f"{name.replace('_', '-')}.csv}}}}\n"
        for name in SEVEN
    )
    levels = ", ".join(f"{name}: 1" for name in SEVEN)
    (folder / "privacy.yml").write_text(
        f"version: 1\nname: adult\nreleases:\n  adult:\n    source: {{file: {file}}}\n"
        f"    quasi_identifiers:\n{quasi}    sensitive: {{column: occupation}}\n{AS_WRITTEN}"
        f"    method: {{generalise: {{levels: {{{levels}}}}}}}\n    drop: rest\n"
        "    output: {target: out/adult.csv}\n"
    )
    return folder


class Page:
    """A server of its own process, and somebody who asks it."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-m", "privacy_sql", "explore", "--project", str(folder), "--no-browser"]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self.process.stderr is not None
        lines = iter(self.process.stderr.readline, "")
        told = next((line for line in lines if "http://" in line), None)
        if told is None:
            sys.exit("the explorer did not start")
        address = told.partition("http://")[2].strip()
        self.host, _, self.path = address.partition("/")
        self.kept: dict[str, str] = {}
        self.send("GET", f"/{self.path}")
        self.ask("alive", page="benchmark")

    def send(self, method: str, path: str, question: object = None) -> str:
        connection = http.client.HTTPConnection(self.host, timeout=600)
        headers = {**self.kept, "Origin": f"http://{self.host}"}
        connection.request(method, path, None if question is None else json.dumps(question), headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        if cookie := reply.getheader("set-cookie"):
            self.kept["Cookie"] = cookie.partition(";")[0]
        connection.close()
        return text

    def ask(self, screen: str, **question: object) -> Any:
        return json.loads(self.send("POST", f"/api/{screen}", question))

    def cpu(self) -> float:
        """The processor time it has spent so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        """Its memory in bytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        self.ask("leave", page="benchmark")
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()


def first_verdict(folder: Path, rows: int) -> dict[str, Any]:
    """From the command to the first verdict of the page, beside `check` of the same requirements."""
    page = Page(folder)
    try:
        told = page.ask("decide")
        spent = page.cpu()
        assert "answer" in told, told
    finally:
        page.close()
    words = [sys.executable, "-m", "privacy_sql", "check", "--project", str(folder)]
    began = os.times()
    subprocess.run(words, capture_output=True, check=False)
    now = os.times()
    checked = now.children_user + now.children_system - began.children_user - began.children_system
    return {
        "rows": rows,
        "cpu_s": round(spent, 2),
        "check_cpu_s": round(checked, 2),
        "goal_s": _goal(spent, round(MORE_THAN_CHECK * checked + AND_SECONDS, 2)),
    }


def memory(folder: Path, minutes: float) -> dict[str, Any]:
    """The memory of a server that is asked at random, after a fifth of the time and at its end."""
    draw, page = random.Random(1), Page(folder)
    try:
        columns = page.ask("decide")["answer"]["summary"]["columns"]
        began, early, asked = time.monotonic(), 0, 0
        while (gone := time.monotonic() - began) < 60 * minutes:
            if not early and gone > 12 * minutes:
                early = page.resident()
            column = draw.choice(columns)
            version = page.ask("alive", page="benchmark")["version"]
            levels = {column["name"]: draw.randrange(len(column["steps"]))}
            page.ask("decide", action="take", levels=levels, version=version)
            page.ask(draw.choice(["decide", "people", "knowledge", "usefulness"]))
            asked += 1
        late = page.resident()
    finally:
        page.close()
    return {
        "clicks": asked,
        "early_mb": early // 2**20,
        "late_mb": late // 2**20,
        "goal_times": _goal(late / early, GOALS["memory"]),
    }


if __name__ == "__main__":
    main()
