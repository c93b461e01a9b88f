"""Ensembles as scikit-learn's estimators: parameters, searches, pickles, progress, refusals."""

from __future__ import annotations

import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.ensembles.twins import (
    ENSEMBLES,
    assert_same_trees,
    each_classifier,
    each_ensemble,
    each_setting,
    small,
    table,
)
from tests.utils.test_progress import Recorder

import orfeon
from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ClassSwitchingClassifier,
    DoubleBaggingClassifier,
    RandomForestClassifier,
    WaggingClassifier,
)

# -- parameters ------------------------------------------------------------------------------------


@each_setting
def test_a_clone_has_the_same_parameters_and_gives_the_same_model(ensemble):
    X, y = table(ensemble)
    copy = clone(ensemble)
    mine, other = ensemble.get_params(deep=False), copy.get_params(deep=False)
    assert {k: str(v) for k, v in mine.items()} == {k: str(v) for k, v in other.items()}
    assert not hasattr(clone(copy.fit(X, y)), "members_")
    assert_same_trees(clone(ensemble).fit(X, y), copy)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_documentation_names_every_parameter(name):
    cls = getattr(orfeon, name)
    text = inspect.cleandoc(cls.__doc__)  # Python 3.13 keeps no indentation
    assert "<" not in re.sub(r">>>.*|<=|<-", "", text), "a shared text was not filled in"
    parameters = text.split("Parameters\n")[1].split("Features\n")[0]
    for parameter in cls().get_params(deep=False):
        assert re.search(rf"^(\w+, )*{parameter}(, \w+)* :", parameters, re.M), parameter


@pytest.mark.parametrize("name", ENSEMBLES)
def test_every_parameter_is_checked(name):
    cls = getattr(orfeon, name)
    assert set(cls().get_params(deep=False)) == set(cls._parameter_constraints) - {"warm_start"} | (
        {"warm_start"} & set(cls().get_params(deep=False))
    )
    X, y = table(cls())
    for parameter in cls().get_params(deep=False):
        with pytest.raises(ValueError, match=f"'{parameter}' parameter of {name} must be"):
            cls(**{parameter: object()}).fit(X, y)


def test_parameters_of_the_base_can_be_reached():
    bag = BaggingClassifier(CARTClassifier(max_depth=2), 4, random_state=0)
    assert bag.get_params()["estimator__max_depth"] == 2
    bag.set_params(estimator__max_depth=1)
    X, y = table(bag)
    assert bag.fit(X, y).forest_.depth.max() == 1
    # What was fitted is a clone: the base given stays unfitted.
    assert not hasattr(bag.estimator, "forest_")


