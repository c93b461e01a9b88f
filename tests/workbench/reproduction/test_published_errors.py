"""Single trees err as published, on as many splits."""

from __future__ import annotations

import pytest
from tests.shared import path_of

from orfeon.workbench import reproduce
from orfeon.workbench.reproduction import published_sizes

QUICK = ("sonar", "waveform", "wine")


def datasets(table):
    """The data sets of a table; all but some quick ones are for thorough runs."""
    return [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough)
        for name in published_sizes(table)
    ]


@pytest.mark.parametrize("dataset", datasets("martinez-3.2"))
def test_cart_and_igp_trees_err_as_published(dataset):
    """Table 3.2 of Martínez-Muñoz (2006), 50 splits."""
    found = reproduce("martinez-3.2", datasets=[dataset], data=path_of("data"))
    assert [comparison.published.method for comparison in found.comparisons] == ["cart", "igp_tree"]
    assert all(comparison.agrees for comparison in found.comparisons), str(found)


@pytest.mark.parametrize("dataset", datasets("martinez-4.2"))
def test_c45_trees_err_as_published(dataset):
    """Table 4.2 of Martínez-Muñoz (2006), 100 splits."""
    found = reproduce("martinez-4.2", datasets=[dataset], methods=["c45"], data=path_of("data"))
    assert [comparison.n_splits for comparison in found.comparisons] == [100]
    assert all(comparison.agrees for comparison in found.comparisons), str(found)
