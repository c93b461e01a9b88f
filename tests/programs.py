"""Programs of the repository that no package holds, such as examples: loaded, and run."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load(name: str, folder: str = "examples") -> Any:
    """A program as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    sys.modules[name] = program  # dataclasses look for their module
    spec.loader.exec_module(program)
    return program


def run(name: str, *arguments: object) -> str:
    """What an example prints."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(sys, "argv", [f"{name}.py", *map(str, arguments)])
        load(name).main()
    return printed.getvalue()
