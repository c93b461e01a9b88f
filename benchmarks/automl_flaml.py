"""FLAML in an environment of its own: ``python automl_flaml.py FOLDER``.

Reads what :mod:`benchmarks.automl_contestants` wrote to the folder, and writes ``answers.csv``
there. It imports nothing of orfeon.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas


def main(folder: Path) -> None:
    from flaml import AutoML

    task = json.loads((folder / "task.json").read_text())
    train, test = (pandas.read_csv(folder / f"{part}.csv") for part in ("train", "test"))
    X, y = train.drop(columns="target"), train["target"]
    is_numbers = task["classes"] is None
    model = AutoML()
    model.fit(
        X, y, task="regression" if is_numbers else "classification",
        metric="rmse" if is_numbers else "log_loss", time_budget=task["seconds"],
        n_jobs=task["threads"], seed=task["seed"], verbose=0,
    )  # fmt: skip
    if is_numbers:
        answers = pandas.DataFrame({"prediction": model.predict(test)})
    else:
        answers = pandas.DataFrame(model.predict_proba(test), columns=model.classes_)
    answers.to_csv(folder / "answers.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
