"""
Why did the forest say so?
==========================

A forest of a hundred trees is no black box: each tree can say which tests a row passed. Exact
Shapley values add these up. This page explains a hundred predictions at once, then one of them, and
then asks what would have to be different.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from orfeon import RandomForestClassifier
from orfeon.inspection import (
    AccumulatedEffectsDisplay,
    ShapBeeswarmDisplay,
    ShapDependenceDisplay,
    ShapWaterfallDisplay,
    shap_values,
    why,
)

given = load_wine(as_frame=True)
X, y = given.data, given.target_names[given.target]
forest = RandomForestClassifier(random_state=0).fit(X, y)
values = shap_values(forest, X)

# %%
# All answers
# -----------
# Each point is a wine. To the right: the value of this feature won votes for the class. Colours are
# the values of the feature, from low to high.

ShapBeeswarmDisplay(values, name="class_0").plot(n_shown=8)
plt.show()

# %%
# One answer
# ----------
# From what the forest expects of any wine to what it predicts for this one. The bars sum to the
# difference, to the last digit.

row = 61
ShapWaterfallDisplay(values, row=row).plot(n_shown=8)
plt.show()

# %%
# In sentences
# ------------
# The same in words, with the samples behind the prediction, and with the smallest change found for
# which the forest would decide otherwise.

print(why(forest, X.iloc[[row]], X, y))

# %%
# One feature
# -----------
# Left: the Shapley values of proline, coloured by alcohol. Right: accumulated local effects, which
# move each wine only a little along the feature.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
ShapDependenceDisplay(values, "proline", name="class_0", colour_by="alcohol").plot(axes[0])
AccumulatedEffectsDisplay.from_estimator(forest, X, "proline", name="class_0", ax=axes[1])
plt.show()
