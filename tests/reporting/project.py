"""A small project whose every name tries to break out of the page, and all its records."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.command_line import call

EVIL = "</script><script>window.broken=1</script>\"'<b>&amp;"
AGE, ILL = f"age {EVIL}", f"ill {EVIL}"
SECRET = "CANARY"
REQUIRE = {
    "k_anonymity": {"k": "5"},
    "ck_safety": {"c": "0.99", "k": "2"},
    "privacy_skyline": {"points": [["1", "1", "1", "0.97"]]},
}


def people(n: int = 400) -> list[list[str]]:
    """Rows of invented people; every cell of a canary column is a canary."""
    draw = random.Random(5)
    ills = [f"{SECRET}{n}" for n in range(6)]
    return [
        [
            f"{SECRET}id{number}",
            str(20 + draw.randrange(40)),
            draw.choice("FM"),
            draw.choice(["021", "022"]) + str(draw.randrange(10, 14)),
            draw.choices(ills, [6, 5, 4, 3, 2, 2])[0],
        ]
        for number in range(n)
    ]


def release(**more: Any) -> dict[str, Any]:
    """A release of these people, some parts replaced."""
    return {
        "source": {"file": "people.csv"},
        "identifier": {"column": "id"},
        "quasi_identifiers": [
            {"column": AGE, "hierarchy": {"intervals": ["10", "20"]}},
            {"column": "sex", "hierarchy": "keep_or_drop"},
            {"column": "zip", "hierarchy": {"mask": ["4", "3", "0"]}},
        ],
        "sensitive": {"column": ILL},
        "require": REQUIRE,
        "method": {"generalise": {"levels": {AGE: "2", "zip": "2"}}},
        "output": {"target": "out/good.csv"},
        **more,
    }


PROJECT = {
    "version": "1",
    "name": f"survey {EVIL}",
    "releases": {
        "good": release(),
        "other": release(
            method={"generalise": {"levels": {AGE: "1", "zip": "3"}}}, output={"target": "out/o.csv"}
        ),
        "bad": release(method={"generalise": {}}, output={"target": "out/bad.csv"}),
        "later": release(output={"target": "out/later.csv"}),
    },
}


# every limit holds, and ages, published as they are, single people out
AMBER = {
    "version": "1",
    "name": f"survey {EVIL}",
    "releases": {
        "amber": release(
            quasi_identifiers=[
                {"column": "zip", "hierarchy": {"mask": ["4", "3", "0"]}},
                {"column": "sex", "hierarchy": "keep_or_drop"},
            ],
            insensitive={"columns": [AGE], "acknowledge": f"wanted {EVIL}"},
            method={"generalise": {"levels": {}}},
            output={"target": "out/amber.csv"},
        )
    },
}


def write(folder: Path, content: dict[str, Any] = PROJECT) -> Path:
    """The project's files."""
    rows = [["id", AGE, "sex", "zip", ILL], *people()]
    cell = '"{}"'.format
    text = "".join(",".join(cell(v.replace('"', '""')) for v in row) + "\n" for row in rows)
    (folder / "people.csv").write_text(text)
    (folder / "privacy.yml").write_text(json.dumps(content))
    return folder


def recorded(folder: Path) -> Path:
    """The project with everything every verb records about its release `good`."""
    write(folder)
    assert call("run", "--project", folder, "--select", "good", "--select", "other").exit == 0
    assert call("run", "--project", folder, "--select", "bad").exit == 1
    for verb in (
        ["search", "--select", "good", "--select", "bad"],
        ["curve", "--select", "good", "--every-choice"],
        ["attack", "knowledge", "--select", "good", "--posterior", "estimate"],
    ):
        told = call(*verb, "--project", folder)
        assert told.exit == 0, told.everything
    attacked = [folder / "out" / f"{name}.csv.manifest.json" for name in ("good", "o")]
    words = ["--people", folder / "people.csv", "--identifier", "id", "--project", folder]
    told = call("attack", "intersection", *attacked, *words)
    assert told.exit == 0, told.everything
    return folder
