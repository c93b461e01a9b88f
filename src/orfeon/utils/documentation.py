"""Descriptions of parameters and attributes that several estimators share, written once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc
from textwrap import dedent, indent
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

#: A text may contain ``<name>`` for a text that comes after it.
_TEXTS = {
    # -- trees -------------------------------------------------------------------------------------
    "criterion": """
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity; "log_loss" is another name for "entropy", and "error" is the classification
        error.
""",
    "pruning_choice": """
    pruning_rule : {"1se", "min"}, default="1se"
        The smallest tree within one standard error of the lowest cross-validated error, or the
        tree with the lowest error.
    n_folds : int, default=10
        Folds of the cross-validation. Copies of a sample (weights above one, repeated rows) share
        a fold.
    keep_a_split : bool or "path", default=True
        Whether cross-validation avoids a single leaf while a larger tree is left. With
        "path" the pruning path ends before the single leaf: for lack of a next breakpoint, the
        folds' trees are compared with its last tree at that tree's own breakpoint, not beyond it.
    equal_rows : {"together", "apart"}, default="together"
        Whether samples with the same features and class share a fold. With "apart" only the copies
        of a sample in the bootstrap sample of a member do.
""",
    "size": """
    max_depth : int, optional
        Maximum number of tests on a path.
    max_leaf_nodes : int, optional
        Maximum number of leaves; the node with the largest impurity decrease is split first.
    <least_weights>
""",
    "max_depth": """
    max_depth : int, optional
        Maximum number of tests on a path.
""",
    "limits": """
    max_depth, max_leaf_nodes : int, optional
        Maximum depth, and maximum number of leaves, of a tree.
    <least_weights>
""",
    "least_weights": """
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Minimum weight of a node that is split, and of a leaf; below one, a share of the total.
        Whole-number weights count copies; others are taken relative to their mean.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf, as a share of the total weight.
""",
    "least_weight_of_half": """
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf, in the half that grows it, as a share of the total weight.
""",
    "min_impurity_decrease": """
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the impurity by a split.
""",
    "ccp_alpha": """
    ccp_alpha : float, default=0.0
        Each tree is pruned to the smallest subtree that minimises its impurity plus this for each
        leaf, as in scikit-learn; 0 does not prune.
""",
    "monotonic_cst": """
    monotonic_cst : array of shape (n_features,) or dict, optional
        1 for features that predictions must not decrease with, -1 for those they must not increase
        with, 0 for others; a dict has the names of features. With two classes, predictions are
        probabilities of the second.
""",
    "max_features": """
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at each node. <log2>
""",
    "n_best": """
    n_best : int, default=1
        Each split is picked at random among this many best ones.
""",
    "linear_combinations": """
    linear_combinations : bool, default=False
        Whether to search for cuts of linear combinations of the ordered features, too. All
        features and samples of a node are searched, so ``max_features``, ``n_best`` and
        ``max_split_samples`` must keep their defaults.
    deletion : float, default=0.2
        A feature is deleted from a linear combination while this loses at most this share of the
        impurity decrease that the most important feature is worth. With 0 only features that do not
        matter are deleted.
    max_split_samples : int, optional
        Maximum number of samples of a node that decide its split, drawn at random without
        replacement; by default all do. The tree then depends on the order of the samples.
""",
    "categorical_features": """
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        Which features are categorical; "auto" infers it from their types.
""",
    "class_factors": """
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the classes.
""",
    "class_factors_of_outputs": """
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors on the weights of the classes; with several outputs a list with a dict for each, and
        the factors of a sample are multiplied.
""",
    "tie_rule": """
    ties : {"random", "first"}, default="random"
        Which of several equally good splits is chosen: that of a random feature, or of the first
        one. Among the cuts of one feature it is the lowest. With ``max_features`` the first feature
        is the first of all that varies.
""",
    "ties": """
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed; ties between equally good splits are broken at random.
""",
    "tree": """
    forest_ : Forest
        The tree, as a forest of one.
    schema_ : Schema
        What the features are.
    feature_importances_ : ndarray
        Share of each feature in the impurity decrease.
""",
    "cross_validation": """
    cross_validation_ : CrossValidation
        With ``pruning="cv"``: the pruning path with its cross-validated errors.
