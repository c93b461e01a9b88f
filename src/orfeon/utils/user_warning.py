"""Warnings that point at the line of the user's, however deep in the library they arise."""

from __future__ import annotations

import re
import sys
import warnings

#: Packages whose frames are not the user's.
_INNER = ("orfeon", "sklearn", "imblearn", "joblib", "contextlib")
#: How joblib's warning of a renewed worker process begins.
_RENEWED = "A worker stopped while some jobs were given to the executor"


class AdvisedWarning(UserWarning):
    """What was found, and what to do about it.

    They are apart because not everyone can do it: who reads the report of a study cannot set the
    parameters of an estimator.
    """

    def __init__(self, finding: str, advice: str) -> None:
        super().__init__(finding, advice)
        self.finding = finding
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.finding} {self.advice}"


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the first frame outside the library."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] not in _INNER:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def expect_renewed_workers() -> None:
    """Let joblib renew its worker processes without a warning.

    It ends workers that have grown by 300 MB, as compiled kernels make them, and starts others. It
    warns of that in the thread that hands out the results: where warnings are errors, the thread
    ends, and whoever waits for a result waits for ever.
    """
    known = ("ignore", re.compile(_RENEWED, re.IGNORECASE), UserWarning, None, 0)
    if known not in warnings.filters:  # another entry would have all others forget what they told
        warnings.filterwarnings("ignore", _RENEWED, UserWarning)
