"""What training samples are to a parallel perceptron: redundant, noisy, borderline or quasi-noisy.

References
----------
Cantador and Dorronsoro (2005). Parallel perceptrons, activation margins and imbalanced training set
pruning. IbPRIA 2005, 43-50.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats

QuasiNoisy = Literal["all", "vote"]

#: The categories, by their codes.
NAMES = np.array(["redundant", "noisy", "borderline", "quasi-noisy"])
REDUNDANT, NOISY, BORDERLINE, QUASI_NOISY = range(4)


def categorise(
    margins: Floats,
    gamma: float,
    targets: Floats,
    positive: float = 1.0,
    quasi_noisy: QuasiNoisy = "all",
) -> npt.NDArray[np.int8]:
    """The category of each sample."""
    if quasi_noisy not in ("all", "vote"):
        raise ValueError(f'quasi_noisy={quasi_noisy!r} is not allowed; give "all" or "vote".')
    n_perceptrons = margins.shape[1]
    most = n_perceptrons // 2 + 1
    is_negative = targets != positive
    # An activation of 0 says 1, whichever class is of interest.
    wrong = ((margins < 0) | ((margins == 0) & (targets[:, None] < 0))).sum(axis=1)
    n_wrong = n_perceptrons if quasi_noisy == "all" else most
    codes = np.full(len(margins), BORDERLINE, np.int8)
    codes[is_negative & (wrong >= n_wrong)] = QUASI_NOISY
    codes[(margins > gamma).sum(axis=1) >= most] = REDUNDANT
    codes[(margins < -gamma).sum(axis=1) >= most] = NOISY
    return codes
