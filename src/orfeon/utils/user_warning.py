"""Warnings that point at the user's line, however deep in the library they are raised."""

from __future__ import annotations

import re
import sys
import warnings

#: Packages whose frames are skipped.
_INNER = ("orfeon", "sklearn", "imblearn", "joblib", "contextlib")
#: How joblib's warning about a restarted worker process begins.
_RENEWED = "A worker stopped while some jobs were given to the executor"


class AdvisedWarning(UserWarning):
    """A finding, and advice on what to do.

    They are separate because readers of a study's report cannot set parameters of an estimator.
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
    """Silence joblib's warning about restarted worker processes.

    It restarts workers that have grown by 300 MB, as compiled kernels make them. It warns in the
    thread that returns results: if warnings are errors, that thread ends, and the caller waits for
    ever.
    """
    known = ("ignore", re.compile(_RENEWED, re.IGNORECASE), UserWarning, None, 0)
    if known not in warnings.filters:  # another filter would reset which warnings were shown
        warnings.filterwarnings("ignore", _RENEWED, UserWarning)
