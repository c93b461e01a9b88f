"""A fit that fails leaves the estimator as it was."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

MethodT = TypeVar("MethodT", bound=Callable[..., Any])


def transactional(fit: MethodT) -> MethodT:
    """A ``fit`` that changes the estimator completely or not at all."""

    @functools.wraps(fit)
    def whole_or_nothing(self: Any, *args: Any, **kwargs: Any) -> Any:
        with restored_on_failure(self):
            return fit(self, *args, **kwargs)

    return cast(MethodT, whole_or_nothing)


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[dict[str, Any]]:
    """Give an estimator back as it was when what it is given is refused, or a fit interrupted."""
    before = dict(estimator.__dict__)
    try:
        yield before
    except BaseException:
        estimator.__dict__ = dict(before)  # in one step, which a second Ctrl-C cannot divide
        raise
