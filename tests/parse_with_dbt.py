"""Parse a dbt project once for each way to write its models; what dbt says of each goes to said.json.

Run by dbt's own Python inside the project: one process, because starting dbt takes longer than parsing. Reads
{name: {file in models: text}} as JSON from its input.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    from dbt.cli.main import dbtRunner

    said = {}
    for name, files in json.load(sys.stdin).items():
        before = {file: Path("models", file).read_text(encoding="utf-8") for file in files}
        for file, text in files.items():
            Path("models", file).write_text(text, encoding="utf-8")
        done = dbtRunner().invoke(["--quiet", "parse"])
        said[name] = "" if done.success else str(done.exception)
        for file, text in before.items():
            Path("models", file).write_text(text, encoding="utf-8")
    Path("said.json").write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main()
