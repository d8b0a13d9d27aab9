"""The formulas of all utilities agree with their definitions, row by row, on random small releases."""

from collections import Counter
from math import isclose, prod

import numpy as np
import pytest

from privacy_sql.utilities import (
    ambiguity,
    average_group_size,
    classification,
    discernibility,
    entropy,
    height,
    information_gain,
    kl,
    loss,
    ncp,
    precision,
    query_error,
)
from tests.oracles import utility as oracle
from tests.utilities.small_releases import small_release

releases = pytest.mark.parametrize("seed", range(40))


def shown(small):
    return [labels for labels in small.release if labels is not None]


def groups(small):
    return Counter(shown(small))


@releases
def test_loss_is_the_mean_share_of_the_domain_that_values_cover(seed):
    small = small_release(seed)
    columns = [
        loss.column_loss([(len(labels[c]), 1) for labels in shown(small)], len(domain), len(small.rows))
        for c, domain in enumerate(small.domains)
    ]
    assert isclose(loss.loss(columns), oracle.loss(small.release, small.domains), abs_tol=1e-12)


@releases
def test_global_certainty_penalty_is_the_mean_over_all_cells(seed):
    small = small_release(seed)
    columns = [
        ncp.column_penalty(
            [(ncp.penalty(len(labels[c]), len(domain)), 1) for labels in shown(small)], len(small.rows)
        )
        for c, domain in enumerate(small.domains)
    ]
    expected = oracle.ncp(small.release, small.domains)
    assert isclose(ncp.global_certainty_penalty(columns), expected, abs_tol=1e-12)


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
        assert average_group_size.normalised_average_group_size(sum(sizes), len(sizes), 3) == mean / 3


@releases
def test_entropy_is_the_mean_of_the_bits_a_label_hides(seed):
    small = small_release(seed)
    columns = []
    for c, domain in enumerate(small.domains):
        values = Counter(row[c] for row in small.rows)
        evidence = [
            (values[row[c]], sum(values[v] for v in (labels[c] if labels else domain)), 1)
            for row, labels in zip(small.rows, small.release, strict=True)
        ]
        columns.append(entropy.column_entropy(evidence, len(small.rows)))
    expected = oracle.entropy(small.rows, small.release, small.domains)
    assert isclose(entropy.entropy(columns), expected, abs_tol=1e-12)


@releases
def test_ambiguity_is_the_mean_number_of_rows_a_published_row_could_have_been(seed):
    small = small_release(seed)
    evidence = [([len(label) for label in labels], n) for labels, n in groups(small).items()]
    value = ambiguity.ambiguity(evidence, [len(domain) for domain in small.domains], len(small.rows))
    assert isclose(value, oracle.ambiguity(small.release, small.domains))


@releases
def test_classification_counts_rows_outside_the_majority_of_their_group(seed):
    small = small_release(seed)
    classes = {labels: Counter() for labels in groups(small)}
    for row, labels in zip(small.rows, small.release, strict=True):
        if labels:
            classes[labels][row[-1]] += 1
    evidence = [(counts.total(), max(counts.values())) for counts in classes.values()]
    value = classification.classification(evidence, len(small.rows))
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
    for seed in range(40):
        small = small_release(seed, with_suppression=False)
        raw = [tuple((value,) for value in row[:-1]) for row in small.rows]
        top = [tuple(tuple(domain) for domain in small.domains) for _ in small.rows]
        values = []
        for release in (raw, small.release, top):
            small.release = release
            values.append(kl.kl(*kl_evidence(small)))
        assert values[0] == 0
        assert values == sorted(values)


def test_precision_falls_from_one_to_zero_as_levels_rise():
    raw = [precision.column_imprecision([(0, 4)], height=2, n_rows=4)] * 2
    top = [precision.column_imprecision([(2, 4)], height=2, n_rows=4)] * 2
    hidden = [precision.column_imprecision([], height=2, n_rows=4)] * 2
    assert [precision.precision(c) for c in (raw, top, hidden)] == [1, 0, 0]
    assert precision.column_imprecision([(0, 4)], height=0, n_rows=4) == 0


def test_height_counts_steps():
    assert height.height([0, 4, 0, 1, 3, 2, 2]) == 12


def test_a_column_with_one_value_loses_nothing():
    assert loss.penalty(1, 1) == 0
    assert ncp.penalty(1, 1) == 0
    assert ncp.numeric_penalty(0.0, 0.0) == 0


def test_information_gain_over_privacy_loss_of_a_specialisation():
    gain = information_gain.information_gain([4, 4], [[4, 0], [0, 4]])
    assert gain == 1
    assert information_gain.gain_per_loss(gain, 8, 4) == pytest.approx(1 / 5)
    assert information_gain.information_gain([3, 1], [[3, 1]]) == 0


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
    queries = query_error.random_queries(sizes, 2, 0.3, 5, np.random.default_rng(seed))
    for query in queries:
        wanted = {c: set(v) for c, v in query.items() if c < len(small.domains)}
        wanted[len(small.domains)] = {small.sensitive[v] for v in query[len(small.domains)]}
        estimate = 0.0
        for row, labels in zip(small.rows, small.release, strict=True):
            shares = [query_error.overlap(labels[c], v) for c, v in wanted.items() if c < len(small.domains)]
            estimate += prod(shares) * (row[-1] in wanted[len(small.domains)])
        actual, expected = oracle.answer(small.rows, small.release, small.domains, small.sensitive, wanted)
        assert estimate == pytest.approx(expected)
        if actual:
            assert query_error.relative_error(actual, estimate) == pytest.approx(
                abs(actual - expected) / actual
            )


def test_queries_without_rows_behind_them_are_left_out():
    assert query_error.mean_relative_error([(0, 3.0)]) is None
