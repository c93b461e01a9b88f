"""Published figures, as facts that the package carries.

A table is a CSV file of ``dataset, method, config, metric, value, std``. Errors, accuracies and
other figures are read from it, the sizes of the training and test sets, the shares of the classes,
p-values and records of wins. What is printed as a fraction becomes percent.

References
----------
Cantador (2005). Aplicación de perceptrones paralelos y AdaBoost a problemas de clasificación de
muestra extrema. Universidad Autónoma de Madrid. Chapter 6.

Martínez-Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de
Madrid. Chapters 3 (IGP ensembles), 4 (class-switching) and 5 (ordered bagging).

Recarey (2021). Single models and ensembles side by side, chapter 3: three problems.

The table ``j48`` has sizes and training errors of the trees of Weka 3.6, an independent C4.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orfeon.workbench.reproduction.doubts import CHECKS, contradictions
from orfeon.workbench.reproduction.table_files import pick, read_rows, read_settings

#: The metric of most tables; others are in `orfeon.workbench.reproduction.results`.
ERROR = "error"


class _Metric(NamedTuple):
    """What a metric of the files is called here, and the factor that turns it into percent."""

    name: str
    factor: float = 1.0


_METRICS = {
    "test_error_percent": _Metric(ERROR),
    "test_error_fraction": _Metric(ERROR, 100.0),
    "train_error_percent": _Metric(ERROR),
    "min_test_error_percent": _Metric(ERROR),
    "accuracy_percent": _Metric("accuracy"),
    "accuracy_positive_percent": _Metric("acc+"),
    "accuracy_negative_percent": _Metric("acc-"),
    "g_mean_percent": _Metric("g"),
    "seconds": _Metric("seconds"),
    "n_leaves": _Metric("n_leaves"),
    "n_nodes": _Metric("n_nodes"),
    "training_errors": _Metric("training_errors"),
    "accuracy": _Metric("accuracy", 100.0),
    "recall": _Metric("recall", 100.0),
    "precision": _Metric("precision", 100.0),
    "f1": _Metric("f1", 100.0),
    "mcc": _Metric("mcc", 100.0),
    "r2": _Metric("r2", 100.0),
    "mse": _Metric("mse"),
    "rmse": _Metric("rmse"),
    "mae": _Metric("mae"),
    "n_trees": _Metric("n_trees"),
    "base_classifiers_above_pmax_percent": _Metric("members_above_limit"),
    "n_train_examples": _Metric("n_train"),
    "n_filter_iterations": _Metric("n_rounds"),
    "n_examples": _Metric("n_samples"),
    "positive_percent": _Metric("positive_percent"),
    "n_continuous_attributes": _Metric("n_continuous"),
    "n_discrete_attributes": _Metric("n_discrete"),
}
#: Tables of both errors call the one on the training set by another name.
_TRAINING, _TEST = "train_error_percent", "test_error_percent"
TRAINING_ERROR = "training error"


#: Tables of seconds.
_TIMES = ("martinez-3.7", "martinez-5.10")


class Sizes(NamedTuple):
    """Numbers of training and test samples.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Sizes
    >>> Sizes(n_train=300, n_test=5000).n_test
    5000
    """

    n_train: int
    n_test: int


class Kept(NamedTuple):
    """How many members are left of a pool.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Kept
    >>> print(Kept(n_classifiers=19, percent=25.3))
    19 (25.3%)
    """

    n_classifiers: int
    percent: float

    def __str__(self) -> str:
        return f"{self.n_classifiers} ({self.percent:.1f}%)"


@dataclass(frozen=True)
class PublishedCell:
    """One published figure: a mean error, an accuracy, a size or a time.

    Parameters
    ----------
    table : str
        The table, such as ``"martinez-3.3"``.
    dataset, method : str
        The row and the column.
    config : dict of str to str
        What else identifies the cell, such as ``{"T": "99"}``.
    value : float
        Mean over the splits, in percent where it is a share: on the test set, or on the training
        set if that is what the table is about.
    std : float or None
        Standard deviation over the splits, where one is printed.
    n_splits : int
        Number of splits behind the mean, or of repetitions of a cross-validation.
    kept : Kept, optional
        Where the error is the lowest over all sizes, the size at which it is found.
    metric : str, default="error"
        The measure: ``"error"``, ``"accuracy"``, ``"acc+"``, ``"acc-"``, ``"g"``, ``"seconds"``...
    n_folds : int, default=1
        Number of folds of a repetition; 1 where training and test sets are drawn.
    doubt : str, optional
        Why the printed figure is doubtful.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import PublishedCell
    >>> print(PublishedCell("martinez-3.3", "sonar", "bagging", {"T": "99"}, 26.1, 4.2, 50))
    sonar bagging T=99
    """

    table: str
    dataset: str
    method: str
    config: dict[str, str] = field(hash=False)
    value: float
    std: float | None
    n_splits: int
    kept: Kept | None = None
    metric: str = ERROR
    n_folds: int = 1
    doubt: str | None = None

    def __str__(self) -> str:
        metric = "" if self.metric == ERROR else self.metric
        parts = (self.dataset, self.method, config_text(self.config), metric)
        return " ".join(part for part in parts if part)


def config_text(config: Mapping[str, str]) -> str:
    """The settings of a cell in one word.

    Parameters
    ----------
    config : mapping of str to str
        The settings.

    Returns
    -------
    str
        ``key=value`` pairs, or words alone, joined by ``;``.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import config_text
    >>> config_text({"T": "99", "keep": "0.2"})
    'T=99;keep=0.2'
    """
    return ";".join(f"{key}={value}" if value else key for key, value in config.items())


def read_config(text: str) -> dict[str, str]:
    """The settings of a cell from one word, as :func:`config_text` writes them.

    Parameters
    ----------
    text : str
        ``key=value`` pairs, or words alone, joined by ``;``.

    Returns
    -------
    dict of str to str
        The settings; the value of a word alone is empty.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import read_config
    >>> read_config("T=99;keep=0.2"), read_config("pruned;min_objs=2")
    ({'T': '99', 'keep': '0.2'}, {'pruned': '', 'min_objs': '2'})
    """
    parts = [pair.partition("=") for pair in text.split(";") if pair]
    return {key: value for key, _, value in parts}


def published_cells(table: str) -> list[PublishedCell]:
    """Errors or accuracies of a published table.

    Parameters
    ----------
    table : str
        One of :func:`orfeon.workbench.list_tables`.

    Returns
    -------
    list of PublishedCell
        In the order of the file; what does not belong to such a figure is left out.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import published_cells
    >>> cells = published_cells("martinez-3.3")
    >>> len(cells), str(cells[0]), cells[0].value, cells[0].std
    (60, 'breast_w bagging T=1', 6.78, 2.2)
    >>> cell = published_cells("martinez-5.4")[0]
    >>> print(cell, cell.value, cell.kept)
    diabetes reduce_error initial_size=11 24.9 7 (63.6%)
    >>> cell = published_cells("cantador-6.4.2")[1]
    >>> print(cell, cell.value)
    ionosphere ppboost_negative T=10 acc+ 67.45
    """
    settings = read_settings(table)
    rows = read_rows(table)
    facts = {(*_place(row), row["metric"]): row["value"] for row in rows}
    doubts = _doubts(table, rows)
    both = {_TRAINING, _TEST} <= {row["metric"] for row in rows}
    names = {metric: of.name for metric, of in _METRICS.items()}
    names |= {_TRAINING: TRAINING_ERROR} if both else {}
    return [
        PublishedCell(
            table, row["dataset"], row["method"], read_config(row["config"]),
            value=_percent(row["value"], row["metric"]),
            std=_percent(row["std"], row["metric"]) if row["std"] else None,
            n_splits=settings["splits"],
            kept=_kept(facts, _place(row)),
            metric=names[row["metric"]],
            n_folds=settings.get("folds", 1),
            doubt=doubts.get((*_place(row), row["metric"])),
        )
        for row in rows if row["metric"] in _METRICS
    ]  # fmt: skip


def _doubts(table: str, rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, str, str, str], str]:
    """What contradicts figures as they are printed; they are kept all the same."""
    settings = read_settings(table)
    noted = {
        (doubt["dataset"], doubt["method"], doubt["metric"]): doubt["text"]
        for doubt in settings.get("doubts", [])
    }
    found = {}
    if "doubt_check" in settings:
        check = pick(table, "doubt_check", settings["doubt_check"], CHECKS)
        found = contradictions(check, rows)
    doubts = {}
    for row in rows:
        dataset, method, config = _place(row)
        shown = _METRICS[row["metric"]].name if row["metric"] in _METRICS else ""
        text = noted.get((dataset, method, shown), found.get((method, config, row["metric"])))
        if text is not None:
            doubts[dataset, method, config, row["metric"]] = text
    return doubts


def published_sizes(table: str) -> dict[str, Sizes]:
    """Numbers of training and test samples of each of a table's problems.

    Parameters
    ----------
    table : str
        One of :func:`orfeon.workbench.list_tables`, of those whose training and test sets are
        drawn.

    Returns
    -------
    dict of str to Sizes
        By data set.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import published_sizes
    >>> published_sizes("martinez-3.2")["diabetes"], published_sizes("martinez-4.2")["diabetes"]
    (Sizes(n_train=500, n_test=268), Sizes(n_train=468, n_test=300))
    """
    n_train, n_test = (_of_problems(table, metric) for metric in ("n_train", "n_test"))
    return {name: Sizes(int(n_train[name]), int(n_test[name])) for name in n_train}


def published_shares(table: str) -> dict[str, float]:
    """Shares of the positive class in each of a table's problems.

    Parameters
    ----------
    table : str
        One of :func:`orfeon.workbench.list_tables`, of those about unbalanced classes.

    Returns
    -------
    dict of str to float
        Percent, by data set.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import published_shares
    >>> published_shares("cantador-6.3.1")["thyroid"]
    7.4
    """
    return _of_problems(table, "positive_percent")


def published_folds(table: str) -> int:
    """Number of folds of a repetition.

    Parameters
    ----------
    table : str
        One of :func:`orfeon.workbench.list_tables`.

    Returns
    -------
    int
        1 where training and test sets are drawn instead.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import published_folds
    >>> published_folds("cantador-6.3.1"), published_folds("martinez-3.2")
    (10, 1)
    """
    return int(read_settings(table).get("folds", 1))


def published_seconds(table: str) -> dict[str, dict[int, float]]:
    """Times of a published table.

    Parameters
    ----------
    table : str
        ``"martinez-3.7"``: seconds to train ensembles of 101 trees on 300 samples of waveform, on
        a Celeron of 400 MHz; or ``"martinez-5.10"``: seconds to order the members of an ensemble
        trained on as many, on a Pentium 4 of 3.2 GHz.

    Returns
    -------
    dict of str to dict of int to float
        Seconds, by method and by number of members.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import published_seconds
    >>> published_seconds("martinez-5.10")["margin_distance"][1600]
    94.4
    """
    if table not in _TIMES:
        raise ValueError(f"table must be one of {', '.join(_TIMES)}, got {table!r}")
    found: dict[str, dict[int, float]] = {}
    for row in read_rows(table):
        members = int(read_config(row["config"])["T"])
        found.setdefault(row["method"], {})[members] = float(row["value"])
    return found


def _of_problems(table: str, metric: str) -> dict[str, float]:
    """A figure of each of a table's problems."""
    problems = read_settings(table).get("problems")
    found = {
        row["dataset"]: float(row["value"])
        for row in (read_rows(problems) if problems else []) if row["metric"] == metric
    }  # fmt: skip
    if not found:
        raise ValueError(f"table must be one whose problems have a printed {metric}, got {table!r}")
    return found


