"""AdaBoost and its nearest kin, straight from the papers, in exact fractions.

A weak learner is a function ``weak(weights, labels)`` that gives what it says of every sample
(:mod:`tests.oracles.boosting_weak` has some).
Samples of weight 0 are absent from the training and are still decided, so they serve as new ones.
Weights are fractions that sum to one. Votes are logarithms, which are not fractions, so a round
keeps its *odds*, exp(2 alpha): sums of votes are compared as products of odds, without rounding.
Where a root or a logarithm is wanted as a number, it has sixty digits.

Labels are codes 0, 1, ...; only the two-class algorithms say -1 and +1. The algorithms whose
weights lie on pairs of a sample and a label are in :mod:`tests.oracles.boosting_labels`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from tests.oracles.boosting_weak import Weak, error_of

DIGITS = Context(prec=60)
#: What rounding may leave between two numbers that are equal.
SPECK = Decimal(10) ** -40
#: One half, but for what rounding leaves.
HALF = Decimal("0.4" + 40 * "9")
#: No weight falls below this.
FLOOR = Fraction(1, 10**8)
#: The odds of a member that makes no error, where the run goes on after it.
MOST = Fraction(10**10)


def decimal(x: Fraction | int) -> Decimal:
    """A fraction in sixty digits.

    Examples
    --------
    >>> decimal(Fraction(1, 8))
    Decimal('0.125')
    """
    with localcontext(DIGITS):
        x = Fraction(x)
        return Decimal(x.numerator) / Decimal(x.denominator)


def alpha_of(odds: Fraction) -> Decimal:
    """The vote of a member: half of the logarithm of its odds.

    Examples
    --------
    >>> round(alpha_of(Fraction(4)), 6)  # ln 2
    Decimal('0.693147')
    """
    with localcontext(DIGITS):
        return decimal(odds).ln() / 2


@dataclass
class Round:
    """One training: the weights before it, what the member said, and what became of it."""

    weights: list[Fraction]
    answers: list[int]
    error: Fraction
    odds: Fraction = Fraction(1)
    kept: bool = True

    @property
    def alpha(self) -> Decimal:
        """Half of the logarithm of the odds."""
        return alpha_of(self.odds)


@dataclass
class Run:
    """All rounds, those of dropped members among them, and the weights that the last one left."""

    rounds: list[Round] = field(default_factory=list)
    weights: list[Fraction] = field(default_factory=list)
    end: str = "all members"

    @property
    def members(self) -> list[Round]:
        """The rounds whose member was kept."""
        return [r for r in self.rounds if r.kept]

    def decisions(self, n_classes: int, n_members: int | None = None) -> list[int]:
        """The weighted vote of the first members: a code for each sample, ties to the first."""
        members = self.members[:n_members]
        decided = []
        for i in range(len(self.weights)):
            products = [
                math.prod((m.odds for m in members if m.answers[i] == k), start=Fraction(1))
                for k in range(n_classes)
            ]
            decided.append(products.index(max(products)))
        return decided

    def scores(self, n_members: int | None = None) -> list[Decimal]:
        """F(x) = sum of alpha_t h_t(x) of the first members, for votes of -1 and +1."""
        with localcontext(DIGITS):
            members = self.members[:n_members]
            return [
                sum((m.alpha * m.answers[i] for m in members), Decimal(0))
                for i in range(len(self.weights))
            ]

    def signs(self, n_members: int | None = None) -> list[int]:
        """The sign of F(x), exact, and -1 where F(x) is 0."""
        members = self.members[:n_members]
        return [
            1 if math.prod((m.odds ** m.answers[i] for m in members), start=Fraction(1)) > 1 else -1
            for i in range(len(self.weights))
        ]


def perfect_vote(run: Run) -> Fraction:
    """Odds that outweigh all others together, for the last member, which makes no error.

    Examples
    --------
    >>> perfect_vote(Run([Round([], [], Fraction(1, 4), Fraction(10**6))])) == 10**12
    True
    """
    return max(MOST, math.prod((m.odds for m in run.members), start=Fraction(1)) ** 2)


def shares(weights: Iterable[Fraction | int]) -> list[Fraction]:
    """The weights divided by their sum.

    Examples
    --------
    >>> shares([1, 3])
    [Fraction(1, 4), Fraction(3, 4)]
    """
    exact = [Fraction(w) for w in weights]
    total = sum(exact, Fraction(0))
    return [w / total for w in exact]


# --- two classes ----------------------------------------------------------------------------


def adaboost(
    weak: Weak, y: Sequence[int], n_rounds: int, base: Sequence[Fraction | int] | None = None
) -> Run:
    """AdaBoost (Freund and Schapire 1997), the weights divided by 2e or 2(1 - e).

    Examples
    --------
    >>> from tests.oracles.boosting_weak import in_turn
    >>> run = adaboost(in_turn([[1, 1, 1, 1]]), [-1, 1, 1, 1], 1)
    >>> run.rounds[0].error, run.rounds[0].odds, [str(w) for w in run.weights]
    (Fraction(1, 4), Fraction(3, 1), ['1/2', '1/6', '1/6', '1/6'])
    """
    run = Run(weights=shares(base or [1] * len(y)))
    for _ in range(n_rounds):
        h = list(weak(run.weights, y))
        e = error_of(run.weights, y, h)
        this = Round(run.weights, h, e)
        run.rounds.append(this)
        if e >= Fraction(1, 2):
            this.kept, run.end = False, "half"
            break
        if e == 0:
            this.odds, run.end = perfect_vote(run), "no error"
            break
        this.odds = (1 - e) / e
        run.weights = [
            D / (2 * e) if h[i] != y[i] else D / (2 * (1 - e)) for i, D in enumerate(run.weights)
        ]
    return run


@dataclass
class ExponentialRound:
    """One round of AdaBoost in sixty digits."""

    weights: list[Decimal]
    answers: list[int]
    error: Decimal
    alpha: Decimal
    Z: Decimal


def adaboost_exponential(weak: Weak, y: Sequence[int], n_rounds: int) -> list[ExponentialRound]:
    """AdaBoost with D exp(-alpha y h) / Z, where Z is what makes the weights sum to one.

    It ends before a member without error, or with half of the weight in error.

    Examples
    --------
    >>> from tests.oracles.boosting_weak import in_turn
    >>> [r] = adaboost_exponential(in_turn([[1, 1, 1, 1]]), [-1, 1, 1, 1], 1)
    >>> round(r.alpha, 6), round(r.Z, 6)  # ln sqrt 3 and sqrt(3) / 2
    (Decimal('0.549306'), Decimal('0.866025'))
    """
    with localcontext(DIGITS):
        D = [Decimal(1) / len(y)] * len(y)
        rounds = []
        for _ in range(n_rounds):
            h = list(weak([Fraction(w) for w in D], y))
            e = sum((D[i] for i in range(len(y)) if h[i] != y[i]), Decimal(0))
            if e >= HALF or e == 0:
                break
            alpha = ((1 - e) / e).ln() / 2
            raised = [D[i] * (-alpha * y[i] * h[i]).exp() for i in range(len(y))]
            Z = sum(raised, Decimal(0))
            rounds.append(ExponentialRound(D, h, e, alpha, Z))
            D = [w / Z for w in raised]
        return rounds


# --- several classes, votes of one class ----------------------------------------------------


def raised_to_floor(
    weights: Sequence[Fraction], counts: Sequence[Fraction], floor: Fraction
) -> list[Fraction]:
    """No copy of an example below the floor; the sum is one again. Absent ones stay absent.

    Examples
    --------
    >>> raised_to_floor([Fraction(1), Fraction(0)], [Fraction(1)] * 2, Fraction(1, 9))
    [Fraction(9, 10), Fraction(1, 10)]
    """
    return shares([max(w, floor * n) for w, n in zip(weights, counts, strict=True)])


def adaboost_m1(
    weak: Weak,
    y: Sequence[int],
    n_members: int,
    *,
    n_classes: int = 0,
    on_failure: str = "stop",
    bootstraps: Iterator[Sequence[int]] | None = None,
    base: Sequence[Fraction | int] | None = None,
    floor: Fraction = FLOOR,
    samme: bool = False,
    attempts: int | None = None,
) -> Run:
    """AdaBoost.M1 (Freund and Schapire 1997); with ``samme`` SAMME (Zhu et al. 2009).

    A failure is an error of 0, whose member is kept with odds of 10**10, or one of half (SAMME:
    that of a guess, (K - 1) / K) or more, whose member is dropped. Then ``on_failure`` says:

    - "stop": it ends, and a member without error has the last word;
    - "restart": the weights are as they were at the beginning;
    - "bootstrap": the training set is the next of ``bootstraps``, counts of the samples.

    Examples
    --------
    >>> from tests.oracles.boosting_weak import in_turn
    >>> votes = [[0, 1, 0], [1, 1, 1], [0, 1, 1]]
    >>> run = adaboost_m1(in_turn(votes), [0, 1, 2], 3, on_failure="restart", attempts=3)
    >>> [(str(r.error), r.kept) for r in run.rounds]
    [('1/3', True), ('3/4', False), ('1/3', True)]
    """
    limit = Fraction(n_classes - 1, n_classes) if samme else Fraction(1, 2)
    extra = n_classes - 1 if samme else 1
    start = [Fraction(b) for b in base or [1] * len(y)]
    counts = start
    run = Run(weights=shares(start))
    while len(run.members) < n_members and len(run.rounds) != attempts:
        h = list(weak(run.weights, y))
        e = error_of(run.weights, y, h)
        this = Round(run.weights, h, e)
        run.rounds.append(this)
        if 0 < e < limit:
            this.odds = extra * (1 - e) / e
            # what is right keeps its weight, what is wrong gains the odds: M1's beta, turned over
            raised = [w * this.odds if h[i] != y[i] else w for i, w in enumerate(run.weights)]
            run.weights = raised_to_floor(shares(raised), counts, floor)
            continue
        if on_failure == "stop":
            run.end = "half" if e else "no error"
            this.kept, this.odds = e == 0, Fraction(1) if e else perfect_vote(run)
            break
        this.kept, this.odds = e == 0, Fraction(1) if e else MOST
        if on_failure == "bootstrap":
            assert bootstraps is not None
            counts = [Fraction(c) for c in next(bootstraps)]
        run.weights = shares(counts)
    return run


def arc_x4(weak: Weak, y: Sequence[int], n_members: int, power: int = 4) -> Run:
    """Arc-x4 (Breiman 1998): weights as 1 + m**4, m the errors so far; all votes are equal.

    Examples
    --------
    >>> from tests.oracles.boosting_weak import in_turn
    >>> run = arc_x4(in_turn([[0, 0], [0, 0]]), [0, 1], 2)
    >>> [str(w) for w in run.weights]  # 1 and 1 + 16
    ['1/18', '17/18']
    """
    run = Run(weights=shares([1] * len(y)))
    errors = [0] * len(y)
    for _ in range(n_members):
        h = list(weak(run.weights, y))
        equal_vote = Fraction(2)  # any odds above one
        run.rounds.append(Round(run.weights, h, error_of(run.weights, y, h), equal_vote))
        errors = [m + (h[i] != y[i]) for i, m in enumerate(errors)]
        run.weights = shares([1 + m**power for m in errors])
    return run


def committee_ends(n_members: int) -> list[int]:
    """After which member each committee of MultiBoosting ends (Webb 2000, section 6).

    Examples
    --------
    >>> committee_ends(10), committee_ends(3)
    ([4, 7, 10], [3])
    """
    n = math.isqrt(n_members)
    return [math.ceil(Fraction(i * n_members, n)) for i in range(1, n + 1)]


def multiboost(
    weak: Weak,
    y: Sequence[int],
    ends: Sequence[int],
    wagged: Iterator[Sequence[Fraction | int]],
    *,
    floor: Fraction = FLOOR,
    attempts: int = 1000,
) -> Run:
    """MultiBoosting (Webb 2000): boosting restarted from random weights, one vote of all.

    Each committee starts from the next of ``wagged``. A member with half of the weight in error is
    dropped, one without error has odds of 10**10; either way new weights are drawn, and by Webb's
    letter that begins the next committee, whose end is the next of ``ends``.

    Examples
    --------
    >>> from tests.oracles.boosting_weak import in_turn
    >>> run = multiboost(in_turn([[0, 0, 1]] * 2), [0, 1, 1], [1, 2], iter([[1, 1, 2], [3, 1, 1]]))
    >>> [str(r.error) for r in run.rounds]
    ['1/4', '1/5']
    """
    run = Run(weights=shares(next(wagged)))
    k = 0
    while len(run.members) < ends[-1] and len(run.rounds) < attempts:
        h = list(weak(run.weights, y))
        e = error_of(run.weights, y, h)
        this = Round(run.weights, h, e, kept=e < Fraction(1, 2))
        run.rounds.append(this)
        failed = e == 0 or not this.kept
        if failed:
            this.odds = MOST if e == 0 else Fraction(1)
            k = min(k + 1, len(ends) - 1)
        else:
            this.odds = (1 - e) / e
        if failed or len(run.members) == ends[k]:
            if len(run.members) < ends[-1]:
                run.weights = shares(next(wagged))
            while k < len(ends) - 1 and len(run.members) >= ends[k]:
                k += 1
        else:
            raised = [w * this.odds if h[i] != y[i] else w for i, w in enumerate(run.weights)]
            run.weights = raised_to_floor(shares(raised), [Fraction(1)] * len(y), floor)
    return run


# --- filtering (Schapire 1990) --------------------------------------------------------------


def filter_distribution(
    weak: Weak, y: Sequence[int], D: Sequence[Fraction]
) -> tuple[list[Round], list[int]]:
    """Three hypotheses on the three distributions of Schapire (1990), and their majority.

    The second distribution puts half of its weight on what the first hypothesis gets wrong; the
    third is what is left of ``D`` where the first two differ. Where all three differ, which takes
    three classes, the first decides.

    Examples
    --------
    >>> from tests.oracles.boosting_weak import in_turn
    >>> weak = in_turn([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    >>> rounds, decided = filter_distribution(weak, [0] * 4, [Fraction(1, 4)] * 4)
    >>> [str(r.error) for r in rounds], decided
    (['1/4', '1/6', '0'], [0, 0, 0, 0])
    """
    h1 = list(weak(D, y))
    e1 = error_of(D, y, h1)
    D2 = [w / (2 * e1) if h1[i] != y[i] else w / (2 * (1 - e1)) for i, w in enumerate(D)]
    h2 = list(weak(D2, y))
    rounds = [Round(list(D), h1, e1), Round(D2, h2, error_of(D2, y, h2))]
    if h1 == h2:
        return rounds, h1
    D3 = shares([w if h1[i] != h2[i] else Fraction(0) for i, w in enumerate(D)])
    h3 = list(weak(D3, y))
    rounds.append(Round(D3, h3, error_of(D3, y, h3)))
    return rounds, [b if b == c else a for a, b, c in zip(h1, h2, h3, strict=True)]


def filter_samples(
    learn: Callable[[list[int]], Sequence[int]],
    y: Sequence[int],
    samples: tuple[Sequence[int], Sequence[int], Sequence[int]],
) -> tuple[list[list[int]], list[int]]:
    """Boosting by filtering on three samples of fresh samples, each used once.

    The first hypothesis learns the first sample. Of the second, as many that it gets wrong as
    that it gets right, the first ones of either, are what the second learns; all if it gets all
    wrong. Of the third, those on which the two differ are what the third learns. ``learn`` gets
    the indices and says something of every sample.

    Examples
    --------
    >>> y = [0, 1, 0, 0, 0, 1]
    >>> filter_samples(lambda rows: [0] * 6, y, ([0, 1], [2, 3, 4, 5], []))
    ([[0, 1], [2, 5], []], [0, 0, 0, 0, 0, 0])
    """
    h1 = list(learn(list(samples[0])))
    wrong = [i for i in samples[1] if h1[i] != y[i]]
    right = [i for i in samples[1] if h1[i] == y[i]]
    n = min(len(wrong), len(right)) if right else len(wrong)
    second = [i for i in samples[1] if i in wrong[:n] + right[:n]]
    if not second:
        return [list(samples[0]), [], []], h1
    h2 = list(learn(second))
    third = [i for i in samples[2] if h1[i] != h2[i]]
    if not third:
        return [list(samples[0]), second, []], h1
    h3 = list(learn(third))
    votes = zip(h1, h2, h3, strict=True)
    return [list(samples[0]), second, third], [b if b == c else a for a, b, c in votes]
