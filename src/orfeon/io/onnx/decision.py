"""What a model decides, as values of a graph, and the steps that all decisions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.io.onnx.asking import Asking
from orfeon.io.onnx.graph import INT64, Graph

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Decision:
    """What a model says of rows.

    Parameters
    ----------
    classes : ndarray or None
        The classes; None in regression.
    decided : str
        Codes of the classes decided on, or predictions; of shape (n_rows,).
    shares : str, optional
        Class probabilities, of shape (n_rows, n_classes).
    members : callable, optional
        Makes what each member says, of shape (n_rows, n_members): codes of classes, or numbers.
    n_members : int, default=0
        How many there are.
    """

    classes: npt.NDArray[Any] | None
    decided: str
    shares: str | None = None
    members: Callable[[], str] | None = None
    n_members: int = 0


def first_of_greatest(graph: Graph, values: str) -> str:
    """The first column of the greatest value of each row.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        Of shape (n_rows, n_columns).

    Returns
    -------
    str
        Column numbers, of shape (n_rows,).
    """
    return graph.add("ArgMax", values, axis=1, keepdims=0, select_last_index=0)


def divided(graph: Graph, values: str, by: float) -> str:
    """Values divided by a number.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        Numbers.
    by : float
        The divisor.

    Returns
    -------
    str
        Quotients.
    """
    return graph.add("Div", values, graph.constant(np.array(float(by))))


def column_sums(graph: Graph, values: str, n_columns: int) -> str:
    """Sums of rows, column after column.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        Of shape (n_rows, n_columns).
    n_columns : int
        How many columns.

    Returns
    -------
    str
        Of shape (n_rows, 1).
    """
    running = graph.add("CumSum", values, graph.constant(np.array(1)))
    return graph.add("Gather", running, graph.constant(np.array([n_columns - 1])), axis=1)


def greatest(graph: Graph, values: str) -> str:
    """The greatest value of each row.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        Of shape (n_rows, n_columns).

    Returns
    -------
    str
        Of shape (n_rows, 1).
    """
    return graph.add("ReduceMax", values, graph.constant(np.array([1])), keepdims=1)


def levelled(graph: Graph, values: str, tolerance: float) -> str:
    """The same values, those close to the greatest of their row made equal to it.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        Of shape (n_rows, n_columns).
    tolerance : float
        How close.

    Returns
    -------
    str
        Of the same shape.
    """
    most = greatest(graph, values)
    gap = graph.add("Sub", most, values)
    is_tied = graph.add("LessOrEqual", gap, graph.constant(np.array(float(tolerance))))
    return graph.add("Where", is_tied, most, values)


def squeezed(graph: Graph, values: str) -> str:
    """A single column as a list.

    Parameters
    ----------
    graph : Graph
        The graph.
    values : str
        Of shape (n_rows, 1).

    Returns
    -------
    str
        Of shape (n_rows,).
    """
    return graph.add("Squeeze", values, graph.constant(np.array([1])))


def member_votes(asking: Asking, forest: Forest) -> Callable[[], str]:
    """What makes the votes of trees, where they are wanted.

    Parameters
    ----------
    asking : Asking
        The rows.
    forest : Forest
        Classification trees.

    Returns
    -------
    callable
        Makes codes of classes, of shape (n_rows, n_trees).
    """
    return lambda: asking.graph.add("Cast", asking.numbers(forest, forest.label), to=INT64)


def member_numbers(asking: Asking, forest: Forest) -> Callable[[], str]:
    """What makes the predictions of trees, where they are wanted.

    Parameters
    ----------
    asking : Asking
        The rows.
    forest : Forest
        Regression trees.

    Returns
    -------
    callable
        Makes numbers, of shape (n_rows, n_trees).
    """
    return lambda: asking.numbers(forest, forest.value[:, 0])


def leaf_shares(forest: Forest) -> Floats:
    """Class shares of the nodes, to the last bit those that the kernels add up.

    Parameters
    ----------
    forest : Forest
        Classification trees.

    Returns
    -------
    ndarray of shape (n_nodes, n_classes)
        Shares; none where a node has no weight.

    Examples
    --------
    >>> from orfeon import CARTClassifier
    >>> from orfeon.io.onnx.decision import leaf_shares
    >>> leaf_shares(CARTClassifier().fit([[0.0], [0.0], [0.0]], [0, 1, 1]).forest_)
    array([[0.33333333, 0.66666667]])
    """
    value = forest.value.astype(np.float64)
    total = np.zeros(len(value))
    for column in value.T:
        total += column
    shares = np.zeros_like(value)
    np.divide(value, total[:, None], out=shares, where=total[:, None] > 0)
    return shares
