"""Every property that lets a search prune has its proof in docs/proofs, and it is of the code as it stands.

When the code of a criterion changes, read its page again, mend it where it must be, and run
`python -m tests.criteria.proofs`.
"""

from __future__ import annotations

import pytest

from privacy_sql import registry
from tests.criteria import proofs


@pytest.mark.parametrize("name", registry.available("criteria"))
def test_every_declared_property_is_proved_and_no_other(name: str) -> None:
    page = proofs.page(name)
    proved = set() if not page.is_file() else proofs.headings(page.read_text(encoding="utf-8"))
    assert proved == {proofs.HEADINGS[word] for word in proofs.declared(name)}


@pytest.mark.parametrize("name", [name for name in registry.available("criteria") if proofs.declared(name)])
def test_the_code_has_not_moved_since_its_proof_was_read(name: str) -> None:
    text = proofs.page(name).read_text(encoding="utf-8")
    hint = f"read docs/proofs/{name}.md again, then: python -m tests.criteria.proofs"
    assert proofs.fingerprint(name) in text, hint


def test_a_docstring_is_no_code_and_a_number_is() -> None:
    assert proofs.of_source('"""One."""\nx = 1\n') == proofs.of_source("# two\nx = 1\n")
    assert proofs.of_source("x = 1\n") != proofs.of_source("x = 2\n")
