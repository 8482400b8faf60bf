"""Several tables at once: groups that agree, files, and reports."""

from itertools import combinations

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.statistics import (
    FeatureTable,
    match,
    match_jointly,
    read_table,
    read_truth,
    write_candidates,
    write_groups,
    write_merged,
    write_mztab,
)
from pushforward.statistics.matching.joint_matching import Consensus
from pushforward.studies.metabolomics.paired_tables import (
    MEDIUM,
    simulate_cohort,
    split_many,
    stepwise,
)


@pytest.fixture(scope="module")
def tables():
    return split_many(simulate_cohort(700, 160, seed=5), 4, 0.6, MEDIUM, seed=6)


@pytest.fixture(scope="module")
def joint(tables):
    return match_jointly(tables.tables)


def worth(groups, matched, agreement):
    """The sum that the groups maximize, from its definition."""
    total = 0.0
    for group in groups:
        for pair in combinations(sorted(group), 2):
            total += (pair in matched) - agreement
    return total


def partitions(items):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        for k in range(len(smaller)):
            yield [*smaller[:k], [first, *smaller[k]], *smaller[k + 1 :]]
        yield [[first], *smaller]


@pytest.mark.parametrize("seed", range(12))
def test_groups_are_nearly_the_best_of_all_partitions(seed):
    """Three tables of two features and random matches: exhaustion is the oracle.

    The search is local; over these draws, which contradict themselves far more than
    matchings do, it misses the best partition twice, by .1 of 2.2.
    """
    rng = np.random.default_rng(seed)
    table = [0, 0, 1, 1, 2, 2]
    matched = {
        (u, v)
        for u, v in combinations(range(6), 2)
        if table[u] != table[v] and rng.random() < 0.5
    }
    # one match at most of a feature in another table, as matchings are
    for u, v in sorted(matched):
        rivals = [
            p
            for p in matched
            if p != (u, v)
            and ((p[0] == u and table[p[1]] == table[v])
                 or (p[1] == v and table[p[0]] == table[u]))
        ]  # fmt: skip
        matched -= set(rivals) if (u, v) in matched else set()
    found = Consensus(np.array([0, 2, 4, 6]), 0.3)
    for u, v in matched:
        found.match([u], [v], [1.0])
    groups, support = found.groups()
    ours = [[2 * k + j for k, j in enumerate(row) if j >= 0] for row in groups]
    best = max(
        worth(parts, matched, 0.3)
        for parts in partitions(list(range(6)))
        if all(len({table[u] for u in g}) == len(g) for g in parts)
    )
    assert best - 1e-9 >= worth(ours, matched, 0.3) - 2e-9 >= 0.95 * best - 1e-8
    for group, share in zip(ours, support, strict=True):
        inside = [p in matched for p in combinations(group, 2)]
        assert share == pytest.approx(np.mean(inside))


def test_two_tables_are_matched_as_ever(tables):
    A, B = tables.tables[:2]
    both = match_jointly([A, B], threshold=0.1)
    alone = match(A, B, threshold=0.1)
    np.testing.assert_array_equal(both.matches(0, 1), alone.matches)
    assert (both.support == 1).all()


def test_groups_take_one_feature_of_each_table_at_most(joint):
    for k, table in enumerate(joint.tables):
        used = joint.groups[:, k][joint.groups[:, k] >= 0]
        assert len(np.unique(used)) == len(used) <= table.p
    assert ((joint.groups >= 0).sum(axis=1) >= 2).all()
    assert "4 tables" in str(joint)


def test_joint_matching_is_better_than_stepwise(tables, joint):
    """By F1 over all pairs of tables; also than pairs that need not agree."""
    ours = joint.accuracy(tables.truth)
    steps = stepwise(joint).accuracy(tables.truth)
    counts = [m.accuracy(tables.pair(a, b)) for (a, b), m in joint.pairs.items()]
    true, wrong = sum(c.true for c in counts), sum(c.false + c.missed for c in counts)
    assert ours.f1 > steps.f1
    assert ours.f1 > 2 * true / (2 * true + wrong)
    assert ours.precision > 0.95 and ours.recall > 0.9


def test_the_order_of_tables_matters_little(tables, joint):
    """A drift is fitted from the first to the second; F1 hardly knows."""
    reverse = match_jointly(tables.tables[::-1])
    ours, theirs = joint.accuracy(tables.truth), reverse.accuracy(tables.truth[:, ::-1])
    assert abs(ours.f1 - theirs.f1) < 0.02


