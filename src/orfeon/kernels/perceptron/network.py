"""Stochastic gradient descent of a network with one hidden layer, one step per sample."""

from __future__ import annotations

import math

from orfeon.utils.jit import kernel


@kernel
def gradient_epoch(inputs, targets, order, hidden, output, rate, active):
    """Move the weights once for each sample; ``active`` holds the hidden units of a sample."""
    # Inputs end with a constant. Hidden units are max(0, sum), the loss is the log-loss of targets
    # of 0 and 1, and the last output weight is a threshold.
    n_hidden, n_inputs = hidden.shape
    for place in range(order.shape[0]):
        i = order[place]
        total = output[n_hidden]
        for h in range(n_hidden):
            activation = 0.0
            for d in range(n_inputs):
                activation += hidden[h, d] * inputs[i, d]
            active[h] = max(activation, 0.0)
            total += output[h] * active[h]
        step = rate * (1.0 / (1.0 + math.exp(-min(max(total, -500.0), 500.0))) - targets[i])
        for h in range(n_hidden):
            if active[h] > 0:
                for d in range(n_inputs):
                    hidden[h, d] -= step * output[h] * inputs[i, d]
            output[h] -= step * active[h]
        output[n_hidden] -= step