def _place(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["dataset"], row["method"], row["config"]


def _kept(
    facts: Mapping[tuple[str, str, str, str], str], place: tuple[str, str, str]
) -> Kept | None:
    """How many members the cell at a place keeps, where that is printed."""
    number = facts.get((*place, "n_classifiers"))
    if number is None:
        return None
    return Kept(int(number), float(facts[(*place, "kept_percent")]))


def _percent(number: str, metric: str) -> float:
    # 0.0678 is 6.78, not 6.7799999999999994
    return round(float(number) * _METRICS[metric].factor, 10)


class PublishedTest(NamedTuple):
    """A published p-value of a method against another one."""

    dataset: str
    method: str
    config: str
    rival: str
    #: None where the rival has the same settings, or has only one cell.
    rival_config: str | None
    p_value: float


def published_tests(table: str) -> list[PublishedTest]:
    """The p-values of a published table."""
    found = []
    for row in read_rows(table):
        if row["metric"] == "p_value":
            config = read_config(row["config"])
            rival = config.pop("vs")
            named = {name: config.pop(f"vs_{name}") for name in [*config] if f"vs_{name}" in config}
            found.append(
                PublishedTest(
                    row["dataset"], row["method"], config_text(config), rival,
                    config_text(named) if named else None, float(row["value"]),
                )
            )  # fmt: skip
    return found


class WinRecord(NamedTuple):
    """On how many data sets a method wins, draws and loses against another."""

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.draws}/{self.losses}"


def published_records() -> dict[tuple[str, str], WinRecord]:
    """Records of wins of all pairs of methods, table 4.3 of Martínez-Muñoz (2006)."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in read_rows("martinez-4.3"):
        config = read_config(row["config"])
        rival = " ".join(
            [config.pop("vs"), *(f"p_hat={config.pop(k)}" for k in ("vs_p_hat",) if k in config)]
        )
        method = " ".join(part for part in (row["method"], config_text(config)) if part)
        found.setdefault((method, rival), {})[row["metric"]] = int(row["value"])
    return {pair: WinRecord(**counts) for pair, counts in found.items()}
