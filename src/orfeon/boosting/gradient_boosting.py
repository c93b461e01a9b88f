"""Gradient tree boosting (MART) for classification and regression.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.

Friedman (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis 38(4),
367-378.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from orfeon.base import TabularClassifierMixin, TabularRegressorMixin
from orfeon.boosting.class_losses import ClassLoss, ExponentialLoss, LogLoss, MultinomialLoss
from orfeon.boosting.gradient_base import (
    GRADIENT,
    CategoricalEncoding,
    EarlyStopping,
    GradientBoosting,
    TreeMethod,
)
from orfeon.boosting.losses import AbsoluteError, HuberError, Loss, QuantileError, SquaredError
from orfeon.ensembles.voting import CLASS_WEIGHT, StagedClassifierMixin, StagedRegressorMixin
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Floats

#: Texts of the parameters and attributes that both estimators share.
GRADIENT_TEXTS = {
    "growth": """
    learning_rate : float, default=0.1
        Factor on the values of each tree (shrinkage).
    n_estimators : int, default=100
        Number of rounds, of one tree each, or one per class with more than two classes.
    subsample : float, default=1.0
        Share of the samples drawn without replacement for each round.
    sampling : {"uniform", "gradient"}, default="uniform"
        With "gradient" a round sees the share ``top_rate`` of the samples, those of largest
        gradient, and a share ``other_rate`` drawn from the others and weighted up to stand for them
        (gradient-based one-side sampling, GOSS); ``subsample`` must be 1.
    top_rate : float, default=0.2
        Share of the samples of largest gradient, with ``sampling="gradient"``.
    other_rate : float, default=0.1
        Share of the samples drawn from the others, with ``sampling="gradient"``.
    max_depth : int or None, default=3
        Maximum depth of a tree. With 1 the model is additive in the features.
    max_leaf_nodes : int, optional
        Maximum number of leaves; the node with the largest gain is split first.
    <least_weights>
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the residuals' variance by a split. With ``order=2``, minimum
        gain of a split, per unit of weight: twice the decrease of the penalised loss.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at each node, among those of the tree; all by default.
        <log2>
    max_features_per_tree : int, float, "sqrt", "log2" or None, default=None
        Features drawn for each tree; all by default.
        <log2>
    tree_method : {"exact", "histogram", "auto"}, default="exact"
        Whether trees consider every threshold, or only those between ``max_bins`` bins. With "auto"
        they consider every threshold among up to 10,000 different samples.
    max_bins : int, default=255
        Bins per feature, where trees are not exact.
    <categorical_features>
    categorical_encoding : {"auto", "subsets", "ordered"}, default="auto"
        What trees do with categories. With "subsets" they test whether a value is in a set of
        levels. With "ordered" a level becomes its mean target, or its share of each class, among
        the samples before it in a random order, and of all samples in prediction; a level not seen
        in training is average, and missing values are a level. "auto" takes subsets of features
        with up to 20 levels, and up to 255 if a level has 200 samples on average, and statistics
        of others, which may have up to a million levels.
    order : {1, 2}, default=1
        Whether trees are fitted to the negative gradient alone, by least squares, or also to the
        second derivatives of the loss (Newton trees), as in XGBoost and LightGBM. The penalties and
        constraints below need ``order=2``.
    l2 : float, default=1.0
        Penalty on the squares of leaf values; added to the sum of second derivatives of a leaf.
    l1 : float, default=0.0
        Penalty on the sizes of leaf values.
    min_hessian : float, default=0.001
        Minimum sum of second derivatives of a leaf, times the weights (``min_child_weight`` in
        XGBoost).
    monotonic_cst : array of shape (n_features,) or dict, optional
        1 for features that predictions must not decrease with, -1 for those they must not increase
        with, 0 for others; a dict has the names of features. With two classes, predictions are
        probabilities of the second.
    interaction_cst : {"pairwise", "no_interactions"} or list of lists, optional
        Groups of features, as indices or names, that may be on a path from the root to a leaf
        together. Features in no group form one of their own. By default all may.
    cat_smooth : float, default=10.0
        Categories are ordered by their sum of negative gradients over their sum of second
        derivatives plus this.
    max_cat_to_onehot : int, default=4
        In a node with at most this many categories, each is compared with all others together.
