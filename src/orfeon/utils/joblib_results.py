"""Results of joblib one by one, with nothing left running when somebody stops early."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from orfeon.utils.user_warning import expect_renewed_workers


@contextmanager
def joblib_results(parallel: Any, calls: Iterable[Any]) -> Iterator[Iterator[Any]]:
    """Results of a ``Parallel`` with ``return_as="generator"``; those not wanted are cancelled.

    A traceback may keep results that nobody reads any more. With them joblib's next user who wants
    another ``n_jobs`` would wait for ever.
    """
    expect_renewed_workers()
    results = parallel(calls)
    try:
        yield results
    finally:
        if results.gi_frame is not None:
            with warnings.catch_warnings():  # joblib's, that something was done in vain
                warnings.simplefilter("ignore")
                results.close()
