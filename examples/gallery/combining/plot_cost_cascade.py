"""
Cheap first: a cost cascade
===========================

A linear model predicts at once, a forest takes longer, and support vectors longer still. Most rows
are easy and do not need the most expensive model. ``CostCascadeClassifier`` queries the models from
cheap to expensive, and the first that is confident enough predicts. It works out what "enough" is
from how much accuracy you allow it to lose.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from orfeon import CostCascadeClassifier, RandomForestClassifier
from orfeon.datasets import make_threenorm

COLOURS = ("#009E73", "#E69F00", "#D55E00")

# %%
# Three levels
# ------------
# The costs are given here, so that the result is always the same. Without them, seconds are
# measured.

X, y = make_threenorm(1000, random_state=0)
X_test, y_test = make_threenorm(4000, random_state=1)
levels = [
    ("line", LogisticRegression()),
    ("forest", RandomForestClassifier(50)),
    ("support vectors", SVC()),
]
costs = np.array([1, 10, 120])
cascades = {
    loss: CostCascadeClassifier(levels, costs=costs, max_loss=loss, random_state=0).fit(X, y)
    for loss in (0.005, 0.01, 0.02, 0.04)
}

# %%
# Which model predicts
# --------------------
# The more accuracy may be lost, the more rows stop at the first level.

names = [name for name, _ in levels]
answered, error, cost = [], [], []
for loss, cascade in cascades.items():
    level = cascade.answer_level(X_test)
    answered.append(np.bincount(level, minlength=3) / len(level))
    error.append(1 - cascade.score(X_test, y_test))
    cost.append(np.cumsum(costs)[level].mean())
    print(f"{loss:.1%} may be lost: test error {error[-1]:.1%}, mean cost of a row {cost[-1]:.0f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
bottom = np.zeros(len(cascades))
labels = [f"{loss:.1%}" for loss in cascades]
for name, colour, share in zip(names, COLOURS, np.transpose(answered), strict=True):
    left.bar(labels, 100 * share, bottom=bottom, color=colour, label=name, width=0.7)
    bottom += 100 * share
left.set_title("Which model predicts")
left.set(xlabel="accuracy that may be lost", ylabel="rows that it predicts, %", ylim=(0, 100))
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
for name, price, colour, model in zip(names, costs, COLOURS, cascade.estimators_, strict=True):
    alone = 100 * (1 - model.score(X_test, y_test))
    right.plot([price], [alone], "s", color=colour, markersize=8, label=f"{name} alone")
right.plot(cost, np.multiply(100, error), "o-", color="#0072B2", label="cascades")
right.set_title("What it costs")
right.set(xscale="log", xlabel="mean cost of a row", ylabel="test error, %")
right.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
right.legend(frameon=False, fontsize="small")
plt.show()

# %%
# A cascade whose first model is poor queries every model and saves nothing. For *one* large
# ensemble early decision is simpler and saves more: see :doc:`/guide/combining`.
