"""Gradient tree boosting (MART) for classification and regression.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.

Friedman (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis 38(4),
367-378.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularRegressorMixin
from orfeon.boosting.class_losses import ClassLoss, ExponentialLoss, LogLoss, MultinomialLoss
from orfeon.boosting.custom_loss import CustomClassLoss, CustomLoss
from orfeon.boosting.deviance import TweedieDeviance
from orfeon.boosting.gradient import Sample
from orfeon.boosting.gradient_base import GradientBoosting
from orfeon.boosting.gradient_calibration import Units, calibrate_by_folds
from orfeon.boosting.gradient_parameters import (
    GRADIENT,
    MULTI_STRATEGY,
    CategoricalEncoding,
    EarlyStopping,
    MultiStrategy,
    TreeMethod,
    TreeShape,
)
from orfeon.boosting.gradient_texts import GRADIENT_TEXTS
from orfeon.boosting.losses import AbsoluteError, HuberError, Loss, QuantileError, SquaredError
from orfeon.boosting.quantiles import QuantileErrors, read_levels
from orfeon.calibration.methods import Method
from orfeon.ensembles.probabilities import CALIBRATE, CalibratedMixin
from orfeon.ensembles.voting import CLASS_WEIGHT, StagedClassifierMixin, StagedRegressorMixin
from orfeon.uncertainty.leaf_samples import check_levels
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Floats

_LOSSES = {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"}


@documented(GRADIENT_TEXTS)
class GradientBoostingClassifier(
    StagedClassifierMixin, CalibratedMixin, TabularClassifierMixin, GradientBoosting
):
    """Gradient boosting for classification: each tree is fitted to the gradient of a loss.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or callable, default="log_loss"
        The log-likelihood, or the loss of AdaBoost (two classes only). For two classes also a
        function of the targets (0.0 and 1.0) and the raw predictions (log odds) of the samples, and
        of their weights if it takes three arguments, that returns the gradient and the second
        derivative of each sample's loss, not weighted (see Notes).
    <growth>
    multi_strategy : {"auto", "one_output_per_tree", "multi_output_tree"}, default="auto"
        With more than two classes: whether a round grows a tree for each, or one whose leaves hold
        a value for each class and whose gains are summed over them. Such trees are symmetric, and
        have the same requirements; "auto" uses them from 12 classes on, where they can be grown.
    <class_factors>
    calibrate : {"sigmoid", "beta", "isotonic", "venn_abers", "auto"} or None, default=None
        How probabilities are calibrated, which then also determine the predicted class: by a
        logistic function of log odds, beta (with several classes Dirichlet) calibration, a monotone
        step function, or Venn-Abers prediction; "auto" picks the one with the lowest log loss on
        folds. All are learnt from five folds, each predicted by as many rounds as the model has,
        boosted without it, which costs up to five more fits. Probabilities are those under
        ``sample_weight``, whatever the class weights. None derives them from the scores, which
        early stopping keeps from being overconfident with two classes, less so with several.
    <init>
    <stopping>
    <fitting>

    Attributes
    ----------
    <fitted>
    <classes>
    <calibrated>

    See Also
    --------
    AdaBoostClassifier : Weighted vote of classifiers fitted to reweighted samples.

    Notes
    -----
    The value of a leaf is one Newton step with the log-loss, and the exact minimum with the
    exponential loss; with ``order=2``, a penalised Newton step with both. With more than two
    classes second derivatives are those of one score, p (1 - p), times K / (K - 1) for K classes. A
    step changes log odds by at most 36, beyond which probabilities are 0 or 1 in floating point. In
    a tree for all K classes, ``min_hessian`` is about the sum over them, ``l2`` counts ``1 /
    sqrt(K)`` times for each, and more than ``max_cat_to_onehot`` categories are tried in the order
    of each class.

    <custom>

    Examples
    --------
    >>> from orfeon import GradientBoostingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> boosted = GradientBoostingClassifier(random_state=0).fit(X, y)
    >>> boosted.n_estimators_, len(boosted.forest_), round(boosted.score(X, y), 2)
    (100, 300, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GRADIENT,
        **MULTI_STRATEGY,
        **CLASS_WEIGHT,
        **CALIBRATE,
        "loss": [StrOptions({"log_loss", "exponential"}), callable],
    }

    _fitted_loss: ClassLoss

    def __init__(
        self,
        *,
        loss: Literal["log_loss", "exponential"] | Callable[..., Any] = "log_loss",
        learning_rate: float = 0.12,
        n_estimators: int = 400,
        subsample: float = 0.7,
        max_depth: int | None = 5,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        max_features: Any = 0.6,
        max_features_per_tree: Any = None,
        tree_method: TreeMethod = "auto",
        tree_shape: TreeShape = "auto",
        multi_strategy: MultiStrategy = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        categorical_encoding: CategoricalEncoding = "auto",
        order: Literal[1, 2] = 2,
        l2: float = 1.0,
        l1: float = 0.0,
        min_hessian: float = 0.3,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        cat_smooth: float = 10.0,
        max_cat_to_onehot: int = 4,
        sampling: Literal["uniform", "gradient"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        class_weight: Any = None,
        calibrate: Method | None = None,
        init: Any = None,
        n_iter_no_change: int | None = None,
        early_stopping: EarlyStopping = "auto",
        validation_fraction: float = 0.2,
        n_folds: int = 5,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.tree_method = tree_method
        self.tree_shape = tree_shape
        self.multi_strategy = multi_strategy
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_encoding = categorical_encoding
        self.order = order
        self.l2 = l2
        self.l1 = l1
        self.min_hessian = min_hessian
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.cat_smooth = cat_smooth
        self.max_cat_to_onehot = max_cat_to_onehot
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.init = init
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss == "log_loss"
        return tags

    def _custom_loss(self) -> CustomLoss:
        return CustomClassLoss.of(self.loss)

    def _make_loss(self, n_classes: int) -> Loss:
        if n_classes < 2:  # one class, of probability 1
            return MultinomialLoss(n_classes)
        if not isinstance(self.loss, str):
            if n_classes > 2:
                raise ValueError(
                    "Only binary classification is supported with a function as loss, but y has "
                    f"{n_classes} classes; use loss='log_loss'."
                )
            return self._custom_loss()
        if self.loss == "exponential":
            if n_classes > 2:
                # scikit-learn's checks look for the first words.
                raise ValueError(
                    "Only binary classification is supported with loss='exponential', but y has "
                    f"{n_classes} classes; use loss='log_loss'."
                )
            return ExponentialLoss()
        return LogLoss() if n_classes == 2 else MultinomialLoss(n_classes)

    def decision_function(self, X: Any, base_margin: Any = None) -> Floats:
        """Scores of the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes, the log odds of the second (half of that with the exponential loss).
            Otherwise one score per class, whose softmax gives the probabilities.
        """
        return self._shown(self._scores(X, base_margin))

    def _shown(self, scores: Floats) -> Floats:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_decision_function(self, X: Any, base_margin: Any = None) -> Iterator[Floats]:
        """Scores of the classes after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            As :meth:`decision_function`.
        """
        for scores in self._staged_scores(X, base_margin):
            yield self._shown(scores)

    def _calibrate(self, sample: Sample, loss: Loss, units: Units) -> None:
        calibrate_by_folds(self, sample, loss, units)

    def _as_probabilities(self, scores: Floats, n_rounds: int) -> Floats:
        """Probabilities of scores, whatever the number of rounds."""
        return self._probabilities(scores)

    def _classes_of(self, scores: Floats) -> npt.NDArray[Any]:
        if self.calibrator_ is not None:
            return np.asarray(self.classes_[np.argmax(self._probabilities(scores), axis=1)])
        codes = scores[:, 0] > 0 if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[codes.astype(np.int64)])

    def predict(self, X: Any, base_margin: Any = None) -> npt.NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; ties go to the first.
        """
        return self._classes_of(self._scores(X, base_margin))

    def staged_predict(self, X: Any, base_margin: Any = None) -> Iterator[npt.NDArray[Any]]:
        """Predict the most probable class after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Yields
        ------
        ndarray of shape (n_rows,)
            Classes.
        """
        for scores in self._staged_scores(X, base_margin):
            yield self._classes_of(scores)

    def predict_proba(self, X: Any, base_margin: Any = None) -> Floats:
        """Class probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._probabilities(self._scores(X, base_margin))

    def _probabilities(self, scores: Floats) -> Floats:
        probabilities = self._fitted_loss.probabilities(scores)
        if self.calibrator_ is None:
            return probabilities
        return self.calibrator_.probabilities(probabilities)

    def staged_predict_proba(self, X: Any, base_margin: Any = None) -> Iterator[Floats]:
        """Class probabilities after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities.
        """
        for scores in self._staged_scores(X, base_margin):
            yield self._probabilities(scores)

    def predict_log_proba(self, X: Any, base_margin: Any = None) -> Floats:
        """Logarithms of the class probabilities, without underflow.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms.
        """
        scores = self._scores(X, base_margin)
        if self.calibrator_ is not None:
            return np.log(self._probabilities(scores))
        return self._fitted_loss.log_probabilities(scores)


@documented(GRADIENT_TEXTS)
class GradientBoostingRegressor(StagedRegressorMixin, TabularRegressorMixin, GradientBoosting):
    """Gradient boosting for regression: each tree is fitted to the gradient of a loss.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"} \
            or callable, default="squared_error"
        Loss to minimise; it predicts the mean, the median, the mean without outliers, or a
        quantile. "poisson" (counts), "gamma" (positive amounts) and "tweedie" (amounts that are
        often 0) predict the mean too, by the sum of the trees as its logarithm. Also a function of
        the targets and the raw predictions of the samples, and of their weights if it takes three
        arguments, that returns the gradient and the second derivative of each sample's loss, not
        weighted (see Notes).
    <growth>
    alpha : float or sequence of float, default=0.9
        The quantile, with ``loss="quantile"``; several in ascending order, such as
        ``(0.05, 0.5, 0.95)``, are predicted at once and never cross. With ``loss="huber"``, the
        share of the residuals that count as small, determined in each round.
    power : float, default=1.5
        With ``loss="tweedie"``: the variance is proportional to this power of the mean, between 1
        (Poisson) and 2 (gamma).
    <init>
    <stopping>
    <fitting>

    Attributes
    ----------
    <fitted>

    Notes
    -----
    The value of a leaf is the exact minimum of its samples' loss: the mean, the (lower) median or
    the quantile of their residuals. With ``loss="huber"`` it is one step from the median. With
    ``order=2`` second derivatives count as 1, and ``l2`` shrinks the minimum as it does a mean.

    With "poisson", "gamma" and "tweedie" it is the logarithm of a ratio of sums. A leaf whose
    targets are all 0 counts as if half a sample with the mean so far were in it. The losses shown
    are half of the mean deviance.

    With several quantiles, each has its own score and trees. The predictions of a row are its
    scores in ascending order, which never increases the sum of their pinball losses (Chernozhukov
    et al. 2010). ``score`` is then the mean share of these losses that is explained (D²).

    <custom>

    Examples
    --------
    >>> from orfeon import GradientBoostingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> boosted = GradientBoostingRegressor(random_state=0).fit(X, y)
    >>> boosted.n_estimators_, boosted.train_loss_[[0, 9, -1]].round(2)
    (40, array([10.35,  3.39,  0.48]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GRADIENT,
        "loss": [StrOptions(_LOSSES), callable],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    def __init__(
        self,
        *,
        loss: str | Callable[..., Any] = "squared_error",
        learning_rate: float = 0.12,
        n_estimators: int = 400,
        subsample: float = 0.7,
        max_depth: int | None = 5,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        max_features: Any = 0.6,
        max_features_per_tree: Any = None,
        tree_method: TreeMethod = "auto",
        tree_shape: TreeShape = "auto",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        categorical_encoding: CategoricalEncoding = "auto",
        order: Literal[1, 2] = 2,
        l2: float = 1.0,
        l1: float = 0.0,
        min_hessian: float = 3.0,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        cat_smooth: float = 10.0,
        max_cat_to_onehot: int = 4,
        sampling: Literal["uniform", "gradient"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        alpha: float | Sequence[float] = 0.9,
        power: float = 1.5,
        init: Any = None,
        n_iter_no_change: int | None = None,
        early_stopping: EarlyStopping = "auto",
        validation_fraction: float = 0.2,
        n_folds: int = 5,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.tree_method = tree_method
        self.tree_shape = tree_shape
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_encoding = categorical_encoding
        self.order = order
        self.l2 = l2
        self.l1 = l1
        self.min_hessian = min_hessian
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.cat_smooth = cat_smooth
        self.max_cat_to_onehot = max_cat_to_onehot
        self.sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.alpha = alpha
        self.power = power
        self.init = init
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _custom_loss(self) -> CustomLoss:
        return CustomLoss.of(self.loss)

    def _make_loss(self, n_classes: int) -> Loss:
        if not isinstance(self.loss, str):
            return self._custom_loss()
        alpha = 0.9  # what other losses do not use
        if isinstance(self.alpha, Real):
            alpha = float(self.alpha)
        elif self.loss == "quantile":
            return QuantileErrors(read_levels(self.alpha))
        elif self.loss == "huber":
            raise ValueError(f'loss="huber" needs one number as alpha, not alpha={self.alpha!r}.')
        losses: dict[str, Loss] = {
            "squared_error": SquaredError(),
            "absolute_error": AbsoluteError(),
            "huber": HuberError(alpha),
            "quantile": QuantileError(alpha),
            "poisson": TweedieDeviance(1.0),
            "gamma": TweedieDeviance(2.0),
            "tweedie": TweedieDeviance(self.power),
        }
        return losses[self.loss]

    def predict(self, X: Any, base_margin: Any = None) -> Floats:
        """Predict targets.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_quantiles)
            Predictions: means on the scale of the target, whatever the loss. With several
            quantiles, a column for each, in ascending order.
        """
        scores = self._scores(X, base_margin)
        return self._fitted_loss.predictions(scores)

    def predict_quantiles(
        self, X: Any, quantiles: Any = None, *, base_margin: Any = None
    ) -> Floats:
        """Quantiles of the target of each row, with ``loss="quantile"``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        quantiles : float or sequence of float, optional
            Some of the levels ``alpha`` that were fitted; by default all.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles), or (n_rows,) for one number
            Quantiles, which never cross.
        """
        check_is_fitted(self, "_model")
        loss = self._fitted_loss
        if isinstance(loss, QuantileErrors):
            known = loss.levels
        elif isinstance(loss, QuantileError):
            known = (loss.alpha,)
        else:
            raise ValueError(
                f"predict_quantiles needs quantiles that were fitted, but loss={self.loss!r}; set "
                'loss="quantile" and alpha=(0.05, 0.5, 0.95), and fit again.'
            )
        found = self.predict(X, base_margin).reshape(-1, len(known))
        if quantiles is None:
            return found
        levels, place = check_levels(quantiles)
        near = np.abs(np.subtract.outer(levels, known))
        if (near.min(axis=1) > 1e-12).any():
            raise ValueError(
                f"quantiles={quantiles!r} are not all among the fitted levels alpha={list(known)}; "
                "boosting has to be fitted to each."
            )
        chosen = found[:, near.argmin(axis=1)]
        return chosen[:, 0] if place is None else chosen[:, place]

    def staged_predict(self, X: Any, base_margin: Any = None) -> Iterator[Floats]:
        """Predict targets after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets of the rows, added to their scores.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_quantiles)
            Predictions.
        """
        for scores in self._staged_scores(X, base_margin):
            yield self._fitted_loss.predictions(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions, or D² of the pinball loss with several quantiles.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), optional
            Their weights.

        Returns
        -------
        float
            Score.
        """
        return self._score_of(self.predict(X), y, sample_weight)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """:meth:`score` after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), optional
            Their weights.

        Yields
        ------
        float
            Score.
        """
        for predicted in self.staged_predict(X):
            yield self._score_of(predicted, y, sample_weight)

    def _score_of(self, predicted: Floats, y: Any, sample_weight: Any) -> float:
        if not isinstance(self._fitted_loss, QuantileErrors):
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        each = [
            d2_pinball_score(y, own, alpha=level, sample_weight=sample_weight)
            for level, own in zip(self._fitted_loss.levels, predicted.T, strict=True)
        ]
        return float(np.mean(each))
