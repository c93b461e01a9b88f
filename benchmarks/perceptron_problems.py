"""The data that parallel perceptrons are timed on."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.problems import Data
from orfeon.datasets.folder import FOLDER_VARIABLE, data_file, has_data_file, read_data

_TEST_ROWS = 5000
#: Size of the problem named diabetes, of which 268 are positive.
DIABETES, _POSITIVE = (768, 8), 268


def noisy_sums(n_rows: int, n_features: int, n_positive: int) -> Data:
    """Two classes of different size, separated by a sum of features, with some noise.

    No feature is a sum of others, as some are in :func:`benchmarks.boosting_peers.two_clusters`:
    perceptrons that are wrong at times can turn to where such features say nothing, and would
    then be timed on other work.

    Examples
    --------
    >>> data = noisy_sums(768, 8, 268)
    >>> data.shape, int(data.y.sum())
    ((768, 8), 268)
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    half = n_features // 2
    score = X[:, :half].sum(axis=1) / np.sqrt(half) + rng.standard_normal(n_rows)
    y = np.zeros(n_rows, np.int64)
    y[np.argsort(score)[n_rows - n_positive :]] = 1
    return Data("stand-in", X, y)


def diabetes() -> tuple[Data, str]:
    """The data set itself, where there is a folder of data; otherwise its stand-in."""
    if not has_data_file("diabetes"):
        note = (
            f"The problem is a synthetic stand-in of the size of diabetes: {FOLDER_VARIABLE} names "
            "no folder with diabetes.csv."
        )
        return noisy_sums(*DIABETES, _POSITIVE), note
    X, labels = read_data(data_file("diabetes"))
    classes, counts = np.unique(labels, return_counts=True)
    y = (labels == classes[counts.argmin()]).astype(np.int64)
    return Data("diabetes", X, y), "The problem is diabetes itself."


def standardised(n_rows: int, n_features: int) -> tuple[Data, Data]:
    """A training set and a test set, standardised as the training set is."""
    n_all = n_rows + _TEST_ROWS
    whole = noisy_sums(n_all, n_features, round(n_all * _POSITIVE / DIABETES[0]))
    X = StandardScaler().fit(whole.X[:n_rows]).transform(whole.X)
    training = Data("noisy sums", X[:n_rows].copy(), whole.y[:n_rows])
    return training, Data("noisy sums", X[n_rows:].copy(), whole.y[n_rows:])
