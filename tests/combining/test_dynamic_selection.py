"""Dynamic selection against programs written from the definitions, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests import shared

from orfeon import BaggingClassifier, CARTClassifier, DynamicSelectionClassifier, StumpClassifier
from orfeon.combining import competence
from orfeon.combining.competence import SELECTION_RULES, Known
from orfeon.combining.meta_des import (
    N_PROFILES,
    meta_features,
    meta_weights,
    profile_regions,
)
from orfeon.combining.regions import Neighbours

ALL_RULES = [*SELECTION_RULES, "meta_des", "clusters"]


# -- oracles ---------------------------------------------------------------------------------------


def brute_region(points, weights, query, k, own=None):
    """(level, sample) of the nearest samples of total weight k, and of all that are as near."""
    distances = [
        (sum((a - b) ** 2 for a, b in zip(point, query, strict=True)) ** 0.5, j)
        for j, point in enumerate(points)
        if j != own
    ]
    region, reached, level, last = [], 0.0, -1, None
    for distance, j in sorted(distances):
        is_new = last is None or distance > last * (1 + 1e-10)
        if is_new and reached >= k:
            break
        level += is_new
        region.append((level, j))
        reached, last = reached + weights[j], distance
    return region


def accuracy(region, known, weights, t):
    judged = [j for _, j in region if known.votes[j, t] >= 0]
    total = sum(weights[j] for j in judged)
    right = sum(weights[j] for j in judged if known.votes[j, t] == known.y[j])
    return right / total if total else -1.0


def those_near(values, lead=0.0):
    return [float(value >= max(values) - lead - 1e-12) for value in values]


def or_all(values):
    return values if any(values) else [1.0] * len(values)


def brute_weights(rule, region, known, weights, votes):
    members = range(known.votes.shape[1])
    if rule == "ola":
        return those_near([accuracy(region, known, weights, t) for t in members])
    if rule == "lca":
        local = []
        for t in members:
            same = [(i, j) for i, j in region if known.votes[j, t] == votes[t]]
            local.append(max(accuracy(same, known, weights, t), 0.0))
        return those_near(local)
    if rule == "mcb":
        similar = []
        for i, j in region:
            n_same = sum(known.votes[j, t] == votes[t] for t in members)
            n_judged = sum(known.votes[j, t] >= 0 for t in members)
            if n_same / max(n_judged, 1) > 0.7:
                similar.append((i, j))
        return those_near([accuracy(similar or region, known, weights, t) for t in members], 0.1)
    if rule == "knora_eliminate":
        for last in range(region[-1][0], -1, -1):
            nearer = [(i, j) for i, j in region if i <= last]
            perfect = [float(accuracy(nearer, known, weights, t) == 1.0) for t in members]
            if any(perfect):
                return perfect
        return [1.0 for _ in members]
    if rule == "knora_union":
        return or_all(
            [
                float(sum(weights[j] for _, j in region if known.votes[j, t] == known.y[j]))
                for t in members
            ]
        )
    assert rule == "des_p"
    chance = 1 / known.n_classes
    return or_all([float(accuracy(region, known, weights, t) > chance) for t in members])


def random_problem(rng, n_inputs):
    """Points on a grid, with many ties; votes, some missing; weights."""
    n_samples, n_members, n_classes = rng.integers(3, 40), rng.integers(1, 8), rng.integers(2, 5)
    points = rng.integers(0, 3, (n_samples, n_inputs)).astype(float)
    if rng.random() < 0.5:
        points += rng.normal(size=points.shape)
    y = rng.integers(0, n_classes, n_samples)
    votes = np.where(rng.random((n_samples, n_members)) < 0.6, y[:, None], 0)
    votes[rng.random(votes.shape) < 0.2] = -1 if rng.random() < 0.5 else 1
    weights = rng.integers(1, 3, n_samples) * rng.choice([1.0, 0.25])
    return points, Known(votes, y, int(n_classes)), weights


@pytest.mark.parametrize("n_inputs", [1, 3, 20])
def test_regions_are_those_of_brute_force(n_inputs):
    rng = np.random.default_rng(n_inputs)
    for _ in range(shared.cases(60)):
        points, _, weights = random_problem(rng, n_inputs)
        queries = rng.integers(0, 3, (6, n_inputs)).astype(float)
        k = int(rng.integers(1, 9))
        found = Neighbours(points, weights, k, None).regions(queries)
        own = rng.integers(0, len(points), 6)
        without = Neighbours(points, weights, k, None).regions(points[own], without=own)
        for regions, rows, left_out in ((found, queries, [None] * 6), (without, points[own], own)):
            for i, query in enumerate(rows):
                mine = slice(*regions.weights.indptr[i : i + 2])
                pairs = zip(regions.levels[mine], regions.weights.indices[mine], strict=True)
                assert sorted(pairs) == brute_region(points, weights, query, k, left_out[i])


@pytest.mark.parametrize("rule", SELECTION_RULES)
def test_rules_weigh_members_as_defined(rule):
    rng = np.random.default_rng(7)
    for _ in range(shared.cases(120)):
        points, known, weights = random_problem(rng, 2)
        queries = rng.integers(0, 3, (5, 2)).astype(float)
        votes = rng.integers(0, known.n_classes, (5, known.votes.shape[1]))
        k = int(rng.integers(1, 9))
        found = SELECTION_RULES[rule](
            Neighbours(points, weights, k, None).regions(queries), known, votes
        )
        for query, its_votes, its_weights in zip(queries, votes, found, strict=True):
            region = brute_region(points, weights, query, k)
            expected = brute_weights(rule, region, known, weights, its_votes)
            np.testing.assert_allclose(its_weights, expected, rtol=1e-12)


def test_meta_features_are_those_of_the_definitions():
    """Without ties and weights: flags and supports by neighbour, accuracy, profiles, confidence."""
    rng = np.random.default_rng(3)
    n_samples, n_members, k = 30, 6, 4
    points = rng.normal(size=(n_samples, 2))
    y = rng.integers(0, 3, n_samples)
    votes = np.where(rng.random((n_samples, n_members)) < 0.6, y[:, None], 0)
    known, supports = Known(votes, y, 3), rng.random((n_samples, n_members))
    query, its_votes = rng.normal(size=(1, 2)), rng.integers(0, 3, (1, n_members))
    regions = Neighbours(points, np.ones(n_samples), k, None).regions(query)
    profiles = profile_regions(its_votes, known, np.ones(n_samples), None)
    confidence = rng.random((1, n_members))
    features = meta_features(regions, profiles, known, supports, confidence, k)
    found = np.stack([*features], axis=2)[0]
    nearest = [j for _, j in brute_region(points, np.ones(n_samples), query[0], k)]
    nearest.sort(key=lambda j: ((points[j] - query[0]) ** 2).sum())
    alike = [(votes[j] == its_votes[0]).sum() for j in range(n_samples)]
    for t in range(n_members):
        right = [float(votes[j, t] == y[j]) for j in range(n_samples)]
        profile = []
        for rank in range(5):  # the level that holds the sample of this rank, averaged
            level = sorted(alike, reverse=True)[rank]
            profile.append(np.mean([right[j] for j in range(n_samples) if alike[j] == level]))
        expected = [
            *(right[j] for j in nearest), *(supports[j, t] for j in nearest),
            np.mean([right[j] for j in nearest]), *profile, confidence[0, t],
        ]  # fmt: skip
        np.testing.assert_allclose(found[t], expected, atol=1e-12)


def test_profiles_are_those_of_brute_force():
    rng = np.random.default_rng(11)
    for _ in range(shared.cases(60)):
        _, known, weights = random_problem(rng, 1)
        rows = rng.integers(0, len(known.y), 5)
        learning = bool(rng.random() < 0.5)  # the rows are selection samples themselves
        votes = rng.integers(0, known.n_classes, (5, known.votes.shape[1]))
        votes = known.votes[rows] if learning else votes
        found = profile_regions(votes, known, weights, rows if learning else None)
        for i, row in enumerate(rows):
            alike = {
                j: sum((votes[i] == known.votes[j]) & (votes[i] >= 0))
                for j in range(len(known.y))
                if not (learning and j == row)
            }
            expected, reached = [], 0.0
            for level, value in enumerate(sorted(set(alike.values()), reverse=True)):
                if reached >= N_PROFILES:
                    break
                of_level = [j for j in alike if alike[j] == value]
                expected += [(level, j) for j in of_level]
                reached += sum(weights[j] for j in of_level)
            mine = slice(*found.weights.indptr[i : i + 2])
            pairs = list(zip(found.levels[mine], found.weights.indices[mine], strict=True))
            assert pairs == expected
            assert (found.weights.data[mine] == weights[[j for _, j in pairs]]).all()


@pytest.mark.parametrize("classes", [(0, 1), (0,), (1,)])
def test_naive_bayes_is_that_of_scikit_learn(classes):
    rng = np.random.default_rng(5)
    features = rng.random((40, 6, 5))
    features[..., 0] = 1.0  # of no variance
    right = rng.choice(classes, 240)
    features[..., 1] += 0.3 * right.reshape(40, 6)
    features[..., 2] = features[..., 2] < 0.4 + 0.2 * right.reshape(40, 6)
    model = GaussianNB().fit(features.reshape(-1, 5), right)
    expected = np.zeros((40, 6))
    if 1 in classes:
        expected = model.predict_proba(features.reshape(-1, 5))[:, -1].reshape(40, 6)
    expected = competence.or_all(np.where(expected > 0.5, expected, 0.0))
    columns = [features[..., f] for f in range(5)]
    found = meta_weights(model, iter(columns))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    flags = [*columns[:2], columns[2] == 1, *columns[3:]]
    np.testing.assert_array_equal(meta_weights(model, iter(flags)), found)


# -- the estimator ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def halves(waveform):
    X, y = waveform
    return X[:150], y[:150], X[150:], y[150:]


def pool(**settings):
    return BaggingClassifier(StumpClassifier(), n_estimators=15, **settings)


def test_weights_by_hand():
    """Two members, one right on the left and one on the right."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 1, 0, 1])
    left = CARTClassifier().fit([[-2.0], [-1.0]], [0, 1])  # says 1 on the right
    right = CARTClassifier().fit([[1.0], [2.0]], [0, 1])  # says 0 on the left
    chosen = DynamicSelectionClassifier([left, right], "ola", n_neighbors=2, on="train").fit(X, y)
    assert chosen.score(X, y) == 1.0
    assert chosen.member_weights([[-1.2], [1.2], [5.0]]).tolist() == [[1, 0], [0, 1], [1, 1]]
    union = DynamicSelectionClassifier([left, right], "knora_union", n_neighbors=2, on="train").fit(
        X, y
    )
    assert union.member_weights([[-1.2], [1.2]]).tolist() == [[2, 1], [1, 2]]
    assert union.predict_proba([[-1.2]]).tolist() == [[1 / 3, 2 / 3]]


