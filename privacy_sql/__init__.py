"""Find who could be identified in a table, publish a version that is safe, and prove it.

Names are imported when first used, so that `privacy-sql --help` loads neither pandas nor an engine.
Criteria and methods are found by their class name (`KAnonymity`, `Generalise`), a study by the name of its
file (`disclosure_curve`): there is no list of them.
"""

from __future__ import annotations

import importlib
from pathlib import Path

__version__ = "0.2.0.dev0"

_HOME = {
    "connect": "engines",
    "Engine": "engines",
    "Query": "query.template",
    "Table": "table",
    "Verdict": "verdict",
    "Witness": "verdict",
    "PrivacySqlError": "errors",
    **dict.fromkeys(["kernel_weight", "numeric_distance"], "kernels.beliefs.kernel_prior"),
    **dict.fromkeys(
        ["belief_distance", "posterior", "posterior_over_groups", "prior", "smooth"],
        "studies.background_knowledge",
    ),
    "Release": "release",
    **dict.fromkeys(["check", "publish", "search", "write"], "api"),
    **dict.fromkeys(["People", "count"], "people"),
    "baseline": "publishing.baseline",
    "risk": "publishing.risk",
    "identify": "studies.identifying",
    "verify": "publishing.verifying",
    "report": "reporting.making",
    "MarginalSet": "studies.marginal_set",
    "reconstruct": "studies.reconstruction",
    **dict.fromkeys(["clopper_pearson", "excess"], "studies._proportions"),
    **dict.fromkeys(["breach_probability", "find_skyline"], "studies.skyline"),
    **dict.fromkeys(["compose", "compose_zcdp", "discrete_laplace"], "kernels.composition.privacy_loss"),
    **dict.fromkeys(["noise_posterior", "semantic_privacy"], "kernels.composition.privacy_loss"),
    "semantic_game": "kernels.composition.semantic_game",
    "intersection_attack": "attacks.intersection",
    **dict.fromkeys(["AsIs", "Breaks", "Dates", "Intervals", "KeepOrDrop", "Mask", "Tree"], "hierarchies"),
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(f"privacy_sql.{_HOME[name]}"), name)
    # only a file is looked for: modules of ours pass here when they are imported from the package
    study = (Path(__file__).parent / "studies" / f"{name}.py").is_file()
    if not (study or name[:1].isupper() or name == "__all__"):
        raise AttributeError(f"module 'privacy_sql' has no attribute {name!r}")
    from privacy_sql import registry

    if name == "__all__":
        return sorted(["__version__", *_HOME, *registry.studies()])
    try:
        return registry.study(name) if study else registry.by_class_name(name)
    except AttributeError:
        raise AttributeError(f"module 'privacy_sql' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    from privacy_sql import registry

    parts = [
        registry.get(family, part).__name__
        for family in ("criteria", "methods")
        for part in registry.available(family)
    ]
    return sorted({"__version__", *_HOME, *parts, *registry.studies()})
