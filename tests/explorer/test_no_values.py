"""People, Knowledge, Usefulness, Compare and the questions name no value of the source unasked."""

from __future__ import annotations

from pathlib import Path

from tests.explorer.served import served

CANARY = "canary"


def test_no_answer_holds_a_value_unless_the_switch_is_on(tmp_path: Path) -> None:
    rows = [f"{CANARY}-town{n % 2},{20 + n % 3},{CANARY}-ill{n % 3}" for n in range(24)]
    (tmp_path / "people.csv").write_text("\n".join(["town,age,ill", *rows]) + "\n")
    (tmp_path / "privacy.yml").write_text(
        "version: 1\nname: canaries\nreleases:\n  people:\n    source: {file: people.csv}\n"
        "    quasi_identifiers:\n      - {column: town, hierarchy: keep_or_drop}\n"
        "      - {column: age, hierarchy: {intervals: [10]}}\n"
        "    sensitive: {column: ill}\n    require:\n      k_anonymity: {k: 3}\n"
        "    method: {generalise: {levels: {age: 1}}}\n    output: {target: out/people.csv}\n"
    )
    with served(tmp_path) as asker:
        for screen in ("people", "knowledge", "usefulness", "guide"):
            asker.ask(screen)
        asker.ask("compare", choices=[{"age": 1}, {"town": 1}])
        for by, low in (("size", 10), ("guess", 6)):
            assert asker.ask("people", action="groups", by=by, low=low)["groups"]
        for about in ("skyline", "studied"):
            assert asker.work("knowledge", about=about)["state"] == "done"
        for method in ("multidimensional", "microaggregate"):
            assert asker.work("compare", method=method)["state"] == "done"
        # a query that fits nothing repeats nothing either
        asker.tell("/api/usefulness", {"action": "query", "conditions": {"town": f"{CANARY}-elsewhere"}})
        assert not [reply for reply in asker.replies if CANARY in reply.replace("canaries", "")]
        shown = asker.ask("people", action="groups", by="size", low=10, values=True)
        assert {group["labels"]["town"] for group in shown["listed"]} == {f"{CANARY}-town{n}" for n in (0, 1)}
