"""Double-bagging against a twin that writes the discriminant variables into the table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from tests.ensembles.twins import content_order, generators, table

from orfeon import C45Classifier, CARTClassifier, DoubleBaggingClassifier
from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.datasets import make_twonorm, make_waveform
from orfeon.ensembles.double_bagging import combine, discriminants
from orfeon.ensembles.perturbation import draw_seed
from orfeon.growth import grow_forest


def twin_votes(X, y, rows, n_members, random_state, ordered=None, schema=None):
    """Votes for some rows: scikit-learn's analysis, and a tree grown on the longer table."""
    order = content_order(X, y)
    X, y = X[order], y[order]
    ordered = np.arange(X.shape[1]) if ordered is None else ordered
    schema = Schema.ordered(X.shape[1]) if schema is None else schema
    votes, n_classes = [], int(y.max()) + 1
    for rng in generators(random_state, n_members):
        seed = draw_seed(rng)
        counts = np.bincount((rng.random(len(y)) * len(y)).astype(int), minlength=len(y))
        out = counts == 0
        complete = out & ~np.isnan(X[:, ordered]).any(axis=1)
        scale = np.abs(X[complete][:, ordered]).max(axis=0)
        analysis = LinearDiscriminantAnalysis().fit(X[complete][:, ordered] / scale, y[complete])
        scalings = analysis.scalings_[:, : len(np.unique(y[complete])) - 1] / scale[:, None]
        longer, queried = (
            np.hstack([Z, combine(Z[:, ordered], scalings)]) for Z in (X, np.asarray(rows))
        )
        more = Schema((*schema.categories, *[None] * scalings.shape[1]))
        tree = grow_forest(
            Table(longer, more), y, n_classes=n_classes, seeds=np.array([seed]), weights=counts
        )
        votes.append(tree.predict(queried))
    return np.array(votes)


# -- against the twin ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_twonorm, make_waveform])
def test_votes_are_those_of_trees_on_the_longer_table(make):
    X, y = make(120, random_state=0)
    rows, _ = make(300, random_state=1)
    double = DoubleBaggingClassifier(n_estimators=12, random_state=4).fit(X, y)
    np.testing.assert_array_equal(double.votes(rows), twin_votes(X, y, rows, 12, 4))


def test_discriminant_variables_are_linear_combinations_of_all_features():
    X, y = make_waveform(200, random_state=0)
    double = DoubleBaggingClassifier(n_estimators=10, random_state=0).fit(X, y)
    forest = double.forest_.validate()
    starts, features, _ = forest.projections
    assert len(starts) - 1 == 10 * 2  # three classes: two variables for each member
    np.testing.assert_array_equal(features.reshape(20, 21), np.tile(np.arange(21), (20, 1)))


def test_the_discriminant_variable_is_the_first_test_of_linear_classes():
    X, y = make_twonorm(300, random_state=0)
    forest = DoubleBaggingClassifier(n_estimators=10, random_state=0).fit(X, y).forest_
    assert (forest.feature[forest.tree_start[:-1]] < 0).all()


def test_categories_take_no_part_in_the_analysis():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = make_twonorm(150, random_state=0)
    codes = rng.integers(0, 4, 150)
    frame = pandas.DataFrame(
        {
            "a": X[:, 0],
            "colour": pandas.Categorical.from_codes(codes, list("wxyz")),
            "b": X[:, 1],
        }
    )
    y = y ^ (codes == 2)
    double = DoubleBaggingClassifier(n_estimators=8, random_state=2).fit(frame, y)
    assert set(double.forest_.projections[1].tolist()) == {0, 2}
    schema, encoded = Schema.learn_and_encode(frame, "auto")
    twin = twin_votes(encoded, y, encoded, 8, 2, np.array([0, 2]), schema)
    np.testing.assert_array_equal(double.votes(frame), twin)
    assert double.score(frame, y) > 0.95


def test_missing_values_are_missing_in_the_variables_too():
    rng = np.random.default_rng(1)
    X, y = make_twonorm(200, random_state=1)
    X = X[:, :4].copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    double = DoubleBaggingClassifier(n_estimators=8, random_state=3).fit(X, y)
    np.testing.assert_array_equal(double.votes(X), twin_votes(X, y, X, 8, 3))
    assert double.score(X, y) > 0.95


def test_other_trees_may_be_the_members():
    X, y = make_twonorm(200, random_state=0)
    X_test, y_test = make_twonorm(1000, random_state=1)
    double = DoubleBaggingClassifier(C45Classifier(), 15, random_state=0).fit(X, y)
    alone = C45Classifier().fit(X, y)
    assert double.score(X_test, y_test) > alone.score(X_test, y_test) + 0.08
    member = double.estimators_[3]
    assert isinstance(member, C45Classifier)
    np.testing.assert_array_equal(member.predict(X_test), double.votes(X_test)[3])


def test_linear_classes_are_told_apart_by_one_test():
    """No classifier errs on less than 2.3% of this problem."""
    X, y = make_twonorm(300, random_state=0)
    X_test, y_test = make_twonorm(3000, random_state=1)
    double = DoubleBaggingClassifier(n_estimators=50, random_state=0).fit(X, y)
    assert np.mean(double.predict(X_test) != y_test) < 0.04


