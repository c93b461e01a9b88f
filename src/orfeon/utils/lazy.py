"""Public names that are imported on first use, so that importing a package stays light.

Not lazy_loader, which knows no names that have moved, and would be a dependency for ten lines.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Collection, Mapping
from typing import Any

from orfeon.utils.user_warning import warn_user


def lazy_names(
    package: str,
    homes: Mapping[str, str],
    packages: Collection[str] = (),
    moved: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose public names live in other modules.

    Names that have moved are still found where they were, with a warning.
    """

    def find(name: str) -> Any:
        if name in packages:
            return importlib.import_module(f"{package}.{name}")
        if moved is not None and name in moved:
            warn_user(f"{package}.{name} is now {moved[name]}.", FutureWarning)
            return pkgutil.resolve_name(moved[name])
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("orfeon.") else f"{package}.{home}"
        return getattr(importlib.import_module(module), name)

    return find


def if_installed(needed: str, names: Collection[str]) -> Collection[str]:
    """Names for ``__dir__`` that need an optional package; none if it is not installed.

    Otherwise code that reads all names of a module would raise.
    """
    return names if importlib.util.find_spec(needed) is not None else ()
