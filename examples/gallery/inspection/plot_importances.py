"""
Which features matter
=====================

A forest can tell what it draws from each feature, in two ways. *Impurity* adds up what its splits
have gained; it is free, and it gives credit to noise. *Permutation* shuffles a feature on the
samples that a tree did not see, and counts the errors that this costs.
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
# The 21 features of waveform are points along a wave, of which the first and the last say
# nothing. Three columns of pure noise are added.

X, y = make_waveform(500, random_state=0)
noise = np.random.default_rng(0).normal(size=(500, 3))
names = [f"point {i}" for i in range(1, 22)] + [f"noise {i}" for i in range(1, 4)]
table = pd.DataFrame(np.hstack([X, noise]), columns=names)
forest = RandomForestClassifier(200, random_state=0).fit(table, y)

# %%
# Two opinions
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
# What noise gets
# ---------------
# By impurity the five features that say nothing have a share each, for a tree that is grown to
# the end splits by anything. By permutation they are within two standard errors of nothing, or
# nearly so.

for kind, one in found.items():
    print(kind)
    for name in ("point 1", "point 21", "noise 1", "noise 2", "noise 3", "point 11"):
        place = names.index(name)
        print(f"  {name:9} {one.mean[place]:7.4f} ± {one.standard_error[place]:.4f}")

# %%
# So use permutation to leave features out. It says what *this forest* uses, and shares the credit
# among features that say the same; see :doc:`/guide/inspection`.
