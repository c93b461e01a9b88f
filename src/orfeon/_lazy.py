"""Public names that are imported on first use, so that importing a package stays light."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose public names live in other modules.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        Public names, and the modules that they live in: of orfeon, or of the package itself.

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
    >>> find("late_decision")
    Traceback (most recent call last):
    ...
    AttributeError: module 'orfeon.combining' has no attribute 'late_decision'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("orfeon.") else f"{package}.{home}"
        return getattr(importlib.import_module(module), name)

    return find
