"""
Boosting for regression: AdaBoost.R, AdaBoost.R2 and gradient boosting
======================================================================

How do you boost a regressor, which is never quite right and never quite wrong? There are three
answers:

- **AdaBoost.R** turns each sample into all questions "is the target above this number?", and
  weights the questions;
- **AdaBoost.R2** weights samples by the size of their error. Both predict a weighted *median*;
- **gradient boosting** fits what is left to explain, and *adds* a small step.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import (
    AdaBoostR2Regressor,
    AdaBoostRRegressor,
    CARTRegressor,
    GradientBoostingRegressor,
)
from orfeon.datasets import make_friedman1

# %%
# A curve with a jump
# -------------------

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 6, 200))[:, None]


def truth(x):
    return np.sin(2 * x) + np.where(x > 3.5, 1.5, 0.0)


y = truth(X[:, 0]) + rng.normal(0, 0.25, 200)
boosters = {
    "AdaBoost.R": (
        AdaBoostRRegressor(CARTRegressor(max_depth=5), 20, sampling="resample"),
        "#009E73",
    ),
    "AdaBoost.R2": (AdaBoostR2Regressor(CARTRegressor(max_depth=4), 20), "#D55E00"),
    "gradient boosting": (GradientBoostingRegressor(n_estimators=100), "#0072B2"),
}

grid = np.linspace(0, 6, 600)[:, None]
figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.6), layout="constrained", sharey=True)
for ax, (name, (model, colour)) in zip(axes, boosters.items(), strict=True):
    model.set_params(random_state=0).fit(X, y)
    answers = model.predict(grid)
    error = np.sqrt(np.mean((answers - truth(grid[:, 0])) ** 2))
    ax.scatter(X[:, 0], y, s=8, color="0.75", linewidths=0)
    ax.plot(grid, truth(grid[:, 0]), color="0.35", linestyle="--", linewidth=1)
    ax.plot(grid, answers, color=colour, linewidth=1.6)
    ax.set(title=f"{name}\n{error:.2f} from the true curve", xlabel="feature")
axes[0].set_ylabel("target; dashed: true curve")
plt.show()

# %%
# The bound of AdaBoost.R
# -----------------------
# AdaBoost.R has what the others lack: a bound on the squared training error that follows from the
# losses of its members alone.

booster = boosters["AdaBoost.R"][0]
squared = np.mean((booster.predict(X) - y) ** 2)
print(f"squared training error {squared:.3f}, at most {booster.squared_error_bounds_[-1]:.3f}")
assert squared <= booster.squared_error_bounds_[-1]

# %%
# Ten features
# ------------
# Friedman's first problem, where half of the features are noise:

X, y = make_friedman1(300, random_state=0)
X_test, y_test = make_friedman1(2000, random_state=1)
for name, model in {
    "AdaBoost.R": AdaBoostRRegressor(CARTRegressor(), 50, sampling="resample"),
    "AdaBoost.R2": AdaBoostR2Regressor(CARTRegressor(), 50),
    "gradient boosting": GradientBoostingRegressor(),
}.items():
    model.set_params(random_state=0).fit(X, y)
    print(f"{name:18} R² = {model.score(X_test, y_test):.3f}")
