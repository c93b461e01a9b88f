"""
How far may the target be from the prediction?
==============================================

A forest predicts a number. Each of its trees left out some training samples, so the forest also
knows how far it was from the targets of those. From this it makes intervals that hold nine targets
in ten, without a second data set.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import RandomForestRegressor
from orfeon.inspection import IntervalDisplay, interval_coverage

# %%
# Noise that grows
# ----------------
# Large targets are noisier than small ones, as prices and counts often are.


def draw(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 5))
    noise = 0.3 * rng.normal(size=n_rows) + 3 * X[:, 0] ** 2 * rng.normal(size=n_rows)
    return X, 10 * X[:, 0] + np.sin(6 * X[:, 1]) + noise


X, y = draw(1000, 0)
X_test, y_test = draw(3000, 1)
forest = RandomForestRegressor(
    min_samples_leaf=5, oob_score=True, quantiles=True, random_state=0
).fit(X, y)

# %%
# The same width everywhere
# -------------------------
# The jackknife+ after bootstrap holds 90% of the targets as promised. But it holds all of the small
# ones and too few of the large ones: figures at the top are the coverage of each fifth of the rows.

IntervalDisplay.from_estimator(forest, X_test, y_test, coverage=0.9)
plt.show()

# %%
# A width of its own for each row
# -------------------------------
# Quantiles of the forest know where the noise is. What they lack is learnt from out-of-bag samples
# and added.

IntervalDisplay.from_estimator(forest, X_test, y_test, coverage=0.9, method="quantile")
plt.show()

for method in ("jackknife", "quantile"):
    found = interval_coverage(y_test, forest.predict_interval(X_test, method=method))
    print(f"{method}: {found.coverage:.1%} held, mean width {found.width:.2f}")
