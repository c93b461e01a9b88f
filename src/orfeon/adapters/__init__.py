"""Fitted ensembles of any make, as ordering, combining and inspection want them.

:func:`adapt` takes ours, scikit-learn's, pipelines that end in one of these, and lists of fitted
estimators. What it gives answers for each member, and cuts the ensemble to some of them: the result
is of the same kind, fitted, and the ensemble given is left as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from orfeon.adapters.base import FittedEnsemble, NoSayError
from orfeon.adapters.boosted import OwnBoostedEnsemble
from orfeon.adapters.estimators import FittedEstimators
from orfeon.adapters.members import BareMembers
from orfeon.adapters.own import OwnEnsemble
from orfeon.adapters.pipelines import EnsembleInPipeline
from orfeon.ensembles.ensemble import Ensemble

__all__ = ["FittedEnsemble", "adapt", "unpruned"]

KINDS = (
    "ensembles of orfeon, pruned or not; BaggingClassifier, BaggingRegressor, "
    "RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor, "
    "AdaBoostClassifier, VotingClassifier and VotingRegressor of scikit-learn; pipelines that "
    "end in one of these; all of these also frozen; lists of fitted classifiers or regressors, or "
    "of (name, estimator)"
)


def adapt(ensemble: Any) -> FittedEnsemble:
    """A fitted ensemble of any make, whose members can be asked one by one.

    Parameters
    ----------
    ensemble : ensemble, pipeline, or list of fitted estimators
        An ensemble of ours; scikit-learn's bagging, forests, AdaBoost for classification or voting;
        a pipeline whose last step is one of these; any of them as a
        :class:`sklearn.frozen.FrozenEstimator`; or a list or tuple of fitted estimators, or of
        (name, estimator), that are all classifiers or all regressors.

    Returns
    -------
    FittedEnsemble
        What its members say, and how to keep only some of them.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from orfeon.adapters import adapt
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> members = adapt(forest)
    >>> members.n_members, members.classes.tolist(), members.answers(X).shape
    (5, ['a', 'b'], (5, 4))
    >>> members.subset([3, 1])
    RandomForestClassifier(n_estimators=2, random_state=0)
    """
    ensemble = unpruned(ensemble)
    if isinstance(ensemble, Ensemble):
        check_is_fitted(ensemble, "members_")
        _check_votes(ensemble)
        is_boosted = hasattr(ensemble, "member_weights_")
        return OwnBoostedEnsemble(ensemble) if is_boosted else OwnEnsemble(ensemble)
    if hasattr(ensemble, "votes") and hasattr(ensemble, "subset"):
        return BareMembers(ensemble)
    if isinstance(ensemble, Sequence) and not isinstance(ensemble, str | bytes):
        return FittedEstimators.of(ensemble)
    if isinstance(ensemble, Pipeline):
        return EnsembleInPipeline(ensemble, adapt(ensemble.steps[-1][1]))
    # Importing scikit-learn's ensembles takes long, and ours do without.
    from orfeon.adapters.scikit_learn import adapt_scikit_learn

    adapted = None if isinstance(ensemble, type) else adapt_scikit_learn(ensemble)
    if adapted is None:
        named = ensemble if isinstance(ensemble, type) else type(ensemble)
        what = "the class" if isinstance(ensemble, type) else "of type"
        raise TypeError(
            f"ensemble is {what} {named.__name__}, and no fitted ensemble whose members can be "
            f"asked one by one. Allowed are {KINDS}."
        )
    return adapted


def _check_votes(ensemble: Ensemble) -> None:
    """Refuse an ensemble of ours whose members do not vote."""
    try:
        ensemble._vote_weights()
    except TypeError as error:
        reason = "it does not decide by a vote of its members, each on its own"
        raise NoSayError(str(error), type(ensemble).__name__, reason) from error


def unpruned(ensemble: Any) -> Any:
    """The members that a pruned ensemble kept, as the ensemble that they are.

    Parameters
    ----------
    ensemble : object
        Anything.

    Returns
    -------
    object
        The ensemble inside a :class:`orfeon.PrunedClassifier`, a :class:`orfeon.PrunedRegressor` or
        a :class:`sklearn.frozen.FrozenEstimator`; anything else is given back.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, PrunedClassifier
    >>> from orfeon.adapters import unpruned
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> pruned = PrunedClassifier(BaggingClassifier(n_estimators=10), keep=3, random_state=0)
    >>> len(unpruned(pruned.fit(X, y)))
    3
    """
    from orfeon.ordering.pruned_base import PrunedEnsemble  # it prunes through the adapters

    if isinstance(ensemble, FrozenEstimator):
        return unpruned(ensemble.estimator)
    if not isinstance(ensemble, PrunedEnsemble):
        return ensemble
    check_is_fitted(ensemble, "ensemble_")
    if ensemble.order_.has_own_weights:
        raise ValueError(
            f"the votes of this {type(ensemble).__name__} have weights by its rule, which its "
            "members do not know; give its ensemble_, in which all votes count the same."
        )
    return ensemble.ensemble_
