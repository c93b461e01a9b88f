"""
A gate and its experts
======================

A mixture of experts divides a problem while it solves it. A *gate* looks at the features and
decides how much each expert counts; each expert is a simple model that is right in its own region.
They are trained together: the EM algorithm alternates between estimating which expert is
responsible for which sample and fitting them accordingly.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor

COLOURS = ("#0072B2", "#E69F00", "#009E73")

# %%
# Three lines
# -----------
# The targets follow three straight lines. The mixture does not know where one ends and the next
# begins.

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (300, 1))
y = np.interp(X[:, 0], [-3, -1, 1, 3], [2.0, -1.0, 1.5, 0.0]) + rng.normal(0, 0.2, 300)
model = MixtureOfExpertsRegressor(n_experts=3, alpha=0.1, random_state=0).fit(X, y)

grid = np.linspace(-3, 3, 301)[:, None]
shares, lines = model.gate_proba(grid), model.expert_predict(grid)

figure, (above, below) = plt.subplots(
    2, 1, figsize=(6.4, 5.0), layout="constrained", sharex=True, height_ratios=(3, 1)
)
above.scatter(X[:, 0], y, s=8, color="0.75", linewidths=0)
from_left = np.argsort((shares * grid).sum(axis=0) / shares.sum(axis=0))
for number, (expert, colour) in enumerate(zip(from_left, COLOURS, strict=True), 1):
    answered = np.where(shares[:, expert] > 0.05, lines[:, expert], np.nan)
    above.plot(grid, answered, color=colour, linewidth=3, alpha=0.8, label=f"expert {number}")
    below.plot(grid, shares[:, expert], color=colour)
above.plot(grid, model.predict(grid), color="#222222", linewidth=1, label="the mixture")
above.legend(frameon=False, ncols=4, loc="upper center")
above.set(ylabel="target", ylim=(-2, 3.2), title="Experts where they are active")
below.set(ylabel="gate's share", xlabel="feature", xlim=(-3, 3), ylim=(-0.05, 1.05))
plt.show()

# %%
# Three sides of a triangle
# -------------------------
# The same for classes. A single line cannot tell whether a point is inside a triangle; three can.


def draw(n, seed):
    points = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    angles = np.deg2rad([90, 210, 330])
    return points, (points @ [np.cos(angles), np.sin(angles)]).max(axis=1) < 0.4


X, y = draw(600, seed=0)
X_test, y_test = draw(5000, seed=1)
for n_experts in (1, 2, 3):
    mixture = MixtureOfExpertsClassifier(n_experts=n_experts, alpha=0.01, random_state=0).fit(X, y)
    rises = (np.diff(mixture.log_likelihood_curve_) >= 0).all()
    print(
        f"{n_experts} experts: test error {1 - mixture.score(X_test, y_test):5.1%}, "
        f"likelihood never fell: {rises}"
    )
