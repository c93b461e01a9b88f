"""Base of all estimators: reads training sets and rows to predict, and undoes failed fits."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from orfeon.data.encoded_rows import EncodedRows
from orfeon.data.schema import Schema
from orfeon.data.sparse import learn_sparse, read_sparse
from orfeon.data.training_set import (
    TrainingSet,
    check_length,
    n_samples,
    normal_weights,
    on_grid,
    read_weights,
)
from orfeon.utils import saved
from orfeon.utils.instead import Advising
from orfeon.utils.scikit_learn import _check_feature_names, _num_samples, _safe_indexing
from orfeon.utils.seeding import seed_sequence
from orfeon.utils.types import Floats

#: Sums of squares of targets up to this stay finite.
_LARGEST_TARGET = 1e150


@saved.attributes(
    schema_=saved.instance("Schema"),
    n_features_in_=saved.integer(1),
    feature_names_in_=saved.optional(saved.labels),
)
class TabularEstimator(BaseEstimator, metaclass=Advising):  # type: ignore[misc]
    """An estimator that takes tables of data as they are: numbers, categories, missing values.

    Subclasses have the parameters ``categorical_features`` and ``random_state``, or override
    :meth:`_categorical_features`.
    """

    schema_: Schema
    n_features_in_: int
    categorical_features: Any
    random_state: Any

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn inspects the constructor in every clone, which takes longer than small fits.
        return list(_param_names(cls))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse()
        tags.target_tags.multi_output = self._takes_outputs() and not self._needs_one_output()
        return tags

    # -- training sets -------------------------------------------------------------------------

    def _categorical_features(self) -> Any:
        """Which features the user declares categorical."""
        return self.categorical_features

    def _takes_sparse(self) -> bool:
        """Whether X may be a sparse matrix."""
        return False

    def _takes_outputs(self) -> bool:
        """Whether y may have a column for each of several outputs."""
        return False

    def _needs_one_output(self) -> list[str]:
        """The parameters, as given, that do not allow several outputs."""
        return []

    def _check_sparse(self) -> None:
        if not self._takes_sparse():
            raise TypeError(
                f"Sparse data was passed for X, but this {type(self).__name__} needs dense data. "
                "Use X.toarray() to convert it to a dense NumPy array."
            )

    def _learn_schema(self, X: Any) -> tuple[Schema, Any]:
        """The schema of a training set, and its rows as numbers."""
        if issparse(X):
            self._check_sparse()
            return learn_sparse(X, self._categorical_features())
        return Schema.learn_and_encode(X, self._categorical_features())

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> TrainingSet:
        """Check and encode a training set; rows of weight 0 are dropped as if never given.

        Without ``reset`` it must have the features that are known already.
        """
        X, y, weights, rows, n_given = self._read_samples(X, y, sample_weight, reset=reset)
        if reset:
            self.schema_, encoded = self._learn_schema(X)
            self.n_features_in_ = self.schema_.n_features
        else:
            encoded = self._encode(X)
        check_length(y, encoded.shape[0])
        codes, n_classes, factors = self._code_target(y, weights)
        return TrainingSet(
            encoded, codes, weights, n_classes, factors, rows, n_given, n_samples(weights),
            self.schema_, seed_sequence(self.random_state), output_classes=self._output_classes,
        )  # fmt: skip

    def _read_samples(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True
    ) -> tuple[Any, npt.NDArray[Any], Floats, npt.NDArray[np.int64], int]:
        """The rows of positive weight, their targets and weights, their indices, the number given.

        X is not encoded yet.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        y = self._read_target(y)
        _check_feature_names(self, X, reset=reset)
        n_given = len(y)
        rows = np.arange(n_given)
        weights = np.ones(n_given)
        if sample_weight is not None:
            check_length(y, _num_samples(X))
            weights = self._read_weights(sample_weight, y)
            if not weights.all():
                rows = np.flatnonzero(weights)
                X, y, weights = _safe_indexing(X, rows), y[rows], weights[rows]
        return X, y, weights, rows, n_given

    def _read_weights(self, sample_weight: Any, y: npt.NDArray[Any]) -> Floats:
        return read_weights(sample_weight, len(y))

    @property
    def _output_classes(self) -> tuple[int, ...]:
        """Number of classes of each output, if there are several."""
        many = getattr(self, "n_classes_", 0)
        return tuple(many) if isinstance(many, list) else ()

    def _read_target(self, y: Any) -> npt.NDArray[Any]:
        outputs = read_outputs(y) if self._takes_outputs() else None
        target = column_or_1d(y, warn=True) if outputs is None else outputs
        assert_all_finite(target, input_name="y", estimator_name=type(self).__name__)
        return np.asarray(target)

    @abstractmethod
    def _code_target(
        self, y: npt.NDArray[Any], weights: Floats
    ) -> tuple[npt.NDArray[Any], int, Floats | None]:
        """The encoded target, the number of classes (or 0), and their factors."""

    # -- rows to predict -----------------------------------------------------------------------

    @property
    def _takes_encoded(self) -> bool:
        """Whether predictions need nothing of rows but their encoding by the schema."""
        return False

    def _encode(self, X: Any) -> Any:
        """Turn rows to predict into numbers, as trees take them; a clean matrix is not copied."""
        return self._encode_rows(X)

    def _encode_rows(self, X: Any, mark_unseen: Iterable[int] = ()) -> Any:
        """Check rows, and encode them by the schema."""
        check_is_fitted(self, "schema_")
        if type(X) is EncodedRows:
            return X.values
        if (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and X.shape[1] == self.n_features_in_
            and len(X)
            and self.schema_.all_ordered
            and not hasattr(self, "feature_names_in_")
            and _is_surely_finite(X)
        ):
            return X
        if not _has_columns(X, self.schema_.names):
            _check_feature_names(self, X, reset=False)
        check_n_features(self, X)
        if issparse(X):
            self._check_sparse()
            self.schema_._check_features(X.shape[1], None)
            return read_sparse(X)
        return self.schema_.encode(X, mark_unseen=mark_unseen)


