"""Where to cut a probability: the confusion matrix of two classes for every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.text import short
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.thresholds import rarer_class
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
    code = _positive(outcome, found.y)
    share, positive = found.predictions[:, code], found.y == code
    values = np.unique(share)
    # One half, thresholds between shares that occur, and one above all of them.
    cuts = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0 + 1e-6]])
    cuts = np.unique(np.append(cuts[thinned(len(cuts), _STEPS)], 0.5))
    hits = [int(np.count_nonzero(share[positive] >= cut)) for cut in cuts]
    alarms = [int(np.count_nonzero(share[~positive] >= cut)) for cut in cuts]
    names = [short(name, 40) for name in outcome.classes]
    caption = (
        f"Predict “{names[code]}” at this probability or more. Set the cost of a missed one, in "
        "false alarms; the button finds the threshold with the lowest cost on these rows."
    )
    if outcome.decision is not None and outcome.decision.threshold is not None:
        caption += f" The model's own threshold is {outcome.decision.threshold:.3g}."
    return ThresholdChart(
        "Threshold and costs", caption, names[1 - code], names[code], cuts.tolist(), alarms, hits,
        int(np.count_nonzero(~positive)), int(np.count_nonzero(positive)),
    )  # fmt: skip


def _positive(outcome: StudyOutcome, y: npt.NDArray[Any]) -> int:
    """The class that costs are about: that of the study's decision, or the rarer one."""
    if outcome.decision is not None and outcome.decision.positive:
        return list(outcome.classes).index(outcome.decision.positive)
    return rarer_class(y)
