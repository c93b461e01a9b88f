"""Warnings about features that know too much, and about targets that are hard to judge.

All are cheap: single features, sampled rows, no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.text import some_of
from orfeon.utils.types import Floats

#: Rows that are looked at, at most.
_MOST_ROWS = 10_000
#: Fewest rows to judge a feature by.
_FEWEST_ROWS = 100
#: Bins of a numeric feature at most, and rows of a bin at least.
_MOST_BINS, _ROWS_OF_BIN = 50, 10
#: A feature is suspicious if it leaves no more than this share of the error without it.
_LEFT = 0.05
#: An identifier orders the target if it leaves no more than this share.
_LEFT_BY_ORDER = 0.5
#: A rank correlation with a numeric target from which a feature is suspicious.
_CORRELATION = 0.999
#: Share of the rarer of two classes, or of the average class of several, that is called rare.
_RARE = 0.1


def leakage_notes(X: Any, y: npt.NDArray[Any], identifiers: dict[str, Any]) -> list[str]:
    """Notes on features that alone predict the target, and on identifiers that order it.

    ``identifiers`` are columns of numbers that are no features.
    """
    is_class = y.dtype.kind != "f"
    rows = _sample(len(y))
    if len(rows) < _FEWEST_ROWS:
        return []
    target = np.unique(y[rows], return_inverse=True)[1] if is_class else y[rows]
    notes = []
    known = [
        str(name)
        for name in X.columns
        if _is_suspicious(_values(X[name])[rows], target, is_class, X[name].dtype.kind == "f")
    ]
    if known:
        notes.append(
            f"Possible leakage: {some_of(known)} alone predict{'s' if len(known) == 1 else ''} the "
            "target almost perfectly. Exclude with drop (--drop) whatever is not known before the "
            "target."
        )
    if is_class:
        ordered = [
            name
            for name, values in identifiers.items()
            if _error_left(np.asarray(values, dtype=np.float64)[rows], target, True)
            <= _LEFT_BY_ORDER
        ]
        if ordered:
            notes.append(
                f"Possible leakage: the row identifier {some_of(ordered)} orders the target, so "
                "rows were collected class by class; check that no feature, such as a date or a "
                "batch, was recorded in the same order."
            )
    return notes


def imbalance_note(shares: Mapping[str, float]) -> str | None:
    """How rare the rarest class is, and what to judge by then."""
    rarest, largest = (pick(shares, key=lambda name: shares[name]) for pick in (min, max))
    if shares[rarest] * len(shares) >= 2 * _RARE:
        return None
    metric = "average_precision or auc" if len(shares) == 2 else "balanced_error or log_loss"
    costs = ", or by costs (--cost)" if len(shares) == 2 else ""
    return (
        f"The classes are imbalanced: {rarest} is {shares[rarest]:.1%} of the rows, and always "
        f"predicting {largest} errs on {1 - shares[largest]:.1%}; judge by metric (--metric) "
        f"{metric}{costs}."
    )


def _sample(n_rows: int) -> npt.NDArray[np.int64]:
    """Rows in a random order, the same in each call."""
    return np.random.default_rng(n_rows).permutation(n_rows)[:_MOST_ROWS]


def _values(column: Any) -> npt.NDArray[Any]:
    """Numbers, or codes of categories."""
    if column.dtype.kind == "f":
        return np.asarray(column)
    return np.asarray(column.cat.codes)


def _is_suspicious(
    values: npt.NDArray[Any], target: npt.NDArray[Any], is_class: bool, is_number: bool
) -> bool:
    if is_class:
        return _error_left(values, target, is_number) <= _LEFT
    return is_number and _correlation(values, target) >= _CORRELATION


def _error_left(values: npt.NDArray[Any], codes: npt.NDArray[Any], is_number: bool) -> float:
    """Error of the largest class in each bin, as a share of that of the largest class of all.

    One half of the rows decides the classes, the other half judges them.
    """
    bins = _bins(values) if is_number else np.unique(values, return_inverse=True)[1]
    half = len(codes) // 2
    counts = np.zeros((int(bins.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (bins[:half], codes[:half]), 1.0)
    overall = counts.sum(axis=0)
    counts[counts.sum(axis=1) == 0] = overall  # bins that the first half does not have
    wrong = float(np.mean(counts.argmax(axis=1)[bins[half:]] != codes[half:]))
    usual = float(np.mean(overall.argmax() != codes[half:]))
    return wrong / usual if usual > 0 else 1.0


def _bins(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Numbers of bins of about equally many rows; missing values are one of their own."""
    missing = np.isnan(values)
    n_bins = max(2, min(_MOST_BINS, len(values) // _ROWS_OF_BIN))
    present = values[~missing]
    if not len(present):
        return np.zeros(len(values), dtype=np.int64)
    cuts = np.unique(np.quantile(present, np.linspace(0, 1, n_bins + 1)[1:-1], method="nearest"))
    bins = np.searchsorted(cuts, values, side="left")
    return np.where(missing, len(cuts) + 1, bins).astype(np.int64)


def _correlation(values: Floats, target: Floats) -> float:
    """Size of the rank correlation of the rows where the feature is known."""
    from scipy.stats import rankdata

    known = np.isfinite(values)
    if known.sum() < _FEWEST_ROWS or np.ptp(values[known]) == 0 or np.ptp(target[known]) == 0:
        return 0.0
    return abs(float(np.corrcoef(rankdata(values[known]), rankdata(target[known]))[0, 1]))
