"""What the published tables are made of: which methods, with which settings, on which splits.

Nothing is tuned to a cell: the settings are those that the text gives, the same for all problems.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import orfeon
from orfeon.study.published import config_text

#: Errors in percent by the text of the cell's settings.
Errors = dict[str, float]
#: From the number of members, the seed and the number of threads to an estimator.
Build = Callable[[int, int, int | None], Any]
#: From a fitted estimator and the test set to the errors of its cells.
Measure = Callable[[Any, npt.NDArray[Any], npt.NDArray[Any]], Errors]


@dataclass(frozen=True)
class Run:
    """One fit, which gives the errors of one cell or of several.

    Parameters
    ----------
    method : str
        The method as the table names it.
    configs : tuple of dict
        The settings of the cells.
    members : int
        Number of members that are trained.
    build : callable
        Makes the estimator from ``members``, ``random_state`` and ``n_jobs``.
    measure : callable
        Gives the errors of the cells from the fitted estimator and a test set.
    expected_warning : str, optional
        Pattern of a warning that the published settings are known to cause.

    Examples
    --------
    >>> from orfeon.study import PROTOCOLS
    >>> [(run.method, run.members) for run in PROTOCOLS["martinez-3.2"].runs]
    [('cart', 1), ('igp_tree', 1)]
    """

    method: str
    configs: tuple[dict[str, str], ...] = field(hash=False)
    members: int
    build: Build
    measure: Measure
    expected_warning: str | None = None


@dataclass(frozen=True)
class Protocol:
    """How a published table was made.

    Parameters
    ----------
    table : str
        The table.
    stratified : bool
        Whether splits keep the shares of the classes.
    runs : tuple of Run
        The methods that can be run.
    files : mapping of str to str
        Names of the data files that differ from those of the data sets.

    Examples
    --------
    >>> from orfeon.study import PROTOCOLS
    >>> PROTOCOLS["martinez-3.2"].files["german"]
    'german_numeric'
    """

    table: str
    stratified: bool
    runs: tuple[Run, ...]
    files: Mapping[str, str] = field(default_factory=dict, hash=False)

    def random_state(self, split: int) -> int:
        """Seed of all fits on a split.

        Parameters
        ----------
        split : int
            Number of the split.

        Returns
        -------
        int
            The same for every method.

        Examples
        --------
        >>> from orfeon.study import PROTOCOLS
        >>> protocol = PROTOCOLS["martinez-3.2"]
        >>> protocol.random_state(0) == protocol.random_state(1)
        False
        """
        words = np.random.SeedSequence([zlib.crc32(self.table.encode()), split])
        return int(words.generate_state(1)[0] >> 1)


def error_percent(predictions: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Share of wrong predictions, in percent.

    Parameters
    ----------
    predictions, y : array-like
        The predicted classes and the true ones.

    Returns
    -------
    float
        From 0 to 100.

    Examples
    --------
    >>> from orfeon.study.protocols import error_percent
    >>> error_percent([0, 1, 1, 1], [0, 1, 1, 0])
    25.0
    """
    wrong = np.asarray(predictions) != np.asarray(y)
    return round(100.0 * float(np.mean(wrong)), 10)


def _whole(config: dict[str, str]) -> Measure:
    """One cell: the error of the whole model."""
    return lambda model, X, y: {config_text(config): error_percent(model.predict(X), y)}


