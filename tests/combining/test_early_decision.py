"""Early decision, against one row and one member at a time."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests import shared
from tests.oracles.early_decision import early_decision_of_row

import orfeon.combining
from orfeon import (
    BaggingClassifier,
    IGPCommitteesClassifier,
    RandomForestClassifier,
)
from orfeon.combining import EarlyDecision, early, early_decision, early_decision_votes
from orfeon.datasets import make_waveform
from orfeon.forest import Forest
from orfeon.members.members import EstimatorMembers

CONFIDENCES = ["0.5", "0.75", "0.9", "0.99"]


def random_votes(seed, n_members, n_rows, n_classes):
    """Votes of members that agree more in some rows than in others, so that many are close."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 20.0])), n_rows)
    votes = [rng.choice(n_classes, n_members, p=p) for p in shares]
    return np.array(votes).T


def oracle(votes, confidence="1", block=1, weights=None):
    """Decisions and numbers asked of each row, by the oracle; the classes are those voted for."""
    classes, codes = np.unique(votes, return_inverse=True)
    codes = codes.reshape(votes.shape)
    rows = [
        early_decision_of_row(
            row.tolist(), max(2, len(classes)), Fraction(confidence), block, weights
        )
        for row in codes.T
    ]
    return [classes[code] for code, _ in rows], [queried for _, queried in rows]


def full_vote(votes, n_classes):
    counts = [(votes == k).sum(axis=0) for k in range(n_classes)]
    return np.argmax(counts, axis=0)


def votes_of_the_prior(seed, n_members, n_rows, n_classes):
    """Independent votes of rows whose class probabilities are uniformly distributed."""
    rng = np.random.default_rng(seed)
    upper = np.cumsum(rng.dirichlet(np.ones(n_classes), n_rows), axis=1)
    draws = rng.random((n_members, n_rows))
    return (draws[:, :, None] > upper[None, :, :-1]).sum(axis=2)


class CountingMembers:
    """Members that take note of how many answers they gave."""

    def __init__(self, votes, n_classes, noted=None):
        self.codes, self.n_classes = votes, n_classes
        self.noted = [] if noted is None else noted

    def __len__(self):
        return len(self.codes)

    def subset(self, chosen):
        return CountingMembers(self.codes[np.asarray(chosen)], self.n_classes, self.noted)

    def votes(self, X):
        self.noted.append(len(self) * len(X))
        return self.codes[:, X[:, 0].astype(int)]

    def count_votes(self, X):
        return np.stack([(self.votes(X) == k).sum(axis=0) for k in range(self.n_classes)], axis=1)


@pytest.fixture(scope="module")
def problem():
    X, y = make_waveform(200, random_state=0)
    return X, np.array(["c", "a", "b"])[y], make_waveform(150, random_state=1)[0]


# -- the exact mode --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", range(2, 7))
def test_it_decides_as_the_whole_vote_and_stops_where_the_oracle_does(n_classes):
    for seed in range(shared.cases(60)):
        n_members = 1 + 7 * seed % 20
        votes = random_votes(seed, n_members, 25, n_classes)
        decided = early_decision_votes(votes)
        classes, queried = oracle(votes)
        np.testing.assert_array_equal(decided.predictions, full_vote(votes, n_classes))
        np.testing.assert_array_equal(decided.predictions, classes)
        np.testing.assert_array_equal(decided.n_queried, queried)


