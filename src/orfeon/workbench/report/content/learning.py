"""How the score depends on the number of training rows."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from orfeon.utils.text import counted
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.choice import method_of
from orfeon.workbench.experiment.evaluation import findings, full_shares, take_rows
from orfeon.workbench.experiment.metrics import METRICS, Answers
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.running import sample_rows
from orfeon.workbench.report.content.methods import Measure
from orfeon.workbench.report.content_types import Axis, Line, LineChart, Section

#: Shares of the training rows, besides all of them.
_SHARES = (0.125, 0.25, 0.5)
#: Fewest rows to train on.
_FEWEST = 20
#: Seconds of fits for a curve of at least so many folds; tests of many rows need one fold.
_SECONDS, _FOLDS, _MANY = 3.0, 3, 2000


def learning_section(outcome: StudyOutcome) -> Section | None:
    """Scores with fewer training rows, on as many folds as cost a few seconds."""
    showcase, method = outcome.showcase, method_of(outcome.chosen)
    if showcase is None or showcase.y is None or method not in showcase.models:
        return None
    whole = outcome.candidate(method)
    known = whole.scores[outcome.metric]
    seconds = sum(_SHARES) * max(whole.fit_seconds, 1e-3)
    n_folds = min(len(showcase.splits), len(known), int(_SECONDS / seconds))
    if outcome.n_test >= _MANY and seconds <= 2 * _SECONDS:
        n_folds = max(n_folds, 1)
    elif n_folds < _FOLDS:
        return None
    n_train = min(len(split.train) for split in showcase.splits)
    sizes = [round(share * n_train) for share in _SHARES if share * n_train >= _FEWEST]
    if n_folds < 1 or len(sizes) < 2:
        return None
    is_class = outcome.task == "classification"
    y = np.unique(showcase.y, return_inverse=True)[1] if is_class else showcase.y
    loss = METRICS[outcome.task][outcome.metric].loss
    scores = np.empty((n_folds, len(sizes)))
    for u, split in enumerate(showcase.splits[:n_folds]):
        X_test = take_rows(showcase.X, split.test)
        for k, size in enumerate(sizes):
            rows = split.train[sample_rows(y[split.train], size, is_class, outcome.seed)]
            try:
                with findings():
                    model = clone(showcase.models[method])
                    model.fit(take_rows(showcase.X, rows), y[rows])
                    predicted = model.predict(X_test)
                    shares = full_shares(model, X_test, len(outcome.classes)) if is_class else (
                        predicted
                    )  # fmt: skip
            except ValueError:  # too few rows of a class
                return None
            scores[u, k] = loss(Answers(y[split.test], predicted, shares))
    scores = np.column_stack([scores, known[:n_folds]])
    if not np.isfinite(scores).all():
        return None
    measure, mean = Measure.of(outcome), scores.mean(axis=0)
    line = Line(
        whole.title, [*sizes, n_train], mean.tolist(), scores.min(axis=0).tolist(),
        scores.max(axis=0).tolist(), group=0,
    )  # fmt: skip
    caption = (
        f"Mean over {counted(n_folds, 'outer fold')}; the band reaches from the lowest to the "
        f"highest.{_trend(scores[:, -1] - scores[:, -2])}"
    )
    axes = Axis("Training rows", scale="log", decimals=0), measure.axis()
    return Section("learning", "Learning curve", [], [
        LineChart(f"{measure.label} by number of training rows", caption, *axes, [line])
    ])  # fmt: skip


def _trend(differences: Floats) -> str:
    """What the last doubling of the rows did, if the folds agree on it."""
    if len(differences) < _FOLDS:
        return ""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    if differences.mean() < -2 * error:
        return " It still falls: more rows would help."
    return " The last doubling of the rows made no clear difference."