""",
    # -- ensembles ---------------------------------------------------------------------------------
    "estimator": """
    estimator : estimator, optional
        The base learner, cloned for each member: a tree of orfeon, which its engine grows, or any
        other scikit-learn estimator. By default
        %(default)s.
""",
    "n_estimators": """
    n_estimators : int, default=%(default)s
        Number of members.
""",
    "combine": """
    combine : str or CombiningRule, default="majority"
        How the members' outputs are combined, which also decides what ``predict_proba`` returns.
        "majority" (or "plurality") counts votes and "soft" averages class supports; "product",
        "max", "min", "median" and "trimmed_mean" combine supports in other ways. "weighted" (votes
        weighted by the log-odds of being right), "naive_bayes" and "model_averaging" learn from
        predictions on samples that the members did not see: those left out, or else five folds,
        each predicted by an ensemble trained without it. Pass a rule of :mod:`orfeon.combining` to
        set its options.
""",
    "calibrate": """
    calibrate : {"sigmoid", "beta", "isotonic", "venn_abers", "auto"} or None, default=None
        How vote shares become calibrated probabilities, which then also determine the predicted
        class: by a logistic function of log odds, beta (with several classes Dirichlet)
        calibration, a monotone step function, or Venn-Abers prediction; "auto" picks the one with
        the lowest log loss on folds. All are learnt from shares of members that did not see the
        samples: those left out, or else five folds, each
        predicted by an ensemble of a fifth of the members trained without it, which costs about one
        more fit. Probabilities are those under ``sample_weight``, whatever the class weights. None
        smooths the shares, so that no probability is exactly 0 or 1.
""",
    "calibrate_boosted": """
    calibrate : {"sigmoid", "beta", "isotonic", "venn_abers", "auto"} or None, default=None
        How vote shares become calibrated probabilities, which then also determine the predicted
        class: by a logistic function of log odds, beta (with several classes Dirichlet)
        calibration, a monotone step function, or Venn-Abers prediction; "auto" picks the one with
        the lowest log loss on folds. All are learnt from five folds, each predicted by an ensemble
        trained without it, which costs five more fits.
        None smooths the shares, so that no probability is exactly 0 or 1.
""",
    "combine_numbers": """
    combine : str or CombiningRule, default="mean"
        How the members' predictions are combined: "mean", "median", "trimmed_mean", "min" or
        "max". "weighted" (by squared error) and "model_averaging" learn from predictions on
        samples that the members did not see: those left out, or else five folds, each predicted by
        an ensemble trained without it. Pass a rule of :mod:`orfeon.combining` to set its options.
""",
    "combine_boosted": """
    combine : str or CombiningRule, default="own"
        How the members' outputs are combined. "own" is the weighted vote of boosting. Any rule for
        classes of :mod:`orfeon.combining` can replace it: "majority", "soft", "product"... Rules
        that learn ("weighted", "naive_bayes", "model_averaging") refit the ensemble without each of
        five folds, because its members have seen all the samples.
""",
    "combine_boosted_numbers": """
    combine : str or CombiningRule, default="own"
        How the members' predictions are combined. "own" is the weighted median of boosting. Any
        rule for numbers of :mod:`orfeon.combining` can replace it: "mean", "median",
        "trimmed_mean"... "weighted" and "model_averaging" refit the ensemble without each of five
        folds, to learn from predictions on samples that the members have not seen.
""",
    "class_weight": """
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the classes. Bootstrap samples are drawn in proportion to the
        weights: with "balanced", all classes are about equally frequent in each of them.
""",
    "class_weight_of_trees": """
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Factors on the weights of the classes; with several outputs a list with a dict for each, and
        the factors of a sample are multiplied. Bootstrap samples are drawn in proportion to the
        weights: with "balanced", all classes are about equally frequent in each of them. With
        "balanced_subsample" the classes weigh the same in each tree's samples as they were drawn.
""",
    "class_weight_drawn": """
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. Each member sees all samples of the heaviest class, and a random
        share of every other class in proportion to its weight: with "balanced", as many samples of
        every class as the smallest one has.
""",
    "leaving_out": """
    oob_score : bool or callable, default=False
        Whether to estimate the error on the samples that members did not see, and to record which
        these are: prediction intervals, prediction sets and standard errors need it. A callable
        ``metric(y_true, y_pred)`` computes ``oob_score_``.
    importance : {"impurity", "permutation"}, default="impurity"
        What ``feature_importances_`` measures: the impurity decrease, or the increase of the
        out-of-bag error when a feature is permuted (trees only).
