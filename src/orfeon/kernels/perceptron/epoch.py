"""The p-delta rule: batch and incremental passes that train parallel perceptrons.

Inputs are row-major, with a last column of -1 so that the last weight is a threshold. A parallel
perceptron is a matrix with one row of weights per perceptron. Its output is the sum of their signs,
clipped at +-rho and divided by rho; zero counts as positive.

A sample moves a perceptron by a factor times its inputs; ``_pull_of`` computes that factor.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import inlined, kernel

#: Learning rate schedules: decrease with the root of the epoch, follow the error, or stay constant.
FALLING, FOLLOWING, CONSTANT = 0, 1, 2
#: Layout of the training state: margin, learning rate, weighted error rate of the last epoch and of
#: the one before it (negative if none), epochs done.
MARGIN, RATE, ERROR, ERROR_BEFORE, EPOCHS = 0, 1, 2, 3, 4
#: Replaces a total weight of zero.
TINY = 1e-300
#: Error rates closer than this differ only by rounding.
SLACK = 1e-12
#: Largest relative change of a weight vector's length in one step.
LONGEST_STRETCH = 0.5
#: Change of the margin, in learning rates, when no perceptron is within it, and when one is.
WIDEN, NARROW = 0.25, -0.75


@inlined
def _activate(inputs, row, weights, activations):
    """Weighted sum of a row's inputs, for each perceptron."""
    # Four explicit partial sums are fast and give the same bits on every machine; training is
    # chaotic, so the last bit decides what is learnt.
    n_inputs = weights.shape[1]
    n_fours = n_inputs - n_inputs % 4
    for h in range(weights.shape[0]):
        a, b, c, e = 0.0, 0.0, 0.0, 0.0
        for d in range(0, n_fours, 4):
            a += weights[h, d] * inputs[row, d]
            b += weights[h, d + 1] * inputs[row, d + 1]
            c += weights[h, d + 2] * inputs[row, d + 2]
            e += weights[h, d + 3] * inputs[row, d + 3]
        for d in range(n_fours, n_inputs):
            a += weights[h, d] * inputs[row, d]
        activations[h] = (a + b) + (c + e)


@inlined
def _output(activations, rho):
    total = 0.0
    for h in range(activations.shape[0]):
        total += 1.0 if activations[h] >= 0 else -1.0
    return min(max(total / rho, -1.0), 1.0)


@inlined
def _pull_of(activation, is_high, is_low, margin, margin_weight, pushes_wrong):
    """Return the factor of the inputs, the energy, and whether the activation is within the margin.

    If the output is too high, perceptrons at +1 are pushed down; if too low, those at -1 are pushed
    up. Activations within the margin are pushed away from zero where the output is right; in Auer's
    rule also where it is wrong but the perceptron is not to blame.
    """
    is_positive = activation >= 0
    size = abs(activation)
    if is_high if is_positive else is_low:
        return -1.0 if is_positive else 1.0, size, False
    if pushes_wrong or not (is_high or is_low):
        if size < margin:
            pull = margin_weight if is_positive else -margin_weight
            return pull, margin_weight * (margin - size), True
        return 0.0, 0.0, size == margin and not is_positive
    return 0.0, 0.0, False


@inlined
def _visit(
    inputs, row, target, weights, activations, pulls, margin, margin_weight, tolerance, rho,
    pushes_wrong,
):  # fmt: skip
    """Fill ``pulls`` for one sample; return its energy, its change of the margin, 1 if wrong."""
    _activate(inputs, row, weights, activations)
    output = _output(activations, rho)
    is_high, is_low = output > target + tolerance, output < target - tolerance
    energy = 0.0
    n_within = 0
    for h in range(weights.shape[0]):
        pulls[h], its_energy, is_within = _pull_of(
            activations[h], is_high, is_low, margin, margin_weight, pushes_wrong
        )
        energy += its_energy
        n_within += is_within
    widening = WIDEN if n_within == 0 else NARROW
    return energy, widening, 1.0 if is_high or is_low else 0.0


@inlined
def _add_inputs(inputs, row, factor, total, h):
    for d in range(inputs.shape[1]):
        total[h, d] += factor * inputs[row, d]


@kernel
def batch_pass(
    inputs, targets, sample_weights, weights, margin, margin_weight, tolerance, rho,
    pushes_wrong, update,
):  # fmt: skip
    """Sum the updates of all samples into ``update`` of shape (n_perceptrons, n_inputs)."""
    # Returns the energy without the norms, the change of the margin, the weight of wrong samples.
    n_perceptrons = weights.shape[0]
    activations, pulls = np.empty(n_perceptrons), np.empty(n_perceptrons)
    update[:] = 0.0
    energy, widening, error = 0.0, 0.0, 0.0
    for i in range(inputs.shape[0]):
        weight = sample_weights[i]
        its_energy, its_widening, is_wrong = _visit(
            inputs, i, targets[i], weights, activations, pulls, margin, margin_weight, tolerance,
            rho, pushes_wrong,
        )  # fmt: skip
        energy += weight * its_energy
        widening += weight * its_widening
        error += weight * is_wrong
        for h in range(n_perceptrons):
            if pulls[h] != 0:
                _add_inputs(inputs, i, weight * pulls[h], update, h)
    return energy, widening, error


