"""Progress of long fits: what the bar writes, and what scikit-learn's callbacks hear."""

from __future__ import annotations

import io
import re
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone

from orfeon.utils.progress import CallbackSupport, ProgressBar, report_progress


class Screen(io.StringIO):
    """A terminal that remembers what was written to it."""

    def isatty(self):
        return True


class Clock:
    """Time that passes when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def drawings(screen: Screen) -> list[str]:
    assert screen.getvalue().endswith("\n")
    return [line.rstrip() for line in screen.getvalue()[:-1].split("\r")[1:]]


# -- the bar ---------------------------------------------------------------------------------------


def test_a_terminal_shows_share_rate_and_time_left():
    clock, screen = Clock(), Screen()
    with ProgressBar(200, label="Bagging", file=screen, clock=clock) as bar:
        clock.now += 2.0
        bar.update(50)
        clock.now += 6.0
        bar.update(150)
    assert drawings(screen) == [
        "Bagging  0/200 [--------------------]   0%",
        "Bagging  50/200 [#####---------------]  25%  25/s  0:06 left",
        "Bagging  200/200 [####################] 100%  25/s  in 0:08",
        "Bagging  200/200 [####################] 100%  25/s  in 0:08",
    ]


def test_a_terminal_is_redrawn_at_most_ten_times_a_second():
    clock, screen = Clock(), Screen()
    with ProgressBar(10_000, file=screen, clock=clock) as bar:
        for _ in range(9_999):
            clock.now += 0.001
            bar.update()
    shown = drawings(screen)
    assert 95 <= len(shown) <= 102
    assert shown[-1].startswith("9999/10000")


@pytest.mark.parametrize("block", [1, 7, 64])
def test_other_streams_get_a_line_at_every_tenth(block):
    stream = io.StringIO()
    with ProgressBar(1000, file=stream) as bar:
        for start in range(0, 1000, block):
            bar.update(min(block, 1000 - start))
    lines = stream.getvalue().splitlines()
    percents = [int(re.search(r"(\d+)%", line)[1]) for line in lines]
    assert len(lines) == 10
    assert all(10 * (k + 1) <= p < 10 * (k + 1) + 7 for k, p in enumerate(percents))
    assert percents[-1] == 100
    assert "\r" not in stream.getvalue()


def test_fewer_members_than_tenths_get_a_line_each():
    stream = io.StringIO()
    with ProgressBar(3, file=stream) as bar:
        for _ in range(3):
            bar.update()
    assert [line[:3] for line in stream.getvalue().splitlines()] == ["1/3", "2/3", "3/3"]


def test_lines_never_exceed_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    screen = Screen()
    with ProgressBar(5, label="a very long label indeed, longer than that", file=screen) as bar:
        bar.update(5)
    assert {len(line) for line in screen.getvalue()[:-1].split("\r")[1:]} == {29}


@pytest.mark.parametrize("stream", [Screen(), io.StringIO()])
def test_an_interrupted_fit_leaves_the_cursor_on_a_fresh_line(stream):
    bar = ProgressBar(100, file=stream)
    with suppress(KeyboardInterrupt), bar:
        bar.update(37)
        raise KeyboardInterrupt
    assert "37/100" in stream.getvalue()
    assert stream.getvalue().endswith("\n")
    written = stream.getvalue()
    bar.close()
    bar.update(5)
    assert stream.getvalue() == written


@pytest.mark.parametrize(("total", "verbose"), [(10, 0), (10, False), (0, 1)])
def test_nothing_is_shown_without_verbose_or_without_members(total, verbose):
    screen = Screen()
    with ProgressBar(total, verbose=verbose, file=screen) as bar:
        bar.update(total)
    assert bar.done == total
    assert screen.getvalue() == ""


def test_a_stream_that_cannot_be_written_to_does_not_stop_the_fit(monkeypatch):
    closed = Screen()
    bar = ProgressBar(10, file=closed)
    closed.close()
    with bar:
        bar.update(10)
    assert bar.done == 10
    monkeypatch.setattr(sys, "stderr", None)
    with ProgressBar(10) as bar:
        bar.update(10)
    assert bar.done == 10


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0.25, "4.0 s each"), (1.0, "1.0/s"), (9.94, "9.9/s"), (12.2, "12/s"), (54321.0, "54,321/s")],
)
def test_rates_are_readable(rate, text):
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(2, file=stream, clock=clock) as bar:
        clock.now += 1 / rate
        bar.update()
    assert f"50%  {text}  " in stream.getvalue().splitlines()[0]


@pytest.mark.parametrize(
    ("seconds", "text"), [(9.6, "0:10"), (61, "1:01"), (3599.7, "1:00:00"), (36_000, "10:00:00")]
)
def test_durations_are_readable(seconds, text):
    clock, stream = Clock(), io.StringIO()
    with ProgressBar(2, file=stream, clock=clock) as bar:
        clock.now += seconds
        bar.update()
    assert stream.getvalue().splitlines()[0].endswith(f"{text} left")


def test_threads_lose_no_update():
    stream = io.StringIO()
    with ProgressBar(4000, file=stream) as bar:
        workers = [
            threading.Thread(target=lambda: [bar.update() for _ in range(1000)]) for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert bar.done == 4000
    assert len(stream.getvalue().splitlines()) == 10


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="total=-1"):
        ProgressBar(-1)
    with pytest.raises(ValueError, match="verbose=-2"):
        ProgressBar(3, verbose=-2)
    with pytest.raises(ValueError, match="n=-4"):
        ProgressBar(3, verbose=0).update(-4)


# -- a fit that tells of it ------------------------------------------------------------------------


class Committee(CallbackSupport, ClassifierMixin, BaseEstimator):
    """Members that all vote for the most frequent class, trained in blocks."""

    _parameter_constraints: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, n_estimators=10, block=4, verbose=0, fail_after=None):
        self.n_estimators = n_estimators
        self.block = block
        self.verbose = verbose
        self.fail_after = fail_after

    def fit(self, X, y, sample_weight=None):
        done = 0
        with report_progress(
            self, self.n_estimators, self.verbose, X=X, y=y, sample_weight=sample_weight
        ) as progress:
            self.classes_, counts = np.unique(y, return_counts=True)
            while done < self.n_estimators and not progress.stop_requested:
                if self.fail_after is not None and done >= self.fail_after:
                    raise RuntimeError("no more data")
                size = min(self.block, self.n_estimators - done)
                done += size
                answer = self.classes_[np.argmax(counts)]
                progress.update(size, partial(dict, n_members_=done, answer_=answer))
            self.n_members_, self.answer_ = done, answer
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


class ValidatedCommittee(Committee):
    """The same, with scikit-learn's decorator, which also tears callbacks down."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 1, 1, 0, 1])