@pytest.mark.parametrize("rule", ALL_RULES)
@pytest.mark.parametrize("on", ["validation", "out_of_bag"])
def test_weight_k_is_k_copies_in_any_order(rule, on, halves):
    X, y, T, _ = halves
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(X))
    copies = rng.permutation(np.repeat(np.arange(len(X)), weights))
    model = DynamicSelectionClassifier(pool(), rule, on=on, random_state=0)
    weighted = model.fit(X, y, sample_weight=weights).predict_proba(T)
    copied = model.fit(X[copies], y[copies]).predict_proba(T)
    np.testing.assert_allclose(weighted, copied, atol=1e-9)


@pytest.mark.parametrize("rule", ALL_RULES)
def test_jobs_change_no_bit_and_random_state_fixes_everything(rule, halves):
    X, y, T, _ = halves
    shares = [
        DynamicSelectionClassifier(pool(), rule, n_jobs=n_jobs, random_state=3).fit(X, y)
        .predict_proba(T).tobytes()
        for n_jobs in (None, 2, None)
    ]  # fmt: skip
    assert len(set(shares)) == 1


@pytest.mark.parametrize("rule", ALL_RULES)
def test_members_of_scikit_learn_and_lists(rule, halves):
    X, y, T, z = halves
    forest = TheirForest(10, max_depth=2, random_state=0).fit(X, y)
    frozen = DynamicSelectionClassifier(
        FrozenEstimator(forest), rule, on="train", random_state=0
    ).fit(T, z)
    assert frozen.member_weights(T).shape == (len(T), 10)
    assert frozen.score(T, z) > 0.7
    kinds = (LogisticRegression(max_iter=1000), GaussianNB(), CARTClassifier())
    several = [kind.fit(X, y) for kind in kinds]
    listed = DynamicSelectionClassifier(several, rule, on="train", random_state=0).fit(T, z)
    assert listed.score(T, z) > 0.75
    np.testing.assert_allclose(listed.predict_proba(X).sum(axis=1), 1.0)