""",
    "stopping": """
    n_iter_no_change : int, optional
        Boosting stops after this many rounds in a row without improvement, and keeps the rounds up
        to the best. By default it does not stop early, unless ``early_stopping=True``.
    early_stopping : {"validation", "cv"} or bool, default="validation"
        Whether improvement is measured on a validation set, or by cross-validation, after which
        all samples are boosted for the best number of rounds. False never stops; True is
        "validation", with ``n_iter_no_change=10`` if that is None.
    validation_fraction : float, default=0.1
        Share of the samples in the validation set. Copies of a sample stay together.
    n_folds : int, default=5
        Number of folds, with ``early_stopping="cv"``.
    tol : float, default=1e-4
        Minimum decrease of the loss that counts as improvement, as a share of the loss of the
        constant ``init_``.
""",
    "fitted": """
    init_ : ndarray of shape (n_scores,)
        The constant that boosting starts from.
    n_estimators_ : int
        Number of rounds.
    train_loss_ : ndarray of shape (n_rounds,)
        Mean loss of the training samples after each round.
    validation_loss_ : ndarray
        With early stopping: validation loss after each round that was tried.
    tree_method_ : {"exact", "histogram"}
        How trees were grown.
    members_, forest_ : Forest
        The trees, whose values are added to the scores. With more than two classes, each round has
        one tree for each of ``classes_``: tree k of round r, counted from 0, is column
        ``r * len(init_) + k`` of ``apply``.
    estimators_ : sequence
        The trees as estimators, created on access.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the squared error by all splits.
    target_statistics_ : TargetStatistics or None
        The mean targets of levels, where they replace categories.
    tree_schema_ : Schema
        The features of the rows as the trees take them, with target statistics for categories.
    tree_features_ : ndarray
        The feature of X that each feature of the trees comes from: with more than two classes,
        shares of the second and later classes are additional features.
