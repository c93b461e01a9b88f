"""Trees on whole files: exact figures."""

from __future__ import annotations

import pytest
from tests.shared import path_of

from orfeon.workbench import PROTOCOLS, reproduce


def test_our_trees_are_those_of_the_independent_program():
    found = reproduce("j48", data=path_of("data"))
    assert len(found.comparisons) == 36
    assert [str(c.published) for c in found.comparisons if not c.agrees] == []
    assert "Sizes and numbers of errors agree when they are equal." in str(found)


def test_one_sample_more_in_a_leaf_is_no_agreement(tmp_path):
    """Another file of the same name: nothing is tolerated."""
    lines = (path_of("data") / "wine.csv").read_text().splitlines(keepends=True)
    (tmp_path / "wine.csv").write_text("".join(lines[:100]))
    found = reproduce("j48", datasets=["wine"], data=tmp_path)
    differing = [c for c in found.comparisons if not c.agrees]
    assert differing
    assert all(abs(c.difference) >= 1 for c in differing)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("pruned;min_objs=2", (True, 2)),
        ("unpruned;min_objs=2", (False, 2)),
        ("unpruned;min_objs=1", (False, 1)),
    ],
)
def test_options_are_those_of_the_other_program(config, expected):
    (run,) = [run for run in PROTOCOLS["j48"].runs if run.cells[0].config == config]
    tree = run.build(1, 0, None)
    assert (tree.pruning, tree.min_samples_leaf) == expected
    assert (tree.error_limit, tree.mdl_penalty) == ("normal", True)
