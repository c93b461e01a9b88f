"""Texts of the parameters and features that many ensembles have, written once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import TypeVar

from orfeon.trees.base import TEXTS
from orfeon.utils.text import filled_docstring

ClassT = TypeVar("ClassT", bound=type)

#: A text may have a line ``<name>`` of its own, for one that comes after it.
_TEXTS = {
    "estimator": """
    estimator : estimator, optional
        The base learner, cloned for each member. Trees of orfeon go through its engine, all members
        at once; any other estimator of scikit-learn's kind is fitted member by member. By default
        %(default)s.
""",
    "n_estimators": """
    n_estimators : int, default=%(default)s
        Number of members.
""",
    "combine": """
    combine : str or CombiningRule, default="majority"
        How the members' answers become a decision, and what ``predict_proba`` gives the shares of:
        "majority" (or "plurality") counts votes and "soft" averages class supports; "product",
        "max", "min", "median" and "trimmed_mean" combine supports otherwise; "weighted" votes
        (log-odds of being right), "naive_bayes" and "model_averaging" learn from answers on
        samples that members did not see: those left out, or else those of five folds that the
        ensemble is trained without, one after the other. A rule of :mod:`orfeon.combining` has
        options.
""",
    "combine_boosted": """
    combine : str or CombiningRule, default="own"
        How the members' answers become a decision. "own" is boosting's weighted vote. Any rule for
        classes of :mod:`orfeon.combining` can take its place: "majority", "soft", "product"...;
        those that learn ("weighted", "naive_bayes", "model_averaging") train the ensemble again
        without each of five folds, for all its members have seen all the samples.
""",
    "combine_boosted_numbers": """
    combine : str or CombiningRule, default="own"
        How the members' predictions become one. "own" is boosting's weighted median. Any rule for
        numbers of :mod:`orfeon.combining` can take its place: "mean", "median",
        "trimmed_mean"...; "weighted" and "model_averaging" train the ensemble again without each
        of five folds, to learn from predictions of samples that members have not seen.
""",
    "combine_numbers": """
    combine : str or CombiningRule, default="mean"
        How the members' predictions become one: "mean", "median", "trimmed_mean", "min" or "max";
        "weighted" (by their squared errors) and "model_averaging" learn from predictions of
        samples that members did not see: those left out, or else those of five folds that the
        ensemble is trained without, one after the other. A rule of :mod:`orfeon.combining` has
        options.
""",
    "class_weight": """
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the classes. Where samples are drawn with replacement they are
        drawn in proportion to their weights: "balanced" then gives each member a sample in which
        all classes are about equally frequent.
""",
    "leaving_out": """
    oob_score : bool, default=False
        Whether to estimate the error on the samples that members did not see.
    importance : {"impurity", "permutation"}, default="impurity"
        What ``feature_importances_`` measures: the impurity decrease, or the increase of the
        out-of-bag error when a feature is permuted (trees only).
""",
    "limits": """
    max_depth, max_leaf_nodes : int, optional
        Limits of each tree.
    <least_weights>
""",
    "least_weights": """
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Least weight of a node to be split, and of a leaf; below one, a share of the whole.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a share of the whole weight.
""",
    "min_impurity_decrease": """
    min_impurity_decrease : float, default=0.0
        Least weighted impurity decrease of a split.
""",
    "categorical_features": """
    categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
        Which features are categorical; "auto" goes by their types.
""",
    "bootstrap": """
    bootstrap : bool or "balanced", default=%(default)s
        Whether members' samples are drawn with replacement; "balanced" draws with replacement so
        that over all members every sample is drawn equally often.
    max_samples : int, float or None, default=1.0
        How many samples are drawn, or which share of them; None for as many as there are.
""",
    "fitting": """
    warm_start : bool, default=False
        Whether a second ``fit`` with more members adds to those there are, which stay as they are.
    n_jobs : int, optional
        Threads (processes for base learners other than trees), through joblib. The model does not
        depend on it.
    verbose : int, default=0
        Whether to show progress.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Fixes everything.
""",
    "sampling": """
    sampling : {"weights", "resample"}, default="weights"
        Whether members are trained with weights, or on samples that are drawn by the weights. An
        estimator that takes no weights is always given a sample.
