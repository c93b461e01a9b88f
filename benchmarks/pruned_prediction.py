"""What pruning saves in prediction, and what it does to the test error.

A fifth of the members is kept, in the order of margin distance, by their votes on the training set
and, beside it, by their votes on what they were not trained on. Then the same ensembles query
members one by one until the decision is clear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import sklearn.ensemble

import orfeon
from benchmarks import problems
from benchmarks.contestants import ORFEON, SCIKIT_LEARN
from benchmarks.model_size import forest_bytes, scikit_learn_bytes
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case
from benchmarks.timing import Contender, interleave, one_thread
from orfeon import combining

_KEEP = 0.2
#: How sure an early decision must be: 1 is certain.
_CONFIDENCES = (1.0, 0.99)
#: What the pruned forest of scikit-learn must reach.
_TARGET = Target("at least", 4, "x")


@dataclass(frozen=True)
class Size:
    """A problem, and how much work is done on it."""

    #: What the problem is called.
    name: str
    #: Makes so many rows.
    make: Callable[[int], Data]
    #: Rows of the training set.
    n_rows: int
    #: Members of the whole ensemble.
    n_members: int
    #: Rows predicted, which are the test set.
    n_queried: int = 10_000


_CLUSTERS = partial(problems.clusters, n_features=20)
FULL = (
    Size("waveform 300", problems.waveform, 300, 200),
    Size("waveform 5000", problems.waveform, 5000, 500),
    Size("clusters 5000", _CLUSTERS, 5000, 500),
)
QUICK = (Size("waveform 300", problems.waveform, 300, 200),)


def _bagged_pruned(**settings: Any) -> Any:
    return orfeon.BaggingClassifier(orfeon.CARTClassifier(pruning="cv"), **settings)


#: Ensembles by library and name; "cv" is of trees pruned by cross-validation.
MODELS: dict[tuple[str, str], Callable[..., Any]] = {
    (ORFEON, "bagging (cv)"): _bagged_pruned,
    (ORFEON, "bagging"): orfeon.BaggingClassifier,
    (ORFEON, "random forest"): orfeon.RandomForestClassifier,
    (SCIKIT_LEARN, "bagging"): sklearn.ensemble.BaggingClassifier,
    (SCIKIT_LEARN, "random forest"): sklearn.ensemble.RandomForestClassifier,
}
_HELD = (SCIKIT_LEARN, "random forest")
#: Trees pruned by cross-validation take long to train: fewer of them, from this many rows on.
_LARGE, _FEWER = 2000, 100


@dataclass(frozen=True)
class Fitted:
    """A fitted ensemble, its training set and its test set."""

    model: Any
    training: Data
    test: Data

    @property
    def n_members(self) -> int:
        """Members of the ensemble."""
        return len(self.model.estimators_)

    def rows(self, data: Data) -> Any:
        """The rows in the form that the ensemble likes best."""
        return data.narrow if _is_scikit_learns(self.model) else data.X

    def error(self, model: Any) -> float:
        """Test error of the ensemble or a part of it."""
        return 1 - float(model.score(self.rows(self.test), self.test.y))


def _is_scikit_learns(model: Any) -> bool:
    return type(model).__module__.startswith("sklearn.")


@cache
def fitted(name: tuple[str, str], size: Size) -> Fitted:
    """Train the ensemble of a name; once for all cases that use it."""
    training, test = problems.with_test(size.make, size.n_rows, size.n_queried)
    n_members = size.n_members
    if MODELS[name] is _bagged_pruned and size.n_rows >= _LARGE:
        n_members = min(n_members, _FEWER)
    model = MODELS[name](n_estimators=n_members, n_jobs=1, random_state=0)
    whole = Fitted(model, training, test)
    model.fit(whole.rows(training), training.y)
    return whole


def model_bytes(model: Any) -> int:
    """Bytes of the trees of an ensemble."""
    return scikit_learn_bytes(model) if _is_scikit_learns(model) else forest_bytes(model.forest_)


def pruned(name: tuple[str, str], case: str, size: Size, rounds: int) -> list[Measurement]:
    """Time and memory of the kept members, as against the whole; the test errors as notes."""
    whole = fitted(name, size)
    training, test = whole.training, whole.test
    rows = whole.rows(test)
    small, by_others = (
        orfeon.prune(whole.model, whole.rows(training), training.y, keep=_KEEP, on=on)
        for on in ("train", "out_of_bag")
    )
    everyone = f"{name[0]}, all {whole.n_members} members"
    with one_thread():
        timings = interleave(
            [
                Contender("kept", partial(small.predict, rows)),
                Contender(everyone, partial(whole.model.predict, rows)),
            ],
            rounds=rounds,
        )
    errors = {
        "all": whole.error(whole.model),
        "kept": whole.error(small),
        "kept_out_of_bag": whole.error(by_others),
    }
    bytes_kept, bytes_all = model_bytes(small), model_bytes(whole.model)
    note = (
        f"{case} ({name[0]}): {len(small.estimators_)} of {whole.n_members} members kept; test "
        f"error of all {errors['all']:.2%}, of those kept {errors['kept']:.2%}, when ordered by "
        f"out-of-bag votes {errors['kept_out_of_bag']:.2%}."
    )
    detail = {"test_errors": errors, "bytes": bytes_kept, "bytes_of_all": bytes_all}
    target = {everyone: _TARGET} if name == _HELD else None
    lines = compare(
        case, test.shape, timings, targets=target, notes={everyone: [note]}, detail=detail
    )
    memory = Measurement(
        f"{case}, memory", *test.shape, figure=bytes_kept / bytes_all, unit="share", peer=everyone,
        notes=[f"{case} ({name[0]}): {bytes_kept / 1e6:.2f} MB, before {bytes_all / 1e6:.2f} MB."],
        detail=detail,
    )  # fmt: skip
    return [*lines, memory]


def decided_early(name: tuple[str, str], case: str, size: Size, rounds: int) -> list[Measurement]:
    """Members queried, and the time, against a prediction by all."""
    whole = fitted(name, size)
    rows, lines = whole.rows(whole.test), []
    everyone = f"all {whole.n_members} members"
    for confidence in _CONFIDENCES:
        text = f"early {confidence:g}, {case}"
        early = partial(combining.early_decision, whole.model, rows, confidence=confidence)
        with one_thread():
            timings = interleave(
                [
                    Contender("early", early),
                    Contender(everyone, partial(whole.model.predict, rows)),
                ],
                rounds=rounds,
            )
        found, full = timings["early"].result, timings[everyone].result
        other = float((found.predictions != full).mean())
        if confidence == 1 and other:
            raise AssertionError(f"{text}: an exact early decision differs on {other:.2%} of rows")
        error = float((found.predictions != whole.test.y).mean())
        note = (
            f"{text}: {found.mean_queried:.1f} of {found.n_members} members queried; "
            f"{other:.2%} of the rows decided otherwise; test error {error:.2%}, of all "
            f"{whole.error(whole.model):.2%}."
        )
        lines += compare(
            text, whole.test.shape, timings, notes={everyone: [note]},
            detail={"mean_queried": found.mean_queried, "differ": other, "test_error": error},
        )  # fmt: skip
    return lines


def cases(sizes: Sequence[Size], rounds: int) -> list[Case]:
    """Pruning and early decision, for each ensemble on each problem."""
    found = []
    for size in sizes:
        for name in MODELS:
            case = f"{name[1]}, {size.name}"
            run = partial(pruned, name, case, size, rounds)
            found.append(Case(f"pruned {case}, {name[0]}", run))
    for size in sizes:
        for name in ((ORFEON, "bagging"), (ORFEON, "random forest")):
            case = f"{name[1]}, {size.name}"
            found.append(Case(f"early, {case}", partial(decided_early, name, case, size, rounds)))
    return found
