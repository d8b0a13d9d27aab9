"""The hunt of the night asks questions that exist, each of which draws from its seed."""

from __future__ import annotations

from tests import hunt
from tests.conftest import ROOT

DRAWS = ("tests.seeds", "from hypothesis", "random.randrange", "render_package")


def test_every_question_of_the_hunt_draws_from_its_seed() -> None:
    for files in hunt.QUESTIONS.values():
        for file in files:
            assert any(word in (ROOT / file).read_text() for word in DRAWS), file
