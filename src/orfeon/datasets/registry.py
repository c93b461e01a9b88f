"""The synthetic problems by name."""

from __future__ import annotations

from typing import Any

from orfeon.datasets._problem import Problem
from orfeon.datasets.friedman import Friedman1, Friedman2, Friedman3
from orfeon.datasets.gaussian import GaussianClouds, RingNorm, ThreeNorm, TwoNorm
from orfeon.datasets.geometric import Circle, Diagonal, NestedSpheres
from orfeon.datasets.waveform import Waveform

_PROBLEMS: dict[str, type[Problem]] = {
    "circle": Circle,
    "diagonal": Diagonal,
    "friedman1": Friedman1,
    "friedman2": Friedman2,
    "friedman3": Friedman3,
    "gaussian_clouds": GaussianClouds,
    "nested_spheres": NestedSpheres,
    "ringnorm": RingNorm,
    "threenorm": ThreeNorm,
    "twonorm": TwoNorm,
    "waveform": Waveform,
}


def list_problems() -> list[str]:
    """Names of the synthetic problems.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> from orfeon.datasets import list_problems
    >>> list_problems()[-2:]
    ['twonorm', 'waveform']
    """
    return sorted(_PROBLEMS)


def problem(name: str, **parameters: Any) -> Problem:
    """Synthetic problem of a given name.

    Parameters
    ----------
    name : str
        One of :func:`list_problems`.
    **parameters
        Parameters of the problem, such as ``priors``.

    Returns
    -------
    Problem
        An object with ``sample``, ``predict`` (the Bayes rule) and ``bayes_error``.

    Examples
    --------
    >>> from orfeon.datasets import problem
    >>> waveform = problem("waveform", priors=(0.5, 0.25, 0.25))
    >>> waveform.priors
    (0.5, 0.25, 0.25)
    """
    if name not in _PROBLEMS:
        raise ValueError(f"name must be one of {', '.join(list_problems())}, got {name!r}")
    return _PROBLEMS[name](**parameters)
