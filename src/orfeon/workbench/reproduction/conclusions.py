"""What the figures of a table say together, by the names that TOML files use.

Ordered bagging: which order is best, and which beats bagging. Our errors are counted as they would
be printed, to a tenth of a point, so that they are tied as often as the published ones.

Perceptrons: how far each method is from what was published, over all data sets; what training-set
selection gains where the classes are most unbalanced, and how few samples it keeps; and what
balanced boosting gives up of one class for the other.

Seconds: what a method takes as a multiple of another on the same machine, and how fast its time
grows with the number of members.

Models: cells beyond doubt, scores on folds, settings chosen by the grid search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.comparison import (
    Comparison,
    PairedDifference,
    paired_difference,
)
from orfeon.workbench.reproduction.measures import FOLDS
from orfeon.workbench.reproduction.published import (
    PublishedCell,
    config_text,
    published_cells,
    published_shares,
    read_config,
)
from orfeon.workbench.reproduction.study import StudyBuild

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

#: Method and settings.
_Place = tuple[str, str]
#: A difference is clear beyond this many of its standard errors.
_CLEAR = 2.0


# -- ordered bagging -------------------------------------------------------------------------------


class Standing(NamedTuple):
    """On how many data sets an order and a share stand out.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Standing
    >>> Standing("orientation", "keep=20%", best=5, best_published=4, below=17, below_published=18)
    Standing(method='orientation', config='keep=20%', best=5, best_published=4, below=17, ...)
    """

    method: str
    config: str
    best: int
    best_published: int
    below: int | None
    below_published: int | None


def ordering_standings(comparisons: Sequence[Comparison]) -> list[Standing]:
    """Count the data sets on which each order and share is best, and on which it beats bagging.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The cells of some data sets, the same cells for each.

    Returns
    -------
    list of Standing
        In the order of the cells. ``best`` counts the data sets on which no other cell has a
        smaller error (tied ones all count), ``below`` those on which the error is smaller than
        that of the whole of bagging; None for bagging itself, or if it is not among the cells.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell, ordering_standings
    >>> def cell(method, keep, value, ours):
    ...     config = {"keep": keep}
    ...     published = PublishedCell("martinez-5.8", "wine", method, config, value, None, 100)
    ...     return Comparison(published, ours, 1.0, 100)
    >>> ordering_standings([cell("bagging", "100%", 6.5, 6.2), cell("orientation", "20%", 5, 6.3)])
    [Standing(method='bagging', config='keep=100%', best=1, best_published=0, below=None, ...),
     Standing(method='orientation', config='keep=20%', best=0, best_published=1, below=0, ...)]
    """
    ours = _by_dataset(comparisons, lambda comparison: round(comparison.mean, 1))
    published = _by_dataset(comparisons, lambda comparison: comparison.published.value)
    places = dict.fromkeys(place for errors in ours for place in errors)
    return [
        Standing(
            *place, _n_best(ours, place), _n_best(published, place),
            _n_below(ours, place), _n_below(published, place),
        )
        for place in places
    ]  # fmt: skip


def _by_dataset(
    comparisons: Sequence[Comparison], error: Callable[[Comparison], float]
) -> list[dict[_Place, float]]:
    found: dict[str, dict[_Place, float]] = {}
    for comparison in comparisons:
        cell = comparison.published
        place = (cell.method, config_text(cell.config))
        found.setdefault(cell.dataset, {})[place] = error(comparison)
    return list(found.values())


def _n_best(datasets: Sequence[Mapping[_Place, float]], place: _Place) -> int:
    return sum(errors[place] == min(errors.values()) for errors in datasets)


def _n_below(datasets: Sequence[Mapping[_Place, float]], place: _Place) -> int | None:
    whole = next((other for other in datasets[0] if other[0] == "bagging"), None)
    if whole is None or whole == place:
        return None
    return sum(errors[place] < errors[whole] for errors in datasets)


def ordering_conclusions(comparisons: Sequence[Comparison]) -> str:
    """The standings of all orders and shares as text, ours beside the published.

    Parameters
    ----------
    comparisons : sequence of Comparison
        The cells of some data sets, the same cells for each.

    Returns
    -------
    str
        A line for each order and share, below a title and a header.

    Examples
    --------
    >>> from orfeon.workbench import Comparison
    >>> from orfeon.workbench.reproduction import PublishedCell, ordering_conclusions
    >>> config = {"keep": "20%"}
    >>> cell = PublishedCell("martinez-5.8", "wine", "orientation", config, 5.0, None, 100)
    >>> print(ordering_conclusions([Comparison(cell, 4.9, 1.0, 100)]))
    Number of data sets, of 1, where a cell is the best (ties included) and below bagging:
    method       config    best  published  below  published
    orientation  keep=20%     1          1      -          -
    """
    n_datasets = len({comparison.published.dataset for comparison in comparisons})
    header = ["method", "config", "best", "published", "below", "published"]
    lines = [
        ["-" if part is None else str(part) for part in standing]
        for standing in ordering_standings(comparisons)
    ]
    return (
        f"Number of data sets, of {n_datasets}, where a cell is the best (ties included) and below "
        f"bagging:\n{aligned([header, *lines], to_the_right={2, 3, 4, 5})}"
    )


# -- perceptrons -----------------------------------------------------------------------------------


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
    is_wanted = any((cell.dataset, cell.method) == (dataset, method) for cell in found.cells)
    return is_wanted and bool(found.values(_cell(found, dataset, method)))


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


# -- seconds ---------------------------------------------------------------------------------------


def _ratios(found: Reproduction) -> list[Comparison]:
    """What each method takes as a multiple of the reference with as many members."""
    reference = found.protocol.settings["reference"]
    references = {
        (cell.dataset, cell.config["T"]): cell for cell in found.cells if cell.method == reference
    }
    comparisons = []
    for cell in found.cells:
        other = references.get((cell.dataset, cell.config["T"]))
        if other is None or cell.method == reference:
            continue
        ours, theirs = found.values(cell), found.values(other)
        ratios = [ours[split] / theirs[split] for split in sorted(ours.keys() & theirs.keys())]
        if ratios:
            published = PublishedCell(
                cell.table, cell.dataset, cell.method, cell.config | {"vs": reference},
                cell.value / other.value, None, cell.n_splits, metric="ratio",
            )  # fmt: skip
            comparisons.append(
                Comparison.of(
                    published, ratios, rule=found.protocol.rule(published),
                    is_comparable=found.is_comparable(cell) and found.is_comparable(other),
                )
            )  # fmt: skip
    return comparisons


def growth_exponent(seconds: Mapping[int, float]) -> float:
    """The power of the number of members that seconds grow with."""
    members, times = np.log(list(seconds.keys())), np.log(list(seconds.values()))
    return float(np.polyfit(members, times, 1)[0])


def _exponents(found: Reproduction) -> list[Comparison]:
    comparisons = []
    for method in dict.fromkeys(cell.method for cell in found.cells):
        cells = {int(cell.config["T"]): cell for cell in found.cells if cell.method == method}
        values = {size: found.values(cell) for size, cell in cells.items()}
        values = {size: by_split for size, by_split in values.items() if by_split}
        if len(values) < 2:
            continue
        splits = sorted(set.intersection(*(set(by_split) for by_split in values.values())))
        ours = [
            growth_exponent({size: by_split[split] for size, by_split in values.items()})
            for split in splits
        ]
        first = next(iter(cells.values()))
        published = PublishedCell(
            first.table, first.dataset, method, {"T": f"{min(values)}-{max(values)}"},
            growth_exponent({size: cells[size].value for size in values}), None, first.n_splits,
            metric="exponent",
        )  # fmt: skip
        comparisons.append(Comparison.of(published, ours, rule=found.protocol.rule(published)))
    return comparisons


def _seconds(found: Reproduction) -> str:
    """Seconds as they were measured, ours beside the published."""
    lines = [["method", "T", "seconds", "published", "times faster"]]
    for cell in found.cells:
        values: Sequence[float] = list(found.values(cell).values())
        if values:
            ours = float(np.mean(values))
            lines.append(
                [cell.method, cell.config["T"], f"{ours:.4f}", f"{cell.value:g}",
                 f"{cell.value / ours:.0f}"]
            )  # fmt: skip
    return "Seconds, not compared:\n" + aligned(lines, to_the_right={1, 2, 3, 4})


# -- models ----------------------------------------------------------------------------------------


def fold_scores(found: Reproduction) -> dict[str, list[float]]:
    """Scores on folds of the training part, of all splits together."""
    scores: dict[str, list[float]] = {cell.method: [] for cell in found.cells}
    for record in found.records:
        if FOLDS in record.config and isinstance(record.result, Mapping):
            scores[record.method] += record.result.values()
    return {method: its for method, its in scores.items() if its}


def _models(found: Reproduction) -> str:
    whole = [ours for ours in found.comparisons if ours.is_comparable]
    sure = [ours for ours in whole if ours.published.doubt is None]
    agreeing = sum(ours.agrees for ours in sure)
    parts = [
        *[f"Of the {len(sure)} cells that are not in doubt, {agreeing} agree."] * bool(whole),
        f"With {found.variant}. {found.protocol.settings['note']}",
        *[_methods(found)] * bool(fold_scores(found)),
        *[_choices(found)] * (found.variant.settings == "tuned"),
    ]
    tests = _tests(found)
    return "\n\n".join([*parts, tests] if tests else parts)


def _methods(found: Reproduction) -> str:
    """Scores on folds, best median first."""
    lines = [["method", "median", "mean", "lowest", "highest"]]
    for method, scores in by_median(fold_scores(found)).items():
        lines.append(
            [method, f"{np.median(scores):.1f}",
             f"{np.mean(scores):.1f} ± {np.std(scores, ddof=1):.1f}",
             f"{min(scores):.1f}", f"{max(scores):.1f}"]
        )  # fmt: skip
    score = "R2" if found.protocol.settings["main"]["metric"] == "r2" else "Accuracy"
    n_folds = found.protocol.settings["study"]["score_folds"]
    table = aligned(lines, to_the_right={1, 3, 4})
    return f"{score} in percent on {n_folds} folds of the training part:\n{table}"


def by_median(scores: Mapping[str, list[float]]) -> dict[str, list[float]]:
    """Methods in the order of their medians, the best first."""
    return dict(sorted(scores.items(), key=lambda item: -float(np.median(item[1]))))


def _choices(found: Reproduction) -> str:
    lines = [
        [method, _chosen(found, method)]
        for method in dict.fromkeys(record.method for record in found.records)
    ]
    return "Settings chosen:\n" + aligned([["method", "settings"], *lines])


def _chosen(found: Reproduction, method: str) -> str:
    """The settings that were chosen, of all splits."""
    from sklearn.model_selection import ParameterGrid

    builds = [run.build for run in found.protocol.runs if run.cells[0].method == method]
    settings = list(ParameterGrid(builds[0].grid if isinstance(builds[0], StudyBuild) else {}))
    chosen = [
        settings[int(record.result["chosen"])]
        for record in found.records
        if record.method == method and isinstance(record.result, Mapping)
        if "chosen" in record.result
    ]
    texts = [", ".join(f"{name}={_value(value)}" for name, value in of.items()) for of in chosen]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _tests(found: Reproduction) -> str:
    """With several splits: the best method tested against each other one."""
    from orfeon.statistics import corrected_resampled_t_test

    main = found.protocol.settings["main"]
    config, metric = read_config(main["config"]), main["metric"]
    values = {
        cell.method: found.values(cell)
        for cell in found.cells
        if cell.metric == metric and cell.config == config and found.values(cell)
    }
    common = sorted(set.intersection(*(set(its) for its in values.values()))) if values else []
    if len(common) < 2 or len(values) < 2:
        return ""
    scores = {method: [its[split] for split in common] for method, its in values.items()}
    best = max(scores, key=lambda method: float(np.mean(scores[method])))
    lines = [["method", "points behind", "p"]]
    for method, its in scores.items():
        if method != best:
            # Four fifths are trained on; the test needs the ratio of the two parts only.
            test = corrected_resampled_t_test(scores[best], its, n_train=4, n_test=1)
            below = float(np.mean(scores[best]) - np.mean(its))
            lines.append([method, f"{below:.2f}", f"{test.p_value:.4f}"])
    return (
        f"{best} has the best {metric} over {len(common)} splits; how far behind the others are, "
        f"with the corrected resampled t-test:\n{aligned(lines, to_the_right={1, 2})}"
    )


#: Text that follows the comparisons of a table.
CONCLUSIONS: dict[str, Callable[[Reproduction], str]] = {
    "ordering": lambda found: ordering_conclusions(found.comparisons),
    "mean differences": mean_differences,
    "training-set selection": selection_conclusions,
    "balanced boosting": boosting_conclusions,
    "seconds": _seconds,
    "models": _models,
}
#: Comparisons that are not of the cells one by one.
COMPARISONS: dict[str, Callable[[Reproduction], list[Comparison]]] = {
    "ratios": _ratios,
    "ratios and growth": lambda found: [*_ratios(found), *_exponents(found)],
}
