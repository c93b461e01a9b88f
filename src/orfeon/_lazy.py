"""Public names that are imported on first use, so that importing a package stays light."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Collection, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], packages: Collection[str] = ()
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose public names live in other modules.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        Public names, and the modules that they live in: of orfeon, or of the package itself.
    packages : collection of str, optional
        Its public packages and modules. Python makes them attributes only once they are imported.

    Returns
    -------
    callable
        Finds the object of a name.

    Examples
    --------
    >>> from orfeon._lazy import lazy_names
    >>> find = lazy_names("orfeon.combining", {"early_decision": "early"})
    >>> find("early_decision").__module__
    'orfeon.combining.early'
    >>> lazy_names("orfeon", {}, packages=["combining"])("combining").__name__
    'orfeon.combining'
    >>> find("late_decision")
    Traceback (most recent call last):
    ...
    AttributeError: module 'orfeon.combining' has no attribute 'late_decision'
    """

    def find(name: str) -> Any:
        if name in packages:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("orfeon.") else f"{package}.{home}"
        return getattr(importlib.import_module(module), name)

    return find


def if_installed(needed: str, names: Collection[str]) -> Collection[str]:
    """Names for ``__dir__`` that need an optional package, or none where it is not installed.

    Whoever goes over all the names of a module gets these too; without the package that would
    raise.

    Parameters
    ----------
    needed : str
        The module that they import.
    names : collection of str
        The names.

    Returns
    -------
    collection of str

    Examples
    --------
    >>> from orfeon._lazy import if_installed
    >>> if_installed("numpy", ["a"]), if_installed("no_such_module", ["a"])
    (['a'], ())
    """
    return names if importlib.util.find_spec(needed) is not None else ()
