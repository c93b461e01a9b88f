"""PrunedClassifier and PrunedRegressor: an ensemble that is pruned once it is trained."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import ensemble as sklearn_ensemble
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.shared import assert_same_forest

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    PrunedClassifier,
    PrunedRegressor,
    RandomForestClassifier,
    prune,
)
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ordering import BoostingBased, MarginDistance, ReduceError

CART = CARTClassifier(pruning="cv", n_folds=3)
T = 20
BAG = BaggingClassifier(CART, T)
NAMED = [(f"tree{k}", DecisionTreeClassifier(max_depth=k + 1)) for k in range(4)]


@pytest.fixture(scope="module")
def train():
    X, y = make_waveform(120, random_state=0)
    return X[:, :10], np.array(["one", "two", "six"])[y]


@pytest.fixture(scope="module")
def fresh():
    return make_waveform(300, random_state=1)[0][:, :10]


@pytest.fixture(scope="module")
def numbers():
    return make_friedman1(90, random_state=0)


# -- fit and prune ---------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ["train", "out_of_bag"])
@pytest.mark.parametrize(("rule", "keep"), [("margin_distance", 0.2), ("reduce_error", "auto")])
@pytest.mark.parametrize(
    "base", [BAG, sklearn_ensemble.RandomForestClassifier(T, max_depth=4)], ids=["ours", "sklearn"]
)
def test_it_is_fitting_and_pruning_by_hand(base, rule, keep, on, train, fresh):
    model = PrunedClassifier(base, rule=rule, keep=keep, on=on, random_state=3).fit(*train)
    whole = clone(base).set_params(random_state=3).fit(*train)
    small = prune(whole, *train, rule=rule, keep=keep, on=on)
    assert model.kept_.tolist() == small.kept_.tolist()
    assert model.order_.order.tolist() == small.order_.order.tolist()
    assert model.error_curve_.tolist() == small.error_curve_.tolist()
    np.testing.assert_array_equal(model.predict(fresh), small.predict(fresh))
    np.testing.assert_array_equal(model.predict_proba(fresh), small.predict_proba(fresh))
    assert len(model) == len(small.kept_) == len(model.estimators_)
    assert type(model.ensemble_) is type(base)
    assert model.order_.source is None


@pytest.mark.parametrize("on", ["train", "out_of_bag"])
def test_regressors_too(on, numbers):
    X, y = numbers
    bag = BaggingRegressor(CARTRegressor(max_depth=4), T)
    model = PrunedRegressor(bag, keep=6, on=on, random_state=1).fit(X, y)
    whole = clone(bag).set_params(random_state=1).fit(X, y)
    small = prune(whole, X, y, rule="reduce_error", keep=6, on=on)
    assert model.kept_.tolist() == small.kept_.tolist()
    np.testing.assert_array_equal(model.predict(X), small.predict(X))
    expected = whole.predictions(X)[model.kept_].mean(axis=0)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-12)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "predict_proba")


def test_weights_reach_the_ensemble_and_the_order(train):
    X, y = train
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = PrunedClassifier(BAG, random_state=0).fit(X, y, sample_weight=weights)
    whole = clone(BAG).set_params(random_state=0).fit(X, y, sample_weight=weights)
    small = prune(whole, X, y, sample_weight=weights)
    assert model.kept_.tolist() == small.kept_.tolist()
    assert_same_forest(model.forest_, small.forest_)


def test_a_class_of_no_weight_is_no_class(train):
    X, y = train
    weights = (y != "six").astype(int)
    model = PrunedClassifier(BAG, random_state=0).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == ["one", "two"]
    without = PrunedClassifier(BAG, random_state=0).fit(X[weights > 0], y[weights > 0])
    assert_same_forest(model.forest_, without.forest_)


def test_what_is_given_stays_as_it_is(train):
    base = clone(BAG)
    model = PrunedClassifier(base).fit(*train)
    assert model.estimator is base
    assert not hasattr(base, "members_")
    assert base.random_state is None
    assert base.n_estimators == T
    assert len(model.order_) == T


def test_bags_of_two_hundred_pruned_trees_are_the_default(train, numbers):
    X, y = train
    model = PrunedClassifier(random_state=0).fit(X[:30], y[:30])
    assert (len(model), len(model.order_)) == (40, 200)
    assert isinstance(model.ensemble_, BaggingClassifier)
    assert model.ensemble_.estimator.pruning == "cv"
    assert model.order_.rule == MarginDistance(0.075)
    X, y = numbers
    model = PrunedRegressor(random_state=0).fit(X[:30], y[:30])
    assert (len(model), len(model.order_)) == (40, 200)
    assert isinstance(model.ensemble_, BaggingRegressor)
    assert model.ensemble_.estimator.pruning == "cv"
    assert model.order_.rule == ReduceError()


@pytest.mark.parametrize(
    ("keep", "size"), [(1, 1), (1.0, T), (0.2, 4), (0.125, 3), (0.12, 2), (T, T), (7, 7)]
)
def test_one_is_a_member_and_one_point_nought_is_all(keep, size, train):
    assert len(PrunedClassifier(BAG, keep=keep, random_state=0).fit(*train)) == size


def test_the_size_of_the_rule(train):
    model = PrunedClassifier(BAG, rule="orientation", keep="rule", random_state=0).fit(*train)
    assert len(model) == model.order_.own_size < T // 2


# -- what is said of the members kept --------------------------------------------------------------


def test_trees_and_importances_are_those_of_the_members_kept(train, fresh):
    model = PrunedClassifier(BAG, keep=5, random_state=0).fit(*train)
    whole = clone(BAG).set_params(random_state=0).fit(*train)
    assert_same_forest(model.forest_, whole.forest_.subset(model.kept_))
    np.testing.assert_array_equal(model.apply(fresh), whole.apply(fresh)[:, model.kept_])
    nodes, starts = model.decision_path(fresh)
    assert nodes.shape == (300, starts[-1])
    assert len(starts) == 6
    np.testing.assert_array_equal(model.feature_importances_, model.ensemble_.feature_importances_)
    assert model.feature_importances_.sum() == pytest.approx(1)
    with np.errstate(divide="ignore"):
        expected = np.log(model.predict_proba(fresh))
    np.testing.assert_array_equal(model.predict_log_proba(fresh), expected)


def test_methods_are_those_that_the_ensemble_has(train):
    named = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())]
    hard = PrunedClassifier(sklearn_ensemble.VotingClassifier(named), keep=1)
    soft = PrunedClassifier(sklearn_ensemble.VotingClassifier(named, voting="soft"), keep=1)
    assert not hasattr(hard, "predict_proba")
    assert not hasattr(hard.fit(*train), "predict_log_proba")
    assert hasattr(soft, "predict_proba")
    assert hasattr(soft.fit(*train), "predict_log_proba")
    assert not hasattr(soft, "apply")
    assert not hasattr(soft, "decision_path")
    assert not hasattr(soft, "feature_importances_")
    assert hasattr(PrunedClassifier(), "apply")


def test_features_of_the_data(train):
    pandas = pytest.importorskip("pandas")
    X, y = train
    frame = pandas.DataFrame(X, columns=list("abcdefghij"))
    model = PrunedClassifier(BAG, random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdefghij")
    assert model.n_features_in_ == 10
    assert model.classes_.tolist() == ["one", "six", "two"]
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        model.predict(frame[list("bacdefghij")])
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 9 features, but BaggingClassifier is expecting 10"):
        model.predict(X[:, :9])


def test_it_is_pickled_and_cloned(train, fresh):
    rule = BoostingBased(weighted_vote=True)
    model = PrunedClassifier(BAG, rule=rule, keep=5, random_state=0).fit(*train)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(fresh), model.predict_proba(fresh))
    assert loaded.kept_.tolist() == model.kept_.tolist()
    assert loaded.error_curve_.tolist() == model.error_curve_.tolist()
    again = clone(model)
    assert not hasattr(again, "kept_")
    assert again.get_params()["rule"] == rule
    np.testing.assert_array_equal(
        again.fit(*train).predict_proba(fresh), model.predict_proba(fresh)
    )


# -- weighted votes --------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ["train", "out_of_bag"])
def test_votes_weigh_what_boosting_gave_them(on, train, fresh):
    rule = BoostingBased(weighted_vote=True)
    model = PrunedClassifier(BAG, rule=rule, keep=7, on=on, random_state=0).fit(*train)
    whole = clone(BAG).set_params(random_state=0).fit(*train)
    errors = model.order_.criterion[:7]
    weights = np.maximum(np.log((1 - errors) / errors), 0)
    assert len(set(weights.round(6))) >= 6
    counts = np.zeros((len(fresh), 3))
    for vote, weight in zip(whole.votes(fresh)[model.kept_], weights, strict=True):
        for i, code in enumerate(vote):
            counts[i, code] += weight
    shares = counts / weights.sum()
    np.testing.assert_allclose(model.predict_proba(fresh), shares, atol=1e-9)
    np.testing.assert_array_equal(model.predict(fresh), model.classes_[shares.argmax(axis=1)])
    assert (model.predict(fresh) != model.ensemble_.predict(fresh)).any()
    if on == "train":
        assert model.error_curve_[6] == pytest.approx(1 - model.score(*train), abs=1e-15)


def test_weights_are_put_on_votes_of_any_ensemble(train, fresh):
    forest = sklearn_ensemble.RandomForestClassifier(T, max_depth=2, random_state=0)
    model = PrunedClassifier(forest, rule=BoostingBased(weighted_vote=True), keep=3)
    model.fit(*train)
    votes = np.array([tree.predict(fresh) for tree in model.ensemble_.estimators_])
    weights = model.order_.member_weights[:3]
    counts = [((votes == code) * weights[:, None]).sum(axis=0) for code in range(3)]
    np.testing.assert_array_equal(model.predict(fresh), model.classes_[np.argmax(counts, axis=0)])


# -- searches, pipelines, randomness ---------------------------------------------------------------


def test_a_search_over_rule_size_and_ensemble(train):
    X, y = train
    grid = {
        "rule": ["margin_distance", ReduceError()],
        "keep": [3, 0.5, "auto"],
        "estimator__n_estimators": [6, 10],
    }
    folds = KFold(2, shuffle=True, random_state=0)
    model = PrunedClassifier(BaggingClassifier(CARTClassifier(max_depth=3)), random_state=0)
    search = GridSearchCV(model, grid, cv=folds, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert len(search.best_estimator_.order_) == search.best_params_["estimator__n_estimators"]
    at = search.cv_results_["params"].index(
        {"rule": ReduceError(), "keep": 0.5, "estimator__n_estimators": 10}
    )
    scores = []
    for rows, others in folds.split(X):
        bag = BaggingClassifier(CARTClassifier(max_depth=3), 10, random_state=0)
        small = prune(bag.fit(X[rows], y[rows]), X[rows], y[rows], rule="reduce_error", keep=5)
        scores.append(small.score(X[others], y[others]))
    assert search.cv_results_["mean_test_score"][at] == pytest.approx(np.mean(scores), abs=1e-12)


def test_in_a_pipeline_and_around_one(train, fresh):
    model = PrunedClassifier(BAG, keep=4, random_state=0)
    scaler = StandardScaler().fit(train[0])
    alone = clone(model).fit(scaler.transform(train[0]), train[1])
    within = make_pipeline(StandardScaler(), clone(model)).fit(*train)
    around = clone(model).set_params(estimator=make_pipeline(StandardScaler(), BAG)).fit(*train)
    expected = alone.predict_proba(scaler.transform(fresh))
    np.testing.assert_array_equal(within.predict_proba(fresh), expected)
    assert within[-1].kept_.tolist() == alone.kept_.tolist()
    assert type(around.ensemble_).__name__ == "Pipeline"
    assert len(around.ensemble_[-1]) == len(around) == 4
    again = clone(around).fit(*train)
    np.testing.assert_array_equal(around.predict_proba(fresh), again.predict_proba(fresh))
    assert (around.n_features_in_, around.classes_.tolist()) == (10, ["one", "six", "two"])


@pytest.mark.parametrize("on", ["train", "validation"])
def test_the_random_state_fixes_everything(on, train, fresh):
    forests = [(name, RandomForestClassifier(2)) for name in "abcde"]
    voting = sklearn_ensemble.VotingClassifier(forests, voting="soft")
    for base in (BAG, make_pipeline(StandardScaler(), BAG), voting):
        for make in (lambda: 7, lambda: np.random.RandomState(7)):
            models = [
                PrunedClassifier(base, keep=3, on=on, random_state=make()).fit(*train)
                for _ in range(2)
            ]
            answers = [model.predict_proba(fresh) for model in models]
            np.testing.assert_array_equal(*answers)
            np.testing.assert_array_equal(models[0].error_curve_, models[1].error_curve_)
        other = PrunedClassifier(base, keep=3, on=on, random_state=8).fit(*train)
        assert (other.predict_proba(fresh) != answers[0]).any()
    # Members of one kind are not all drawn alike.
    assert len({e.forest_.n_leaves.sum() for e in other.ensemble_.estimators_}) > 1
    fixed = BaggingClassifier(CART, T, random_state=5)
    one, two = (PrunedClassifier(fixed).fit(*train).predict(fresh) for _ in range(2))
    np.testing.assert_array_equal(one, two)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [PrunedClassifier(), PrunedRegressor(BaggingRegressor())])
def test_what_is_not_fitted_says_so(model, train):
    for name in (
        "predict", "predict_proba", "predict_log_proba", "apply", "decision_path", "votes",
        "staged_predict",
    ):  # fmt: skip
        if hasattr(model, name):
            with pytest.raises(NotFittedError, match="is not fitted yet"):
                getattr(model, name)(train[0])
    for query in (
        lambda: model.error_curve_, lambda: model.estimators_, lambda: model.forest_,
        lambda: model.feature_importances_, lambda: len(model),
    ):  # fmt: skip
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            query()


def test_ensembles_of_the_wrong_kind_are_refused(train, numbers):
    with pytest.raises(ValueError, match=r"BaggingRegressor.* is not a classifier; PrunedClassif"):
        PrunedClassifier(BaggingRegressor()).fit(*train)
    with pytest.raises(ValueError, match=r"n_estimators=20\) is not a regressor; PrunedRegress"):
        PrunedRegressor(BAG).fit(*numbers)
    with pytest.raises(ValueError, match=r"KMeans.* is not a regressor; PrunedRegressor needs one"):
        PrunedRegressor(KMeans(2)).fit(*numbers)
    boosting = sklearn_ensemble.GradientBoostingClassifier(n_estimators=1)
    with pytest.raises(TypeError, match="GradientBoostingClassifier cannot be selected"):
        PrunedClassifier(boosting).fit(*train)
    with pytest.raises(TypeError, match="of type LinearRegression, not a fitted ensemble"):
        PrunedRegressor(LinearRegression()).fit(*numbers)
    with pytest.raises(ValueError, match=r"'estimator' parameter .* must be .* 'fit' and 'pre"):
        PrunedClassifier([GaussianNB()]).fit(*train)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("on", "oob", r"must be a str among \{.*'out_of_bag'.*\}. Got 'oob'"),
        ("keep", 0, r"'keep' .* in the range \(0.0, 1.0\], an int in the range \[1, inf\).* Got 0"),
        ("keep", 1.5, r"'keep' .* Got 1.5"),
        ("keep", "fifth", r"'keep' .* a str among \{.*'auto'.*\}. Got 'fifth'"),
        ("keep", [1, 2], r"'keep' .* Got \[1, 2\]"),
        ("keep", True, r"keep=True is not allowed; give a share above 0"),
        ("keep", T + 1, rf"keep={T + 1} is not allowed; .* from 1 to {T}"),
        ("keep", "rule", r'keep="rule" needs a rule with a size of its own; MarginDistance'),
        ("rule", "best", r"rule='best' is not known; rules are reduce_error"),
        ("rule", 3, r"'rule' .* must be an instance of 'str' or .*Rule'. Got 3"),
        ("validation_fraction", 0, r"'validation_fraction' .* range \(0.0, 1.0\). Got 0"),
        ("validation_fraction", 1.0, r"'validation_fraction' .* range \(0.0, 1.0\). Got 1.0"),
        ("random_state", "dice", r"'random_state' .* Got 'dice'"),
    ],
)
def test_bad_parameters_are_refused(parameter, value, message, train):
    model = PrunedClassifier(BAG).set_params(**{parameter: value})
    with pytest.raises(ValueError, match=message):
        model.fit(*train)


def test_rules_for_classes_are_refused_before_anything_is_trained(numbers):
    class Untrained(BaggingRegressor):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("it was trained")

    with pytest.raises(ValueError, match="rule='kappa' needs classes"):
        PrunedRegressor(Untrained(), rule="kappa").fit(*numbers)


def test_votes_with_weights_of_their_own_are_not_made_equal_unsaid(train):
    model = PrunedClassifier(BAG, rule=BoostingBased(weighted_vote=True), random_state=0)
    model.fit(*train)
    with pytest.raises(ValueError, match=r"weights the votes.* pass its ensemble_"):
        prune(model, *train)
    assert len(prune(model.ensemble_, *train, keep=2)) == 2


def test_rules_for_classes_are_refused_by_regressors(numbers):
    with pytest.raises(ValueError, match=r"rule='kappa' needs classes.*reduce_error, complementa"):
        PrunedRegressor(BaggingRegressor(n_estimators=3), rule="kappa").fit(*numbers)


def test_weights_that_the_ensemble_does_not_take_are_refused(train):
    model = PrunedClassifier(make_pipeline(StandardScaler(), BAG))
    with pytest.raises(ValueError, match=r"sample_weight has fractions, but estimator=Pipeline"):
        model.fit(*train, sample_weight=np.linspace(0.5, 1.5, 120))
    with pytest.raises(ValueError, match=r"[Nn]egative values"):
        model.fit(*train, sample_weight=-np.ones(120))


def test_whole_weights_are_copies_for_an_ensemble_that_takes_none(train, fresh):
    X, y = train
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    for base in (make_pipeline(StandardScaler(), BAG), sklearn_ensemble.VotingClassifier(NAMED)):
        for on in ("train", "validation"):
            model = PrunedClassifier(base, on=on, keep=2, random_state=0)
            copied = clone(model).fit(X[rows], y[rows])
            model.fit(X, y, sample_weight=weights)
            assert model.kept_.tolist() == copied.kept_.tolist()
            np.testing.assert_array_equal(model.predict(fresh), copied.predict(fresh))
    left_out = PrunedClassifier(make_pipeline(BAG), on="out_of_bag", keep="auto", random_state=0)
    copied = clone(left_out).fit(X[rows], y[rows])
    left_out.fit(X, y, sample_weight=weights)
    assert left_out.order_.order.tolist() == copied.order_.order.tolist()
    assert left_out.kept_.tolist() == copied.kept_.tolist()


# -- ensembles that are fitted already -------------------------------------------------------------


@pytest.mark.parametrize("on", ["train", "out_of_bag", "validation"])
@pytest.mark.parametrize(
    "base", [BAG, sklearn_ensemble.RandomForestClassifier(T, max_depth=4)], ids=["ours", "sklearn"]
)
def test_a_frozen_ensemble_is_pruned_as_it_is(base, on, train, fresh):
    X, y = train
    whole = clone(base).set_params(random_state=1).fit(X, y)
    before = whole.predict_proba(fresh)
    model = PrunedClassifier(
        FrozenEstimator(whole), keep=5, on=on, n_jobs=2, verbose=3, random_state=8
    )
    # Out of bag they are those of training, which had none.
    weights = None if on == "out_of_bag" else 1 + np.arange(len(y)) % 2
    model.fit(X, y, sample_weight=weights)
    where = "out_of_bag" if on == "out_of_bag" else "train"
    small = prune(whole, X, y, keep=5, on=where, sample_weight=weights)
    assert model.kept_.tolist() == small.kept_.tolist()
    assert type(model.ensemble_) is type(base)
    np.testing.assert_array_equal(model.predict_proba(fresh), small.predict_proba(fresh))
    np.testing.assert_array_equal(whole.predict_proba(fresh), before)
    assert (whole.random_state, whole.n_jobs, whole.verbose) == (1, None, 0)
    again = clone(model).fit(X, y)
    assert again.estimator.estimator is whole
    assert model.classes_.tolist() == ["one", "six", "two"]


def test_frozen_members_were_trained_on_what_they_tell(train):
    X, y = train
    forest = sklearn_ensemble.RandomForestClassifier(T, max_depth=4, random_state=0).fit(X, y)
    model = PrunedClassifier(FrozenEstimator(forest), keep="auto")
    size = {on: len(clone(model).set_params(on=on).fit(X, y)) for on in ("train", "validation")}
    assert size["train"] == len(prune(forest, X, y, keep="auto"))
    assert size["train"] != size["validation"]  # where all are held for new
    with pytest.raises(ValueError, match="is not the training set"):
        clone(model).set_params(on="out_of_bag").fit(X[::-1], y[::-1])
    with pytest.raises(NotFittedError):
        PrunedClassifier(FrozenEstimator(clone(forest))).fit(X, y)


# -- what is handed on -----------------------------------------------------------------------------


def test_jobs_and_words_are_handed_on(train, fresh, capsys):
    pipeline = make_pipeline(StandardScaler(), BAG)
    voting = sklearn_ensemble.VotingClassifier(NAMED)
    plain = PrunedClassifier(BAG, keep=4, random_state=0).fit(*train)
    model = PrunedClassifier(BAG, keep=4, n_jobs=2, verbose=1, random_state=0).fit(*train)
    assert (model.ensemble_.n_jobs, model.ensemble_.verbose) == (2, 1)
    assert (plain.ensemble_.n_jobs, plain.ensemble_.verbose) == (None, 0)
    answers = capsys.readouterr()
    assert answers.out + answers.err != ""
    np.testing.assert_array_equal(model.predict_proba(fresh), plain.predict_proba(fresh))
    within = PrunedClassifier(pipeline, keep=4, n_jobs=2, random_state=0).fit(*train)
    assert within.ensemble_[-1].n_jobs == 2
    assert PrunedClassifier(voting, keep=2, n_jobs=1).fit(*train).ensemble_.n_jobs == 1
    own = PrunedClassifier(clone(BAG).set_params(n_jobs=2), keep=4).fit(*train)
    assert own.ensemble_.n_jobs == 2
    without = PrunedClassifier(sklearn_ensemble.AdaBoostClassifier(n_estimators=5), n_jobs=2)
    assert len(without.fit(*train)) == 1


def test_votes_stages_and_decision_functions_are_those_of_the_members_kept(train, fresh):
    models = [
        PrunedClassifier(base, keep=5, random_state=0).fit(*train)
        for base in (BAG, sklearn_ensemble.RandomForestClassifier(T, max_depth=4))
    ]
    whole = clone(BAG).set_params(random_state=0).fit(*train)
    np.testing.assert_array_equal(models[0].votes(fresh), whole.votes(fresh)[models[0].kept_])
    trees = models[1].ensemble_.estimators_
    np.testing.assert_array_equal(models[1].votes(fresh), [tree.predict(fresh) for tree in trees])
    stages = list(models[0].staged_predict(fresh))
    assert len(stages) == 5
    np.testing.assert_array_equal(stages[-1], models[0].predict(fresh))
    np.testing.assert_array_equal(stages[0], models[0].classes_[models[0].votes(fresh)[0]])
    assert not hasattr(models[0], "decision_function")
    assert not hasattr(models[1], "staged_predict")
    boosted = PrunedClassifier(sklearn_ensemble.AdaBoostClassifier(n_estimators=8), keep=5)
    assert hasattr(boosted, "decision_function")
    shares = boosted.fit(*train).decision_function(fresh)
    np.testing.assert_array_equal(shares, boosted.ensemble_.decision_function(fresh))
    np.testing.assert_array_equal(boosted.classes_[shares.argmax(axis=1)], boosted.predict(fresh))


def test_stages_of_regressors(numbers):
    model = PrunedRegressor(BaggingRegressor(n_estimators=10), keep=4, random_state=0).fit(*numbers)
    stages = list(model.staged_predict(numbers[0]))
    assert len(stages) == 4
    np.testing.assert_allclose(stages[-1], model.predict(numbers[0]))
    assert not hasattr(model, "votes")


def test_members_that_the_rule_weighs_are_not_asked_as_if_they_were_alike(train):
    rule = BoostingBased(weighted_vote=True)
    model = PrunedClassifier(BAG, rule=rule, random_state=0).fit(*train)
    boosted = sklearn_ensemble.BaggingClassifier(LinearSVC(), 5)
    theirs = PrunedClassifier(boosted, rule=rule, keep=4, random_state=0).fit(*train)
    for query in (model.votes, model.staged_predict, theirs.votes, theirs.decision_function):
        with pytest.raises(ValueError, match=r"weights the votes.* pass its ensemble_"):
            query(train[0])
