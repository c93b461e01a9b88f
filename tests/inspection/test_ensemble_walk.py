"""The ensemble's walk against sums and products of vectors, its identities, and its picture."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as AdaBoostOfScikitLearn
from sklearn.ensemble import BaggingClassifier as BaggingOfScikitLearn

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    order,
)
from orfeon.inspection.walk import EnsembleWalkDisplay, ensemble_walk
from orfeon.ordering import ReduceError, order_votes, reference_direction

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return np.where(rng.random((15, 60)) < 0.55, y, rng.integers(0, 3, (15, 60))), y


@pytest.fixture(scope="module")
def bag(waveform):
    return BaggingClassifier(CARTClassifier(pruning="cv"), 50, random_state=0).fit(*waveform)


def signs_of(answers, y):
    return np.where(np.asarray(answers) == y, 1.0, -1.0)


def directions_by_hand(signs):
    """c_ens, c_ref, and the principal direction of what is left, as unit vectors."""
    ensemble = signs.mean(axis=0)
    _, reference = reference_direction(ensemble)
    unit = [vector / np.linalg.norm(vector) for vector in (ensemble, reference)]
    rest = signs - sum(np.outer(signs @ vector, vector) for vector in unit)
    return np.array([*unit, np.linalg.svd(rest)[2][0]])


# -- the numbers -----------------------------------------------------------------------------------


def test_coordinates_are_products_with_the_directions(votes):
    answers, y = votes
    signs = signs_of(answers, y)
    found = ensemble_walk(answers, y=y)
    expected = directions_by_hand(signs)
    expected[2] *= np.sign(expected[2] @ found.directions[2])
    np.testing.assert_allclose(found.directions, expected, atol=1e-9)
    np.testing.assert_allclose(found.steps, signs @ expected.T, atol=1e-9)
    np.testing.assert_allclose(found.ensemble, signs.mean(axis=0), atol=1e-12)


def test_directions_are_orthonormal(votes, waveform, bag):
    for found in (ensemble_walk(votes[0], y=votes[1]), ensemble_walk(bag, *waveform)):
        np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(3), atol=1e-9)


def test_points_are_partial_sums(votes):
    answers, y = votes
    signs = signs_of(answers, y)
    places = np.random.default_rng(1).permutation(15)
    found = ensemble_walk(answers, y=y, orders={"mine": places, "best": "reduce_error"})
    assert list(found.walks) == ["own order", "mine", "best"]
    best = order_votes(answers, y, rule="reduce_error").order
    for name, order_ in (("own order", np.arange(15)), ("mine", places), ("best", best)):
        walk = found.walks[name]
        assert walk.shape == (16, 3)
        assert (walk[0] == 0).all()
        for u in range(1, 16):
            point = signs[order_[:u]].sum(axis=0) @ found.directions.T
            np.testing.assert_allclose(walk[u], point, atol=1e-9)


def test_all_walks_end_at_the_vector_of_the_ensemble(waveform, bag):
    found = ensemble_walk(bag, *waveform, orders=["orientation", "margin_distance", "kappa"])
    end = np.array([50 * np.linalg.norm(found.ensemble), 0.0, 0.0])
    assert end[0] > 100
    for walk in found.walks.values():
        np.testing.assert_allclose(walk[-1], end, atol=1e-8)


def test_the_published_sample_of_the_reference():
    # Three samples on which members are right so often that c_ens = (1, .5, -.5).
    right = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 0], [1, 0, 0]], bool)
    found = ensemble_walk(np.where(right, 0, 1), y=[0, 0, 0])
    assert found.ensemble.tolist() == [1.0, 0.5, -0.5]
    reference = np.array([1 / 3, 2 / 3, 4 / 3])
    expected = reference / np.linalg.norm(reference)
    np.testing.assert_allclose(found.directions[1], expected, atol=1e-12)


def test_orientation_takes_the_members_by_their_step_along_the_reference(votes, waveform, bag):
    for found in (ensemble_walk(*votes[:1], y=votes[1]), ensemble_walk(bag, *waveform)):
        climbs = np.diff(found.walks["orientation"][:, 1])
        assert (np.diff(climbs) <= 1e-9).all()  # steepest first, so that the walk is concave
        walks = found.walks.values()
        highest = max(walk[:, 1].max() for walk in walks)
        assert found.walks["orientation"][:, 1].max() == highest
        top = found.farthest("orientation")
        assert top == (climbs > 0).sum()
        assert 0 < top < len(found)


def test_no_walk_is_above_that_of_orientation(votes):
    answers, y = votes
    found = ensemble_walk(answers, y=y, n_random_orders=20, random_state=0)
    assert len(found.walks) == 22
    ceiling = found.walks["orientation"][:, 1] + 1e-9
    for walk in found.walks.values():
        assert (walk[:, 1] <= ceiling).all()


def test_the_third_direction_is_that_in_which_members_differ_most(votes):
    answers, y = votes
    signs = signs_of(answers, y)
    found = ensemble_walk(answers, y=y)
    rest = signs - found.steps[:, :2] @ found.directions[:2]
    spread = (found.steps[:, 2] ** 2).sum()
    assert spread == pytest.approx(np.linalg.svd(rest)[1][0] ** 2)
    other = np.random.default_rng(2).normal(size=60)
    assert ((rest @ other / np.linalg.norm(other)) ** 2).sum() < spread
    assert found.steps[np.argmax(np.abs(found.steps[:, 2])), 2] > 0


def test_many_members_have_the_same_walk():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 40)
    answers = np.where(rng.random((600, 40)) < np.linspace(0.4, 0.9, 40), y, 1 - y)
    signs = signs_of(answers, y)
    found = ensemble_walk(answers, y=y, orders=None)
    expected = directions_by_hand(signs)
    expected[2] *= np.sign(expected[2] @ found.directions[2])
    np.testing.assert_allclose(found.directions, expected, atol=1e-6)
    np.testing.assert_allclose(found.steps, signs @ found.directions.T, atol=1e-6)


def test_random_orders_are_fixed_by_the_seed(votes):
    answers, y = votes
    one, same, other = (
        ensemble_walk(answers, y=y, orders=None, n_random_orders=3, random_state=seed)
        for seed in (0, 0, 1)
    )
    assert list(one.walks) == ["own order", "random order", "random order 2", "random order 3"]
    assert (one.walks["random order 2"] == same.walks["random order 2"]).all()
    assert (one.walks["random order"] != one.walks["random order 2"]).any()
    assert (one.walks["random order"] != other.walks["random order"]).any()


def test_subsets_that_do_not_grow_by_one_member_have_a_walk(waveform, bag):
    X, y = waveform
    signs = signs_of(bag.votes(X), y)
    made = order(bag, X, y, rule=ReduceError(backfitting=True))
    found = ensemble_walk(bag, X, y, orders={"it": made})
    for u in (1, 7, 50):
        point = signs[made.members(u)].sum(axis=0) @ found.directions.T
        np.testing.assert_allclose(found.walks["it"][u], point, atol=1e-8)


# -- weights and missing votes ---------------------------------------------------------------------


def test_weights_are_copies(votes):
    answers, y = votes
    weights = np.arange(60) % 3
    weighted = ensemble_walk(answers, y=y, sample_weight=weights, orders=["orientation", "kappa"])
    copied = ensemble_walk(
        np.repeat(answers, weights, axis=1),
        y=np.repeat(y, weights),
        orders=["orientation", "kappa"],
    )
    for name, walk in weighted.walks.items():
        np.testing.assert_allclose(walk, copied.walks[name], atol=1e-8)
    np.testing.assert_allclose(weighted.directions @ weighted.directions.T, np.eye(3), atol=1e-9)
    halves = ensemble_walk(answers, y=y, sample_weight=weights / 2)
    np.testing.assert_allclose(
        halves.walks["own order"] * np.sqrt(2), weighted.walks["own order"], atol=1e-8
    )


@pytest.mark.parametrize("kind", ["ours", "scikit-learn"])
def test_boosted_members_take_steps_of_their_weight(kind, waveform):
    from orfeon.members import adapt

    X, y = waveform
    few = AdaBoostClassifier if kind == "ours" else AdaBoostOfScikitLearn
    boosted = few(n_estimators=10, random_state=0).fit(X, y)
    weights = adapt(boosted).member_weights
    found = ensemble_walk(boosted, X, y, orders=None)
    signs = signs_of(adapt(boosted).answers(X), y) * (weights / weights.mean())[:, None]
    np.testing.assert_allclose(found.ensemble, signs.mean(axis=0), atol=1e-7)
    np.testing.assert_allclose(found.steps, signs @ found.directions.T, atol=1e-6)
    end = np.linalg.norm(found.ensemble) * len(weights)
    assert found.walks["own order"][-1, 0] == pytest.approx(end)


def test_a_member_that_does_not_vote_does_not_move(votes):
    answers, y = votes
    holes = np.where(np.random.default_rng(4).random(answers.shape) < 0.3, -1, answers)
    signs = np.where(holes == -1, 0.0, signs_of(holes, y))
    found = ensemble_walk(holes, y=y, no_vote=-1)
    np.testing.assert_allclose(found.ensemble, signs.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.steps, signs @ found.directions.T, atol=1e-9)


def test_out_of_bag_votes_have_a_walk(waveform, bag):
    from orfeon.members import adapt

    X, y = waveform
    mask = adapt(bag).out_of_bag(X, y)
    found = ensemble_walk(bag, X, y, on="out_of_bag", orders=None)
    signs = np.where(mask, signs_of(bag.votes(X), y), 0.0)[:, mask.any(axis=0)]
    np.testing.assert_allclose(found.ensemble, signs.mean(axis=0), atol=1e-12)


def test_ensembles_of_scikit_learn_have_a_walk(waveform):
    X, y = waveform
    bag = BaggingOfScikitLearn(n_estimators=6, random_state=0).fit(X, y)
    found = ensemble_walk(bag, X, y, orders=None)
    signs = signs_of([tree.predict(X) for tree in bag.estimators_], y)
    np.testing.assert_allclose(found.ensemble, signs.mean(axis=0), atol=1e-12)


# -- directions that are not there -----------------------------------------------------------------


def test_members_that_are_always_right_lack_nothing():
    found = ensemble_walk([[0, 1]] * 4, y=[0, 1], orders=None)
    assert (found.directions[1:] == 0).all()
    assert found.walks["own order"][:, 0] == pytest.approx(np.arange(5) * np.sqrt(2))


def test_members_that_cancel_out_have_the_diagonal_as_reference():
    found = ensemble_walk([[0, 0, 0], [1, 1, 1]], y=[0, 0, 0], orders=None)
    assert (found.directions[0] == 0).all()
    np.testing.assert_allclose(found.directions[1], np.full(3, 1 / np.sqrt(3)))
    np.testing.assert_allclose(found.walks["own order"][:, 1], [0, np.sqrt(3), 0], atol=1e-12)


# -- bad input -------------------------------------------------------------------------------------


def test_what_has_no_walk_is_refused(votes, friedman):
    answers, y = votes
    with pytest.raises(ValueError, match="y is missing"):
        ensemble_walk(answers)
    with pytest.raises(ValueError, match="members that predict numbers have no walk"):
        ensemble_walk(BaggingRegressor(n_estimators=3).fit(*friedman), *friedman)
    with pytest.raises(ValueError, match="n_random_orders=-2 is not allowed"):
        ensemble_walk(answers, y=y, n_random_orders=-2)
    with pytest.raises(ValueError, match="rule='orientated' is not known"):
        ensemble_walk(answers, y=y, orders="orientated")


# -- the picture -----------------------------------------------------------------------------------


def test_the_plane_shows_the_first_two_coordinates(waveform, bag):
    display = EnsembleWalkDisplay.from_estimator(bag, *waveform, orders=["orientation", "kappa"])
    assert list(display.lines_) == ["own order", "orientation", "kappa"]
    for name, line in display.lines_.items():
        assert (line.get_xydata() == display.data.walks[name][:, :2]).all()
    marks = {line.get_label(): line for line in display.ax_.lines}
    top = display.data.farthest("orientation")
    expected = display.data.walks["orientation"][top, :2]
    assert marks["_top of orientation"].get_xydata()[0].tolist() == expected.tolist()
    title = display.ax_.get_title().replace("\n", " ")
    assert title == (
        f"Ordered by orientation, {top} of 50 members lead farthest towards what the ensemble lacks"
    )
    assert display.ax_.get_xlabel() == r"along $c_{ens}$"
    assert display.ax_.get_ylabel() == r"along $c_{ref}$"


def test_space_shows_all_three_and_begins_with_the_plane(votes):
    answers, y = votes
    flat = EnsembleWalkDisplay.from_votes(answers, y)
    space = EnsembleWalkDisplay.from_votes(answers, y, dimensions=3)
    assert space.ax_.name == "3d"
    assert len(space.figure_.axes) == 1
    for name, line in space.lines_.items():
        points = np.array(line.get_data_3d())
        assert (space.data.walks[name] == points.T).all()
        assert (flat.lines_[name].get_xydata() == points[:2].T).all()
    assert space.ax_.get_zlabel() == "third direction"


def test_along_the_ensemble_every_walk_is_a_loop(votes):
    answers, y = votes
    display = EnsembleWalkDisplay.from_votes(answers, y, view="ref-third")
    for name, line in display.lines_.items():
        points = line.get_xydata()
        assert (points == display.data.walks[name][:, 1:]).all()
        np.testing.assert_allclose(points[[0, -1]], 0, atol=1e-9)
    top = display.data.walks["orientation"][display.data.farthest("orientation"), 1:]
    marks = {line.get_label(): line for line in display.ax_.lines}
    assert marks["_top of orientation"].get_xydata()[0].tolist() == top.tolist()
    assert "_line" not in marks
    assert display.ax_.get_xlabel() == r"along $c_{ref}$"
    assert display.ax_.get_ylabel() == "third direction"
    with pytest.raises(ValueError, match="view='top' is not allowed"):
        display.plot(view="top")


def test_random_walks_are_grey_and_named_once(votes):
    answers, y = votes
    figure, ax = pyplot.subplots()
    display = EnsembleWalkDisplay.from_votes(answers, y, n_random_orders=3, random_state=0, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "own order", "random order", "orientation",
    ]  # fmt: skip
    greys = {line.get_color() for name, line in display.lines_.items() if "random" in name}
    assert len(greys) == 1
    assert display.lines_["own order"].get_color() not in greys
    assert display.lines_["orientation"].get_color() not in greys
    alone = EnsembleWalkDisplay.from_votes(answers, y, orders=None)
    assert alone.ax_.get_title() == "Walk of 15 members to the vector of the ensemble"


def test_axes_of_the_wrong_kind_are_refused(votes):
    answers, y = votes
    with pytest.raises(ValueError, match="dimensions=4 is not allowed; use 2 or 3"):
        EnsembleWalkDisplay.from_votes(answers, y, dimensions=4)
    with pytest.raises(ValueError, match='dimensions=3 needs axes with projection="3d"'):
        EnsembleWalkDisplay.from_votes(answers, y, dimensions=3, ax=pyplot.subplots()[1])
    _, ax = pyplot.subplots(subplot_kw={"projection": "3d"})
    assert EnsembleWalkDisplay.from_votes(answers, y, dimensions=3, ax=ax).ax_ is ax
