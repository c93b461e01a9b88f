"""What those who know scikit-learn try: its names work, and what differs is written down."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from tests.ensembles.twins import Remembering, assert_same_trees, small, table
from tests.shared import assert_same_forest, public_estimators

import orfeon
from orfeon import (
    AdaBoostClassifier,
    ArbiterClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    CascadeClassifier,
    CascadeRegressor,
    CostCascadeClassifier,
    CostThresholdClassifier,
    EnsembleSelectionClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HierarchicalExpertsClassifier,
    MixtureOfExpertsRegressor,
    ObliqueTreeClassifier,
    PartitionedClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    StackingClassifier,
    StackingRegressor,
    WaggingClassifier,
)

X, Y = table(BaggingClassifier())
NUMBERS = table(BaggingRegressor())[1]

# -- class_weight ----------------------------------------------------------------------------------


def test_class_weight_is_the_sample_weight_of_the_class_where_samples_are_drawn_by_weight():
    """Members that draw no bootstrap samples are in tests/ensembles/test_class_sampling.py."""
    factors = {0: 2.5, 1: 0.5, 2: 1.25}
    by_class = small("PartitionedClassifier", class_weight=factors).fit(X, Y)
    assert by_class.n_estimators > 1
    by_sample = small("PartitionedClassifier").fit(X, Y, np.array([2.5, 0.5, 1.25])[Y])
    assert_same_trees(by_class, by_sample)
    shares = len(Y) / (3 * np.bincount(Y))
    balanced = small("PartitionedClassifier", class_weight="balanced").fit(X, Y)
    other = small("PartitionedClassifier").fit(X, Y, shares[Y])
    np.testing.assert_array_equal(balanced.votes(X), other.votes(X))
    assert clone(balanced).class_weight == "balanced"


def test_class_weight_reaches_learners_of_others():
    model = RandomSubspaceClassifier(GaussianNB(), 3, class_weight={0: 1, 1: 1, 2: 50})
    assert (model.fit(X, Y).predict(X) == 2).mean() > (Y == 2).mean() + 0.2
    RandomSubspaceClassifier(KNeighborsClassifier(), 3, class_weight="balanced").fit(X, Y)


def test_wagging_never_leaves_all_the_weight_out():
    few, classes = np.arange(4.0)[:, None], np.array([0, 0, 0, 1])
    model = WaggingClassifier(n_estimators=50, class_weight={0: 0.0, 1: 1.0}, random_state=0)
    assert model.fit(few, classes).predict(few).tolist() == [1, 1, 1, 1]


def test_a_chunk_need_not_have_the_classes_that_class_weight_names():
    model = PartitionedClassifier(n_estimators=3, class_weight={2: 3.0}, random_state=0)
    for present in (Y < 2, Y > 0):
        model.partial_fit(X[present], Y[present], classes=[0, 1, 2])
    weighted = PartitionedClassifier(n_estimators=3, random_state=0)
    for present in (Y < 2, Y > 0):
        weight = np.where(Y == 2, 3.0 + 2.0**-40, 1.0)[present]
        weighted.partial_fit(X[present], Y[present], [0, 1, 2], weight)
    np.testing.assert_array_equal(model.votes(X), weighted.votes(X))
    model = PartitionedClassifier(class_weight={2: 3.0}, random_state=0)
    for present in (Y < 2, Y > 0):
        model.partial_fit(X[present], Y[present], classes=[0, 1, 2])
    n_samples = np.bincount(Y)
    roots = model.forest_.value[model.forest_.tree_start[:-1]].tolist()
    # Without the class that weighs most, the others are seen in full.
    assert roots == [[*n_samples[:2], 0], [0, np.floor(n_samples[1] / 3 + 0.5), n_samples[2]]]
    with pytest.raises(ValueError, match="leaves a part without any weight"):
        PartitionedClassifier(class_weight={0: 0.0}, n_partitions=90).fit(X, Y)


# -- names of settings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("BaggingClassifier", {}),
        ("BaggingRegressor", {"bootstrap": "balanced"}),
        ("RandomForestClassifier", {}),
        ("ExtraTreesClassifier", {"bootstrap": True}),
        ("ObliqueForestRegressor", {"bootstrap": False}),
    ],
)
def test_max_samples_none_draws_as_many_as_there_are(name, setting):
    target = NUMBERS if name.endswith("Regressor") else Y
    none = small(name, max_samples=None, **setting).fit(X, target)
    assert_same_trees(none, small(name, **setting).fit(X, target))


@pytest.mark.parametrize(
    "name",
    [
        "CARTClassifier",
        "StumpClassifier",
        "RandomTreeClassifier",
        "ObliqueTreeClassifier",
        "IGPTreeClassifier",
        "RandomForestClassifier",
        "ExtraTreesClassifier",
        "ObliqueForestClassifier",
        "RandomizedTreesClassifier",
        "IGPEnsembleClassifier",
        "BoostingIGPClassifier",
        "IGPCommitteesClassifier",
    ],
)
def test_log_loss_is_another_name_of_entropy(name):
    kind = getattr(orfeon, name)
    sizes = {"n_estimators": 3, "n_committees": 2}
    few = {size: n for size, n in sizes.items() if size in kind().get_params()}
    one, other = (
        kind(criterion=word, random_state=0, **few).fit(X, Y) for word in ("log_loss", "entropy")
    )
    assert_same_forest(one.forest_, other.forest_)
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)


def test_the_spelling_of_samme_does_not_matter():
    one, other = (
        AdaBoostClassifier(n_estimators=5, algorithm=word, random_state=0).fit(X, Y)
        for word in ("SAMME", "samme")
    )
    np.testing.assert_array_equal(one.member_weights_, other.member_weights_)
    with pytest.raises(ValueError, match="'samme'"):
        AdaBoostClassifier(algorithm="SAMME.R").fit(X, Y)


@pytest.mark.parametrize("make", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_early_stopping_is_also_a_switch(make):
    target = NUMBERS if is_regressor(make()) else Y
    X_some, some = X[:, 2:], target  # hardly anything to learn, so that it stops

    def fit(**how):
        return make(n_estimators=60, learning_rate=0.9, random_state=0, **how).fit(X_some, some)

    on, ten = fit(early_stopping=True), fit(early_stopping="validation", n_iter_no_change=10)
    assert on.n_estimators_ == ten.n_estimators_ < 60
    np.testing.assert_array_equal(on.validation_loss_, ten.validation_loss_)
    assert_same_forest(on.forest_, ten.forest_)
    two = fit(early_stopping=True, n_iter_no_change=2)
    same = fit(early_stopping="validation", n_iter_no_change=2)
    assert_same_forest(two.forest_, same.forest_)
    off = fit(early_stopping=False, n_iter_no_change=2)
    assert not hasattr(off, "validation_loss_")
    assert_same_forest(off.forest_, fit(early_stopping=False).forest_)
    assert_same_forest(ten.forest_, fit(early_stopping="validation").forest_)


# -- what is written down --------------------------------------------------------------------------


@pytest.mark.parametrize("name", public_estimators())
def test_docstrings_tell_what_log2_draws_and_what_random_state_takes(name):
    kind = public_estimators()[name]
    text = inspect.getdoc(kind)
    if '"log2"' in text:
        assert text.count('"log2" draws ``floor(log2(M) + 1)`` of M') == text.count(', "log2" or')
    assert "<log2>" not in text
    if "random_state" in kind().get_params():
        assert "\nrandom_state : int, RandomState, Generator, SeedSequence or None" in text


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.SeedSequence])
def test_random_state_may_be_a_generator_or_a_sequence(source):
    models = [BaggingClassifier(n_estimators=3), CARTClassifier(), CostThresholdClassifier()]
    for model in models:
        first, again = (
            clone(model).set_params(random_state=source(3)).fit(X, Y).predict_proba(X)
            for _ in range(2)
        )
        np.testing.assert_array_equal(first, again)


# -- groups ----------------------------------------------------------------------------------------


class Watched(GroupKFold):
    """Keeps what it was asked to split."""

    def split(self, X, y=None, groups=None):
        self.given_ = np.asarray(groups)
        return super().split(X, y, groups)


GROUPS = np.repeat(np.arange(18), 5)
PAIR = [("tree", CARTClassifier(max_depth=2)), ("bayes", GaussianNB())]


@pytest.mark.parametrize(
    "make",
    [
        StackingClassifier,
        CascadeClassifier,
        ArbiterClassifier,
        CostCascadeClassifier,
        EnsembleSelectionClassifier,
    ],
)
def test_splitters_are_given_the_groups_of_the_rows_that_count(make):
    model = make(PAIR, cv=Watched(3), random_state=0)
    if make is CostCascadeClassifier:
        model.set_params(costs=[1, 2], confidence=0.9)
    model.fit(X, Y, groups=GROUPS)
    assert model.cv.given_.tolist() == GROUPS.tolist()
    weights = (np.arange(90) % 4 > 0) * 2.0  # copies of a row are of one group
    model.fit(X, Y, weights, groups=GROUPS.tolist())
    assert model.cv.given_.tolist() == GROUPS[weights > 0].tolist()
    with pytest.raises(ValueError, match="groups has 5 values and X has 90 rows"):
        model.fit(X, Y, groups=GROUPS[:5])
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, Y)


@pytest.mark.parametrize("make", [StackingRegressor, CascadeRegressor])
def test_no_group_is_on_both_sides(make):
    """Each group has a target of its own, which a tree that has seen the group would tell."""
    rows, target = GROUPS[:, None] + np.linspace(0, 0.5, 90)[:, None], 1.0 * GROUPS
    models = [("tree", CARTRegressor()), ("line", LinearRegression())]
    apart = make(models, cv=GroupKFold(6)).fit(rows, target, groups=GROUPS)
    mixed = make(models, cv=KFold(6, shuffle=True, random_state=0))
    with pytest.warns(UserWarning, match="groups parameter is ignored by KFold"):
        mixed.fit(rows, target, groups=GROUPS)
    make(models, cv=3).fit(rows, target, groups=GROUPS)  # not looked at
    name = "level_one_" if make is StackingRegressor else "constructed_"
    assert (getattr(apart, name)[:, 0] != target).all()
    assert (getattr(mixed, name)[:, 0] == target).mean() > 0.9


# -- transform -------------------------------------------------------------------------------------


def test_a_stack_transforms_as_its_final_estimator_sees():
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(X, columns=["a", "b", "tree_0", "d", "e"])
    stack = StackingClassifier(PAIR, cv=3, random_state=0).fit(frame, Y)
    np.testing.assert_array_equal(stack.transform(frame), stack.answers(frame))
    assert stack.get_feature_names_out().tolist() == stack.answer_names_
    passing = clone(stack).set_params(passthrough=True, final_estimator=GaussianNB())
    seen = passing.fit(frame, Y).transform(frame)
    names = ["_tree_0", *stack.answer_names_[1:], "a", "b", "tree_0", "d", "e"]
    assert seen.columns.tolist() == passing.get_feature_names_out().tolist() == names
    bare = clone(passing).fit(X, Y)
    plain = [*stack.answer_names_, *(f"x{j}" for j in range(5))]
    assert bare.get_feature_names_out().tolist() == plain
    assert bare.transform(X).shape == (90, 11)


@pytest.mark.parametrize("make", [StackingClassifier, CascadeClassifier])
def test_fit_transform_is_fit_then_transform(make):
    models = [("memory", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    model = make(models, random_state=0)
    found = model.fit_transform(X, Y)
    np.testing.assert_array_equal(found, clone(model).fit(X, Y).transform(X))
    assert (found[:, :3].argmax(axis=1) == Y).all()  # the first model remembers its samples
    weights = np.where(np.arange(90) < 3, 0.0, 1.0)
    found = model.fit_transform(X, Y, weights)
    np.testing.assert_array_equal(found, model.fit(X, Y, weights).transform(X))
    pipeline = make_pipeline(clone(model), LogisticRegression()).fit(X, Y)
    twin = LogisticRegression().fit(model.fit_transform(X, Y), Y)
    np.testing.assert_allclose(pipeline[-1].coef_, twin.coef_)


@pytest.mark.parametrize(("make", "name"), [
    (StackingClassifier, "level_one_"), (CascadeClassifier, "constructed_"),
])  # fmt: skip
def test_out_of_fold_features_come_from_models_that_have_not_seen_the_sample(make, name):
    models = [("memory", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    model = make(models, random_state=0)
    found = model.fit_transform_out_of_fold(X, Y)
    np.testing.assert_array_equal(found, getattr(model, name))
    assert (found[:, :3].argmax(axis=1) == Y).mean() < 0.9
    assert (model.transform(X)[:, :3].argmax(axis=1) == Y).all()
    assert model.get_feature_names_out().tolist()[:2] == ["memory_0", "memory_1"]
    weights = np.where(np.arange(90) < 3, 0.0, 1.0)
    found = model.fit_transform_out_of_fold(X, Y, weights)  # rows that no model has seen
    np.testing.assert_array_equal(found[3:], getattr(model, name)[3:])
    np.testing.assert_array_equal(found[:3], model.transform(X)[:3])


def test_out_of_fold_features_depend_on_the_groups():
    models = [("tree", CARTClassifier()), ("bayes", GaussianNB())]
    stack = StackingClassifier(models, cv=GroupKFold(3), random_state=0)
    apart = stack.fit_transform_out_of_fold(X, Y, groups=GROUPS)
    np.testing.assert_array_equal(apart, clone(stack).fit(X, Y, groups=GROUPS).level_one_)


def test_features_that_are_passed_on_come_after_the_out_of_fold_ones():
    stack = StackingClassifier(PAIR, GaussianNB(), cv=3, passthrough=True, random_state=0)
    found = stack.fit_transform_out_of_fold(X, Y)
    np.testing.assert_array_equal(found[:, :6], stack.level_one_)
    np.testing.assert_array_equal(found[:, 6:], X)


def test_output_in_data_frames_is_kept_in_files(tmp_path):
    pytest.importorskip("pandas")
    stack = StackingClassifier(PAIR, cv=3, random_state=0).set_output(transform="pandas")
    assert stack.fit_transform(X, Y).columns.tolist() == stack.answer_names_
    assert stack.fit_transform_out_of_fold(X, Y).columns.tolist() == stack.answer_names_
    orfeon.save(stack, tmp_path / "stack.orfeon")
    again = orfeon.load(tmp_path / "stack.orfeon").transform(X)
    assert again.columns.tolist() == stack.answer_names_


# -- names of columns ------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, GaussianNB()])
def test_names_of_columns_are_those_of_training(base):
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(X, columns=list("abcde"))
    for model in (BaggingClassifier(base, 3), AdaBoostClassifier(base, 3, algorithm="samme")):
        model.fit(frame, Y)
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            model.predict(frame[list("badce")])
        with pytest.raises(ValueError, match="names unseen at fit time:\n- z"):
            model.predict(frame.rename(columns={"a": "z"}))
        with pytest.raises(ValueError, match="seen at fit time, yet now missing:\n- e"):
            model.predict(frame[list("abcd")])
    unnamed = BaggingClassifier(GaussianNB(), 3).fit(frames.DataFrame(X), Y)
    with pytest.raises(ValueError, match="X has 4 features, but BaggingClassifier is expecting 5"):
        unnamed.predict(frames.DataFrame(X[:, :4]))


# -- subspaces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, ObliqueTreeClassifier(), Remembering()])
def test_subspaces_are_those_that_were_drawn(base):
    model = RandomSubspaceClassifier(base, 8, max_features=2, random_state=0).fit(X, Y)
    members = RandomSubspaceClassifier(Remembering(), 8, max_features=2, random_state=0).fit(X, Y)
    expected = [one.tolist() for one in members.estimators_features_]
    assert [one.tolist() for one in model.subspaces_] == expected
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        assert len(member.predict(X[:, features])) == 90
    if base is None:
        few = orfeon.prune(model, X, Y, keep=[6, 1])
        assert [one.tolist() for one in few.subspaces_] == [expected[6], expected[1]]
        few.set_params(warm_start=True, n_estimators=4).fit(X, Y)
        with pytest.raises(AttributeError, match=r"subspaces_ .* are not known"):
            _ = few.subspaces_


@pytest.mark.parametrize("sizes", [(2, 4), (4, 2)])
def test_subspaces_of_several_sizes_are_not_told(sizes):
    model = RandomSubspaceRegressor(n_estimators=3, max_features=sizes[0], random_state=0)
    model.fit(X, NUMBERS).set_params(warm_start=True, n_estimators=5).fit(X, NUMBERS)
    assert [len(one) for one in model.subspaces_] == [sizes[0]] * 5
    model.set_params(max_features=sizes[1], n_estimators=6).fit(X, NUMBERS)
    model.set_params(n_estimators=7).fit(X, NUMBERS)
    with pytest.raises(AttributeError, match="another max_features"):
        _ = model.subspaces_
    model.set_params(warm_start=False).fit(X, NUMBERS)
    assert [len(one) for one in model.subspaces_] == [sizes[1]] * 7


# -- n_jobs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        MixtureOfExpertsRegressor(n_experts=2, n_init=4, max_iter=20, random_state=0),
        MixtureOfExpertsRegressor(CARTRegressor(max_depth=2), 2, max_iter=5, random_state=0),
        HierarchicalExpertsClassifier(depth=1, n_init=3, max_iter=20, random_state=0),
    ],
    ids=str,
)
def test_mixtures_do_not_depend_on_n_jobs(model):
    target = NUMBERS if is_regressor(model) else Y
    one, two = (clone(model).set_params(n_jobs=n).fit(X, target) for n in (None, 2))
    assert one.log_likelihood_curve_.tobytes() == two.log_likelihood_curve_.tobytes()
    assert one.gate_proba(X).tobytes() == two.gate_proba(X).tobytes()


def test_calibration_is_given_n_jobs():
    model = CostThresholdClassifier(CARTClassifier(max_depth=2), cv=3, n_jobs=2, random_state=0)
    with parallel_config("threading"):
        assert model.fit(X, Y).estimator_.n_jobs == 2
    alone = clone(model).set_params(n_jobs=None).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
