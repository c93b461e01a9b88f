"""Which features a node may use, by the features on its path.

Sets of features are words of bits. A node may use the features of every group that holds all
features on its path.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step

#: All features anywhere; one or two features on a path; the features of some groups.
ANY, ALONE, PAIRS, GROUPS = 0, 1, 2, 3


@array_step
def has_feature(words, f):
    return (words[f >> 6] >> np.uint64(f & 63)) & np.uint64(1) != np.uint64(0)


@array_step
def add_feature(words, f):
    words[f >> 6] |= np.uint64(1) << np.uint64(f & 63)


@array_step
def clear_words(words):
    for k in range(words.shape[0]):
        words[k] = 0


@array_step
def n_features_of(words):
    n = 0
    for k in range(words.shape[0]):
        rest = words[k]
        while rest != np.uint64(0):
            rest &= rest - np.uint64(1)
            n += 1
    return n


@array_step
def allow_features(kind, groups, path, allowed):
    """Write the features that a node with this path may use."""
    n_words = allowed.shape[0]
    if kind == GROUPS:
        clear_words(allowed)
        for g in range(groups.shape[0]):
            holds = True
            for k in range(n_words):
                holds &= (path[k] & ~groups[g, k]) == np.uint64(0)
            for k in range(n_words):
                allowed[k] |= groups[g, k] if holds else np.uint64(0)
        return
    is_full = kind != ANY and n_features_of(path) >= kind
    for k in range(n_words):
        allowed[k] = path[k] if is_full else ~np.uint64(0)


@array_step
def extend_paths(paths, node, first_child, f):
    """Write the paths of two children of a node that tests a feature."""
    for child in range(first_child, first_child + 2):
        for k in range(paths.shape[1]):
            paths[child, k] = paths[node, k]
        add_feature(paths[child], f)
