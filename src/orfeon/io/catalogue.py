"""The classes that model files know: where each lives, its attributes, and what these may be.

A file names a class by its bare name, which is looked up here and nowhere else. Attributes that are
not listed are refused on both ways, so that nothing is lost in silence and nothing slips in.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any, Literal

from orfeon.io.errors import ModelFileError
from orfeon.io.kinds import Kind, anything, either, integer, none

Fields = dict[str, Any]

#: Packages whose classes have theirs before their names.
_OTHER_PACKAGES = ("imblearn", "sklearn")

#: Parameters that must not be anything: a folder of pickles is no memory for a pipeline that came
#: in a file, and nobody has as many processors.
_PARAMETERS = {"memory": none, "n_jobs": either(none, integer(-(2**12), 2**12))}
#: Parameters by which a model acts on the machine and not on what it predicts: how many threads it
#: starts and how much it prints is for whoever loads it to say.
_OF_THE_RUN = ("n_jobs", "verbose")


@dataclass(frozen=True)
class Entry:
    """A class of the catalogue."""

    name: str
    home: str
    made: Literal["state", "call"]
    listed: Mapping[str, Kind] | None
    optional: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    check: Callable[[Fields], None] | None = None
    finish: Callable[[Any], None] | None = None
    to_state: Callable[[Any], Fields] | None = None
    from_state: Callable[[Fields], Any] | None = None
    is_estimator: bool = False
    attribute: str = ""
    only_in: str | None = None
    #: Attributes whose names in files are older than those in the class.
    names_in_files: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def kind(self) -> type[Any]:
        """The class itself."""
        try:
            home = importlib.import_module(self.home)
            found: type[Any] = getattr(home, self.attribute or self.name)
        except ImportError as error:
            raise ModelFileError(f"a {self.name} needs another package: {error}.") from error
        return found

    @functools.cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """Kinds of the attributes."""
        if self.listed is not None:
            return self.listed
        return {option.name: anything for option in dataclass_fields(self.kind)}

    @functools.cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of an estimator, and their defaults."""
        if not self.is_estimator:
            return {}
        signature = inspect.signature(self.kind.__init__)
        return {name: signature.parameters[name].default for name in self.kind._get_param_names()}

    @functools.cached_property
    def run_defaults(self) -> Fields:
        """Parameters that a file does not decide, as whoever loads it has them at first."""
        defaults = {name: self.parameters[name] for name in _OF_THE_RUN if name in self.parameters}
        return defaults | ({"n_jobs": None} if "n_jobs" in defaults else {})

    def fields_of(self, thing: Any) -> Fields:
        """The attributes of an object that are saved."""
        if self.to_state is not None:
            return dict(sorted(self.to_state(thing).items()))
        if self.made == "call":
            return {name: getattr(thing, name) for name in sorted(self.kinds)}
        state = {k: v for k, v in vars(thing).items() if k not in self.left_out}
        return dict(sorted(state.items()))

    def checked(self, fields: Fields) -> Fields:
        """Attributes that are known, complete and of the kinds that they must be."""
        unknown = [name for name in fields if name not in {*self.kinds, *self.parameters}]
        if unknown:
            raise ModelFileError(
                f"{self.name} has the attribute {unknown[0][:80]!r}, which model files of this "
                "orfeon do not know."
            )
        if self.is_estimator:
            fields = {**self.parameters, **fields}
        if not self.is_estimator or self._is_fitted(fields):
            absent = set(self.kinds) - self.optional - set(fields)
            if absent:
                raise ModelFileError(f"{self.name} lacks its attribute {min(absent)}.")
        for name, value in fields.items():
            kind = self.kinds[name] if name in self.kinds else _PARAMETERS.get(name, anything)
            if not kind.holds(value):
                raise ModelFileError(f"{self.name}.{name} must be {kind.words}.")
        self._check_together(fields)
        return fields

    def _is_fitted(self, fields: Fields) -> bool:
        return any(name in self.kinds for name in fields)

    def _check_together(self, fields: Fields) -> None:
        if self.check is None or (self.is_estimator and not self._is_fitted(fields)):
            return
        try:
            self.check(fields)
        except ModelFileError:
            raise
        except Exception as error:  # whatever attributes lead to that do not go together
            raise ModelFileError(f"a {self.name} is inconsistent: {error}") from error

    def build(self, written: Fields) -> Any:
        """An object from the attributes that a file gives it."""
        present = {old: name for name, old in self.names_in_files.items()}
        fields = {present.get(name, name): value for name, value in written.items()}
        fields = self.checked(fields) | self.run_defaults
        try:
            if self.from_state is not None:
                thing = self.from_state(fields)
            elif self.made == "call":
                thing = self.kind(**fields)
            else:
                thing = object.__new__(self.kind)
                thing.__dict__.update(fields)
            if self.finish is not None:
                self.finish(thing)
        except Exception as error:  # constructors refuse what does not go together
            raise ModelFileError(f"a {self.name} cannot be made: {error}") from error
        return thing


@functools.cache
def entries() -> Mapping[str, Entry]:
    """Every class that model files know, by name."""
    from orfeon.io import (
        combination_class,
        estimator_classes,
        part_classes,
        rule_classes,
        sampler_classes,
        scikit_learn_classes,
    )

    known: dict[str, Entry] = {}
    for entry in (
        *combination_class.entries(),
        *estimator_classes.entries(),
        *part_classes.entries(),
        *rule_classes.entries(),
        *sampler_classes.entries(),
        *scikit_learn_classes.entries(),
    ):
        assert entry.name not in known, entry.name
        known[entry.name] = entry
    return known


def entry_named(name: Any) -> Entry:
    """The class of a name in a file."""
    entry = entries().get(name) if type(name) is str else None
    if entry is None:
        raise ModelFileError(f"it has a {str(name)[:80]!r}, which this orfeon does not know.")
    return entry


def entry_of(thing: Any) -> Entry | None:
    """What is known of the class of an object, None if nothing."""
    kind = type(thing)
    package = kind.__module__.partition(".")[0]
    prefix = f"{package}." if package in _OTHER_PACKAGES else ""
    entry = entries().get(f"{prefix}{kind.__name__}")
    return entry if entry is not None and entry.kind is kind else None