@inlined
def _next_rate(initial_rate, schedule, epoch, rate, error, last_error):
    """Learning rate of an epoch, given the error at its start and the one before that."""
    if schedule == FALLING:
        return initial_rate / np.sqrt(epoch)
    if schedule == FOLLOWING and last_error >= 0:
        if error < last_error - SLACK:
            return rate * 1.1
        if error > last_error + SLACK:
            return rate * 0.5
    return rate


@inlined
def _norm_energy(weights):
    """The norm term of the energy: a quarter of the sum of (norm^2 - 1)^2."""
    energy = 0.0
    for h in range(weights.shape[0]):
        square = 0.0
        for d in range(weights.shape[1]):
            square += weights[h, d] * weights[h, d]
        energy += 0.25 * (square - 1.0) * (square - 1.0)
    return energy


@inlined
def _move(weights, update, rate):
    """Take a step and normalise all weight vectors except those of length 0."""
    for h in range(weights.shape[0]):
        square = 0.0
        for d in range(weights.shape[1]):
            weights[h, d] += rate * update[h, d]
            square += weights[h, d] * weights[h, d]
        if square > 0:
            norm = np.sqrt(square)
            for d in range(weights.shape[1]):
                weights[h, d] /= norm


@kernel
def batch_epochs(
    inputs, targets, sample_weights, weights, state, initial_rate, schedule, margin_rate,
    margin_weight, tolerance, rho, pushes_wrong, stops, energies, errors,
):  # fmt: skip
    """Run one batch epoch per entry of ``energies`` and ``errors``; returns how many ran."""
    # ``margin_rate`` is the margin's share of the learning rate: 0 leaves the margin as it is.
    # These receive the energy and the weight of the wrong samples before each step. With ``stops``,
    # training ends, without a step, once nothing is wrong.
    update = np.empty_like(weights)
    total = max(sample_weights.sum(), TINY)
    for k in range(energies.shape[0]):
        energy, widening, error = batch_pass(
            inputs, targets, sample_weights, weights, state[MARGIN], margin_weight, tolerance, rho,
            pushes_wrong, update,
        )  # fmt: skip
        energies[k] = energy + _norm_energy(weights)
        errors[k] = error
        if stops and error == 0:
            return k + 1
        state[EPOCHS] += 1
        share = error / total
        rate = _next_rate(initial_rate, schedule, state[EPOCHS], state[RATE], share, state[ERROR])
        state[RATE], state[ERROR_BEFORE], state[ERROR] = rate, state[ERROR], share
        _move(weights, update, rate)
        state[MARGIN] = max(0.0, state[MARGIN] + rate * margin_rate * widening)
    return energies.shape[0]


@kernel
def incremental_epoch(
    inputs, targets, sample_weights, order, weights, state, initial_rate, schedule, tunes_margin,
    margin_weight, tolerance, rho, pushes_wrong,
):  # fmt: skip
    """One epoch of the incremental rule: a step after each sample, in the given order."""
    # Steps also pull the weight vectors towards length 1. Returns the energy of the samples, each
    # at its turn, plus the final norm term, and the weight of the samples wrong at their turn. The
    # learning rate follows from the errors of the two epochs before.
    state[EPOCHS] += 1
    rate = _next_rate(
        initial_rate, schedule, state[EPOCHS], state[RATE], state[ERROR], state[ERROR_BEFORE]
    )
    state[RATE], state[ERROR_BEFORE] = rate, state[ERROR]
    n_perceptrons = weights.shape[0]
    activations, pulls = np.empty(n_perceptrons), np.empty(n_perceptrons)
    is_wrong = np.empty(inputs.shape[0])
    energy = 0.0
    for place in range(order.shape[0]):
        i = order[place]
        length = rate * sample_weights[i]
        its_energy, widening, is_wrong[i] = _visit(
            inputs, i, targets[i], weights, activations, pulls, state[MARGIN], margin_weight,
            tolerance, rho, pushes_wrong,
        )  # fmt: skip
        energy += sample_weights[i] * its_energy
        for h in range(n_perceptrons):
            square = 0.0
            for d in range(weights.shape[1]):
                square += weights[h, d] * weights[h, d]
            # Clipped, because a longer step would lead away from length 1.
            shrink = min(max(length * (square - 1.0), -LONGEST_STRETCH), LONGEST_STRETCH)
            for d in range(weights.shape[1]):
                weights[h, d] += -shrink * weights[h, d] + length * pulls[h] * inputs[i, d]
        if tunes_margin:
            state[MARGIN] = max(0.0, state[MARGIN] + length * widening)
    error = 0.0  # summed in sample order, so that equal errors give equal sums
    for i in range(inputs.shape[0]):
        error += sample_weights[i] * is_wrong[i]
    state[ERROR] = error / max(sample_weights.sum(), TINY)
    return energy + _norm_energy(weights), error


@kernel
def activate(inputs, weights, activations):
    its = np.empty(weights.shape[0])
    for i in range(inputs.shape[0]):
        _activate(inputs, i, weights, its)
        for h in range(its.shape[0]):
            activations[i, h] = its[h]
