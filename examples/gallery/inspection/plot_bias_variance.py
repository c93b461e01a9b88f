"""
Bias and variance: what an ensemble removes
===========================================

Train the same learner repeatedly on fresh samples of one problem. Its predictions at a point are
wrong *on average* (bias), and they *vary* (variance). A large tree has little bias and much
variance, a small one the reverse. What do bagging and boosting do to each?
"""

import matplotlib.pyplot as plt

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
)
from orfeon.datasets import Friedman1, ThreeNorm
from orfeon.inspection import BiasVarianceDisplay, resample_predictions

# %%
# Numbers first
# -------------
# For squared error there is one way to separate the two. Thirty trees on thirty training sets,
# and thirty bags:

for name, learner in {
    "a tree": CARTRegressor(),
    "a bag of 25": BaggingRegressor(n_estimators=25),
}.items():
    repeated = resample_predictions(
        learner, Friedman1(), n_train=200, n_test=200, n_repetitions=30, random_state=0
    )
    parts = repeated.decompose(unbiased=True)
    print(
        f"{name:12} error {parts.error:5.2f}: bias² {parts.bias:.2f}, variance {parts.variance:.2f}"
    )

# %%
# Averaging removes most of the variance, and the bias stays. That is bagging in one sentence.
#
# Classes
# -------
# For classes there are several definitions, and they disagree. By Breiman's, there is bias where
# the class predicted most often is not the best one. On threenorm, with 40 trainings each:

small = CARTClassifier(max_depth=3)
learners = {
    "large tree": CARTClassifier(),
    "bagging": BaggingClassifier(n_estimators=25),
    "small tree": small,
    "boosting": AdaBoostClassifier(small, n_estimators=25, on_failure="bootstrap"),
}
repeated = {
    name: resample_predictions(
        learner, ThreeNorm(), n_train=300, n_test=300, n_repetitions=40, random_state=0
    )
    for name, learner in learners.items()
}
figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
for ax, definition in zip(axes, ("breiman", "kohavi_wolpert"), strict=True):
    BiasVarianceDisplay.from_resampled(
        repeated, definition=definition, n_resamples=100, random_state=0, ax=ax
    )
plt.show()

# %%
# The same in numbers
# -------------------
# The gain over the base learner, in points of error, with 95% intervals:

for ensemble, base in (("bagging", "large tree"), ("boosting", "small tree")):
    change = repeated[ensemble].difference_from(
        repeated[base], "breiman", n_resamples=200, random_state=0
    )
    for part in ("bias", "variance"):
        low, high = (100 * end for end in change.interval(part))
        print(
            f"{ensemble:9} {part:9} {100 * change.estimates[part]:+6.1f} [{low:+.1f}, {high:+.1f}]"
        )

# %%
# Both remove mostly variance. With forty trainings the bias is still uncertain;
# :doc:`/guide/inspection` describes what may be claimed with hundreds of them.