""",
}


@documented(GRADIENT_TEXTS)
class GradientBoostingClassifier(StagedClassifierMixin, TabularClassifierMixin, GradientBoosting):
    """Gradient boosting for classification: each tree is fitted to the gradient of a loss.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        The log-likelihood, or the loss of AdaBoost (two classes only).
    <growth>
    <class_factors>
    <stopping>
    <fitting>

    Attributes
    ----------
    <fitted>
    <classes>

    See Also
    --------
    AdaBoostClassifier : Weighted vote of classifiers fitted to reweighted samples.

    Notes
    -----
    The value of a leaf is one Newton step with the log-loss, and the exact minimum with the
    exponential loss; with ``order=2``, a penalised Newton step with both. With more than two
    classes second derivatives are those of one score, p (1 - p), times K / (K - 1) for K classes. A
    step changes log odds by at most 36, beyond which probabilities are 0 or 1 in floating point.

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
        **CLASS_WEIGHT,
        "loss": [StrOptions({"log_loss", "exponential"})],
    }

    _fitted_loss: ClassLoss

    def __init__(
        self,
        *,
        loss: Literal["log_loss", "exponential"] = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = None,
        max_features_per_tree: Any = None,
        tree_method: TreeMethod = "exact",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        categorical_encoding: CategoricalEncoding = "auto",
        order: Literal[1, 2] = 1,
        l2: float = 1.0,
        l1: float = 0.0,
        min_hessian: float = 0.001,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        cat_smooth: float = 10.0,
        max_cat_to_onehot: int = 4,
        sampling: Literal["uniform", "gradient"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        class_weight: Any = None,
        n_iter_no_change: int | None = None,
        early_stopping: EarlyStopping = "validation",
        validation_fraction: float = 0.1,
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
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.tree_method = tree_method
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
        tags.classifier_tags.multi_class = self.loss != "exponential"
        return tags

    def _make_loss(self, n_classes: int) -> Loss:
        if n_classes < 2:  # one class, of probability 1
            return MultinomialLoss(n_classes)
        if self.loss == "exponential":
            if n_classes > 2:
                # scikit-learn's checks look for the first words.
                raise ValueError(
                    "Only binary classification is supported with loss='exponential', and y has "
                    f"{n_classes} classes; use loss='log_loss'."
                )
            return ExponentialLoss()
        return LogLoss() if n_classes == 2 else MultinomialLoss(n_classes)

    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes, the log odds of the second (half of that with the exponential loss).
            Otherwise one score per class, whose softmax gives the probabilities.
        """
        return self._shown(self._scores(X))

    def _shown(self, scores: Floats) -> Floats:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Scores of the classes after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            As :meth:`decision_function`.
        """
        for scores in self._staged_scores(X):
            yield self._shown(scores)

    def _classes_of(self, scores: Floats) -> npt.NDArray[Any]:
        codes = scores[:, 0] > 0 if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[codes.astype(np.int64)])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; ties go to the first.
        """
        return self._classes_of(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict the most probable class after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Classes.
        """
        for scores in self._staged_scores(X):
            yield self._classes_of(scores)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._probabilities(self._scores(X))

    def _probabilities(self, scores: Floats) -> Floats:
        return self._fitted_loss.probabilities(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Class probabilities after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities.
        """
        for scores in self._staged_scores(X):
            yield self._probabilities(scores)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities, without underflow.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms.
        """
        scores = self._scores(X)
        return self._fitted_loss.log_probabilities(scores)


@documented(GRADIENT_TEXTS)
class GradientBoostingRegressor(StagedRegressorMixin, TabularRegressorMixin, GradientBoosting):
    """Gradient boosting for regression: each tree is fitted to the gradient of a loss.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
        Loss to minimise; it predicts the mean, the median, the mean without outliers, or a
        quantile.
    <growth>
    alpha : float, default=0.9
        The quantile, with ``loss="quantile"``. With ``loss="huber"``, the share of the residuals
        that count as small, determined in each round.
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

    Examples
    --------
    >>> from orfeon import GradientBoostingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> boosted = GradientBoostingRegressor(random_state=0).fit(X, y)
    >>> round(boosted.score(X, y), 2), boosted.train_loss_[[0, 9, 99]].round(2)
    (0.99, array([10.51,  4.09,  0.12]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GRADIENT,
        "loss": [StrOptions({"squared_error", "absolute_error", "huber", "quantile"})],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
    }

    def __init__(
        self,
        *,
        loss: Literal["squared_error", "absolute_error", "huber", "quantile"] = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = None,
        max_features_per_tree: Any = None,
        tree_method: TreeMethod = "exact",
        max_bins: int = 255,
        categorical_features: Any = "auto",
        categorical_encoding: CategoricalEncoding = "auto",
        order: Literal[1, 2] = 1,
        l2: float = 1.0,
        l1: float = 0.0,
        min_hessian: float = 0.001,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        cat_smooth: float = 10.0,
        max_cat_to_onehot: int = 4,
        sampling: Literal["uniform", "gradient"] = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        alpha: float = 0.9,
        n_iter_no_change: int | None = None,
        early_stopping: EarlyStopping = "validation",
        validation_fraction: float = 0.1,
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
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.tree_method = tree_method
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
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _make_loss(self, n_classes: int) -> Loss:
        losses: dict[str, Loss] = {
            "squared_error": SquaredError(),
            "absolute_error": AbsoluteError(),
            "huber": HuberError(self.alpha),
            "quantile": QuantileError(self.alpha),
        }
        return losses[self.loss]

    def predict(self, X: Any) -> Floats:
        """Predict targets.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        return self._scores(X)[:, 0]

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict targets after each round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predictions.
        """
        for scores in self._staged_scores(X):
            yield scores[:, 0]