""",
    "stopping": """
    n_iter_no_change : int, optional
        Boosting ends when this many members in a row did not lower the error on samples that are
        set aside for that; the members up to the best are then kept. By default nothing is set
        aside.
    validation_fraction : float, default=0.1
        Which share of the samples, or of those of each class, is set aside.
    tol : float, default=0.0
        By how much the error must fall at least.
""",
    "boosted": """
    n_estimators_ : int
        How many members there are; fewer than asked for where the run ended early.
    member_weights_ : ndarray of shape (n_members,)
        The weights of the members' votes.
    errors_ : ndarray of shape (n_members,)
        Weighted error of each member in its round.
    validation_errors_ : ndarray of shape (n_rounds,)
        With ``n_iter_no_change``: error on the samples set aside, after each member.
""",
    "members": """
    members_ : Forest or EstimatorMembers
        The members.
    forest_ : Forest
        The same, where they are trees.
    estimators_ : sequence
        The members as estimators, made when they are asked for.
    estimator_ : estimator
        The base learner.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature.
""",
    "classes": """
    classes_ : ndarray
        The classes.
""",
    "oob_classes": """
    oob_error_, oob_score_ : float
        With ``oob_score=True``: out-of-bag error, and accuracy.
    oob_error_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members.
    oob_votes_ : ndarray of shape (n_estimators, n_rows)
        Votes as indices into ``classes_``, -1 where the member saw the sample.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Out-of-bag vote shares or supports, NaN for samples that every member saw.
    permutation_importances_ : PermutationImportances
        With ``importance="permutation"``: means, standard errors, and one row for each member.
""",
    "oob_predictions": """
    oob_error_, oob_score_ : float
        With ``oob_score=True``: out-of-bag mean squared error, and R².
    oob_error_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag mean squared error of the first 1, 2, ... members.
    oob_prediction_ : ndarray of shape (n_rows,)
        Out-of-bag predictions, NaN for samples that every member saw.
    permutation_importances_ : PermutationImportances
        With ``importance="permutation"``: means, standard errors, and one row for each member.
""",
    "p_delta": """
    mode : {"batch", "incremental"}, default="batch"
        Whether weights are moved after each epoch, by the sum of what all samples ask for, or
        after each sample, in a new random order in each epoch.
    rule : {"auer", "p_delta"}, default="auer"
        Whether activations are kept away from zero wherever a perceptron is not to blame (Auer et
        al. 2008), or for samples that are right only (Cantador and Dorronsoro 2005).
    max_iter : int, default=250
        Epochs.
    learning_rate : {"invscaling", "adaptive", "constant"}, default="invscaling"
        Learning rate of epoch t: ``eta0 / sqrt(t)``; 1.1 times the last one when the training error
        fell and half of it when it rose; or ``eta0``.
""",
    "p_delta_margin": """
    margin : float, default=0.05
        Initial margin, gamma.
    tune_margin : bool, default=True
        Whether the margin is tuned while training: wider for each sample that no perceptron has
        within it, narrower for each other.
    margin_weight : float, default=%(default)s
        What the margin weighs against errors, mu.
    standardize : bool, default=True
        Whether features are brought to mean 0 and standard deviation 1. Missing values are at the
        mean, and categories are inputs of 0 and 1, in any case.
    divide_inputs : bool, default=True
        Whether inputs are divided by the root of their number, so that their length does not grow
        with it.
""",
    "p_delta_running": """
    early_stopping : bool, default=False
        Whether to stop as soon as no training sample is wrong.
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
        Share of the training samples' weight that is wrong before each epoch's step.
    n_iter_ : int
        Epochs run.
""",
}


def documented(
    own: Mapping[str, str] | None = None, /, **defaults: str
) -> Callable[[ClassT], ClassT]:
    """Fill the shared texts into the docstring of a class."""
    of_family = {} if own is None else own
    # These stand first, as they may have lines of the others, and take the place of any of them.
    every = {**of_family, **_TEXTS, **of_family}

    def fill(cls: ClassT) -> ClassT:
        texts = {
            # Lines of a default are lines of a description.
            name: dedent(words).replace(
                "%(default)s", re.sub(r"\n +", "\n    ", defaults.get(name, ""))
            )
            for name, words in every.items()
        }
        cls.__doc__ = filled_docstring(cls.__doc__, {**texts, **TEXTS})
        return cls

    return fill
