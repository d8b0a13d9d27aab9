"""Sign: what would change, for which reason, and then the file, the release, its report and the register."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import ClassVar

from privacy_sql import files, manifest
from privacy_sql.display import levels as in_words
from privacy_sql.display import progress
from privacy_sql.errors import PrivacySqlError, UsageError
from privacy_sql.explorer.asking import flag, text, whole
from privacy_sql.explorer.screens import Decision, Job, Json, Question, Screen
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.project import editing, registering, report_pages
from privacy_sql.project.reading import SIGNOFF_KEYS, Plan, Project
from privacy_sql.project.running import run_project
from privacy_sql.publishing import verifying
from privacy_sql.reporting import making, words

REPLACE = (
    "Tick “Replace the release that is out”, and run again."  # for files.REPLACE, the option of a command
)
WRITES = "writing"  # how the task of a run begins from which on it is not stopped


class Sign(Screen):
    """The end of a decision."""

    name: ClassVar[str] = "sign"
    title: ClassVar[str] = "Sign"
    place: ClassVar[int] = 90

    def answer(self, decision: Decision, question: Question) -> Json:
        action = text(question, "action", "show")
        if action == "signoff":
            field, requirement = text(question, "field"), text(question, "requirement", "")
            if field not in SIGNOFF_KEYS:
                raise UsageError("bad_question", f'a signoff has no "{field}"', hint="Reload the page.")
            edit = editing.SetSignoff(field, text(question, "words"), requirement)
            decision.take(decision.with_edits(edit), whole(question, "version"))
        elif action == "save":
            _save(decision, whole(question, "version"))
        elif action == "open":
            webbrowser.open(_report(decision).resolve().as_uri())
        elif action != "show":
            raise UsageError(
                "bad_question", f'there is no "{action}" on this screen', hint="Reload the page."
            )
        return _shown(decision)

    def work(self, decision: Decision, question: Question, job: Job) -> Json:
        """Run, report or register, as the verbs of these names do."""
        with decision.lock:
            project, plan = _saved(decision)
        task = text(question, "do")
        if task == "run":
            return _run(decision, project, plan, job, overwrite=flag(question, "overwrite"))
        if task == "report":
            wanted = making.Wanted("internal")
            (made,), _, _ = report_pages.of_project(
                project, (plan.name,), project.directory / "target" / "report", wanted
            )
            return {"safe": made.safe, "file": _shown_path(project, made.file)}
        if task == "register":
            columns = registering.register(
                project.directory, plan.name, plan.manifest(project.directory), ours=True
            )
            return {"registered": plan.name, "columns": columns}
        raise UsageError("bad_question", f'there is no task "{task}"', hint="Reload the page.")


def _save(decision: Decision, version: int) -> None:
    """Write privacy.yml as it was shown, if nobody changed it meanwhile."""
    if decision.project is None:
        raise UsageError("no_project", "this table is not in a privacy.yml, so nothing can be saved")
    if version != decision.version:
        hint = "Check the difference again, then save."
        raise UsageError("changed_meanwhile", "something was changed in another tab", hint=hint)
    decision.save()


def _saved(decision: Decision) -> tuple[Project, Plan]:
    """The project as it lies on disk, which must be what is shown."""
    if decision.project is None:
        raise UsageError(
            "no_project", "this table is not in a privacy.yml, so nothing can be published from here"
        )
    if decision.decided_text != decision.text:
        raise UsageError("not_saved", "the decision is not saved", hint="Save it to privacy.yml first.")
    if editing.read_text(decision.project.directory) != decision.text:
        hint = "Start the explorer again, which reads the new file."
        raise UsageError("changed_meanwhile", "privacy.yml was changed meanwhile", hint=hint)
    return decision.project, decision.plan


def _run(decision: Decision, project: Project, plan: Plan, job: Job, *, overwrite: bool) -> Json:
    """Publish the release: what `privacy-sql run` does, with the same outcome."""

    def heard(task: str, done: int, total: int) -> None:
        # a release that is being written is not stopped half way
        job.finishing = job.finishing or task.startswith(WRITES)
        job.report(task, done, total)

    with progress.listening(heard):
        (result,) = run_project(project, [plan], decision.connect, overwrite=overwrite)
    told: dict[str, Json] = {
        "exit": result.exit,
        "published": result.published,
        "target": result.target,
        "manifest": result.manifest,
        "rows_in": result.rows_in,
        "rows_out": result.rows_out,
        "suppressed": result.suppressed,
        "errors": [
            {"message": str(e["message"]), "hint": str(e["hint"]).replace(files.REPLACE, REPLACE)}
            for e in result.errors
        ],
        "warnings": list(result.warnings),
        "verdicts": [
            {
                "requirement": v["requirement"],
                "safe": v["safe"],
                "value": v["value"],
                "value_float": v["value_float"],
            }
            for v in result.verdicts
        ],
        "verified": False,
    }
    if result.published and plan.output is not None and plan.output.file is not None:
        content = verifying.verified(plan.manifest(project.directory))
        told["verified"], told["checksum"] = True, content.checksum
    return told


def _shown(decision: Decision) -> Json:
    summary = decision.summary()
    project, plan = decision.project, decision.plan
    if project is None:
        return {"summary": summary, "file": None}
    out = plan.output
    register = Register(project.directory / FILE_NAME)
    report = _report(decision)
    return {
        "summary": summary,
        "file": "privacy.yml",
        "difference": editing.difference(decision.text, decision.decided_text),
        "now": decision.as_run_says(decision.levels),
        "signoff": {key: str(words) for key, words in plan.signoff.items() if key != "reasons"},
        "reasons": {str(name): str(why) for name, why in plan.signoff.get("reasons", {}).items()},
        "fields": [key for key in SIGNOFF_KEYS if key != "reasons"],
        "target": None if out is None else _shown_path(project, out.file) if out.file else out.relation,
        "out": _out(decision, project, plan),
        "register": {
            "kept": register.path.is_file(),
            "names": list(register.entries()) if register.path.is_file() else [],
        },
        "report": _shown_path(project, report) if report.is_file() else None,
    }


def _out(decision: Decision, project: Project, plan: Plan) -> Json:
    """The release that is out now, column by column beside what is decided; None where none is."""
    place = plan.manifest(project.directory)
    if plan.output is None or not place.is_file():
        return None
    try:
        content = manifest.read(place)
    except PrivacySqlError as problem:
        return {"problem": problem.message}
    then = content.choice.get("levels", {})
    known = content.hierarchies
    described = {name: {"kind": next(iter(kind.to_spec()), ""), "levels": kind.level_names()}
                 for name, kind in plan.table.hierarchies.items()}  # fmt: skip
    shown = decision.counted.steps_in_words
    columns: list[Json] = []
    for name in dict.fromkeys([*then, *plan.table.quasi]):
        before = None
        if name in then and name in known:
            level = int(then[name])
            same = name in shown and known[name].checksum == plan.table.hierarchies[name].checksum()
            outlined = {**described.get(name, {}), **known[name].to_json()}
            before = shown[name][level] if same else in_words.level(outlined, level)
        now = shown[name][decision.levels[name]] if name in shown else None
        columns.append({"column": name, "then": before, "now": now})
    asked = [verdict.requirement for verdict in content.verdicts]
    wanted = [str(criterion) for criterion in plan.require]
    return {
        "made": words.moment(content.made),
        "columns": columns,
        "gone": [name for name in asked if name not in wanted],
        "added": [name for name in wanted if name not in asked],
        "rows": content.rows_out,
        "method": content.method,
    }


def _report(decision: Decision) -> Path:
    if decision.project is None:
        raise UsageError("no_project", "this table is not in a privacy.yml, so it has no report")
    return decision.project.directory / "target" / "report" / f"{decision.plan.name}.html"


def _shown_path(project: Project, place: Path) -> str:
    """A path as the user of the project knows it."""
    try:
        return place.relative_to(project.directory).as_posix()
    except ValueError:
        return place.as_posix()
