"""
Samplers: what they keep, and what they are good for
====================================================

Another way to treat a rare class is to change the sample: leave out negative samples, or make new
positive ones. imbalanced-learn has the classical samplers, and orfeon adds some. All of them go in
front of any classifier, in a pipeline that resamples only for training.
"""

import matplotlib.pyplot as plt
import numpy as np
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import EditedNearestNeighbours, RandomUnderSampler

from orfeon import BorderSelection, RandomForestClassifier, WeightedDistanceEditing
from orfeon.datasets import make_gaussian_clouds
from orfeon.imbalance import geometric_mean

# %%
# Five samplers
# -------------

X, y = make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=0)
X_test, y_test = make_gaussian_clouds(5000, priors=(0.95, 0.05), random_state=1)
samplers = {
    "random undersampling": RandomUnderSampler(random_state=0),
    "SMOTE": SMOTE(random_state=0),
    "edited neighbours": EditedNearestNeighbours(),
    "weighted-distance editing": WeightedDistanceEditing(),
    "border selection": BorderSelection(n_neighbors=3),
}

# %%
# What remains
# ------------
# Blue is negative, orange positive. Undersampling thins the cloud evenly. SMOTE draws new
# positive samples between existing ones. The editing rules remove negative samples from the
# region of the positive ones, and border selection keeps only what lies between the two.

figure, axes = plt.subplots(
    2, 3, figsize=(9.6, 6.4), layout="constrained", sharex=True, sharey=True
)
for ax, (name, sampler) in zip(axes.flat, {"all samples": None, **samplers}.items(), strict=True):
    kept, labels = (X, y) if sampler is None else sampler.fit_resample(X, y)
    counts = np.bincount(labels)
    for code, (colour, marker) in enumerate((("#0072B2", "o"), ("#E69F00", "^"))):
        points = kept[labels == code]
        ax.scatter(*points.T, s=9, color=colour, marker=marker, alpha=0.7, linewidths=0)
    ax.set_title(f"{name}\n{counts[0]} and {counts[1]}", fontsize="medium")
plt.show()

# %%
# What they are good for
# ----------------------
# A forest behind each of them, evaluated on new samples in their natural proportions by *g*, the
# geometric mean of the accuracies on both classes.

forest = RandomForestClassifier(100, random_state=0)
plain = geometric_mean(y_test, forest.fit(X, y).predict(X_test))
print(f"{'no sampler':26} g = {plain:.3f}")
for name, sampler in samplers.items():
    answers = make_pipeline(sampler, forest).fit(X, y).predict(X_test)
    print(f"{name:26} g = {geometric_mean(y_test, answers):.3f}")

# %%
# On another problem the ranking differs: border selection is poor here, where the classes
# overlap, and good where they hardly do. :doc:`/guide/unbalanced` has the comparison on three
# problems.
