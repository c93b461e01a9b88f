"""A class that model files may name: what is saved of it, and how it is built again."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.io.consistency import CHECKS, MAKERS, check_estimator
from orfeon.io.errors import ModelFileError
from orfeon.utils import saved
from orfeon.utils.saved import Kind

Fields = dict[str, Any]

#: Parameters with limits: a pipeline from a file must not read pickles from a folder, nor start
#: more threads than any machine has processors.
_PARAMETERS = {
    "memory": saved.none,
    "n_jobs": saved.one_of(
        saved.none,
        saved.integer(-4096, 4096),
        Kind("a NumPy integer", lambda v: isinstance(v, np.integer) and -4096 <= int(v) <= 4096),
    ),
}
#: Parameters that do not change predictions; they are reset on loading.
_OF_THE_RUN = ("n_jobs", "verbose")
#: Attributes of scikit-learn's estimators that belong to the process or to an outer pipeline.
_NEVER_SAVED = frozenset({"_metadata_request", "_skl_callbacks"})


@dataclass(frozen=True)
class Entry:
    """A class that model files may name."""

    name: str
    module: str
    #: What is saved of a class of another package; None for ours, which declare it.
    listed: Mapping[str, Kind | None] | None = None
    check: Callable[[Fields], None] | None = None
    finish: Callable[[Any], None] | None = None
    to_state: Callable[[Any], Fields] | None = None
    from_state: Callable[[Fields], Any] | None = None
    #: The only attribute that may hold such an object.
    only_in: str | None = None
    #: Whether an object is saved this way; others of its class go through skops.
    suits: Callable[[Any], bool] | None = None

    @functools.cached_property
    def kind(self) -> type[Any]:
        try:
            module = importlib.import_module(self.module)
            found: type[Any] = getattr(module, self.name.rpartition(".")[2])
        except ImportError as error:
            raise ModelFileError(f"a {self.name} needs another package: {error}.") from error
        return found

    @functools.cached_property
    def is_saved(self) -> bool:
        """Whether the name is a class that declares what is saved."""
        is_class = isinstance(self.kind, type)
        return self.listed is not None or (is_class and saved.attributes_of(self.kind) is not None)

    @functools.cached_property
    def _declared(self) -> Mapping[str, Kind | None]:
        return self.listed if self.listed is not None else saved.attributes_of(self.kind) or {}

    @functools.cached_property
    def kinds(self) -> Mapping[str, Kind]:
        return {name: kind for name, kind in self._declared.items() if kind is not None}

    @functools.cached_property
    def names_in_files(self) -> Mapping[str, str]:
        """The attributes that have older names in files."""
        return {name: kind.name_in_files for name, kind in self.kinds.items() if kind.name_in_files}

    @functools.cached_property
    def is_estimator(self) -> bool:
        return hasattr(self.kind, "_get_param_names")

    @functools.cached_property
    def parameters(self) -> Mapping[str, Any]:
        if not self.is_estimator:
            return {}
        signature = inspect.signature(self.kind.__init__)
        return {name: signature.parameters[name].default for name in self.kind._get_param_names()}

    @functools.cached_property
    def _run_defaults(self) -> Fields:
        """Parameters that a file does not decide."""
        defaults = {name: self.parameters[name] for name in _OF_THE_RUN if name in self.parameters}
        return defaults | ({"n_jobs": None} if "n_jobs" in defaults else {})

    def fields_of(self, thing: Any) -> Fields:
        """The attributes of an object that are saved."""
        if self.to_state is not None:
            state = self.to_state(thing)
        elif hasattr(self.kind, "_to_state"):
            state = thing._to_state()
        elif self.is_estimator:
            state = vars(thing)
        else:
            state = {name: getattr(thing, name) for name in self.kinds}
        left_out = _NEVER_SAVED | (self._declared.keys() - self.kinds.keys())
        return {name: state[name] for name in sorted(state) if name not in left_out}

    def checked(self, fields: Fields) -> Fields:
        """Attributes that are known, complete and each of its kind."""
        unknown = [name for name in fields if name not in {*self.kinds, *self.parameters}]
        if unknown:
            raise ModelFileError(
                f"{self.name} has the attribute {unknown[0][:80]!r}, which model files of this "
                "orfeon do not know."
            )
        is_fitted = not self.is_estimator or any(name in self.kinds for name in fields)
        if self.is_estimator:
            fields = {**self.parameters, **fields}
        if is_fitted:
            absent = [
                name
                for name, kind in self.kinds.items()
                if not kind.is_optional and name not in fields
            ]
            if absent:
                raise ModelFileError(f"{self.name} lacks the attribute {min(absent)}.")
        for name, value in fields.items():
            kind = self.kinds.get(name) or _PARAMETERS.get(name, saved.anything)
            if not kind.holds(value):
                raise ModelFileError(f"{self.name}.{name} must be {kind.words}.")
        if is_fitted:
            self._check_together(fields)
        return fields

    def _check_together(self, fields: Fields) -> None:
        check = self.check or CHECKS.get(self.name)
        if check is None and self.is_estimator and self.listed is None:
            check = check_estimator
        try:
            if check is not None:
                check(fields)
        except ModelFileError:
            raise
        except Exception as error:  # forged attributes can raise anything
            raise ModelFileError(f"a {self.name} is inconsistent: {error}") from error

    def build(self, written: Fields) -> Any:
        """An object from the attributes that a file gives it."""
        present = {old: name for name, old in self.names_in_files.items()}
        fields = {present.get(name, name): value for name, value in written.items()}
        fields = self.checked(fields) | self._run_defaults
        from_state = self.from_state or MAKERS.get(self.name)
        from_state = from_state or getattr(self.kind, "_from_state", None)
        try:
            if from_state is not None:
                thing = from_state(fields)
            elif self.is_estimator:
                thing = object.__new__(self.kind)
                thing.__dict__.update(fields)
            else:
                thing = self.kind(**fields)
            if self.finish is not None:
                self.finish(thing)
        except Exception as error:  # constructors reject what does not go together
            raise ModelFileError(f"a {self.name} cannot be built: {error}") from error
        return thing
