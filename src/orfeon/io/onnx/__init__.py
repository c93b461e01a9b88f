"""Export trees and ensembles of trees, pruned or not, to ONNX, for runtimes without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

_HOMES = {"NoOnnxFormError": "errors", "as_inputs": "exporting", "to_onnx": "exporting"}

if TYPE_CHECKING:
    from orfeon.io.onnx.errors import NoOnnxFormError
    from orfeon.io.onnx.exporting import as_inputs, to_onnx

__all__ = ["NoOnnxFormError", "as_inputs", "to_onnx"]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
