"""Models that each release saved, the rows they were asked about, and what they said.

A release's folder holds its files and ``answers.json``. No file in it is ever changed: later
releases add folders of their own.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import orfeon
from orfeon.io import ModelContent, read_model

FOLDER = Path(__file__).resolve().parent
ANSWERS = "answers.json"
#: What models are asked.
METHODS = ("predict", "predict_proba", "decision_function", "apply")
#: What the columns are called where a file has a preparation of tables.
COLUMNS = ["first", "letter", "second", "way"]
#: What of a model is an answer without a question.
ATTRIBUTES = ("sample_indices_",)


def release() -> str:
    """The running release, without the number of its patch: patches read and write the same."""
    return ".".join(orfeon.__version__.split(".")[:2])


def releases() -> list[Path]:
    """The folders of all releases."""
    return sorted(path.parent for path in FOLDER.glob(f"*/{ANSWERS}"))


class SavedModel(NamedTuple):
    """A model of a corpus."""

    name: str
    path: Path
    rows: npt.NDArray[Any]
    answers: dict[str, Any]
    #: Whether exponentials or matrix products enter, and another processor wrote their last bits.
    is_close: bool

    def __str__(self) -> str:
        return self.name


def models(folder: Path) -> list[SavedModel]:
    """The models of one release."""
    written = json.loads((folder / ANSWERS).read_text())
    is_here = written["arithmetic"] == arithmetic()
    tables = {name: table(rows) for name, rows in written["tables"].items()}
    return [
        SavedModel(
            f"{folder.name}/{name}", folder / f"{name}.orfeon", tables[one["table"]],
            one["answers"], one["is_close"] and not is_here,
        )
        for name, one in written["models"].items()
    ]  # fmt: skip


def table(rows: list[list[Any]]) -> npt.NDArray[Any]:
    """Rows as models take them: numbers, or numbers and words with some missing."""
    mixed = any(value is None or isinstance(value, str) for row in rows for value in row)
    return np.array(rows, dtype=object if mixed else np.float64)


def arithmetic() -> list[str]:
    """What the last bits of exponentials and matrix products depend on."""
    features = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    return [np.__version__, *sorted(name for name, is_there in features.items() if is_there)]


def prepared(content: ModelContent, rows: npt.NDArray[Any]) -> Any:
    """Rows as the model of a file takes them: as they are, or through the file's preparation."""
    if content.preparation is None:
        return rows
    import pandas

    from orfeon.workbench.prepare import Preparation

    frame = pandas.DataFrame(rows, columns=COLUMNS).infer_objects()
    return Preparation.from_dict(content.preparation).transform(frame)


def answers(model: Any, rows: Any) -> dict[str, npt.NDArray[Any]]:
    """All that a model says of some rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = {
            name: np.asarray(getattr(model, name)(rows))
            for name in METHODS
            if hasattr(model, name) and (name != "apply" or hasattr(model, "forest_"))
        }
    held = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    return said | held


def plain(said: npt.NDArray[Any]) -> dict[str, Any]:
    """An answer as JSON, from which it can be had again to the bit."""
    return {"kind": said.dtype.str, "values": said.tolist()}


def array(written: dict[str, Any]) -> npt.NDArray[Any]:
    return np.array(written["values"], dtype=written["kind"])


def difference(model: SavedModel) -> str:
    """What a model of a corpus no longer says as it did; nothing, if all is well."""
    for memory_map in (False, True):
        content = read_model(model.path, memory_map=memory_map)
        found = answers(content.model, prepared(content, model.rows))
        if set(found) != set(model.answers):
            return f"answers {sorted(found)}, and {sorted(model.answers)} were given"
        for name, written in model.answers.items():
            expected, said = array(written), found[name]
            if expected.dtype != said.dtype or expected.shape != said.shape:
                return f"{name} has another shape or kind"
            if not _is_same(expected, said, model.is_close):
                return f"{name} says something else"
    return ""


def _is_same(expected: npt.NDArray[Any], said: npt.NDArray[Any], is_close: bool) -> bool:
    if expected.dtype == object:
        return bool(expected.tolist() == said.tolist())
    if is_close and expected.dtype.kind == "f":
        return bool(np.allclose(said, expected, rtol=1e-12, atol=1e-12))
    return expected.tobytes() == said.tobytes()
