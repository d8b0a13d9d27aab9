"""Guide: seven questions in plain words that set the requirements; it can be left at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from privacy_sql import criteria
from privacy_sql.errors import UsageError
from privacy_sql.explorer.asking import text, whole
from privacy_sql.explorer.screens import Decision, Json, Question, Screen
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.project.editing import SetRequirements

# which questions each kind of requirement follows from; a kind that nobody answered for stays as it is
FROM: Mapping[str, tuple[str, ...]] = {
    "k_anonymity": ("looks", "hidden"),
    "ck_safety": ("harm", "sure"),
    "t_closeness": ("harm", "groups"),
    "composition": ("held",),
}
# name -> the question, what it is about, and the answers with their words
QUESTIONS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "looks": (
        "Who might look for somebody in this table?",
        "They would need to know a person's {columns}.",
        {
            "anyone": "Anyone: the table will be public",
            "few": "A few people who agreed not to",
            "nobody": "Nobody who knows any of these columns",
        },
    ),
    "hidden": (
        "Among how many people should a person be hidden?",
        "Somebody who looks finds a group of at least this many people who look the same.",
        {str(k): f"{k} people" for k in (3, 5, 11, 20)},
    ),
    "harm": (
        "Would it harm a person if others found out their {sensitive}?",
        "In a group where everybody has the same value, being hidden does not help.",
        {"yes": "Yes", "no": "No"},
    ),
    "sure": (
        "How sure may somebody become about one person?",
        "The limit applies to the person who is easiest to guess.",
        {
            "1/2": "Less than 50 %",
            "2/3": "Less than 67 %",
            "4/5": "Less than 80 %",
            "9/10": "Less than 90 %",
        },
    ),
    "facts": (
        "What else do they know?",
        "One fact is for example that a person does not have some value, or that if one person has it"
        " another one has it too.",
        {
            "0": "Nothing but what is published",
            "1": "One fact, the most useful one",
            "2": "Two facts",
            "3": "Three facts",
        },
    ),
    "groups": (
        "May a group of people differ a lot from everybody else?",
        "Nobody is singled out then, but people are judged by their group.",
        {
            "yes": "Yes",
            "0.3": "A little: by at most 0.3",
            "0.2": "Very little: by at most 0.2",
        },
    ),
    "held": (
        "Might they have another release about the same people?",
        "Two releases that are safe alone can single somebody out together.",
        {"yes": "Yes: any release in the register of this project", "no": "No"},
    ),
}


class Guide(Screen):
    """Who might look for somebody, what they know, and what nobody may find out."""

    name: ClassVar[str] = "guide"
    title: ClassVar[str] = "Questions"
    place: ClassVar[int] = 5

    def answer(self, decision: Decision, question: Question) -> Json:
        action = text(question, "action", "show")
        if action == "show":
            return {"summary": decision.summary(), "questions": _questions(decision)}
        given = question.get("answers")
        if action not in ("try", "take") or not isinstance(given, Mapping):
            raise UsageError("bad_question", "the answers are missing", hint="Reload the page.")
        answers = _fitting(decision, given)
        asked = _required(answers)
        kinds = {kind for kind, names in FROM.items() if all(name in answers for name in names)}
        gone = [c for c in decision.plan.require if c.name in kinds]
        kept = [c for c in decision.plan.require if c.name not in kinds]
        asked = [(name, params) for name, params in asked if name in kinds]
        made = [criteria.make(name, params, "questions").in_project() for name, params in asked]
        if decision.project:
            made = [each.within(decision.project.directory) for each in made]
        if action == "take":
            if not kept and not made:
                hint = "Answer at least one question with a limit."
                raise UsageError("no_requirement", "there would be no requirements", hint=hint)
            if decision.project is not None:
                draft = decision.with_edits(SetRequirements(tuple(sorted(kinds)), tuple(asked)))
            else:
                plan = replace(decision.plan, require=(*made, *kept))
                draft = replace(decision.with_levels({}), plan=plan)
            decision.take(draft, whole(question, "version"))
        return {
            "summary": decision.summary(),
            "adversary": _adversary(decision, answers),
            "requirements": [{"requirement": str(c), "against": c.against} for c in made],
            "gone": [str(c) for c in gone],
            "kept": [str(c) for c in kept],
        }


def _questions(decision: Decision) -> list[Json]:
    """The seven questions; those that this table cannot be asked say why."""
    table = decision.plan.table
    lacking = "" if table.sensitives else "No column is sensitive, so there is nothing to find out."
    several = (
        ""
        if table.values_per_person == "one"
        else "People have several values each: declare a privacy_skyline in privacy.yml instead."
    )
    register = None if decision.project is None else Register(decision.project.directory / FILE_NAME)
    others = set() if register is None else {*register.entries()} - {decision.plan.name}
    outside = "" if others else "The register of this project names no other release."
    needs = {"harm": lacking} | dict.fromkeys(("sure", "facts", "groups"), lacking or several)
    needs["held"] = lacking or several or outside
    named = {
        "columns": ", ".join(table.quasi),
        "sensitive": " and ".join(table.declared_sensitive) or "secret",
    }
    return [
        {
            "name": name,
            "question": question.format(**named),
            "why": why.format(**named),
            "answers": [{"answer": answer, "words": words} for answer, words in answers.items()],
            "not_here": needs.get(name, ""),
        }
        for name, (question, why, answers) in QUESTIONS.items()
    ]


def _fitting(decision: Decision, given: Mapping[object, object]) -> dict[str, str]:
    """The answers to questions that this table can be asked; what is no answer is refused."""
    known: dict[str, tuple[list[str], bool]] = {}
    for one in _questions(decision):
        assert isinstance(one, dict) and isinstance(one["answers"], list)
        options = [str(option["answer"]) for option in one["answers"] if isinstance(option, dict)]
        known[str(one["name"])] = options, not one["not_here"]
    answers = {str(name): str(answer) for name, answer in given.items()}
    for name, answer in answers.items():
        if name not in known or answer not in known[name][0]:
            raise UsageError("bad_question", "there is no such answer", hint="Reload the page.")
    return {name: answer for name, answer in answers.items() if known[name][1]}


def _required(said: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    """The requirements that answers come to; an answer that is missing asks for nothing."""
    found: list[tuple[str, dict[str, str]]] = []
    if said.get("looks") != "nobody" and "hidden" in said:
        found.append(("k_anonymity", {"k": said["hidden"]}))
    if said.get("harm") == "yes":
        if "sure" in said:
            found.append(("ck_safety", {"c": said["sure"], "k": said.get("facts", "0")}))
        if said.get("groups", "yes") != "yes":
            found.append(("t_closeness", {"t": said["groups"]}))
        if said.get("held") == "yes":
            found.append(("composition", {"with": "register"}))
    return found


def _adversary(decision: Decision, answers: Mapping[str, str]) -> str:
    """The adversary in plain words, as far as the questions are answered."""
    columns = ", ".join(decision.plan.table.quasi)
    if answers.get("looks") == "nobody":
        start = "Nobody is expected to look for a person"
    elif answers.get("looks") == "few":
        start = f"A few people who agreed not to look for anybody may know a person's {columns}"
    else:
        start = f"Somebody who knows a person's {columns} looks for them"
    more = {
        "0": "",
        "1": "one more fact, the most useful one",
        "2": "two more facts, the most useful ones",
        "3": "three more facts, the most useful ones",
    }[answers.get("facts", "0")]
    parts = [start, f"They know {more}" if more and answers.get("harm") == "yes" else ""]
    parts.append("They have the other releases in the register" if answers.get("held") == "yes" else "")
    return ". ".join(part for part in parts if part) + "."
