"""Ctrl-C and other signals while a kernel runs."""

from __future__ import annotations

import _signal
import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tests.shared import assert_same_forest, cases, public_estimators
from tests.test_estimator_checks import make

from orfeon import C45Classifier, CARTClassifier, IGPTreeClassifier, RandomTreeClassifier
from orfeon.growth import blocks, c45, engine
from orfeon.utils.interruption import stoppable
from orfeon.utils.jit import HeldSignals, InterruptibleDispatcher, kernel

RECORD = np.dtype([("number", np.int64), ("value", np.float64)])


class AlarmError(Exception):
    """What a program may let a signal raise."""


@pytest.fixture(autouse=True)
def default_handler():
    """Ctrl-C raises; in the background of a shell it would be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def alarm():
    """SIGALRM raises, as in programs that limit the time of a call."""

    def handle(number, frame):
        raise AlarmError

    before = signal.signal(signal.SIGALRM, handle)
    yield handle
    signal.signal(signal.SIGALRM, before)


def later(number: int, seconds: float) -> threading.Thread:
    def send() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@kernel
def slow_records(records, n):
    total = 0.0
    for i in range(n):
        total += np.sin(i)
    result = records.copy()
    result[0].value = total
    return result


# -- held signals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
def test_a_signal_waits_for_the_end(number, alarm):
    handler = signal.getsignal(number)
    steps = []

    def run() -> None:
        with HeldSignals():
            signal.raise_signal(number)
            steps.append("went on")
        steps.append("not reached")

    with pytest.raises((KeyboardInterrupt, AlarmError)):
        run()
    assert steps == ["went on"]
    assert signal.getsignal(number) is handler


def test_without_a_signal_nothing_is_raised_and_handlers_are_back():
    handler = signal.getsignal(signal.SIGINT)
    with HeldSignals():
        assert signal.getsignal(signal.SIGINT) is not handler
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_handler_that_does_not_raise_runs_once():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        with HeldSignals():
            signal.raise_signal(signal.SIGUSR1)
            signal.raise_signal(signal.SIGUSR1)
            assert seen == []
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_ignored_and_default_signals_are_left_alone():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with HeldSignals():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_beside_an_error_is_not_lost():
    def run() -> None:
        with HeldSignals():
            signal.raise_signal(signal.SIGINT)
            raise MemoryError

    with pytest.raises(KeyboardInterrupt) as caught:
        run()
    assert isinstance(caught.value.__context__, MemoryError)


def test_other_threads_hold_nothing():
    seen = []

    def look() -> None:
        with HeldSignals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def test_a_handler_that_stayed_exchanged_calls_the_one_before(alarm):
    held = HeldSignals()
    held.__enter__()
    held.is_holding = False  # as after another handler has raised in the middle of the exchange
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    held.__exit__()


def test_a_signal_while_handlers_are_exchanged_leaves_them_as_they_were(alarm, monkeypatch):
    exchange = _signal.signal

    def interrupted(number, handler):
        before = exchange(number, handler)
        if number == signal.SIGALRM and handler is not alarm:
            signal.raise_signal(signal.SIGINT)
        return before

    monkeypatch.setattr(_signal, "signal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        HeldSignals().__enter__()
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# -- kernels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
def test_a_kernel_that_returns_records_is_interrupted_cleanly(number, alarm):
    records = np.zeros(3, RECORD)
    slow_records(records, 10)
    for _ in range(cases(4)):
        sender = later(number, 0.05)
        with pytest.raises((KeyboardInterrupt, AlarmError)):
            slow_records(records, 10_000_000)
        sender.join()


# -- fits ------------------------------------------------------------------------------------------


class CallsCounted:
    """Counts the calls of kernels; the one with a given number is interrupted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n_calls = 0
        self.interrupted: int | None = None
        call = InterruptibleDispatcher.__call__

        def counted(dispatcher, *args):
            self.n_calls += 1
            if self.n_calls == self.interrupted:
                raise KeyboardInterrupt
            return call(dispatcher, *args)

        monkeypatch.setattr(InterruptibleDispatcher, "__call__", counted)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", public_estimators().values(), ids=public_estimators())
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(kind, monkeypatch):
    counted = CallsCounted(monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.round(X[:, 0] + X[:, 1], 1)
    y = y if is_regressor(kind()) else (y > 0).astype(int)
    model = make(kind, {})
    model.set_params(**{"random_state": 0} if "random_state" in model.get_params() else {})
    model.fit(X, y)
    n_calls, before = counted.n_calls, dict(model.__dict__)
    for number in sorted({1, (n_calls + 1) // 2, n_calls}) if n_calls else ():
        counted.n_calls, counted.interrupted = 0, number
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert model.__dict__.keys() == before.keys()
        assert all(model.__dict__[name] is value for name, value in before.items())


# -- long kernels ----------------------------------------------------------------------------------


@kernel
def wait_for_the_word(stop, n):
    total = 0.0
    for i in range(n):
        total += np.sin(i)
        if stop[0]:
            return -1.0
    return total


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGALRM])
def test_a_long_kernel_ends_when_a_signal_raises(number, alarm):
    stop = np.zeros(1, np.int64)
    wait_for_the_word(stop, 1)  # compiles
    thread = later(number, 0.1)
    start = time.perf_counter()
    with pytest.raises((KeyboardInterrupt, AlarmError)):
        stoppable(partial(wait_for_the_word, stop, 10**11), stop)
    assert stop[0] == 1
    assert time.perf_counter() - start < 5  # and not half an hour
    thread.join()


def test_a_long_kernel_gives_its_result_and_its_error():
    stop = np.zeros(1, np.int64)
    assert stoppable(partial(wait_for_the_word, stop, 3), stop) == np.sin(1) + np.sin(2)
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, stop)
    assert stop[0] == 0
    names = []
    thread = threading.Thread(
        target=lambda: names.append(stoppable(lambda: threading.current_thread(), stop))
    )
    thread.start()
    thread.join()
    assert names == [thread]


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        CARTClassifier(pruning="cv"),
        C45Classifier(),
        IGPTreeClassifier(random_state=0),
        RandomTreeClassifier(random_state=0),
    ],
    ids=lambda estimator: f"{type(estimator).__name__}-{getattr(estimator, 'pruning', None)}",
)
def test_growing_ends_early_once_the_result_is_not_wanted(estimator, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)), rng.integers(0, 2, 300)
    sizes = []

    def called(call, stop):
        stop[0] = 1
        grown = call()
        starts = grown[0][0] if isinstance(grown[0], tuple) else grown[0]
        sizes.append(int(starts[-1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(blocks, "_LONG", 1)
    for module in (engine, c45):
        monkeypatch.setattr(module, "stoppable", called)
    with pytest.raises(KeyboardInterrupt):
        clone(estimator).fit(X, y)
    assert sizes == [0]
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


def test_a_fit_that_takes_long_gives_the_same_tree(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.integers(0, 2, 200)
    expected = CARTClassifier(random_state=0).fit(X, y).forest_
    monkeypatch.setattr(blocks, "_LONG", 1)
    assert_same_forest(CARTClassifier(random_state=0).fit(X, y).forest_, expected)
