"""The words of a report, each once, as docs/glossary.md has them."""

from __future__ import annotations

from privacy_sql.reporting.sections import Material, Section

WORDS = {
    "adversary": "somebody who reads what was published and tries to learn something about one person; the"
    ' report says "somebody"',
    "baseline": "how sure a guess is for somebody who knows a person's group and nothing else",
    "fact": 'one thing somebody learns elsewhere, such as "Ed does not have mumps"; the worst facts are those'
    " that help them most",
    "group": "the people whose published quasi-identifiers are the same",
    "insensitive column": "a column published unchanged; privacy_sql counts and reports whom it singles out",
    "level of detail": "a step of a hierarchy; level 0 is the value itself, the last is `*`",
    "limit": "the number that a requirement's value is compared with",
    "manifest": "the file next to a release that says how it was made, which requirements it meets, and its"
    " checksums",
    "quasi-identifier": "a column that somebody may know about a person and use to find them: age, sex, zip",
    "requirement": "what a release must meet, such as `k_anonymity(k=5)`",
    "sensitive column": "what nobody should learn about a person: diagnosis, income",
    "suppressed": "left out of the release, because their group would not be safe",
}


def section(material: Material) -> Section:
    words = [(word, meaning.replace("`", "")) for word, meaning in WORDS.items()]
    return Section("glossary", "What the words mean", "Words", {"words": words})
