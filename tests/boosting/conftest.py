"""What the tests of boosters share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let small runs end early: most tests are about what they have learnt by then."""
    ended = "ignore:.* requested, because:UserWarning"
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(ended))


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep scikit-learn's small members from waiting for threads of BLAS."""
    with threadpool_limits(1):
        yield
