"""A fit that fails leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[dict[str, Any]]:
    """Give an estimator back as it was when what it is given is refused, or a fit interrupted.

    Parameters
    ----------
    estimator : estimator
        What is about to be fitted. Its attributes are put back, not what they hold: a fit makes
        new arrays and does not write into those there are.

    Yields
    ------
    dict
        The attributes as they were.

    Examples
    --------
    >>> from orfeon import StumpClassifier
    >>> from orfeon.restoring import restored_on_failure
    >>> stump = StumpClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> try:
    ...     with restored_on_failure(stump):
    ...         stump.classes_ = None
    ...         raise ValueError("refused")
    ... except ValueError:
    ...     print(stump.classes_)
    ['no' 'yes']
    """
    before = dict(estimator.__dict__)
    try:
        yield before
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise
