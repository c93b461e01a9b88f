"""Maps of what models decide: equal to what they say of each point, whoever they are."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import nested
from tests.oracles.maps import decision_and_lead, vote_map
from tests.shared import public_estimators

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    ExtraTreesClassifier,
    ObliqueForestClassifier,
    PrunedClassifier,
    RandomForestClassifier,
)
from orfeon.datasets import Circle, Diagonal, make_circle
from orfeon.inspection import maps
from orfeon.inspection.maps import (
    ClassificationMap,
    MarginMap,
    classification_map,
    margin_map,
    painted_votes,
)
from orfeon.ordering import BoostingBased
from orfeon.rules.rule import rules_for

SQUARE = ((0.0, 1.0), (0.0, 1.0))


@pytest.fixture(scope="module")
def circle():
    """Two classes."""
    X, y = make_circle(200, random_state=0)
    return X, np.array(["outside", "inside"])[y]


@pytest.fixture(scope="module")
def four():
    """Four classes."""
    X, y = make_circle(200, random_state=0)
    return X, np.array(list("abcd"))[y + 2 * (X[:, 0] > 0.6)]


def points(found):
    return np.ascontiguousarray(np.stack([a.ravel() for a in np.meshgrid(found.x, found.y)], 1))


def estimator(name):
    model = public_estimators()[name]()
    small = {"n_estimators": 9, "random_state": 0, "n_committees": 3, "max_iter": 10}
    known = model.get_params()
    return model.set_params(**{k: v for k, v in small.items() if k in known})


# -- the same as asking about each point -----------------------------------------------------------


@pytest.mark.parametrize(
    "name", sorted(n for n, kind in public_estimators().items() if is_classifier(kind()))
)
def test_a_map_is_what_the_model_predicts_at_its_points(name, circle, four):
    for X, y in (circle, four):
        model = estimator(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some say that they end early
                model.fit(X, y)
        except ValueError as error:
            if "Only binary" not in str(error):
                raise
            continue  # the method is for two classes
        found = classification_map(model, X, grid_resolution=(23, 17))
        assert found.codes.shape == (17, 23)
        assert (found.labels.ravel() == model.predict(points(found))).all()


@pytest.mark.parametrize("model", [
    DecisionTreeClassifier(random_state=0),
    TheirForest(15, max_depth=3, random_state=0),
    TheirAdaBoost(n_estimators=15, random_state=0),
    TheirBagging(n_estimators=7, random_state=0),
    TheirBagging(Perceptron(), n_estimators=7, random_state=0),
    VotingClassifier([("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))]),
    VotingClassifier([("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))], voting="soft"),
    make_pipeline(StandardScaler(), BaggingClassifier(n_estimators=7, random_state=0)),
    make_pipeline(StandardScaler(), SVC()),
    LogisticRegression(),
    BaggingClassifier(GaussianNB(), n_estimators=7, random_state=0),
    BaggingClassifier(n_estimators=7, combine="soft", random_state=0),
    PrunedClassifier(BaggingClassifier(n_estimators=20), random_state=0),
    PrunedClassifier(
        BaggingClassifier(n_estimators=20), rule=BoostingBased(weighted_vote=True), random_state=0
    ),
    AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=15, random_state=0),
])  # fmt: skip
def test_other_models_and_ways_to_decide(model, four):
    X, y = four
    model.fit(X, y)
    found = classification_map(model, X, grid_resolution=25)
    assert (found.labels.ravel() == model.predict(points(found))).all()
    assert found.classes.tolist() == list("abcd")


def test_functions_and_problems_decide_too():
    found = classification_map(Circle().predict, box=SQUARE, grid_resolution=40)
    assert (found.codes.ravel() == Circle().predict(points(found))).all()
    assert (classification_map(Circle(), box=SQUARE, grid_resolution=40).codes == found.codes).all()
    names = np.array(["no", "yes"])
    named = classification_map(
        lambda rows: names[Circle().predict(rows)], box=SQUARE, grid_resolution=40
    )
    assert named.classes.tolist() == ["no", "yes"]
    assert (named.codes == found.codes).all()


def test_lists_of_classifiers_vote(circle):
    X, y = circle
    models = [m.fit(X, y) for m in (GaussianNB(), KNeighborsClassifier(1), LogisticRegression())]
    found = classification_map(models, X, grid_resolution=20)
    votes = np.array([m.predict(points(found)) for m in models])
    most = np.where((votes == "inside").sum(axis=0) >= 2, "inside", "outside")
    assert (found.labels.ravel() == most).all()
    named = [(str(k), model) for k, model in enumerate(models)]
    assert (classification_map(named, X, grid_resolution=20).codes == found.codes).all()


def _painted(brushes, *given):
    """As it is, and what it was given is kept."""
    brushes.append(given)
    return painted_votes(*given)


def test_painted_and_routed_maps_are_equal(monkeypatch, circle, four):
    for X, y in (circle, four):
        for model in (
            BaggingClassifier(n_estimators=20),  # ties in the vote
            ClassSwitchingClassifier(n_estimators=21),
            ExtraTreesClassifier(n_estimators=12),
            BaggingClassifier(C45Classifier(), n_estimators=12),
            AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=12),
        ):
            model.set_params(random_state=0).fit(X, y)
            brushes = []
            with monkeypatch.context() as patch:
                patch.setattr(maps, "painted_votes", partial(_painted, brushes))
                painted = margin_map(model, X, grid_resolution=31)
                assert len(brushes) == 1
                patch.setattr(maps, "_can_paint", lambda members, plane: False)
                routed = margin_map(model, X, grid_resolution=31)
                assert len(brushes) == 1
            assert painted.of == routed.of == "votes"
            assert (painted.codes == routed.codes).all()
            if isinstance(model, AdaBoostClassifier):
                np.testing.assert_allclose(painted.margins, routed.margins, rtol=0, atol=1e-13)
            else:
                assert (painted.margins == routed.margins).all()


def test_trees_that_are_no_rectangles_are_routed(circle):
    X, y = circle
    model = ObliqueForestClassifier(n_estimators=9, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="two ordered features are expected"):
        painted_votes(model.forest_, np.zeros(2), np.zeros(2))
    found = margin_map(model, X, grid_resolution=20)
    shares = model.vote_shares(points(found))
    np.testing.assert_allclose(found.margins.ravel(), shares[:, 0] - shares[:, 1], atol=1e-15)


# -- margins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_estimators", [1, 2, 7])
def test_margins_are_those_of_the_votes_counted_by_hand(n_estimators, circle, four):
    for X, y in (circle, four):
        model = BaggingClassifier(n_estimators=n_estimators, random_state=0).fit(X, y)
        found = margin_map(model, X, grid_resolution=8)
        trees = [nested(model.forest_, t) for t in range(n_estimators)]
        answers = vote_map(trees, found.x, found.y)
        for at in np.ndindex(8, 8):
            code, lead = decision_and_lead(answers[at[0]][at[1]], len(found.classes))
            signed = -lead if len(found.classes) == 2 and code == 1 else lead
            assert found.codes[at] == code
            assert found.margins[at] == pytest.approx(float(signed), abs=1e-15)


def test_weighted_votes_are_added_in_steps_finer_than_any_rounding(circle):
    X, y = circle
    model = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=40, random_state=0)
    model.fit(X, y)
    grid = np.linspace(0, 1, 9)
    sums = painted_votes(model.forest_, grid, grid, model.member_weights_)
    exact = [Fraction(weight) for weight in model.member_weights_]
    total = float(sum(exact))
    at = np.stack([a.ravel() for a in np.meshgrid(grid, grid)], axis=1)
    for place, votes in enumerate(model.forest_.votes(np.ascontiguousarray(at)).T):
        for code in range(2):
            true = float(sum(w for w, v in zip(exact, votes, strict=True) if v == code))
            assert abs(sums[place, code] - true) <= 2e-16 * total


def test_margins_lie_between_their_limits_and_tell_the_class(circle, four):
    X, y = circle
    model = ClassSwitchingClassifier(n_estimators=101, random_state=0).fit(X, y)
    found = margin_map(model, X, grid_resolution=50)
    assert found.of == "votes"
    assert -1 <= found.margins.min() < 0 < found.margins.max() <= 1
    assert ((found.margins >= 0) == (found.codes == 0)).all()
    # Three in ten labels are switched, so where it is clear about 0.7 - 0.3 is left.
    assert np.median(np.abs(found.margins)) == pytest.approx(0.4, abs=0.1)
    X, y = four
    found = margin_map(model.fit(X, y), X, grid_resolution=50)
    assert 0 <= found.margins.min() < found.margins.max() <= 1


def test_a_model_of_one_class_is_sure(circle):
    X, y = circle
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, np.zeros(len(y)))
    found = margin_map(model, X, grid_resolution=5)
    assert (found.margins == 1).all()
    assert (found.codes == 0).all()


def test_what_is_compared_is_what_decides(circle):
    X, y = circle
    forest = TheirForest(15, max_depth=2, random_state=0).fit(X, y)
    found = margin_map(forest, X, grid_resolution=20)
    assert found.of == "probabilities"
    assert (found.labels.ravel() == forest.predict(points(found))).all()
    shares = forest.predict_proba(points(found))
    np.testing.assert_allclose(found.margins.ravel(), shares[:, 0] - shares[:, 1], atol=1e-12)
    votes = margin_map(forest, X, grid_resolution=20, of="votes")
    answers = np.array([tree.predict(points(found)) for tree in forest.estimators_])
    expected = ((answers == 0).sum(axis=0) - (answers == 1).sum(axis=0)) / 15
    np.testing.assert_allclose(votes.margins.ravel(), expected, atol=1e-15)
    boosted = TheirAdaBoost(n_estimators=15, random_state=0).fit(X, y)
    assert margin_map(boosted, X, grid_resolution=20).of == "votes"
    soft = BaggingClassifier(n_estimators=7, combine="soft", random_state=0).fit(X, y)
    assert margin_map(soft, X, grid_resolution=20).of == "probabilities"
    boosted = AdaBoostClassifier(
        CARTClassifier(max_depth=2), n_estimators=9, combine="majority", random_state=0
    )
    found = margin_map(boosted.fit(X, y), X, grid_resolution=20)
    counts = boosted.forest_.count_votes(points(found))
    np.testing.assert_allclose(found.margins.ravel(), (counts[:, 0] - counts[:, 1]) / 9, atol=1e-15)


@pytest.mark.parametrize("combine", rules_for("classification"))
def test_all_ways_to_combine_are_mapped(combine, four):
    X, y = four
    model = BaggingClassifier(n_estimators=9, combine=combine, random_state=0).fit(X, y)
    found = margin_map(model, X, grid_resolution=15)
    answers = model.predict(points(found))
    assert (found.labels.ravel() == answers).all()
    assert (classification_map(model, X, grid_resolution=15).labels.ravel() == answers).all()


# -- the first members only ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [
    ClassSwitchingClassifier(n_estimators=21, random_state=0),
    AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=21, random_state=0),
    TheirForest(21, random_state=0),
])  # fmt: skip
def test_the_first_members_decide_as_if_they_were_alone(model, circle):
    X, y = circle
    model.fit(X, y)
    for n in (1, 8, len(model)):
        found = classification_map(model, X, grid_resolution=20, n_members=n)
        few = maps.adapt(model).subset(np.arange(n))
        assert (found.labels.ravel() == few.predict(points(found))).all()
        assert f", {n} member" in found.model


# -- the grid --------------------------------------------------------------------------------------


def test_the_grid_covers_the_samples_with_room(circle):
    X, y = circle
    model = CARTClassifier().fit(X, y)
    found = classification_map(model, X, grid_resolution=(11, 7), room=0.5)
    width = np.ptp(X, axis=0)
    for at, column, n in ((found.x, 0, 11), (found.y, 1, 7)):
        assert len(at) == n
        assert at[0] == pytest.approx(X[:, column].min() - 0.5 * width[column])
        assert at[-1] == pytest.approx(X[:, column].max() + 0.5 * width[column])
    found = classification_map(model, box=((-1, 2), (0, 3)), grid_resolution=4)
    assert (found.x.tolist(), found.y.tolist()) == ([-1, 0, 1, 2], [0, 1, 2, 3])
    found = classification_map(model, X, box=((-1, 2), None), grid_resolution=4, room=0)
    assert found.x.tolist() == [-1, 0, 1, 2]
    assert found.y[0] == X[:, 1].min()


def test_a_constant_feature_has_room_too():
    X = np.column_stack([np.arange(10.0), np.full(10, 3.0)])
    found = classification_map(CARTClassifier().fit(X, np.arange(10) % 2), X, grid_resolution=3)
    assert found.y.tolist() == [2.5, 3.0, 3.5]


def test_missing_values_are_no_part_of_the_box(circle):
    X, y = circle
    holes = X.copy()
    holes[::5, 0] = np.nan
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(holes, y)
    found = classification_map(model, holes, grid_resolution=15)
    assert np.isfinite(found.x).all()
    assert (found.labels.ravel() == model.predict(points(found))).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("model", [
    BaggingClassifier(n_estimators=5, random_state=0),
    BaggingClassifier(n_estimators=5, combine="soft", random_state=0),
    TheirForest(5, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    PrunedClassifier(BaggingClassifier(n_estimators=9), random_state=0),
])  # fmt: skip
def test_data_frames_give_names_and_models_get_frames(frame, model, circle):
    X, y = circle
    table = frame({"width": X[:, 0], "height": X[:, 1]})
    model.fit(table, y)
    found = classification_map(model, table, grid_resolution=12)
    assert found.names == ("width", "height")
    at = points(found)
    rows = frame({"width": at[:, 0], "height": at[:, 1]})
    assert (found.labels.ravel() == model.predict(rows)).all()
    same = classification_map(model, box=((0, 1), (0, 1)), grid_resolution=12)
    assert same.names == ("width", "height")


def test_a_categorical_feature_has_a_column_for_each_category():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"kind": rng.choice(["red", "blue", "green"], 120), "x": rng.random(120)})
    y = (table["kind"] == "red") ^ (table["x"] > 0.5)
    for model in (
        BaggingClassifier(n_estimators=9, random_state=0),
        BaggingClassifier(C45Classifier(), n_estimators=9, random_state=0),
    ):
        model.fit(table, y)
        found = margin_map(model, table, grid_resolution=20)
        assert found.categories == (("blue", "green", "red"), None)
        assert found.codes.shape == (20, 3)
        for j, kind in enumerate(found.categories[0]):
            rows = pd.DataFrame({"kind": [kind] * 20, "x": found.y})
            assert (found.labels[:, j] == model.predict(rows)).all()
        # The grid of a categorical feature needs no samples.
        again = margin_map(model, box=(None, (found.y[0], found.y[-1])), grid_resolution=20)
        assert (again.margins == found.margins).all()


def test_points_go_through_in_blocks(monkeypatch, circle):
    X, y = circle
    model = LogisticRegression().fit(X, y)
    whole = classification_map(model, X, grid_resolution=40)
    monkeypatch.setattr("orfeon.inspection.maps._POINTS", 77)
    assert (classification_map(model, X, grid_resolution=40).codes == whole.codes).all()


def test_read_only_forests_and_coordinates_are_painted(circle):
    X, y = circle
    forest = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y).forest_
    grid = np.linspace(0, 1, 12)
    before = painted_votes(forest, grid, grid)
    frozen = replace(
        forest, nodes=forest.nodes.copy(), label=forest.label.copy(),
        tree_start=forest.tree_start.copy(),
    )  # fmt: skip
    for array in (frozen.nodes, frozen.label, frozen.tree_start, grid):
        array.setflags(write=False)
    assert (painted_votes(frozen, grid, grid) == before).all()
    found = classification_map(forest, box=SQUARE, grid_resolution=12)
    assert (found.codes.ravel() == before.argmax(axis=1)).all()


# -- disagreement ----------------------------------------------------------------------------------


def test_disagreement_is_the_share_of_points_with_another_class():
    one, other = (
        classification_map(p, box=SQUARE, grid_resolution=50) for p in (Circle(), Diagonal())
    )
    assert one.disagreement(one) == 0
    expected = np.mean(Circle().predict(points(one)) != Diagonal().predict(points(one)))
    assert one.disagreement(other) == expected == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ValueError, match="another grid"):
        one.disagreement(classification_map(Circle(), box=SQUARE, grid_resolution=51))


def test_many_members_draw_the_border_better_than_one():
    X, y = Circle().sample(1000, random_state=0)
    model = ClassSwitchingClassifier(n_estimators=301, random_state=0).fit(X, y)
    y_true = classification_map(Circle(), box=SQUARE)
    maps_of = [classification_map(model, box=SQUARE, n_members=n) for n in (1, 31, 301)]
    errors = [found.disagreement(y_true) for found in maps_of]
    assert errors[0] == pytest.approx(0.3, abs=0.06)  # little better than its labels
    assert errors[0] > 3 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.03


# -- what is refused -------------------------------------------------------------------------------


def test_what_is_no_classifier_of_a_plane_is_refused(circle):
    X, y = circle
    wide = BaggingClassifier(n_estimators=2).fit(np.column_stack([X, X]), y)
    with pytest.raises(ValueError, match="model has 4 features; a map needs a model of two"):
        classification_map(wide, box=SQUARE)
    with pytest.raises(ValueError, match="model has 4 features"):
        classification_map(wide.forest_, box=SQUARE)
    regressor = BaggingRegressor(n_estimators=2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="model is a regressor, BaggingRegressor"):
        margin_map(regressor, box=SQUARE)
    with pytest.raises(ValueError, match="regressors as members"):
        classification_map(regressor.forest_, box=SQUARE)
    with pytest.raises(TypeError, match="of type str, which has no predict"):
        classification_map("tree", box=SQUARE)
    for model in (BaggingClassifier(), CARTClassifier(), TheirForest(), LogisticRegression()):
        with pytest.raises(NotFittedError):
            classification_map(model, box=SQUARE)
    fitted = BaggingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        classification_map(fitted, np.zeros((5, 3)))
    with pytest.raises(ValueError, match="X has 3 columns"):
        classification_map(Circle().predict, np.zeros((5, 3)))


def test_margins_need_votes_or_probabilities(circle):
    X, y = circle
    with pytest.raises(TypeError, match="of type SVC, which has no members that vote"):
        margin_map(SVC().fit(X, y), X)
    with pytest.raises(TypeError, match="not a fitted ensemble"):
        margin_map(CARTClassifier().fit(X, y), X, of="votes")
    with pytest.raises(ValueError, match="of='shares' is not allowed"):
        margin_map(CARTClassifier().fit(X, y), X, of="shares")


@pytest.mark.parametrize(("settings", "message"), [
    ({}, "X and the box of x0 are missing"),
    ({"box": ((0, 1), None)}, "X and the box of x1 are missing"),
    ({"box": (0, 1, 0, 1)}, "box=.* is not allowed"),
    ({"box": ((0, 1), (1, 1))}, "box of x1 goes from 1 to 1"),
    ({"box": ((0, np.inf), (0, 1))}, "box of x0 goes from 0 to inf"),
    ({"box": ((-1e308, 1e308), (0, 1))}, "two finite numbers"),
    ({"box": SQUARE, "grid_resolution": 1}, "grid_resolution=1 is not allowed"),
    ({"box": SQUARE, "grid_resolution": (3, 4, 5)}, "grid_resolution="),
    ({"box": SQUARE, "grid_resolution": 10.0}, "grid_resolution=10.0 is not allowed"),
    ({"box": SQUARE, "room": -0.1}, "room=-0.1 is not allowed"),
    ({"box": SQUARE, "n_members": 0}, "n_members=0 is not allowed.* 1 to 3"),
    ({"box": SQUARE, "n_members": 4}, "n_members=4 is not allowed"),
    ({"box": SQUARE, "n_members": 1.5}, "n_members=1.5 is not allowed"),
])  # fmt: skip
def test_settings_that_make_no_grid_are_refused(settings, message, circle):
    model = BaggingClassifier(n_estimators=3, random_state=0).fit(*circle)
    with pytest.raises(ValueError, match=message):
        classification_map(model, **settings)


def test_an_feature_without_values_is_refused(circle):
    X, y = circle
    model = BaggingClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="X has no value of x1"):
        classification_map(model, np.column_stack([X[:, 0], np.full(len(X), np.nan)]))


def test_maps_are_plain_data():
    found = classification_map(Circle(), box=SQUARE, grid_resolution=5)
    assert type(found) is ClassificationMap
    assert found.codes.dtype == np.int64
    with pytest.raises(AttributeError):
        found.codes = found.codes
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(*make_circle(50))
    assert type(margin_map(forest, box=SQUARE, grid_resolution=5)) is MarginMap
