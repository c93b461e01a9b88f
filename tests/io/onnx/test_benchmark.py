"""The benchmark of exports asks every family, and sees a file that differs."""

from __future__ import annotations

import pytest
from benchmarks import exports
from benchmarks.__main__ import main
from tests.io.onnx.test_families import PARTING, REFUSED
from tests.shared import public_estimators

import orfeon
from orfeon.io.onnx import to_onnx

pytestmark = pytest.mark.tools


def family(name: str) -> exports.Family:
    return next(one for one in exports.families(5) if one.name == name)


@pytest.mark.parametrize(
    "name",
    ["bagging, categories", "scikit-learn forest, pruned", "AdaBoost.R2", "ensemble selection"],
)
def test_no_row_differs(name):
    (found,) = exports.equal_votes(family(name), 400)
    assert (found.figure, found.is_met, found.n) == (0.0, True, 400)
    assert found.peer_seconds > 0


def test_another_model_is_told_from_this_one(monkeypatch):
    other = orfeon.CARTClassifier(max_depth=1)
    other.fit(*exports.table_of(family("CART"), 100, 0))
    monkeypatch.setattr(exports, "to_onnx", lambda model, **given: to_onnx(other))
    (found,) = exports.equal_votes(family("CART"), 400)
    assert found.figure > 50
    assert not found.is_met


def test_all_kinds_that_are_exported_are_asked():
    queried = {type(one.model).__name__ for one in exports.families(5)}
    alike = {
        "CombinedMultipleModels", "CostSensitiveClassifier", "CostThresholdClassifier",
        "ExtraTreesRegressor", "ObliqueTreeClassifier", "ObliqueTreeRegressor",
        "PartitionedClassifier", "PartitionedRegressor", "PrunedClassifier", "PrunedRegressor",
        "RandomForestRegressor", "RandomSubspaceRegressor", "RandomTreeClassifier",
        "RandomTreeRegressor", "StumpClassifier", "StumpRegressor", "WaggingRegressor",
    }  # fmt: skip
    assert set(public_estimators()) - REFUSED - alike == queried & set(public_estimators()) - alike
    assert {"C45Classifier", "MultiBoostClassifier"} <= PARTING & queried


def test_the_suite_is_listed(capsys):
    assert main(["exports", "--quick", "--list"]) == 0
    assert "scikit-learn forest, pruned" in capsys.readouterr().out.splitlines()
