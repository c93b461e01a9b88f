"""Whole studies: resumed, spread, sampled, budgeted, and with data of every kind."""

import shutil

import numpy as np
import pandas as pd
import pytest

import orfeon
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.errors import UserError
from orfeon.workbench import run_study
from orfeon.workbench.experiment import bench, conclusion
from orfeon.workbench.experiment.evaluation import Evaluation
from orfeon.workbench.experiment.running import NullListener, Running
from orfeon.workbench.experiment.verdict import verdict
from orfeon.workbench.report.content import warnings_of
from orfeon.workbench.store import Store

TINY = {"methods": ["cart"], "repetitions": 1, "n_inner_folds": 2}
SMALL = {**TINY, "methods": ["baseline", "cart", "bagging"], "members": 15}


@pytest.fixture(scope="module")
def waves():
    X, y = make_waveform(150, random_state=0)
    frame = pd.DataFrame(X[:, 5:15], columns=[f"x{j}" for j in range(10)])
    return frame.assign(wave=np.array(["low", "middle", "high"])[y])


def stored(path):
    """All rows of a store without what differs from run to run."""
    with Store(path, read_only=True) as store:
        return [
            (info.name, row.key, row.configuration, row.seed, row.result)
            for info in store.studies()
            for row in store.study(info.name).rows()
        ]


@pytest.fixture(scope="module")
def whole(waves, tmp_path_factory):
    """A study that ran to its end, and its store; tests only read them."""
    store = tmp_path_factory.mktemp("whole") / "s.db"
    return run_study(waves, "wave", store=store, **SMALL), store


def test_a_study_finds_the_better_method_and_a_model_that_predicts(waves, whole):
    found, _ = whole
    assert found.task == "classification"
    assert found.classes == ("high", "low", "middle")
    assert found.chosen.startswith("bagging")
    assert found.n_outer == 5
    assert found.n_runs == 5 * 3 * 3
    assert [c.name for c in found.candidates][-1] == "baseline"
    assert 0.1 < found.honest.mean("error") < 0.4
    new = found.preparation.transform(waves.drop(columns="wave"))
    assert np.mean(found.model.predict(new) == waves["wave"]) > 0.9  # it has seen them
    assert sum(found.best.confusion.ravel()) == 150
    assert found.showcase.models.keys() >= {found.chosen}
    assert len(found.showcase.X_test) == 30
    assert found.curves[0].method == "bagging"
    assert verdict(found).expected.startswith("Expect an error of ")


@pytest.mark.tools
def test_a_study_is_the_same_with_processes_and_resumes_where_it_stopped(waves, whole, tmp_path):
    """Stopped after some runs of one process, it is resumed by two."""
    expected, store = whole

    class Stop(NullListener):
        n = 0

        def done(self, key, failed):
            self.n += 1
            if self.n == 23:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(waves, "wave", store=tmp_path / "cut.db", listener=Stop(), **SMALL)
    assert len(stored(tmp_path / "cut.db")) == 23
    found = run_study(waves, "wave", store=tmp_path / "cut.db", n_jobs=2, **SMALL)
    assert stored(tmp_path / "cut.db") == stored(store)
    assert found.chosen == expected.chosen
    assert found.honest.chosen == expected.honest.chosen
    X = expected.preparation.transform(waves)
    assert np.array_equal(found.model.predict_proba(X), expected.model.predict_proba(X))


def test_runs_that_are_stored_are_not_made_again(waves, whole, tmp_path, monkeypatch):
    shutil.copy(whole[1], tmp_path / "s.db")
    monkeypatch.setattr(Evaluation, "__call__", lambda self, key: pytest.fail(f"again: {key}"))
    run_study(waves, "wave", store=tmp_path / "s.db", **SMALL)


def test_more_repetitions_go_on_and_another_seed_is_another_study(waves, tmp_path):
    first = run_study(waves, "wave", store=tmp_path / "s.db", **SMALL)
    more = run_study(waves, "wave", store=tmp_path / "s.db", **{**SMALL, "repetitions": 2})
    assert (first.n_outer, more.n_outer) == (5, 10)
    assert np.array_equal(
        more.best.scores["error"][:5], first.candidate(more.chosen).scores["error"]
    )
    other = run_study(waves, "wave", store=tmp_path / "s.db", seed=1, **SMALL)
    assert not np.array_equal(other.honest.scores["error"], first.honest.scores["error"])
    with Store(tmp_path / "s.db", read_only=True) as store:
        assert len(store.studies()) == 2


