"""Every rule that puts members in order, as its sentence says it: loops and exact fractions.

A case is what T members say of N samples: ``said[t][i]`` is the class code (or the predicted
value) that member t gives sample i, ``None`` where it says nothing. Weights of samples are
fractions. Candidates that tie: the lowest index. Classes that tie in a vote: the lowest code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

HALF, ONE = Fraction(1, 2), Fraction(1)
#: Angles closer than this to their mean are the mean: only rounding sets them apart.
TINY_ANGLE = 1e-12


@dataclass(frozen=True)
class Case:
    """What members say of samples, and what is true; no classes in regression."""

    answers: list[list[Any]]
    y: list[Any]
    weights: list[Fraction]
    n_classes: int
    member_weights: list[Fraction] | None = None

    @property
    def members(self) -> range:
        """The indices of the members."""
        return range(len(self.answers))

    @property
    def samples(self) -> range:
        """The indices of the samples."""
        return range(len(self.y))

    @property
    def total(self) -> Fraction:
        """The weight of all samples."""
        return sum(self.weights, Fraction(0))


@dataclass
class Outcome:
    """An order, the rule's value at each choice, and what else the rule says."""

    order: list[int]
    criterion: list[Any]
    subsets: list[list[int]] | None = None
    own_size: int | None = None


# -- what a few members say together ---------------------------------------------------------------


def vote(case: Case, members: Iterable[int], i: int) -> int | None:
    """The class that most (weight) of the members give to a sample; None if none of them votes.

    Examples
    --------
    >>> case = Case([[2], [1], [None]], [1], [Fraction(1)], 3)
    >>> vote(case, [0, 1, 2], 0), vote(case, [2], 0)
    (1, None)
    """
    counts: dict[int, Fraction] = {}
    for t in members:
        label = case.answers[t][i]
        if label is not None:
            weight = Fraction(1) if case.member_weights is None else case.member_weights[t]
            if weight:  # a vote of no weight is no vote
                counts[label] = counts.get(label, Fraction(0)) + weight
    return min(counts, key=lambda label: (-counts[label], label)) if counts else None


def mean(case: Case, members: Iterable[int], i: int) -> Fraction | None:
    """The mean of the members' predictions for a sample; None if none of them has one."""
    values = [(case.answers[t][i], t) for t in members if case.answers[t][i] is not None]
    if not values:
        return None
    shares = [1 if case.member_weights is None else case.member_weights[t] for _, t in values]
    return sum((s * v for s, (v, _) in zip(shares, values, strict=True)), Fraction(0)) / sum(shares)


def error(case: Case, members: Sequence[int]) -> Fraction:
    """The share of the weight on which the vote is wrong (or undecided); mean squared error."""
    lost = Fraction(0)
    for i in case.samples:
        if case.n_classes:
            lost += case.weights[i] if vote(case, members, i) != case.y[i] else 0
        else:
            lost += case.weights[i] * squared_error(case, members, i)
    return lost / case.total


def squared_error(case: Case, members: Sequence[int], i: int) -> Fraction:
    """The squared error of the mean prediction for one sample; the mean target without any."""
    predicted = mean(case, members, i)
    if predicted is None:
        predicted = dot(case, [1] * len(case.y), case.y) / case.total
    away: Fraction = predicted - case.y[i]
    return away * away


def those_that_count(case: Case) -> Case:
    """The samples with a weight and at least one vote."""
    kept = [
        i for i in case.samples
        if case.weights[i] and any(case.answers[t][i] is not None for t in case.members)
    ]  # fmt: skip
    return Case(
        [[row[i] for i in kept] for row in case.answers],
        [case.y[i] for i in kept],
        [case.weights[i] for i in kept],
        case.n_classes,
        case.member_weights,
    )


def curve(case: Case, subsets: Iterable[Sequence[int]]) -> list[Fraction]:
    """The error of each of the subsets."""
    return [error(case, subset) for subset in subsets]


def prefixes(order: Sequence[int]) -> list[Sequence[int]]:
    """The first 1, 2, ... of an order."""
    return [order[: n + 1] for n in range(len(order))]


