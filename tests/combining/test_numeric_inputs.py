"""Tables as numbers: the same columns as scikit-learn's transformers make, and rows read once."""

import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import orfeon
from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from orfeon.combining.fitting import query
from orfeon.combining.numeric_inputs import NumericInputs


def table(n_rows=300, n_levels=4, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 3)) * [1.0, 1e6, 1e-3] + [0.0, 1e7, 5.0]
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    words = np.array([f"w{code:03d}" for code in range(n_levels)])
    shares = 1.0 / np.arange(1, n_levels + 1)
    frame = pandas.DataFrame(numbers, columns=["a", "b", "c"])
    frame["constant"] = 7.0
    for name, missing in (("word", 0.1), ("other", 0.0)):
        drawn = rng.choice(words, n_rows, p=shares / shares.sum())
        drawn = np.where(rng.random(n_rows) < missing, None, drawn)
        frame[name] = pandas.Categorical(drawn, categories=words)
    return frame[["word", "a", "b", "other", "c", "constant"]]


def transformers(most):
    scaled = Pipeline([("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=most, sparse_output=False
    )
    return ColumnTransformer(
        [("numbers", scaled, ["a", "b", "c", "constant"]), ("words", one_hot, ["word", "other"])]
    )


@pytest.mark.parametrize(("n_levels", "most"), [(4, 50), (30, 5), (60, 50), (1, 50), (3, 2)])
def test_columns_are_those_of_scikit_learn(n_levels, most):
    frame, new = table(n_levels=n_levels), table(200, n_levels + 3, seed=1)
    for name in ("word", "other"):  # categories of new rows that training did not have
        new[name] = new[name].astype(object)
        frame[name] = frame[name].astype(object)
    inputs = NumericInputs(most).fit(frame)
    known = {name: set(frame[name]) for name in ("word", "other")}
    for name, seen in known.items():  # which count as missing, as orfeon has it
        new.loc[~new[name].isin(seen), name] = np.nan
    reference = transformers(most).fit(frame)
    for rows in (frame, new, new.iloc[:1]):
        found, expected = inputs.transform(rows), reference.transform(rows)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found[:, :4], expected[:, :4], rtol=1e-12, atol=1e-12)
        # The same columns of zeros and ones, those of rare categories in another place.
        assert sorted(map(tuple, found[:, 4:].T)) == sorted(map(tuple, expected[:, 4:].T))


def test_arrays_and_odd_columns():
    X = np.array([[1.0, np.nan, 1e300], [2.0, np.nan, -1e300], [np.nan, np.nan, 1e300]])
    found = NumericInputs().fit(X).transform(X)
    assert found[:, 0].tolist() == [-1.224744871391589, 1.224744871391589, 0.0]
    assert (found[:, 1:] == 0).all()
    words = [["x"], ["y"], ["x"]]
    inputs = NumericInputs().fit(words)
    assert inputs.transform([["y"], ["z"], [None]]).tolist() == [[0, 1], [0, 0], [0, 0]]
    with pytest.raises(ValueError, match="features"):
        inputs.transform([["y", 1.0]])


def test_files_change_nothing(tmp_path):
    frame = table(n_levels=60)
    y = np.random.default_rng(0).integers(0, 2, len(frame))
    model = Pipeline([("inputs", NumericInputs()), ("model", GaussianNB())]).fit(frame, y)
    orfeon.save(model, tmp_path / "model.orfeon")
    again = orfeon.load(tmp_path / "model.orfeon")
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()


@pytest.mark.parametrize("as_array", [False, True])
def test_rows_read_once_give_the_same_bits(as_array, tmp_path):
    frame = table(400, 30)
    X = frame[["a", "b", "c", "constant"]].to_numpy() if as_array else frame
    rng = np.random.default_rng(2)
    y = np.array(["no", "maybe", "yes"])[rng.integers(0, 3, len(frame))]
    bayes = Pipeline([("inputs", NumericInputs()), ("model", GaussianNB())])
    models = [
        ("tree", CARTClassifier(max_depth=4)),
        ("forest", RandomForestClassifier(10, calibrate="sigmoid")),
        ("bag", BaggingClassifier(n_estimators=5)),
        ("boosted", AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=5)),
        ("gradient", GradientBoostingClassifier(n_estimators=5)),  # with target statistics
        ("bayes", bayes),
        ("stack", StackingClassifier([("tree", CARTClassifier()), ("bayes", bayes)], cv=2)),
        ("prior", DummyClassifier()),
    ]
    weights = rng.random(len(models))
    chosen = EnsembleSelectionClassifier(models, weights=weights, random_state=0).fit(X, y)
    rows = X[:50]
    expected = 0.0
    for share, model in zip(chosen.weights_, chosen.estimators_, strict=True):
        expected = expected + share * query(model, rows, chosen.classes_, "predict_proba")
    assert (chosen.predict_proba(rows) == expected).all()
    orfeon.save(chosen, tmp_path / "model.orfeon")
    again = orfeon.load(tmp_path / "model.orfeon")
    assert (again.predict_proba(rows) == expected).all()


def test_intervals_and_sets_of_a_selection(tmp_path):
    from orfeon.datasets import make_friedman1, make_waveform

    X, y = make_friedman1(400, random_state=0)
    X_new, y_new = make_friedman1(2000, random_state=1)
    tree = orfeon.CARTRegressor(max_depth=5)
    models = [("tree", tree), ("forest", orfeon.RandomForestRegressor(20))]
    chosen = EnsembleSelectionRegressor(models, random_state=0).fit(X, y)
    low, high = chosen.predict_interval(X_new, 0.8).T
    assert 0.75 < ((low <= y_new) & (y_new <= high)).mean() < 0.87
    # By hand: the 321st of 400 errors on samples that the models had not seen.
    errors = np.sort(np.abs(chosen.out_of_fold_predictions_ - y))
    np.testing.assert_allclose(high - low, 2 * errors[320], rtol=1e-12)
    orfeon.save(chosen, tmp_path / "model.orfeon")
    again = orfeon.load(tmp_path / "model.orfeon")
    assert (again.predict_interval(X_new, 0.8) == chosen.predict_interval(X_new, 0.8)).all()

    given = EnsembleSelectionRegressor(models, weights=[1, 1], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="pass them to keep_unseen"):
        given.predict_interval(X_new)
    found = given.keep_unseen(np.zeros(9), np.arange(9.0)).predict_interval(X_new[:5], 0.5)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], 8.0)
    found = given.keep_unseen(np.zeros(3), [0, 1, 2], [1, 2, 6]).predict_interval(X_new[:5], 0.5)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], 4.0)
    with pytest.raises(ValueError, match="in 1 columns"):
        given.keep_unseen(np.zeros((3, 2)), np.zeros(3))

    X, y = make_waveform(600, random_state=0)
    X_new, y_new = make_waveform(2000, random_state=1)
    models = [("tree", CARTClassifier(max_depth=5)), ("forest", RandomForestClassifier(20))]
    chosen = EnsembleSelectionClassifier(models, random_state=0).fit(X, y)
    sets = chosen.predict_set(X_new, 0.9)
    assert sets[np.arange(2000), y_new].mean() > 0.85
    assert sets.sum(axis=1).mean() < 2
    labels, accepted = chosen.predict_or_abstain(X_new, 0.2)
    assert np.mean(labels[accepted] != y_new[accepted]) < 0.2
    given = EnsembleSelectionClassifier(models, weights=[1, 1], random_state=0).fit(X, y)
    given.keep_unseen(chosen.out_of_fold_predictions_, y)
    assert given.predict_set(X_new, 0.9).shape == (2000, 3)
