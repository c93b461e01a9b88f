"""Base learners of any kind: fitted to codes, with weights or copies, frames, sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensembles.twins import LEVEL, Remembering, numbered, redraw, small, table
from tests.oracles.probabilities import smoothed

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    FlippingClassifier,
    IGPTreeClassifier,
    ObliqueTreeClassifier,
    OutputSmearingRegressor,
    PartitionedClassifier,
    RandomSubspaceClassifier,
    RandomTreeClassifier,
    StumpClassifier,
    WaggingClassifier,
)
from orfeon.datasets import make_waveform
from orfeon.ensembles.base import seed_estimator

OTHERS = [
    LogisticRegression(C=0.1),
    KNeighborsClassifier(3),
    GaussianNB(),
    SVC(),
    DecisionTreeClassifier(max_depth=4),
    make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
]
TREES = [
    CARTClassifier(pruning=0.01),
    CARTClassifier(pruning="cv", n_folds=3),
    C45Classifier(),
    IGPTreeClassifier(),
    ObliqueTreeClassifier(),
    RandomTreeClassifier(),
    StumpClassifier(),
]
METHODS = [
    BaggingClassifier, WaggingClassifier, RandomSubspaceClassifier, ClassSwitchingClassifier,
    FlippingClassifier,
]  # fmt: skip
NAMES = np.array(["one", "two", "three"])


# -- other base learners ---------------------------------------------------------------------------


@pytest.mark.parametrize("base", OTHERS, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("method", METHODS)
def test_any_classifier_may_be_the_base(method, base):
    X, y = table(method())
    y = NAMES[y]
    ensemble = method(clone(base), 5, random_state=0)
    takes_weights = not isinstance(base, KNeighborsClassifier) and not hasattr(base, "steps")
    if method is WaggingClassifier and not takes_weights:
        with pytest.raises(ValueError, match="takes no sample_weight, which WaggingClassifier"):
            ensemble.fit(X, y)
        return
    ensemble.fit(X, y)
    assert ensemble.classes_.tolist() == ["one", "three", "two"]
    assert len(ensemble) == len(ensemble.estimators_) == 5
    votes = ensemble.votes(X)
    for t, member in enumerate(ensemble.estimators_):
        assert type(member) is type(base)
        assert set(member.classes_) <= {0, 1, 2}  # codes of the classes
        columns = X[:, ensemble.estimators_features_[t]]
        np.testing.assert_array_equal(member.predict(columns), votes[t])
        support = ensemble.members_.supports(X)[t]
        if hasattr(member, "predict_proba"):
            np.testing.assert_allclose(support[:, member.classes_], member.predict_proba(columns))
        else:
            np.testing.assert_array_equal(support, np.eye(3)[votes[t]])
    counts = np.stack([(votes == c).sum(axis=0) for c in range(3)], axis=1)
    np.testing.assert_allclose(ensemble.vote_shares(X), counts / 5)
    expected = smoothed(ensemble, counts / 5)
    np.testing.assert_allclose(ensemble.predict_proba(X), expected)
    np.testing.assert_array_equal(ensemble.predict(X), ensemble.classes_[counts.argmax(axis=1)])
    np.testing.assert_array_equal(list(ensemble.staged_predict(X))[-1], ensemble.predict(X))
    soft = ensemble.set_params(combine="soft").predict_proba(X)
    expected = smoothed(ensemble, ensemble.mean_supports(X))
    np.testing.assert_allclose(soft, expected, atol=1e-12)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0)
    with pytest.raises(AttributeError, match="has no forest_"):
        _ = ensemble.forest_


def test_bagging_scikit_learns_trees_is_fitting_them_by_hand():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(DecisionTreeClassifier(), 6, random_state=2).fit(X, y)
    _, counts = redraw(2, 6, len(y))
    for member, weights in zip(bag.estimators_, counts, strict=True):
        rows = weights > 0
        by_hand = clone(member).fit(X[rows], y[rows], sample_weight=weights[rows])
        np.testing.assert_array_equal(by_hand.predict(X), member.predict(X))
    assert len({member.random_state for member in bag.estimators_}) == 6


@pytest.mark.parametrize("base", [Ridge(), DecisionTreeRegressor(max_depth=3)])
@pytest.mark.parametrize("method", [BaggingRegressor, OutputSmearingRegressor])
def test_regressors_may_be_the_base(method, base):
    X, y = table(method())
    ensemble = method(base, 8, random_state=0).fit(X, y)
    answers = np.array([member.predict(X) for member in ensemble.estimators_])
    np.testing.assert_allclose(ensemble.predictions(X), answers)
    np.testing.assert_allclose(ensemble.predict(X), answers.mean(axis=0))
    assert ensemble.score(X, y) > 0.1


def test_ridge_is_fitted_to_its_sample():
    X, y = table(BaggingRegressor())
    bag = BaggingRegressor(Ridge(), 6, random_state=2).fit(X, y)
    _, counts = redraw(2, 6, len(y))
    for member, weights in zip(bag.estimators_, counts, strict=True):
        by_hand = Ridge().fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(member.coef_, by_hand.coef_)


@pytest.mark.parametrize("base", TREES, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("method", [*METHODS, PartitionedClassifier])
def test_any_tree_may_be_the_base(method, base):
    X, y = table(method())
    size = {"n_partitions": 5} if method is PartitionedClassifier else {"n_estimators": 5}
    ensemble = method(base, random_state=0, **size).fit(X, y)
    ensemble.forest_.validate()
    rows, _ = table(method(), seed=1)
    votes = ensemble.votes(rows)
    assert len({vote.tobytes() for vote in votes}) > 1
    for vote, member in zip(votes, ensemble.estimators_, strict=True):
        assert type(member) is type(base)
        np.testing.assert_array_equal(member.predict(rows), vote)


# -- weights ---------------------------------------------------------------------------------------


def test_base_learners_without_weights_see_copies():
    class Copies(Remembering):
        def fit(self, X, y):
            return super().fit(X, y)

    X, y = numbered(20), np.arange(20) % 2
    bag = BaggingClassifier(Copies(), 5, random_state=0).fit(X, y)
    with_weights = BaggingClassifier(Remembering(), 5, random_state=0).fit(X, y)
    for one, other in zip(bag.estimators_, with_weights.estimators_, strict=True):
        assert len(one.X_) == 20
        assert len(other.X_) < 20
        np.testing.assert_array_equal(one.counts(20), other.counts(20))


def test_weights_are_handed_on_where_nothing_is_drawn():
    weights = np.linspace(0.5, 2.0, 30)
    for method in (RandomSubspaceClassifier, ClassSwitchingClassifier, FlippingClassifier):
        ensemble = method(Remembering(), 3, random_state=0)
        ensemble.fit(numbered(30, 3), np.arange(30) % 2, sample_weight=weights)
        for member in ensemble.estimators_:
            np.testing.assert_allclose(member.counts(30), weights)


def test_fractional_weights_and_classes_only_decide_what_is_drawn():
    """So that base learners without weights may have them in bagging."""
    weights = np.linspace(0.5, 2.0, 30)
    y = np.repeat([0, 1], [25, 5])
    bag = BaggingClassifier(KNeighborsClassifier(1), 5, random_state=0)
    bag.fit(numbered(30), y, sample_weight=weights)
    balanced = BaggingClassifier(Remembering(), 200, class_weight="balanced", random_state=0)
    balanced.fit(numbered(30), y)
    drawn = np.sum([member.counts(30) for member in balanced.estimators_], axis=0)
    assert stats.binomtest(int(drawn[y == 1].sum()), int(drawn.sum()), 0.5).pvalue > LEVEL


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomSubspaceClassifier(KNeighborsClassifier()),
        ClassSwitchingClassifier(make_pipeline(StandardScaler(), GaussianNB())),
        BaggingClassifier(KNeighborsClassifier(), bootstrap=False),
        PartitionedClassifier(KNeighborsClassifier()),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_fractional_weights_are_refused_where_they_would_be_lost(ensemble):
    X, y = table(ensemble)
    with pytest.raises(ValueError, match=r"sample_weight has fractions, but \w+ takes no weights"):
        ensemble.fit(X, y, sample_weight=np.linspace(0.5, 2.0, len(y)))


def test_the_base_may_weigh_classes_itself():
    """By their names, in every member's own sample."""
    X, y = table(BaggingClassifier())
    y = NAMES[y]
    base = CARTClassifier(max_depth=1, class_weight={"one": 1000.0, "two": 1.0, "three": 1.0})
    bag = BaggingClassifier(base, 20, random_state=0).fit(X, y)
    roots = bag.forest_.value[bag.forest_.tree_start[:-1]]
    assert (roots[:, 0] > 0.99 * roots.sum(axis=1)).all()
    balanced = CARTClassifier(class_weight="balanced")
    bag = BaggingClassifier(balanced, 20, random_state=0).fit(X, y)
    roots = bag.forest_.value[bag.forest_.tree_start[:-1]]
    np.testing.assert_allclose(roots, np.full((20, 3), 30.0), rtol=1e-6)


