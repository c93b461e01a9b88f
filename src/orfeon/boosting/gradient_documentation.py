"""Texts of the parameters and features that both gradient boosting estimators have."""

from __future__ import annotations

#: By the names that stand for them in docstrings.
GRADIENT_TEXTS = {
    "growth": """
    learning_rate : float, default=0.1
        Share of what a tree says that is added: the shrinkage.
    n_estimators : int, default=100
        Number of rounds; a round has one tree, or one for each of more than two classes.
    subsample : float, default=1.0
        Share of the samples that each round sees, drawn without replacement.
    max_depth : int or None, default=3
        Most tests on a path of a tree. With 1 the model is additive in the features.
    max_leaf_nodes : int, optional
        Most leaves of a tree; the node of greatest gain is split first.
    <least_weights>
    min_impurity_decrease : float, default=0.0
        Least weighted decrease of the residuals' variance by a split.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at each node, of those of the tree; all by default.
        <log2>
    max_features_per_tree : int, float, "sqrt", "log2" or None, default=None
        Features drawn for each tree; all by default.
        <log2>
    tree_method : {"exact", "histogram"}, default="exact"
        Whether trees consider every threshold, or those between ``max_bins`` bins.
    max_bins : int, default=255
        Bins of a feature, with ``tree_method="histogram"``.
    <categorical_features>
""",
    "stopping": """
    n_iter_no_change : int, optional
        Rounds in a row without improvement after which boosting stops; the rounds after the best
        are dropped. By default it does not stop early, unless ``early_stopping=True``.
    early_stopping : {"validation", "cv"} or bool, default="validation"
        Whether improvement is measured on a share of the samples, on which the trees are then not
        grown, or by cross-validation; in this case all samples are used for as many rounds as were
        best. False never stops; True is "validation", with ``n_iter_no_change=10`` where that is
        None.
    validation_fraction : float, default=0.1
        The share, with ``early_stopping="validation"``. Copies of a sample stay together.
    n_folds : int, default=5
        Folds, with ``early_stopping="cv"``.
    tol : float, default=1e-4
        A loss must be lower than the least so far by more than this, as a share of the loss of the
        constant ``init_``, to be an improvement.
""",
    "fitted": """
    init_ : ndarray of shape (n_scores,)
        The constant that scores start from.
    n_estimators_ : int
        Number of rounds.
    train_loss_ : ndarray of shape (n_rounds,)
        Mean loss of the training samples after each round.
    validation_loss_ : ndarray
        Where boosting may stop early: the loss that it went by, after each round that was tried.
    members_, forest_ : Forest
        The trees, round after round; their values are what they add to the scores. With more than
        two classes, each round has one tree for each of ``classes_``, in this order. The columns of
        ``apply`` are these trees: tree k of round r, counted from 0, is column
        ``r * len(init_) + k``.
    estimators_ : sequence
        The trees as estimators, made when they are asked for.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the squared error of residuals that all splits removed.
""",
}
