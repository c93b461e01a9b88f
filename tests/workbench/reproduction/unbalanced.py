"""Files of unbalanced problems, and quick methods in place of those of the tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction import Protocol

#: Class names of the file, numbers of positive and negative samples.
PROBLEMS = {
    "ionosphere": ("b", "g", 40, 80),
    "breast_w": ("malignant", "benign", 30, 70),
    "glass": ("headlamps", "containers", 20, 100),
}


class Selecting(GaussianNB):
    """Keeps every fourth training sample, and takes the classes for equally frequent."""

    def fit(self, X: Any, y: Any) -> Selecting:
        self.selected_ = np.arange(0, len(y), 4)
        self.priors = [0.5, 0.5]
        return super().fit(X[self.selected_], y[self.selected_])


def write_problems(folder: Path) -> Path:
    """Gaussian classes of the names and files of the tables."""
    for name, (positive, negative, n_positive, n_negative) in PROBLEMS.items():
        labels = np.repeat([positive, negative], [n_positive, n_negative])
        rng = np.random.default_rng(len(name))
        X = rng.normal(size=(len(labels), 3)) + 1.2 * (labels == positive)[:, None]
        lines = [
            ",".join(f"{u:.4f}" for u in row) + f",{label}"
            for row, label in zip(X, labels, strict=True)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,c,class", *lines]) + "\n")
    return folder


def quick_methods(table: str) -> Protocol:
    """The protocol of a table with a naive Bayes model for each of its methods."""
    protocol = PROTOCOLS[table]
    runs = tuple(
        replace(
            run,
            build=lambda members, seed, jobs, name=run.name: (
                Selecting() if "pptss" in name or "balanced" in name else GaussianNB()
            ),
            expected_warning=None,
        )
        for run in protocol.runs
    )
    return replace(protocol, runs=runs)