# -- tables of other kinds -------------------------------------------------------------------------


def mixed_problem():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 120)
    size = rng.normal(size=120)
    frame = pandas.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=120)})
    y = np.where(colour == "red", "stop", np.where(size > 0, "go", "wait"))
    return frame, y


def pipeline():
    columns = ColumnTransformer(
        [
            ("words", OneHotEncoder(handle_unknown="ignore"), ["colour"]),
            ("numbers", StandardScaler(), ["size", "noise"]),
        ]
    )
    return make_pipeline(columns, DecisionTreeClassifier(max_depth=4))


@pytest.mark.parametrize("method", [BaggingClassifier, ClassSwitchingClassifier])
def test_pipelines_take_data_frames(method):
    frame, y = mixed_problem()
    ensemble = method(pipeline(), 10, random_state=0).fit(frame, y)
    assert ensemble.score(frame, y) > 0.9
    assert ensemble.n_features_in_ == 3
    assert ensemble.feature_names_in_.tolist() == ["colour", "size", "noise"]
    for vote, member in zip(ensemble.votes(frame), ensemble.estimators_, strict=True):
        np.testing.assert_array_equal(member.predict(frame), vote)
    bag = BaggingClassifier(pipeline(), 30, oob_score=True, random_state=0).fit(frame, y)
    assert bag.oob_error_ < 0.1


