"""Estimators of scikit-learn that model files know themselves, because models of ours have them."""

from __future__ import annotations

from collections.abc import Iterator

from orfeon.io.catalogue import Entry


def entries() -> Iterator[Entry]:
    """The estimators, with what is known of them."""
    yield from ()