def test_a_partial_truth_counts_what_it_knows(tables, joint):
    known = joint.accuracy(tables.truth[:40], partial=True)
    pairs = ((tables.truth[:40, :, None] >= 0) & (tables.truth[:40, None] >= 0)).sum()
    assert known.true + known.missed == (pairs - (tables.truth[:40] >= 0).sum()) / 2


def test_files_of_groups(tables, joint, tmp_path):
    write_groups(joint, tmp_path / "g.csv")
    head, *rows = (tmp_path / "g.csv").read_text().splitlines()
    assert head.startswith("tables,support,id_study 1,mz_study 1,rt_study 1")
    assert len(rows) == len(joint.groups)
    write_merged(joint, tmp_path / "m.csv")
    first = (tmp_path / "m.csv").read_text().splitlines()[1].split(",")
    assert first[0] == joint.tables[0].ids[joint.groups[0, 0]]
    assert len(first) == 4 + 1 + 4 + sum(t.n for t in joint.tables)
    write_candidates(joint, tmp_path / "c.csv")
    count = sum(m.pairs.count for m in joint.pairs.values())
    assert len((tmp_path / "c.csv").read_text().splitlines()) == count + 1
    cells = [
        [t.ids[k] if k >= 0 else "" for t, k in zip(joint.tables, g, strict=True)]
        for g in tables.truth
    ]
    (tmp_path / "t.csv").write_text("\n".join(",".join(row) for row in cells))
    found = read_truth(tmp_path / "t.csv", *joint.tables)
    np.testing.assert_array_equal(found, tables.truth)


def test_mztab_reads_as_the_same_features(joint, tmp_path):
    """Every line of the format's sections, and our own reader gets them back."""
    path = tmp_path / "all.mztab"
    write_mztab(joint, path, polarity="negative")
    lines = [line.split("\t") for line in path.read_text().splitlines() if line]
    meta = {key: value for kind, key, value in (x[:3] for x in lines if x[0] == "MTD")}
    assert meta["mzTab-version"] == "2.0.0-M"
    assert "negative scan" in meta["ms_run[1]-scan_polarity[1]"]
    for kind, head in (("SML", "SMH"), ("SMF", "SFH")):
        header = next(x for x in lines if x[0] == head)
        body = [x for x in lines if x[0] == kind]
        assert len(body) == len(joint.groups)
        assert {len(x) for x in body} == {len(header)}  # no cell is empty
        assert all(all(x) for x in body)
    whole = (joint.groups >= 0).all(axis=1)
    kept = {str(k + 1) for k in np.flatnonzero(whole)}
    text = "\n".join(
        "\t".join(x) for x in lines if x[0] not in ("SMF", "SML") or x[1] in kept
    )
    (tmp_path / "whole.mztab").write_text(text)
    back = read_table(tmp_path / "whole.mztab")
    first = joint.tables[0]
    assert back.p == whole.sum() and back.n == sum(t.n for t in joint.tables)
    np.testing.assert_allclose(back.rt, first.rt[joint.groups[whole, 0]], atol=1e-4)
    np.testing.assert_allclose(
        back.intensities[: first.n], first.intensities[:, joint.groups[whole, 0]]
    )
    with pytest.raises(InputError, match="positive or negative"):
        write_mztab(joint, path, polarity="both")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, j: match_jointly(t[:1]), "two tables or more, got 1"),
        (lambda t, j: match_jointly(t, agreement=0.0), r"lie in \(0, 1\], got 0.0"),
        (lambda t, j: match_jointly([t[0], "x"]), "must be a FeatureTable"),
        (lambda t, j: j.accuracy([[0, 1]]), r"integer indices \(m, 4\)"),
        (lambda t, j: j.accuracy([[0, -1, -1, -1]]), "two features at least"),
    ],
)
def test_bad_arguments_are_refused(tables, joint, call, message):
    with pytest.raises(InputError, match=message):
        call(tables.tables, joint)


def test_samples_must_fit_the_intensities():
    with pytest.raises(InputError, match="must be 3 names, got 1"):
        FeatureTable(("a",), np.ones(1), np.ones(1), np.ones((3, 1)), samples=("x",))