# -- the variables ---------------------------------------------------------------------------------


def test_they_are_those_of_scikit_learn():
    X, y = make_waveform(200, random_state=0)
    ours = combine(X, discriminants(X, y))
    theirs = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    for j in range(2):
        assert abs(np.corrcoef(ours[:, j], theirs[:, j])[0, 1]) == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_their_direction_does_not_depend_on_the_scale(scale):
    X, y = make_twonorm(100, random_state=0)
    plain = combine(X, discriminants(X, y))[:, 0]
    scaled = discriminants(X * scale, y)
    assert scaled.shape == (20, 1)
    other = combine(X, scaled * scale)[:, 0]
    np.testing.assert_allclose(np.abs(np.corrcoef(plain, other)[0, 1]), 1.0)


def test_missing_rows_take_no_part():
    X, y = make_twonorm(100, random_state=0)
    more = np.vstack([X, np.where(np.arange(20) == 3, np.nan, 50.0)[None]])
    np.testing.assert_array_equal(discriminants(more, np.append(y, 1)), discriminants(X, y))


degenerate = {
    "no row": (np.zeros((0, 3)), np.zeros(0, np.int64)),
    "one row": (np.ones((1, 3)), np.zeros(1, np.int64)),
    "one class": (np.random.default_rng(0).normal(size=(9, 3)), np.zeros(9, np.int64)),
    "as many rows as classes": (np.arange(9.0).reshape(3, 3), np.arange(3)),
    "constant": (np.ones((9, 3)), np.arange(9) % 2),
    "zero": (np.zeros((9, 3)), np.arange(9) % 2),
    "nothing but missing": (np.full((9, 3), np.nan), np.arange(9) % 2),
    "no attribute": (np.zeros((9, 0)), np.arange(9) % 2),
}


@pytest.mark.parametrize("name", degenerate)
def test_degenerate_samples_give_no_variable(name):
    X, y = degenerate[name]
    assert discriminants(X, y).shape == (X.shape[1], 0)


def test_classes_without_spread_give_none_or_finite_ones():
    """Each class is one point."""
    y = np.arange(12) % 3
    found = discriminants(np.column_stack([y, y**2]).astype(np.float64), y)
    assert np.isfinite(found).all()
    assert found.shape[1] <= 2


def test_collinear_features_are_no_misfortune():
    X, y = make_twonorm(100, random_state=0)
    twice = np.hstack([X[:, :3], X[:, :3], np.ones((100, 1))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coefficients = discriminants(twice, y)
    assert coefficients.shape == (7, 1)
    assert np.isfinite(coefficients).all()
    single = combine(X[:, :3], discriminants(X[:, :3], y))[:, 0]
    assert abs(np.corrcoef(combine(twice, coefficients)[:, 0], single)[0, 1]) > 0.999


def test_fewer_rows_than_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 100)), np.arange(30) % 3
    assert np.isfinite(discriminants(X, y)).all()
    double = DoubleBaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    double.forest_.validate()
    # Each member learns its own sample by heart.
    assert (double.votes(X) == y).mean() > 0.6


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_few_samples_are_learnt(n_rows):
    """Out-of-bag sets of no or one sample, or of one class."""
    X, y = make_twonorm(n_rows, random_state=0)
    double = DoubleBaggingClassifier(n_estimators=20, random_state=0).fit(X, y)
    double.forest_.validate()
    assert set(double.predict(X)) <= set(y)


@pytest.mark.parametrize("value", [0.0, 7.0, np.nan])
def test_a_constant_or_empty_column_does_no_harm(value):
    X, y = make_twonorm(100, random_state=0)
    X = X.copy()
    X[:, 5] = value
    double = DoubleBaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    double.forest_.validate()
    assert double.score(X, y) > 0.9


def test_only_categories():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (100, 2))
    frame = pandas.DataFrame({k: pandas.Categorical(codes[:, i]) for i, k in enumerate("ab")})
    y = (codes.sum(axis=1) > 3).astype(np.int64)
    double = DoubleBaggingClassifier(n_estimators=15, random_state=0).fit(frame, y)
    assert len(double.forest_.projections[1]) == 0
    assert double.score(frame, y) == 1.0


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [LogisticRegression(), "tree"])
def test_another_base_learner_is_refused(base):
    X, y = table(DoubleBaggingClassifier())
    with pytest.raises(ValueError, match=r"estimator"):
        DoubleBaggingClassifier(base).fit(X, y)
    if base != "tree":
        message = r"estimator=LogisticRegression\(\) is not a tree of orfeon.*CARTClassifier\(\)"
        with pytest.raises(ValueError, match=message):
            DoubleBaggingClassifier(base).fit(X, y)


def test_a_regression_tree_is_refused():
    from orfeon import CARTRegressor

    X, y = table(DoubleBaggingClassifier())
    with pytest.raises(ValueError, match=r"estimator=CARTRegressor\(\) is not a classifier"):
        DoubleBaggingClassifier(CARTRegressor()).fit(X, y)
    assert DoubleBaggingClassifier(CARTClassifier(), 2).fit(X, y).score(X, y) > 0.7
