"""
A forest as a neighbourhood
===========================

Why did the forest predict that? A tree predicts from the samples in one leaf. So a forest predicts
a weighted mean of *all* samples, in which those that often share a leaf with the row weigh most.
The forest has learnt its own notion of what is near.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import RandomForestClassifier, RandomForestRegressor
from orfeon.datasets import make_circle, make_friedman1, make_waveform
from orfeon.inspection import (
    ForestWeightsDisplay,
    OutlierDisplay,
    ProximityDisplay,
    outlier_scores,
    row_weights,
)

# %%
# What a prediction consists of
# -----------------------------
# The weights of the training samples for one row. Their weighted mean *is* the prediction.

X, y = make_friedman1(300, random_state=0)
forest = RandomForestRegressor(100, random_state=0).fit(X, y)
row = np.full(10, 0.5)
made_of = row_weights(forest, X, y, row)
print(
    f"predicted {forest.predict([row])[0]:.3f}, "
    f"weighted mean of the targets {made_of.prediction():.3f}"
)
print(
    f"{np.sum(made_of.weights > 0)} of 300 samples have a say, "
    f"as much as {made_of.n_effective:.0f} equal ones"
)

# %%
# Near the border of a circle the neighbourhood is long and narrow: it follows the border, across
# which the prediction changes.

X, y = make_circle(500, random_state=0)
circle = RandomForestClassifier(200, random_state=0).fit(X, y)
display = ForestWeightsDisplay.from_estimator(circle, X, y, [0.5, 0.88])
plt.show()

# %%
# A map of the samples
# --------------------
# The *proximity* of two rows is the share of trees in which they are in the same leaf. Laid out
# in a plane so that near rows are close together, the three waveforms become three arms. A row
# with little proximity to its own class is an outlier: worth a look, and no more than a look.

X, y = make_waveform(300, random_state=0)
waves = RandomForestClassifier(200, random_state=0).fit(X, y)
near = waves.proximities(X)
scores = outlier_scores(near, y)
print("the five most unusual rows:", np.argsort(-scores)[:5])

figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.6), layout="constrained")
ProximityDisplay(near, y).plot(axes[0], kind="plane")
OutlierDisplay(scores, y).plot(axes[1])
plt.show()
