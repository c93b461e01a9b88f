"""One estimator of any kind: cloned and seeded, fitted to weighted examples, and asked."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import has_fit_parameter

from orfeon.ensembles.training import seed_estimator
from orfeon.members import class_supports
from orfeon.tabular import class_codes, fractions_error

Floats = npt.NDArray[np.float64]
Method = Literal["predict_proba", "predict"]


def fresh(estimator: Any, seed: int) -> Any:
    """A clone to be fitted, whose randomness is fixed where its user has left it open.

    Parameters
    ----------
    estimator : estimator
        It is left as it is. One that is frozen stays fitted.
    seed : int
        Where the seeds come from of every ``random_state`` that is None.

    Returns
    -------
    estimator
        The clone.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.combining.fitting import fresh
    >>> bag = fresh(BaggingClassifier(CARTClassifier(random_state=7)), 0)
    >>> bag.estimator.random_state, bag.random_state is None
    (7, False)
    """
    cloned = clone(estimator)
    if isinstance(cloned, FrozenEstimator):
        return cloned
    fixed = {
        name: value
        for name, value in cloned.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is not None
    }
    seed_estimator(cloned, seed)
    return cloned.set_params(**fixed)


def fit_weighted(
    estimator: Any, X: Any, y: npt.NDArray[Any], weights: Floats | None = None, *, name: str = ""
) -> Any:
    """Fit an estimator to weighted examples.

    Parameters
    ----------
    estimator : estimator
        Fitted in place. One that takes no weights is fitted where all of them are 1.
    X : array or data frame of shape (n_rows, n_attributes)
        Rows, as it takes them.
    y : ndarray of shape (n_rows,)
        Classes or targets. To a single class no classifier is fitted, for many refuse it: a
        constant is.
    weights : ndarray of shape (n_rows,), optional
        Weights.
    name : str, default=""
        What the estimator is called, for the message.

    Returns
    -------
    estimator
        Fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from orfeon.combining.fitting import fit_weighted
    >>> X, y = [[0.0], [1.0], [2.0]], np.array([0, 0, 1])
    >>> fit_weighted(KNeighborsClassifier(1), X, y, np.array([1, 1, 0.5]), name="near")
    Traceback (most recent call last):
    ...
    ValueError: sample_weight has fractions, and near=KNeighborsClassifier(n_neighbors=1) takes no
    weights; give whole numbers, or another estimator.
    """
    if isinstance(estimator, FrozenEstimator):
        return estimator
    if is_classifier(estimator) and (y == y[0]).all():
        return DummyClassifier().fit(X, y)
    return fit_unless_refused(estimator, X, y, weights, name)


def fit_unless_refused(
    estimator: Any, X: Any, y: npt.NDArray[Any], weights: Floats | None, name: str
) -> Any:
    """Fit an estimator with weights, or refuse weights that it cannot take.

    Parameters
    ----------
    estimator, X, y, weights, name
        As for :func:`fit_weighted`.

    Returns
    -------
    estimator
        Fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> from orfeon.combining.fitting import fit_unless_refused
    >>> X, y = [[0.0], [1.0]], np.array([0, 1])
    >>> fit_unless_refused(CARTClassifier(), X, y, np.array([1.0, 0.5]), "tree").predict(X)
    array([0, 1])
    """
    if weights is None or (weights == 1.0).all():
        return estimator.fit(X, y)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise fractions_error(f"{name}={estimator}")
    return estimator.fit(X, y, sample_weight=weights)


def ask(estimator: Any, X: Any, classes: npt.NDArray[Any] | None, method: Method) -> Floats:
    """What a fitted estimator says of some rows.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier or regressor.
    X : array or data frame of shape (n_rows, n_attributes)
        Rows, as it takes them.
    classes : ndarray of shape (n_classes,) or None
        All classes that there are, sorted; None in regression. The classifier may have met some of
        them only.
    method : {"predict_proba", "predict"}
        Its class probabilities, or its decision. Without ``predict_proba``, the decision stands for
        the former.

    Returns
    -------
    ndarray of shape (n_rows, n_classes) or (n_rows, 1)
        Supports of the classes: probabilities, or 1 for the class that it decides for; in
        regression its prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> from orfeon.combining.fitting import ask
    >>> tree = CARTClassifier().fit([[0.0], [1.0]], ["a", "c"])
    >>> ask(tree, [[1.0]], np.array(["a", "b", "c"]), "predict_proba")
    array([[0., 0., 1.]])
    """
    if classes is None:
        said = np.asarray(estimator.predict(X), dtype=np.float64)
        if said.ndim != 1 and said.shape[1:] != (1,):
            raise ValueError(
                f"{type(estimator).__name__} gives predictions of shape {said.shape}: it has "
                "several outputs, and one is allowed."
            )
        return said.reshape(-1, 1)
    if method == "predict":
        votes = np.asarray(estimator.predict(X))
        return np.eye(len(classes))[
            class_codes(votes, classes, f"{type(estimator).__name__} decides for")
        ]
    return class_supports(estimator, X, classes)


def check_kind(estimator: Any, *, classifier: bool, name: str) -> None:
    """Refuse what is no classifier, or no regressor.

    Parameters
    ----------
    estimator : object
        Anything.
    classifier : bool
        Whether it is to be a classifier; a regressor otherwise.
    name : str
        What it is called, for the message.

    Examples
    --------
    >>> from orfeon import CARTRegressor
    >>> from orfeon.combining.fitting import check_kind
    >>> check_kind(CARTRegressor(), classifier=True, name="tree")
    Traceback (most recent call last):
    ...
    ValueError: tree=CARTRegressor() is not a classifier; one is needed.
    """
    kind, is_one = ("classifier", is_classifier) if classifier else ("regressor", is_regressor)
    if isinstance(estimator, type):
        raise TypeError(
            f"{name}={estimator.__name__} is a class; give an estimator, {estimator.__name__}()."
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and is_one(estimator)):
        raise ValueError(f"{name}={estimator!r} is not a {kind}; one is needed.")


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