def correctness(case: Case, t: int) -> list[int]:
    """+1 where a member is right, -1 where it is wrong, 0 where it does not vote."""
    answers = zip(case.answers[t], case.y, strict=True)
    return [0 if label is None else 1 if label == true else -1 for label, true in answers]


def dot(case: Case, a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    """The inner product of two vectors over the samples, each counted by its weight."""
    terms = (w * p * q for w, p, q in zip(case.weights, a, b, strict=True))
    return sum(terms, Fraction(0))


def greedy(case: Case, value: Callable[[list[int], int], Any]) -> Outcome:
    """At each turn the unused member of least value, given those chosen; lowest index on ties."""
    chosen: list[int] = []
    criterion = []
    while len(chosen) < len(case.members):
        unused = [k for k in case.members if k not in chosen]
        least, k = min((value(chosen, k), k) for k in unused)
        chosen.append(k)
        criterion.append(least)
    return Outcome(chosen, criterion)


# -- the rules -------------------------------------------------------------------------------------


def reduce_error(case: Case) -> Outcome:
    """Margineantu and Dietterich without backfitting: the member that leaves the least error."""
    return greedy(case, lambda chosen, k: error(case, [*chosen, k]))


def utility(
    case: Case, costs: Sequence[int] | None = None, trade_off: Fraction = Fraction(1, 20)
) -> Outcome:
    """Demir and Alpaydin: the member that leaves the most accuracy minus cost."""
    costs = [1 for _ in case.members] if costs is None else costs
    scale = Fraction(1)
    if not case.n_classes:
        scale = error(case, []) or Fraction(1)  # the variance: no member predicts

    def loss(chosen: list[int], k: int) -> Fraction:
        cost = sum(costs[t] for t in (*chosen, k))
        return error(case, [*chosen, k]) / scale + trade_off * cost / sum(costs)

    found = greedy(case, loss)
    return Outcome(found.order, [1 - value for value in found.criterion])


def reduce_error_backfitting(case: Case, max_passes: int = 100) -> Outcome:
    """After each member, those chosen are tried in turn against all that are not."""
    chosen: list[int] = []
    subsets, criterion = [], []
    while len(chosen) < len(case.members):
        unused = [k for k in case.members if k not in chosen]
        _, k = min((error(case, [*chosen, k]), k) for k in unused)
        chosen.append(k)
        for _ in range(max_passes):
            if not backfit(case, chosen):
                break
        subsets.append(list(chosen))
        criterion.append(error(case, chosen))
    order = list(dict.fromkeys(t for subset in subsets for t in subset))
    return Outcome(order, criterion, subsets)


def backfit(case: Case, chosen: list[int]) -> bool:
    """One pass over the members chosen, in place; whether any was replaced."""
    changed = False
    for place in range(len(chosen)):
        rest = chosen[:place], chosen[place + 1 :]
        unused = [k for k in case.members if k not in chosen]
        if not unused:
            break
        least, k = min((error(case, [*rest[0], k, *rest[1]]), k) for k in unused)
        if least < error(case, chosen):
            chosen[place] = k
            changed = True
    return changed


def complementarity(case: Case) -> Outcome:
    """The member that is right on most of what those chosen are wrong on.

    In regression, the member that lowers the squared error on most samples. The first is the most
    accurate member, in regression that of least squared error. The criterion is the share of the
    weight that is put right or predicted better (than by the mean target, for the first).
    """

    def repaired(chosen: list[int], k: int) -> Fraction:
        gained = Fraction(0)
        for i in case.samples:
            if case.n_classes:
                better = case.answers[k][i] == case.y[i] and vote(case, chosen, i) != case.y[i]
            else:
                after = squared_error(case, [*chosen, k], i)
                better = after < squared_error(case, chosen, i)
            gained += case.weights[i] if better else 0
        return gained / case.total

    def value(chosen: list[int], k: int) -> Fraction:
        if chosen or case.n_classes:
            return -repaired(chosen, k)
        return error(case, [k])

    found = greedy(case, value)
    found.criterion = [repaired(found.order[:u], k) for u, k in enumerate(found.order)]
    return found


def margin_distance(case: Case, p: float = 0.075) -> Outcome:
    """The member that brings the mean of the c_t, over all T, closest to the point (p, ..., p).

    Where members do not vote on all samples, p is of the share of the votes that are given.
    """
    size = len(case.members)
    c = [correctness(case, t) for t in case.members]
    given = sum((dot(case, c[t], c[t]) for t in case.members), Fraction(0))
    point = Fraction(repr(p)) * given / (size * case.total)

    def squared_distance(chosen: list[int], k: int) -> Fraction:
        away = [point - Fraction(sum(c[t][i] for t in [*chosen, k]), size) for i in case.samples]
        return dot(case, away, away)

    found = greedy(case, squared_distance)
    found.criterion = [root(value) for value in found.criterion]
    return found


def reference_vector(case: Case) -> tuple[Fraction, list[Fraction]]:
    """Lambda and c_ref = o + lambda c_ens, perpendicular to c_ens; o is (1, ..., 1)."""
    size = len(case.members)
    c = [correctness(case, t) for t in case.members]
    c_ens = [Fraction(sum(c[t][i] for t in case.members), size) for i in case.samples]
    ones = [1] * len(case.y)
    length = dot(case, c_ens, c_ens)
    scale = -dot(case, ones, c_ens) / length if length else Fraction(0)
    return scale, [1 + scale * value for value in c_ens]


def orientation(case: Case) -> Outcome:
    """By the angle to c_ref; the own size is of those below the mean of the angles below pi / 2.

    A member without votes, or a c_ref of no length, makes a right angle.
    """
    _, c_ref = reference_vector(case)
    length = dot(case, c_ref, c_ref)
    cosines = []
    for t in case.members:
        c = correctness(case, t)
        along, square = dot(case, c, c_ref), dot(case, c, c) * length
        sign = (along > 0) - (along < 0)
        cosines.append(sign * along**2 / square if square else Fraction(0))
    order = sorted(case.members, key=lambda t: (-cosines[t], t))
    angles = [angle(cosines[t]) for t in order]
    sharp = [angles[u] for u, t in enumerate(order) if cosines[t] > 0]
    below = 0
    if sharp:
        middle = math.fsum(sharp) / len(sharp)
        below = sum(value < middle - TINY_ANGLE for value in sharp)
    return Outcome(order, angles, own_size=below)


def angle(signed_square: Fraction) -> float:
    """The angle whose cosine, squared and with its sign, is given."""
    across, along = root(1 - abs(signed_square)), root(abs(signed_square))
    return math.atan2(across, along if signed_square > 0 else -along)


def root(value: Fraction) -> float:
    """The square root of a fraction of any size."""
    return math.sqrt(value)


def boosting_based(case: Case) -> Outcome:
    """The unused member of least weighted error, then AdaBoost's new weights.

    Where the least error is a half or more, the weights go back to the first ones and the choice
    starts again before a member is taken; only if these are the first weights it is taken.

    The error of a member is of the weight that it votes on, a half if it never votes; samples it
    says nothing about keep their weights. The own size is the number taken before the first error
    of a half or more.
    """
    start = [w / case.total for w in case.weights]
    weights = list(start)
    found = Outcome([], [], own_size=None)
    while len(found.order) < len(case.members):
        unused = [k for k in case.members if k not in found.order]
        least, k = min((weighted_error(case, weights, k, silent=HALF), k) for k in unused)
        if least >= HALF:
            if found.own_size is None:
                found.own_size = len(found.order)
            if weights != start:
                weights = list(start)
                continue
        elif least > 0:
            weights = reweighted(case, weights, k, least)
        found.order.append(k)
        found.criterion.append(least)
    return found


def weighted_error(
    case: Case, weights: list[Fraction], t: int, *, silent: Fraction = ONE
) -> Fraction:
    """The share of wrong answers in the weight that a member votes on, if that is anything."""
    c = correctness(case, t)
    voted = sum((w for w, right in zip(weights, c, strict=True) if right != 0), Fraction(0))
    wrong = sum((w for w, right in zip(weights, c, strict=True) if right < 0), Fraction(0))
    return wrong / voted if voted else silent


def reweighted(case: Case, weights: list[Fraction], t: int, e: Fraction) -> list[Fraction]:
    """Wrong samples divided by 2e, right ones by 2(1 - e)."""
    factor = {1: 2 * (1 - e), -1: 2 * e, 0: Fraction(1)}
    return [w / factor[right] for w, right in zip(weights, correctness(case, t), strict=True)]


def individual_error(case: Case) -> Outcome:
    """By the error of each member alone, on what it votes on; mean squared error in regression."""
    errors: list[Fraction | float] = []
    for t in case.members:
        if case.n_classes:
            errors.append(weighted_error(case, case.weights, t))
        else:
            known = those_that_count(Case([case.answers[t]], case.y, case.weights, 0))
            errors.append(error(known, [0]) if known.total else math.inf)
    order = sorted(case.members, key=lambda t: (errors[t], t))
    return Outcome(order, [errors[t] for t in order])


def kappa(case: Case) -> Outcome:
    """Pairs of least agreement first, both members of each if they are not there yet."""
    pairs = sorted((agreement(case, i, j), i, j) for i, j in combinations(case.members, 2))
    found = Outcome([], [])
    for value, i, j in pairs:
        for t in (i, j):
            if t not in found.order:
                found.order.append(t)
                found.criterion.append(value)
    if len(case.members) == 1:
        found = Outcome([0], [Fraction(1)])
    return found


def agreement(case: Case, a: int, b: int) -> Fraction:
    """The kappa statistic of two members, on what both vote on; one where chance would do as well.

    Examples
    --------
    >>> ones = [Fraction(1)] * 4
    >>> agreement(Case([[0, 0, 1, 1], [0, 1, 1, 1]], [0] * 4, ones, 2), 0, 1)
    Fraction(1, 2)
    """
    both = [
        (case.answers[a][i], case.answers[b][i], case.weights[i])
        for i in case.samples
        if case.answers[a][i] is not None and case.answers[b][i] is not None
    ]
    weight = sum((w for _, _, w in both), Fraction(0))
    if not weight:
        return Fraction(1)
    agreed = sum((w for p, q, w in both if p == q), Fraction(0)) / weight
    chance = Fraction(0)
    for k in range(case.n_classes):
        says_a = sum((w for p, _, w in both if p == k), Fraction(0)) / weight
        says_b = sum((w for _, q, w in both if q == k), Fraction(0)) / weight
        chance += says_a * says_b
    return (agreed - chance) / (1 - chance) if chance != 1 else Fraction(1)


def early_stopping(case: Case) -> Outcome:
    """As they were trained."""
    return Outcome(list(case.members), [t + 1 for t in case.members])


def kl_divergence(case: Case) -> Outcome:
    """From the first member on, the one that adds most to the sum of the pairs' divergences."""
    start = [w / case.total for w in case.weights]
    weights, trained_on = list(start), []
    for t in case.members:
        trained_on.append(weights)
        e = weighted_error(case, weights, t, silent=Fraction(0))
        weights = reweighted(case, weights, t, e) if 0 < e < HALF else list(start)

    def divergence(a: int, b: int) -> float:
        p, q = trained_on[min(a, b)], trained_on[max(a, b)]
        return math.fsum(float(x) * math.log(x / z) for x, z in zip(p, q, strict=True) if x)

    order, criterion = [0], [0.0]
    while len(order) < len(case.members):
        gains = {
            k: math.fsum(divergence(k, s) for s in order) for k in case.members if k not in order
        }
        k = next(k for k in gains if gains[k] >= max(gains.values()) - 1e-10)
        order.append(k)
        criterion.append(gains[k])
    return Outcome(order, criterion)


def kappa_hull(case: Case) -> Outcome:
    """Members of the pairs at the lower left corners of the hull, from corner to corner.

    A point is a corner if no other is as far left and as low, and if it lies below the line between
    any point further left and any further right.
    """
    errors = [weighted_error(case, case.weights, t) for t in case.members]
    if len(errors) == 1:
        return Outcome([0], [0], own_size=1)
    pairs = {
        (i, j): (agreement(case, i, j), (errors[i] + errors[j]) / 2)
        for i, j in combinations(case.members, 2)
    }
    points = set(pairs.values())

    def is_corner(p: tuple[Fraction, Fraction]) -> bool:
        if any(q[0] <= p[0] and q[1] <= p[1] for q in points - {p}):
            return False
        left, right = [q for q in points if q[0] < p[0]], [q for q in points if q[0] > p[0]]
        return all(
            p[1] < q[1] + (r[1] - q[1]) * (p[0] - q[0]) / (r[0] - q[0]) for q in left for r in right
        )

    corners = sorted(filter(is_corner, points))
    order: list[int] = []
    places: list[int] = []
    for place, corner in enumerate(corners):
        here = {t for pair, point in pairs.items() if point == corner for t in pair}
        for t in sorted(here - set(order)):
            order.append(t)
            places.append(place)
    rest = sorted(set(case.members) - set(order), key=lambda t: (errors[t], t))
    return Outcome(order + rest, places + [len(corners)] * len(rest), own_size=len(order))


# -- cases at random, full of ties -----------------------------------------------------------------


def random_case(
    rng: np.random.Generator,
    *,
    weighted: bool = False,
    abstaining: float = 0.0,
    regression: bool = False,
    members: int = 9,
    samples: int = 14,
) -> Case:
    """A small case: members of any accuracy, some twice; samples, some twice; few classes."""
    size, n = int(rng.integers(1, members + 1)), int(rng.integers(1, samples + 1))
    k = 0 if regression else int(rng.integers(2, 7))
    reach = 5 if regression else k
    y = rng.integers(0, reach, n)
    answers = rng.integers(0, reach, (size, n))
    right = rng.random((size, n)) < rng.uniform(0.1, 0.95, (size, 1))
    answers[right] = np.broadcast_to(y, answers.shape)[right]
    if rng.random() < 0.5:
        answers = answers[rng.integers(0, size, size)]
    if rng.random() < 0.5:
        drawn = rng.integers(0, n, n)
        answers, y = answers[:, drawn], y[drawn]
    silent = rng.random((size, n)) < abstaining
    weights = rng.integers(0, 4, n) if weighted else np.ones(n, np.int64)
    weights[0] += not weights.any()
    silent[0, weights.argmax()] = False  # one vote at least counts
    return Case(
        [
            [None if silent[t, i] else exact(answers[t, i], regression) for i in range(n)]
            for t in range(size)
        ],
        [exact(value, regression) for value in y],
        [Fraction(int(w)) for w in weights],
        k,
    )


def exact(value: Any, regression: bool) -> Any:
    """A class code as an int, a prediction as a fraction."""
    return Fraction(int(value)) if regression else int(value)


def arrays(case: Case) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64]]:
    """The votes (-1 or NaN where there is none), the truth and the weights of a case."""
    silent, kind = (-1, np.int64) if case.n_classes else (np.nan, np.float64)
    answers = [[silent if value is None else value for value in row] for row in case.answers]
    weights = np.array([float(w) for w in case.weights])
    return np.array(answers, dtype=kind), np.array(case.y, dtype=kind), weights


