"""What is public, found in the packages themselves, and the families the reference shows it in."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

#: Families of the reference: page, title, and the packages and modules whose names it shows. A
#: package within one of these belongs to the same family.
FAMILIES = {
    "trees": ("Trees", ["orfeon.trees"]),
    "ensembles": ("Independent ensembles", ["orfeon.ensembles"]),
    "boosting": ("Boosting", ["orfeon.boosting"]),
    "ordering": ("Ordering and pruning", ["orfeon.ordering"]),
    "combining": ("Combining", ["orfeon.combining"]),
    "perceptrons": ("Parallel perceptrons", ["orfeon.perceptrons"]),
    "imbalance": ("Unbalanced classes", ["orfeon.imbalance"]),
    "inspection": ("Inspection", ["orfeon.inspection"]),
    "rendering": ("Trees for people to read", ["orfeon.rendering"]),
    "datasets": ("Data", ["orfeon.datasets"]),
    "statistics": ("Statistics", ["orfeon.statistics"]),
    "serving": ("Serving", ["orfeon.workbench.serve"]),
    "workbench": ("Workbench", ["orfeon.workbench"]),
    "io": ("Model files and export", ["orfeon.io"]),
    "engine": ("Tables, forests and growth", ["orfeon.data", "orfeon.forest", "orfeon.growth"]),
    "members": ("Members and errors", ["orfeon.members", "orfeon.errors"]),
}
#: Packages that say what they export to each other, not to users. The commands have a page of
#: their own.
INNER = ("orfeon.kernels", "orfeon.workbench.cli")


@dataclass(frozen=True)
class PublicName:
    """A public object: the shortest address it can be imported from, and its family."""

    package: str  #: where it is imported from, such as orfeon or orfeon.inspection
    name: str
    home: str  #: the package or module of the family that exports it
    family: str
    value: Any

    @property
    def address(self) -> str:
        """Its full name."""
        return f"{self.package}.{self.name}"

    @property
    def page(self) -> str:
        """Name of its page: names that differ in capitals only have pages that differ in more."""
        twin = self.name != self.name.lower() and hasattr(
            importlib.import_module(self.package), self.name.lower()
        )
        return f"{self.address}-class" if twin else self.address

    @property
    def kind(self) -> str:
        """What it is, as the tables of a family's page are headed."""
        if inspect.isclass(self.value):
            return _kind_of_class(self.value)
        return "Functions" if inspect.isroutine(self.value) else "Constants"


def _kind_of_class(value: type) -> str:
    if issubclass(value, BaseException):
        return "Errors"
    if value.__name__.endswith("Display"):
        return "Pictures"
    if hasattr(value, "fit_resample"):
        return "Samplers"
    if hasattr(value, "get_params") and hasattr(value, "predict"):
        return "Regressors" if value.__name__.endswith("Regressor") else "Classifiers"
    return "Classes"


KINDS = (
    "Classifiers", "Regressors", "Samplers", "Functions", "Pictures", "Classes", "Errors",
    "Constants",
)  # fmt: skip


def exported(module: ModuleType) -> list[str]:
    """Names that a module exports, with those that need an optional package which is there."""
    if not hasattr(module, "__all__"):  # a module of the list above
        own = vars(module).items()
        return [
            name
            for name, value in own
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
    # A package that imports lazily lists its names; others list all they import.
    optional = dir(module) if "__dir__" in vars(module) else []
    names = {name for name in {*module.__all__, *optional} if not name.startswith("__")}
    # A package has a family of its own, or is of that of the package it is in.
    return sorted(name for name in names if not inspect.ismodule(getattr(module, name)))


def packages() -> Iterator[str]:
    """Packages with an ``__all__``, but for the inner ones."""
    import orfeon

    for found in pkgutil.walk_packages(orfeon.__path__, "orfeon."):
        inner = any(f"{found.name}.".startswith(f"{package}.") for package in INNER)
        if found.ispkg and not inner and hasattr(importlib.import_module(found.name), "__all__"):
            yield found.name


def family_of(module: str) -> str | None:
    """The family of a package or module."""
    for family, (_, modules) in FAMILIES.items():
        if any(f"{module}.".startswith(f"{listed}.") for listed in modules):
            return family
    return None


def _importable(modules: list[str]) -> list[str]:
    return [name for name in modules if importlib.util.find_spec(name) is not None]


def public_names() -> list[PublicName]:
    """Every public object once, at its shortest address, by family and name.

    A package that is in no family is an error: it must be named in ``FAMILIES``.
    """
    import orfeon

    listed = [module for _, modules in FAMILIES.values() for module in _importable(modules)]
    found: dict[int, PublicName] = {}
    at_top = {name: getattr(orfeon, name) for name in exported(orfeon)}

    def add(name: str, value: Any, home: str) -> None:
        family = family_of(home)
        if family is None:
            raise LookupError(f"{home} is in no family of the reference")
        package = "orfeon" if at_top.get(name) is value else home
        found.setdefault(id(value), PublicName(package, name, home, family, value))

    for home in dict.fromkeys([*listed, *packages()]):
        module = importlib.import_module(home)
        for name in exported(module):
            add(name, getattr(module, name), home)
    for name, value in at_top.items():  # those that need an optional package
        add(name, value, ".".join(value.__module__.split(".")[:2]))
    return sorted(found.values(), key=lambda each: (each.family, each.name.lower(), each.address))


def comment_of(public: PublicName) -> str:
    """The comment above a constant, from the module that defines it."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith("orfeon.") and vars(module).get(public.name) is public.value:
            documented = ModuleAnalyzer.for_module(name)
            documented.analyze()
            lines = documented.attr_docs.get(("", public.name))
            if lines:
                return "\n".join(lines).strip()
    return ""


def summary_of(public: PublicName) -> str:
    """The first sentence of what is said of it."""
    if public.kind == "Constants":
        text = comment_of(public)
    else:
        text = inspect.getdoc(public.value) or ""
    return " ".join(text.split("\n\n")[0].split())
