"""From tables to inputs: numbers, gaps, categories, constants, and the edges of floats."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from tests.perceptrons.models import (
    N_ROWS,
    assert_same_model,
    classes,
    each_model,
    frame,
    samples,
    target,
)

from orfeon import (
    ParallelPerceptronClassifier,
    ParallelPerceptronRegressor,
    PPBoostClassifier,
    PPTSSClassifier,
)
from orfeon.data.schema import Schema
from orfeon.perceptrons.inputs import Inputs

NUMBERS = Schema((None, None))


def learn(X, weights=None, *, schema=NUMBERS, standardize=True, divide=False):
    weights = np.ones(len(X)) if weights is None else weights
    return Inputs.learn(X, schema, weights, standardize=standardize, divide=divide)


# -- the inputs ------------------------------------------------------------------------------------


def test_by_hand():
    X = np.array([[1.0, 10.0], [3.0, 30.0], [5.0, np.nan]])
    inputs = learn(X, np.array([1.0, 2.0, 1.0])).of(X)
    # Means 3 and 70/3; deviations sqrt(2) and sqrt(800/9).
    z = 2 / np.sqrt(2)
    expected = [[-z, -np.sqrt(2), -1], [0, np.sqrt(0.5), -1], [z, 0, -1]]
    np.testing.assert_allclose(inputs, expected, atol=1e-12)
    divided = learn(X, np.array([1.0, 2.0, 1.0]), divide=True).of(X)
    np.testing.assert_allclose(divided, inputs / np.sqrt(3), atol=1e-12)


def test_without_standardisation_gaps_are_at_the_mean():
    X = np.array([[1.0, 10.0], [4.0, 30.0], [np.nan, 20.0]])
    plain = learn(X, standardize=False)
    assert plain.of(X).tolist() == [[1, 10, -1], [4, 30, -1], [2.5, 20, -1]]
    assert plain.of(np.array([[np.nan, np.nan]])).tolist() == [[2.5, 20, -1]]


def test_categories_are_inputs_of_zero_and_one():
    schema = Schema((("no", "perhaps", "yes"), None))
    X = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [2.0, 8.0], [np.nan, 9.0]])
    inputs = learn(X, schema=schema, standardize=False)
    assert inputs.n_inputs == 5
    assert inputs.of(X).tolist() == [
        [1, 0, 0, 5, -1], [0, 1, 0, 6, -1], [0, 0, 1, 7, -1], [0, 0, 1, 8, -1],
        [0.25, 0.25, 0.5, 9, -1],
    ]  # fmt: skip
    standardised = learn(X, schema=schema)
    assert standardised.of(X)[-1, :3].tolist() == [0, 0, 0]
    np.testing.assert_allclose(standardised.of(X)[:4, :3].mean(axis=0), 0, atol=1e-15)


def test_constant_and_empty_columns_are_zero():
    X = np.array([[7.0, np.nan], [7.0, np.nan], [np.nan, np.nan]])
    assert learn(X).of(X).tolist() == [[0, 0, -1]] * 3


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300, 1.7e308])
@pytest.mark.parametrize("skewed", [False, True])
def test_z_scores_do_not_depend_on_the_unit(scale, skewed):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    if skewed:  # the mean is far from the middle
        X = np.where(rng.random((200, 2)) < 0.9, -1.0, 1.0) * rng.uniform(0.99, 1, (200, 2))
    expected = learn(X, divide=True).of(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = learn(X * scale, divide=True).of(X * scale)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[:, :2].std(axis=0), 1 / np.sqrt(3), rtol=1e-9)


def test_rows_far_away_have_inputs_that_can_be_squared():
    inputs = learn(np.array([[0.0, 1e-300], [1.0, 3e-300]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = inputs.of(np.array([[1.7e308, -1.7e308], [-1.7e308, 1.0]]))
    assert far.tolist() == [[1e100, -1e100, -1], [-1e100, 1e100, -1]]


# -- tables ----------------------------------------------------------------------------------------


@each_model
def test_frames_of_any_kind_are_learnt_alike(model):
    polars = pytest.importorskip("polars")
    X, signal = samples()
    y = target(model, signal)
    table = frame(X)
    one = clone(model).fit(table, y)
    other = clone(model).fit(polars.from_pandas(table), y)
    assert_same_model(one, other)
    assert one.feature_names_in_.tolist() == list(table.columns)
    assert one.n_features_in_ == other.n_features_in_ == 8
    np.testing.assert_array_equal(one.predict(table), other.predict(polars.from_pandas(table)))
    moved = table[table.columns[::-1]]
    with pytest.raises(ValueError, match="feature names"):
        one.predict(moved)


def test_a_frame_has_an_input_for_each_category_but_one_for_two():
    X, signal = samples()
    table = frame(X)
    model = ParallelPerceptronClassifier(random_state=0).fit(table, classes(signal))
    # Four numbers, three colours, one of two words, a flag, a constant, and -1.
    assert model.weights_.shape == (1, 3, 4 + 3 + 1 + 1 + 1 + 1)


def test_categories_are_learnt():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    colours = rng.choice(["red", "green", "blue", "white"], 300)
    y = np.isin(colours, ["red", "white"]) ^ (rng.random(300) < 0.05)
    table = pandas.DataFrame({"colour": colours, "noise": rng.normal(size=300)})
    for model in (
        ParallelPerceptronClassifier(random_state=0),
        PPTSSClassifier(random_state=0),
        PPBoostClassifier(random_state=0),
    ):
        assert model.fit(table, y).score(table, y) > 0.9
    codes = pandas.DataFrame({"colour": pandas.Categorical(colours).codes, "noise": table["noise"]})
    named = ParallelPerceptronClassifier(categorical_features=["colour"], random_state=0)
    assert named.fit(codes, y).weights_.shape[-1] == 6
    assert named.score(codes, y) > 0.9


def test_unseen_categories_are_missing():
    X, signal = samples()
    table = frame(X)
    strange = table.assign(word="never seen")
    missing = table.assign(word=[None] * N_ROWS)
    missing["word"] = missing["word"].astype(object)
    for model, y in (
        (ParallelPerceptronClassifier(random_state=0), classes(signal)),
        (PPTSSClassifier(random_state=0), classes(signal)),
        (PPBoostClassifier(random_state=0), classes(signal)),
        (ParallelPerceptronRegressor(random_state=0), signal),
    ):
        fitted = model.fit(table, y)
        np.testing.assert_array_equal(fitted.predict(strange), fitted.predict(missing))


def test_gaps_are_means():
    X, signal = samples()
    y = classes(signal)
    for standardize in (True, False):
        model = ParallelPerceptronClassifier(standardize=standardize, random_state=0).fit(X, y)
        gaps, means = X.copy(), X.copy()
        gaps[:, 1], means[:, 1] = np.nan, X[:, 1].mean()
        np.testing.assert_allclose(model.margins(gaps, y), model.margins(means, y), atol=1e-12)


def test_a_column_without_values_says_nothing():
    X, signal = samples()
    y = classes(signal)
    empty = np.column_stack([X, np.full(N_ROWS, np.nan)])
    model = ParallelPerceptronClassifier(random_state=0).fit(empty, y)
    filled = empty.copy()
    assert model.score(empty, y) > 0.75
    filled[:, -1] = np.nan
    np.testing.assert_array_equal(model.predict(filled), model.predict(empty))


# -- edges -----------------------------------------------------------------------------------------


def edges():
    rng = np.random.default_rng(4)
    X, _ = samples()
    both = X.copy()
    both[:, 0], both[::3, 1] = 1.0, np.nan
    return {
        "two rows": X[:2],
        "one feature": X[:, :1],
        "more features than rows": rng.normal(size=(20, 200)),
        "only constant columns": np.ones((40, 3)),
        "huge values": X * 1e300,
        "the largest floats": np.where(X > 0, 1.7e308, -1.7e308) * rng.uniform(0.9, 1, X.shape),
        "tiny values": X * 1e-300,
        "denormals": rng.integers(-50, 50, (40, 2)) * 5e-324,
        "neighbours": np.nextafter(1.0, 2.0) + np.spacing(1.0) * rng.integers(0, 9, (40, 2)),
        "negative zeros": np.where(X > 0, 0.0, -0.0),
        "a constant and a half empty column": both,
        "no value at all": np.full((10, 2), np.nan),
    }


#: Unscaled inputs of any size are batch mode's alone: steps of one sample are as long as it is.
EDGE_MODELS = [
    ParallelPerceptronClassifier(random_state=0),
    ParallelPerceptronClassifier(mode="incremental", rule="p_delta", random_state=0),
    ParallelPerceptronClassifier(standardize=False, random_state=0),
    ParallelPerceptronClassifier(standardize=False, divide_inputs=False, random_state=0),
    ParallelPerceptronRegressor(random_state=0),
    ParallelPerceptronRegressor(mode="incremental", random_state=0),
    ParallelPerceptronRegressor(standardize=False, random_state=0),
    PPTSSClassifier(random_state=0),
    PPBoostClassifier(random_state=0),
]


@pytest.mark.filterwarnings("ignore:.*no better than chance:UserWarning")
@pytest.mark.parametrize("name", edges())
@pytest.mark.parametrize("model", EDGE_MODELS, ids=str)
def test_edges_are_learnt(model, name):
    X = edges()[name]
    rng = np.random.default_rng(5)
    is_regressor = isinstance(model, ParallelPerceptronRegressor)
    y = rng.normal(size=len(X)) if is_regressor else np.arange(len(X)) % 2
    fitted = clone(model).fit(X, y)
    answers = fitted.predict(X)
    if is_regressor:
        assert y.min() <= answers.min() <= answers.max() <= y.max()
    else:
        assert set(answers) <= {0, 1}
        shares = fitted.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
        assert np.isfinite(fitted.decision_function(X)).all()
    inner = getattr(fitted, "estimator_", fitted)
    if hasattr(inner, "weights_"):
        lengths = np.linalg.norm(inner.weights_, axis=-1)
        np.testing.assert_allclose(lengths, 1.0, rtol=1e-9)
        assert np.isfinite(inner.energy_curve_).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e20, 1e300])
@pytest.mark.parametrize("mode", ["batch", "incremental"])
def test_the_unit_of_the_features_does_not_matter(mode, scale):
    X, signal = samples()
    y = classes(signal)
    model = ParallelPerceptronClassifier(mode=mode, max_iter=20, init=0.2, random_state=0)
    expected = clone(model).fit(X, y)
    scaled = clone(model).fit(X * scale, y)
    # Hashes of other numbers put the samples in another order, which only changes sums.
    if mode == "batch":
        np.testing.assert_allclose(scaled.weights_, expected.weights_, atol=1e-8)
        np.testing.assert_array_equal(scaled.predict(X * scale), expected.predict(X))
    else:
        assert scaled.score(X * scale, y) == pytest.approx(expected.score(X, y), abs=0.1)


@each_model
def test_rows_far_away_are_decided(model):
    X, signal = samples()
    fitted = clone(model).fit(X * 1e-3, target(model, signal))
    for factor in (1e300, 1.7e308):
        far = np.sign(X) * factor
        answers = fitted.predict(far)
        assert np.isfinite(answers).all()
        if hasattr(fitted, "decision_function"):
            assert np.isfinite(fitted.decision_function(far)).all()
            assert np.isfinite(fitted.predict_proba(far)).all()