""",
    "quantiles": """
    quantiles : bool, default=False
        Whether to keep the leaf of each training sample, which ``predict_quantiles`` and
        ``predict_interval(method="quantile")`` need (trees only).
""",
    "bootstrap": """
    bootstrap : bool or "balanced", default=%(default)s
        Whether each member's samples are drawn with replacement; "balanced" draws with
        replacement so that, over all members, every sample is drawn equally often.
    max_samples : int, float or None, default=1.0
        Number or share of the samples to draw; None draws as many as there are.
""",
    "fitting": """
    warm_start : bool, default=False
        Whether a second ``fit`` with more members keeps the existing ones and adds the rest.
    n_jobs : int, optional
        Threads (processes for base learners other than trees), through joblib. The model does not
        depend on it.
    <verbose>
    <random_state>
""",
    "n_jobs": """
    n_jobs : int, optional
        Threads (processes for base learners other than trees), through joblib. The model does not
        depend on it.
""",
    "members": """
    members_ : Forest or EstimatorMembers
        The members.
    forest_ : Forest
        The members as a forest, where they are trees.
    estimators_ : sequence
        The members as estimators, created on access.
    estimator_ : estimator
        The base learner.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature.
""",
    "classes": """
    classes_ : ndarray of shape (n_classes,)
        The classes.
""",
    "calibrated": """
    calibrator_ : Calibrator or None
        With ``calibrate``: what turns shares into probabilities.
    oob_log_loss_ : float
        With ``calibrate``: log loss on the samples that it was learnt from, each fold calibrated by
        the others.
    oob_probabilities_ : ndarray of shape (n_rows, n_classes)
        The probabilities behind it; NaN for samples that every member saw.
""",
    "oob_classes": """
    oob_error_, oob_score_ : float
        With ``oob_score``: out-of-bag error, and accuracy or what the callable returns.
    oob_error_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members.
    oob_votes_ : ndarray of shape (n_estimators, n_rows)
        Votes as indices into ``classes_``, -1 where the member saw the sample.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Out-of-bag vote shares or supports, NaN for samples that every member saw.
    left_out_samples_ : LeftOutSamples
        With ``oob_score=True``: the training samples that some members left out, and which.
    <permutation_importances>
""",
    "oob_predictions": """
    oob_error_, oob_score_ : float
        With ``oob_score``: out-of-bag mean squared error, and R² or what the callable returns.
    oob_error_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag mean squared error of the first 1, 2, ... members.
    oob_prediction_ : ndarray of shape (n_rows,)
        Out-of-bag predictions, NaN for samples that every member saw.
    left_out_samples_ : LeftOutSamples
        With ``oob_score=True``: the training samples that some members left out, and which.
    <permutation_importances>
""",
    "permutation_importances": """
    permutation_importances_ : PermutationImportances
        With ``importance="permutation"``: means, standard errors, and one row for each member.
""",
    # -- boosting ----------------------------------------------------------------------------------
    "n_boosted": """
    n_estimators : int, default=%(default)s
        Maximum number of members. A run that ends on its own with fewer than half of them raises a
        warning.
""",
    "sampling": """
    sampling : {"weights", "resample"}, default="weights"
        Whether members are trained with weights, or on bootstrap samples drawn by the weights. An
        estimator that takes no weights always gets a bootstrap sample.
""",
    "stopping": """
    n_iter_no_change : int, optional
        Boosting stops when this many members in a row do not lower the error on a validation set,
        and keeps the members up to the best. By default there is no validation set.
    validation_fraction : float, default=0.1
        Share of the samples, or of those of each class, in the validation set.
    tol : float, default=0.0
        Minimum decrease of the error.
""",
    "boosted": """
    n_estimators_ : int
        Number of members; fewer than requested where the run ended early.
    member_weights_ : ndarray of shape (n_members,)
        The weights of the members' votes.
    errors_ : ndarray of shape (n_members,)
        Weighted error of each member in its round.
    <validation_errors>
""",
    "validation_errors": """
    validation_errors_ : ndarray of shape (n_rounds,)
        With ``n_iter_no_change``: error on the validation set after each member.
