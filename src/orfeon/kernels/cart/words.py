"""One word per sample that holds its weight and class, so that one addition counts a sample.

Two classes: the weight in the low half, the weight of class 1 in the high half. More classes: a
*field* of bits per class; a node has fields for the classes present, if their weights fit.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.criteria import GINI, GINI_FEW, GINI_TWO, counter_bits
from orfeon.utils.jit import array_step

#: How the words of a node are packed.
#: ``MANY_CLASSES``: not packed, but light enough for 32-bit counters by class.
UNPACKED, TWO_CLASSES, FIELDS, MANY_CLASSES = 0, 1, 2, 3
#: Cubes of smaller node weights fit in 63 bits.
_MAX_WEIGHT = 1 << 20


@array_step
def choose_fields(criterion, total, field, field_total, total_classes):
    """Give a field to each class that a node needs: (packing, fields, bits of each, weight)."""
    if criterion == GINI_TWO:
        return np.int64(TWO_CLASSES), np.int64(2), np.int64(32), total[0] + total[1]
    if criterion != GINI and criterion != GINI_FEW:
        return np.int64(UNPACKED), np.int64(0), np.int64(0), np.int64(0)
    n_fields = np.int64(0)
    weight = np.int64(0)
    for c in range(total.shape[0]):
        weight += total[c]
        if total[c] > 0 or criterion == GINI_FEW:
            if n_fields < field_total.shape[0]:
                field_total[n_fields] = total[c]
            field[c] = n_fields
            n_fields += 1
    bits = counter_bits(n_fields)
    if weight >= _MAX_WEIGHT:
        return np.int64(UNPACKED), n_fields, bits, weight
    if weight >= np.int64(1) << bits:
        for c in range(total.shape[0]):
            total_classes[c] = total[c]
        return np.int64(MANY_CLASSES), n_fields, bits, weight
    for c in range(total.shape[0]):
        field[c] *= bits
    return np.int64(FIELDS), n_fields, bits, weight


@array_step
def load_words(criterion, labels, weights, packed, rows, begin, end, field, repack, words):
    """Copy the words of a node's rows, in their order; ``repack`` writes their fields by row."""
    # The words that scans read by row have the weight above 16 bits for the place of the class.
    place = np.uint64(0xFFFF)
    put = np.uint64(0)
    if criterion == GINI_TWO:
        for i in range(begin, end):
            words[put] = packed[rows[np.uint64(i)]]
            put += np.uint64(1)
        return
    if criterion == GINI:
        for i in range(begin, end):
            row = rows[np.uint64(i)]
            at = np.uint64(field[np.uint64(labels[row])])
            w = np.uint64(weights[row])
            if repack:
                packed[row] = (w << np.uint64(16)) | at
            words[put] = w << at
            put += np.uint64(1)
        return
    for i in range(begin, end):
        word = packed[rows[np.uint64(i)]]
        words[put] = (word >> np.uint64(16)) << (word & place)
        put += np.uint64(1)
