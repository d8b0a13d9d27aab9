"""Limits that the page moves, and the other numbers of a requirement, which it asks about anew."""

from __future__ import annotations

from dataclasses import replace

from privacy_sql import criteria
from privacy_sql.criteria import Criterion
from privacy_sql.errors import UsageError, did_you_mean
from privacy_sql.explorer.asking import Json
from privacy_sql.parameters import number_in
from privacy_sql.project import editing
from privacy_sql.project.reading import Plan
from privacy_sql.verdict import shown


def required(criterion: Criterion) -> dict[str, Json]:
    """A requirement for the page: what is asked, against whom, and the limit that can be moved."""
    slider: Json = None
    if criterion.slider is not None:
        slider = {
            "parameter": criterion.slider,
            "limit": str(criterion.limit),
            "shown": shown(criterion.limit),
            "relation": criterion.relation,
            "alone": criterion.safe_under_suppression,
        }
    return {
        "requirement": str(criterion),
        "criterion": criterion.name,
        "question": criterion.question,
        "against": criterion.against,
        "unit": criterion.unit_of(criterion.params, criterion.relation),
        "slider": slider,
        "numbers": numbers(criterion),
        "params": {name: str(value) for name, value in criterion.params.items()},
    }


def numbers(criterion: Criterion) -> dict[str, Json]:
    """The other parameters that are one number each: with another one every value has to be found again.

    >>> numbers(criteria.make("ck_safety", {"c": "0.9", "k": "2"}))
    {'k': '2'}
    """
    return {
        name: str(value)
        for name, value in criterion.params.items()
        if name != criterion.slider and number_in(value) is not None
    }


def at(plan: Plan, requirement: str, value: str, parameter: str = "") -> tuple[editing.SetLimit, Criterion]:
    """Another limit of a requirement, or another number of one `parameter`: in privacy.yml, and as it is."""
    known = {str(criterion): criterion for criterion in plan.require}
    asked = known.get(requirement)
    if asked is None:
        raise UsageError(
            "unknown_requirement", f"{requirement} is not required", hint=did_you_mean(requirement, known)
        )
    places: tuple[tuple[str | int, ...], ...] = ((parameter,),) if parameter else asked.slider_places
    if not places or (parameter and parameter not in numbers(asked)):
        words = f'no number "{parameter}"' if parameter else "no single limit"
        raise UsageError("no_limit", f"{requirement} has {words}", hint="Change it in privacy.yml.")
    made = criteria.refuse_empty(criteria.make(asked.name, asked.altered(places, value), requirement))
    return editing.SetLimit(plan.require.index(asked), places, value), made


def basis(criterion: Criterion, *, moves: bool) -> str:
    """A requirement without its limit, where the limit `moves` and leaves every value as it is."""
    params = criterion.altered(criterion.slider_places, "") if moves else criterion.params
    return f"{criterion.name} {[*params.items()]}"


def with_requirement(plan: Plan, number: int, made: Criterion) -> Plan:
    """The plan with one requirement replaced."""
    require = list(plan.require)
    require[number] = made
    return replace(plan, require=tuple(require))
