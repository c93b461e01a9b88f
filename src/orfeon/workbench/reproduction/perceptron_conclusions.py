"""What the accuracies of parallel perceptrons say together.

How far each method is from what was published, over all data sets; what training-set selection
gains where the classes are most unbalanced, and how few samples it keeps; and what balanced
boosting gives up of one class for the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.comparison import PairedDifference, paired_difference
from orfeon.workbench.reproduction.published import PublishedCell, published_cells, published_shares

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

#: A difference is clear beyond this many of its standard errors.
_CLEAR = 2.0


def mean_differences(found: Reproduction) -> str:
    """Mean absolute difference of each method from the published figures, over the data sets.

    Parameters
    ----------
    found : Reproduction
        Our results.

    Returns
    -------
    str
        A line for each method, with a column for each measure, below a title and a header.

    Examples
    --------
    >>> from orfeon.workbench import Reproduction
    >>> from orfeon.workbench.reproduction import FoldOutcome, Record, mean_differences
    >>> from orfeon.workbench.reproduction import published_cells
    >>> cell = published_cells("cantador-6.3.1")[1]
    >>> print(cell, cell.value)
    ionosphere pp g 76.9
    >>> fold = FoldOutcome(3, 5, 8, 8, n_train=99)
    >>> records = [
    ...     Record(cell.table, cell.dataset, cell.method, {}, 1, k, fold, 0.1)
    ...     for k in range(10)
    ... ]
    >>> print(mean_differences(Reproduction((cell,), tuple(records))))
    Mean absolute difference from the published figures on 1 of 7 data sets, in points:
    method     g
    pp      0.56
    """
    comparisons = found.comparisons
    differences: dict[str, dict[str, list[float]]] = {}
    for comparison in comparisons:
        cell = comparison.published
        of_method = differences.setdefault(cell.method, {})
        of_method.setdefault(cell.metric, []).append(abs(comparison.difference))
    metrics = list(dict.fromkeys(comparison.published.metric for comparison in comparisons))
    lines = [["method", *metrics]]
    for method, by_metric in differences.items():
        means = [f"{np.mean(by_metric[m]):.2f}" if m in by_metric else "-" for m in metrics]
        lines.append([method, *means])
    n_datasets = len({comparison.published.dataset for comparison in comparisons})
    n_all = len({cell.dataset for cell in published_cells(comparisons[0].published.table)})
    return (
        f"Mean absolute difference from the published figures on {n_datasets} of {n_all} data "
        f"sets, in points:\n{aligned(lines, to_the_right=range(1, len(lines[0])))}"
    )


def selection_conclusions(found: Reproduction) -> str:
    """What training-set selection gains over all samples, and how many it keeps.

    Parameters
    ----------
    found : Reproduction
        Our results for the table of ``pp`` and ``pptss``.

    Returns
    -------
    str
        The mean differences; and, where both methods were run, a line for each data set, the most
        unbalanced first.

    Examples
    --------
    >>> from orfeon.workbench import Reproduction
    >>> from orfeon.workbench.reproduction import FoldOutcome, Record, published_cells
    >>> from orfeon.workbench.reproduction import selection_conclusions
    >>> cells = [cell for cell in published_cells("cantador-6.3.1") if cell.dataset == "thyroid"]
    >>> whole, selected = FoldOutcome(25, 50, 95, 100, 900), FoldOutcome(47, 50, 95, 100, 900, 9)
    >>> records = [
    ...     Record("cantador-6.3.1", "thyroid", method, {}, 1, k, fold, 0.1)
    ...     for method, fold in (("pp", whole), ("pptss", selected)) for k in range(20)
    ... ]
    >>> print(selection_conclusions(Reproduction(tuple(cells), tuple(records))))
    Mean absolute difference ...
    <BLANKLINE>
    Gain in g of pptss over pp (± standard error), and the training samples it selects:
    dataset  positive    pp  pptss           gain         published  selected
    thyroid      7.4%  68.9   94.5  +25.58 ± 0.00  clear      +29.1  1.0% (9 of 900)
    """
    parts = [mean_differences(found)]
    shares = published_shares(found.cells[0].table)
    lines = [
        _gain_line(found, dataset, shares[dataset])
        for dataset in sorted(shares, key=shares.__getitem__)
        if _was_run(found, dataset, "pp") and _was_run(found, dataset, "pptss")
    ]
    if lines:
        header = ["dataset", "positive", "pp", "pptss", "gain", "", "published", "selected"]
        parts.append(
            "Gain in g of pptss over pp (± standard error), and the training samples it "
            f"selects:\n{aligned([header, *lines], to_the_right={1, 2, 3, 4, 6})}"
        )
    return "\n\n".join(parts)


def _gain_line(found: Reproduction, dataset: str, share: float) -> list[str]:
    whole, selecting = (_cell(found, dataset, method) for method in ("pp", "pptss"))
    g, g_selecting = found.values(whole), found.values(selecting)
    gain = _paired(g_selecting, g)
    folds = [fold for folds in found.outcomes(selecting).values() for fold in folds]
    n_train = np.mean([fold.n_train for fold in folds])
    n_kept = np.mean([fold.n_train if fold.n_selected is None else fold.n_selected
                      for fold in folds])  # fmt: skip
    return [
        dataset,
        f"{share:.1f}%",
        f"{_mean(g):.1f}",
        f"{_mean(g_selecting):.1f}",
        _text(gain),
        _clearly(gain),
        f"{selecting.value - whole.value:+.1f}",
        f"{100 * n_kept / n_train:.1f}% ({n_kept:.0f} of {n_train:.0f})",
    ]


def boosting_conclusions(found: Reproduction) -> str:
    """What balanced boosting gives up of one class for the other.

    Parameters
    ----------
    found : Reproduction
        Our results for the table of ``pp_adaboost`` and ``ppboost_balanced``.

    Returns
    -------
    str
        The mean differences; and, where both methods were run, a line for each data set and one for
        their mean.

    Examples
    --------
    >>> from orfeon.workbench import Reproduction
    >>> from orfeon.workbench.reproduction import FoldOutcome, Record, boosting_conclusions
    >>> from orfeon.workbench.reproduction import published_cells
    >>> cells = [cell for cell in published_cells("cantador-6.4.3") if cell.dataset == "vehicle"]
    >>> hits = {"pp_adaboost": (28, 85), "ppboost_balanced": (35, 80)}
    >>> records = [
    ...     Record("cantador-6.4.3", "vehicle", method, {"T": "10"}, 10, k,
    ...            FoldOutcome(positive, 50, negative, 100, 900), 0.1)
    ...     for method, (positive, negative) in hits.items() for k in range(20)
    ... ]
    >>> print(boosting_conclusions(Reproduction(tuple(cells), tuple(records))))
    Mean absolute difference ...
    <BLANKLINE>
    ppboost_balanced minus pp_adaboost, in points (± standard error):
    dataset           acc+  published          acc-  published
    vehicle  +14.00 ± 0.00      +17.1  -5.00 ± 0.00       -6.5
    mean            +14.00      +17.1         -5.00       -6.5
    """
    parts = [mean_differences(found)]
    datasets = [
        dataset
        for dataset in published_shares(found.cells[0].table)
        if _was_run(found, dataset, "pp_adaboost") and _was_run(found, dataset, "ppboost_balanced")
    ]
    if datasets:
        header = ["dataset", "acc+", "published", "acc-", "published"]
        lines = [_trade_line(found, dataset) for dataset in datasets]
        parts.append(
            "ppboost_balanced minus pp_adaboost, in points (± standard error):\n"
            f"{aligned([header, *lines, _trade_means(found, datasets)], to_the_right={1, 2, 3, 4})}"
        )
    return "\n\n".join(parts)


def _trade(found: Reproduction, dataset: str, metric: str) -> PairedDifference:
    """Balanced boosting minus AdaBoost."""
    balanced, adaboost = (
        found.values(replace(_cell(found, dataset, method), metric=metric))
        for method in ("ppboost_balanced", "pp_adaboost")
    )
    return _paired(balanced, adaboost)


def _published_trade(dataset: str, metric: str) -> float:
    accuracies = {
        cell.method: cell.value
        for table in ("cantador-6.4.1", "cantador-6.4.2")
        for cell in published_cells(table)
        if (cell.dataset, cell.metric) == (dataset, metric)
    }
    return accuracies["ppboost_balanced"] - accuracies["pp_adaboost"]


def _trade_line(found: Reproduction, dataset: str) -> list[str]:
    line = [dataset]
    for metric in ("acc+", "acc-"):
        ours = _trade(found, dataset, metric)
        line += [_text(ours), f"{_published_trade(dataset, metric):+.1f}"]
    return line


def _trade_means(found: Reproduction, datasets: list[str]) -> list[str]:
    line = ["mean"]
    for metric in ("acc+", "acc-"):
        ours = [_trade(found, dataset, metric).mean for dataset in datasets]
        published = [_published_trade(dataset, metric) for dataset in datasets]
        line += [f"{np.mean(ours):+.2f}", f"{np.mean(published):+.1f}"]
    return line


def _cell(found: Reproduction, dataset: str, method: str) -> PublishedCell:
    (cell,) = [c for c in found.cells if (c.dataset, c.method) == (dataset, method)]
    return cell


def _was_run(found: Reproduction, dataset: str, method: str) -> bool:
    asked = any((cell.dataset, cell.method) == (dataset, method) for cell in found.cells)
    return asked and bool(found.values(_cell(found, dataset, method)))


def _mean(values: Mapping[int, float]) -> float:
    return float(np.mean(list(values.values())))


def _paired(values: Mapping[int, float], others: Mapping[int, float]) -> PairedDifference:
    """The difference of two methods; of a single repetition the standard error is not known."""
    if len(values.keys() & others.keys()) > 1:
        return paired_difference(values, others)
    return PairedDifference(_mean(values) - _mean(others), float("nan"), 1)


def _text(difference: PairedDifference) -> str:
    return str(difference) if difference.n_splits > 1 else f"{difference.mean:+.2f}"


def _clearly(difference: PairedDifference) -> str:
    """Whether it is beyond its standard errors; nothing is, where they are not known."""
    if difference.n_splits < 2 or abs(difference.mean) <= _CLEAR * difference.standard_error:
        return ""
    return "clear" if difference.mean > 0 else "clear loss"
