"""How long a curve of losses may go without falling."""

from __future__ import annotations


class Patience:
    """Watches a curve of losses, and says when it has not fallen for long enough.

    Parameters
    ----------
    n_rounds : int
        How many rounds in a row may bring nothing.
    tol : float
        A loss must be lower than the least so far by more than this, as a share of the loss that
        the curve begins from.

    Examples
    --------
    >>> from orfeon.boosting.patience import Patience
    >>> patience = Patience(2, 0.1)
    >>> patience.begin(4.0)
    >>> [patience.ends(loss) for loss in (3.0, 1.0, 0.7, 0.61)], patience.best
    ([False, False, False, True], 2)
    """

    def __init__(self, n_rounds: int, tol: float) -> None:
        self.n_rounds = n_rounds
        self.tol = tol
        self.losses: list[float] = []
        self.best = 0
        self._least_gain = 0.0

    def begin(self, loss: float) -> None:
        """Say what the curve begins from.

        Parameters
        ----------
        loss : float
            The loss before the first round.
        """
        self._least_gain = self.tol * loss

    def ends(self, loss: float) -> bool:
        """Add the loss of a round.

        Parameters
        ----------
        loss : float
            The loss.

        Returns
        -------
        bool
            Whether there were too many rounds since the best one.
        """
        if not self.losses or loss < self.losses[self.best - 1] - self._least_gain:
            self.best = len(self.losses) + 1
        self.losses.append(loss)
        return len(self.losses) - self.best >= self.n_rounds
