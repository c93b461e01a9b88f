"""Calibrators in ONNX: from smoothed shares to probabilities."""

from __future__ import annotations

import numpy as np

from orfeon.calibration.binary import (
    _LEAST,
    BetaCalibrator,
    BinaryCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
)
from orfeon.calibration.calibrator import Calibrator
from orfeon.calibration.one_against_rest import OneAgainstRest
from orfeon.calibration.samples import _LEAST as _LEAST_SHARE
from orfeon.calibration.softmax import _LEAST as _LEAST_OF_SEVERAL
from orfeon.calibration.softmax import SoftmaxCalibrator
from orfeon.calibration.venn_abers import VennAbersCalibrator
from orfeon.io.onnx.decision import column_sums, greatest
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import INT64, Graph
from orfeon.utils.types import Floats


def calibrated(graph: Graph, calibrator: Calibrator, shares: str) -> str:
    """The probabilities that a calibrator makes of shares."""
    if isinstance(calibrator, SoftmaxCalibrator):
        return _softmax(graph, calibrator, shares)
    if not isinstance(calibrator, OneAgainstRest):
        raise NoOnnxFormError(
            type(calibrator).__name__, "it is not one of orfeon's", "train with calibrate=None"
        )
    if len(calibrator.of_class) == 1:
        second = _probability(graph, calibrator.of_class[0], column(graph, shares, 1))
        first = graph.add("Sub", _number(graph, 1.0), second)
        return graph.add("Concat", first, second, axis=1)
    columns = [
        _probability(graph, one, column(graph, shares, k))
        for k, one in enumerate(calibrator.of_class)
    ]
    found = graph.add("Concat", *columns, axis=1)
    return graph.add("Div", found, column_sums(graph, found, len(columns)))


def product(graph: Graph, values: str, matrix: Floats) -> str:
    """Rows times a matrix, added column by column."""
    total = ""
    for k, row in enumerate(matrix):
        term = graph.add("Mul", column(graph, values, k), graph.constant(row[None, :].copy()))
        total = graph.add("Add", total, term) if total else term
    return total


def column(graph: Graph, values: str, k: int) -> str:
    """One of the columns, of shape (n_rows, 1)."""
    return graph.add("Gather", values, graph.constant(np.array([k])), axis=1)


def _number(graph: Graph, value: float) -> str:
    return graph.constant(np.array(float(value)))


def _clipped(graph: Graph, values: str, least: float, most: float) -> str:
    raised = graph.add("Max", values, _number(graph, least))
    return graph.add("Min", raised, _number(graph, most))


def _probability(graph: Graph, calibrator: BinaryCalibrator, share: str) -> str:
    """Probability of a class of which a column has the share."""
    if isinstance(calibrator, VennAbersCalibrator):
        return _venn_abers(graph, calibrator, share)
    if isinstance(calibrator, SigmoidCalibrator):
        inside = _clipped(graph, share, _LEAST_SHARE, 1.0 - _LEAST_SHARE)
        rest = graph.add("Log", graph.add("Sub", _number(graph, 1.0), inside))
        odds = graph.add("Sub", graph.add("Log", inside), rest)
        found = _sigmoid(graph, _scaled(graph, odds, calibrator.slope), calibrator.intercept)
    elif isinstance(calibrator, BetaCalibrator):
        one, other = _log_shares(graph, share), graph.add("Sub", _number(graph, 1.0), share)
        other = _scaled(graph, _log_shares(graph, other), calibrator.opposite_slope)
        scores = graph.add("Sub", _scaled(graph, one, calibrator.slope), other)
        found = _sigmoid(graph, scores, calibrator.intercept)
    else:
        assert isinstance(calibrator, IsotonicCalibrator)
        found = interpolated(graph, calibrator.shares, calibrator.probabilities, share)
    return _clipped(graph, found, _LEAST, 1.0 - _LEAST)


def _log_shares(graph: Graph, shares: str) -> str:
    return graph.add("Log", _clipped(graph, shares, _LEAST_SHARE, 1.0))


def _scaled(graph: Graph, values: str, slope: float) -> str:
    return graph.add("Mul", values, _number(graph, slope))


def _sigmoid(graph: Graph, scores: str, intercept: float) -> str:
    return graph.add("Sigmoid", graph.add("Add", scores, _number(graph, intercept)))


def _softmax(graph: Graph, calibrator: SoftmaxCalibrator, shares: str) -> str:
    logs, n = _log_shares(graph, shares), calibrator.n_classes
    if len(calibrator.slopes) == 1:
        scores = _scaled(graph, logs, calibrator.slopes[0, 0])
    else:
        scores = product(graph, logs, calibrator.slopes.T)
    scores = graph.add("Add", scores, graph.constant(calibrator.intercepts[None, :].copy()))
    likely = graph.add("Exp", graph.add("Sub", scores, greatest(graph, scores)))
    found = graph.add("Div", likely, column_sums(graph, likely, n))
    found = graph.add("Max", found, _number(graph, _LEAST_OF_SEVERAL))
    return graph.add("Div", found, column_sums(graph, found, n))


def _counted(graph: Graph, operator: str, share: str, places: Floats) -> str:
    """How many of some places a share is beyond."""
    beyond = graph.add(operator, share, graph.constant(places[None, :].copy()))
    ones = graph.add("Cast", beyond, to=INT64)
    return graph.add("ReduceSum", ones, graph.constant(np.array([1])), keepdims=1)


def _looked_up(graph: Graph, values: Floats, index: str) -> str:
    return graph.add("Gather", graph.constant(values.copy()), index, axis=0)


def interpolated(graph: Graph, x: Floats, y: Floats, share: str) -> str:
    """As numpy.interp: lines between the points, constant beyond them."""
    # Before the first point comes one more line, which is flat.
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    start, level = np.concatenate([x[:1], x]), np.concatenate([y[:1], y])
    at = _counted(graph, "GreaterOrEqual", share, x)
    run = graph.add("Sub", share, _looked_up(graph, start, at))
    rise = graph.add("Mul", _looked_up(graph, slopes, at), run)
    return graph.add("Add", rise, _looked_up(graph, level, at))


def _venn_abers(graph: Graph, calibrator: VennAbersCalibrator, share: str) -> str:
    left = _counted(graph, "GreaterOrEqual", share, calibrator.shares)
    right = _counted(graph, "Greater", share, calibrator.shares)
    low = _looked_up(graph, np.concatenate([[0.0], calibrator.if_negative]), left)
    high = _looked_up(graph, np.concatenate([calibrator.if_positive, [1.0]]), right)
    rest = graph.add("Sub", _number(graph, 1.0), low)
    return graph.add("Div", high, graph.add("Add", rest, high))
