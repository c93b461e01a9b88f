"""Printed figures that cannot all be true.

Two classes: the recalls of both and the share of one fix all other figures, up to rounding. Digits,
all equally frequent: the mean accuracy of the classes is their mean recall, and Matthews'
coefficient follows from it. Prices: a squared error and R2 together give the variance of the
prices, which is the same for all methods.

Which of several contradictory figures is wrong is unknown: those are marked that do not follow from
the recalls, or from the other methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from statistics import median

#: Place of a cell in its table: method, settings, measure.
Place = tuple[str, str, str]
_Figures = dict[tuple[str, str], float]
#: Printed with two decimals.
_HALF = 0.005
#: Shares of the class <50k in the file, with and without missing values and equal rows.
_SHARES = (0.745, 0.762)
_LOW, _HIGH = "class=<50k", "class=>50k"


def contradictions(check: str, rows: Sequence[Mapping[str, str]]) -> dict[Place, str]:
    """What contradicts printed figures."""
    by_method: dict[str, _Figures] = {}
    for row in rows:
        figures = by_method.setdefault(row["method"], {})
        figures[row["config"], row["metric"]] = float(row["value"])
    return dict(CHECKS[check](by_method))


def _two_classes(by_method: Mapping[str, _Figures]) -> Iterator[tuple[Place, str]]:
    for method, printed in by_method.items():
        recalls = printed[_LOW, "recall"], printed[_HIGH, "recall"]
        around = [(recall - _HALF, recall, recall + _HALF) for recall in recalls]
        possible = [implied(*corner) for corner in product(*around, _SHARES)]
        for (config, metric), value in printed.items():
            least = min(figures[config, metric] for figures in possible)
            most = max(figures[config, metric] for figures in possible)
            if not least - _HALF <= value <= most + _HALF:
                yield (
                    (method, config, metric),
                    f"the recalls of its classes imply {100 * least:.0f} to {100 * most:.0f}",
                )


def implied(low: float, high: float, share: float) -> _Figures:
    """All figures of two classes from their recalls."""
    right, wrong = low * share, (1 - low) * share
    found, missed = high * (1 - share), (1 - high) * (1 - share)
    precisions = right / (right + missed), found / (found + wrong)
    f1s = 2 * right / (2 * right + wrong + missed), 2 * found / (2 * found + wrong + missed)
    named = (found + wrong) * (right + missed)
    mcc = (found * right - wrong * missed) / math.sqrt(named * share * (1 - share))
    figures: _Figures = {("avg=weighted", "accuracy"): right + found, ("", "mcc"): mcc}
    for metric, (first, second) in {
        "accuracy": (low, high), "recall": (low, high), "precision": precisions, "f1": f1s,
    }.items():  # fmt: skip
        figures[_LOW, metric], figures[_HIGH, metric] = first, second
        figures["avg=macro", metric] = (first + second) / 2
    return figures


def _digits(by_method: Mapping[str, _Figures]) -> Iterator[tuple[Place, str]]:
    for method, printed in by_method.items():
        recall = printed["avg=macro", "recall"]
        if abs(printed["avg=macro", "accuracy"] - recall) > 2 * _HALF + 1e-9:
            yield (
                (method, "avg=macro", "accuracy"),
                f"the mean recall, which is the same by definition, is {100 * recall:.0f}",
            )
        # Where most is right, digits are named about as often as they occur.
        coefficient = (printed["avg=weighted", "recall"] - 0.1) / 0.9
        if coefficient > 0.7 and abs(printed["", "mcc"] - coefficient) > 0.015:
            yield (
                (method, "", "mcc"),
                f"the recall of {100 * printed['avg=weighted', 'recall']:.0f} implies about "
                f"{100 * coefficient:.0f}",
            )


def _prices(by_method: Mapping[str, _Figures]) -> Iterator[tuple[Place, str]]:
    variances = [printed["", "mse"] / (1 - printed["", "r2"]) for printed in by_method.values()]
    variance = median(variances)
    for method, printed in by_method.items():
        copied = [
            other
            for other in by_method
            if other != method and by_method[other]["", "mse"] == printed["", "mse"]
        ]
        implied_r2 = 1 - printed["", "mse"] / variance
        if abs(implied_r2 - printed["", "r2"]) <= 0.05:
            continue
        if not copied:
            text = f"its squared error and the other methods imply about {100 * implied_r2:.0f}"
            yield (method, "", "r2"), text
        for metric in ("mse", "rmse", "mae") if copied else ():
            text = f"it is that of {copied[0]} to the last digit, and inconsistent with its R2"
            yield (method, "", metric), text


#: The checks that a TOML file can name as its ``doubt_check``.
CHECKS: dict[str, Callable[[Mapping[str, _Figures]], Iterator[tuple[Place, str]]]] = {
    "two classes": _two_classes, "digits": _digits, "prices": _prices,
}  # fmt: skip
