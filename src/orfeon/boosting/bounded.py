"""The bounds of fitted ensembles that were boosted by AdaBoost's two formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.bounds import edge_bound, vote_bound
from orfeon.ensembles.provenance import CHOSEN
from orfeon.utils.types import Floats


class BoundsMixin:
    """What the errors and votes of the members say about the training error."""

    errors_: Floats
    member_weights_: Floats
    _history: list[tuple[range, str]]

    if TYPE_CHECKING:

        def _check_learnt(self) -> None: ...

    def _check_one_run(self) -> None:
        """Refuse settings for which the bounds do not hold."""

    def _check_bounded(self) -> None:
        check_is_fitted(self, "members_")
        if any(key == CHOSEN for _, key in self._history):
            raise AttributeError(
                "the bounds are those of whole runs, and these members were chosen from among "
                "others: their errors are those under weights that others left."
            )
        self._check_one_run()

    @property
    def error_bounds_(self) -> Floats:
        """Bound of the weighted training error after each member: the product of 2 sqrt(e(1-e)).

        For a member without error, whose vote is not infinite here, the factor is exp(-vote).
        """
        self._check_bounded()
        return vote_bound(self.errors_, self.member_weights_)

    @property
    def edge_bounds_(self) -> Floats:
        """The looser bound exp(-2 sum of squared edges), where an edge is 1/2 - e."""
        self._check_bounded()
        self._check_learnt()
        return edge_bound(self.errors_)

    def margin_bound(self, theta: float) -> float:
        """Bound of the weighted share of training samples with a margin of at most ``theta``.

        Parameters
        ----------
        theta : float
            A normalised margin, from -1 to 1.

        Returns
        -------
        float
            The bound; it says nothing where it is above 1.

        Examples
        --------
        >>> from orfeon import AdaBoostClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> model = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
        >>> bool(model.margin_bound(0.0) == model.error_bounds_[-1])
        True
        """
        self._check_bounded()
        return float(vote_bound(self.errors_, self.member_weights_, theta)[-1])