# -- side by side ----------------------------------------------------------------------------------

#: The rules by name, with their usual options.
ORACLES: dict[str, Callable[[Case], Outcome]] = {
    "reduce_error": reduce_error,
    "complementarity": complementarity,
    "margin_distance": margin_distance,
    "orientation": orientation,
    "boosting_based": boosting_based,
    "individual_error": individual_error,
    "kappa": kappa,
    "early_stopping": early_stopping,
    "kl_divergence": kl_divergence,
    "kappa_hull": kappa_hull,
    "utility": utility,
}


def assert_agrees(found: Any, expected: Outcome, case: Case) -> None:
    """The order is the expected one; so are the values, and (exactly, of votes) the errors."""
    assert found.order.tolist() == expected.order, case
    values = [float(value) for value in expected.criterion]
    np.testing.assert_allclose(found.criterion, values, rtol=1e-12, atol=1e-12, err_msg=str(case))
    subsets: Any = expected.subsets
    if subsets is None:
        assert found.subsets is None
        subsets = prefixes(expected.order)
    else:
        assert [subset.tolist() for subset in found.subsets] == subsets, case
    errors = [float(value) for value in curve(case, subsets)]
    if case.n_classes:
        assert found.error_curve.tolist() == errors, case
    else:
        np.testing.assert_allclose(found.error_curve, errors, rtol=1e-12, atol=1e-12)
