"""A served model: its columns, and the fastest way from cells to predictions."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.base import TabularEstimator
from orfeon.data.schema import names_of
from orfeon.errors import UserError
from orfeon.utils.types import Floats
from orfeon.workbench.prepare.columns import InputColumn
from orfeon.workbench.prepare.preparation import Preparation, read_preparation
from orfeon.workbench.serve.columns import (
    AnyReader,
    CategoryReader,
    ColumnReader,
    DateReader,
    NumberReader,
    WordReader,
)
from orfeon.workbench.serve.reasons import interval_columns, reasons

#: Rows on which the quick copy is compared with the model before it is used.
_N_PROBES = 48


class Answer(NamedTuple):
    predictions: npt.NDArray[Any]
    probabilities: Floats | None = None
    n_queried: npt.NDArray[np.int64] | None = None
    intervals: Mapping[str, Any] | None = None
    reasons: list[str] | None = None


class ServedModel:
    """A model with readers for its columns.

    Models with a schema are quick: cells are encoded directly, without a data frame.
    """

    def __init__(
        self,
        model: Any,
        preparation: Preparation | None = None,
        *,
        early_decision: float | None = None,
        name: str = "model",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.preparation = preparation
        self.name = name
        self.facts = dict(facts or {})
        self.early_decision = early_decision
        self.task = _task(model, preparation)
        self.classes = model.classes_.tolist() if self.task == "classification" else []
        self.has_probabilities = bool(self.classes) and hasattr(model, "predict_proba")
        self._quick = _quick_copy(model, preparation)
        self.columns = _columns(model, preparation, self._quick)
        if self._quick is not None and not self._quick_is_exact():
            self._quick = None
            self.columns = _columns(model, preparation, None)
        self.is_quick = self._quick is not None
        self.n_members = _n_members(model)
        self._has_dates = any(column.width != 1 for column in self.columns)
        if early_decision is not None:
            self._check_early(early_decision)

    # -- from cells to rows --------------------------------------------------------------------

    def row(self, cells: Sequence[Any]) -> Any:
        """A single row, as :meth:`predict` takes it."""
        if not self.is_quick:
            return self.rows([[cell] for cell in cells])
        numbers: list[Any] = [
            column.read(cell, 0) for column, cell in zip(self.columns, cells, strict=True)
        ]
        if self._has_dates:
            numbers = [
                number
                for each in numbers
                for number in (each if isinstance(each, tuple) else (each,))
            ]
        return np.array([numbers])

    def rows(self, cells: Sequence[Sequence[Any]]) -> Any:
        """Rows, as :meth:`predict` takes them."""
        if self.is_quick:
            arrays = [
                array
                for column, each in zip(self.columns, cells, strict=True)
                for array in column.read_all(each)
            ]
            return self.from_arrays(arrays)
        return self._frame(cells)

    def from_arrays(self, arrays: Sequence[Floats]) -> Floats:
        """Rows of encoded features; only if the model is quick."""
        matrix = np.empty((len(arrays[0]), len(arrays)))
        for j, array in enumerate(arrays):
            matrix[:, j] = array
        return matrix

    def _frame(self, cells: Sequence[Sequence[Any]]) -> Any:
        """A data frame of the features; an array if the model has no feature names."""
        import pandas

        made: dict[str, Any] = {}
        for reader, each in zip(self.columns, cells, strict=True):
            if isinstance(reader, AnyReader):
                reader.check(each)
                made[reader.name] = pandas.Series(each, dtype=object).infer_objects()
                continue
            arrays = reader.read_all(each)
            if isinstance(reader, WordReader):
                codes = np.nan_to_num(arrays[0], nan=-1.0).astype(np.int64)
                categories = list(reader.column.categories)
                made[reader.name] = pandas.Categorical.from_codes(codes, categories)
                continue
            made.update(zip(reader.column.features, arrays, strict=True))
        frame = pandas.DataFrame(made)
        is_named = self.preparation is not None or hasattr(self.model, "feature_names_in_")
        # In C order, as most arrays are: in another order sums differ in the last bits.
        return frame if is_named else np.ascontiguousarray(frame.to_numpy())

    # -- from rows to predictions --------------------------------------------------------------

    def predict(self, rows: Any, *, probabilities: bool = False) -> Answer:
        model = self.model if self._quick is None else self._quick
        if self.early_decision is not None and not probabilities:
            from orfeon.combining import early_decision

            decided = early_decision(model, rows, confidence=self.early_decision)
            return Answer(decided.predictions, n_queried=decided.n_queried)
        predictions = np.asarray(model.predict(rows))
        return Answer(predictions, model.predict_proba(rows) if probabilities else None)

    def intervals(self, rows: Any, coverage: float) -> dict[str, Any]:
        """Intervals, or sets of classes, that hold this share of the true values."""
        model = self.model if self._quick is None else self._quick
        found = interval_columns(model, rows, coverage)
        return {name: np.asarray(column).tolist() for name, column in found.items()}

    def reasons(self, rows: Any, predictions: npt.NDArray[Any], n_reasons: int) -> list[str]:
        """The features that speak most for each prediction, or against it."""
        if self._quick is not None:
            import pandas

            schema = self._quick.schema_
            names = [schema.name(j) for j in range(schema.n_features)]
            decoded = schema.decode(np.asarray(rows, dtype=np.float64))
            rows = pandas.DataFrame(decoded, columns=names).infer_objects()
            if schema.names is None:
                rows = decoded
        return reasons(self.model, rows, predictions, n_reasons)

    def example_row(self) -> dict[str, Any]:
        """An example row: medians and most frequent categories, where the model file has them.

        Elsewhere the medians of the thresholds of a forest stand for those of the data.
        """
        forest = getattr(self._quick, "forest_", None)
        row: dict[str, Any] = {}
        place = 0
        for column in self.columns:
            middle = math.nan
            if forest is not None and column.kind != "category":
                tests = _finite_tests(forest, place)
                middle = float(f"{np.median(tests):.4g}") if len(tests) else math.nan
            typical = column.column.typical
            row[column.name] = column.example(middle) if typical is None else typical
            place += column.width
        return row

    # -- before the first request --------------------------------------------------------------

    def warm_up(self) -> None:
        """Predict some rows, so that kernels are compiled before the first request."""
        if self._quick is None:
            self._try_plain_rows()
            return
        matrix = self._probes()
        rows = [matrix[:1], np.full_like(matrix[:1], math.nan), matrix]
        for each in rows:
            self.predict(np.ascontiguousarray(each))
            if self.has_probabilities:
                self.predict(np.ascontiguousarray(each), probabilities=True)

    def _try_plain_rows(self) -> None:
        """Predict zeros and missing values; a model that accepts neither starts cold."""
        for cell in (0.0, None):
            cells = [[None if column.kind != "number" else cell] for column in self.columns]
            try:
                self.predict(self.rows(cells), probabilities=self.has_probabilities)
            except (ValueError, TypeError):
                continue

    def _probes(self) -> Floats:
        """Rows that reach many leaves: thresholds, all categories, some missing values."""
        schema = self._quick.schema_
        rng = np.random.default_rng(0)
        matrix = rng.normal(scale=10.0, size=(_N_PROBES, schema.n_features))
        forest = getattr(self._quick, "forest_", None)
        for j, categories in enumerate(schema.categories):
            if categories is not None:
                matrix[:, j] = rng.integers(0, max(1, len(categories)), _N_PROBES)
            elif forest is not None:
                tests = _finite_tests(forest, j)
                if len(tests):
                    matrix[:, j] = rng.choice(tests, _N_PROBES)
        matrix[1::3][rng.random(matrix[1::3].shape) < 0.2] = math.nan
        return matrix

    def _quick_is_exact(self) -> bool:
        """Whether the quick copy predicts the same as the model, to the last bit."""
        import pandas

        matrix = self._probes()
        schema = self._quick.schema_
        try:
            table = schema.decode(matrix)
            if hasattr(self.model, "feature_names_in_"):
                table = pandas.DataFrame(table, columns=list(self.model.feature_names_in_))
            same = _are_equal(self.model.predict(table), self._quick.predict(matrix))
            if same and self.has_probabilities:
                theirs = self.model.predict_proba(table)
                same = _are_equal(theirs, self._quick.predict_proba(matrix))
        except (ValueError, TypeError, AttributeError, IndexError):
            return False
        return same

    def _check_early(self, confidence: float) -> None:
        """Raise if the model does not support early decision."""
        cells = [[0.0 if column.kind == "number" else None] for column in self.columns]
        try:
            self.predict(self.rows(cells))
        except (ValueError, TypeError) as error:
            raise UserError(
                f"{self.name} cannot decide early with confidence {confidence}: {error}"
            ) from error


def load_served(
    path: str | os.PathLike[str],
    *,
    early_decision: float | None = None,
    memory_map: bool = True,
) -> ServedModel:
    """Load a model file for serving; files with estimators saved by skops are rejected."""
    from orfeon.io.description import describe_parts
    from orfeon.io.model_file import read_parts

    name = Path(path).name
    # Read once, so that the description is of this model even if the file changes.
    parts = read_parts(path, memory_map=memory_map, foreign=False)
    model, plain, _ = parts.saved
    preparation = read_preparation(plain, name)
    facts = describe_parts(parts, path)
    del facts["preparation"]
    return ServedModel(model, preparation, early_decision=early_decision, name=name, facts=facts)


def _task(model: Any, preparation: Preparation | None) -> str:
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise UserError(f"{type(model).__name__} is not fitted, or has no n_features_in_.")
    if getattr(model, "n_outputs_", 1) > 1 or isinstance(getattr(model, "classes_", None), list):
        raise UserError(
            f"{type(model).__name__} has several targets; only models with one can be served."
        )
    if preparation is not None:
        return str(preparation.task)
    return "classification" if hasattr(model, "classes_") else "regression"


def _quick_copy(model: Any, preparation: Preparation | None) -> Any:
    """A copy of the model that takes encoded rows; None if the model has no schema."""
    if hasattr(model, "kept_") and hasattr(model, "ensemble_"):
        if model.order_.has_own_weights:
            return None
        model = model.ensemble_
    if not isinstance(model, TabularEstimator) or not hasattr(model, "schema_"):
        return None
    if preparation is not None and model.schema_.names != preparation.features:
        return None
    if getattr(model, "target_statistics_", None) is not None:
        return None  # codes do not distinguish missing values from levels not seen in training
    quick = copy.copy(model)
    quick._encode = _identity  # type: ignore[method-assign]
    if hasattr(quick, "n_jobs"):
        quick.n_jobs = 1  # requests run in parallel, not members
    return quick


def _identity(X: Floats) -> Floats:
    return X


def _columns(model: Any, preparation: Preparation | None, quick: Any) -> tuple[ColumnReader, ...]:
    if preparation is not None:
        schema = None if quick is None else quick.schema_
        known = {} if schema is None else dict(zip(schema.names, schema.categories, strict=True))
        return tuple(_prepared(column, known) for column in preparation.columns_used)
    if quick is None:
        names = names_of(model, model.n_features_in_)
        return tuple(AnyReader(InputColumn(name, "any")) for name in names)
    return tuple(
        NumberReader(InputColumn(quick.schema_.name(j), "number"))
        if known is None
        else CategoryReader(InputColumn(quick.schema_.name(j), "category", known))
        for j, known in enumerate(quick.schema_.categories)
    )


def _prepared(column: InputColumn, known: Mapping[str, Any]) -> ColumnReader:
    if column.kind == "number":
        return NumberReader(column)
    if column.kind == "date":
        return DateReader(column)
    encoded = known.get(column.name, column.categories) or ()
    codes = {category: float(code) for code, category in enumerate(encoded)}
    return WordReader(column, [codes.get(each, math.nan) for each in column.categories])


def _finite_tests(forest: Any, feature: int) -> Floats:
    """Finite thresholds of a feature; tests for missing values have infinite ones."""
    thresholds = forest.threshold[(forest.feature == feature) & (forest.n_children > 0)]
    return np.asarray(thresholds[np.isfinite(thresholds)])


def _n_members(model: Any) -> int:
    for holder in (model, getattr(model, "ensemble_", None)):
        for name in ("members_", "estimators_"):
            members = getattr(holder, name, None)
            if members is not None:
                return len(members)
    return 1


def _are_equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))