@pytest.mark.parametrize("n_members", range(1, 8))
def test_every_vote_of_few_members_is_decided_exactly(n_members):
    for n_classes in (2, 3):
        votes = np.array(list(itertools.product(range(n_classes), repeat=n_members))).T
        decided = early_decision_votes(votes)
        np.testing.assert_array_equal(decided.predictions, full_vote(votes, n_classes))
        np.testing.assert_array_equal(decided.n_queried, oracle(votes)[1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("confidence", ["1", "0.9", "0.5"])
@pytest.mark.parametrize("block", [2, 3, 7, 100])
def test_larger_blocks_never_ask_fewer(block, confidence, n_classes):
    votes = random_votes(3, 40, 40, n_classes)
    one = early_decision_votes(votes, confidence=float(confidence), block=1)
    some = early_decision_votes(votes, confidence=float(confidence), block=block)
    classes, queried = oracle(votes, confidence, block)
    np.testing.assert_array_equal(some.predictions, classes)
    np.testing.assert_array_equal(some.n_queried, queried)
    assert (some.n_queried >= one.n_queried).all()
    assert some.mean_queried > one.mean_queried
    assert np.isin(some.n_queried, [*range(block, 40, block), 40]).all()


def test_nothing_is_decided_before_half_of_the_members_and_agreement_is_then():
    for n_members in (1, 2, 3, 10, 11):
        first, second = np.zeros((2, n_members, 1), int)
        second += 1
        agreed = np.hstack([first, second])
        half = -(-n_members // 2)
        # Ties are for the first class, so that the second needs one vote more.
        assert early_decision_votes(agreed).n_queried.tolist() == [half, n_members // 2 + 1]


def test_a_tie_is_for_the_first_class_only():
    ties = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 1]])
    decided = early_decision_votes(ties)
    assert decided.predictions.tolist() == [0, 0, 0, 0]
    assert decided.n_queried.tolist() == [2, 4, 4, 3]


def test_votes_that_are_all_the_same_still_take_half_of_the_members():
    decided = early_decision_votes(np.full((10, 3), "only"))
    assert decided.predictions.tolist() == ["only"] * 3
    assert decided.n_queried.tolist() == [5, 5, 5]


def test_an_ensemble_of_one_class_needs_one_member(problem):
    X, y, X_new = problem
    forest = RandomForestClassifier(10, random_state=0).fit(X, np.full(len(y), "c"))
    for confidence in (1.0, 0.9):
        decided = early_decision(forest, X_new, confidence=confidence)
        assert set(decided.predictions) == {"c"}
        assert set(decided.n_queried) == {1}


# -- with less than certainty ----------------------------------------------------------------------


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("n_members", [1, 2, 7, 16, 25])
def test_it_stops_where_exact_fractions_say(n_members, n_classes, confidence):
    votes = random_votes(n_members, n_members, shared.cases(80), n_classes)
    decided = early_decision_votes(votes, confidence=float(confidence))
    classes, queried = oracle(votes, confidence)
    np.testing.assert_array_equal(decided.n_queried, queried)
    np.testing.assert_array_equal(decided.predictions, classes)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_members", [51, 200])
def test_fewer_rows_than_allowed_are_decided_otherwise(n_members, n_classes, confidence):
    n_rows = shared.cases(20_000)
    votes = votes_of_the_prior(n_members + n_classes, n_members, n_rows, n_classes)
    decided = early_decision_votes(votes, confidence=confidence)
    otherwise = (decided.predictions != full_vote(votes, n_classes)).mean()
    doubt = 1 - confidence
    assert otherwise <= doubt + 3 * np.sqrt(doubt * confidence / n_rows)
    if n_members == 200:  # what is allowed is made use of; the bound of more classes is cautious
        assert otherwise > doubt * {2: 0.5, 3: 0.4, 5: 0.25}[n_classes]
    exactly = early_decision_votes(votes)
    assert decided.saving > 1.3 * exactly.saving
    assert (exactly.predictions == full_vote(votes, n_classes)).all()


def test_more_confidence_asks_more():
    votes = votes_of_the_prior(0, 101, 2000, 3)
    queried = [
        early_decision_votes(votes, confidence=c).n_queried for c in (0.6, 0.9, 0.99, 0.999, 1.0)
    ]
    for fewer, more in itertools.pairwise(queried):
        assert (fewer <= more).all()
        assert fewer.mean() < more.mean()


def test_the_whole_ensemble_is_asked_when_nothing_else_will_do():
    votes = np.array([[0, 0], [1, 1]] * 10)
    decided = early_decision_votes(votes, confidence=0.999)
    assert decided.n_queried.tolist() == [19, 19]  # nine, nine, and the first class wins ties
    assert decided.predictions.tolist() == [0, 0]


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["whole", "fractions"])
def test_weighted_votes_are_decided_exactly(kind):
    for seed in range(shared.cases(40)):
        rng = np.random.default_rng(seed)
        n_members, n_classes = rng.integers(1, 15), rng.integers(2, 5)
        votes = rng.integers(0, n_classes, (n_members, 30))
        # Halves and quarters have ties as well, all of which floats get right.
        weights = rng.integers(0, 5, n_members) + (1.0 if kind == "whole" else 0.25)
        decided = early_decision_votes(votes, member_weights=weights)
        present = np.unique(votes)
        sums = np.array([(weights[:, None] * (votes == k)).sum(axis=0) for k in present])
        np.testing.assert_array_equal(decided.predictions, present[np.argmax(sums, axis=0)])
        classes, queried = oracle(votes, weights=[Fraction(w) for w in weights])
        np.testing.assert_array_equal(decided.predictions, classes)
        if kind == "whole":
            np.testing.assert_array_equal(decided.n_queried, queried)
        else:  # a lead that is just enough cannot be told from rounding
            assert (decided.n_queried >= queried).all()
        assert decided.mean_queried <= n_members


