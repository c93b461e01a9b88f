"""Support vector neural training and incremental selective learning, with lists, as described."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def support_vectors(
    n_samples: int,
    errors_of_round: Callable[[int, list[int]], tuple[Sequence[float], float]],
    *,
    step: float,
    patience: int,
    max_rounds: int,
) -> tuple[list[int], list[int]]:
    """The rows after the best round, and the number of rows trained on in each."""
    rows, kept, sizes = list(range(n_samples)), list(range(n_samples)), []
    best, low, worse = None, 0.0, 0
    for number in range(max_rounds):
        sizes.append(len(rows))
        errors, accuracy = errors_of_round(number, rows)
        better = best is None or accuracy > best
        if better:
            low = low + step
        chosen = [i for i in range(n_samples) if low <= errors[i] <= 1 - low]
        if len(chosen) > len(rows):
            low, step = max(0.0, low - step), step / 1.2
            chosen = [i for i in range(n_samples) if low <= errors[i] <= 1 - low]
        if not chosen:
            return kept, sizes
        rows = chosen
        if better:
            best, kept, worse = accuracy, chosen, 0
        else:
            worse += 1
            if worse == patience:
                return kept, sizes
    return kept, sizes


def incremental(
    start: Sequence[int],
    errors_of_round: Callable[[int, list[int]], Sequence[float]],
    *,
    n_added: int,
    tolerance: float,
    max_rounds: int,
) -> list[list[int]]:
    """The rows of each round."""
    rounds = [sorted(start)]
    while len(rounds) < max_rounds:
        errors = errors_of_round(len(rounds) - 1, rounds[-1])
        others = [i for i in range(len(errors)) if i not in rounds[-1] and errors[i] > tolerance]
        worst = sorted(others, key=lambda i: (-errors[i], i))[:n_added]
        if not worst:
            break
        rounds.append(sorted([*rounds[-1], *worst]))
    return rounds


def dynamic_patterns(
    start: Sequence[int],
    candidates: Sequence[int],
    validation: Sequence[int],
    errors_of_round: Callable[[int, list[int]], Sequence[float]],
    *,
    n_latest: int,
    tolerance: float,
    max_rounds: int,
) -> list[list[int]]:
    """The rows of each round."""
    rounds, factors, limit = [sorted(start)], [], 1.0
    while len(rounds) < max_rounds:
        rows = rounds[-1]
        errors = errors_of_round(len(rounds) - 1, rows)
        unseen = sum(errors[i] ** 2 for i in validation) / len(validation)
        seen = sum(errors[i] ** 2 for i in rows) / len(rows)
        others = [i for i in sorted(candidates) if i not in rows]
        if unseen <= tolerance**2 or not others:
            break
        factors.append(unseen / max(seen, 1e-12))
        if factors[-1] > limit:
            rows = sorted([*rows, max(others, key=lambda i: (errors[i], -i))])
        rounds.append(rows)
        latest = factors[-n_latest:]
        mean = sum(latest) / len(latest)
        spread = (sum((factor - mean) ** 2 for factor in latest) / len(latest)) ** 0.5
        limit = min(limit, mean + spread)
    return rounds
