"""
Which features matter
=====================

A forest can measure how much it relies on each feature, in two ways. *Impurity* adds up what the
splits on the feature gained; it is free, but it credits noise features too. *Permutation* shuffles
a feature on the samples that a tree did not see, and counts the additional errors.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from orfeon import RandomForestClassifier
from orfeon.datasets import make_waveform
from orfeon.inspection import ImportanceDisplay, importances

# %%
# Waves, and some noise
# ---------------------
# The 21 features of waveform are points along a wave; the first and the last carry no
# information. Three columns of pure noise are added.

X, y = make_waveform(500, random_state=0)
noise = np.random.default_rng(0).normal(size=(500, 3))
names = [f"point {i}" for i in range(1, 22)] + [f"noise {i}" for i in range(1, 4)]
table = pd.DataFrame(np.hstack([X, noise]), columns=names)
forest = RandomForestClassifier(200, random_state=0).fit(table, y)

# %%
# Two measures
# ------------
# Bars are means over the trees, whiskers their standard errors.

found = {
    "impurity": importances(forest),
    "permutation": importances(forest, table, y, kind="permutation", random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(9.6, 5.6), layout="constrained")
for ax, one in zip(axes, found.values(), strict=True):
    ImportanceDisplay(one).plot(ax, n_shown=24)
plt.show()

# %%
# How noise features score
# ------------------------
# By impurity each of the five uninformative features gets a share, because fully grown trees
# split on anything. By permutation they are within about two standard errors of zero.

for kind, one in found.items():
    print(kind)
    for name in ("point 1", "point 21", "noise 1", "noise 2", "noise 3", "point 11"):
        place = names.index(name)
        print(f"  {name:9} {one.mean[place]:7.4f} ± {one.standard_error[place]:.4f}")

# %%
# So use permutation to drop features. It shows what *this forest* uses, and correlated features
# share importance; see :doc:`/guide/inspection`.