def test_a_member_with_most_of_the_weight_decides_alone():
    votes = np.array([[1, 0], [0, 1], [0, 1]])
    decided = early_decision_votes(votes, member_weights=[5, 2, 2])
    assert decided.predictions.tolist() == [1, 0]
    assert decided.n_queried.tolist() == [1, 1]
    assert early_decision_votes(votes, member_weights=[4, 2, 2]).n_queried.tolist() == [3, 1]


def test_leads_that_are_only_rounding_decide_nothing():
    # 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1 to a computer, and as much as the first weight.
    weights = [0.1 + 0.2 + 0.3, 0.1, 0.2, 0.3]
    decided = early_decision_votes(
        np.array([[1, 1], [0, 1], [0, 1], [0, 0]]), member_weights=weights
    )
    assert decided.predictions.tolist() == [0, 1]
    assert decided.n_queried.tolist() == [4, 2]


# -- ensembles -------------------------------------------------------------------------------------

ENSEMBLES = {
    "forest": RandomForestClassifier(60, random_state=0),
    "soft": RandomForestClassifier(60, min_samples_leaf=3, combine="soft", random_state=0),
    "soft, pure leaves": RandomForestClassifier(10, combine="soft", random_state=0),
    "estimators": BaggingClassifier(GaussianNB(), 15, random_state=0),
    "soft estimators": BaggingClassifier(GaussianNB(), 12, combine="soft", random_state=0),
    "committees": IGPCommitteesClassifier(9, 5, random_state=0),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles_are_decided_as_they_predict(name, problem):
    X, y, X_new = problem
    ensemble = ENSEMBLES[name].fit(X, y)
    for block in (None, 1, 4):
        decided = early_decision(ensemble, X_new, block=block)
        assert decided.predictions.dtype == ensemble.classes_.dtype
        np.testing.assert_array_equal(decided.predictions, ensemble.predict(X_new))
        assert decided.n_members == len(ensemble.members_)
        assert decided.n_queried.min() >= decided.n_members / 2
        assert decided.saving > 0.1
        if not name.startswith("soft") and block == 1:
            votes = early_decision_votes(ensemble.votes(X_new))
            np.testing.assert_array_equal(decided.n_queried, votes.n_queried)


@pytest.mark.parametrize("name", ["forest", "estimators", "committees"])
def test_less_confidence_asks_fewer_members_of_any_kind(name, problem):
    X, y, X_new = problem
    ensemble = ENSEMBLES[name].fit(X, y)
    decided = early_decision(ensemble, X_new, confidence=0.9, block=1)
    expected = early_decision_votes(ensemble.votes(X_new), confidence=0.9)
    np.testing.assert_array_equal(decided.n_queried, expected.n_queried)
    np.testing.assert_array_equal(decided.predictions, ensemble.classes_[expected.predictions])
    assert decided.mean_queried < early_decision(ensemble, X_new, block=1).mean_queried
    assert (decided.predictions == ensemble.predict(X_new)).mean() > 0.9


@pytest.mark.parametrize("block", [None, 1, 3])
def test_rounding_decides_a_tie_of_supports_as_it_does_in_the_whole_ensemble(block, problem):
    X, y, X_new = problem
    soft = RandomForestClassifier(30, min_samples_leaf=7, combine="soft", random_state=0)
    one = soft.fit(X, y == "a").members_
    # Each tree and its opposite: every sum is a tie, but for rounding.
    other = replace(one, value=one.value[:, ::-1].copy(), label=1 - one.label)
    order = np.random.default_rng(0).permutation(60)
    soft.members_ = Forest.concatenate([one, other]).subset(order)
    decided = early_decision(soft, X_new, block=block)
    np.testing.assert_allclose(soft.predict_proba(X_new), 0.5, atol=1e-12)
    np.testing.assert_array_equal(decided.predictions, soft.predict(X_new))
    assert 0.1 < decided.predictions.mean() < 0.9
    assert set(decided.n_queried) == {60}


def test_trees_are_hardly_asked_about_settled_rows(monkeypatch, problem):
    X, y, X_new = problem
    forest = ENSEMBLES["forest"].fit(X, y)
    answers, count_votes = [], Forest.count_votes
    monkeypatch.setattr(
        Forest,
        "count_votes",
        lambda self, rows: answers.append(len(self) * len(rows)) or count_votes(self, rows),
    )
    decided = early_decision(forest, X_new, confidence=0.99)
    assert decided.n_queried.sum() <= sum(answers) < 1.05 * decided.n_queried.sum()
    monkeypatch.setattr(early, "_VALUES_PER_TREE", 0)
    answers.clear()
    early_decision(forest, X_new, confidence=0.99)
    assert sum(answers) == decided.n_queried.max() * len(X_new)


def test_the_rows_left_are_decided_however_they_are_copied(monkeypatch, problem):
    X, y, X_new = problem
    forest = ENSEMBLES["forest"].fit(X, y)
    expected = early_decision(forest, X_new, confidence=0.99)
    assert 5 < len(np.unique(expected.n_queried)) < 30
    for values in (0, 1, 10, 10**9):
        monkeypatch.setattr(early, "_VALUES_PER_TREE", values)
        found = early_decision(forest, X_new, confidence=0.99)
        np.testing.assert_array_equal(found.n_queried, expected.n_queried)
        np.testing.assert_array_equal(found.predictions, expected.predictions)


def test_a_row_is_decided_whatever_the_others_are_and_in_any_number_of_threads(
    problem, monkeypatch
):
    X, y, _ = problem
    threads, count_votes = set(), Forest.count_votes
    monkeypatch.setattr(
        Forest,
        "count_votes",
        lambda self, rows: threads.add(threading.get_ident()) or count_votes(self, rows),
    )
    X_new, _ = make_waveform(6000, random_state=2)
    forest = RandomForestClassifier(60, random_state=0, n_jobs=2).fit(X, y)
    for confidence in (1.0, 0.95):
        threads.clear()
        whole = early_decision(forest, X_new, confidence=confidence)
        assert threads - {threading.get_ident()}
        single = early_decision(forest.set_params(n_jobs=1), X_new, confidence=confidence)
        forest.set_params(n_jobs=2)
        np.testing.assert_array_equal(whole.n_queried, single.n_queried)
        np.testing.assert_array_equal(whole.predictions, single.predictions)
        for row in (0, 17, 3000):
            alone = early_decision(forest, X_new[row : row + 1], confidence=confidence)
            assert alone.n_queried[0] == whole.n_queried[row]
            assert alone.predictions[0] == whole.predictions[row]


@pytest.mark.parametrize("confidence", [1.0, 0.9])
def test_settled_rows_are_not_asked_about_again(confidence):
    votes = votes_of_the_prior(1, 50, 300, 3)
    members = CountingMembers(votes, 3)
    decided = early_decision(members, np.arange(300.0)[:, None], confidence=confidence)
    assert sum(members.noted) // 3 == decided.n_queried.sum()  # it counts class by class
    one_by_one = early_decision_votes(votes, confidence=confidence)
    assert (decided.n_queried >= one_by_one.n_queried).all()
    assert one_by_one.mean_queried < decided.mean_queried < 1.1 * one_by_one.mean_queried


def test_members_alone_decide_about_codes(problem):
    X, y, X_new = problem
    forest = ENSEMBLES["forest"].fit(X, y)
    decided = early_decision(forest.forest_, X_new.tolist())
    np.testing.assert_array_equal(forest.classes_[decided.predictions], forest.predict(X_new))
    np.testing.assert_array_equal(decided.n_queried, early_decision(forest, X_new).n_queried)
    ordered = early_decision(forest.forest_.subset(range(59, -1, -1)), X_new)
    np.testing.assert_array_equal(ordered.predictions, decided.predictions)
    assert (ordered.n_queried != decided.n_queried).any()


def test_better_members_first_ask_fewer():
    votes = votes_of_the_prior(5, 60, 400, 2)
    agreement = (votes == full_vote(votes, 2)).mean(axis=1)
    best = early_decision_votes(votes[np.argsort(-agreement)])
    worst = early_decision_votes(votes[np.argsort(agreement)])
    np.testing.assert_array_equal(best.predictions, worst.predictions)
    assert best.mean_queried < worst.mean_queried


def test_estimators_of_any_kind_are_members(problem):
    X, y, X_new = problem
    classes, codes = np.unique(y, return_inverse=True)
    some = [KNeighborsClassifier(k).fit(X, codes) for k in (1, 3, 5, 7, 9)]
    members = EstimatorMembers(some, len(classes))
    decided = early_decision(members, X_new.tolist())
    np.testing.assert_array_equal(decided.predictions, full_vote(members.votes(X_new), 3))
    assert decided.saving > 0.3


def test_data_frames_with_categories_and_missing_values_are_welcome():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "number": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
            "word": pandas.Categorical(rng.choice(["x", "y", "z"], 300)),
        }
    )
    y = (frame["number"].fillna(0) > 0) ^ (frame["word"] == "x")
    forest = RandomForestClassifier(40, random_state=0).fit(frame[:200], y[:200])
    decided = early_decision(forest, frame)
    np.testing.assert_array_equal(decided.predictions, forest.predict(frame))
    assert decided.saving > 0.3


