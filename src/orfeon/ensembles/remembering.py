"""What ensembles remember of their training samples: predictions with intervals, sets, quantiles.

Members leave samples out, so each training sample has predictions of members that did not see it.
``oob_score=True`` keeps which members these are, a bit each, and how often each sample was drawn.
``quantiles=True`` keeps the leaf of each sample in each tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from orfeon.data.training_set import TrainingSet, relative_weights
from orfeon.ensembles.perturbation import draw_seed, member_generator
from orfeon.forest import Forest
from orfeon.uncertainty.in_bag import InBagCounts, jackknife_variance
from orfeon.uncertainty.jackknife import jackknife_intervals, widened
from orfeon.uncertainty.leaf_samples import LeafSamples, check_levels
from orfeon.uncertainty.left_out import LeftOutSamples, narrow, pack
from orfeon.uncertainty.prediction_sets import PredictionSetsMixin, UnseenShares
from orfeon.uncertainty.ranks import check_coverage
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers, Mask
from orfeon.utils.user_warning import AdvisedWarning, warn_user

Method = Literal["auto", "jackknife", "residuals", "quantile"]
METHODS = ("auto", "jackknife", "residuals", "quantile")

#: Training samples up to which "auto" is the jackknife.
MOST_FOR_JACKKNIFE = 20_000


def drawn_weights(
    ensemble: Any, samples: TrainingSet, sequence: Any, members: Any
) -> Iterator[npt.NDArray[Any] | None]:
    """The weights that each member was trained with, drawn again; None for those of the samples."""
    for t in members:
        rng = member_generator(sequence, t)
        draw_seed(rng)
        yield ensemble._perturb(samples, rng, t).weights


@saved.attributes(
    left_out_samples_=saved.optional(saved.instance("LeftOutSamples")),
    _in_bag=saved.optional(saved.instance("InBagCounts")),
    _leaf_samples=saved.optional(saved.instance("LeafSamples")),
    _quantile_errors=None,
)
class RemembersSamplesMixin:
    """An ensemble that remembers which samples its members did not see."""

    left_out_samples_: LeftOutSamples
    members_: Any
    _in_bag: InBagCounts
    _leaf_samples: LeafSamples

    if TYPE_CHECKING:
        _sequence: np.random.SeedSequence
        _history: list[tuple[range, str]]

        def _rows(self, X: Any) -> Any: ...
        def _query(self, query: Callable[[Any], Any], rows: Any, axis: int) -> Any: ...

    @property
    def _keeps_leaves(self) -> bool:
        return bool(getattr(self, "quantiles", False))

    def _remember(
        self, samples: TrainingSet, X: Any, y: Any, weights: Floats, out: Mask, one: Integers
    ) -> None:
        """Keep what intervals, sets, quantiles and standard errors need."""
        rows = samples.rows[one]
        targets = y.astype(np.int64 if is_classifier(self) else np.float64)
        known = LeftOutSamples(
            rows.astype(np.int64), targets, relative_weights(weights), pack(out), len(out)
        )
        self.left_out_samples_ = known.taken(known.n_left_out() > 0)
        if len({key for _, key in self._history}) > 1:
            return  # it is not known what the first members saw
        drawn = drawn_weights(self, samples, self._sequence, range(len(out)))
        each = [None if one is None else narrow(one) for one in drawn]
        counts = [one for one in each if one is not None]
        if getattr(self, "_draws_samples", False) and counts:
            self._in_bag = InBagCounts.of(np.stack(counts), samples.rows)
        if self._keeps_leaves:
            trained = [samples.weights if one is None else one for one in each]
            self._keep_leaves(X, y, rows, samples.rows, trained)

    def _keep_leaves(
        self, X: Any, y: Floats, rows: Integers, unit_rows: Integers, trained: list[Any]
    ) -> None:
        if not isinstance(self.members_, Forest):
            raise ValueError(
                "quantiles=True needs trees of orfeon as members; with other base learners use "
                'predict_interval(method="jackknife"), which needs oob_score=True.'
            )
        place = np.searchsorted(rows, unit_rows)
        weights = np.stack([narrow(np.bincount(place, one, len(rows))) for one in trained])
        self._leaf_samples = LeafSamples.of(
            rows, self.members_.apply(X), weights, y, self.members_.tree_start
        )

    def _forget_samples(self) -> None:
        for name in ("left_out_samples_", "_in_bag", "_leaf_samples", "_quantile_errors"):
            self.__dict__.pop(name, None)

    # -- what is asked ---------------------------------------------------------------------------

    def _left_out_samples(self, what: str) -> LeftOutSamples:
        check_is_fitted(self, "members_")
        known: LeftOutSamples | None = getattr(self, "left_out_samples_", None)
        if known is not None and len(known.rows):
            return known
        wrapper = "ConformalClassifier" if is_classifier(self) else "ConformalRegressor"
        name = type(self).__name__
        if isinstance(self.members_, Forest) and self.members_.n_outputs > 1:
            raise ValueError(
                f"{what} of this {name} needs one output, but it has several: "
                "fit an ensemble for each."
            )
        if known is not None:
            fix = "no member left a sample out; set bootstrap=True, or max_samples below 1"
        elif "oob_score" not in self.get_params(deep=False):  # type: ignore[attr-defined]
            fix = "it keeps none"
        else:
            fix = "set oob_score=True and fit again"
        raise ValueError(
            f"{what} of this {name} has no out-of-bag predictions to learn from: {fix}. "
            f"orfeon.combining.{wrapper} learns from folds instead."
        )

    def standard_error(self, X: Any) -> Floats:
        """Standard error of the prediction over training sets, by the infinitesimal jackknife.

        It measures how much the ensemble would change with another training set, not how far
        targets are from it. Needs ``oob_score=True``, bootstrap samples, and many members: about as
        many as there are samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Standard errors of the mean prediction; in classification, of the share of the votes
            for each class, or of the mean supports with ``combine="soft"``. 0 where there are too
            few members to tell.
        """
        check_is_fitted(self, "members_")
        drawn: InBagCounts | None = getattr(self, "_in_bag", None)
        if drawn is None:
            fix = "set oob_score=True, with bootstrap=True or max_samples below 1, and fit again"
            if not getattr(self, "_draws_samples", False):
                fix = "use bagging, a random forest or extra-trees with oob_score=True"
            raise ValueError(
                f"standard_error of this {type(self).__name__} needs to know how often each sample "
                f"was drawn: {fix}."
            )
        replace = bool(self.bootstrap)  # type: ignore[attr-defined]
        rows = self._rows(X)

        def variances(part: Any) -> Floats:
            each = [jackknife_variance(one, drawn, replace=replace) for one in self._outputs(part)]
            return np.stack(each, axis=1)

        found = np.asarray(self._query(variances, rows, 0))
        n_bad = int((found < 0).any(axis=1).sum())
        if n_bad:
            warn_user(
                AdvisedWarning(
                    f"The standard errors of {n_bad} of {len(found)} rows are below the noise "
                    f"of {drawn.n_members} members; they are set to 0.",
                    f"Use more members, about as many as the {len(drawn.rows)} samples.",
                )
            )
        errors: Floats = np.sqrt(np.maximum(found, 0.0))
        return errors if is_classifier(self) else errors[:, 0]

    def _outputs(self, rows: Any) -> Iterator[Floats]:
        """Outputs of the members by rows: predictions, or 0 and 1 or supports for each class."""
        simple = self._simple_rule  # type: ignore[attr-defined]
        if is_classifier(self) and simple != "soft":
            votes = self.members_.votes(rows)
            for code in range(self.n_classes_):  # type: ignore[attr-defined]
                yield (votes == code).astype(np.float64)
        else:
            yield from np.moveaxis(self.members_.supports(rows), 2, 0)


class IntervalsMixin(RemembersSamplesMixin):
    """Intervals and quantiles of a regressor."""

    oob_prediction_: Floats

    def predict_interval(self, X: Any, coverage: float = 0.9, *, method: Method = "auto") -> Floats:
        """Intervals that hold the target with probability ``coverage``.

        Needs ``oob_score=True`` in ``fit``, and ``quantiles=True`` for ``method="quantile"``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        coverage : float, default=0.9
            Share of the targets to cover, over training and new samples.
        method : {"auto", "jackknife", "residuals", "quantile"}, default="auto"
            "jackknife" is the jackknife+ after bootstrap, which covers at least
            ``2 * coverage - 1`` whatever the data and about ``coverage`` in practice. "residuals"
            takes the quantile of the out-of-bag errors around each prediction, nearly the same with
            many samples. "quantile" starts from quantiles of the forest, so that the width depends
            on the row, and widens them by their out-of-bag shortfall. "auto" is
            "jackknife" up to 20,000 samples if ``combine="mean"``, and "residuals" otherwise.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper bounds.
        """
        coverage = check_coverage(coverage)
        if method not in METHODS:
            raise ValueError(f"method={method!r} is not allowed: choose one of {list(METHODS)}.")
        samples = self._left_out_samples("predict_interval")
        is_mean = self._simple_rule == "mean"  # type: ignore[attr-defined]
        if method == "auto":
            is_small = len(samples.rows) <= MOST_FOR_JACKKNIFE
            method = "jackknife" if is_mean and is_small else "residuals"
        if method == "quantile":
            return self._quantile_interval(X, samples, coverage)
        if not hasattr(self, "oob_prediction_"):
            raise ValueError(
                f"method={method!r} needs out-of-bag predictions: set oob_score=True and fit "
                'again, or use method="quantile".'
            )
        errors = np.abs(samples.targets - self.oob_prediction_[samples.rows])
        if method == "residuals":
            predicted = self.predict(X)  # type: ignore[attr-defined]
            is_known = ~np.isnan(errors)
            return widened(
                predicted, predicted, errors[is_known], samples.weights[is_known], coverage
            )
        if not is_mean:
            raise ValueError(
                'method="jackknife" needs combine="mean", not '
                f'combine={self.combine!r}; use method="residuals".'  # type: ignore[attr-defined]
            )
        rows = self._rows(X)

        def intervals(part: Any) -> Floats:
            answers = np.asarray(self.members_.supports(part)[:, :, 0])
            return jackknife_intervals(answers, samples, errors, coverage)

        return np.asarray(self._query(intervals, rows, 0))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target of each row, as in a quantile regression forest.

        Needs ``quantiles=True`` in ``fit``, and trees as members. The training samples in a row's
        leaves share the votes of the trees, and these shares are the weights of the quantiles
        (Meinshausen 2006). They carry no guarantee; ``predict_interval(X, method="quantile")``
        does.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        quantiles : float or sequence of float, default=(0.05, 0.5, 0.95)
            Levels, above 0 and below 1.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles), or (n_rows,) for one number
            Quantiles: the smallest training target with at least this share of the weight at or
            below it.
        """
        levels, place = check_levels(quantiles)
        found = self._forest_quantiles(X, levels, "predict_quantiles")
        return found[:, 0] if place is None else found[:, place]

    def _forest_quantiles(self, X: Any, levels: Floats, what: str) -> Floats:
        check_is_fitted(self, "members_")
        known: LeafSamples | None = getattr(self, "_leaf_samples", None)
        if known is None:
            raise ValueError(
                f"{what} of this {type(self).__name__} needs the leaves of the training samples: "
                + (
                    "set quantiles=True and fit again."
                    if "quantiles" in self.get_params(deep=False)  # type: ignore[attr-defined]
                    else "use RandomForestRegressor, ExtraTreesRegressor or BaggingRegressor with "
                    'quantiles=True, or GradientBoostingRegressor(loss="quantile").'
                )
            )
        rows = self._rows(X)
        _ = known._entries  # before any thread needs them
        apply = self.members_.apply
        return np.asarray(self._query(lambda part: known.quantiles(apply(part), levels), rows, 0))

    def _quantile_interval(self, X: Any, samples: LeftOutSamples, coverage: float) -> Floats:
        levels = np.array([(1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0])
        ends = self._forest_quantiles(X, levels, 'predict_interval(method="quantile")')
        kept: dict[float, Floats] = self.__dict__.setdefault("_quantile_errors", {})
        if coverage not in kept:
            own = self._leaf_samples.own_quantiles(samples.rows, samples.left_out, levels)
            kept[coverage] = np.maximum(own[:, 0] - samples.targets, samples.targets - own[:, 1])
        return widened(ends[:, 0], ends[:, 1], kept[coverage], samples.weights, coverage)


class SetsMixin(RemembersSamplesMixin, PredictionSetsMixin):
    """Prediction sets of a classifier."""

    oob_decision_function_: Floats
    oob_probabilities_: Floats

    @property
    def _is_calibrated(self) -> bool:
        return getattr(self, "calibrator_", None) is not None

    def _unseen_shares(self, what: str) -> UnseenShares:
        samples = self._left_out_samples(what)
        known = self.oob_probabilities_ if self._is_calibrated else self.oob_decision_function_
        shares = known[samples.rows]
        some = ~np.isnan(shares).any(axis=1)
        return UnseenShares(shares[some], samples.targets[some], samples.weights[some])

    def _shares(self, X: Any) -> Floats:
        # Smoothing depends on the number of members, and fewer have left a sample out.
        this: Any = self
        return np.asarray(this.predict_proba(X) if self._is_calibrated else this._raw_shares(X))
