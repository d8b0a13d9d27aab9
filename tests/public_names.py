"""The public names as type checkers and editors read them; `python -m tests.public_names` writes them anew.

At run time the package loads a name when it is first used, and finds criteria and methods by their files.
"""

from __future__ import annotations

from collections import defaultdict

import privacy_sql as ps
from privacy_sql import registry
from tests.conftest import ROOT

STUB = ROOT / "privacy_sql" / "__init__.pyi"
HEAD = '''"""The public names for type checkers and editors; `python -m tests.public_names` writes them."""
'''


def written() -> str:
    """The stub of the package: where each public name comes from."""
    homes: dict[str, list[str]] = defaultdict(list)
    for name, home in ps._HOME.items():
        homes[f"privacy_sql.{home}"].append(name)
    for family in ("criteria", "methods"):
        for part in registry._ours(family):
            homes[f"privacy_sql.{family}.{part}"].append(registry.get(family, part).__name__)
    for name in registry.studies():
        homes[f"privacy_sql.studies.{name}"].append(name)
    lines = [f"from {home} import {name} as {name}" for home in sorted(homes) for name in sorted(homes[home])]
    return "\n".join([HEAD, *lines, "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(written(), encoding="utf-8")
