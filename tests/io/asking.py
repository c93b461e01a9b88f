"""Load models and print what they say: ``python -m tests.io.asking rows.npy models...``.

Other processes and other Pythons run it, so it needs nothing but orfeon.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import orfeon

ANSWERS = ("predict", "predict_proba", "decision_function", "apply")


def answers(model: Any, X: Any) -> dict[str, Any]:
    """All that a model says, to the bit; labels as lists."""
    found = {}
    for name in ANSWERS:
        if hasattr(model, name) and (name != "apply" or hasattr(model, "forest_")):
            answers = np.asarray(getattr(model, name)(X))
            found[name] = answers.tolist() if answers.dtype == object else answers.tobytes().hex()
    return found


def main(rows: str, *paths: str) -> None:
    """Print which Python this is, and the answers by file."""
    X = np.load(rows)
    found = {path: answers(orfeon.load(path), X) for path in paths}
    print(json.dumps({"python": list(sys.version_info[:2]), "answers": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