def test_a_search_over_nested_parameters():
    X, y = table(BaggingClassifier(), 150)
    search = GridSearchCV(
        BaggingClassifier(CARTClassifier(), 8, random_state=0),
        {"estimator__max_depth": [1, 4], "max_samples": [0.2, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"estimator__max_depth": 4, "max_samples": 1.0}
    assert search.best_estimator_.forest_.depth.max() == 4
    assert search.best_score_ > 0.5


def test_in_a_pipeline_and_cross_validation():
    X, y = table(BaggingClassifier(), 150)
    pipeline = make_pipeline(StandardScaler(), small("RandomForestClassifier", n_estimators=20))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.55
    pipeline.set_params(randomforestclassifier__max_features=1).fit(X, y)
    assert pipeline[-1].estimator_.max_features == 1


@each_setting
def test_pickles_are_the_same_model(ensemble):
    X, y = table(ensemble)
    fitted = clone(ensemble).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_same_trees(again, fitted)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.get_params().keys() == fitted.get_params().keys()


def test_pickles_of_other_base_learners_and_warm_starts():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(GaussianNB(), 4, warm_start=True, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(again.votes(X), bag.votes(X))
    again.set_params(n_estimators=9).fit(X, y)
    bag.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(again.votes(X), bag.votes(X))


@each_ensemble
def test_kinds_are_known(ensemble):
    name = type(ensemble).__name__
    assert is_classifier(ensemble) == name.endswith("Classifier")
    assert is_regressor(ensemble) == name.endswith("Regressor")


def test_kinds_are_known_whatever_the_base():
    for base in (None, GaussianNB(), Ridge(), "tree"):
        assert is_classifier(BaggingClassifier(base))
        assert is_regressor(BaggingRegressor(base))


# -- one class, one row, few of anything -----------------------------------------------------------


@each_classifier
def test_one_class_is_always_predicted(ensemble):
    X, _ = table(ensemble)
    fitted = clone(ensemble).fit(X, np.full(90, "only"))
    assert set(fitted.predict(X)) == {"only"}
    assert fitted.predict_proba(X).tolist() == [[1.0]] * 90


@each_ensemble
def test_one_row_is_enough(ensemble):
    X, y = table(ensemble, 1)
    fitted = clone(ensemble).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), y, atol=1e-12)


# -- progress --------------------------------------------------------------------------------------


@each_ensemble
def test_a_bar_goes_to_standard_error(ensemble, capsys):
    X, y = table(ensemble)
    quiet = clone(ensemble).fit(X, y)
    assert capsys.readouterr() == ("", "")
    loud = clone(ensemble).set_params(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    total = quiet._n_members
    assert err.splitlines()[-1].startswith(f"{type(ensemble).__name__}  {total}/{total} [####")
    assert_same_trees(quiet, loud)


@pytest.mark.parametrize(
    "name", ["BaggingClassifier", "IGPCommitteesClassifier", "BaggingRegressor"]
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_callbacks_hear_of_every_member(name, n_jobs):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    ensemble = small(name, n_jobs=n_jobs)
    X, y = table(ensemble)
    recorder = Recorder()
    watched = clone(ensemble).set_callbacks(recorder).fit(X, y)
    assert recorder.answered.count(("end", "member")) == len(watched)
    assert recorder.answered[0] == ("setup", "fit")
    assert recorder.answered[-1] == ("teardown", "fit")
    assert_same_trees(watched, clone(ensemble).fit(X, y))


def test_a_callback_may_end_the_training():
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=500, oob_score=True, random_state=0)
    stopped = clone(bag).set_callbacks(Recorder(stop_after=10)).fit(X, y)
    assert 10 <= len(stopped) < 500
    whole = bag.fit(X, y)
    np.testing.assert_array_equal(stopped.oob_votes_, whole.oob_votes_[: len(stopped)])
    np.testing.assert_array_equal(stopped.votes(X), whole.votes(X)[: len(stopped)])


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ensemble", "message"),
    [
        (BaggingClassifier(Ridge()), r"estimator=Ridge\(\) is not a classifier; BaggingClass"),
        (BaggingClassifier(CARTRegressor()), r"estimator=CARTRegressor\(\) is not a classifier"),
        (BaggingRegressor(GaussianNB()), r"estimator=GaussianNB\(\) is not a regressor"),
        (BaggingRegressor(CARTClassifier()), r"estimator=CARTClassifier\(\) is not a regressor"),
        (ClassSwitchingClassifier(Ridge()), r"is not a classifier; ClassSwitchingClassifier"),
        (BaggingClassifier("tree"), "'estimator' parameter of BaggingClassifier must be"),
        (BaggingClassifier(n_estimators=0), "'n_estimators' parameter of BaggingClassifier"),
        (BaggingClassifier(n_estimators=2.5), "'n_estimators' parameter of BaggingClassifier"),
        (BaggingClassifier(bootstrap="yes"), "'bootstrap' parameter of BaggingClassifier"),
        (BaggingClassifier(class_weight="even"), "'class_weight' parameter"),
        (BaggingClassifier(class_weight={0: -1.0}), r"class_weight=\{0: -1.0\} is not allowed"),
        (BaggingClassifier(oob_score="yes"), "'oob_score' parameter of BaggingClassifier"),
        (BaggingClassifier(random_state="seed"), "'random_state' parameter of"),
        (RandomForestClassifier(max_depth=0), "'max_depth' parameter of RandomForestClassifier"),
    ],
)
def test_impossible_settings_are_refused(ensemble, message):
    X, y = table(RandomForestClassifier())
    with pytest.raises(ValueError, match=message):
        ensemble.fit(X, y)


@pytest.mark.parametrize(
    ("base", "name"),
    [
        (CARTClassifier(max_depth=0), "max_depth"),
        (CARTClassifier(criterion="nonsense"), "criterion"),
        (CARTClassifier(n_best=0), "n_best"),
        (CARTClassifier(class_weight="odd"), "class_weight"),
        (C45Classifier(min_samples_leaf="a"), "min_samples_leaf"),
    ],
)
@pytest.mark.parametrize(
    "method",
    [
        BaggingClassifier,
        WaggingClassifier,
        DoubleBaggingClassifier,
        ClassSwitchingClassifier,
    ],
)
def test_impossible_settings_of_the_base_are_refused(method, base, name):
    X, y = table(method())
    with pytest.raises(ValueError, match=f"'{name}' parameter of {type(base).__name__} must be"):
        method(base, 3).fit(X, y)


@each_ensemble
def test_bad_weights_are_refused(ensemble):
    X, y = table(ensemble)
    ensemble = clone(ensemble)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        ensemble.fit(X, y, sample_weight=np.linspace(-1.0, 1.0, 90))
    with pytest.raises(ValueError, match=r"at least one (weight must be positive|non-zero number)"):
        ensemble.fit(X, y, sample_weight=np.zeros(90))
    with pytest.raises(ValueError, match=r"sample_weight.*\(89,\)"):
        ensemble.fit(X, y, sample_weight=np.ones(89))
    with pytest.raises(ValueError, match="contains NaN"):
        ensemble.fit(X, y, sample_weight=np.where(np.arange(90) == 5, np.nan, 1.0))


@each_ensemble
def test_bad_tables_are_refused(ensemble):
    X, y = table(ensemble)
    ensemble = clone(ensemble)
    with pytest.raises(ValueError, match="y has 89 values and X has 90 rows"):
        ensemble.fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        ensemble.fit(X, None)
    with pytest.raises(ValueError, match=r"infinity|inf"):
        ensemble.fit(np.where(X > 2, np.inf, X), y)
    if is_regressor(ensemble):
        with pytest.raises(ValueError, match="y must hold numbers only"):
            ensemble.fit(X, np.full(90, "word"))
    else:
        with pytest.raises(ValueError, match="Unknown label type"):
            ensemble.fit(X, np.linspace(0.0, 1.0, 90))
    fitted = ensemble.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5 features"):
        fitted.predict(X[:, :4])


@pytest.mark.parametrize("base", [LogisticRegression(), KNeighborsClassifier(3)])
def test_with_other_base_learners_too(base):
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(base, 3, random_state=0)
    with pytest.raises(ValueError, match="NaN"):
        bag.fit(np.where(X > 2, np.nan, X), y)
    for n in (89, 91):
        with pytest.raises(ValueError, match=f"y has {n} values and X has 90 rows"):
            bag.fit(X, np.resize(y, n))
    with pytest.raises(ValueError, match="X has 4 features, but BaggingClassifier is expecting 5"):
        bag.fit(X, y).predict(X[:, :4])


def test_missing_values_pass_where_the_base_takes_them():
    from sklearn.tree import DecisionTreeClassifier

    X, y = table(BaggingClassifier())
    X = np.where(X > 1.5, np.nan, X)
    for base in (None, DecisionTreeClassifier()):
        assert BaggingClassifier(base, 5, random_state=0).fit(X, y).score(X, y) > 0.8
