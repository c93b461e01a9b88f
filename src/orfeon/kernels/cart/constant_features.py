"""Features that are constant in a node, and so in all nodes below: a bit each."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step


@array_step
def is_marked(marks, f):
    return (marks[f >> 6] >> np.uint64(f & 63)) & np.uint64(1) != np.uint64(0)


@array_step
def mark_feature(marks, f):
    marks[f >> 6] |= np.uint64(1) << np.uint64(f & 63)


@array_step
def clear_marks(marks):
    for k in range(marks.shape[0]):
        marks[k] = 0


@array_step
def copy_marks(source, target):
    for k in range(source.shape[0]):
        target[k] = source[k]