def test_sparse_rows_and_frames_reach_estimators_that_take_them(problem):
    pandas = pytest.importorskip("pandas")
    X, y, X_new = problem
    bag = BaggingClassifier(KNeighborsClassifier(3), 5, random_state=0)
    for kind in (sparse.csr_matrix, pandas.DataFrame):
        rows = kind(X_new)
        bag.fit(kind(X), y)
        np.testing.assert_array_equal(early_decision(bag, rows).predictions, bag.predict(rows))


# -- what is reported ------------------------------------------------------------------------------


def test_the_saving_is_the_share_not_asked():
    decided = early_decision_votes(np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]]))
    assert decided.n_queried.tolist() == [2, 4, 4]
    assert decided.mean_queried == pytest.approx(10 / 3)
    assert decided.saving == pytest.approx(1 / 6)
    assert str(decided) == ("3 rows decided exactly by 3.3 of 4 members on average: 16.7% saved")
    nearly = EarlyDecision(decided.predictions, decided.n_queried, 4, 0.95)
    assert "at confidence 0.95" in str(nearly)


def test_the_package_offers_its_names():
    assert {"EarlyDecision", "early_decision"} <= set(dir(orfeon.combining))
    assert orfeon.combining.early_decision is early_decision
    with pytest.raises(AttributeError, match="no attribute 'late_decision'"):
        orfeon.combining.late_decision  # noqa: B018
