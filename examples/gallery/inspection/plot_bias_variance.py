"""
Bias and variance: what an ensemble takes away
==============================================

Train the same learner again and again, on fresh samples of one problem. Its answers about a point
are wrong *in the mean* (bias), and they *differ* (variance). A large tree has little bias and much
variance, a small one the reverse. What do bagging and boosting do to either?
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
# For squared errors there is one way to tell the two apart. Thirty trees on thirty samples, and
# thirty bags:

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
# The mean takes most of the variance away, and the bias stays. That is bagging in one line.
#
# Classes
# -------
# For classes there are several definitions, and they do not agree. By Breiman's, bias is where the
# class that is predicted most often is not the best one. On threenorm, 40 trainings each:

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
# The same in figures
# -------------------
# What is gained from the base learner, in points of error, with 95% intervals:

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
# Variance is what both take away most. With forty trainings the bias is still uncertain; what may
# be claimed with hundreds of them is in :doc:`/guide/inspection`.