def _first_members(sizes: tuple[int, ...]) -> Measure:
    """A cell for each size: the vote of the first members.

    A model that stopped early votes with the members it has.
    """

    def measure(model: Any, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> Errors:
        errors: Errors = {}
        latest = 100.0
        for size, predictions in enumerate(model.staged_predict(X), start=1):
            latest = error_percent(predictions, y)
            if size in sizes:
                errors[f"T={size}"] = latest
        return {f"T={size}": errors.get(f"T={size}", latest) for size in sizes}

    return measure


def _committees(model: Any, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> Errors:
    """9 trees are the first 3 of the first 3 committees, 99 are all of the 11 x 9."""
    return {
        "T=9": error_percent(model.first(3, 3).predict(X), y),
        "T=99": error_percent(model.predict(X), y),
    }


def _tree(method: str, build: Build) -> Run:
    return Run(method, ({},), 1, build, _whole({}))


def _sized(method: str, sizes: tuple[int, ...], build: Build) -> Run:
    configs = tuple({"T": str(size)} for size in sizes)
    return Run(method, configs, max(sizes), build, _first_members(sizes))


def _switched(method: str, name: str, rate: str, expected_warning: str | None = None) -> Run:
    """1000 trees on labels of which a share was altered, ``rate`` as a fraction of its limit.

    The trees are grown until no label is wrong, but for equal examples with different labels.
    """
    config = {"p_hat": rate}

    def build(members: int, random_state: int, n_jobs: int | None) -> Any:
        tree = orfeon.C45Classifier(pruning=False, mdl_penalty=False, min_samples_leaf=1)
        return getattr(orfeon, name)(
            tree, n_estimators=members, relative_rate=float(Fraction(rate)),
            random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip

    return Run(method, (config,), 1000, build, _whole(config), expected_warning)


#: Chapter 3 takes the version of this problem without categories.
_NUMERIC = {"german": "german_numeric"}
#: Published on purpose: what flipping does at rates that are too large for it.
_BEYOND_SHARE = r"flip_rate=\S+ is not below the share of the smaller class"
_RATES = ("4/5", "3/5", "2/5", "1/5")

_SINGLE_TREES = (
    _tree("cart", lambda _, seed, jobs: orfeon.CARTClassifier(pruning="cv", random_state=seed)),
    _tree("igp_tree", lambda _, seed, jobs: orfeon.IGPTreeClassifier(random_state=seed)),
)
_IGP_ENSEMBLES = (
    _sized(
        "bagging", (1, 9, 99),
        lambda members, seed, jobs: orfeon.BaggingClassifier(
            orfeon.CARTClassifier(pruning="cv"),
            n_estimators=members, random_state=seed, n_jobs=jobs,
        ),
    ),
    _sized(
        "igp_ensemble", (1, 9, 99),
        lambda members, seed, jobs: orfeon.IGPEnsembleClassifier(
            n_estimators=members, random_state=seed, n_jobs=jobs
        ),
    ),
    _sized(
        "boosting_igp", (9, 99),
        lambda members, seed, jobs: orfeon.BoostingIGPClassifier(
            n_estimators=members, random_state=seed, n_jobs=jobs
        ),
    ),
    Run(
        "igp_committees", ({"T": "9"}, {"T": "99"}), 99,
        lambda members, seed, jobs: orfeon.IGPCommitteesClassifier(
            n_committees=11, n_estimators=9, random_state=seed, n_jobs=jobs
        ),
        _committees,
    ),
)  # fmt: skip
_LABEL_ENSEMBLES = (
    _tree("c45", lambda _, seed, jobs: orfeon.C45Classifier(random_state=seed)),
    Run(
        "bagging", ({},), 1000,
        lambda members, seed, jobs: orfeon.BaggingClassifier(
            orfeon.C45Classifier(), n_estimators=members, random_state=seed, n_jobs=jobs
        ),
        _whole({}),
    ),
    *(_switched("class_switching", "ClassSwitchingClassifier", rate) for rate in _RATES),
    *(_switched("flipping", "FlippingClassifier", rate, _BEYOND_SHARE) for rate in _RATES),
)  # fmt: skip

#: The tables that can be reproduced, by name.
PROTOCOLS = {
    "martinez-3.2": Protocol("martinez-3.2", False, _SINGLE_TREES, _NUMERIC),
    "martinez-3.3": Protocol("martinez-3.3", False, _IGP_ENSEMBLES, _NUMERIC),
    "martinez-4.2": Protocol("martinez-4.2", True, _LABEL_ENSEMBLES),
}