def test_verbose_shows_the_members_of_an_estimator(capsys):
    Committee(n_estimators=20, block=5, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" [")[0] for line in lines] == [
        f"Committee  {k}/20" for k in (5, 10, 15, 20)
    ]
    Committee(n_estimators=20).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_a_failing_fit_says_how_far_it_came(capsys):
    with pytest.raises(RuntimeError, match="no more data"):
        Committee(n_estimators=100, block=5, verbose=1, fail_after=5).fit(X, Y)
    assert capsys.readouterr().err.splitlines()[-1].startswith("Committee  5/100")


def test_a_negative_verbose_is_refused():
    with pytest.raises(ValueError, match="verbose=-1"):
        Committee(verbose=-1).fit(X, Y)


def test_nobody_listening_costs_less_than_a_millisecond():
    estimator = Committee()

    def once() -> float:
        start = time.perf_counter()
        with report_progress(estimator, 1000, X=X, y=Y) as progress:
            for _ in range(1000):
                progress.update()
        return time.perf_counter() - start

    assert min(once() for _ in range(20)) < 1e-3


# -- scikit-learn's callbacks ----------------------------------------------------------------------


class Recorder:
    """A callback that notes what it hears."""

    def __init__(self, stop_after=None, fail_at=None):
        self.answered: list[tuple[str, str]] = []
        self.models: list[Any] = []
        self.given: dict[str, Any] = {}
        self.stop_after = stop_after
        self.fail_at = fail_at

    def _predict_train(self, what: str, context: Any) -> None:
        self.answered.append((what, context.task_name))
        if self.fail_at == what:
            raise ArithmeticError(what)

    def setup(self, estimator, context):
        self._predict_train("setup", context)

    def teardown(self, estimator, context):
        self._predict_train("teardown", context)

    def on_fit_task_begin(self, estimator, context):
        self._predict_train("begin", context)

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self._predict_train("end", context)
        self.models.append(fitted_estimator)
        self.given = {"X": X, "y": y, "metadata": metadata}
        return self.stop_after is not None and self.answered.count(("end", "member")) == (
            self.stop_after
        )


@pytest.fixture
def callbacks() -> Any:
    return pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


both = pytest.mark.parametrize("kind", [Committee, ValidatedCommittee])


@both
def test_each_member_is_a_task_of_the_fit(callbacks, kind):
    recorder = Recorder()
    weight = np.ones(6)
    model = kind().set_callbacks(recorder).fit(X, Y, sample_weight=weight)
    assert model.n_members_ == 10
    member = [("begin", "member"), ("end", "member")]
    assert recorder.answered == [
        ("setup", "fit"), ("begin", "fit"), *member * 10, ("end", "fit"), ("teardown", "fit"),
    ]  # fmt: skip
    assert recorder.given["X"] is X
    assert recorder.given["y"] is Y
    assert recorder.given["metadata"]["sample_weight"] is weight