def check_n_features(estimator: Any, X: Any) -> None:
    """Reject rows to predict that have other features; lists have none yet."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


def read_outputs(y: Any) -> npt.NDArray[Any] | None:
    """A target of several outputs as a table; None if there is one."""
    if issparse(y):
        raise TypeError("y is a sparse matrix; pass y.toarray().")
    try:
        table = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            "y must have one value for each row, or a table with a column for each output; its "
            "rows have different lengths."
        ) from error
    return table if table.ndim == 2 and table.shape[1] > 1 else None


def _has_columns(X: Any, names: tuple[str, ...] | None) -> bool:
    """Whether a data frame has these columns; False if unknown."""
    # Takes a tenth of the time of scikit-learn's check.
    to_list = getattr(getattr(X, "columns", None), "tolist", None)
    return names is not None and to_list is not None and tuple(to_list()) == names


def _is_surely_finite(X: Floats) -> bool:
    """Whether the sum is finite, so that all values are; False may also be an overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _has_probabilities(classifier: Any) -> bool:
    return hasattr(classifier, "predict_proba")


@functools.cache
def _param_names(kind: type[TabularEstimator]) -> tuple[str, ...]:
    """The parameters of a class, in scikit-learn's order."""
    above: Any = super(TabularEstimator, kind)
    return tuple(above._get_param_names())


