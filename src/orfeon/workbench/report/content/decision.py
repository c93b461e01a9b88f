"""Where to cut a probability: the confusion matrix of two classes for every threshold."""

from __future__ import annotations

import numpy as np

from orfeon.utils.text import short
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content.predictions import thinned
from orfeon.workbench.report.content.unseen import unseen
from orfeon.workbench.report.content_types import ThresholdChart

#: Thresholds of the slider.
_STEPS = 200


def threshold_chart(outcome: StudyOutcome) -> ThresholdChart | None:
    """The counts for each threshold, of predictions of rows that were not trained on."""
    found = unseen(outcome)
    if found is None or len(outcome.classes) != 2 or not np.isfinite(found.predictions).all():
        return None
    share, positive = found.predictions[:, 1], found.y == 1
    values = np.unique(share)
    # One half, thresholds between shares that occur, and one above all of them.
    cuts = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0 + 1e-6]])
    cuts = np.unique(np.append(cuts[thinned(len(cuts), _STEPS)], 0.5))
    hits = [int(np.count_nonzero(share[positive] >= cut)) for cut in cuts]
    alarms = [int(np.count_nonzero(share[~positive] >= cut)) for cut in cuts]
    names = [short(name, 40) for name in outcome.classes]
    caption = (
        f"Predict “{names[1]}” from this probability on. Set what a missed one costs, in false "
        "alarms; the button finds the threshold with the lowest cost on these rows."
    )
    return ThresholdChart(
        "Threshold and costs", caption, names[0], names[1], cuts.tolist(), alarms, hits,
        int(np.count_nonzero(~positive)), int(np.count_nonzero(positive)),
    )  # fmt: skip
