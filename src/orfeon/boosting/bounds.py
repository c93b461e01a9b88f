"""What the errors of the members say about the training error of the vote, before it is taken.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.

Schapire, Freund, Bartlett and Lee (1998). Boosting the margin: a new explanation for the
effectiveness of voting methods. Annals of Statistics 26(5), 1651-1686.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.ensembles.ensemble import CHOSEN
from orfeon.utils.types import Floats


def _check(errors: npt.ArrayLike) -> Floats:
    values = np.asarray(errors, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"errors={values} must be a list of numbers from 0 to 1.")
    return values


def _check_margin(theta: float) -> None:
    if not -1.0 <= theta <= 1.0:
        raise ValueError(f"theta={theta} is not a margin; margins are from -1 to 1.")


def error_bound(errors: npt.ArrayLike) -> Floats:
    """Bound on the training error of AdaBoost: the product of Z = 2 sqrt(e (1 - e)).

    Parameters
    ----------
    errors : array of shape (n_rounds,)
        Weighted error of each member in its round.

    Returns
    -------
    ndarray of shape (n_rounds,)
        The bound after each round.

    Examples
    --------
    >>> from orfeon.boosting import error_bound
    >>> error_bound([0.2, 0.5, 0.1])
    array([0.8 , 0.8 , 0.48])
    """
    e = _check(errors)
    return np.asarray(np.cumprod(2.0 * np.sqrt(e * (1.0 - e))), dtype=np.float64)


def edge_bound(errors: npt.ArrayLike) -> Floats:
    """The looser bound exp(-2 sum of squared edges); the edge of a member is 1/2 - e.

    Parameters
    ----------
    errors : array of shape (n_rounds,)
        Weighted error of each member in its round.

    Returns
    -------
    ndarray of shape (n_rounds,)
        The bound after each round; never below :func:`error_bound`.

    Examples
    --------
    >>> from orfeon.boosting import edge_bound
    >>> edge_bound([0.2, 0.5]).round(4)
    array([0.8353, 0.8353])
    """
    return np.asarray(np.exp(-2.0 * np.cumsum((0.5 - _check(errors)) ** 2)))


def margin_bound(errors: npt.ArrayLike, theta: float) -> float:
    """Bound on the share of training samples whose margin is at most ``theta``.

    Parameters
    ----------
    errors : array of shape (n_rounds,)
        Weighted error of each member in its round.
    theta : float
        A margin, normalised by the sum of the votes: from -1 to 1.

    Returns
    -------
    float
        2**T times the product of sqrt(e**(1 - theta) (1 - e)**(1 + theta)).

    Examples
    --------
    >>> from orfeon.boosting import margin_bound
    >>> round(margin_bound([0.2, 0.1], 0.0), 4), round(margin_bound([0.2, 0.1], 0.1), 4)
    (0.48, 0.5742)
    """
    _check_margin(theta)
    e = _check(errors)
    return float(np.prod(2.0 * np.sqrt(e ** (1.0 - theta) * (1.0 - e) ** (1.0 + theta))))


def vote_bound(errors: npt.ArrayLike, votes: npt.ArrayLike, theta: float = 0.0) -> Floats:
    """The same bounds for any votes: the product of exp(theta a) ((1 - e) exp(-a) + e exp(a)).

    Parameters
    ----------
    errors : array of shape (n_rounds,)
        Weighted error of each member in its round.
    votes : array of shape (n_rounds,)
        The votes a that members had, and that the weights were updated with.
    theta : float, default=0.0
        A margin, normalised by the sum of the votes: from -1 to 1.

    Returns
    -------
    ndarray of shape (n_rounds,)
        Bound on the share of training samples whose margin is at most ``theta``, after each round;
        at 0 it bounds the training error. With the votes of AdaBoost these are
        :func:`error_bound` and :func:`margin_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting import error_bound, vote_bound
    >>> errors = np.array([0.2, 0.1])
    >>> vote_bound(errors, 0.5 * np.log((1 - errors) / errors)).round(4), error_bound(errors)
    (array([0.8 , 0.48]), array([0.8 , 0.48]))
    """
    e, a = _check(errors), np.asarray(votes, dtype=np.float64)
    if e.shape != a.shape:
        raise ValueError(
            f"errors has shape {e.shape} and votes {a.shape}; one vote for each error."
        )
    _check_margin(theta)
    return np.asarray(np.cumprod(np.exp(theta * a) * ((1.0 - e) * np.exp(-a) + e * np.exp(a))))


def pseudo_loss_bound(pseudo_losses: npt.ArrayLike, n_classes: int) -> Floats:
    """Bound on the training error of AdaBoost.M2: (K - 1) times the product of sqrt(1 - 4 edge²).

    Parameters
    ----------
    pseudo_losses : array of shape (n_rounds,)
        Pseudo-loss of each member in its round.
    n_classes : int
        Number of classes K.

    Returns
    -------
    ndarray of shape (n_rounds,)
        The bound after each round.

    Examples
    --------
    >>> from orfeon.boosting import pseudo_loss_bound
    >>> pseudo_loss_bound([0.2, 0.1], 3)
    array([1.6 , 0.96])
    """
    if n_classes < 2:
        raise ValueError(f"n_classes={n_classes} leaves nothing to confuse; at least 2 are needed.")
    return np.asarray((n_classes - 1) * error_bound(pseudo_losses))


class BoundsMixin:
    """What the errors and votes of the members say about the training error."""

    errors_: Floats
    member_weights_: Floats
    _history: list[tuple[range, str]]

    if TYPE_CHECKING:

        def _check_learnt(self) -> None: ...

    def _check_one_run(self) -> None:
        """Refuse settings for which the bounds do not hold."""

    def _check_steps(self) -> None:
        """Refuse votes for which the bound by the edges does not hold."""

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
        """Bound on the weighted training error after each member: the product of 2 sqrt(e(1-e)).

        For a member without error, whose vote is not infinite here, the factor is exp(-vote).
        """
        self._check_bounded()
        return vote_bound(self.errors_, self.member_weights_)

    @property
    def edge_bounds_(self) -> Floats:
        """The looser bound exp(-2 sum of squared edges), where an edge is 1/2 - e."""
        self._check_bounded()
        self._check_steps()
        self._check_learnt()
        return edge_bound(self.errors_)

    def margin_bound(self, theta: float) -> float:
        """Bound on the weighted share of training samples with a margin of at most ``theta``.

        Parameters
        ----------
        theta : float
            A normalised margin, from -1 to 1.

        Returns
        -------
        float
            The bound; it is vacuous above 1.

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
