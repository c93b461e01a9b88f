"""Load models and print their predictions: ``python -m tests.io.asking rows.npy models...``.

Other processes and other Pythons run it, so it needs nothing but orfeon.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import orfeon
from orfeon.datasets import make_waveform

ANSWERS = ("predict", "predict_proba", "decision_function", "apply")


def answers(model: Any, X: Any) -> dict[str, Any]:
    """All predictions of a model, to the bit; labels as lists."""
    found = {}
    for name in ANSWERS:
        if hasattr(model, name) and (name != "apply" or hasattr(model, "forest_")):
            answers = np.asarray(getattr(model, name)(X))
            found[name] = answers.tolist() if answers.dtype == object else answers.tobytes().hex()
    return found


def digest_of_fitted() -> str:
    """The digest of the file of a model that is fitted here."""
    model = orfeon.RandomForestClassifier(5, random_state=0)
    model.fit(*make_waveform(100, random_state=0))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.orfeon"
        orfeon.save(model, path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def main(rows: str, *paths: str) -> None:
    """Print which Python this is, the predictions by file, and what it writes for a fit."""
    X = np.load(rows)
    found = {path: answers(orfeon.load(path), X) for path in paths}
    version = list(sys.version_info[:2])
    print(json.dumps({"python": version, "answers": found, "fitted": digest_of_fitted()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
