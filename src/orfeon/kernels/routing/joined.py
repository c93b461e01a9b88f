"""Forests that are joined: the tests of all but the first refer to tables further on."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def shift_tests(threshold, feature, n_children, n_categories, ends, tables, projections):
    """Add to each test where its forest's branch tables, or its projections, begin."""
    begin = np.int64(0)
    for k in range(ends.shape[0]):
        for node in range(begin, ends[k]):
            if n_children[node] == 0:
                continue
            f = feature[node]
            if f < 0:
                feature[node] = f - projections[k]
            elif n_categories[f] > 0:
                threshold[node] += float(tables[k])
        begin = ends[k]
