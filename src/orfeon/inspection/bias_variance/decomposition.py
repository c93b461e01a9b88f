"""Bias and variance of a learner: what its error is made of, by one definition or another.

A learner that is trained again and again on samples of the same problem errs in two ways: its
predictions are off in the mean, and they differ from each other. For squared error there is one
way to tell the two apart. For zero-one loss there are several, and they do not agree, for the
majority of many wrong answers may be right:

==================== ==================================================== ======================
definition           bias is                                              variance may be < 0
==================== ==================================================== ======================
``squared_error``    the squared distance of the mean from the truth      no
``kohavi_wolpert``   the squared distance of shares from probabilities    no
``kong_dietterich``  the error of the class predicted most often          yes
``breiman``          all excess error where that class is the wrong one   no
``domingos``         1 where that class is the wrong one, 0 elsewhere     yes
==================== ==================================================== ======================

The parts of each add up to the mean error. Friedman's account, of an estimated probability, does
not add: see :func:`orfeon.inspection.friedman_decomposition`. The predictions come from
:func:`orfeon.inspection.resample_predictions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from orfeon.inspection.bias_variance.breiman import breiman_decomposition, breiman_parts
from orfeon.inspection.bias_variance.domingos import domingos_decomposition, domingos_parts
from orfeon.inspection.bias_variance.kohavi_wolpert import (
    kohavi_wolpert_decomposition,
    kohavi_wolpert_parts,
)
from orfeon.inspection.bias_variance.kong_dietterich import (
    kong_dietterich_decomposition,
    kong_dietterich_parts,
)
from orfeon.inspection.bias_variance.parts import BiasVariance, Parts, no_correction
from orfeon.inspection.bias_variance.squared_error import squared_error_decomposition

Definition = Literal["squared_error", "kohavi_wolpert", "kong_dietterich", "breiman", "domingos"]

#: The definitions for zero-one loss: from probabilities, shares, trainings and correction to parts.
VOTE_PARTS: dict[str, Callable[..., Parts]] = {
    "kohavi_wolpert": kohavi_wolpert_parts,
    "kong_dietterich": kong_dietterich_parts,
    "breiman": breiman_parts,
    "domingos": domingos_parts,
}
_DECOMPOSITIONS: dict[str, Callable[..., BiasVariance]] = {
    "kong_dietterich": kong_dietterich_decomposition,
    "breiman": breiman_decomposition,
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
        Labels or targets, taken for the truth: their noise is then part of the bias. For
        "squared_error" also the regression function, with its ``noise``.
    definition : str, default="kohavi_wolpert"
        One of "squared_error", for regression, "kohavi_wolpert", "kong_dietterich", "breiman" and
        "domingos".
    posterior : array of shape (n_points, n_classes), optional
        Where it is known: the probability of each class at each point, instead of ``y``.
    noise : float or array of shape (n_points,), default=0.0
        For "squared_error": variance of the noise.
    classes : array of shape (n_classes,), optional
        The labels, in the order of the columns of ``posterior``; by default sorted.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.
    unbiased : bool, default=False
        For "squared_error" and "kohavi_wolpert": whether the estimates of bias and variance are
        corrected for the number of trainings.

    Returns
    -------
    BiasVariance
        At each point and in the mean; the parts add up to the error.

    See Also
    --------
    resample_predictions : Trains a learner again and again.
    bias_variance_intervals : How sure the parts are.
    friedman_decomposition : From estimated probabilities.

    Examples
    --------
    >>> from orfeon.inspection import bias_variance_decomposition
    >>> said = [[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
    >>> for definition in ("kohavi_wolpert", "kong_dietterich", "breiman", "domingos"):
    ...     print(bias_variance_decomposition(said, [0, 1, 0], definition=definition))
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
    """Refuse what is no definition."""
    if definition not in get_args(Definition):
        names = ", ".join(repr(name) for name in get_args(Definition))
        own = " That of Friedman is friedman_decomposition()." * (definition == "friedman")
        raise ValueError(f"definition={definition!r} is not allowed; use one of {names}.{own}")
