"""What the tests of unbalanced classes share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep scikit-learn's small neighbour searches and fits from waiting for threads."""
    with threadpool_limits(1):
        yield
