"""Fitted ensembles of any make, as ordering, combining and inspection want them.

:func:`adapt` takes ours, scikit-learn's, pipelines that end in one of these, and lists of fitted
estimators. What it gives answers for each member, and cuts the ensemble to some of them: the result
is of the same kind, fitted, and the ensemble given is left as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from orfeon.members.adapted import BareMembers
from orfeon.members.adapter import FittedEnsemble
from orfeon.members.estimator_list import FittedEstimators
from orfeon.members.pipelines import EnsembleInPipeline
from orfeon.utils.unwrapping import unpruned

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
    >>> from orfeon.members import adapt
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> members = adapt(forest)
    >>> members.n_members, members.classes.tolist(), members.answers(X).shape
    (5, ['a', 'b'], (5, 4))
    >>> members.subset([3, 1])
    RandomForestClassifier(n_estimators=2, random_state=0)
    """
    ensemble = unpruned(ensemble)
    own: Callable[[Any], FittedEnsemble] | None = getattr(type(ensemble), "_adapted", None)
    if own is not None:  # ours, who know what they are made of
        return own(ensemble)
    if hasattr(ensemble, "votes") and hasattr(ensemble, "subset"):
        return BareMembers(ensemble)
    if isinstance(ensemble, Sequence) and not isinstance(ensemble, str | bytes):
        return FittedEstimators.of(ensemble)
    if isinstance(ensemble, Pipeline):
        return EnsembleInPipeline(ensemble, adapt(ensemble.steps[-1][1]))
    # Importing scikit-learn's ensembles takes long, and ours do without.
    from orfeon.members.scikit_learn import adapt_scikit_learn

    adapted = None if isinstance(ensemble, type) else adapt_scikit_learn(ensemble)
    if adapted is None:
        named = ensemble if isinstance(ensemble, type) else type(ensemble)
        what = "the class" if isinstance(ensemble, type) else "of type"
        raise TypeError(
            f"ensemble is {what} {named.__name__}, and no fitted ensemble whose members can be "
            f"asked one by one. Allowed are {KINDS}."
        )
    return adapted
