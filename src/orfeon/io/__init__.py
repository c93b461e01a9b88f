"""Model files without pickle: save, load, describe.

A model file is a zip of arrays (``.npy``) and one JSON document. It contains no code, and nothing
is used before it has been checked; docs/guide/model_files.md has the format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

_HOMES = {
    "ModelContent": "model_file",
    "ModelFileError": "errors",
    "Snapshot": "snapshot",
    "describe": "description",
    "load": "model_file",
    "read_model": "model_file",
    "save": "model_file",
}
_PACKAGES = ("onnx",)

if TYPE_CHECKING:
    from orfeon.io import onnx as onnx
    from orfeon.io.description import describe
    from orfeon.io.errors import ModelFileError
    from orfeon.io.model_file import ModelContent, load, read_model, save
    from orfeon.io.snapshot import Snapshot

__all__ = ["ModelContent", "ModelFileError", "Snapshot", "describe", "load", "read_model", "save"]

__getattr__ = lazy_names(__name__, _HOMES, _PACKAGES)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
