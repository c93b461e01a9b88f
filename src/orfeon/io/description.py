"""What is inside a model file: ``describe()``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from orfeon.forest import Forest
from orfeon.io.limits import VERSION
from orfeon.io.model_file import Path, read_parts

#: Items of a list that are shown.
_MOST = 8


def describe(path: Path) -> dict[str, Any]:
    """Tell what is inside a model file, in plain values.

    Parameters
    ----------
    path : str or path
        The file. It is read and checked as :func:`orfeon.load` does.

    Returns
    -------
    dict
        ``format_version``; ``made_by``, the versions of the packages; ``model``, its class;
        ``parameters``, those that are not the defaults, as texts; ``is_fitted``; ``n_features``,
        ``feature_names``, ``classes`` and ``n_members``, None where there are none; ``n_trees``,
        ``n_nodes`` and ``max_depth`` of all its trees; ``parts``, how many objects of each class;
        ``n_arrays``; ``file_bytes``; ``preparation`` and ``about``, as they were saved.

    Examples
    --------
    >>> import orfeon, os, tempfile
    >>> from orfeon.io import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "stump.orfeon")
    ...     orfeon.save(orfeon.StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"]), path)
    ...     inside = describe(path)
    >>> inside["model"], inside["n_features"], inside["classes"], inside["n_trees"]
    ('StumpClassifier', 1, ['no', 'yes'], 1)
    """
    content, objects, n_bytes = read_parts(path, memory_map=True)
    model = objects[-1]
    forests = [one for one in objects if isinstance(one, Forest)]
    return {
        "format_version": VERSION,
        "made_by": content["made_by"],
        "model": type(model).__name__,
        "parameters": _parameters(model),
        "is_fitted": any(name.endswith("_") for name in vars(model)),
        "n_features": getattr(model, "n_features_in_", None),
        "feature_names": _listed(getattr(model, "feature_names_in_", None)),
        "classes": _listed(getattr(model, "classes_", None)),
        "n_members": _n_members(model),
        "n_trees": sum(len(forest) for forest in forests),
        "n_nodes": sum(len(forest.nodes) for forest in forests),
        "max_depth": max((int(forest.depth.max()) for forest in forests), default=None),
        "parts": dict(sorted(Counter(type(one).__name__ for one in objects).items())),
        "n_arrays": len(content["arrays"]),
        "file_bytes": n_bytes,
        "preparation": content["preparation"],
        "about": content["about"],
    }


def _parameters(model: Any) -> dict[str, str]:
    """Parameters that are not the defaults of the class."""
    if not hasattr(model, "get_params"):
        return {}
    given = {name: _shown(value) for name, value in model.get_params(deep=False).items()}
    try:
        defaults = type(model)().get_params(deep=False)
    except TypeError:  # some parameters have none
        defaults = {}
    shown = {name: _shown(value) for name, value in defaults.items()}
    return {name: text for name, text in sorted(given.items()) if text != shown.get(name)}


def _shown(value: Any, depth: int = 0) -> str:
    """A value in few words, however much it holds."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return f"{type(value).__name__}(...)"
    if isinstance(value, list | tuple) and depth < 3:
        some = [_shown(one, depth + 1) for one in value[:_MOST]]
        inside = ", ".join([*some, "..."] if len(value) > _MOST else some)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    is_array = isinstance(value, np.ndarray)
    if is_array or isinstance(value, list | tuple | dict | set | frozenset):
        return f"<{type(value).__name__} of {np.size(value) if is_array else len(value)}>"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _listed(values: Any) -> list[Any] | None:
    return None if values is None else list(values.tolist())


def _n_members(model: Any) -> int | None:
    members = getattr(model, "members_", None)
    if members is None and hasattr(model, "ensemble_"):
        return _n_members(model.ensemble_)
    if members is None:
        members = getattr(model, "estimators_", None)
    return None if members is None else len(members)
