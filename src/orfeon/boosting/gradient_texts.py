"""Descriptions of the parameters and attributes of the gradient boosting estimators."""

from __future__ import annotations

#: Texts of the parameters and attributes that both estimators share.
GRADIENT_TEXTS = {
    "growth": """
    learning_rate : float, default=0.12
        Factor on the values of each tree (shrinkage).
    n_estimators : int, default=400
        Number of rounds, of one tree each, or of one per class with several classes; with early
        stopping, the maximum.
    subsample : float, default=0.7
        Share of the samples drawn without replacement for each round.
    sampling : {"uniform", "gradient"}, default="uniform"
        With "gradient" a round sees the share ``top_rate`` of the samples with the largest
        gradients, and a share ``other_rate`` drawn from the others and weighted up to represent
        them (gradient-based one-side sampling, GOSS); ``subsample`` must be 1.
    top_rate : float, default=0.2
        Share of the samples with the largest gradients, with ``sampling="gradient"``.
    other_rate : float, default=0.1
        Share of the samples drawn from the others, with ``sampling="gradient"``.
    max_depth : int or None, default=5
        Maximum depth of a tree. With 1 the model is additive in the features.
    max_leaf_nodes : int, optional
        Maximum number of leaves; the node with the largest gain is split first.
    <least_weights>
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the residuals' variance by a split. With ``order=2``, minimum
        gain of a split, per unit of weight: twice the decrease of the penalised loss.
    ccp_alpha : float, default=0.0
        Each tree is pruned to the smallest subtree that minimises what it is fitted to plus this
        for each leaf, both measured as in ``min_impurity_decrease``; with ``order=1``, as in
        scikit-learn. 0 does not prune. Not for symmetric trees.
    max_features : int, float, "sqrt", "log2" or None, default=0.6
        Features drawn at each node, or each level of a symmetric tree, among those of the tree;
        None for all.
        <log2>
    max_features_per_tree : int, float, "sqrt", "log2" or None, default=None
        Features drawn for each tree; all by default.
        <log2>
    tree_method : {"exact", "histogram", "auto"}, default="auto"
        Whether trees consider every threshold, or only those between ``max_bins`` bins. With "auto"
        they consider every threshold among up to 10,000 different samples, and bins if X is sparse.
    tree_shape : {"auto", "free", "symmetric"}, default="auto"
        Whether each node of a tree has a test of its own, or all nodes of a level share one, as in
        CatBoost; a node that cannot be split by it skips the level. Symmetric trees need
        ``order=2``, every threshold, ``max_depth``, and no ``max_leaf_nodes``; "auto" uses them
        where they can be grown.
    max_bins : int, default=255
        Bins per feature, where trees are not exact.
    <categorical_features>
    categorical_encoding : {"auto", "subsets", "ordered"}, default="auto"
        What trees do with categories. With "subsets" they test whether a value is in a set of
        levels. With "ordered" a level becomes its mean target, or its share of each class, among
        the samples before it in a random order, and of all samples in prediction; a level not seen
        in training is average, and missing values are a level. "auto" uses subsets for features
        with up to 20 levels, or up to 255 if a level has 200 samples on average, and statistics for
        others, which may have up to a million levels.
    order : {1, 2}, default=2
        Whether trees are fitted to the negative gradient alone, by least squares, or also to the
        second derivatives of the loss (Newton trees), as in XGBoost and LightGBM. The penalties and
        constraints below need ``order=2``.
    l2 : float, default=1.0
        Penalty on the squares of leaf values; added to the sum of second derivatives of a leaf.
    l1 : float, default=0.0
        Penalty on the absolute leaf values.
    min_hessian : float, default=0.3, or 3.0 in regression
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
    "custom": """
    A function as ``loss`` may be an object with a ``__call__`` and more attributes:
    ``value(y, raw_predictions, weights)``, the weighted mean loss, which early stopping and
    ``train_loss_`` need; ``start(y, weights)``, the constant to start from, by default found from
    the derivatives; and in regression ``link``, "identity", "log" or "logit", which says which
    function of the prediction a raw prediction is. Second derivatives must be 0 or more. Model
    files hold no code: a loaded model predicts as before, and ``loss`` is the name of the function,
    which has to be passed again to fit.
""",
    "init": """
    init : estimator, "zero" or None, default=None
        Where the scores start: at the best constant, at 0, or at the predictions of another model.
        One that is not fitted yet is cloned and fitted, without the validation set.
""",
    "stopping": """
    n_iter_no_change : int, optional
        Boosting stops after this many rounds in a row without improvement, 10 by default, and
        keeps the rounds up to the best. Without effect if ``early_stopping=False``.
    early_stopping : {"auto", "validation", "cv"} or bool, default="auto"
        Whether improvement is measured on a validation set, or by cross-validation, after which
        all samples are boosted for the best number of rounds. "auto" finds the best number of
        rounds on a validation set and then boosts all samples for as many; it searches by steps
        twice as large, if those are at most 0.5, and counts each as two rounds. It does not stop
        with fewer than 30 samples or more than 10 copies of each, and with more than 10,000 it
        keeps what it boosted without the validation set. False never stops; True is "validation".
    validation_fraction : float, default=0.2
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
    init_estimator_ : estimator
        The model that boosting starts from, if ``init`` is one; ``init_`` is then 0.
    n_estimators_ : int
        Number of rounds.
    train_loss_ : ndarray of shape (n_rounds,)
        Mean loss of the training samples after each round.
    validation_loss_ : ndarray
        With early stopping: validation loss after each round that was tried; with
        ``early_stopping="auto"`` a round may stand for two (see there).
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
