"""
Too simple, too complex: errors against complexity
==================================================

A model that is too simple cannot follow the data, and one that is too complex follows its noise.
The training error does not show the difference: it falls all the way. The test error falls and
rises again, and its parts explain why.
"""

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

from orfeon import CARTRegressor, RandomForestRegressor
from orfeon.datasets import Friedman1, ThreeNorm
from orfeon.inspection import ComplexityDisplay, complexity_curve

# %%
# Trees with more and more leaves
# -------------------------------
# A tree of each size is trained on thirty training sets and predicts the same test points. On the
# left the training error falls to zero, while the test error has its minimum in between. On the
# right are the parts of the test error: the squared bias falls, the variance grows, and the noise
# stays.

leaves = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)
sizes = {"n_train": 200, "n_test": 300, "n_repetitions": 30, "random_state": 0}
curve = complexity_curve(
    CARTRegressor(), Friedman1(), parameter="max_leaf_nodes", values=leaves, unbiased=True, **sizes
)
figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
ComplexityDisplay(curve).plot(axes[0])
ComplexityDisplay(curve).plot(axes[1], show="parts")
plt.show()

print("one tree is best with", curve.best, "leaves:", curve.test_error.min().round(1))

# %%
# What an ensemble changes
# ------------------------
# A forest averages the variance away, so its trees may be as large as you like: the test error
# does not rise again.

forest = RandomForestRegressor(50)
curve = complexity_curve(
    forest, Friedman1(), parameter="max_leaf_nodes", values=leaves, unbiased=True, **sizes
)
display = ComplexityDisplay(curve).plot(show="parts")
plt.show()

print("a forest is best with", curve.best, "leaves:", curve.test_error.min().round(1))

# %%
# Other models
# ------------
# This works with any parameter of any scikit-learn estimator. With many neighbours a vote is
# simple, with one it is as complex as it can be.

curve = complexity_curve(
    KNeighborsClassifier(),
    ThreeNorm(n_features=4),
    parameter="n_neighbors",
    values=(101, 51, 31, 21, 11, 5, 3, 1),
    **sizes,
)
display = ComplexityDisplay(curve).plot()
plt.show()

# %%
# The formulas of bias and variance are in :doc:`/guide/inspection`.