def test_members_that_agree_need_no_region(halves):
    X, y, T, _ = halves
    same = [CARTClassifier().fit(X, y)] * 3
    model = DynamicSelectionClassifier(same, "meta_des", on="train").fit(X, y)
    assert (model.member_weights(T) == 1.0).all()
    assert (model.predict(T) == same[0].predict(T)).all()


@pytest.mark.parametrize("rule", [*SELECTION_RULES, "meta_des", "clusters"])
def test_a_single_selection_sample_is_enough(rule):
    X, y = np.random.default_rng(0).normal(size=(4, 3)), [0, 1, 1, 0]
    pool = BaggingClassifier(n_estimators=9, random_state=0).fit(X, y)
    single = DynamicSelectionClassifier(FrozenEstimator(pool), rule=rule, on="train")
    single.fit(X[:1], y[:1])
    right = pool.votes(X[:1])[:, 0] == y[0]
    assert right.any()
    assert (~right).any()
    np.testing.assert_array_equal(single.predict(X[:1]), [0])


def test_categories_and_missing_values_are_points_too():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = rng.normal(size=300)
    y = np.where(colour == "red", size > 0, size < 0)
    frame = pandas.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=300)})
    frame.loc[rng.random(300) < 0.1, "noise"] = np.nan
    frame.loc[rng.random(300) < 0.1, "colour"] = None
    # A stump sees one feature: only near the row it is known which of them is right.
    model = DynamicSelectionClassifier(
        BaggingClassifier(StumpClassifier(), n_estimators=30, max_samples=0.1), "ola",
        random_state=0,
    ).fit(frame[:200], y[:200])  # fmt: skip
    assert model.points_.shape[1] == 5
    assert model.score(frame[200:], y[200:]) > 0.7


def test_a_pool_of_stumps_is_better_selected_than_counted(halves):
    X, y, T, z = halves
    vote = pool(random_state=0).fit(X, y).score(T, z)
    for rule in ALL_RULES:
        model = DynamicSelectionClassifier(pool(), rule, on="out_of_bag", random_state=0)
        assert model.fit(X, y).score(T, z) > vote - 0.02, rule


def test_what_cannot_be_done_is_named(halves):
    X, y, *_ = halves
    with pytest.raises(ValueError, match="'rule' parameter"):
        DynamicSelectionClassifier(pool(), "best").fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors"):
        DynamicSelectionClassifier(pool(), n_neighbors=0).fit(X, y)
    with pytest.raises(TypeError, match="not a fitted ensemble"):
        DynamicSelectionClassifier(CARTClassifier(), on="validation").fit(X, y)
    several = [CARTClassifier().fit(X, y), StumpClassifier().fit(X, y)]
    with pytest.raises(ValueError, match="out-of-bag"):
        DynamicSelectionClassifier(several, on="out_of_bag").fit(X, y)
    with pytest.raises(ValueError, match="features"):
        DynamicSelectionClassifier(pool()).fit(X, y).predict(X[:, :3])
