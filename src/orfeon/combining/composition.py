"""What estimators share that are made of several named ones: names, reading, fitting, asking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, _safe_indexing, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from orfeon.combining.fitting import Method, ask, check_kind, fit_weighted, fresh
from orfeon.combining.out_of_fold import Split, check_splits, out_of_fold, splits_of
from orfeon.combining.tables import is_frame
from orfeon.ensembles.setting_aside import deal_folds
from orfeon.ensembles.units import as_units, hash_rows
from orfeon.progress import CallbackSupport
from orfeon.seeding import Purpose, branch
from orfeon.tabular import TabularEstimator
from orfeon.trees.limits import LIMITS

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Named = list[tuple[str, Any]]


@dataclass(frozen=True, eq=False)
class Units:
    """Training examples as estimators of any kind take them.

    Whole-number weights are copies. The order is one of content, so that the same examples give the
    same estimators however they were written down; or that in which the rows were given.

    Parameters
    ----------
    table : ndarray or data frame of shape (n_units, n_attributes)
        What members are fitted to.
    encoded : ndarray of shape (n_units, n_attributes)
        The same in numbers, by the schema.
    y : ndarray of shape (n_units,)
        Class codes, or targets.
    labels : ndarray of shape (n_units,)
        Classes as they were given, or targets.
    weights : ndarray of shape (n_units,)
        Weights, 1 on average.
    rows : ndarray of shape (n_units,)
        Which of the rows given each unit is.
    n_given : int
        How many rows were given.
    n_classes : int
        Number of classes, 0 in regression.
    seeds : numpy.random.SeedSequence
        Source of all randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.composition import Units
    >>> X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1])
    >>> units = Units(X, X, y, y, np.ones(3), np.array([2, 2, 0]), 3, 2, np.random.SeedSequence(0))
    >>> units.copies.tolist(), units.on_given_rows(y / 2)
    ([0, 0, 1], array([0.5, nan, 0. ]))
    """

    table: Any
    encoded: Floats
    y: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    weights: Floats
    rows: Integers
    n_given: int
    n_classes: int
    seeds: np.random.SeedSequence

    def __len__(self) -> int:
        return len(self.y)

    @property
    def ranks(self) -> Integers:
        """Class codes, or the ranks of the targets."""
        return np.unique(self.y, return_inverse=True)[1]

    @property
    def copies(self) -> Integers:
        """A number for each unit that copies of one example share."""
        return np.unique(hash_rows(self.encoded, self.ranks), return_inverse=True)[1]

    @property
    def is_constant(self) -> bool:
        """Whether all have the same class, or the same target: there is nothing to learn."""
        return bool((self.y == self.y[0]).all())

    def generator(self, *keys: int) -> np.random.Generator:
        """A random generator for one use of stacking and its kin.

        Parameters
        ----------
        *keys : int
            Which use.

        Returns
        -------
        numpy.random.Generator
            Its own.
        """
        return np.random.default_rng(branch(self.seeds, Purpose.STACKING, *keys))

    def seed(self, *keys: int) -> int:
        """A seed for one use of stacking and its kin.

        Parameters
        ----------
        *keys : int
            Which use, or which member.

        Returns
        -------
        int
            The seed.
        """
        word = branch(self.seeds, Purpose.STACKING, *keys).generate_state(1, np.uint64)[0]
        return int(word >> np.uint64(1))

    def fold_numbers(self, n_folds: int, *keys: int) -> Integers:
        """Part the units into folds by content, copies together, classes spread over all folds.

        Parameters
        ----------
        n_folds : int
            How many.
        *keys : int
            Which of several ways to do it at random.

        Returns
        -------
        ndarray of shape (n_units,)
            Fold of each unit.
        """
        ranks = self.ranks
        return deal_folds(
            hash_rows(self.encoded, ranks), ranks, self.weights, n_folds, self.generator(*keys),
            by_class=self.n_classes > 0,
        )  # fmt: skip

    def on_given_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the units as values of the rows given.

        Parameters
        ----------
        values : ndarray of shape (n_units, ...)
            Copies of a row have the same.

        Returns
        -------
        ndarray of shape (n_given, ...)
            NaN for rows of weight 0.
        """
        whole = np.full((self.n_given, *values.shape[1:]), np.nan)
        whole[self.rows] = values
        return whole


