"""How an ensemble asks its members about rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.utils import saved


@saved.attributes(
    kept_=saved.optional(saved.indices),  # these three by prune()
    order_=saved.optional(saved.instance("Order")),
    error_curve_=saved.optional(saved.array("f8", 1, 2)),
)
class QueryMixin:
    """The members, and how an ensemble asks them about rows."""

    members_: Any
    _sequence: np.random.SeedSequence

    if TYPE_CHECKING:

        def _rows(self, X: Any) -> Any: ...
        def _query(self, query: Callable[[Any], Any], rows: Any, axis: int) -> Any: ...


class VotesMixin(QueryMixin):
    """Members that each vote for a class."""

    def votes(self, X: Any) -> npt.NDArray[np.int32]:
        """Class that each member votes for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Indices into ``classes_``.
        """
        rows = self._rows(X)
        return np.asarray(self._query(self.members_.votes, rows, 1))


def slice_rows(X: Any, first: int, last: int) -> Any:
    """Rows that follow each other."""
    return X.iloc[first:last] if hasattr(X, "iloc") else X[first:last]
