"""Weights, times and test rows: exact weights, no row of the future, scores of new rows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orfeon.datasets import make_friedman1, make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment.metrics import METRICS, Answers
from orfeon.workbench.experiment.plan import Folding
from orfeon.workbench.experiment.scoring import model_answers, scores_with_intervals
from orfeon.workbench.experiment.verdict import verdict

TINY = {"methods": ["baseline", "cart", "bagging", "selection"], "members": 7, "keep": [0.4]}


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(160, random_state=0)
    frame = pd.DataFrame(X[:, 5:12], columns=[f"x{j}" for j in range(7)])
    return frame.assign(wave=np.array(["low", "middle", "high"])[y])


# -- time ------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 30), min_size=4, max_size=60), st.integers(2, 6))
def test_each_fold_trains_on_all_of_the_past_and_tests_on_what_comes_next(times, n_folds):
    when = np.array(times, dtype=float)
    if len(np.unique(when)) <= n_folds:
        with pytest.raises(UserError, match="times after the first are too few"):
            Folding(when, False, 0, "time", n_folds, 0, times=when)
        return
    folding = Folding(when, False, 0, "time", n_folds, 0, times=when)
    tested = []
    for unit in range(n_folds):
        train, test = folding.outer(unit)
        assert len(train)
        assert len(test)
        assert when[train].max() < when[test].min()
        assert sorted(train) == sorted(np.flatnonzero(when < when[test].min()))
        tested.append(test)
    assert len(np.unique(np.concatenate(tested))) == sum(map(len, tested))
    assert max(when) in when[tested[0]]  # the first fold tests on the latest rows
    assert all(when[a].min() > when[b].max() for a, b in itertools.pairwise(tested))


def test_spans_have_about_equal_rows_where_times_differ():
    folding = Folding(np.zeros(60), False, 0, "time", 5, 0, times=np.arange(60.0)[::-1])
    assert [len(folding.outer(unit).test) for unit in range(5)] == [10] * 5
    assert [len(folding.outer(unit).train) for unit in range(5)] == [50, 40, 30, 20, 10]


def test_a_study_in_time_reads_dates_and_chooses_by_the_past(waves, tmp_path):
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=160).strftime("%d/%m/%Y")
    order = rng.permutation(160)
    frame = waves.assign(day=np.array(days)[order])
    found = run_study(frame, "wave", time_column="day", **TINY, n_folds=4, repetitions=3)
    assert (found.n_outer, found.n_features) == (4, 7)
    assert len(found.honest.chosen) == 3  # nothing precedes the first rows
    train = order[found.showcase.X_train.index]
    test = order[found.showcase.X_test.index]
    assert train.max() < test.min()
    assert test.max() == 159
    assert any("trained on the past and tested on the future, by day" in n for n in found.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"design": "splits"}, "design: must be cv with time_column"),
        ({"n_inner_folds": 3}, "n_inner_folds: must be 0 with time_column"),
        ({"group": "x1"}, "group: must be None with time_column"),
        ({"time_column": "day"}, "time_column: must name a column: 'day' is not among"),
        ({"time_column": "wave"}, "time_column: must not be the target"),
        (
            {"time_column": "gaps"},
            "time_column: must hold a date or a number in every row; 'gaps' has",
        ),
        ({"n_folds": 300}, "n_folds: 159 times after the first are too few for 300 folds"),
    ],
)
def test_what_does_not_go_with_time_is_named(waves, options, words):
    frame = waves.assign(gaps=np.where(np.arange(160) < 5, np.nan, np.arange(160)))
    with pytest.raises(UserError, match=f"^{words}"):
        run_study(frame, "wave", **{"time_column": "x0", **TINY, "repetitions": 1, **options})


# -- weights ---------------------------------------------------------------------------------------


def test_weights_count_in_fits_and_scores_and_zeros_are_absent(waves):
    weights = np.random.default_rng(0).integers(0, 4, 160)
    settings = {**TINY, "repetitions": 1}
    found = run_study(waves.assign(w=weights), "wave", weights="w", **settings)
    there = waves[weights > 0].reset_index(drop=True)
    same = run_study(there.assign(w=weights[weights > 0]), "wave", weights="w", **settings)
    assert (found.n_rows, found.n_features) == ((weights > 0).sum(), 7)
    for one in found.candidates:
        np.testing.assert_array_equal(one.scores["error"], same.candidate(one.name).scores["error"])
    equal = run_study(there, "wave", **settings)
    assert not np.array_equal(equal.best.scores["error"], found.best.scores["error"])
    # The baseline's error of a fold is the weight of the rows that are not of the heaviest class.
    heavy = run_study(
        there.assign(w=np.where(there["wave"] == "low", 50.0, 1.0)), "wave", weights="w", **settings
    )
    assert heavy.candidate("baseline").mean("error") < 0.1
    assert any(note.startswith("Fits and scores are weighted by w;") for note in found.notes)


def test_uneven_weights_widen_the_interval_of_an_error(waves):
    settings = {"methods": ["baseline"], "repetitions": 1}
    even = run_study(waves.assign(w=3.0), "wave", weights="w", **settings)
    uneven = waves.assign(w=np.where(np.arange(160) % 10 == 0, 40.0, 1.0))
    wide = run_study(uneven, "wave", weights="w", **settings)
    assert np.ptp(wide.best.interval) > 1.5 * np.ptp(even.best.interval)


@pytest.mark.parametrize("bad", [np.full(160, -1.0), np.zeros(160), np.full(160, np.nan)])
def test_weights_that_are_none_are_rejected(waves, bad):
    with pytest.raises(UserError, match=r"^weights: 'w' must hold numbers that are 0 or more"):
        run_study(waves.assign(w=bad), "wave", weights="w", **TINY)


# -- test rows -------------------------------------------------------------------------------------


def test_rows_kept_aside_score_the_final_model_and_change_nothing_else(waves):
    settings = {**TINY, "repetitions": 1}
    kept, rest = waves[:60], waves[60:].reset_index(drop=True)
    plain = run_study(rest, "wave", **settings)
    found = run_study(rest, "wave", test=kept, test_name="later", **settings)
    assert found.honest.mean("error") == plain.honest.mean("error")
    X = found.preparation.transform(kept)
    np.testing.assert_array_equal(found.model.predict_proba(X), plain.model.predict_proba(X))
    value, low, high = found.tested.scores["error"]
    assert value == np.mean(found.model.predict(X) != kept["wave"])
    assert low < value < high
    assert f"On the 60 rows of later, which the study did not use, the model has error {value:.1%}"\
        in verdict(found).expected  # fmt: skip
    assert found.tested.n_seen == 0
    again = run_study(rest, "wave", test=rest[:30], test_name="old", **settings)
    assert any(note.startswith("30 of the 30 rows of old equal a train") for note in again.notes)


def test_test_rows_are_weighted_and_may_have_unknown_classes_and_no_target(waves):
    kept = waves[:40].assign(w=1.0)
    kept.loc[:4, "wave"] = "new"
    kept.loc[5:9, "wave"] = None
    kept.loc[10, "w"] = 0.0
    rest = waves[40:].assign(w=2.0)
    found = run_study(
        rest, "wave", methods=["cart"], repetitions=1, weights="w", test=kept, test_name="kept"
    )
    assert (found.tested.n_rows, found.tested.n_unknown) == (29, 5)
    with pytest.raises(UserError, match=r"^test: must have the target 'wave'"):
        run_study(rest, "wave", methods=["cart"], test=kept.drop(columns="wave"))


def test_numbers_are_scored_with_intervals():
    X, y = make_friedman1(80, random_state=0)
    frame = pd.DataFrame(X[:, :5], columns=list("abcde")).assign(y=y)
    found = run_study(frame[:60], "y", methods=["cart"], repetitions=1, test=frame[60:])
    answers, _ = model_answers(
        found.model, found.preparation.transform(frame[60:]), y[60:], "regression"
    )
    assert found.tested.scores["rmse"][0] == METRICS["regression"]["rmse"].of(answers)
    assert scores_with_intervals(answers, "regression") == dict(found.tested.scores)
    assert isinstance(answers, Answers)
