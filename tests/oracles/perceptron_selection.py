"""Training-set selection and boosting by categories of samples, as the document's pseudo-code.

What trains and what is said come from the caller, so both can be followed by hand. Labels are -1
and +1, and +1 is the class of interest. Weights of boosting have sixty digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext

from tests.oracles import perceptrons as pp

DIGITS = Context(prec=60)

#: How a sample of each category is reweighed, by mode.
FACTORS = {
    "adaboost": {"redundant": 1, "noisy": 1, "quasi_noisy": 1, "borderline": 1},
    "negative": {"redundant": 1, "noisy": -1, "quasi_noisy": 1, "borderline": 1},
    "positive": {"redundant": 1, "noisy": -1, "quasi_noisy": -1, "borderline": 1},
    "balanced": {"redundant": 1, "noisy": -1, "quasi_noisy": 0, "borderline": 1},
}


# Selection


def accuracies(
    weights: pp.Rows, X: pp.Rows, y: Sequence[int], sample_weight: Sequence[float]
) -> tuple[float, float]:
    """The share of the positives that are found, and that of the negatives."""
    shares = []
    for label in (1, -1):
        of_class = [i for i in range(len(y)) if y[i] == label]
        right = [i for i in of_class if pp.majority(weights, X[i]) == label]
        shares.append(
            math.fsum(sample_weight[i] for i in right)
            / math.fsum(sample_weight[i] for i in of_class)
        )
    return shares[0], shares[1]


@dataclass
class SelectionRound:
    """One training and what it gives on the whole training set."""

    rows: list[int]
    weights: list[pp.Vector]
    gamma: float
    g: float
    positive_accuracy: float
    negative_accuracy: float


@dataclass
class Selection:
    """Every training, the index of the one that is kept, and why there were no more."""

    rounds: list[SelectionRound] = field(default_factory=list)
    best: int = -1
    end: str = ""


Train = Callable[[list[int], list[pp.Vector] | None, float | None], tuple[list[pp.Vector], float]]


def select(
    X: pp.Rows,
    y: Sequence[int],
    train: Train,
    *,
    max_rounds: int,
    keep_quasi_noisy: bool = False,
    quasi_noisy: str = "all",
    sample_weight: Sequence[float] | None = None,
) -> Selection:
    """Train, leave out the redundant, the noisy and the quasi-noisy, train again while it helps.

    ``train(rows, weights, gamma)`` continues from the weights and the margin of the round before
    (None at first). ``max_rounds`` is the number of trainings, the first one among them.
    """
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    selection = Selection()
    rows = list(range(len(y)))
    weights: list[pp.Vector] | None = None
    gamma: float | None = None
    g_best = positive_best = 0.0
    while True:
        weights, gamma = train(rows, weights, gamma)
        positive, negative = accuracies(weights, X, y, sample_weight)
        g = math.sqrt(positive * negative)
        selection.rounds.append(SelectionRound(rows, weights, gamma, g, positive, negative))
        if g < g_best or positive < positive_best:
            selection.end = "worse"
            return selection
        g_best, positive_best = g, positive
        selection.best = len(selection.rounds) - 1
        left = remaining(rows, X, y, weights, gamma, keep_quasi_noisy, quasi_noisy)
        if left == rows:
            selection.end = "unchanged"
            return selection
        if not left:
            selection.end = "empty"
            return selection
        if len({y[i] for i in left}) == 1:
            selection.end = "one class"
            return selection
        if len(selection.rounds) == max_rounds:
            selection.end = "cap"
            return selection
        rows = left


def remaining(
    rows: Sequence[int],
    X: pp.Rows,
    y: Sequence[int],
    weights: pp.Rows,
    gamma: float,
    keep_quasi_noisy: bool,
    quasi_noisy: str,
) -> list[int]:
    """The rows that stay: the borderline ones, with or without the quasi-noisy."""
    margins = [[y[i] * pp.dot(pp.normalised(w), X[i]) for w in weights] for i in rows]
    found = pp.categories(margins, gamma, [y[i] == 1 for i in rows], quasi_noisy)
    stay = {"borderline", "quasi_noisy"} if keep_quasi_noisy else {"borderline"}
    return [i for i, category in zip(rows, found, strict=True) if category in stay]


# Boosting


@dataclass
class BoostRound:
    """One member: the weights it was trained with, what it said, its error and its vote."""

    weights: list[Decimal]
    answers: list[int]
    error: Decimal
    alpha: Decimal


@dataclass
class Boosted:
    """All members, the weights that the last one leaves, and why there were no more."""

    rounds: list[BoostRound] = field(default_factory=list)
    weights: list[Decimal] = field(default_factory=list)
    end: str = "all members"

    def scores(self) -> list[Decimal]:
        """F(x) = sum of alpha_t h_t(x)."""
        with localcontext(DIGITS):
            return [
                sum((r.alpha * r.answers[i] for r in self.rounds), Decimal(0))
                for i in range(len(self.weights))
            ]


Member = Callable[[list[Decimal]], tuple[list[int], list[str]]]


def reweighed(
    weights: Sequence[Decimal],
    alpha: Decimal,
    y: Sequence[int],
    answers: Sequence[int],
    found: Sequence[str],
    mode: str,
) -> list[Decimal]:
    """D exp(-alpha R y h) / Z."""
    with localcontext(DIGITS):
        raw = [
            weight * (-alpha * FACTORS[mode][category] * label * vote).exp()
            for weight, category, label, vote in zip(weights, found, y, answers, strict=True)
        ]
        total = sum(raw, Decimal(0))
        return [weight / total for weight in raw]


def boost(
    y: Sequence[int],
    member: Member,
    n_members: int,
    mode: str,
    weights: Sequence[Decimal | int] | None = None,
) -> Boosted:
    """AdaBoost's recursion where the category of a sample decides how it is reweighed.

    ``member(weights)`` trains and gives what the member says of every sample, and the category
    of every sample. A member with an error of one half or more is dropped and one without error
    is kept; either is the last.
    """
    with localcontext(DIGITS):
        raw = [Decimal(w) for w in ([1] * len(y) if weights is None else weights)]
        result = Boosted(weights=[w / sum(raw, Decimal(0)) for w in raw])
        for _ in range(n_members):
            before = result.weights
            answers, found = member(before)
            error = sum((before[i] for i in range(len(y)) if answers[i] != y[i]), Decimal(0))
            if error >= Decimal(1) / 2:
                result.end = "no better than chance"
                break
            if error == 0:
                result.rounds.append(BoostRound(before, answers, error, Decimal("Infinity")))
                result.end = "no error"
                break
            alpha = ((1 - error) / error).ln() / 2
            result.rounds.append(BoostRound(before, answers, error, alpha))
            result.weights = reweighed(before, alpha, y, answers, found, mode)
        return result
