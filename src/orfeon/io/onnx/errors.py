"""Errors of the ONNX export."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from orfeon.errors import UserError


class NoOnnxFormError(UserError):
    """A model, or a part of it, cannot be expressed exactly in ONNX's operators.

    Parameters
    ----------
    part : str
        What cannot be exported.
    reason : str
        Why, as a clause.
    instead : str
        What to do instead, as a clause.

    Examples
    --------
    >>> from orfeon.io.onnx import NoOnnxFormError
    >>> raise NoOnnxFormError("StackingClassifier", "its members are any models", "export each")
    Traceback (most recent call last):
    ...
    orfeon.io.onnx.errors.NoOnnxFormError: StackingClassifier has no ONNX form: its members are any
    models; export each.
    """

    def __init__(self, part: str, reason: str, instead: str) -> None:
        super().__init__(f"{part} has no ONNX form: {reason}; {instead}.")
        self.part, self.reason, self.instead = part, reason, instead

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.part, self.reason, self.instead)  # other processes pickle it


def load_onnx(module: str = "onnx") -> Any:
    if importlib.util.find_spec("onnx") is None:
        raise ImportError(
            "to_onnx writes files with the package onnx, which is not installed: "
            'pip install "orfeon[onnx]".'
        )
    return importlib.import_module(module)
