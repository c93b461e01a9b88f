"""Outer and inner folds: nothing of an outer test part is ever seen inside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orfeon.errors import UserError
from orfeon.workbench.experiment.plan import Folding


@given(
    st.integers(0, 1000),
    st.sampled_from(["cv", "splits"]),
    st.booleans(),
    st.integers(0, 12),
    st.booleans(),
)
def test_inner_folds_part_the_training_rows_and_never_touch_the_test_rows(
    seed, kind, is_stratified, unit, is_grouped
):
    generator = np.random.default_rng(seed)
    y = generator.integers(3, size=60)
    groups = generator.integers(20, size=60) if is_grouped else None
    folding = Folding(y, is_stratified, seed, kind=kind, n_folds=4, groups=groups)
    outer = folding.outer(unit)
    assert np.array_equal(np.sort(np.concatenate(outer)), np.arange(60))
    inner = folding.inner(unit)
    tested = np.concatenate([split.test for split in inner])
    assert np.array_equal(np.sort(tested), np.sort(outer.train))
    for split in inner:
        assert np.array_equal(np.sort(np.concatenate(split)), np.sort(outer.train))
    if groups is not None:
        for split in [outer, *inner]:
            assert not set(groups[split.train]) & set(groups[split.test])


def test_the_folds_of_a_repetition_part_the_rows_and_repetitions_differ():
    folding = Folding(np.arange(50) % 2, True, seed=3)
    first = [folding.outer(unit).test for unit in range(5)]
    second = [folding.outer(unit).test for unit in range(5, 10)]
    assert np.array_equal(np.sort(np.concatenate(first)), np.arange(50))
    assert np.array_equal(np.sort(np.concatenate(second)), np.arange(50))
    assert not np.array_equal(first[0], second[0])


def test_stratified_folds_keep_the_shares_of_the_classes():
    y = np.repeat([0, 1], [80, 20])
    for kind in ("cv", "splits"):
        folding = Folding(y, True, seed=0, kind=kind, test_share=0.2)
        assert [y[folding.outer(unit).test].sum() for unit in range(5)] == [4] * 5


def test_folds_depend_on_the_seed_only():
    y = np.arange(40) % 2
    assert all(
        np.array_equal(Folding(y, True, 7).outer(unit).test, Folding(y, True, 7).outer(unit).test)
        for unit in range(5)
    )
    assert not np.array_equal(Folding(y, True, 7).outer(0).test, Folding(y, True, 8).outer(0).test)


def test_classes_with_a_single_sample_do_not_end_it():
    y = np.array([0] * 20 + [1] * 20 + [2])
    for kind in ("cv", "splits"):
        folding = Folding(y, True, seed=0, kind=kind)
        assert len(folding.outer(0).train) + len(folding.outer(0).test) == 41
    rare = np.arange(12)  # every class once: no fold can be stratified
    assert len(Folding(rare, True, seed=0).inner(0)) == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_folds": 1}, "^n_folds: must be at least 2; got 1"),
        ({"n_inner_folds": 1}, "^n_inner_folds: must be 0 or at least 2"),
        ({"test_share": 1.0}, "^test_share: must lie between 0 and 1"),
        ({"n_folds": 30}, "^n_folds: 20 rows are too few for 30 folds"),
        ({"groups": np.zeros(20)}, "1 groups are too few"),
    ],
)
def test_what_cannot_be_folded_is_refused(settings, words):
    with pytest.raises(UserError, match=words):
        Folding(np.arange(20) % 2, True, seed=0, **settings)


@pytest.mark.parametrize(
    ("y", "settings"),
    [
        (np.arange(100) // 2, {"kind": "splits"}),  # 50 classes of two rows
        (np.arange(100) % 2, {"kind": "splits", "test_share": 0.9}),
    ],
)
def test_classes_without_room_on_one_side_are_split_at_random(y, settings):
    split = Folding(y, True, seed=0, **settings).outer(0)
    assert len(split.train) + len(split.test) == 100


def test_groups_that_leave_too_few_for_the_inner_folds_are_refused_in_a_sentence():
    groups = np.arange(100) // 10
    with pytest.raises(
        UserError, match=r"These rows cannot be split this way: .*test_share \(--test-share\)\."
    ):
        Folding(np.arange(100) % 2, True, seed=0, kind="splits", test_share=0.85, groups=groups)
