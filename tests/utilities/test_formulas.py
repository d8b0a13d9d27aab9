"""The formulas of all utilities agree with their definitions, row by row, on random small releases."""

from collections import Counter
from math import isclose, prod

import numpy as np
import pytest

from privacy_sql.kernels.information_gain import class_entropy
from privacy_sql.utilities import (
    Label,
    MeasuredColumn,
    ambiguity,
    average_group_size,
    c_avg,
    classification,
    discernibility,
    entropy,
    height,
    kl,
    loss,
    ncp,
    precision,
    query_error,
)
from tests.oracles import utility as oracle
from tests.seeds import OFTEN, seeds
from tests.utilities.small_releases import small_release

releases = pytest.mark.parametrize("seed", seeds(40, OFTEN))


def shown(small):
    return [labels for labels in small.release if labels is not None]


def groups(small):
    return Counter(shown(small))


def evidence(small, numbers=False):
    """What an additive utility is given: every column, and its labels with the rows published under them."""
    found = []
    for c, domain in enumerate(small.domains):
        counts = Counter(row[c] for row in small.rows)
        labels = Counter(labels[c] for labels in shown(small))
        found.append(
            (
                MeasuredColumn(2, label(domain, counts, 2, numbers)),
                [(label(values, counts, 1, numbers), rows) for values, rows in labels.items()],
            )
        )
    return found


def label(values, counts, level, numbers):
    bits = class_entropy([counts[value] for value in values])
    low, high = (min(values), max(values)) if numbers else (None, None)
    return Label(level, len(values), sum(counts[value] for value in values), bits, low, high)


@releases
def test_loss_is_the_mean_share_of_the_domain_that_values_cover(seed):
    small = small_release(seed)
    value = loss.Loss().cost(evidence(small), len(small.rows))
    assert isclose(value, oracle.loss(small.release, small.domains), abs_tol=1e-12)


@releases
@pytest.mark.parametrize("numbers", [False, True])
def test_global_certainty_penalty_is_the_mean_over_all_cells(seed, numbers):
    small = small_release(seed)
    value = ncp.Ncp().cost(evidence(small, numbers), len(small.rows))
    assert isclose(value, oracle.ncp(small.release, small.domains, numbers), abs_tol=1e-12)


@releases
def test_entropy_is_the_mean_of_the_bits_a_label_hides(seed):
    small = small_release(seed)
    value = entropy.Entropy().cost(evidence(small), len(small.rows))
    assert isclose(value, oracle.entropy(small.rows, small.release, small.domains), abs_tol=1e-12)


@releases
def test_precision_is_one_minus_the_mean_share_of_the_levels_climbed(seed):
    small = small_release(seed)
    value = precision.Precision().cost(evidence(small), len(small.rows))
    cells = [0.5 if labels else 1.0 for labels in small.release]  # level 1 of 2, or suppressed
    assert isclose(precision.Precision().shown(value), 1 - sum(cells) / len(cells), abs_tol=1e-12)


@releases
def test_height_counts_the_steps_of_the_choice_whatever_is_suppressed(seed):
    small = small_release(seed)
    if shown(small):
        assert height.Height().cost(evidence(small), len(small.rows)) == len(small.domains)


@releases
def test_discernibility_and_average_size_count_rows_that_look_alike(seed):
    small = small_release(seed)
    sizes = list(groups(small).values())
    hidden = small.release.count(None)
    assert discernibility.discernibility(sizes, hidden, len(small.rows)) == oracle.discernibility(
        small.release
    )
    if sizes:
        mean = average_group_size.average_group_size(sum(sizes), len(sizes))
        assert mean == oracle.average_group_size(small.release)
        assert c_avg.c_avg(sum(sizes), len(sizes), 3) == mean / 3


