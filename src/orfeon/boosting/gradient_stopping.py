"""What the parameters of gradient boosting mean for early stopping.

Improvement is measured on a validation set that is given or drawn, or by cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from orfeon.boosting.custom_loss import loss_name
from orfeon.boosting.gradient import Sample, Stage
from orfeon.boosting.gradient_parameters import GradientParameters
from orfeon.boosting.losses import Loss
from orfeon.boosting.offsets import has_model, is_fitted
from orfeon.boosting.stopping import Patience, Validation, cross_validated_rounds, draw_folds
from orfeon.ensembles.holdout import set_aside
from orfeon.ensembles.perturbation import member_generator
from orfeon.utils.progress import Progress
from orfeon.utils.seeding import Purpose
from orfeon.utils.types import Floats, Mask

#: ``n_iter_no_change``, if it is None.
_ROUNDS_WITHOUT = 10
#: With fewer samples, ``early_stopping="auto"`` does not stop: too few could be set aside.
LEAST_STOPPED = 30
#: With more copies of each different sample, on average, it does not stop either: copies stay
#: together, so a validation set would be other samples, and few can hardly be learnt by heart.
MOST_COPIES_STOPPED = 10
#: With more samples, it does not boost all of them again.
MOST_REFITTED = 10_000
#: Before it does, it finds the number of rounds by steps so many times as large, which need so many
#: times fewer rounds.
STRIDE = 2
#: Unless these steps are larger than this.
_LARGEST_STEP = 0.5


def cross_validates(parameters: GradientParameters) -> bool:
    return _rounds_without(parameters) is not None and parameters.early_stopping == "cv"


def _rounds_without(parameters: GradientParameters) -> int | None:
    """``n_iter_no_change`` in effect; None without early stopping."""
    if not parameters.early_stopping:
        return None
    given = parameters.n_iter_no_change
    return _ROUNDS_WITHOUT if given is None else given


def stride_for(parameters: GradientParameters, stops_by: str | None) -> int:
    """How many rounds of the model a round of the search for their number stands for."""
    rounds_without = _rounds_without(parameters)
    if stops_by != "refit" or rounds_without is None:
        return 1
    is_short = parameters.n_estimators <= STRIDE * rounds_without
    return 1 if is_short or STRIDE * parameters.learning_rate > _LARGEST_STEP else STRIDE


def rounds_to_search(parameters: GradientParameters, stride: int) -> int:
    """The most rounds of the search."""
    return -(-parameters.n_estimators // stride)


def patience_for(parameters: GradientParameters) -> Patience:
    # A validation set that is given is a wish to stop.
    return Patience(_rounds_without(parameters) or _ROUNDS_WITHOUT, parameters.tol)


def check_early_stopping(parameters: GradientParameters, loss: Loss, X_val: Any) -> None:
    """Reject ways to stop early that do not go together."""
    is_cv = cross_validates(parameters)
    if X_val is not None and (is_cv or parameters.early_stopping is False):
        raise ValueError(
            f"X_val is given, but early_stopping={parameters.early_stopping!r} does not use it; "
            'use early_stopping="validation".'
        )
    wants_to = _rounds_without(parameters) is not None and parameters.early_stopping != "auto"
    if (wants_to or X_val is not None) and not loss.has_value:
        raise ValueError(
            f"early stopping needs the value of loss={loss_name(parameters.loss)}: give the loss "
            "an attribute value(y, raw_predictions, weights) that returns the weighted mean loss."
        )
    if is_cv and has_model(parameters.init) and not is_fitted(parameters.init):
        raise ValueError(
            f'early_stopping="cv" needs a fitted init, but init={parameters.init} is not; use '
            'early_stopping="validation".'
        )


def way_to_stop(
    parameters: GradientParameters, loss: Loss, n_samples: float, *, fits_init: bool
) -> str | None:
    """How samples that were drawn measure improvement; None without early stopping.

    ``fits_init`` is whether the model to start from is still to be fitted.
    """
    n_rounds = _rounds_without(parameters)
    if n_rounds is None:
        return None
    if parameters.early_stopping != "auto":
        return "cv" if cross_validates(parameters) else "validation"
    if n_samples < LEAST_STOPPED or parameters.n_estimators <= n_rounds or not loss.has_value:
        return None
    # A model to start from is fitted once, without the validation set.
    return "refit" if not fits_init and n_samples <= MOST_REFITTED else "validation"


def is_repeated(sample: Sample) -> bool:
    """Whether there are too many copies for ``early_stopping="auto"``."""
    return len(sample.y) * MOST_COPIES_STOPPED < sample.n_samples


def draw_validation(
    sample: Sample, share: float, sequence: np.random.SeedSequence, n_classes: int
) -> Mask:
    """The samples of a validation set; ``n_classes`` is 0 in regression."""
    held = draw_held(sample, share, sequence, by_class=n_classes > 0)
    if n_classes > 0 and not held.any():  # too few of each class: draw from all together
        held = draw_held(sample, share, sequence, by_class=False)
        held &= np.bincount(sample.y[~held], minlength=n_classes)[sample.y] > 0
    return held


def draw_held(
    sample: Sample, share: float, sequence: np.random.SeedSequence, *, by_class: bool
) -> Mask:
    rng = member_generator(sequence, Purpose.SETTING_ASIDE)
    return set_aside(sample.encoded(), sample.y, sample.weights, share, rng, by_class=by_class)


def draw_fold_masks(
    sample: Sample, n_folds: int, sequence: np.random.SeedSequence, n_classes: int
) -> list[Mask]:
    """Which samples are in each fold."""
    rng = member_generator(sequence, Purpose.SETTING_ASIDE)
    fold = draw_folds(sample, n_folds, rng, by_class=n_classes > 0)
    present = np.unique(fold)
    if len(present) < 2:
        raise ValueError(
            "early_stopping='cv' needs at least two different samples, but all of the "
            f"n_samples={sample.n_samples} are the same; use early_stopping=False."
        )
    return [fold == k for k in present]


def best_rounds_of(
    parameters: GradientParameters,
    sample: Sample,
    held: list[Mask],
    begin: Callable[[Mask, int], tuple[Iterator[Stage], Validation]],
    n_threads: int,
    progress: Progress,
    stride: int,
) -> tuple[int, Floats]:
    """The best number of rounds without the samples of each mask, and the losses of all tried.

    ``begin`` starts boosting without the samples of a mask, in a number of threads; one of its
    rounds stands for ``stride`` rounds.
    """
    # Folds run in parallel; threads left over are shared among them.
    n_each = max(1, n_threads // len(held))
    folds = [begin(mask, n_each) for mask in held]
    shares = np.array([sample.weights[mask].sum() for mask in held])
    patience = patience_for(parameters)

    def after() -> bool:
        return progress.update_and_check(1)

    ended = cross_validated_rounds(
        folds, shares / shares.sum(), rounds_to_search(parameters, stride), patience,
        n_jobs=n_threads, after=after,
    )  # fmt: skip
    n_rounds = patience.best if ended else len(patience.losses)
    return min(stride * n_rounds, parameters.n_estimators), np.array(patience.losses)
