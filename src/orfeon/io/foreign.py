"""Estimators of other packages, through skops: it loads the types it trusts, and no others."""

from __future__ import annotations

import importlib.util
from typing import Any

from orfeon.io.errors import ModelFileError


def _skops(what: str) -> Any:
    if importlib.util.find_spec("skops") is None:
        raise ModelFileError(
            f"{what}; estimators of other packages go through skops, which is not installed: "
            'pip install "orfeon[skops]".'
        )
    import skops.io

    return skops.io


def written_by_skops(thing: Any, place: str) -> bytes:
    """An estimator of another package, as skops writes it.

    Parameters
    ----------
    thing : estimator
        Fitted or not.
    place : str
        Where in the model it is, for the message.

    Returns
    -------
    bytes
        What is saved.
    """
    name = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if not hasattr(thing, "get_params") or isinstance(thing, type):
        raise ModelFileError(
            f"{place}the model cannot be saved: a {name} is no class that model files know."
        )
    skops = _skops(f"{place}the model holds a {name}")
    try:
        data: bytes = skops.dumps(thing)
        unknown = skops.get_untrusted_types(data=data)
    except Exception as error:  # skops refuses in many ways
        raise ModelFileError(f"{place}skops cannot save a {name}: {error}") from error
    if unknown:
        raise ModelFileError(
            f"{place}a {name} holds {', '.join(unknown)}, which skops would not load again."
        )
    return data


def read_by_skops(data: bytes) -> Any:
    """An estimator of another package, of types that skops trusts.

    Parameters
    ----------
    data : bytes
        As skops wrote it.

    Returns
    -------
    estimator
        The same.
    """
    skops = _skops("it holds an estimator of another package")
    try:
        return skops.loads(data, trusted=[])
    except Exception as error:
        raise ModelFileError(f"skops cannot load an estimator in it: {error}") from error
