"""Look for what is wrong with new seeds, until the time is used: `python -m tests.hunt [MINUTES] [SEED]`.

The questions with which wrong SAFEs and leaks of 0.1.0 were found from outside, each with an oracle straight
from the definition. They take turns, and each gets a seed of its own each time. Prints what each turn took,
and of what fails the command that makes it fail again.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import defaultdict

from tests.conftest import ROOT

MINUTES = 60.0
QUESTIONS = {
    "composition, against every world and every set of releases": ["tests/criteria/test_composition.py"],
    "registered releases, boxes with NULL, hierarchies of their day": [
        "tests/attacks/test_registered.py",
        "tests/attacks/test_intersection.py",
    ],
    "sets and multisets, against every world of the written file": [
        "tests/publishing/test_published_values.py",
        "tests/criteria/test_privacy_skyline.py",
    ],
    "verdicts and records, against the written rows of every method": [
        "tests/publishing/test_published_groups.py",
        "tests/methods/test_recoding.py",
        "tests/lattice/test_lattice_truth.py",
    ],
    "noisy counts of neighbouring tables": ["tests/methods/test_noisy_neighbours.py"],
    "public words of tables that publish the same rows": ["tests/publishing/test_public_words.py"],
    "columns published as they are, cells that are formulas": [
        "tests/publishing/test_baseline.py",
        "tests/publishing/test_formulas.py",
    ],
    "what an engine holds equal and a reader does not": [
        "tests/export/test_shown.py",
        "tests/engines/test_csv_lines.py",
        "tests/engines/test_same_everywhere.py",
    ],
    "macros under both kinds of Jinja, guards against check": [
        "tests/export/test_guards.py",
        "tests/export/test_package_macros.py",
    ],
    "every method and requirement, against brute force": ["tests/test_truth.py"],
    "arrays, statements and definitions": [
        "tests/test_every_way.py",
        "tests/boxes/test_in_memory.py",
        "tests/engines/test_repeated_lines.py",
    ],
    "risks, merging and suppression": [
        "tests/test_fails_closed.py",
        "tests/criteria/test_k_combinatorial.py",
    ],
    "boxes, groups of records, several sensitive columns": [
        "tests/methods/test_multidimensional.py",
        "tests/methods/test_microaggregate.py",
        "tests/methods/test_several_sensitive.py",
    ],
    "a ledger and a register that are killed": ["tests/history/test_chain.py"],
}


def asked(files: list[str], seed: int) -> tuple[bool, str]:
    """Whether a question found nothing with a seed, and what it printed."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=short", "--show-capture=no"]
    words += [f"--hypothesis-seed={seed}", *files]
    settings = {"PRIVACY_SQL_SEED": str(seed), "HYPOTHESIS_PROFILE": "hunt"}
    environment = {**os.environ, **settings}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    again = " ".join(f"{name}={value}" for name, value in settings.items())
    return done.returncode == 0, f"{done.stdout}\n{again} {' '.join(words[1:])}\n"


def main(minutes: float, chosen: int | None) -> int:
    """Ask in turns until the time is used; 1 when something was found."""
    draw = random.SystemRandom()
    taken: dict[str, list[float]] = defaultdict(list)
    found = 0
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        # a short night begins with what was asked least, so that nothing is always last
        name = min(QUESTIONS, key=lambda each: (sum(taken[each]), draw.random()))
        seed = draw.randrange(10**6, 10**9) if chosen is None else chosen
        started = time.monotonic()
        fine, told = asked(QUESTIONS[name], seed)
        taken[name].append(time.monotonic() - started)
        sys.stdout.write(f"{taken[name][-1]:7.1f} s  seed {seed}  {name}{'' if fine else '  FOUND'}\n")
        sys.stdout.flush()
        if not fine:
            found += 1
            sys.stdout.write(told)
        if chosen is not None and len(taken) == len(QUESTIONS):
            break
    turns = sum(map(len, taken.values()))
    sys.stdout.write(f"{turns} turns, {found} of them found something\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(
        main(
            float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES,
            int(sys.argv[2]) if len(sys.argv) > 2 else None,
        )
    )
