"""What combining by other rules than the majority costs, and stacking out of bag.

The time of a rule is that of the whole ``predict`` of a bag, trees included. Rules that learn do so
in ``fit``, from out-of-bag votes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble

from benchmarks import problems
from benchmarks.problems import Data
from benchmarks.report import Measurement, compare, remarks
from benchmarks.suite import Case
from benchmarks.timing import Contender, Timing, interleave, one_thread
from orfeon import BaggingClassifier, RandomForestClassifier

_MAJORITY = "majority"
_SAME_FOREST, _THEIR_FOREST = "cv=5, the same forest", "cv=5, scikit-learn's forest"
#: Rows of test sets of stacks.
_N_TEST = 10_000


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Trees of a bag.
    n_members: int = 200
    #: Rows that are predicted by each rule.
    n_queried: int = 10_000
    #: Sizes of training sets from which rules learn.
    learnt: tuple[int, ...] = (300, 5000)
    #: Sizes of training sets of stacks.
    stacked: tuple[int, ...] = (300, 5000)
    #: Trees of a stacked forest.
    n_stacked: int = 200
    #: How often each contender is timed.
    rounds: int = 7


FULL = Effort()
QUICK = Effort(learnt=(300,), stacked=(300,), n_stacked=50, rounds=5)


def rule_names() -> tuple[str, ...]:
    """The rules that decide on classes, the majority first."""
    from orfeon.rules.rule import rules_for

    return (_MAJORITY, *(name for name in rules_for("classification") if name != _MAJORITY))


def learning_rules() -> tuple[str, ...]:
    """Those that learn."""
    from orfeon.rules.rule import as_combining_rule

    return tuple(name for name in rule_names() if as_combining_rule(name).learns)


def fit_bag(data: Data, n_members: int, rule: str) -> Any:
    """Bagged trees that decide by a rule."""
    bag = BaggingClassifier(n_estimators=n_members, combine=rule, random_state=0)
    return bag.fit(data.X, data.y)


def _error(model: Any, test: Data) -> float:
    return float(np.mean(model.predict(test.X) != test.y))


# -- the rules -------------------------------------------------------------------------------------


def _to_majority(
    case: str, shape: tuple[int, int], timings: dict[str, Timing], errors: dict[str, float]
) -> list[Measurement]:
    """The seconds of the majority, and of each other rule the ratio to it."""
    plain, *others = timings.items()
    answers = ", ".join(f"{rule} {error:.1%}" for rule, error in errors.items())
    lines = [
        Measurement(
            f"{case}, {plain[0]}", *shape, plain[1].seconds, "s", plain[1].seconds,
            plain[1].spread, notes=[f"{case}: test errors {answers}.", *remarks(*plain)],
            detail={"error": errors[plain[0]], "rounds": len(plain[1].rounds)},
        )
    ]  # fmt: skip
    for rule, timing in others:
        lines.append(
            Measurement(
                f"{case}, {rule}", *shape, timing.seconds / plain[1].seconds, "ratio",
                timing.seconds, timing.spread, plain[0], plain[1].seconds, plain[1].spread,
                notes=remarks(rule, timing),
                detail={"error": errors[rule], "rounds": len(timing.rounds)},
            )
        )  # fmt: skip
    return lines


def prediction(case: str, n_members: int, n_queried: int, rounds: int) -> list[Measurement]:
    """Predict by each rule, against the majority."""
    training, test = problems.with_test(problems.waveform, 300, n_queried)
    bags = {rule: fit_bag(training, n_members, rule) for rule in rule_names()}
    contenders = [
        Contender(rule, partial(bag.predict, test.X), 1.0, partial(bag.predict, test.X[:10]))
        for rule, bag in bags.items()
    ]
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    errors = {rule: float(np.mean(timing.result != test.y)) for rule, timing in timings.items()}
    return _to_majority(case, test.shape, timings, errors)


def learning(case: str, n_rows: int, n_members: int, rounds: int) -> list[Measurement]:
    """Fit with each rule that learns, against the majority, which is a plain fit."""
    training, test = problems.with_test(problems.waveform, n_rows, _N_TEST)
    contenders = [
        Contender(
            rule, partial(fit_bag, training, n_members, rule), 1.0,
            partial(fit_bag, training, 2, rule),
        )
        for rule in (_MAJORITY, *learning_rules())
    ]  # fmt: skip
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    errors = {rule: _error(timing.result, test) for rule, timing in timings.items()}
    return _to_majority(case, training.shape, timings, errors)


# -- stacking --------------------------------------------------------------------------------------


def stack_out_of_bag(data: Data, n_members: int) -> Any:
    """A stack of one forest, trained on its out-of-bag votes."""
    from orfeon.combining.stacking import StackingClassifier

    forest = RandomForestClassifier(n_members, random_state=0)
    stack = StackingClassifier([("forest", forest)], cv="out_of_bag", random_state=0)
    return stack.fit(data.X, data.y)


def stack_by_folds(forest: Any, data: Data, n_members: int) -> Any:
    """scikit-learn's stack of one forest, which is trained six times."""
    inside = forest(n_members, random_state=0)
    return sklearn.ensemble.StackingClassifier([("forest", inside)], cv=5).fit(data.X, data.y)


def stacking(case: str, n_rows: int, n_members: int, rounds: int) -> list[Measurement]:
    """Stack a forest out of bag, against scikit-learn's stack by five folds."""
    training, test = problems.with_test(problems.waveform, n_rows, _N_TEST)
    stacks: dict[str, Callable[[Data, int], Any]] = {
        "orfeon": stack_out_of_bag,
        _SAME_FOREST: partial(stack_by_folds, RandomForestClassifier),
        _THEIR_FOREST: partial(stack_by_folds, sklearn.ensemble.RandomForestClassifier),
    }
    contenders = [
        Contender(name, partial(stack, training, n_members), 1.0, partial(stack, training, 30))
        for name, stack in stacks.items()
    ]
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    errors = {name: _error(timing.result, test) for name, timing in timings.items()}
    answers = ", ".join(f"{name} {error:.1%}" for name, error in errors.items())
    return compare(
        case, training.shape, timings, notes={_SAME_FOREST: [f"{case}: test errors {answers}."]},
        detail={"errors": errors, "members": n_members},
    )  # fmt: skip


def cases(effort: Effort) -> list[Case]:
    """The cases of combination."""
    n, rounds = effort.n_members, effort.rounds
    found = [Case("predict", partial(prediction, "predict", n, effort.n_queried, rounds))]
    for n_rows in effort.learnt:
        case = f"fit, {n_rows} rows"
        found.append(Case(case, partial(learning, case, n_rows, n, rounds)))
    for n_rows in effort.stacked:
        case = f"stack out of bag, {n_rows} rows"
        found.append(Case(case, partial(stacking, case, n_rows, effort.n_stacked, rounds)))
    return found
