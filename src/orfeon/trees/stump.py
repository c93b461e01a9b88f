"""Stumps: trees of one test, the classic weak learner."""

from __future__ import annotations

from typing import Any, ClassVar

from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.growth import Growth
from orfeon.trees.base import (
    CRITERION,
    LIMITS,
    BaseTree,
    Criterion,
    MemberSamples,
    TreeClassifierMixin,
    TreeRegressorMixin,
)
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions


class _Stump(BaseTree):
    """One exact test."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: LIMITS[name] for name in ("categorical_features", "random_state")
    }

    def _takes_sparse(self) -> bool:
        return True

    def _plain_growth(self, data: TrainingSet, n_samples: float) -> Growth:
        return Growth(criterion=self._impurity, max_depth=1)  # type: ignore[arg-type]

    def _grow(self, data: TrainingSet, samples: MemberSamples) -> tuple[Forest, dict[str, Any]]:
        return samples.grow(data, self._plain_growth(data, samples.n_samples)), {}


@documented()
class StumpClassifier(TreeClassifierMixin, _Stump):
    """The best single test, and a class on each side of it.

    Parameters
    ----------
    <criterion>
    <categorical_features>
    <class_factors>
    <ties>

    Attributes
    ----------
    <tree>
    <classes>

    Examples
    --------
    >>> from orfeon import StumpClassifier
    >>> stump = StumpClassifier().fit([[1.0], [2.0], [3.0]], ["low", "low", "high"])
    >>> stump.forest_.threshold[0], stump.predict([[2.4], [2.6]]).tolist()
    (np.float64(2.5), ['low', 'high'])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Stump._parameter_constraints,
        "criterion": CRITERION,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        criterion: Criterion = "gini",
        categorical_features: Any = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # two outputs for any number of classes
        return tags


@documented()
class StumpRegressor(TreeRegressorMixin, _Stump):
    """The best single test, and a mean on each side of it.

    Parameters
    ----------
    <categorical_features>
    <ties>

    Attributes
    ----------
    <tree>

    Examples
    --------
    >>> from orfeon import StumpRegressor
    >>> StumpRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 3.0, 10.0]).predict([[0.0], [9.0]])
    array([ 2., 10.])
    """

    def __init__(self, *, categorical_features: Any = "auto", random_state: Any = None) -> None:
        self.categorical_features = categorical_features
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # two outputs for any target
        return tags
