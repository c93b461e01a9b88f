"""One run of a study: a method fitted on some rows and scored on others, whole and pruned."""

from __future__ import annotations

import base64
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from orfeon.combining.fitting import fit_with_weights
from orfeon.utils.text import short
from orfeon.utils.types import Floats
from orfeon.utils.user_warning import AdvisedWarning
from orfeon.workbench.experiment.builders import Task
from orfeon.workbench.experiment.methods import METHODS, Method
from orfeon.workbench.experiment.metrics import Answers, losses
from orfeon.workbench.experiment.plan import Folding, candidate_name
from orfeon.workbench.store import RunRow


def full_shares(model: Any, X: Any, n_classes: int) -> Floats:
    """Class probabilities with a column for every class, also for those not met in training."""
    found: Floats = model.predict_proba(X)
    if found.shape[1] == n_classes:
        return found
    shares = np.zeros((len(found), n_classes))
    shares[:, np.asarray(model.classes_, dtype=np.int64)] = found
    return shares


def packed(predictions: Floats) -> dict[str, Any]:
    """Predictions as a store keeps them: in single precision, as text."""
    values = np.ascontiguousarray(predictions, dtype="<f4")
    return {"shape": list(values.shape), "values": base64.b64encode(values.tobytes()).decode()}


def unpacked(stored: Mapping[str, Any]) -> Floats:
    """Predictions from a store, of shape (n_rows, n_outputs)."""
    values = np.frombuffer(base64.b64decode(stored["values"]), dtype="<f4")
    found = values.reshape(stored["shape"]).astype(np.float64)
    return found if found.ndim == 2 else found[:, None]


#: A message of a warning or an error is cut there.
_LONGEST = 300
#: Samples by which predictions are timed, and how often they and a single one are.
_TIMED_ROWS, _TIMES, _ROW_TIMES = 200, 3, 5


class RunKey(NamedTuple):
    """Identifies a run within its study."""

    unit: int
    inner: int | None
    method: str

    @property
    def key(self) -> str:
        """The key in the store."""
        part = "outer" if self.inner is None else f"inner {self.inner}"
        return f"fold {self.unit:05d} {part} {self.method}"

    @staticmethod
    def read(text: str) -> RunKey:
        words = text.split()
        inner = None if words[2] == "outer" else int(words[3])
        return RunKey(int(words[1]), inner, words[-1])


@dataclass(frozen=True)
class Finished(RunRow):
    """A run as it is stored, and what it warned of."""

    warnings: tuple[str, ...] = ()


@contextmanager
def findings() -> Iterator[list[str]]:
    """Collect the warnings of fits, without advice about parameters that a study does not have."""
    answers: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield answers
    # Iterations of linear models and networks end early on purpose.
    kept = (one for one in caught if not issubclass(one.category, ConvergenceWarning))
    messages = (warning.message for warning in kept)
    found = (one.finding if isinstance(one, AdvisedWarning) else one for one in messages)
    answers += sorted({short(one, _LONGEST) for one in found})