@saved.attributes(
    classes_=saved.one_of(saved.labels, saved.list_of(saved.labels)),
    n_classes_=saved.one_of(saved.integer(1), saved.list_of(saved.integer(1))),
)
class TabularClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    classes_: Any
    n_classes_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output
        return tags

    def _read_target(self, y: Any) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = super()._read_target(y)
        if target.dtype == object and len({isinstance(c, str) for c in target.tolist()}) == 2:
            raise ValueError(
                "y mixes strings with other values; classes are all strings or all numbers, and "
                "none is missing."
            )
        check_classification_targets(target)
        return target

    def _code_target(
        self, y: npt.NDArray[Any], weights: Floats
    ) -> tuple[npt.NDArray[Any], int, Floats | None]:
        if y.ndim == 2:
            codes = self._code_outputs(y)
            return codes, 0, self._factors_of_outputs(codes, weights)
        self.classes_, codes = self._find_classes(y)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ > np.iinfo(np.uint16).max:
            raise ValueError(
                f"y has {self.n_classes_} classes; at most {np.iinfo(np.uint16).max} are allowed. "
                "Is this a regression problem?"
            )
        class_weight = getattr(self, "class_weight", None)
        factors = None
        if isinstance(class_weight, str) and class_weight == "balanced_subsample":
            class_weight = None  # each member weighs its own samples
        if class_weight is not None:
            factors = class_factors(class_weight, self.classes_, codes, weights)
        return codes, self.n_classes_, factors

    def _code_outputs(self, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The codes of several outputs, in columns."""
        coded = [np.unique(column, return_inverse=True) for column in y.T]
        self.classes_ = [classes for classes, _ in coded]
        self.n_classes_ = [len(classes) for classes in self.classes_]
        if sum(self.n_classes_) > np.iinfo(np.uint16).max:
            raise ValueError(
                f"the outputs of y have {sum(self.n_classes_)} classes together; at most "
                f"{np.iinfo(np.uint16).max} are allowed. Is this a regression problem?"
            )
        return np.column_stack([codes for _, codes in coded]).astype(np.int64)

    def _factors_of_outputs(self, codes: npt.NDArray[Any], weights: Floats) -> Floats | None:
        """The class weights of all outputs, one output after the other."""
        given, n_outputs = getattr(self, "class_weight", None), codes.shape[1]
        if given is None:
            return None
        each = [given] * n_outputs if given == "balanced" else given
        if not isinstance(each, list) or len(each) != n_outputs:
            raise ValueError(
                f"class_weight={given!r} needs one output, and y has {n_outputs}; give "
                '"balanced" or a list with a dict for each output.'
            )
        return np.concatenate(
            [
                class_factors(one, classes, column, weights)
                for one, classes, column in zip(each, self.classes_, codes.T, strict=True)
            ]
        )

    def _by_output(self, shares: Floats) -> list[Floats]:
        """Class shares of all outputs, divided into those of each."""
        return np.split(shares, np.cumsum(self.n_classes_)[:-1], axis=1)

    def _decide_outputs(self, shares: list[Floats]) -> npt.NDArray[Any]:
        """The class of greatest share of each output, in columns."""
        each = zip(self.classes_, shares, strict=True)
        return np.column_stack([classes[np.argmax(own, axis=1)] for classes, own in each])

    def _find_classes(self, y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The classes, and the code of each sample's class."""
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms; minus infinity where a share is zero. With several outputs, a list with an
            array for each.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(shares, list):
                return [np.log(own) for own in shares]
            return np.asarray(np.log(shares))


@saved.attributes(_known_classes=saved.optional(saved.one_of(saved.none, saved.labels)))
class KnownClassesMixin:
    """The classes of a classifier that sees its samples chunk by chunk."""

    classes_: npt.NDArray[Any]
    _known_classes: npt.NDArray[Any] | None

    def _expect_classes(self, classes: Any, begins: bool) -> None:
        if classes is None:
            if begins:
                also = ", and to fit_chunks" if hasattr(self, "fit_chunks") else ""
                raise ValueError(
                    f"classes must be passed on the first call to partial_fit{also}: all classes "
                    "that any chunk has."
                )
            self._known_classes = self.classes_
            return
        given = _read_classes(classes)
        if not begins and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes={given.tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}."
            )
        self._known_classes = given

    def _find_classes(self, y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        known = getattr(self, "_known_classes", None)
        if known is None:
            classes, codes = super()._find_classes(y)  # type: ignore[misc]
            return classes, codes
        return known, class_codes(y, known)


def _read_classes(classes: Any) -> npt.NDArray[Any]:
    """Classes named in advance, sorted and checked."""
    # As objects: NumPy would turn a mix of numbers and strings into strings.
    values = np.asarray(classes, dtype=object)
    named = values.ravel().tolist()
    if values.ndim == 0 or not named:
        raise ValueError(f"classes={classes!r} is not allowed: pass one class or more.")
    are_strings = [isinstance(value, str) for value in named]
    numbers: Any = (Real, np.bool_)
    are_numbers = [isinstance(value, numbers) and abs(value) < np.inf for value in named]
    if not all(are_strings) and not all(are_numbers):
        shown = [value.item() if isinstance(value, np.generic) else value for value in named]
        raise ValueError(
            f"classes={shown} is not allowed: classes are all strings or all finite numbers, and "
            "none is missing."
        )
    return np.unique(np.asarray(classes))


def class_codes(
    y: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    whose: str = "y has the class",
    why: str = "is not among classes=",
) -> npt.NDArray[np.int64]:
    """The class of each sample, as an index into known classes."""
    codes, strange = np.zeros(len(y), np.int64), np.ones(len(y), bool)
    # Strings and numbers have no common order, so one is never searched among the other.
    if len(y) and isinstance(y[0], str) == isinstance(classes[0], str):
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        strange = classes[codes] != y
    if strange.any():
        raise ValueError(f"{whose} {y[strange].tolist()[0]!r}, which {why}{classes.tolist()}.")
    return codes


def class_factors(
    class_weight: Any,
    classes: npt.NDArray[Any],
    codes: npt.NDArray[np.integer[Any]],
    weights: Floats,
) -> Floats:
    if isinstance(class_weight, list):
        raise ValueError(
            f"class_weight={class_weight!r} has a dict for each of several outputs, and here is "
            "one; give a dict."
        )
    share = np.bincount(codes, weights=weights, minlength=len(classes))
    present = share > 0
    factors = np.zeros(len(classes))
    if isinstance(class_weight, str):
        # "balanced" over the weighted sample, so that a weight of 2 is still two copies.
        factors[present] = weights.sum() / (present.sum() * share[present])
    else:
        # Over all classes: those it names need not occur in every chunk or bootstrap sample.
        named = np.asarray(compute_sample_weight(class_weight, classes), dtype=np.float64)
        factors[present] = named[present]
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(share @ factors)
    if (factors < 0).any() or not 0 < total < np.inf:
        raise ValueError(
            f"class_weight={class_weight} is not allowed: weights of classes are finite, not "
            "negative, and not all zero."
        )
    factors = normal_weights(factors)
    return on_grid(factors, weights, float(share @ factors))


class TabularRegressorMixin(RegressorMixin):  # type: ignore[misc]
    def _read_target(self, y: Any) -> npt.NDArray[Any]:
        target: npt.NDArray[Any] = super()._read_target(y)
        try:
            numbers = target.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers only: {error}.") from error
        assert_all_finite(numbers, input_name="y", estimator_name=type(self).__name__)
        if len(numbers) and np.abs(numbers).max() > _LARGEST_TARGET:
            raise ValueError(
                f"y has values beyond {_LARGEST_TARGET:g}, whose variance overflows; divide y "
                "by a power of ten."
            )
        return numbers

    def _code_target(
        self, y: npt.NDArray[Any], weights: Floats
    ) -> tuple[npt.NDArray[Any], int, Floats | None]:
        return y, 0, None


MethodT = TypeVar("MethodT", bound=Callable[..., Any])


def transactional(fit: MethodT) -> MethodT:
    """Make a ``fit`` that fails leave the estimator unchanged."""

    @functools.wraps(fit)
    def whole_or_nothing(self: Any, *args: Any, **kwargs: Any) -> Any:
        with restored_on_failure(self):
            return fit(self, *args, **kwargs)

    return cast(MethodT, whole_or_nothing)


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[dict[str, Any]]:
    """Restore an estimator when its input is rejected or its fit interrupted."""
    before = dict(estimator.__dict__)
    try:
        yield before
    except BaseException:
        estimator.__dict__ = dict(before)  # in one step: a second Ctrl-C may arrive
        raise
