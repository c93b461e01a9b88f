"""Warnings that point at the line of the user's, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

#: Packages whose frames are not the user's.
_INNER = ("orfeon", "sklearn", "joblib", "contextlib")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first frame outside the library.

    Parameters
    ----------
    message : str
        What to say.
    category : type of Warning, default=UserWarning
        Its kind.

    Examples
    --------
    >>> import warnings
    >>> from orfeon.warning import warn_user
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("mind the gap")
    >>> str(caught[0].message)
    'mind the gap'
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] not in _INNER:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
