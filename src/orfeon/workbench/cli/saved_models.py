"""Models that commands read and write, with the preparation of their tables; never pickles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.text import nearest_names, short, some_of

_PICKLE_ENDINGS = (".pkl", ".pickle", ".joblib", ".sav", ".dill")


@dataclass(frozen=True)
class SavedModel:
    """The contents of a model file."""

    path: Path
    model: Any
    preparation: Any
    about: dict[str, Any]
    parts: Any = None

    def described(self) -> dict[str, Any]:
        """What ``orfeon.io.describe()`` returns for the file, without reading it again."""
        from orfeon.io.description import describe_parts

        return describe_parts(self.parts, self.path)

    @property
    def task(self) -> str:
        """The task: "classification" or "regression"."""
        if self.preparation is not None:
            return str(self.preparation.task)
        return "classification" if hasattr(self.model, "classes_") else "regression"

    def features(self, frame: Any) -> Any:
        """The features that the model takes, from a table as it was read."""
        if self.preparation is not None:
            return self.preparation.transform(frame)
        expected = getattr(self.model, "feature_names_in_", None)
        if expected is not None:
            absent = [str(name) for name in expected if name not in frame.columns]
            if absent:
                raise UserError(
                    f"The data has no column {some_of(map(repr, absent), 5)}; "
                    f"{self.path.name} was trained on {len(expected)} columns and needs them all."
                )
            return frame[list(expected)]
        n_expected = getattr(self.model, "n_features_in_", frame.shape[1])
        if frame.shape[1] != n_expected:
            raise UserError(
                f"{self.path.name} was trained on {n_expected} unnamed features, but the data has "
                f"{frame.shape[1]} columns: give the same columns in the same order."
            )
        return frame.to_numpy()

    def labelled(self, frame: Any, target: str | None) -> tuple[Any, Any]:
        """The features and the target of a table."""
        known = None if self.preparation is None else self.preparation.target
        if known is not None:
            if target not in (None, known):
                raise UserError(
                    f"--target {target}: {self.path.name} was trained to predict {known!r}."
                )
            return tuple(self.preparation.transform_labelled(frame))
        if target is None:
            raise UserError(
                f"--target is missing: {self.path.name} does not say which column it predicts."
            )
        if target not in frame.columns:
            near = nearest_names(target, map(str, frame.columns))
            raise UserError(f"--target: the data has no column {target!r}{near}.")
        return self.features(frame.drop(columns=target)), frame[target].to_numpy()


def refuse_pickles(path: Path) -> None:
    """Reject pickles: loading one can run arbitrary code."""
    is_pickle = path.suffix.lower() in _PICKLE_ENDINGS
    if not is_pickle and path.is_file():
        with path.open("rb") as file:
            head = file.read(2)
        is_pickle = len(head) == 2 and head[0] == 0x80 and head[1] <= 5
    if is_pickle:
        raise UserError(
            f"{path} is a pickle, and orfeon never loads pickles: they can run arbitrary code. If "
            "you trust it, load it in Python and save the model with orfeon.save(model, "
            "'model.orfeon')."
        )


def add_foreign_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--foreign``, for commands that read a model."""
    parser.add_argument(
        "--foreign", action="store_true",
        help="accept a model with parts from other packages, saved by skops; they are not checked, "
        "so use it only with files you trust",
    )  # fmt: skip


def read_saved(path: Path, *, foreign: bool = False) -> SavedModel:
    from orfeon.io.errors import ForeignPartsError
    from orfeon.io.model_file import read_parts
    from orfeon.workbench.prepare.preparation import read_preparation

    refuse_pickles(path)
    try:
        parts = read_parts(path, foreign=foreign)
    except ForeignPartsError as error:
        raise UserError(
            f"{path} contains an estimator from another package, saved by skops, which cannot be "
            "checked. If you trust the file, add --foreign."
        ) from error
    model, plain, about = parts.saved
    facts = dict(about) if isinstance(about, Mapping) else {}
    return SavedModel(path, model, read_preparation(plain, path), facts, parts)


@contextmanager
def model_failures(path: Path) -> Iterator[None]:
    """Report what a loaded model raises as one sentence about its file.

    A consistent file can still hold a model that cannot predict, and a forged one looks like an
    internal error: ``--debug`` prints the traceback of either.
    """
    try:
        yield
    except (UserError, OSError, MemoryError):
        raise
    except Exception as error:
        kind = type(error).__name__
        raise UserError(
            f"The model in {path} failed ({kind}: {short(error, 200)}); --debug shows where. "
            "If the file is unchanged since orfeon wrote it, please report this."
        ) from error


def errors_of(task: str, y: Any, predicted: Any) -> dict[str, float]:
    """Errors of predictions: the error rate, or RMSE and R²."""
    import numpy as np

    if task == "classification":
        return {"error": float(np.mean(np.asarray(y) != np.asarray(predicted)))}
    true = np.asarray(y, dtype=float)
    squares = float(np.mean((true - predicted) ** 2))
    variance = float(np.var(true))
    return {
        "rmse": squares**0.5,
        "r2": 1 - squares / variance if variance > 0 else float("nan"),
    }


def error_text(errors: Mapping[str, float]) -> str:
    if "error" in errors:
        return f"{errors['error']:.2%}"
    return f"RMSE {errors['rmse']:.4g}, R² {errors['r2']:.3f}"