def test_weights_of_zero_leave_rows_of_a_frame_out():
    frame, y = mixed_problem()
    weights = (np.arange(120) % 3 > 0).astype(int)
    bag = BaggingClassifier(pipeline(), 3, random_state=0).fit(frame, y, sample_weight=weights)
    kept = weights > 0
    other = BaggingClassifier(pipeline(), 3, random_state=0).fit(frame[kept], y[kept])
    np.testing.assert_array_equal(bag.votes(frame), other.votes(frame))


def test_other_columns_are_refused():
    frame, y = mixed_problem()
    bag = BaggingClassifier(pipeline(), 3, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match=r"fit time, yet now missing:\n- noise"):
        bag.predict(frame[["colour", "size"]])
    X = np.arange(24.0).reshape(8, 3)
    bag = BaggingClassifier(GaussianNB(), 3, random_state=0).fit(X, [0, 1] * 4)
    with pytest.raises(ValueError, match="X has 2 features, but BaggingClassifier is expecting 3"):
        bag.predict(X[:, :2])


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("method", [BaggingClassifier, RandomSubspaceClassifier])
def test_sparse_rows_are_the_dense_ones(method, kind):
    X, y = make_waveform(120, random_state=0)
    X = np.where(np.abs(X) > 2, X, 0.0)
    given = sparse.csr_array(X) if kind == "csr" else sparse.csc_matrix(X)
    base = DecisionTreeClassifier(max_depth=4)
    ensemble = method(base, 5, random_state=0).fit(given, y)
    dense = method(base, 5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ensemble.votes(given), dense.votes(X))
    np.testing.assert_array_equal(ensemble.predict(sparse.csr_matrix(X)), dense.predict(X))
    weights = np.arange(120) % 3
    weighted = method(base, 5, random_state=0).fit(given, y, sample_weight=weights)
    np.testing.assert_array_equal(
        weighted.votes(given),
        method(base, 5, random_state=0).fit(X, y, sample_weight=weights).votes(X),
    )


def test_what_the_base_takes_the_ensemble_takes():
    from sklearn.utils import get_tags

    for base, missing, is_sparse in (
        (None, True, True),
        (LogisticRegression(), False, True),
        (DecisionTreeClassifier(), True, True),
        (GaussianNB(), False, False),
    ):
        tags = get_tags(BaggingClassifier(base)).input_tags
        assert (tags.allow_nan, tags.sparse) == (missing, is_sparse)


# -- seeds -----------------------------------------------------------------------------------------


def test_every_random_state_inside_is_fixed():
    base = make_pipeline(StandardScaler(), DecisionTreeClassifier(splitter="random"))
    one, other, same = (clone(base) for _ in range(3))
    seed_estimator(one, 1)
    seed_estimator(other, 2)
    seed_estimator(same, 1)
    states = [e.get_params()["decisiontreeclassifier__random_state"] for e in (one, other, same)]
    assert states[0] == states[2] != states[1]
    bagged = BaggingClassifier(BaggingClassifier(n_estimators=3), 4, random_state=0)
    X, y = table(bagged)
    votes = bagged.fit(X, y).votes(X)
    np.testing.assert_array_equal(clone(bagged).fit(X, y).votes(X), votes)
    assert len({vote.tobytes() for vote in votes}) == 4


def test_an_ensemble_may_be_the_base_of_another():
    X, y = table(BaggingClassifier())
    nested = BaggingClassifier(small("RandomForestClassifier"), 5, random_state=0).fit(X, y)
    assert nested.score(X, y) > 0.9
    assert all(len(member) == 6 for member in nested.estimators_)