@dataclass(frozen=True)
class Evaluation:
    """Evaluates runs; it is sent to where they are run."""

    X: Any
    y: npt.NDArray[Any]
    task: Task
    n_classes: int
    folding: Folding
    rule: str
    keep: tuple[float, ...]
    members: int | None
    seed: int
    n_jobs: int = 1
    metric: str = ""
    keeps_predictions: bool = False
    weights: Floats | None = None
    #: Whether predictions of pruned candidates are kept as well.
    keeps_all: bool = False
    #: Whether models are saved to see how large their files are.
    measures_files: bool = False

    def random_state(self, key: RunKey) -> int:
        """The seed of a run's estimator."""
        words = [self.seed, key.unit, 0 if key.inner is None else 1 + key.inner]
        words.append(zlib.crc32(key.method.encode()))
        return int(np.random.SeedSequence(words).generate_state(1)[0] >> 1)

    def __call__(self, key: RunKey) -> Finished:
        """Fit and measure."""
        start = time.perf_counter()
        outer, inner = self.folding.both(key.unit)
        split = outer if key.inner is None else inner[key.inner]
        seed = self.random_state(key)
        timings: dict[str, float] = {}
        with findings() as answers:
            try:
                result = self._run(key, split.train, split.test, seed, timings)
            except (MemoryError, OSError, ImportError):
                raise  # caused by the machine, so a later attempt may succeed: nothing is stored
            except Exception as error:
                # A method that cannot handle this data is a result, and does not stop the study.
                result = {"failed": short(f"{type(error).__name__}: {error}", _LONGEST)}
        seconds = round(time.perf_counter() - start, 6)
        configuration = {
            "method": key.method,
            "fold": key.unit,
            "inner": key.inner,
            "rule": self.rule,
            "keep": list(self.keep),
            "members": self.members,
        }
        times: dict[str, float | None] = {**timings}
        return Finished(
            key.key, configuration, seed, result, seconds, times, warnings=tuple(answers)
        )

    def _run(
        self,
        key: RunKey,
        train: npt.NDArray[np.int64],
        test: npt.NDArray[np.int64],
        seed: int,
        timings: dict[str, float],
    ) -> dict[str, Any]:
        method = METHODS[key.method]
        X_train, y_train = take_rows(self.X, train), self.y[train]
        X_test, y_test = take_rows(self.X, test), self.y[test]
        weights, counted = (
            None if self.weights is None else self.weights[rows] for rows in (train, test)
        )
        with _Clock(timings, "fit"):
            model = method.build(
                self.task, seed, self.n_jobs, self.members, X=X_train, calibrated=True
            )
            with one_blas_thread():
                model = fit_with_weights(model, X_train, y_train, weights, method.name)
        result: dict[str, Any] = {"scores": {}, "sizes": {}, "n": [len(train), len(test)]}
        if key.inner is None and self.task == "classification":
            result["confusion"] = {}
        found = None
        if method.is_prunable:
            with _Clock(timings, "order"):
                found = order_members(model, X_train, y_train, self.rule, weights)
            if key.inner is None:
                result["curves"] = _curves(model, found, X_test, y_test, counted)
        for name, candidate in self._candidates(method, model, found):
            predicted, answers = self._predict(candidate, X_test)
            result["scores"][name] = losses(
                Answers(y_test, predicted, answers, counted), self.task, self.metric
            )
            if name == method.name and self.keeps_predictions:
                result["predictions"] = packed(answers)
            elif self.keeps_all:
                result.setdefault("pruned predictions", {})[name] = packed(answers)
            result["sizes"][name] = model_size(candidate)
            if self.measures_files and method.is_delivered:
                result["sizes"][name]["bytes"] = file_size(candidate)
            if "confusion" in result:
                result["confusion"][name] = confusions(y_test, predicted)
            if key.inner is None:
                timings[f"predict {name}"] = _prediction_time(candidate, X_test)
                timings[f"row {name}"] = row_time(candidate, X_test)
        return result

    def _predict(self, model: Any, X: Any) -> tuple[npt.NDArray[Any], Floats]:
        """Predicted classes and class probabilities; in regression predictions, twice."""
        if self.task == "regression":
            predicted = np.asarray(model.predict(X), dtype=np.float64)
            return predicted, predicted
        return np.ravel(model.predict(X)).astype(np.int64), full_shares(model, X, self.n_classes)

    def _candidates(self, method: Method, model: Any, found: Any) -> list[tuple[str, Any]]:
        """The whole model and, where members were ordered, its parts."""
        candidates = [(method.name, model)]
        if found is not None:
            candidates += [
                (candidate_name(method.name, share), first_members(model, found, share))
                for share in self.keep
            ]
        return candidates


