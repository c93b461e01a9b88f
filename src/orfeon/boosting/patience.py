"""How long a curve of losses may go without falling."""

from __future__ import annotations


class Patience:
    """Watches a curve of losses, and says when it has not fallen for long enough."""

    def __init__(self, n_rounds: int, tol: float) -> None:
        self.n_rounds = n_rounds
        self.tol = tol
        self.losses: list[float] = []
        self.best = 0
        self._least_gain = 0.0

    def begin(self, loss: float) -> None:
        """Say what the curve begins from."""
        self._least_gain = self.tol * loss

    def ends(self, loss: float) -> bool:
        """Add the loss of a round."""
        if not self.losses or loss < self.losses[self.best - 1] - self._least_gain:
            self.best = len(self.losses) + 1
        self.losses.append(loss)
        return len(self.losses) - self.best >= self.n_rounds
