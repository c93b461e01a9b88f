"""Mixtures of experts: the models they contain, what they are for, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.combining.mixtures import BOTH, inputs_of, regimes, three_classes

from orfeon import CARTClassifier, CARTRegressor, ParallelPerceptronClassifier
from orfeon.combining.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from orfeon.combining.gating import Gates
from orfeon.combining.local_models import LinearLearner, SoftmaxLearner
from orfeon.combining.mixture_base import evaluate, maximise

# -- one expert ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [3, 400], ids=["few", "more than samples"])
def test_one_expert_is_logistic_regression(n_features):
    rng = np.random.default_rng(10)
    X, y = three_classes(rng)
    X = StandardScaler().fit_transform(np.column_stack([X, rng.normal(size=(200, 397))]))
    X = X[:, :n_features]
    weights = rng.integers(1, 4, 200)
    X = X - np.average(X, axis=0, weights=weights)
    X /= np.sqrt(np.average(X**2, axis=0, weights=weights))
    other = LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=weights)
    model = MixtureOfExpertsClassifier(n_experts=1, alpha=2.0, tol=1e-12, random_state=0)
    model.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(model.experts_.weights[0, :, :-1], other.coef_, atol=1e-5)
    np.testing.assert_array_equal(model.gate_proba(X), np.ones((200, 1)))


@pytest.mark.parametrize("n_features", [3, 400], ids=["few", "more than samples"])
def test_one_expert_is_ridge_regression(n_features):
    rng = np.random.default_rng(11)
    X, y, _ = regimes(rng, 200)
    X = np.column_stack([X, rng.normal(size=(200, 397))])[:, :n_features]
    weights = rng.integers(1, 4, 200)
    X = X - np.average(X, axis=0, weights=weights)
    X /= np.sqrt(np.average(X**2, axis=0, weights=weights))
    other = Ridge(alpha=3.0).fit(X, y, sample_weight=weights)
    model = MixtureOfExpertsRegressor(n_experts=1, alpha=3.0, random_state=0)
    model.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.experts_.weights[0, :-1], other.coef_, atol=1e-9)
    # Residuals, what the penalty adds, and three more that are a standard deviation each.
    spread = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
    squares = np.sum(weights * (y - other.predict(X)) ** 2) + 3.0 * (other.coef_**2).sum()
    expected = (squares + 3.0 * spread) / (weights.sum() + 3.0)
    assert model.variances_[0] == pytest.approx(expected, rel=1e-9)


def test_one_expert_without_a_penalty_is_least_squares():
    X, y, _ = regimes(np.random.default_rng(12), 100)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])  # many solutions, one prediction
    model = MixtureOfExpertsRegressor(n_experts=1, alpha=0.0).fit(X, y)
    other = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-9)
    assert model.variances_[0] == pytest.approx(np.mean((y - other.predict(X)) ** 2), rel=1e-9)


# -- what it is for --------------------------------------------------------------------------------


def test_two_linear_regimes_are_recovered():
    rng = np.random.default_rng(13)
    X, y, left = regimes(rng)
    model = MixtureOfExpertsRegressor(n_experts=2, alpha=0.01, random_state=0).fit(X, y)
    slopes = model.experts_.weights[:, :-1] / model.inputs_.spreads
    first = int(np.argmax(slopes[:, 0]))
    np.testing.assert_allclose(slopes[first], [2, 0, 1], atol=0.05)
    np.testing.assert_allclose(slopes[1 - first], [-1, 3, 0], atol=0.05)
    np.testing.assert_allclose(np.sqrt(model.variances_[[first, 1 - first]]), [0.1, 0.3], rtol=0.15)
    gate = np.subtract(*model.gates_.levels[0][0][[first, 1 - first], :-1])
    normal = gate / np.linalg.norm(gate)
    np.testing.assert_allclose(normal, np.array([-1, 1, 0]) / np.sqrt(2), atol=0.05)
    assert np.mean((model.gate_proba(X)[:, first] > 0.5) == left) > 0.98


def test_the_deviation_is_that_of_the_mixture():
    X, y, _ = regimes(np.random.default_rng(14), 300)
    model = MixtureOfExpertsRegressor(random_state=0).fit(X, y)
    predicted, deviation = model.predict(X[:5], return_std=True)
    np.testing.assert_array_equal(predicted, model.predict(X[:5]))
    rng = np.random.default_rng(0)
    shares, means = model.gate_proba(X[:5]), model.expert_predict(X[:5])
    for i in range(5):
        expert = rng.choice(4, size=200_000, p=shares[i])
        drawn = means[i, expert] + rng.normal(size=200_000) * np.sqrt(model.variances_[expert])
        assert drawn.mean() == pytest.approx(predicted[i], abs=5 * deviation[i] / np.sqrt(200_000))
        assert drawn.std() == pytest.approx(deviation[i], rel=0.01)


def test_deviations_are_honest_on_new_rows():
    rng = np.random.default_rng(15)
    X = rng.normal(size=(3000, 2))
    first = rng.random(3000) < 1 / (1 + np.exp(-3 * X[:, 0]))
    y = np.where(first, 2 * X[:, 1], 1 - X[:, 1]) + rng.normal(size=3000) * np.where(
        first, 0.3, 0.6
    )
    model = MixtureOfExpertsRegressor(n_experts=2, alpha=0.01, random_state=0)
    model.fit(X[:1500], y[:1500])
    predicted, deviation = model.predict(X[1500:], return_std=True)
    assert np.mean(((y[1500:] - predicted) / deviation) ** 2) == pytest.approx(1.0, abs=0.1)


def test_what_no_single_expert_can_do(friedman):
    """Exclusive or, where one logistic regression guesses; and a curved function."""
    rng = np.random.default_rng(16)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] * X[:, 1] > 0
    one, two = (
        MixtureOfExpertsClassifier(n_experts=n, random_state=0).fit(X[:500], y[:500])
        for n in (1, 2)
    )
    assert one.score(X[500:], y[500:]) < 0.6
    assert two.score(X[500:], y[500:]) > 0.96
    X, y = friedman
    half = len(X) // 2
    scores = [
        MixtureOfExpertsRegressor(n_experts=n, random_state=0).fit(X[:half], y[:half])
        .score(X[half:], y[half:])
        for n in (1, 4)
    ]  # fmt: skip
    assert scores[1] > scores[0] + 0.03


# -- weights, order, randomness --------------------------------------------------------------------


def model_bits(model: Any) -> bytes:
    parts = [*model.gates_.levels, model.experts_.weights, model.log_likelihood_curve_]
    return b"".join(part.tobytes() for part in parts)


def mixed_frame(rng: np.random.Generator, n: int) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "fine": rng.normal(size=n),
            "coarse": np.round(rng.normal(size=n), 1),
            "colour": pandas.Categorical.from_codes(rng.integers(0, 4, n), list("abcd")),
            "flag": rng.random(n) < 0.5,
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1)


@pytest.mark.parametrize("make_table", [lambda rng, n: rng.normal(size=(n, 3)), mixed_frame])
@pytest.mark.parametrize("mixture", BOTH)
def test_weights_are_copies_to_the_bit_in_any_order(mixture, make_table):
    rng = np.random.default_rng(17)
    X = make_table(rng, 70)
    y = rng.integers(0, 3, 70) if mixture is BOTH[0] else rng.normal(size=70)
    weights = rng.integers(0, 4, 70)
    model = mixture(n_experts=2, n_init=2, max_iter=20, random_state=3)
    expected = model_bits(model.fit(X, y, sample_weight=weights))
    copies = rng.permutation(np.repeat(np.arange(70), weights))
    moved = rng.permutation(70)
    for rows, given in ((copies, None), (moved, weights[moved])):
        table = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        assert model_bits(model.fit(table, y[rows], sample_weight=given)) == expected


@pytest.mark.parametrize("mixture", BOTH)
def test_the_unit_of_fractional_weights_does_not_matter(mixture):
    rng = np.random.default_rng(18)
    X, y = three_classes(rng, 80)
    model = mixture(n_experts=2, max_iter=20, random_state=0)
    expected = model.fit(X, y).predict(X)
    for weight in (0.25, 2.0**-500):
        again = model.fit(X, y, sample_weight=np.full(80, weight)).predict(X)
        np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("mixture", BOTH)
def test_random_state_fixes_everything_and_more_starts_are_no_worse(mixture):
    X, y = three_classes(np.random.default_rng(19), 100)
    gains = []
    for seed in (3, 4, 5):
        values = []
        for n_init in (1, 3):
            model = mixture(n_init=n_init, max_iter=10, random_state=seed).fit(X, y)
            assert model_bits(model) == model_bits(mixture(**model.get_params()).fit(X, y))
            values.append(model.log_likelihood_curve_[-1])
        gains.append(values[1] - values[0])
    assert min(gains) >= 0
    assert max(gains) > 0


@pytest.mark.parametrize("mixture", BOTH)
def test_iterations_end_by_tol_or_max_iter(mixture):
    X, y = three_classes(np.random.default_rng(20), 100)
    short = mixture(n_init=1, max_iter=3, tol=0.0, random_state=0).fit(X, y)
    assert (short.n_iter_, short.converged_) == (3, False)
    long = mixture(n_init=1, max_iter=500, tol=1e-3, random_state=0).fit(X, y)
    assert long.converged_
    steps = np.diff(long.log_likelihood_curve_)
    assert steps[-1] < 1e-3 <= steps[:-1].min()


# -- tables ----------------------------------------------------------------------------------------


def test_categories_and_missing_values():
    rng = np.random.default_rng(21)
    frame = mixed_frame(rng, 400)
    sides = frame["colour"].isin(["a", "b"]).to_numpy()
    slope = np.where(sides, 1.0, -1.0)
    y = slope * frame["fine"].fillna(0.0).to_numpy() > 0
    model = MixtureOfExpertsClassifier(alpha=0.1, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.85
    strange = frame.head(3).assign(colour=["z", None, "a"])
    assert np.isfinite(model.predict_proba(strange)).all()


@pytest.mark.parametrize("mixture", BOTH)
def test_extreme_tables(mixture):
    rng = np.random.default_rng(22)
    X = rng.normal(size=(40, 3))
    tables = {
        "one row": X[:1],
        "two rows": X[:2],
        "5000 features": rng.normal(size=(20, 5000)),
        "constant": np.ones((40, 2)),
        "huge": X * 1e300,
        "tiny": X * 1e-300,
        "denormals": rng.integers(-50, 50, (40, 2)) * 5e-324,
        "no value": np.full((10, 2), np.nan),
    }
    for name, table in tables.items():
        y = np.arange(len(table)) % 3
        model = mixture(n_init=1, max_iter=10, random_state=0).fit(table, y)
        answers = model.predict_proba(table) if mixture is BOTH[0] else model.predict(table)
        assert np.isfinite(answers).all(), name
    far = mixture(n_init=1, max_iter=10).fit(X, np.arange(40) % 3)
    answers = (far.predict_proba if mixture is BOTH[0] else far.predict)(np.full((1, 3), 1e300))
    assert np.isfinite(answers).all()


def test_one_class_and_one_value():
    X = np.random.default_rng(23).normal(size=(20, 2))
    model = MixtureOfExpertsClassifier(random_state=0).fit(X, ["same"] * 20)
    np.testing.assert_allclose(model.predict_proba(X), np.ones((20, 1)), atol=1e-15)
    number = MixtureOfExpertsRegressor(random_state=0).fit(X, np.full(20, 7.5))
    np.testing.assert_allclose(number.predict(X), 7.5, atol=1e-9)


# -- experts of any kind ---------------------------------------------------------------------------


def test_an_expert_of_scikit_learn_gives_the_same_mixture():
    rng = np.random.default_rng(24)
    X, y = three_classes(rng, 150)
    X = StandardScaler().fit_transform(X)
    setting = {"n_experts": 2, "n_init": 1, "max_iter": 8, "tol": 0.0, "random_state": 1}
    ours = MixtureOfExpertsClassifier(**setting).fit(X, y)
    expert = LogisticRegression(tol=1e-10, solver="newton-cholesky")
    theirs = MixtureOfExpertsClassifier(expert, **setting).fit(X, y)
    np.testing.assert_allclose(theirs.predict_proba(X), ours.predict_proba(X), atol=1e-3)
    assert [type(e).__name__ for e in theirs.experts_.estimators] == ["LogisticRegression"] * 2
    y = X[:, 0] * X[:, 1]
    ours = MixtureOfExpertsRegressor(alpha=0.01, **setting).fit(X, y)
    theirs = MixtureOfExpertsRegressor(Ridge(0.01), alpha=0.01, **setting).fit(X, y)
    # The penalty on the squared weights is not in the variance of an expert that has none.
    np.testing.assert_allclose(theirs.predict(X), ours.predict(X), atol=2e-3)


def test_trees_as_experts_take_tables_as_they_are():
    rng = np.random.default_rng(25)
    frame = mixed_frame(rng, 200)
    y = frame["colour"].isin(["a", "c"]).to_numpy() ^ (frame["fine"] > 0).to_numpy()
    model = MixtureOfExpertsClassifier(CARTClassifier(max_depth=2), n_experts=2, random_state=0)
    assert model.fit(frame, y).score(frame, y) > 0.85
    assert all(tree.get_depth() <= 2 for tree in model.experts_.estimators)
    rows = [list(row) for row in frame.astype(object).to_numpy()]
    model.set_params(n_init=1, max_iter=3).fit(rows, y)
    assert np.isfinite(model.predict_proba(rows)).all()
    signal = np.where(frame["colour"] == "b", 5.0, frame["coarse"].fillna(0.0))
    number = MixtureOfExpertsRegressor(CARTRegressor(max_depth=2), n_experts=2, random_state=0)
    assert number.fit(frame, signal).score(frame, signal) > 0.8
    assert number.predict(frame, return_std=True)[1].min() > 0


def test_a_random_expert_is_fixed_by_random_state_and_a_step_that_loses_is_not_kept():
    X, y = three_classes(np.random.default_rng(26), 150)
    expert = CARTClassifier(max_depth=1, max_features=1)
    given = {"n_init": 1, "max_iter": 15, "random_state": 0}
    model = MixtureOfExpertsClassifier(expert, **given).fit(X, y)
    again = MixtureOfExpertsClassifier(expert, **given).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    curve = model.log_likelihood_curve_
    kept = np.log(model.predict_proba(X)[np.arange(150), y]).mean()
    penalty = 0.5 * (model.gates_.levels[0][:, :, :-1] ** 2).sum() / 150
    assert kept - penalty == pytest.approx(curve.max(), abs=1e-6)
    assert (np.diff(curve)[:-1] >= 0).all()


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mixture", "expert", "message"),
    [
        (BOTH[0], KNeighborsClassifier(), r"expert=KNeighbors.* takes no sample_weight in fit"),
        (BOTH[1], KNeighborsRegressor(), r"expert=KNeighbors.* takes no sample_weight in fit"),
        (BOTH[0], LinearSVC(), r"expert=LinearSVC\(\) has no predict_proba"),
        (BOTH[0], CARTRegressor(), r"expert=CARTRegressor\(\) is not a classifier"),
        (BOTH[1], CARTClassifier(), r"expert=CARTClassifier\(\) is not a regressor"),
        (BOTH[0], 3, r"'expert' parameter .* must be an object implementing 'fit' and 'predict'"),
    ],
)
def test_experts_that_cannot_be_any_are_refused(mixture, expert, message):
    with pytest.raises(ValueError, match=message):
        mixture(expert).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("mixture", BOTH)
@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("n_experts", 0, r"int in the range \[1, inf\). Got 0"),
        ("alpha", -1.0, r"float in the range \[0.0, inf\). Got -1.0"),
        ("alpha", np.nan, "Got nan"),
        ("n_init", 0, r"int in the range \[1, inf\). Got 0"),
        ("max_iter", 0, r"int in the range \[1, inf\). Got 0"),
        ("tol", -1e-3, r"float in the range \[0.0, inf\). Got -0.001"),
    ],
)
def test_parameters_out_of_range_are_refused(mixture, parameter, value, message):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter .*{message}"):
        mixture(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


def test_targets_of_responsibilities_are_checked():
    X, y = three_classes(np.random.default_rng(27), 50)
    model = MixtureOfExpertsClassifier(n_init=1, max_iter=5).fit(X, y)
    with pytest.raises(ValueError, match="y has the class 9, which is not among"):
        model.responsibilities(X, np.full(50, 9))
    with pytest.raises(ValueError, match="y has 3 values and X has 50 rows"):
        model.responsibilities(X, y[:3])


@pytest.mark.parametrize("mixture", BOTH)
def test_a_fit_that_fails_leaves_the_mixture_as_it_was(mixture):
    X, y = three_classes(np.random.default_rng(28), 50)
    model = mixture(n_init=1, max_iter=5, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="y has 10 values and X has 50 rows"):
        model.fit(X, y[:10])
    np.testing.assert_array_equal(model.predict(X), before)


def test_the_penalty_keeps_an_expert_from_a_few_samples_on_a_line():
    """Without it the density on a line through two points has no limit."""
    rng = np.random.default_rng(29)
    X, y = rng.normal(size=(30, 1)), rng.normal(size=30)
    inputs = inputs_of((X - X.mean()) / X.std())
    shares = np.zeros((30, 1))
    shares[:2] = 1.0
    for alpha, least in ((0.0, 0.0), (1.0, 0.3)):
        learner = LinearLearner(inputs, (y - y.mean()) / y.std(), alpha)
        variance = learner.fit(shares, None, 1e-12).variances[0]
        assert variance == pytest.approx(1e-12) if alpha == 0 else variance > least


def test_a_mixture_begins_with_the_gates_that_it_is_given():
    X, y = three_classes(np.random.default_rng(30), 60)
    learner = SoftmaxLearner(inputs_of(X), y, 1.0, 3)
    gates = Gates.draw(2, 1, 4, 1.0, np.random.default_rng(0))
    experts = learner.fit(np.exp(gates.log_shares(learner.inputs)), None, 1e-12)
    start = evaluate(gates, experts, learner, np.ones(60))[0]
    mixture = maximise(gates, learner, np.ones(60), tol=1e-9, max_iter=1)
    assert mixture.curve[0] == pytest.approx(start, abs=1e-8)


def test_perceptrons_are_refused_or_taken_by_what_they_can():
    X, y = three_classes(np.random.default_rng(31), 60)
    expert = ParallelPerceptronClassifier(max_iter=20)
    model = MixtureOfExpertsClassifier(expert, n_experts=2, n_init=1, max_iter=3, random_state=0)
    assert model.fit(X, y).predict_proba(X).shape == (60, 3)
