"""The model as it is while boosting goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PartialModel:
    """The rounds so far of a fit that goes on, as callbacks get them."""

    n_rounds: int
    _estimator: Any
    _fitted: Callable[[], Mapping[str, Any]]

    def model(self) -> Any:
        """A fitted copy of the estimator with the rounds so far.

        With ``warm_start=True`` it continues to the same model as the fit it was taken from.
        """
        other = copy(self._estimator)
        other.__dict__.update(self._fitted())
        return other


#: Called after each round; boosting stops if it returns True.
RoundCallback = Callable[[PartialModel], Any]
