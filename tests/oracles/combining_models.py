"""Models over models, one row at a time: stacking, cascades, arbiters, mixtures of experts.

A learner takes rows and labels and gives a function that answers one row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from tests.oracles.combining import Number, first_largest, shares

Answer = Callable[[list[Any]], Any]
Learner = Callable[[list[list[Any]], list[Any]], Answer]


# -- models over models ----------------------------------------------------------------------------


def out_of_fold(
    learn: Learner, X: list[list[Any]], y: list[Any], folds: Sequence[int]
) -> list[Any]:
    """What is said of each row by a model that saw no row of its fold.

    Examples
    --------
    >>> def learn_mean(X, y):
    ...     return lambda x: sum(y) / len(y)
    >>> out_of_fold(learn_mean, [[0], [1], [2], [3]], [0, 0, 4, 8], [0, 1, 0, 1])
    [4.0, 2.0, 4.0, 2.0]
    """
    answers = []
    for i, x in enumerate(X):
        others = [j for j in range(len(X)) if folds[j] != folds[i]]
        answers.append(learn([X[j] for j in others], [y[j] for j in others])(x))
    return answers


def level_one_row(answers: Sequence[Any], x: list[Any], passthrough: bool) -> list[Any]:
    """The members' answers side by side, and the features after them if they pass through.

    Examples
    --------
    >>> level_one_row([[0.2, 0.8], 7], ["x"], False), level_one_row([7], ["x"], True)
    ([0.2, 0.8, 7], [7, 'x'])
    """
    row: list[Any] = []
    for answer in answers:
        row += answer if isinstance(answer, list) else [answer]
    return row + x if passthrough else row


def stack(
    learners: Sequence[Learner],
    learn_final: Learner,
    X: list[list[Any]],
    y: list[Any],
    folds: Sequence[int],
    passthrough: bool = False,
) -> Answer:
    """Stacking: the final model learns from out-of-fold answers, and is asked with those of all.

    Examples
    --------
    >>> def learn_mean(X, y):
    ...     return lambda x: sum(y) / len(y)
    >>> def learn_gap(X, y):  # mean of label minus first feature
    ...     gap = sum(b - a[0] for a, b in zip(X, y)) / len(y)
    ...     return lambda x: x[0] + gap
    >>> stack([learn_mean], learn_gap, [[0], [1], [2], [3]], [0, 0, 4, 8], [0, 1, 0, 1])([9])
    3.0
    """
    columns = [out_of_fold(learn, X, y, folds) for learn in learners]
    level_one = [
        level_one_row([column[i] for column in columns], x, passthrough) for i, x in enumerate(X)
    ]
    final = learn_final(level_one, y)
    members = [learn(X, y) for learn in learners]
    return lambda x: final(level_one_row([member(x) for member in members], x, passthrough))


def cascade(
    learners: Sequence[Learner],
    X: list[list[Any]],
    y: list[Any],
    folds: Sequence[int] | None = None,
) -> Answer:
    """Each model sees the features and what all before it said; the last one answers.

    What they say of the training rows is out of fold, or, without folds, what they learned.

    Examples
    --------
    >>> def learn_mean(X, y):
    ...     return lambda x: [sum(y) / len(y)]
    >>> def learn_row(X, y):
    ...     return lambda x: [X[0], x]
    >>> cascade([learn_mean, learn_row], [[0], [1]], [3, 5], [0, 1])([7])
    [[0, 5.0], [7, 4.0]]
    >>> cascade([learn_mean, learn_row], [[0], [1]], [3, 5])([7])
    [[0, 4.0], [7, 4.0]]
    """
    members: list[Answer] = []
    for learn in learners:
        member = learn(X, y)
        answers = [member(x) for x in X] if folds is None else out_of_fold(learn, X, y, folds)
        members.append(member)
        X = [x + answer for x, answer in zip(X, answers, strict=True)]

    def answer_row(x: list[Any]) -> Any:
        for member in members[:-1]:
            x = x + member(x)
        return members[-1](x)

    return answer_row


def arbitrate(answers: Sequence[Any], trust: Sequence[Number]) -> Any:
    """The answer of the member whose referee trusts it most, the first of those tied.

    Examples
    --------
    >>> arbitrate(["a", "b", "c"], [0.2, 0.7, 0.7])
    'b'
    """
    return answers[first_largest(trust)]


def referees(
    learners: Sequence[Learner],
    learn_referee: Learner,
    X: list[list[Any]],
    y: list[Any],
    folds: Sequence[int],
) -> list[Answer]:
    """For each member a model of where it is right (1) out of fold, and where it is not (0).

    Examples
    --------
    >>> def learn_last(X, y):
    ...     return lambda x: y[-1]
    >>> def learn_rate(X, y):
    ...     return lambda x: Fraction(sum(y), len(y))
    >>> [judge] = referees([learn_last], learn_rate, [[0], [1], [2]], [5, 6, 6], [0, 1, 2])
    >>> judge([9])  # says 6, 6, 6 of 5, 6, 6
    Fraction(2, 3)
    """
    judges = []
    for learn in learners:
        answers = out_of_fold(learn, X, y, folds)
        right = [int(answer == label) for answer, label in zip(answers, y, strict=True)]
        judges.append(learn_referee(X, right))
    return judges


def first_sure(
    supports: Sequence[Sequence[Number]], thresholds: Sequence[Number]
) -> tuple[int, int]:
    """The class and the level of the first model as sure as its threshold; the last always answers.

    Examples
    --------
    >>> rows = [[0.6, 0.4], [0.1, 0.9], [1.0, 0.0]]
    >>> first_sure(rows, [0.7, 0.9]), first_sure(rows, [0.6, 0.9]), first_sure(rows, [0.7, 1.0])
    ((1, 1), (0, 0), (0, 2))
    """
    for level, row in enumerate(supports):
        if level == len(supports) - 1 or max(row) >= thresholds[level]:
            return first_largest(row), level
    raise AssertionError("there is no model")


def isotonic(
    places: Sequence[Number], values: Sequence[Number], weights: Sequence[Number]
) -> dict[Number, Fraction]:
    """Least squares that never fall: the greatest, over starts, of the least mean to any end.

    Examples
    --------
    >>> found = isotonic([1, 2, 3, 4], [0, 3, 1, 5], [1, 1, 1, 1])  # 3 and 1 are pooled
    >>> [str(found[place]) for place in (1, 2, 3, 4)]
    ['0', '2', '2', '5']
    """
    distinct = sorted(set(places))
    sums = []
    for place in distinct:
        here = [(v, w) for x, v, w in zip(places, values, weights, strict=True) if x == place]
        sums.append((sum(Fraction(v) * Fraction(w) for v, w in here), sum(w for _, w in here)))

    values_to = list(accumulate((v for v, _ in sums), initial=Fraction(0)))
    weights_to = list(accumulate((Fraction(w) for _, w in sums), initial=Fraction(0)))
    n = len(distinct)
    mean = {
        (a, b): (values_to[b + 1] - values_to[a]) / (weights_to[b + 1] - weights_to[a])
        for a in range(n)
        for b in range(a, n)
    }
    return {
        distinct[i]: max(min(mean[a, b] for b in range(i, n)) for a in range(i + 1))
        for i in range(n)
    }


# -- mixtures of experts ---------------------------------------------------------------------------


def gate(x: Sequence[float], coefficients: Sequence[Sequence[float]]) -> list[float]:
    """Softmax of linear scores: one row of coefficients an expert, the intercept last.

    Examples
    --------
    >>> [round(g, 6) for g in gate([2.0], [[math.log(3) / 2, 0.0], [0.0, 0.0]])]
    [0.75, 0.25]
    """
    scores = [
        math.exp(sum(a * b for a, b in zip([*x, 1.0], row, strict=True))) for row in coefficients
    ]
    return [score / sum(scores) for score in scores]


def leaf_gates(branches: Any) -> list[Number]:
    """Shares of the experts below a tree of two-way gates: products along the paths.

    A tree is ``(share of the left, left, right)``; a leaf is ``None``.

    Examples
    --------
    >>> leaf_gates((Fraction(1, 4), None, (Fraction(1, 3), None, None)))
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    """
    if branches is None:
        return [Fraction(1)]
    share, left, right = branches
    return [share * g for g in leaf_gates(left)] + [(1 - share) * g for g in leaf_gates(right)]


def responsibilities(gates: Sequence[Number], densities: Sequence[Number]) -> list[Number]:
    """E step of one row: the share of each expert in what was seen.

    Examples
    --------
    >>> responsibilities([Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)])
    [Fraction(1, 4), Fraction(3, 4)]
    """
    return shares([g * p for g, p in zip(gates, densities, strict=True)])


def mixture_log_likelihood(
    gates: Sequence[Sequence[Number]],
    densities: Sequence[Sequence[Number]],
    weights: Sequence[Number],
) -> float:
    """Sum over the rows of the log of what the gated experts together give to what was seen.

    Examples
    --------
    >>> half, some = [Fraction(1, 2)] * 2, [Fraction(1, 4), Fraction(3, 4)]
    >>> round(mixture_log_likelihood([half, half], [some, some], [1, 2]) / math.log(2), 9)
    -3.0
    """
    value = 0.0
    for row_gates, row_densities, weight in zip(gates, densities, weights, strict=True):
        together = Fraction(0)
        for g, p in zip(row_gates, row_densities, strict=True):
            together += g * p
        value += float(weight) * math.log(together)
    return value