def one_blas_thread() -> Any:
    """Sums of fits do not depend on the number of processors, nor on what else runs."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")


class _Clock:
    """Notes how long a block takes."""

    def __init__(self, timings: dict[str, float], name: str) -> None:
        self._timings, self._name = timings, name

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *exception: object) -> None:
        self._timings[self._name] = round(time.perf_counter() - self._start, 6)


def confusions(codes: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64]) -> list[list[int]]:
    """True class, predicted class and how often: of many classes most pairs never occur."""
    pairs, counts = np.unique(np.column_stack([codes, predicted]), axis=0, return_counts=True)
    found: list[list[int]] = np.column_stack([pairs, counts]).tolist()
    return found


def _prediction_time(model: Any, X: Any) -> float:
    """Seconds for 1,000 samples: the best of three, as first calls and busy machines add to it."""
    enough = take_rows(X, np.resize(np.arange(len(X)), _TIMED_ROWS))
    seconds = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        model.predict(enough)
        seconds.append(time.perf_counter() - start)
    return round(min(seconds) * 1000.0 / _TIMED_ROWS, 7)


def timing_seconds(timings: Mapping[str, float | None]) -> float:
    """How long the timing of predictions took in a run, which does not depend on its rows."""
    shares = {"predict": _TIMES * _TIMED_ROWS / 1000.0, "row": float(_ROW_TIMES)}
    return sum(shares.get(name.split()[0], 0.0) * (one or 0.0) for name, one in timings.items())


def row_time(model: Any, X: Any) -> float:
    """Seconds for a single sample: the best of five."""
    one = take_rows(X, np.array([0]))
    answer = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as about names that an array does not have
        for _ in range(_ROW_TIMES):
            start = time.perf_counter()
            answer(one)
            seconds.append(time.perf_counter() - start)
    return round(min(seconds), 7)


def file_size(model: Any) -> int:
    """Bytes of the model file, without the preparation of tables."""
    import orfeon

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.orfeon"
        orfeon.save(model, path)
        return path.stat().st_size


def take_rows(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Some rows of an array or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def lean(X: Any) -> Any:
    """Rows as runs get them: numbers alone come as an array, without the cost of a frame."""
    return X.to_numpy() if all(kind.kind == "f" for kind in X.dtypes) else X


def order_members(
    model: Any, X: Any, y: npt.NDArray[Any], rule: str, weights: Floats | None = None
) -> Any:
    """Order the members of a fitted ensemble by its training set."""
    from orfeon.ordering import order

    return order(model, X, y, rule=rule, sample_weight=weights)


def first_members(model: Any, found: Any, keep: float) -> Any:
    """The ensemble of the first members of an order."""
    from orfeon.members import adapt

    return adapt(model).subset(found.members(keep))


def _curves(
    model: Any, found: Any, X: Any, y: npt.NDArray[Any], weights: Floats | None
) -> dict[str, list[float]]:
    """Errors of the first 1, 2, ... members, as trained and as ordered."""
    from orfeon.members.vote_input import read_source
    from orfeon.ordering import error_curve

    if found.n_classes:
        # Classes that were not trained on cannot be voted for; curves go without their samples.
        known = np.isin(y, model.classes_)
        if not known.any():
            return {}
        X, y = take_rows(X, np.flatnonzero(known)), y[known]
        weights = None if weights is None else weights[known]
    selection = read_source(model, X, y, weights).selection
    as_trained = np.arange(len(found))
    return {
        "random": _rounded(error_curve(selection, as_trained)),
        "ordered": _rounded(
            error_curve(selection, found.order, found.subsets, found.member_weights)
        ),
    }


def _rounded(curve: npt.NDArray[np.float64]) -> list[float]:
    """Fewer digits: curves are only drawn, and a store holds thousands of them."""
    return [float(f"{error:.6g}") for error in curve]


def model_size(model: Any) -> dict[str, int | None]:
    """Number of members and of nodes."""
    forests = _forests(model, depth=6)
    nodes = sum(int(forest.n_nodes.sum()) for forest in forests)
    try:
        members = 1 if isinstance(model, Pipeline) else len(model)
    except TypeError:
        members = max(1, sum(len(forest) for forest in forests))
    return {"members": members, "nodes": nodes or None}


def _forests(part: Any, depth: int) -> list[Any]:
    """The forests inside a fitted model, each once."""
    from orfeon.forest import Forest

    found: dict[int, Any] = {}

    def look(at: Any, depth: int) -> None:
        if isinstance(at, Forest):
            found[id(at)] = at
        elif depth == 0 or isinstance(at, np.ndarray | str | bytes | int | float | type(None)):
            return
        elif isinstance(at, list | tuple):
            for item in at:
                look(item, depth - 1)
        elif isinstance(at, Mapping):
            for item in at.values():
                look(item, depth - 1)
        elif type(at).__module__.split(".")[0] in ("orfeon", "sklearn"):
            for name, item in getattr(at, "__dict__", {}).items():
                if name not in ("order_", "_parts"):  # what is kept twice
                    look(item, depth - 1)

    look(part, depth)
    return list(found.values())
