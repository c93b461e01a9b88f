"""The p-delta rule: passes over the samples that move the perceptrons, all at once or one by one.

Inputs are extended (the last is -1, so that the last weight is a threshold) and row-major. A
parallel perceptron is a matrix, a row of weights for each perceptron; its output is the sum of
their signs, cut at +-rho and divided by it. Zero counts as positive.

What one sample asks of one perceptron is a number times its inputs, see ``_query``. It is the whole
rule; the rest of this file adds such terms up.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import inlined, kernel

#: How the learning rate goes on: it falls with the root of the epoch, follows the error, or stays.
FALLING, FOLLOWING, CONSTANT = 0, 1, 2
#: Places of the state that a run hands on: margin, learning rate, shares of the weight that were
#: wrong in the last epoch and in the one before it (negative when there was none), epochs done.
MARGIN, RATE, ERROR, ERROR_BEFORE, EPOCHS = 0, 1, 2, 3, 4
#: Stands in for a total weight of nothing.
TINY = 1e-300
#: Shares of the weight that differ by less are the same, but for rounding.
SLACK = 1e-12
#: The most by which a step makes a weight vector longer or shorter, as a share of its length.
LONGEST_STRETCH = 0.5
#: Change of the margin, in learning rates, where no perceptron is within it, and where one is.
WIDEN, NARROW = 0.25, -0.75


@inlined
def _activate(inputs, row, weights, activations):
    """Weighted sum of a row's inputs, for each perceptron.

    In four sums side by side, which is quick, and the same on all machines: training is chaotic,
    so that a last bit decides what is learnt.
    """
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
    """Sum of the signs, cut at +-rho and divided by it."""
    total = 0.0
    for h in range(activations.shape[0]):
        total += 1.0 if activations[h] >= 0 else -1.0
    return min(max(total / rho, -1.0), 1.0)


@inlined
def _query(activation, is_high, is_low, margin, margin_weight, pushes_wrong):
    """What a sample asks of a perceptron: the factor of its inputs, its energy, if it is within.

    An output that is too high wants the perceptrons that say +1 to come down, one that is too low
    those that say -1 to come up. Activations within the margin are to leave zero where the output
    is right; in Auer's rule also where it is wrong but the perceptron is not to blame.
    """
    says_high = activation >= 0
    size = abs(activation)
    if is_high if says_high else is_low:
        return -1.0 if says_high else 1.0, size, False
    if pushes_wrong or not (is_high or is_low):
        if size < margin:
            pull = margin_weight if says_high else -margin_weight
            return pull, margin_weight * (margin - size), True
        return 0.0, 0.0, size == margin and not says_high
    return 0.0, 0.0, False


@inlined
def _visit(
    inputs, row, target, weights, activations, pulls, margin, margin_weight, tolerance, rho,
    pushes_wrong,
):  # fmt: skip
    """What a sample asks of all perceptrons: its pulls, its energy, what it asks of the margin.

    The last number is 1 where the output is further from the target than the tolerance.
    """
    _activate(inputs, row, weights, activations)
    output = _output(activations, rho)
    is_high, is_low = output > target + tolerance, output < target - tolerance
    energy = 0.0
    n_within = 0
    for h in range(weights.shape[0]):
        pulls[h], its_energy, is_within = _query(
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
    """Add up over all samples what each asks of the perceptrons.

    ``update`` of shape (n_perceptrons, n_inputs) is overwritten. Returns the energy but for the
    norms, what is asked of the margin, and the weight of the samples that are wrong.
    """
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
    """What the energy has of the norms: a quarter of the sum of (norm^2 - 1)^2."""
    energy = 0.0
    for h in range(weights.shape[0]):
        square = 0.0
        for d in range(weights.shape[1]):
            square += weights[h, d] * weights[h, d]
        energy += 0.25 * (square - 1.0) * (square - 1.0)
    return energy


@inlined
def _move(weights, update, rate):
    """Take a step, and make all weight vectors of length 1; one of length 0 stays."""
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
    inputs, targets, sample_weights, weights, state, initial_rate, schedule, tunes_margin,
    margin_weight, tolerance, rho, pushes_wrong, stops, energies, errors,
):  # fmt: skip
    """Some epochs of the batch rule: as many as there are places in ``energies`` and ``errors``.

    These are filled with the energy and the weight of the wrong samples before each epoch's step;
    ``weights`` and ``state`` are brought up to date. Returns how many epochs ran: with ``stops``, a
    run ends, without a step, where nothing is wrong.
    """
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
        if tunes_margin:
            state[MARGIN] = max(0.0, state[MARGIN] + rate * widening)
    return energies.shape[0]


@kernel
def incremental_epoch(
    inputs, targets, sample_weights, order, weights, state, initial_rate, schedule, tunes_margin,
    margin_weight, tolerance, rho, pushes_wrong,
):  # fmt: skip
    """One epoch of the incremental rule: a step after each sample, in the given order.

    Steps also draw the weight vectors to length 1. Returns the energy of the samples, each as it
    had its turn, with that of the norms at the end, and the weight of those that were wrong then.
    The rate of an epoch follows from the errors of the two before.
    """
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
            # As in the formula, but where such a step would lead away from length 1.
            shrink = min(max(length * (square - 1.0), -LONGEST_STRETCH), LONGEST_STRETCH)
            for d in range(weights.shape[1]):
                weights[h, d] += -shrink * weights[h, d] + length * pulls[h] * inputs[i, d]
        if tunes_margin:
            state[MARGIN] = max(0.0, state[MARGIN] + length * widening)
    error = 0.0  # in the order of the samples: the same errors are the same sum
    for i in range(inputs.shape[0]):
        error += sample_weights[i] * is_wrong[i]
    state[ERROR] = error / max(sample_weights.sum(), TINY)
    return energy + _norm_energy(weights), error


@kernel
def activate(inputs, weights, activations):
    """Activations of shape (n_rows, n_perceptrons), each row by itself alone."""
    its = np.empty(weights.shape[0])
    for i in range(inputs.shape[0]):
        _activate(inputs, i, weights, its)
        for h in range(its.shape[0]):
            activations[i, h] = its[h]