class Composition(CallbackSupport, MetaEstimatorMixin, _BaseComposition, TabularEstimator):  # type: ignore[misc]
    """An estimator made of several named ones, of any kind.

    Subclasses have the parameters ``estimators``, ``n_jobs``, ``verbose`` and ``random_state``, and
    give a list of named estimators for ``estimators=None``.

    Examples
    --------
    >>> from orfeon import CARTClassifier, StumpClassifier
    >>> from orfeon.combining.stacking import StackingClassifier
    >>> stack = StackingClassifier([("tree", CARTClassifier()), ("stump", StumpClassifier())])
    >>> stack.set_params(tree__max_depth=3, stump="drop").named_estimators
    {'tree': CARTClassifier(max_depth=3), 'stump': 'drop'}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": LIMITS["random_state"],
    }

    estimators: Any
    n_jobs: int | None
    verbose: int
    estimators_: list[Any]
    named_estimators_: Bunch

    @abstractmethod
    def _default(self) -> Named:
        """The estimators when none are given."""

    def _categorical_features(self) -> Any:
        return "auto"

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of the named estimators among them.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the estimators by their names, and their parameters.

        Returns
        -------
        dict
            Names and values.
        """
        if isinstance(self.estimators, list):
            return dict(self._get_params("estimators", deep=deep))
        return dict(super().get_params(deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; an estimator is replaced by its name, and left out by "drop".

        Parameters
        ----------
        **params : dict
            Names and values, such as ``tree__max_depth=3`` or ``tree="drop"``.

        Returns
        -------
        self
            The estimator.
        """
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """The estimators given, or those by default, by name."""
        return Bunch(**dict(self._given()))

    def _given(self) -> Named:
        return self._default() if self.estimators is None else list(self.estimators)

    def _members(self) -> Named:
        """The estimators that take part, checked, with their names."""
        given = self._given()
        pairs = all(
            isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
            for pair in given
        )
        if not given or not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} is not allowed: give a list of (name, estimator), "
                "one at least."
            )
        names = [name for name, _ in given]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"estimators has the name {name!r} twice; each needs its own.")
            if "__" in name or name in self.get_params(deep=False):
                raise ValueError(
                    f"estimators has the name {name!r}; names are not those of parameters of "
                    f"{type(self).__name__}, and have no '__'."
                )
        members = [(name, est) for name, est in given if not isinstance(est, str) or est != "drop"]
        if not members:
            raise ValueError('estimators are all "drop"; one at least must take part.')
        for name, estimator in members:
            check_kind(estimator, classifier=is_classifier(self), name=name)
        return members

    def _keep_members(self, members: Named, fitted: Sequence[Any]) -> None:
        self.estimators_ = list(fitted)
        by_name = dict(zip([name for name, _ in members], fitted, strict=True))
        self.named_estimators_ = Bunch(
            **{name: by_name.get(name, "drop") for name, _ in self._given()}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        for estimator in self._estimators_inside():
            if not hasattr(estimator, "__sklearn_tags__") or isinstance(estimator, type):
                continue
            inner = get_tags(estimator)
            tags.input_tags.allow_nan &= inner.input_tags.allow_nan
            if tags.classifier_tags is not None and inner.classifier_tags is not None:
                tags.classifier_tags.multi_class &= inner.classifier_tags.multi_class
        return tags

    def _estimators_inside(self) -> list[Any]:
        """All that see the attributes."""
        try:
            return [estimator for _, estimator in self._given()]
        except (TypeError, ValueError):  # fit says what is wrong with them
            return []

    # -- reading -------------------------------------------------------------------------------

    def _read_units(self, X: Any, y: Any, sample_weight: Any, *, sort: bool = True) -> Units:
        """Check a training set and make it units: by content, or in the order of the rows."""
        data, _ = as_units(self._read(X, y, sample_weight))
        if not sort:
            order = np.argsort(data.rows, kind="stable")
            data = replace(
                data, X=data.X[order], y=data.y[order], weights=data.weights[order],
                rows=data.rows[order],
            )  # fmt: skip
        labels = self.classes_[data.y] if data.n_classes else data.y
        table = _safe_indexing(X, data.rows) if is_frame(X) else self.schema_.decode(data.X)
        return Units(
            table, data.X, data.y, labels, data.relative_weights, data.rows, data.n_given,
            data.n_classes, data.seeds,
        )  # fmt: skip

    def _rows(self, X: Any) -> Any:
        """Rows to predict, as the members take them."""
        check_is_fitted(self, "estimators_")
        encoded = self._encode(X)
        return X if is_frame(X) else self.schema_.decode(encoded)

    # -- fitting and asking --------------------------------------------------------------------

    @property
    def _classes(self) -> npt.NDArray[Any] | None:
        """The classes, None in regression."""
        return getattr(self, "classes_", None)

    def _fit_members(
        self,
        members: Named,
        table: Any,
        units: Units,
        *,
        first: int = 0,
        after: Callable[[], object] | None = None,
    ) -> list[Any]:
        """Fit estimators to all units; the seeds are those of members from ``first`` on."""
        found = Parallel(n_jobs=self.n_jobs, prefer=prefer(members), return_as="generator")(
            delayed(_fit_one)(estimator, table, units, units.seed(0, first + t), name)
            for t, (name, estimator) in enumerate(members)
        )
        fitted = []
        for one in found:
            fitted.append(one)
            if after is not None:
                after()
        return fitted

    def _out_of_fold(
        self,
        members: Named,
        table: Any,
        units: Units,
        splits: Sequence[Split],
        method: Method,
        *,
        first: int = 0,
        after: Callable[[], object] | None = None,
    ) -> Floats:
        """What estimators say of units that they were not trained on."""
        return out_of_fold(
            [estimator for _, estimator in members], table, units.labels, units.weights,
            rng=units.generator(1, first), method=method, splits=splits,
            names=[name for name, _ in members], n_jobs=self.n_jobs, prefer=prefer(members),
            after=after,
        )  # fmt: skip

    def _ask(self, estimators: Sequence[Any], rows: Any, method: Method) -> Floats:
        """What fitted estimators say, of shape (n_estimators, n_rows, n_outputs)."""
        return np.stack([ask(estimator, rows, self._classes, method) for estimator in estimators])


def _fit_one(estimator: Any, table: Any, units: Units, seed: int, name: str) -> Any:
    return fit_weighted(fresh(estimator, seed), table, units.labels, units.weights, name=name)


def prefer(members: Named) -> str | None:
    """Threads for estimators of orfeon, which do not wait for each other; processes for others.

    Parameters
    ----------
    members : list of (name, estimator)
        Estimators.

    Returns
    -------
    str or None
        As :class:`joblib.Parallel` wants it.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.combining.composition import prefer
    >>> prefer([("tree", CARTClassifier())])
    'threads'
    """
    ours = all(isinstance(estimator, TabularEstimator) for _, estimator in members)
    return "threads" if ours else None


def read_splits(cv: Any, units: Units, X: Any) -> list[Split]:
    """The folds that ``cv`` asks for, over the units.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        A number of folds, drawn by content, 5 for None; or splits of the rows given.
    units : Units
        The examples; in the order of the rows unless ``cv`` is a number.
    X : table
        The rows given, for splitters.

    Returns
    -------
    list of Split
        The folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from orfeon.combining.composition import Units, read_splits
    >>> X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1])
    >>> units = Units(X, X, y, y, np.ones(3), np.array([0, 0, 1]), 2, 2, np.random.SeedSequence(0))
    >>> [test.tolist() for _, test in read_splits(KFold(2), units, X[1:])]
    [[0, 1], [2]]
    """
    if cv is None or isinstance(cv, Integral):
        return splits_of(units.fold_numbers(5 if cv is None else int(cv)))
    if hasattr(cv, "split"):
        rows, first = np.unique(units.rows, return_index=True)
        if len(rows) < units.n_given:
            X = _safe_indexing(X, rows)
        found = check_splits(cv.split(X, units.labels[first]), len(rows))
        found = [Split(rows[train], rows[test]) for train, test in found]
    else:
        found = check_splits(cv, units.n_given)
    parts = [tuple(np.flatnonzero(np.isin(units.rows, part)) for part in split) for split in found]
    return [Split(*part) for part in parts if len(part[1])]


def is_frozen(estimator: Any) -> bool:
    """Whether an estimator is to be taken as it is, fitted.

    Parameters
    ----------
    estimator : object
        Anything.

    Returns
    -------
    bool
        Whether it is a :class:`sklearn.frozen.FrozenEstimator`.
    """
    return isinstance(estimator, FrozenEstimator)