""",
    # -- parallel perceptrons ----------------------------------------------------------------------
    "p_delta": """
    mode : {"batch", "incremental"}, default="batch"
        Whether weights are updated after each epoch, by the sum over all samples, or after each
        sample, in a new random order in each epoch.
    rule : {"p_delta", "auer"}, default="%(default)s"
        Whether activations are kept away from zero only for samples that are predicted correctly
        (Cantador and Dorronsoro 2005), or wherever a perceptron needs no correction (Auer et al.
        2008).
    max_iter : int, default=250
        Number of epochs.
    learning_rate : {"invscaling", "adaptive", "constant"}, default="invscaling"
        Learning rate of epoch t: ``eta0 / sqrt(t)``; 1.1 times the last one when the training error
        fell and half of it when it rose; or ``eta0``.
""",
    "p_delta_margin": """
    margin : float, default=0.05
        Initial margin, gamma.
    tune_margin : bool or "mean", default=True
        Whether the margin is tuned during training: wider for each sample that no perceptron has
        within it, narrower for every other. In batch mode it moves by the sum over the samples,
        or by their mean, which is too small to swing from epoch to epoch.
    margin_weight : float, default=%(default)s
        Weight of the margin against errors, mu.
    standardize : bool, default=True
        Whether features are scaled to mean 0 and standard deviation 1. In any case, missing values
        are replaced by the mean, and categories become inputs of 0 and 1.
    divide_inputs : bool, default=True
        Whether inputs are divided by the square root of their number, so that their length does
        not grow with it.
""",
    "p_delta_running": """
    early_stopping : bool, default=False
        Whether to stop as soon as all training samples are predicted correctly.
""",
    "p_delta_continuing": """
    warm_start : bool, default=False
        Whether ``fit`` continues from the weights and margins of the previous fit.
""",
    "p_delta_fitted": """
    weights_ : ndarray of shape (n_problems, n_perceptrons, n_inputs)
        Weights of the perceptrons, vectors of length 1; the last is the threshold. There is one
        problem, unless there are more than two classes.
    margin_ : ndarray of shape (n_problems,)
        Margins as tuned, gamma.
    inputs_ : Inputs
        How rows become inputs.
    energy_curve_ : ndarray of shape (n_epochs,) or (n_problems, n_epochs)
        Energy J before each epoch's step.
    error_curve_ : ndarray of shape (n_epochs,) or (n_problems, n_epochs)
        Share of the training samples' weight that is predicted wrongly before each epoch's step.
    n_iter_ : int
        Number of epochs run.
""",
    "class_of_interest": """
    pos_label : object, optional
        The class of interest; by default the class with the lowest weight, or the second one when
        both weigh the same.
""",
    # -- shared pieces -----------------------------------------------------------------------------
    "verbose": """
    verbose : int, default=0
        Whether to show progress.
""",
    "random_state": """
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of all random choices.
""",
    "log2": """"log2" draws ``floor(log2(M) + 1)`` of M features, one more than in scikit-learn.""",
}


def documented(
    own: Mapping[str, str] | None = None, /, **defaults: str
) -> Callable[[Documented], Documented]:
    """Fill the shared texts into the docstring of a class or function."""
    of_family = {} if own is None else own
    # These come first, as they may contain the others, and they replace any of the same name.
    every = {**of_family, **_TEXTS, **of_family}

    def fill(one: Documented) -> Documented:
        texts = {
            # Lines of a default are lines of a description.
            name: dedent(words).replace(
                "%(default)s", re.sub(r"\n +", "\n    ", defaults.get(name, ""))
            )
            for name, words in every.items()
        }
        one.__doc__ = filled_docstring(one.__doc__, texts)
        return one

    return fill


def filled_docstring(text: str | None, shared: Mapping[str, str]) -> str:
    """Replace each ``<name>`` in a docstring by a shared text.

    Python 3.13 removes the indentation of docstrings, earlier versions keep it; the result has
    none.
    """
    filled = cleandoc(text or "")
    for name, words in shared.items():
        lines = dedent(words.strip("\n"))
        for found in re.findall(rf"^ +<{name}>", filled, re.MULTILINE):
            filled = filled.replace(found, indent(lines, found.partition("<")[0]))
        filled = filled.replace(f"<{name}>", lines)
    return filled
