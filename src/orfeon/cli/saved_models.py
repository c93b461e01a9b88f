"""Models that commands read and write: never pickles, always with the way from table to model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.wording import nearest_names, short, some_of

_PICKLE_ENDINGS = (".pkl", ".pickle", ".joblib", ".sav", ".dill")


@dataclass(frozen=True)
class SavedModel:
    """A model file that was read."""

    path: Path
    model: Any
    preparation: Any
    about: dict[str, Any]
    parts: Any = None

    def described(self) -> dict[str, Any]:
        """What ``orfeon.io.describe()`` tells of the file, without reading it again."""
        from orfeon.io.description import describe_parts

        return describe_parts(self.parts, self.path)

    @property
    def task(self) -> str:
        """What it predicts: "classification" or "regression"."""
        if self.preparation is not None:
            return str(self.preparation.task)
        return "classification" if hasattr(self.model, "classes_") else "regression"

    def attributes(self, frame: Any) -> Any:
        """The attributes that the model takes, of a table as it came."""
        if self.preparation is not None:
            return self.preparation.transform(frame)
        expected = getattr(self.model, "feature_names_in_", None)
        if expected is not None:
            absent = [str(name) for name in expected if name not in frame.columns]
            if absent:
                raise UserError(
                    f"The data has no column {some_of(map(repr, absent), 5)}; "
                    f"{self.path.name} was trained with {len(expected)} columns and needs them all."
                )
            return frame[list(expected)]
        n_expected = getattr(self.model, "n_features_in_", frame.shape[1])
        if frame.shape[1] != n_expected:
            raise UserError(
                f"{self.path.name} was trained with {n_expected} attributes that have no names, "
                f"and the data has {frame.shape[1]} columns: they must be the same, in order."
            )
        return frame.to_numpy()

    def labelled(self, frame: Any, target: str | None) -> tuple[Any, Any]:
        """The attributes and the target of a table."""
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
        return self.attributes(frame.drop(columns=target)), frame[target].to_numpy()


def refuse_pickles(path: Path) -> None:
    """Refuse a file that is a pickle: to load one is to run whatever it holds."""
    is_pickle = path.suffix.lower() in _PICKLE_ENDINGS
    if not is_pickle and path.is_file():
        with path.open("rb") as file:
            head = file.read(2)
        is_pickle = len(head) == 2 and head[0] == 0x80 and head[1] <= 5
    if is_pickle:
        raise UserError(
            f"{path} is a pickle, and orfeon never loads pickles: they can run any program. If "
            "you trust it, load it in Python and save the model with orfeon.save(model, "
            "'model.orfeon')."
        )


def add_foreign_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--foreign``, which all commands that read a model have."""
    parser.add_argument(
        "--foreign", action="store_true",
        help="take a model with parts of other packages that skops saved, whose contents are not "
        "checked: only from people you trust",
    )  # fmt: skip


def read_saved(path: Path, *, foreign: bool = False) -> SavedModel:
    """Read a model file."""
    from orfeon.io.errors import ForeignPartsError
    from orfeon.io.model_file import read_parts
    from orfeon.study.preparation.saved import read_preparation

    refuse_pickles(path)
    try:
        parts = read_parts(path, foreign=foreign)
    except ForeignPartsError as error:
        raise UserError(
            f"{path} holds an estimator of another package, which skops saved. What is in it is "
            "not checked: if you trust whoever made the file, give --foreign."
        ) from error
    model, plain, about = parts.saved
    told = dict(about) if isinstance(about, Mapping) else {}
    return SavedModel(path, model, read_preparation(plain, path), told, parts)


@contextmanager
def model_failures(path: Path) -> Iterator[None]:
    """Report what a loaded model raises as one sentence about its file.

    A file can hold a model that is consistent and still cannot answer, and nothing tells a forged
    one from a defect: ``--debug`` prints the traceback of either.
    """
    try:
        yield
    except (UserError, OSError, MemoryError):
        raise
    except Exception as error:
        kind = type(error).__name__
        raise UserError(
            f"{path} holds a model that fails ({kind}: {short(error, 200)}); --debug shows where. "
            "If the file is as orfeon wrote it, please report this."
        ) from error


def errors_of(task: str, y: Any, predicted: Any) -> dict[str, float]:
    """How wrong predictions are."""
    import numpy as np

    if task == "classification":
        return {"error": float(np.mean(np.asarray(y) != np.asarray(predicted)))}
    truth = np.asarray(y, dtype=float)
    squares = float(np.mean((truth - predicted) ** 2))
    variance = float(np.var(truth))
    return {
        "rmse": squares**0.5,
        "r2": 1 - squares / variance if variance > 0 else float("nan"),
    }


def error_text(errors: Mapping[str, float]) -> str:
    """Errors as they are told."""
    if "error" in errors:
        return f"{errors['error']:.2%}"
    return f"RMSE {errors['rmse']:.4g}, R² {errors['r2']:.3f}"