def test_a_study_of_numbers(tmp_path):
    X, y = make_friedman1(150, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(height=y)
    found = run_study(frame, "height", store=tmp_path / "s.db", **SMALL)
    assert found.task == "regression"
    assert found.metric == "rmse"
    assert found.classes == ()
    baseline = found.candidate("baseline").mean("unexplained")
    assert found.best.mean("unexplained") < 0.5 < baseline
    assert found.best.confusion is None


def test_random_splits_have_a_test_part_of_the_share_asked_for(waves):
    found = run_study(waves, "wave", design="splits", test_share=0.4, **{**TINY, "repetitions": 3})
    assert found.n_outer == 3
    assert (found.n_train, found.n_test) == (90, 60)


def test_rows_of_a_group_stay_together_and_the_group_is_no_feature(waves):
    frame = waves.assign(patient=np.arange(150) // 5)
    found = run_study(frame, "wave", group="patient", **TINY)
    assert found.n_features == 10
    train, test = found.showcase.X_train, found.showcase.X_test
    patients = [set(frame.loc[part.index, "patient"]) for part in (train, test)]
    assert not patients[0] & patients[1]
    with pytest.raises(UserError, match=r"^group: must name a column: 'doctor' is not among"):
        run_study(frame, "wave", group="doctor", **TINY)


def test_groups_stay_with_their_rows_where_targets_are_missing(waves):
    frame = waves.assign(patient=np.arange(150) // 5)
    frame.loc[:9, "wave"] = None
    found = run_study(frame, "wave", group="patient", **TINY)
    assert found.n_rows == 140
    parts = (found.showcase.X_train, found.showcase.X_test)
    patients = [set(frame.iloc[10 + part.index]["patient"]) for part in parts]
    assert not patients[0] & patients[1]


def test_groups_and_rows_asked_for_make_another_study(waves, tmp_path):
    frame = waves.assign(patient=np.arange(150) // 5)
    options = {**TINY, "store": tmp_path / "s.db"}
    plain = run_study(frame, "wave", drop=["patient"], **options)
    grouped = run_study(frame, "wave", group="patient", **options)
    fewer = run_study(frame, "wave", drop=["patient"], compare_rows=60, **options)
    alone = run_study(frame, "wave", group="patient", **TINY)
    assert grouped.best.scores["error"].tolist() == alone.best.scores["error"].tolist()
    assert not np.array_equal(grouped.honest.scores["error"], plain.honest.scores["error"])
    assert (plain.n_studied, fewer.n_studied) == (150, 60)


def test_uneven_test_parts_and_runs_of_several_releases_are_told(waves, tmp_path):
    from dataclasses import replace

    from orfeon.workbench.store import StoredStudy

    frame = waves.assign(patient=np.minimum(np.arange(150), 90))
    put = StoredStudy.put
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            StoredStudy,
            "put",
            lambda self, row: put(
                self, replace(row, versions={"orfeon": "0.0.9"} if "00001" in row.key else {})
            ),
        )
        found = run_study(frame, "wave", group="patient", **TINY)
    assert any(note.startswith("Test sets differ in size, from ") for note in found.notes)
    both = f"several versions of orfeon: 0.0.9, {orfeon.__version__}"
    assert any(both in note for note in found.notes)


def test_warnings_of_fits_are_told_once(waves, monkeypatch, tmp_path):
    import warnings as python_warnings

    from orfeon.workbench.experiment.methods import METHODS, Method

    def warn(members, seed, n_jobs):
        python_warnings.warn("mind the gap", UserWarning, stacklevel=1)
        return METHODS["baseline"].build("classification", seed)

    method = Method("c45", "C4.5 tree", "", {"classification": warn}, members=1)
    monkeypatch.setitem(METHODS, "c45", method)
    found = run_study(
        waves, "wave", methods=["cart", "c45"], repetitions=1, store=tmp_path / "s.db"
    )
    assert [note for note in found.notes if "gap" in note] == ["C4.5 tree: mind the gap"]
    assert all("warnings" not in result for *_, result in stored(tmp_path / "s.db"))


def test_advice_on_parameters_that_a_study_does_not_take_is_left_out(waves, monkeypatch):
    from orfeon import CARTClassifier
    from orfeon.utils.user_warning import AdvisedWarning, warn_user
    from orfeon.workbench.experiment.methods import METHODS, Method

    def warn(members, seed, n_jobs):
        warn_user(AdvisedWarning("The tree is deep.", "Give a smaller max_depth."))
        return CARTClassifier(random_state=seed)

    method = Method("c45", "C4.5 tree", "", {"classification": warn}, members=1)
    monkeypatch.setitem(METHODS, "c45", method)
    found = run_study(waves, "wave", methods=["baseline", "c45"], repetitions=1)
    assert found.chosen == "c45"  # the final model warns, too
    assert [note for note in found.notes if "tree" in note] == ["C4.5 tree: The tree is deep."]


def test_a_sample_is_compared_and_the_model_is_trained_on_all(waves):
    found = run_study(waves, "wave", compare_rows=60, **TINY)
    assert found.n_studied == 60
    assert found.n_rows == 150
    assert found.n_train + found.n_test == 60
    assert any("60 of the 150 rows" in note for note in found.notes)


def test_a_budget_sets_the_sample_of_a_large_table_once(monkeypatch, tmp_path):
    X, y = make_waveform(2500, random_state=0)
    frame = pd.DataFrame(X[:, 5:9], columns=list("abcd")).assign(wave=y)
    monkeypatch.setattr(bench, "time_methods", lambda *a, **k: {"cart": (1.0, 2.0)})
    options = {
        "methods": ["cart"], "n_inner_folds": 3, "budget": 40.0, "n_jobs": 1,
        "store": tmp_path / "s.db",
    }  # fmt: skip
    # 5 folds of 1 + 3 x 2/3 fits on 0.8 n rows of 2 s per 1000 in 60% of 40 s: n = 1000
    found = run_study(frame, "wave", repetitions=1, **options)
    assert found.n_studied == pytest.approx(1000, abs=5)
    monkeypatch.setattr(bench, "time_methods", lambda *a, **k: pytest.fail("settled"))
    again = run_study(frame, "wave", repetitions=1, **options)
    assert again.n_studied == found.n_studied


def test_the_final_model_takes_no_longer_than_the_comparison(waves, tmp_path, monkeypatch):
    monkeypatch.setattr(conclusion, "_LEAST_FIT", 1e-9)
    train, sizes = conclusion.final_model, []
    monkeypatch.setattr(
        conclusion, "final_model", lambda *given: sizes.append(len(given[3])) or train(*given)
    )
    options = {"methods": ["cart"], "store": tmp_path / "s.db", "compare_rows": 60}
    found = run_study(waves, "wave", budget=1e-6, **options)
    assert any(
        note.startswith("The final model is trained on 48 of the 150") for note in found.notes
    )
    whole = run_study(waves, "wave", repetitions=1, **options)
    assert sizes == [48, 150]
    assert not any("final model" in note for note in whole.notes)


class Clock:
    """Every outer fold takes ten seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (5, 2),  # two folds in any case
        (25, 2),  # the third would end late, and so would the repetition
        (42, 5),  # the fifth ends 8 s late: a repetition is worth a fifth of the budget more
        (60, 5),  # another repetition does not fit
        (101, 10),
    ],
)
def test_a_budget_ends_with_a_whole_repetition_if_it_can(seconds, expected, monkeypatch):
    clock, done = Clock(), [0]
    running = Running.__new__(Running)
    running.clock = clock

    def units(numbers):
        clock.now += 10.0 * len(list(numbers))
        done[0] += len(list(numbers))

    monkeypatch.setattr(running, "units", units, raising=False)
    monkeypatch.setattr(running, "_complete", lambda unit=0: done[0], raising=False)
    monkeypatch.setattr(running, "_batch", lambda least, to_end: 1, raising=False)
    assert running.within(seconds, least=2, step=5, started=0.0) == expected


def test_a_budget_is_kept_and_what_it_reached_stands(waves, tmp_path):
    options = {"methods": ["cart"], "store": tmp_path / "s.db"}
    found = run_study(waves, "wave", budget=1e-3, **options)
    assert found.n_outer == 5
    assert run_study(waves, "wave", budget=1e-3, **options).n_outer == 5
    more = run_study(waves, "wave", budget=1e-3, **options, repetitions=1)
    assert more.n_outer == 5


def test_methods_that_fail_are_told_and_the_rest_is_judged(waves, monkeypatch):
    from orfeon.workbench.experiment.methods import METHODS, Method

    def refuse(members, seed, n_jobs):
        raise ValueError("no luck")

    method = Method("c45", "C4.5 tree", "", {"classification": refuse}, members=1)
    monkeypatch.setitem(METHODS, "c45", method)
    found = run_study(waves, "wave", methods=["cart", "c45"], repetitions=1)
    assert found.chosen == "cart"
    assert "C4.5 tree failed in 5 of 5 fits: ValueError: no luck" in found.notes
    with pytest.raises(UserError, match=r"No method could be fitted. C4.5 tree failed"):
        run_study(waves, "wave", methods=["c45"], repetitions=1)


def test_nothing_to_learn_is_said():
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({"u": generator.normal(size=80), "v": generator.normal(size=80)})
    frame["side"] = np.where(np.arange(80) % 4 == 0, "left", "right")
    found = run_study(frame, "side", methods=["baseline", "bagging"], members=10, repetitions=1)
    assert any(text.startswith("No method beats the baseline") for text in warnings_of(found))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 0}, "^budget: must be longer than 0 s"),
        ({"repetitions": 0}, "^repetitions: must be at least 1"),
        ({"compare_rows": 5}, "^compare_rows: must be at least 20"),
        ({"n_folds": 200}, "^n_folds: 150 rows are too few for 200 folds"),
        ({"n_inner_folds": 1}, "^n_inner_folds: must be 0 or at least 2; got 1"),
        ({"keep_columns": ["typo"]}, "^keep_columns: .*typo"),
    ],
)
def test_what_is_not_allowed_is_said(waves, options, words):
    with pytest.raises(UserError, match=words):
        run_study(waves, "wave", **{"methods": ["cart"], **options})
