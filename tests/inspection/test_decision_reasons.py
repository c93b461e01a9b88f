"""Why a model decides: ranges in which nothing changes, and the nearest other decision."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.inspection.test_shapley import table

import orfeon
from orfeon.inspection import counterfactual, row_weights, shap_values, why
from orfeon.inspection.tree_sum_types import NoTreeSumError


@pytest.fixture(scope="module")
def flowers():
    given = load_iris(as_frame=True)
    return given.data, given.target_names[given.target]


FORESTS = [
    orfeon.RandomForestClassifier(n_estimators=30, random_state=0),
    orfeon.AdaBoostClassifier(orfeon.StumpClassifier(), 20, random_state=0),
    orfeon.GradientBoostingClassifier(n_estimators=20, random_state=0),
    orfeon.PrunedClassifier(orfeon.BaggingClassifier(n_estimators=30), random_state=0),
    sklearn_ensemble.RandomForestClassifier(30, random_state=0),
    sklearn_ensemble.GradientBoostingClassifier(n_estimators=20, random_state=0),
]


# -- the nearest other decision --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_nearer_for_one_tree(seed):
    """All combinations of the values next to the thresholds are tried."""
    rng = np.random.default_rng(seed)
    X = rng.random((60, 3)).round(2)
    y = ((X[:, 0] + X[:, 1] > 1) + (X[:, 2] > 0.7)).astype(int)
    tree = orfeon.CARTClassifier(max_depth=4, random_state=0).fit(X, y)
    forest, scale = tree.forest_, X.std(axis=0)
    for row in X[:6]:
        choices = []
        for j in range(3):
            cuts = forest.threshold[(forest.feature == j) & ~forest.is_leaf]
            choices.append([row[j], *cuts, *np.nextafter(cuts, np.inf)])
        points = np.array(list(product(*choices)))
        other = points[tree.predict(points) != tree.predict(row[None])[0]]
        least = (np.abs(other - row) / scale).sum(axis=1).min()
        found = counterfactual(tree, row, X=X)
        assert found.is_nearest
        assert found.distance == pytest.approx(least, abs=1e-12)
        assert tree.predict(found.row[None])[0] == found.after != found.before


@pytest.mark.parametrize("model", FORESTS)
def test_predictions_prove_the_change_and_that_all_of_it_is_needed(model, flowers):
    X, y = flowers
    model.fit(X, y)
    for k in (20, 70, 106, 119):
        row = X.iloc[[k]]
        found = counterfactual(model, row, X=X)
        changed = pd.DataFrame([found.row], columns=X.columns)
        assert model.predict(row)[0] == found.before
        assert model.predict(changed)[0] == found.after != found.before
        assert not found.is_nearest
        differs = [name for name in X if changed[name].iloc[0] != row[name].iloc[0]]
        assert sorted(found.changes) == sorted(differs)
        for name in found.changes:
            back = changed.assign(**{name: row[name].iloc[0]})
            assert model.predict(back)[0] != found.after


def test_a_target_and_fixed_features(flowers):
    X, y = flowers
    forest = orfeon.RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
    row = X.iloc[[70]]
    found = counterfactual(forest, row, target="setosa", fixed=["petal width (cm)"], X=X)
    if found is not None:
        assert found.after == "setosa"
        assert "petal width (cm)" not in found.changes
    free = counterfactual(forest, row, target="setosa", X=X)
    assert free.after == "setosa"
    assert counterfactual(forest, row, fixed=list(X)) is None


@pytest.mark.parametrize(
    "model",
    [
        orfeon.CARTClassifier(max_depth=4, random_state=0),
        orfeon.RandomForestClassifier(n_estimators=15, random_state=0),
    ],
)
def test_categories_and_missing_values(model):
    X, y = table(200)
    model.fit(X, y)
    categorical = 0
    for k in range(12):
        row = X.iloc[[k]]
        found = counterfactual(model, row)
        changed = pd.DataFrame([found.row], columns=X.columns).astype(X.dtypes.to_dict())
        assert model.predict(changed)[0] == found.after != model.predict(row)[0]
        assert all(new is not None and new == new for _, new in found.changes.values())
        found = counterfactual(model, row, fixed=["w", "x", "z"])
        if found is not None:
            changed = row.assign(y=[found.row[2]])
            assert list(found.changes) == ["y"]
            assert model.predict(changed)[0] == found.after != found.before
            categorical += 1
    assert categorical >= 2


def test_what_has_no_counterfactual(flowers):
    X, y = flowers
    with pytest.raises(ValueError, match="predicts numbers"):
        counterfactual(orfeon.CARTRegressor().fit(X, np.arange(150.0)), X.iloc[[0]])
    model = make_pipeline(StandardScaler(), orfeon.CARTClassifier()).fit(X, y)
    with pytest.raises(NoTreeSumError, match="last step"):
        counterfactual(model, X.iloc[[0]])
    tree = orfeon.CARTClassifier().fit(X, y)
    with pytest.raises(ValueError, match="is not a class"):
        counterfactual(tree, X.iloc[[0]], target="rose")
    with pytest.raises(ValueError, match="decides for this row already"):
        counterfactual(tree, X.iloc[[0]], target="setosa")


# -- why -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", FORESTS)
def test_effects_are_shapley_values_of_the_decision(model, flowers):
    X, y = flowers
    model.fit(X, y)
    row = X.iloc[[70]]
    found = why(model, row)
    values = shap_values(model, row).for_class(found.decision)
    assert found.decision == model.predict(row)[0]
    assert found.output == pytest.approx(values.outputs[0])
    for reason in found.reasons:
        assert reason.effect == pytest.approx(values.values[0][list(X).index(reason.name)])
        assert reason.value == row[reason.name].iloc[0]


def test_no_path_changes_within_the_ranges(flowers):
    X, y = flowers
    forest = orfeon.RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
    row = X.iloc[[70]]
    leaves = forest.apply(row)
    for reason in why(forest, row).reasons:
        assert reason.low < reason.value <= reason.high
        for inside in (np.nextafter(reason.low, np.inf), reason.high):
            if np.isfinite(inside):
                assert np.array_equal(forest.apply(row.assign(**{reason.name: inside})), leaves)
        for outside in (reason.low, np.nextafter(reason.high, np.inf)):
            if np.isfinite(outside):
                assert (forest.apply(row.assign(**{reason.name: outside})) != leaves).any()


def test_votes_members_and_samples(flowers):
    X, y = flowers
    forest = orfeon.RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
    row = X.iloc[[70]]
    found = why(forest, row, X, y)
    votes = forest.classes_[forest.votes(row)[:, 0]]
    assert found.votes == {name: int((votes == name).sum()) for name in np.unique(votes)}
    assert found.members_for("virginica").tolist() == np.flatnonzero(votes == "virginica").tolist()
    weights = row_weights(forest, X, y, row).weights
    assert found.samples[0] == (int(weights.argmax()), y[weights.argmax()], weights.max())
    text = repr(found)
    assert text.startswith(f"Decision: {found.decision}\n  30 members vote: ")
    assert "no path changes from" in text
    assert "It would be " in text
    assert found._repr_html_().count("<li>") == text.count("\n  ")


def test_a_binary_score_is_that_of_the_decision():
    X, y = load_breast_cancer(return_X_y=True)
    model = orfeon.GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    for k in (0, 20):
        found = why(model, X[k])
        score = model.decision_function(X[k : k + 1])[0]
        assert found.output == pytest.approx(abs(score))
        assert found.votes is None
        with pytest.raises(ValueError, match="do not vote"):
            found.members_for(0)


def test_numbers():
    X, y = table()
    model = orfeon.BaggingRegressor(n_estimators=9, random_state=0).fit(X, y)
    found = why(model, X.iloc[[3]], X, y)
    assert found.decision == pytest.approx(model.predict(X.iloc[[3]])[0])
    assert found.expected + sum(one.effect for one in found.reasons) == pytest.approx(found.output)
    assert found.nearest is None
    assert sum(weight for *_, weight in found.samples) <= 1
    assert "a category" in repr(found)


@pytest.mark.parametrize("make", [orfeon.RandomForestClassifier, orfeon.GradientBoostingClassifier])
def test_a_calibrated_model_changes_its_own_decision(make):
    """Probabilities may decide otherwise than the majority of the votes, or the scores."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make(n_estimators=30, calibrate="sigmoid", random_state=0).fit(X, y)
    for k in (20, 40, 73):
        found = counterfactual(model, X[k], X=X)
        assert found.before == model.predict(X[k : k + 1])[0]
        assert model.predict(found.row[None])[0] == found.after != found.before
