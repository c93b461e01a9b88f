"""The base of Displays that compare ensembles, and checks that Displays share."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any, ClassVar, Self

from orfeon.inspection.documentation import TEXTS
from orfeon.inspection.reading import named_ensembles
from orfeon.rendering.display import Display


class EnsemblesDisplay(Display):
    """A picture of one or more ensembles, whose numbers are passed to ``__init__`` by name."""

    _texts = TEXTS
    #: Computes the numbers of an ensemble from ``(ensemble, X, y, **options)``.
    _measure: ClassVar[Callable[..., Any]]
    #: The name of a single matrix of votes.
    _votes_name: ClassVar[str] = "members"

    def __init__(self, numbers: Any) -> None:
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw one or more ensembles.

        Parameters
        ----------
        <named ensembles>
        X, y : arrays
            Samples that members vote on, and their classes.
        **options
            Options of the function that computes the numbers; the class names it.
        <name>
        <ax>
        """
        return cls._drawn(named_ensembles(ensemble, name), X, y, ax, options)

    @classmethod
    def from_votes(
        cls, votes: Any, y: Any, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw one or more matrices of votes.

        Parameters
        ----------
        <named votes>
        y : array of shape (n_samples,)
            Classes of the samples.
        **options
            As for :meth:`from_estimator`.
        <name>
        <ax>
        """
        return cls._drawn(named_ensembles(votes, name or cls._votes_name), None, y, ax, options)

    @classmethod
    def _drawn(
        cls, named: dict[str, Any], X: Any, y: Any, ax: Any, options: dict[str, Any]
    ) -> Self:
        return cls({its: cls._measure(one, X, y, **options) for its, one in named.items()}).plot(ax)


def check_choice(name: str, given: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that is not one of a few."""
    if given not in allowed:
        shown = [f'"{one}"' if isinstance(one, str) else str(one) for one in allowed]
        words = f"{', '.join(shown[:-1])} or {shown[-1]}"
        raise ValueError(f"{name}={given!r} is not allowed; use {words}.")


def check_not_empty(name: str, given: Sized) -> None:
    """Refuse to draw nothing."""
    if not len(given):
        raise ValueError(f"{name} is empty; there is nothing to draw.")


def check_positive(name: str, given: int) -> None:
    """Refuse a number below 1."""
    if given < 1:
        raise ValueError(f"{name}={given!r} is not allowed: it must be 1 or more.")
