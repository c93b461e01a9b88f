"""AutoGluon in an environment of its own: ``python automl_autogluon.py FOLDER``.

Reads what :mod:`benchmarks.automl_contestants` wrote to the folder, and writes ``answers.csv``
there. It imports nothing of orfeon.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas


def main(folder: Path) -> None:
    from autogluon.tabular import TabularPredictor

    task = json.loads((folder / "task.json").read_text())
    train, test = (pandas.read_csv(folder / f"{part}.csv") for part in ("train", "test"))
    is_numbers = task["classes"] is None
    kind = "regression" if is_numbers else "binary" if len(task["classes"]) == 2 else "multiclass"
    model = TabularPredictor(
        "target", problem_type=kind, eval_metric="rmse" if is_numbers else "log_loss",
        path=str(folder / "models"), verbosity=0,
    )  # fmt: skip
    model.fit(
        train, presets=task["preset"], time_limit=task["seconds"], num_cpus=task["threads"],
        num_gpus=0,
    )  # fmt: skip
    if is_numbers:
        answers = pandas.DataFrame({"prediction": model.predict(test)})
    else:
        answers = pandas.DataFrame(model.predict_proba(test))
    answers.to_csv(folder / "answers.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
