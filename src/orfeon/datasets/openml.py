"""Data sets of OpenML, through scikit-learn."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError, URLError

from orfeon.errors import UserError

#: Seconds without an answer after which the network is taken as absent.
PATIENCE = 30.0


class OfflineError(UserError):
    """OpenML cannot be reached."""


def fetch(name: str) -> tuple[Any, dict[str, Any]]:
    """Fetch a data set from OpenML."""
    from sklearn.datasets import fetch_openml

    question = _question(name)
    try:
        with _patience(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # several versions, retries: told by us where needed
            found = fetch_openml(
                **question, as_frame=True, cache=False, n_retries=1, delay=0.5, parser="auto"
            )
    except HTTPError as error:
        # Names that are not known come back as the codes 404 and 412.
        if error.code in (404, 412):
            raise UserError(f"OpenML has no data set {name!r}.") from error
        raise OfflineError(f"OpenML answered with the error {error.code}") from error
    except (URLError, TimeoutError, ConnectionError, socket.gaierror) as error:
        reason = getattr(error, "reason", error)
        raise OfflineError(f"OpenML cannot be reached ({reason})") from error
    except (ValueError, KeyError) as error:
        raise UserError(f"OpenML has no data set {name!r} that can be read: {error}.") from error
    return _frame(found), _facts(name, found)


def _question(name: str) -> dict[str, Any]:
    if name.isdecimal():
        return {"data_id": int(name)}
    bare, colon, version = name.rpartition(":")
    if not colon:
        return {"name": name}
    if not version.isdecimal() or not bare:
        raise UserError(f"{name!r}: what follows the colon is the version, a whole number.")
    return {"name": bare, "version": int(version)}


@contextmanager
def _patience() -> Iterator[None]:
    """Wait no longer than that: scikit-learn sets no limit of its own."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _frame(found: Any) -> Any:
    import pandas

    frame = found.frame
    sparse = [c for c in frame.columns if isinstance(frame[c].dtype, pandas.SparseDtype)]
    if sparse:
        dense = {name: frame[name].sparse.to_dense() for name in sparse}
        frame = pandas.DataFrame({c: dense.get(c, frame[c]) for c in frame.columns})
    return frame


def _facts(name: str, found: Any) -> dict[str, Any]:
    targets = list(getattr(found, "target_names", None) or ())
    details = dict(getattr(found, "details", None) or {})
    version, number = details.get("version", "?"), details.get("id", "?")
    title = details.get("name", name)
    return {
        "target_name": str(targets[0]) if len(targets) == 1 else None,
        "description": str(getattr(found, "DESCR", "") or ""),
        "source": f"OpenML, {title} version {version} (number {number})",
    }
