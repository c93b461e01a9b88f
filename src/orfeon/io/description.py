"""Summary of a model file: ``describe()``."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from orfeon.forest import Forest
from orfeon.io.errors import ModelFileError
from orfeon.io.forest_checks import sums_from_roots
from orfeon.io.limits import VERSION
from orfeon.io.model_file import Parts, Path, read_parts
from orfeon.io.scikit_learn_trees import TREE

#: Items of a list that are shown.
_MOST = 8


def describe(path: Path, *, foreign: bool = True) -> dict[str, Any]:
    """Describe a model file in plain values.

    Parameters
    ----------
    path : str or path
        The file, which is read and checked as by :func:`orfeon.load`.
    foreign : bool, default=True
        As in :func:`orfeon.load`.

    Returns
    -------
    dict
        ``format_version``; ``made_by``, the versions of the packages; ``model``, its class;
        ``parameters``, those that differ from the defaults, as strings; ``is_fitted``;
        ``n_features``, ``feature_names``, ``classes`` and ``n_members``, None if the model has
        none; ``n_trees``, ``n_nodes`` and ``max_depth`` of all its trees; ``parts``, the number of
        objects of each class; ``n_arrays``; ``file_bytes``; ``preparation`` and ``about``.

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
    return describe_parts(read_parts(path, memory_map=True, foreign=foreign), path)


def describe_parts(parts: Parts, path: Path) -> dict[str, Any]:
    """Describe a model file that has been read, as :func:`describe` does."""
    try:
        return _described(parts)
    except Exception as error:  # a forged file may be consistent and still raise anything here
        raise ModelFileError(f"{os.fspath(path)} cannot be described: {error}") from error


def _described(parts: Parts) -> dict[str, Any]:
    content, objects, n_bytes = parts
    model = objects[-1]
    is_estimator = hasattr(model, "get_params")
    grown = [found for one in objects for found in _trees_of(one)]
    classes = Counter(one["class"] for one in content["objects"])
    return {
        "format_version": VERSION,
        "made_by": content["made_by"],
        "model": type(model).__name__,
        "parameters": _parameters(model),
        "is_fitted": _is_fitted(model),
        "n_features": getattr(model, "n_features_in_", None),
        "feature_names": _listed(getattr(model, "feature_names_in_", None)),
        "classes": _listed(getattr(model, "classes_" if is_estimator else "classes", None)),
        "n_members": _n_members(model),
        "n_trees": sum(one.n_trees for one in grown),
        "n_nodes": sum(one.n_nodes for one in grown),
        "max_depth": max((one.depth for one in grown), default=None),
        "parts": dict(sorted(classes.items())),
        "n_arrays": len(content["arrays"]),
        "file_bytes": n_bytes,
        "preparation": content["preparation"],
        "about": content["about"],
    }


class _Trees(NamedTuple):
    n_trees: int
    n_nodes: int
    depth: int


def _trees_of(thing: Any) -> list[_Trees]:
    if isinstance(thing, Forest):
        is_below = (thing.parents() >= 0).astype(np.int64)
        return [_Trees(len(thing), len(thing.nodes), int(sums_from_roots(thing, is_below).max()))]
    if isinstance(thing, list):  # trees of scikit-learn that were saved end to end
        return [found for member in thing for found in _trees_of(member.tree_)]
    if TREE.holds(thing):
        return [_Trees(1, int(thing.node_count), int(thing.max_depth))]
    return []


def _is_fitted(model: Any) -> bool:
    """Whether it is fitted; forests and other objects without parameters always are."""
    has_fitted = any(name.endswith("_") for name in vars(model))
    return has_fitted or not hasattr(model, "get_params") or _last_is_fitted(model)


def _last_is_fitted(model: Any) -> bool:
    """Whether it is a pipeline whose last step is fitted; the pipeline has no own attributes."""
    steps = getattr(model, "steps", None) or [("", None)]
    last = steps[-1][-1]
    return hasattr(last, "get_params") and _is_fitted(last)


def _parameters(model: Any) -> dict[str, str]:
    """Parameters that differ from the defaults of the class."""
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
    """A short text for a value, however large it is."""
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
    if hasattr(getattr(model, "ensemble", None), "n_members"):  # a result of combine()
        return int(model.ensemble.n_members)
    if members is None:
        members = getattr(model, "estimators_", None)
    return None if members is None else len(members)
