"""Base of the samplers; the only module that imports imbalanced-learn."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets

from orfeon.base import restored_on_failure
from orfeon.data.frames import check_shape, read_table
from orfeon.utils import saved
from orfeon.utils.scikit_learn import StrOptions, _safe_indexing, is_pandas_na, is_scalar_nan
from orfeon.utils.types import Integers
from orfeon.utils.user_warning import warn_user

try:
    from imblearn.under_sampling.base import BaseCleaningSampler
    from imblearn.utils import check_sampling_strategy, check_target_type
except ImportError as missing:
    raise ImportError(
        f"the samplers of orfeon need imbalanced-learn, which could not be imported ({missing}): "
        "pip install 'orfeon[imbalance]'"
    ) from missing

__all__ = ["Integers", "SelectionSampler", "check_target_type"]


#: Parts of the messages that NumPy and scikit-learn raise for values that are not numbers.
_NOT_NUMBERS = ("could not convert", "arrays of bytes/strings")


@saved.attributes(
    sampling_strategy_=saved.dict_of(saved.label, saved.number()),
    sample_indices_=saved.indices,
    n_features_in_=saved.optional(saved.integer(1)),
    feature_names_in_=saved.optional(saved.labels),
)
class SelectionSampler(BaseCleaningSampler):  # type: ignore[misc]
    """Base of samplers that keep some of the samples, in the container that they came in.

    Subclasses define ``_select``, and if needed ``_needs_numbers`` and ``_check_X_y``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "sampling_strategy": [
            StrOptions({"auto", "majority", "not minority", "not majority", "all"}),
            list,
        ],
    }

    #: Said of a sampler when what it is given are no numbers.
    _needs_numbers: ClassVar[str] = (
        "measures distances, so X must hold numbers: encode its categories first"
    )

    @abstractmethod
    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        """Return the rows to keep, in any order, without repetition."""

    def _with_other_classes(self, kept: Integers, y: npt.NDArray[Any]) -> Integers:
        """Some rows, and all rows of classes from which none may be left out."""
        may_go = np.isin(y, list(self.sampling_strategy_))
        return np.union1d(kept, np.flatnonzero(~may_go))

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Leave out samples.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        X_resampled : same type as X, of shape (n_selected, n_features)
            The samples kept, in their original order. Rows of data frames keep their index.
        y_resampled : same type as y, of shape (n_selected,)
            Their classes.
        """
        with restored_on_failure(self):
            self._validate_params()
            _check_features(X)
            _check_labels(y, type(self).__name__)
            check_classification_targets(y)
            samples, labels, is_indicator = self._check_X_y(X, y)
            strategy = check_sampling_strategy(self.sampling_strategy, labels, self._sampling_type)
            self.sampling_strategy_ = {label: int(number) for label, number in strategy.items()}
            self._fit_resample(samples, labels)
            kept = self.sample_indices_
            target = np.asarray(y) if is_indicator else labels
            return _rows(X, samples, kept), _rows(y, target, kept)

    def _fit_resample(self, X: Any, y: npt.NDArray[Any]) -> tuple[Any, Any]:
        kept = np.sort(self._select(X, y))
        lost = np.setdiff1d(y, y[kept])
        if len(lost):
            warn_user(
                f"{type(self).__name__} keeps no sample of {len(lost)} of the classes: "
                f"{', '.join(repr(label) for label in lost[:5].tolist())}"
            )
        self.sample_indices_ = kept
        return _safe_indexing(X, kept), _safe_indexing(y, kept)

    def _check_X_y(  # noqa: N802
        self, X: Any, y: Any, accept_sparse: Any = None
    ) -> tuple[Any, npt.NDArray[Any], bool]:
        """Checked samples and labels, and whether the labels were indicator columns."""
        try:
            samples, labels, is_indicator = super()._check_X_y(X, y, accept_sparse)
            if samples.dtype.kind == "O":  # from a pandas categorical column
                samples = samples.astype(np.float64)
        except ValueError as error:
            if not any(words in str(error) for words in _NOT_NUMBERS):
                raise
            raise ValueError(f"{type(self).__name__} {self._needs_numbers} ({error})") from error
        return samples, labels, bool(is_indicator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.sampler_tags.sample_indices = True
        return tags


def _check_features(X: Any) -> None:
    """Reject empty frames and date columns with a clearer message than scikit-learn's."""
    is_frame = hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2
    if is_frame:
        check_shape(tuple(X.shape))
    if is_frame or (isinstance(X, np.ndarray) and X.dtype.kind in "mM"):
        read_table(X)


def _check_labels(y: Any, name: str) -> None:
    """Reject missing labels, and strings mixed with other values."""
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    labels = None if issparse(y) else np.asarray(y)
    if labels is None or labels.dtype.kind not in "fO":
        return
    values = labels.ravel().tolist()
    missing = [value is None or is_pandas_na(value) or is_scalar_nan(value) for value in values]
    if any(missing):
        raise ValueError(
            f"y has {sum(missing)} missing value(s), the first at position {missing.index(True)}: "
            "every sample needs a class."
        )
    if labels.dtype == object and len({isinstance(value, str) for value in values}) == 2:
        raise ValueError(
            "y mixes strings with other values; classes are all strings or all numbers."
        )


def _rows(given: Any, checked: Any, kept: Integers) -> Any:
    """Rows of the container given, or of the checked array if it was something else."""
    is_container = isinstance(given, list) or any(
        hasattr(given, name) for name in ("to_numpy", "__dataframe__")
    )
    return _safe_indexing(given if is_container else checked, kept)
