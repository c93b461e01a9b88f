"""Boosting with weights on pairs of a sample and a label: M2, MH, pairs, output codes.

As in :mod:`tests.oracles.boosting`: fractions where the numbers are fractions, sixty digits where
roots come in. A pair's table is a list of rows, one for each sample, with a place for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.oracles.boosting import DIGITS, HALF, MOST, SPECK, Run, adaboost, alpha_of, decimal
from tests.oracles.boosting_weak import Weak

Table = list[list[Decimal]]


@dataclass
class PairRound:
    """One round: the weights of the pairs before it, what was said, the (pseudo-)loss, the vote."""

    weights: list[list[Any]]
    answers: list[list[Any]]
    error: Any
    alpha: Decimal
    kept: bool = True
    samples: list[Decimal] = field(default_factory=list)
    share: Decimal = Decimal(1)


@dataclass
class PairRun:
    """All rounds, and the weights that the last one left."""

    rounds: list[PairRound] = field(default_factory=list)
    weights: list[list[Any]] = field(default_factory=list)

    @property
    def members(self) -> list[PairRound]:
        """The rounds whose member was kept."""
        return [r for r in self.rounds if r.kept]

    def scores(self, n_members: int | None = None) -> Table:
        """The sum of alpha_t h_t(x, l) of the first members, for each sample and label."""
        with localcontext(DIGITS):
            return [
                [
                    sum(
                        (m.alpha * number(m.answers[i][k]) for m in self.members[:n_members]),
                        Decimal(0),
                    )
                    for k in range(len(row))
                ]
                for i, row in enumerate(self.weights)
            ]

    def decisions(self, n_members: int | None = None) -> list[int]:
        """The label of the largest score, the first of those that are tied."""
        return [first_of_largest(row) for row in self.scores(n_members)]


def number(x: Any) -> Decimal:
    """An integer, float or fraction in sixty digits.

    Examples
    --------
    >>> number(0.5), number(Fraction(1, 4))
    (Decimal('0.5'), Decimal('0.25'))
    """
    return decimal(Fraction(x))


def first_of_largest(row: Sequence[Decimal]) -> int:
    """Where the largest is; rounding does not break ties.

    Examples
    --------
    >>> first_of_largest([Decimal(1), Decimal(2), Decimal(2)])
    1
    """
    with localcontext(DIGITS):
        return next(k for k, s in enumerate(row) if s >= max(row) - SPECK)


def mislabel_weights(y: Sequence[int], n_classes: int) -> Table:
    """1/|B| on the pairs of a sample and a class that is not its own, 0 on the others.

    Examples
    --------
    >>> mislabel_weights([0, 1], 3)[0]
    [Decimal('0'), Decimal('0.25'), Decimal('0.25')]
    """
    size = len(y) * (n_classes - 1)
    return [[number(Fraction(k != own, size)) for k in range(n_classes)] for own in y]


def alpha_of_loss(e: Decimal) -> Decimal:
    """Half of the logarithm of (1 - e) / e, the largest vote for a loss of 0.

    Examples
    --------
    >>> round(alpha_of_loss(Decimal("0.2")), 6)
    Decimal('0.693147')
    """
    with localcontext(DIGITS):
        return alpha_of(MOST) if e < SPECK else ((1 - e) / e).ln() / 2


def adaboost_m2(
    weak: Callable[[Table, Sequence[int]], Sequence[Sequence[Any]]],
    y: Sequence[int],
    n_classes: int,
    n_members: int,
) -> PairRun:
    """AdaBoost.M2 (Freund and Schapire 1997): h(x, y) in [0, 1], pseudo-loss over mislabels.

    It ends at a pseudo-loss of a half (the member is dropped) or of 0 (it is kept).

    Examples
    --------
    >>> run = adaboost_m2(lambda w, y: [[1, 0, 0], [1, 0, 0]], [0, 1], 3, 1)
    >>> run.rounds[0].error  # 1/4 of 0, 0, 1 and 1/2, halved
    Decimal('0.375')
    """
    with localcontext(DIGITS):
        run = PairRun(weights=mislabel_weights(y, n_classes))
        B = [(i, k) for i, own in enumerate(y) for k in range(n_classes) if k != own]
        for _ in range(n_members):
            w = run.weights
            h = [[number(v) for v in row] for row in weak(w, y)]
            e = sum((w[i][k] * (1 - h[i][y[i]] + h[i][k]) for i, k in B), Decimal(0)) / 2
            run.rounds.append(PairRound(w, h, e, alpha_of_loss(e), e < HALF))
            if e >= HALF or e < SPECK:
                break
            beta = e / (1 - e)
            raised = [[Decimal(0)] * n_classes for _ in y]
            for i, k in B:
                raised[i][k] = w[i][k] * beta ** ((1 + h[i][y[i]] - h[i][k]) / 2)
            total = sum((v for row in raised for v in row), Decimal(0))
            run.weights = [[v / total for v in row] for row in raised]
        return run


def adaboost_oc(
    weak: Callable[[Sequence[Decimal], Sequence[int]], Sequence[int]],
    y: Sequence[int],
    n_classes: int,
    colourings: Sequence[Sequence[int]],
    goes_on: bool = False,
) -> PairRun:
    """AdaBoost.OC (Schapire 1997): a colour, 0 or 1, for every class; one colouring each round.

    ``weak`` gets a weight and the colour of its class for each sample. A member's ``said`` is
    whether a label has the colour that it said; ``samples`` are the weights it was trained with
    and ``share`` is U, the weight of the mislabels whose colour is not that of the class.
    A member with a pseudo-loss of a half is dropped; ``goes_on`` then takes the next colouring.

    Examples
    --------
    >>> run = adaboost_oc(lambda D, colours: [0, 0, 0], [0, 1, 2], 3, [[0, 0, 1]])
    >>> [str(round(D, 6)) for D in run.rounds[0].samples], round(run.rounds[0].share, 6)
    (['0.250000', '0.250000', '0.500000'], Decimal('0.666667'))
    >>> round(run.rounds[0].error, 6)  # coin 1/2, U 2/3: half minus edge times U is 1/2
    Decimal('0.500000')
    """
    with localcontext(DIGITS):
        run = PairRun(weights=mislabel_weights(y, n_classes))
        pairs = [(i, k) for i in range(len(y)) for k in range(n_classes)]
        for mu in colourings:
            w = run.weights
            apart = [
                sum((w[i][k] for k in range(n_classes) if mu[k] != mu[own]), Decimal(0))
                for i, own in enumerate(y)
            ]
            U = sum(apart, Decimal(0))
            D = [v / U for v in apart]
            colours = list(weak(D, [mu[own] for own in y]))
            answers = [[int(mu[k] == colour) for k in range(n_classes)] for colour in colours]
            s = [
                [(1 - answers[i][y[i]]) + answers[i][k] for k in range(n_classes)]
                for i in range(len(y))
            ]
            e = sum((w[i][k] * s[i][k] for i, k in pairs), Decimal(0)) / 2
            alpha = alpha_of_loss(e)
            run.rounds.append(PairRound(w, answers, e, alpha, e < HALF, D, U))
            if e >= HALF and goes_on:
                continue
            if e >= HALF or e < SPECK:
                break
            raised = [
                [w[i][k] * (alpha * s[i][k]).exp() for k in range(n_classes)] for i in range(len(y))
            ]
            Z = sum((v for row in raised for v in row), Decimal(0))
            run.weights = [[v / Z for v in row] for row in raised]
        return run


def adaboost_mh(
    weak: Callable[[list[list[Fraction]], list[list[int]]], Sequence[Sequence[int]]],
    y: Sequence[int],
    n_classes: int,
    n_members: int,
) -> PairRun:
    """AdaBoost.MH (Schapire and Singer 1999): one two-class problem on the pairs (x, label).

    The pair of a sample and its class is +1, its pairs with the other classes are -1.

    Examples
    --------
    >>> run = adaboost_mh(lambda D, Y: [[1, -1, -1], [1, -1, -1]], [0, 1], 3, 1)
    >>> run.rounds[0].error, str(run.weights[1][1])  # two of six; 1/6 over 2/3
    (Fraction(1, 3), '1/4')
    """
    Y = [[1 if k == own else -1 for k in range(n_classes)] for own in y]
    flat = [v for row in Y for v in row]

    def table(values: Sequence[Any]) -> list[list[Any]]:
        return [list(values[i : i + n_classes]) for i in range(0, len(flat), n_classes)]

    def weak_on_pairs(weights: Sequence[Fraction], labels: Sequence[int]) -> Sequence[int]:
        return [int(v) for row in weak(table(weights), table(labels)) for v in row]

    run = adaboost(weak_on_pairs, flat, n_members)
    rounds = [
        PairRound(table(r.weights), table(r.answers), r.error, r.alpha, r.kept) for r in run.rounds
    ]
    return PairRun(rounds, table(run.weights))


def one_against_rest(weaks: Sequence[Weak], y: Sequence[int], n_members: int) -> list[Run]:
    """One AdaBoost for each class, +1 for it and -1 for the rest.

    Examples
    --------
    >>> weak = lambda weights, labels: [1, 1, 1]
    >>> [r.end for r in one_against_rest([weak] * 2, [0, 0, 1], 1)]
    ['all members', 'half']
    """
    return [
        adaboost(weak, [1 if own == k else -1 for own in y], n_members)
        for k, weak in enumerate(weaks)
    ]


def pairwise(
    weaks: dict[tuple[int, int], Weak], y: Sequence[int], n_classes: int, n_members: int
) -> dict[tuple[int, int], Run]:
    """One AdaBoost for each two classes, on their samples; +1 for the second of the two.

    Examples
    --------
    >>> runs = pairwise({(0, 1): lambda w, y: [1, 1, 1]}, [0, 1, 1], 2, 1)
    >>> runs[0, 1].rounds[0].error
    Fraction(1, 3)
    """
    return {
        (a, b): adaboost(
            weaks[a, b], [1 if own == b else -1 for own in y], n_members,
            base=[int(own in (a, b)) for own in y],
        )
        for a, b in combinations(range(n_classes), 2)
    }  # fmt: skip


def scores_of_classes(runs: Sequence[Run]) -> Table:
    """F_k(x) for each sample and class, one run a class.

    Examples
    --------
    >>> weak = lambda weights, labels: [1, 1, 1]
    >>> [str(round(s, 3)) for s in scores_of_classes(one_against_rest([weak] * 2, [0, 0, 1], 1))[0]]
    ['0.347', '0.000']
    """
    columns = [run.scores() for run in runs]
    return [list(row) for row in zip(*columns, strict=True)]


def scores_of_pairs(runs: dict[tuple[int, int], Run], n_classes: int, votes: bool = False) -> Table:
    """What each class wins against the others: scores F, or (``votes``) one for each win.

    Examples
    --------
    >>> runs = pairwise({(0, 1): lambda w, y: [1, 1, 1]}, [0, 1, 1], 2, 1)
    >>> scores_of_pairs(runs, 2, votes=True)[0]
    [Decimal('0'), Decimal('1')]
    """
    n = len(next(iter(runs.values())).weights)
    table = [[Decimal(0)] * n_classes for _ in range(n)]
    with localcontext(DIGITS):
        for (a, b), run in runs.items():
            for i, (score, sign) in enumerate(zip(run.scores(), run.signs(), strict=True)):
                if votes:
                    table[i][b if sign > 0 else a] += 1
                else:
                    table[i][b] += score
                    table[i][a] -= score
    return table
