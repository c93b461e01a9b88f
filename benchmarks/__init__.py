"""Ratios against peers: ``python -m benchmarks <suite>``, one file per question."""

from __future__ import annotations

#: Suites by name and the modules they live in. A suite is a function ``suite(quick) -> Suite``.
SUITES = {
    "trees": "benchmarks.trees",
    "ensembles": "benchmarks.ensembles",
    "tables": "benchmarks.tables",
    "accuracy": "benchmarks.accuracy",
    "automl": "benchmarks.automl",
    "coverage": "benchmarks.coverage",
    "boosting-defaults": "benchmarks.boosting_defaults",
    "boosting": "benchmarks.boosting",
    "calibration": "benchmarks.calibration",
    "perceptrons": "benchmarks.perceptrons",
    "inspection": "benchmarks.inspection",
    "explanations": "benchmarks.explanations",
    "start": "benchmarks.start",
    "scale": "benchmarks.scale",
    "ordering": "benchmarks.ordering",
    "sizes": "benchmarks.pruning_sizes",
    "studies": "benchmarks.studies",
    "files": "benchmarks.model_files",
    "exports": "benchmarks.exports",
    "serving": "benchmarks.serving",
}
