"""Bias and variance of a learner: the parts of its error, by several definitions.

A learner that is trained repeatedly on samples of the same problem errs in two ways: its
predictions are off on average, and they differ from each other. For squared error there is one way
to separate the two. For zero-one loss there are several, and they do not agree, because the
majority of many wrong predictions may be right. With p the probabilities of the classes at a point
and q their shares among the predictions:

==================== ==================================================== ======================
definition           bias is                                              variance may be < 0
==================== ==================================================== ======================
``squared_error``    the squared distance of the mean from the target     no
``kohavi_wolpert``   half the squared distance of p and q                 no
``kong_dietterich``  the error of the class predicted most often          yes
``breiman``          all excess error where that class is not the best    no
``webb``             wrong predictions of that class, noise included      no
``domingos``         1 where that class is not the best, 0 elsewhere      yes
==================== ==================================================== ======================

The parts of each add up to the mean error. Friedman's account, of an estimated probability, does
not add: see :func:`orfeon.inspection.friedman_decomposition`. The predictions come from
:func:`orfeon.inspection.resample_predictions`.

References
----------
Kohavi and Wolpert (1996). Bias plus variance decomposition for zero-one loss functions. Proceedings
of the 13th International Conference on Machine Learning, 275-283.

Kong and Dietterich (1995). Error-correcting output coding corrects bias and variance. Proceedings
of the 12th International Conference on Machine Learning, 313-321.

James (2003). Variance and bias for general loss functions. Machine Learning 51(2), 115-135.

Breiman (1996). Bias, variance, and arcing classifiers. Technical report 460, Statistics Department,
University of California, Berkeley.

Breiman (1998). Arcing classifiers. Annals of Statistics 26(3), 801-849.

Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40(3),
229-242.

Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning 40(2),
159-196.

Domingos (2000). A unified bias-variance decomposition for zero-one and squared loss. Proceedings of
the 17th National Conference on Artificial Intelligence, 564-569.

Domingos (2000). A unified bias-variance decomposition and its applications. Proceedings of the 17th
International Conference on Machine Learning, 231-238.

Geman, Bienenstock and Doursat (1992). Neural networks and the bias/variance dilemma. Neural
Computation 4(1), 1-58.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from orfeon.inspection.bias_variance.domingos import domingos_decomposition, domingos_parts
from orfeon.inspection.bias_variance.parts import BiasVariance, Parts, no_correction
from orfeon.inspection.bias_variance.squared_error import squared_error_decomposition
from orfeon.inspection.bias_variance.zero_one import (
    breiman_decomposition,
    breiman_parts,
    kohavi_wolpert_decomposition,
    kohavi_wolpert_parts,
    kong_dietterich_decomposition,
    kong_dietterich_parts,
    webb_decomposition,
    webb_parts,
)

Definition = Literal[
    "squared_error", "kohavi_wolpert", "kong_dietterich", "breiman", "webb", "domingos"
]

#: The definitions for zero-one loss: from probabilities, shares, trainings and correction to parts.
VOTE_PARTS: dict[str, Callable[..., Parts]] = {
    "kohavi_wolpert": kohavi_wolpert_parts,
    "kong_dietterich": kong_dietterich_parts,
    "breiman": breiman_parts,
    "webb": webb_parts,
    "domingos": domingos_parts,
}
_DECOMPOSITIONS: dict[str, Callable[..., BiasVariance]] = {
    "kong_dietterich": kong_dietterich_decomposition,
    "breiman": breiman_decomposition,
    "webb": webb_decomposition,
    "domingos": domingos_decomposition,
}


def bias_variance_decomposition(
    predictions: Any,
    y: Any = None,
    *,
    definition: Definition = "kohavi_wolpert",
    posterior: Any = None,
    noise: Any = 0.0,
    classes: Any = None,
    sample_weight: Any = None,
    unbiased: bool = False,
) -> BiasVariance:
    """Bias, variance and noise of a learner, from its predictions after repeated trainings.

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Labels or numbers predicted after each training.
    y : array of shape (n_points,), optional
        Labels or targets, taken as certain: their noise is then part of the bias. For
        "squared_error" also the regression function, with its ``noise``.
    definition : str, default="kohavi_wolpert"
        One of "squared_error", for regression, "kohavi_wolpert", "kong_dietterich", "breiman",
        "webb" and "domingos".
    posterior : array of shape (n_points, n_classes), optional
        Probability of each class at each point, if known, instead of ``y``.
    noise : float or array of shape (n_points,), default=0.0
        For "squared_error": variance of the noise.
    classes : array of shape (n_classes,), optional
        The labels, in the order of the columns of ``posterior``; sorted by default.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 leaves a point out, 2 counts it twice.
    unbiased : bool, default=False
        For "squared_error" and "kohavi_wolpert": whether to correct bias and variance for the
        number of trainings.

    Returns
    -------
    BiasVariance
        At each point and on average; the parts add up to the error.

    See Also
    --------
    resample_predictions : Trains a learner repeatedly.
    bias_variance_intervals : Confidence intervals of the parts.
    friedman_decomposition : From estimated probabilities.

    Examples
    --------
    >>> from orfeon.inspection import bias_variance_decomposition
    >>> predictions = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> for definition in ("kohavi_wolpert", "kong_dietterich", "breiman", "domingos"):
    ...     print(bias_variance_decomposition(predictions, [0, 1, 0], definition=definition))
    error 0.4167 = bias 0.2292 + variance 0.1875 + noise 0.0000 (kohavi_wolpert, 4 trainings)
    error 0.4167 = bias 0.3333 + variance 0.0833 + noise 0.0000 (kong_dietterich, 4 trainings)
    error 0.4167 = bias 0.2500 + variance 0.1667 + noise 0.0000 (breiman, 4 trainings)
    error 0.4167 = bias 0.3333 + variance 0.0833 + noise 0.0000 (domingos, 4 trainings)
    """
    check_definition(definition)
    if definition == "squared_error":
        for name, value in (("posterior", posterior), ("classes", classes)):
            if value is not None:
                raise ValueError(f"{name} is for classes, and definition='squared_error' has none.")
        return squared_error_decomposition(
            predictions, y, noise=noise, sample_weight=sample_weight, unbiased=unbiased
        )
    if np.any(np.asarray(noise) != 0):
        raise ValueError(
            f"noise={noise!r} is for definition='squared_error'; for classes give posterior."
        )
    given = {"posterior": posterior, "classes": classes, "sample_weight": sample_weight}
    if definition == "kohavi_wolpert":
        return kohavi_wolpert_decomposition(predictions, y, unbiased=unbiased, **given)
    no_correction(definition, unbiased)
    return _DECOMPOSITIONS[definition](predictions, y, **given)


def check_definition(definition: Any) -> None:
    if definition not in get_args(Definition):
        names = ", ".join(repr(name) for name in get_args(Definition))
        own = " For Friedman's use friedman_decomposition()." * (definition == "friedman")
        raise ValueError(f"definition={definition!r} is not allowed; use one of {names}.{own}")