def test_callbacks_get_a_working_copy_after_each_block_and_at_the_end(callbacks):
    recorder = Recorder()
    Committee().set_callbacks(recorder).fit(X, Y)
    sizes = [None if model is None else model.n_members_ for model in recorder.models]
    assert sizes == [None] * 3 + [4] + [None] * 3 + [8, None, 10, 10]
    assert recorder.models[3].predict(X).tolist() == [1] * 6


@both
def test_a_callback_can_stop_the_training(callbacks, kind):
    recorder = Recorder(stop_after=5)
    model = kind(n_estimators=100).set_callbacks(recorder).fit(X, Y)
    assert model.n_members_ == 8
    assert recorder.answered[-2:] == [("end", "fit"), ("teardown", "fit")]


@both
@pytest.mark.parametrize("fail_at", ["setup", "begin", "end", "teardown"])
def test_callbacks_are_torn_down_once_whatever_fails_in_them(callbacks, kind, fail_at):
    recorder = Recorder(fail_at=fail_at)
    estimator = kind().set_callbacks(recorder)
    with pytest.raises(ArithmeticError, match=fail_at):
        estimator.fit(X, Y)
    assert [what for what, _ in recorder.answered].count("teardown") == 1
    assert not hasattr(estimator, "_callback_fit_ctx")


@both
def test_callbacks_are_torn_down_when_the_fit_fails(callbacks, kind):
    recorder = Recorder()
    with pytest.raises(RuntimeError, match="no more data"):
        kind(fail_after=4).set_callbacks(recorder).fit(X, Y)
    assert recorder.answered[-1] == ("teardown", "fit")
    assert ("end", "fit") not in recorder.answered


def test_more_updates_than_announced_are_not_passed_on(callbacks):
    recorder = Recorder()
    estimator = Committee().set_callbacks(recorder)
    with report_progress(estimator, 3) as progress:
        progress.update(2)
        progress.update(2)
    assert recorder.answered.count(("end", "member")) == 3


def test_a_bar_and_callbacks_at_once(callbacks, capsys):
    recorder = Recorder()
    Committee(verbose=1).set_callbacks(recorder).fit(X, Y)
    assert recorder.answered.count(("end", "member")) == 10
    assert "Committee  10/10" in capsys.readouterr().err


def test_threads_give_each_member_a_task_of_its_own(callbacks):
    class Numbers(Recorder):
        def on_fit_task_begin(self, estimator, context):
            self.answered.append(("begin", context.task_id))

    recorder = Numbers()
    with report_progress(Committee().set_callbacks(recorder), 400) as progress:
        workers = [
            threading.Thread(target=lambda: [progress.update(2) for _ in range(50)])
            for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    numbers = [number for what, number in recorder.answered if what == "begin"]
    assert numbers == [0, *range(400)]


def test_scoring_monitor_scores_each_block_and_the_final_model(callbacks):
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    ValidatedCommittee().set_callbacks(monitor).fit(X, Y)
    rows = monitor.get_logs().data
    assert [(row["task_name"], row["task_id"]) for row in rows] == [
        ("fit", 0), ("member", 3), ("member", 7), ("member", 9),
    ]  # fmt: skip
    assert all(row["accuracy"] == pytest.approx(4 / 6) for row in rows)


def test_a_search_reaches_the_members_of_its_candidates(callbacks):
    from sklearn.model_selection import GridSearchCV

    class Propagated(Recorder):
        max_propagation_depth = None

    recorder = Propagated()
    search = GridSearchCV(ValidatedCommittee(), {"n_estimators": [3, 5]}, cv=2)
    search.set_callbacks(recorder).fit(X, Y)
    # Two folds of each candidate, then the better one again (the first of a tie).
    assert recorder.answered.count(("end", "member")) == 2 * (3 + 5) + 3
    assert not hasattr(search.best_estimator_, "_skl_callbacks")


def test_clones_keep_their_callbacks(callbacks):
    recorder = Recorder()
    clone(Committee().set_callbacks(recorder)).fit(X, Y)
    assert recorder.answered.count(("end", "member")) == 10


def test_the_progress_bar_of_scikit_learn_shows_the_members(callbacks, capsys):
    pytest.importorskip("rich", reason="scikit-learn's progress bar needs rich")
    ValidatedCommittee().set_callbacks(callbacks.ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert "ValidatedCommittee - fit" in shown
    assert "100%" in shown


def test_without_callbacks_in_scikit_learn_the_base_adds_nothing():
    try:
        import sklearn.callback as _  # noqa: F401
    except ImportError:
        assert not hasattr(CallbackSupport, "set_callbacks")
    else:
        assert CallbackSupport.__name__ == "CallbackSupportMixin"
