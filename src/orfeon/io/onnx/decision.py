"""Decisions of models as values of a graph, and the steps that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.io.onnx.graph import INT64, Graph
from orfeon.io.onnx.prediction import PredictionGraph
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class Decision:
    """Names of the values that hold the prediction, the class probabilities and the votes."""

    classes: npt.NDArray[Any] | None
    decided: str
    shares: str | None = None
    members: Callable[[], str] | None = None
    n_members: int = 0


def first_of_greatest(graph: Graph, values: str) -> str:
    return graph.add("ArgMax", values, axis=1, keepdims=0, select_last_index=0)


def divided(graph: Graph, values: str, by: float) -> str:
    return graph.add("Div", values, graph.constant(np.array(float(by))))


def column_sums(graph: Graph, values: str, n_columns: int) -> str:
    """Sums of rows, added column by column."""
    running = graph.add("CumSum", values, graph.constant(np.array(1)))
    return graph.add("Gather", running, graph.constant(np.array([n_columns - 1])), axis=1)


def greatest(graph: Graph, values: str) -> str:
    return graph.add("ReduceMax", values, graph.constant(np.array([1])), keepdims=1)


def levelled(graph: Graph, values: str, tolerance: float) -> str:
    """Values in which those within a tolerance of the row's maximum are set to it."""
    most = greatest(graph, values)
    difference = graph.add("Sub", most, values)
    is_tied = graph.add("LessOrEqual", difference, graph.constant(np.array(float(tolerance))))
    return graph.add("Where", is_tied, most, values)


def squeezed(graph: Graph, values: str) -> str:
    return graph.add("Squeeze", values, graph.constant(np.array([1])))


def member_votes(prediction: PredictionGraph, forest: Forest) -> Callable[[], str]:
    """A function that adds the votes of trees to the graph, called if they are an output."""
    return lambda: prediction.graph.add("Cast", prediction.numbers(forest, forest.label), to=INT64)


def member_numbers(prediction: PredictionGraph, forest: Forest) -> Callable[[], str]:
    """A function that adds the predictions of trees to the graph."""
    return lambda: prediction.numbers(forest, forest.value[:, 0])


def leaf_shares(forest: Forest) -> Floats:
    """Class shares of the nodes, equal to those of the kernels to the last bit."""
    value = forest.value.astype(np.float64)
    total = np.zeros(len(value))
    for column in value.T:
        total += column
    shares = np.zeros_like(value)
    np.divide(value, total[:, None], out=shares, where=total[:, None] > 0)
    return shares
