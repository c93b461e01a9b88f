"""Which of the wrong perceptrons a wrong vote moves: all, the nearest, or the fewest that flip it.

The p-delta rule moves every perceptron that voted wrongly. Minimal disturbance moves fewer: only
the one of least activation, or the smallest number whose change would turn the vote, again those of
least activation.

References
----------
Nilsson (1965). Learning machines. McGraw-Hill. (committee machines)
Cantador (2005). Aplicación de perceptrones paralelos y AdaBoost a problemas de clasificación de
muestra extrema. Universidad Autónoma de Madrid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from orfeon.kernels.perceptron import epoch
from orfeon.utils.jit import inlined, kernel, with_step

Blame = Literal["all", "nearest", "fewest"]


class Passes(NamedTuple):
    """The kernels that train with one choice of perceptrons."""

    batch_pass: Callable[..., Any]
    batch_epochs: Callable[..., Any]
    incremental_epoch: Callable[..., Any]


@inlined
def _n_moved(n_wrong, n_perceptrons):  # type: ignore[no-untyped-def]
    """The nearest perceptron only."""
    return 1


@inlined
def _n_to_flip(n_wrong, n_perceptrons):  # type: ignore[no-untyped-def]
    """As many as turn the majority."""
    return n_wrong - n_perceptrons // 2


def _visit_few(  # type: ignore[no-untyped-def]
    inputs, row, target, weights, activations, pulls, margin, margin_weight, tolerance, rho,
    pushes_wrong,
):  # fmt: skip
    """Visit a sample, then release the wrong perceptrons with the largest activation."""
    energy, widening, is_wrong = _visit(  # type: ignore[no-untyped-call]
        inputs, row, target, weights, activations, pulls, margin, margin_weight, tolerance, rho,
        pushes_wrong,
    )  # fmt: skip
    if is_wrong > 0:
        n_wrong = 0
        for h in range(pulls.shape[0]):
            n_wrong += (activations[h] >= 0) != (target > 0)
        n_moved = _n_moved(n_wrong, pulls.shape[0])  # type: ignore[no-untyped-call]
        for _ in range(n_wrong - n_moved):
            farthest = -1
            for h in range(pulls.shape[0]):
                is_moved = (activations[h] >= 0) != (target > 0) and pulls[h] != 0
                is_farther = farthest < 0 or abs(activations[h]) >= abs(activations[farthest])
                if is_moved and is_farther:
                    farthest = h
            energy -= abs(activations[farthest])
            pulls[farthest] = 0.0
    return energy, widening, is_wrong


_visit = epoch._visit


def _passes(name: str, n_moved: Callable[..., Any]) -> Passes:
    visit = inlined(with_step(_visit_few, f"_visit_{name}", _n_moved=n_moved, _visit=_visit))
    batch_pass = kernel(with_step(epoch.batch_pass, f"batch_pass_{name}", _visit=visit))
    batch = with_step(epoch.batch_epochs, f"batch_epochs_{name}", batch_pass=batch_pass)
    incremental = with_step(epoch.incremental_epoch, f"incremental_epoch_{name}", _visit=visit)
    return Passes(batch_pass, kernel(batch), kernel(incremental))


PASSES: dict[Blame, Passes] = {
    "all": Passes(epoch.batch_pass, epoch.batch_epochs, epoch.incremental_epoch),
    "nearest": _passes("nearest", _n_moved),
    "fewest": _passes("fewest", _n_to_flip),
}
