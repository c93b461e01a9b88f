"""Single trees err as published, on as many splits."""

from __future__ import annotations

import pytest
from tests.shared import path_of

from orfeon.workbench import reproduce
from orfeon.workbench.reproduction import published_sizes


@pytest.mark.parametrize("dataset", list(published_sizes("martinez-3.2")))
def test_cart_and_igp_trees_err_as_published(dataset):
    """Table 3.2 of Martínez-Muñoz (2006), 50 splits."""
    found = reproduce("martinez-3.2", datasets=[dataset], data=path_of("data"))
    assert [comparison.published.method for comparison in found.comparisons] == ["cart", "igp_tree"]
    assert all(comparison.agrees for comparison in found.comparisons), str(found)


@pytest.mark.parametrize("dataset", list(published_sizes("martinez-4.2")))
def test_c45_trees_err_as_published(dataset):
    """Table 4.2 of Martínez-Muñoz (2006), 100 splits."""
    found = reproduce("martinez-4.2", datasets=[dataset], methods=["c45"], data=path_of("data"))
    assert [comparison.n_splits for comparison in found.comparisons] == [100]
    assert all(comparison.agrees for comparison in found.comparisons), str(found)
