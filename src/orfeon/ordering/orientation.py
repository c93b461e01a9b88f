"""Orientation ordering: members by the angle of their correctness with a reference direction.

The reference is the projection of the diagonal, where all samples are right, on the plane normal
to the vector of the whole ensemble: the direction that the ensemble lacks most. It is not
greedy: one pass and a sort.

References
----------
Martínez-Muñoz and Suárez (2006). Pruning in ordered bagging ensembles. Proceedings of the 23rd
International Conference on Machine Learning, 609-616.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from orfeon.members.votes import Selection
from orfeon.ordering.gram import CorrectnessGram
from orfeon.ordering.rule import Arrangement, Rule
from orfeon.utils.types import Floats, Integers

#: How the warning begins that the reference is unstable.
NEAR_DIAGONAL = "the ensemble is almost equally right on all samples"
#: Below this angle between the ensemble and the diagonal, in degrees, the reference is unstable.
NEAR = 15.0


@dataclass(frozen=True)
class Orientation(Rule):
    """Members by increasing angle with the direction that the ensemble lacks.

    Its own size rule keeps those whose angle is below the mean of the angles under 90 degrees.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]]
    >>> ordered = order_votes(votes, [0, 0, 0, 0, 0], rule="orientation")
    >>> ordered.order, ordered.own_size
    (array([2, 3, 0, 1]), 1)
    """

    name: ClassVar[str] = "orientation"

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the angle with the reference, in radians."""
        gram = CorrectnessGram(selection.n_members, with_products=False)
        gram.add(selection)
        return self.arrange_sums(gram)

    def arrange_sums(self, gram: CorrectnessGram) -> Arrangement:
        """Order the members by sums over all samples."""
        along, sizes, length, warning = _projections(gram)
        order = np.array(sorted(range(len(gram)), key=_by_angle(along, sizes)), dtype=np.int64)
        angles = _angles(along, sizes, length)[order]
        return Arrangement(order, angles, own_size=_own_size(angles), warning=warning)

    def first(self, selection: Selection, n_kept: int) -> Integers:
        """The first members of the order, without sorting the others (quick-select).

        Parameters
        ----------
        selection : Selection
            The votes.
        n_kept : int
            How many members to return.

        Returns
        -------
        ndarray of shape (n_kept,)
            The members, best first.
        """
        if not 1 <= n_kept <= selection.n_members:
            raise ValueError(
                f"n_kept={n_kept!r} is not allowed; it must be from 1 to {selection.n_members}."
            )
        gram = CorrectnessGram(selection.n_members, with_products=False)
        gram.add(selection)
        along, sizes, *_ = _projections(gram)
        cosine = np.array(
            [a / math.sqrt(n) if n else 0.0 for a, n in zip(along, sizes, strict=True)]
        )
        least = np.partition(cosine, len(cosine) - n_kept)[len(cosine) - n_kept]
        # Whole numbers decide between those that rounding could exchange.
        close = np.flatnonzero(cosine >= least - 1e-9 * np.abs(cosine).max())
        return np.array(sorted(close.tolist(), key=_by_angle(along, sizes))[:n_kept], np.int64)


def _projections(gram: CorrectnessGram) -> tuple[list[int], list[int], int, str | None]:
    """Each member's product with the reference and size, the reference's, and a warning."""
    totals, with_all, sizes = (
        [int(number) for number in part] for part in (gram.totals, gram.with_all, gram.sizes)
    )
    diagonal, ensemble = sum(totals), sum(with_all)
    warning = _warning(diagonal, ensemble, gram.total_weight)
    if ensemble <= 0:  # the members cancel out: the ensemble lacks every direction
        return totals, sizes, gram.total_weight, warning
    # With C the sum of all c_t: the reference is o - (o.C / |C|^2) C, here times |C|^2.
    along = [ensemble * a - diagonal * b for a, b in zip(totals, with_all, strict=True)]
    length = ensemble * (ensemble * gram.total_weight - diagonal**2)
    return along, sizes, length, warning


def reference_direction(mean_correctness: Any) -> tuple[float, Floats]:
    """The direction that an ensemble lacks.

    Parameters
    ----------
    mean_correctness : array of shape (n_samples,)
        c_ens: on each sample the share of the members that are right minus that of those wrong.

    Returns
    -------
    float
        Lambda, with which c_ref = o + lambda c_ens is normal to c_ens.
    ndarray of shape (n_samples,)
        c_ref.

    Examples
    --------
    >>> from orfeon.ordering import reference_direction
    >>> factor, reference = reference_direction([1, 0.5, -0.5])
    >>> round(factor, 4), reference.round(4)
    (-0.6667, array([0.3333, 0.6667, 1.3333]))
    """
    ensemble = np.asarray(mean_correctness, dtype=np.float64)
    squared = float(ensemble @ ensemble)
    factor = -float(ensemble.sum()) / squared if squared > 0 else 0.0
    return factor, 1.0 + factor * ensemble


def _by_angle(along: list[int], sizes: list[int]) -> Any:
    """Sort key: the angle, exactly, then the index."""
    if len(set(sizes)) == 1:
        return lambda t: (-along[t], t)
    cosines = [
        Fraction(-a * abs(a), size) if size else Fraction(0)
        for a, size in zip(along, sizes, strict=True)
    ]
    return lambda t: (cosines[t], t)


def _angles(along: list[int], sizes: list[int], length: int) -> Floats:
    """Angles with the reference, a right one where the reference or the member is null."""
    angles = np.full(len(along), math.pi / 2)
    for t, (a, size) in enumerate(zip(along, sizes, strict=True)):
        whole = length * size
        if whole > 0:
            # Squares of sine and cosine in whole numbers: both are exact near 0 and pi.
            cosine = math.copysign(math.sqrt(a * a / whole), a)
            angles[t] = math.atan2(math.sqrt((whole - a * a) / whole), cosine)
    return angles


def _own_size(angles: Floats) -> int:
    """How many of the sorted angles lie below the mean of those under a right angle."""
    acute = angles[angles < math.pi / 2 - 1e-12]
    return max(1, int((acute < acute.mean() - 1e-12).sum())) if len(acute) else 1


def _warning(diagonal: int, ensemble: int, total_weight: int) -> str | None:
    """The warning for an ensemble so near to the diagonal that the rule is unstable."""
    if ensemble <= 0:
        return None
    cosine = math.sqrt(Fraction(diagonal**2, ensemble * total_weight))
    angle = math.degrees(math.acos(min(1.0, cosine)))
    if angle >= NEAR:
        return None
    return (
        f'{NEAR_DIAGONAL} ({angle:.1f} degrees from the diagonal), so rule="orientation" is '
        "unstable, as it is with unpruned trees and boosting. Another rule, pruned trees, or other "
        "selection samples (out-of-bag) will work better."
    )
