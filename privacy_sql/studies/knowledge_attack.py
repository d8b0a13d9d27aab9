"""The attack of li2009, Sec. V.A, on any release: who is exposed to somebody who studied the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privacy_sql.beliefs.own_priors import own_prior
from privacy_sql.criteria.bt_privacy import BTPrivacy
from privacy_sql.display.progress import report
from privacy_sql.engines import Engine
from privacy_sql.errors import UsageError
from privacy_sql.judge import judge
from privacy_sql.release import Release
from privacy_sql.studies import groups_of
from privacy_sql.table import Table
from privacy_sql.verdict import Witness, finite

if TYPE_CHECKING:
    from privacy_sql.criteria import Exact

BANDWIDTHS = ("0.2", "0.3", "0.4", "0.5")


@dataclass(frozen=True)
class Adversary:
    """One bandwidth B' and what its adversary learns.

    Beliefs about `vulnerable` people move by more than t for certain; about `undecided` people it is not
    known.
    """

    bandwidth: Any
    max_risk: float | None
    vulnerable: int
    undecided: int
    witness: Witness

    @property
    def without_prior(self) -> int:
        """How many people the adversary has no prior about; their groups are undecided."""
        found: int = self.witness["people_without_prior"]
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "bandwidth": self.bandwidth if isinstance(self.bandwidth, str) else list(self.bandwidth),
            "max_risk": finite(self.max_risk),
            "vulnerable": self.vulnerable,
            "undecided": self.undecided,
            "without_prior": self.without_prior,
            "witness": dict(self.witness),
        }


@dataclass(frozen=True)
class KnowledgeAttack:
    """Risk against bandwidth: one adversary for each, on a release of `rows` people in `groups` groups."""

    t: Fraction
    rows: int
    groups: int
    exact: bool
    adversaries: tuple[Adversary, ...]

    @property
    def exposed(self) -> Fraction:
        """The largest share of people who are, or may be, vulnerable to one of the adversaries."""
        return max(Fraction(a.vulnerable + a.undecided, self.rows) for a in self.adversaries)

    def to_json(self) -> dict[str, Any]:
        return {
            "t": str(self.t),
            "rows": self.rows,
            "groups": self.groups,
            "exact": self.exact,
            "exposed": str(self.exposed),
            "adversaries": [adversary.to_json() for adversary in self.adversaries],
        }


def knowledge_attack(
    engine: Engine,
    subject: Table | Release,
    t: Exact = "0.2",
    bandwidths: Sequence[Any] | None = None,
    posterior: str = "exact",
    distance: str = "",
    prior: object = None,
) -> KnowledgeAttack:
    """Let adversaries of several bandwidths attack a release made for any requirement.

    The prior comes from the original quasi-identifiers, the groups from the release or the table's group.
    With `prior={"learned_from": {"file": F}}` it comes from another table of people; with `{"file": F}` from
    one adversary who brings their own beliefs, and whom no bandwidth describes.

    >>> import pandas as pd, privacy_sql as ps
    >>> rows = pd.DataFrame(
    ...     {"age": [20, 21, 60, 61], "ill": ["flu", "cold", "gout", "flu"], "g": [1, 2, 1, 2]}
    ... )
    >>> with ps.connect() as engine:
    ...     found = knowledge_attack(engine, ps.Table(rows, ["age"], "ill", group="g"), "0.1", ["0.3"])
    >>> found.adversaries[0].vulnerable
    4
    """
    brings = prior is not None and not own_prior(prior).learned
    if bandwidths is not None and not bandwidths and not brings:
        raise UsageError(
            "no_bandwidth", "no adversary was given", hint="Give bandwidths, for example 0.2 and 0.5."
        )
    grouping = groups_of(engine, subject)
    found = []
    # the requirement refuses a bandwidth next to beliefs that the adversary brings
    asked = bandwidths or ([None] if brings else BANDWIDTHS)
    for number, bandwidth in enumerate(asked):
        report("learning what an adversary of each bandwidth believes", number, len(asked))
        question = BTPrivacy(bandwidth=bandwidth, t=t, posterior=posterior, distance=distance, prior=prior)
        (verdict,) = judge(grouping, [question]).values()
        (point,) = verdict.points
        found.append(
            Adversary(point.bandwidth, point.max_risk, point.vulnerable, point.unknown, verdict.witness)
        )
    return KnowledgeAttack(point.t, grouping.n_rows, grouping.n_groups, posterior == "exact", tuple(found))