@releases
def test_ambiguity_is_the_mean_number_of_rows_a_published_row_could_have_been(seed):
    small = small_release(seed)
    leaves = [([len(label) for label in labels], n) for labels, n in groups(small).items()]
    value = ambiguity.ambiguity(leaves, [len(domain) for domain in small.domains], len(small.rows))
    assert isclose(value, oracle.ambiguity(small.release, small.domains))


@releases
def test_classification_counts_rows_outside_the_majority_of_their_group(seed):
    small = small_release(seed)
    classes = {labels: Counter() for labels in groups(small)}
    for row, labels in zip(small.rows, small.release, strict=True):
        if labels:
            classes[labels][row[-1]] += 1
    majorities = [(counts.total(), max(counts.values())) for counts in classes.values()]
    value = classification.classification(majorities, len(small.rows))
    assert float(value) == pytest.approx(oracle.classification(small.rows, small.release))


@releases
def test_kl_is_the_divergence_from_the_reconstructed_distribution(seed):
    small = small_release(seed)
    assert kl.kl(*kl_evidence(small)) == pytest.approx(
        oracle.kl(small.rows, small.release, small.domains, small.sensitive), abs=1e-12
    )


def kl_evidence(small):
    pairs = Counter(
        (labels, row[-1]) for row, labels in zip(small.rows, small.release, strict=True) if labels
    )
    published = {row: labels for row, labels in zip(small.rows, small.release, strict=True)}
    cells = []
    for row, n in Counter(small.rows).items():
        labels = published[row]
        cells.append((n, pairs[labels, row[-1]], prod(map(len, labels))) if labels else (n, 0, 1))
    domain = prod(len(d) for d in small.domains) * len(small.sensitive)
    return cells, small.release.count(None), domain


def test_kl_of_the_raw_table_is_zero_and_never_falls_when_labels_merge():
    for seed in seeds(40, OFTEN):
        small = small_release(seed, with_suppression=False)
        raw = [tuple((value,) for value in row[:-1]) for row in small.rows]
        top = [tuple(tuple(domain) for domain in small.domains) for _ in small.rows]
        values = []
        for release in (raw, small.release, top):
            small.release = release
            values.append(kl.kl(*kl_evidence(small)))
        assert values[0] == 0
        assert values == sorted(values)


def test_a_column_with_one_value_loses_nothing():
    column = MeasuredColumn(0, Label(0, 1, 4, low=7.0, high=7.0))
    for utility in (loss.Loss(), ncp.Ncp(), precision.Precision(), entropy.Entropy()):
        assert utility.cost([(column, [(column.whole, 4)])], 4) == 0


def test_queries_are_the_same_for_the_same_seed_and_differ_for_another():
    one, same, other = (
        query_error.random_queries([10, 5, 4], 2, 0.1, 20, np.random.default_rng(seed)) for seed in (7, 7, 8)
    )
    assert one == same != other
    assert all(set(query) == {0, 1, 2} and all(query.values()) for query in one)


@releases
def test_the_estimate_of_a_query_spreads_rows_over_their_labels(seed):
    small = small_release(seed, with_suppression=False)
    sizes = [*map(len, small.domains), len(small.sensitive)]
    for query in query_error.random_queries(sizes, 2, 0.3, 5, np.random.default_rng(seed)):
        last = len(small.domains)
        wanted = {c: set(v) for c, v in query.items() if c < last}
        wanted[last] = {small.sensitive[v] for v in query[last]}
        estimate = 0.0
        for row, labels in zip(small.rows, small.release, strict=True):
            shares = [len({*labels[c]} & v) / len({*labels[c]}) for c, v in wanted.items() if c < last]
            estimate += prod(shares) * (row[-1] in wanted[last])
        actual, expected = oracle.answer(small.rows, small.release, small.domains, small.sensitive, wanted)
        assert estimate == pytest.approx(expected)
        if actual:
            error = query_error.relative_error(actual, estimate)
            assert error == pytest.approx(abs(actual - expected) / actual)


def test_queries_without_rows_behind_them_are_left_out():
    assert query_error.mean_relative_error([(0, 3.0)]) is None
