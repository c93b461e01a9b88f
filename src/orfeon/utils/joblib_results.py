"""Results of joblib one by one; whatever is left is cancelled when the caller stops early."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from orfeon.utils.user_warning import expect_renewed_workers


@contextmanager
def joblib_results(parallel: Any, calls: Iterable[Any]) -> Iterator[Iterator[Any]]:
    """Results of a ``Parallel`` with ``return_as="generator"``; unread ones are cancelled.

    Otherwise a traceback may keep the generator alive, and the next use of joblib with another
    ``n_jobs`` would wait for ever.
    """
    expect_renewed_workers()
    results = parallel(calls)
    try:
        yield results
    finally:
        if results.gi_frame is not None:
            with warnings.catch_warnings():  # joblib warns of unused results
                warnings.simplefilter("ignore")
                results.close()
