"""What methods that leave examples out can say of themselves: out-of-bag error and importances."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import r2_score
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions

from orfeon.ensembles.base import IndependentEnsemble
from orfeon.ensembles.out_of_bag import (
    OutOfBag,
    left_out,
    out_of_bag_classes,
    out_of_bag_predictions,
)
from orfeon.ensembles.training import Recipe
from orfeon.forest import Forest
from orfeon.permutation import PermutationImportances, oob_permutation_importances

Importance = Literal["impurity", "permutation"]

LEAVING_OUT: dict[str, list[Any]] = {
    "oob_score": ["boolean"],
    "importance": [StrOptions({"impurity", "permutation"})],
}


class LeavingOut(IndependentEnsemble):
    """An ensemble whose members do not see all the examples."""

    oob_score: bool
    importance: Importance
    oob_score_: float
    oob_error_: float
    oob_error_curve_: npt.NDArray[np.float64]
    oob_votes_: npt.NDArray[np.int32]
    oob_decision_function_: npt.NDArray[np.float64]
    oob_prediction_: npt.NDArray[np.float64]
    permutation_importances_: PermutationImportances

    def _leaves_out(self) -> bool:
        return self.oob_score or self.importance == "permutation"

    def _finish(self, data: Any, recipe: Recipe, seen: npt.NDArray[np.bool_] | None) -> None:
        for name in [n for n in self.__dict__ if n.startswith("oob_") and n.endswith("_")]:
            delattr(self, name)
        self.__dict__.pop("permutation_importances_", None)
        if seen is None:
            return
        examples = recipe.examples
        out, one = left_out(seen, examples)
        X = data.X[one] if self._has_trees else _safe_indexing(data, one)
        y = examples.labels[one]
        weights = np.bincount(
            np.unique(examples.rows, return_inverse=True)[1], weights=examples.weights
        )
        if self.oob_score:
            self._keep_estimates(X, y, weights, out, examples.rows[one], examples.n_given)
        if self.importance == "permutation":
            if not isinstance(self.members_, Forest):
                raise ValueError(
                    'importance="permutation" is measured on trees; with other base learners use '
                    "sklearn.inspection.permutation_importance on held-out data."
                )
            self.permutation_importances_ = oob_permutation_importances(
                self.members_, X, y, out, weights=weights, random_state=self._importance_state()
            )

    def _importance_state(self) -> np.random.Generator:
        key = (*self._sequence.spawn_key, 2**32 - 1)  # a key that no member has
        sequence = np.random.SeedSequence(self._sequence.entropy, spawn_key=key)
        return np.random.default_rng(sequence)

    def _keep_estimates(
        self, X: Any, y: Any, weights: Any, out: Any, rows: Any, n_given: int
    ) -> None:
        never = int((~out.any(axis=0)).sum())
        if never:
            warnings.warn(
                f"{never} of {out.shape[1]} examples were seen by every member: they have no "
                "out-of-bag estimate (NaN). More members, or smaller samples, would give them one.",
                UserWarning,
                stacklevel=5,
            )
        if is_classifier(self):
            soft = getattr(self, "voting", "hard") == "soft"
            estimate = out_of_bag_classes(self.members_, X, y, weights, out, soft)
            self._keep_classes(estimate, rows, n_given)
            self.oob_score_ = 1.0 - estimate.error
        else:
            estimate = out_of_bag_predictions(self.members_, X, y, weights, out)
            self.oob_prediction_ = np.full(n_given, np.nan)
            self.oob_prediction_[rows] = estimate.outputs[:, 0]
            known = ~np.isnan(estimate.outputs[:, 0])
            self.oob_score_ = np.nan
            if known.sum() > 1:
                self.oob_score_ = float(
                    r2_score(y[known], estimate.outputs[known, 0], sample_weight=weights[known])
                )
        self.oob_error_ = estimate.error
        self.oob_error_curve_ = estimate.error_curve

    def _keep_classes(self, estimate: OutOfBag, rows: Any, n_given: int) -> None:
        assert estimate.votes is not None
        self.oob_votes_ = np.full((len(self.members_), n_given), -1, np.int32)
        self.oob_votes_[:, rows] = estimate.votes
        self.oob_decision_function_ = np.full((n_given, estimate.outputs.shape[1]), np.nan)
        self.oob_decision_function_[rows] = estimate.outputs
