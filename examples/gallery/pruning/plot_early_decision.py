"""
Query fewer members: early decision
===================================

Most rows are easy. When 60 of 100 members have voted for one class, the other 40 cannot change it
and need not be queried. ``early_decision`` stops at that point for each row; with a *confidence*
below 1, as soon as a change is unlikely.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import RandomForestClassifier, early_decision
from orfeon.datasets import make_circle

BLUE, VERMILLION = "#0072B2", "#D55E00"

# %%
# A forest and a circle
# ---------------------

X, y = make_circle(500, random_state=0)
X_test, y_test = make_circle(5000, random_state=1)
forest = RandomForestClassifier(301, random_state=0).fit(X, y)

exact = early_decision(forest, X_test)
nearly = early_decision(forest, X_test, confidence=0.99)
print(exact)
print(nearly)

# %%
# The exact mode never changes a prediction. The other one sometimes does, and the predictions
# that change were close calls, so the error hardly changes.

answers = forest.predict(X_test)
for name, decided in {"exactly": exact, "at confidence 0.99": nearly}.items():
    changed = np.mean(decided.predictions != answers)
    error = np.mean(decided.predictions != y_test)
    print(f"{name:19} {changed:.2%} of the predictions change, test error {error:.2%}")

# %%
# Where the members are needed
# ----------------------------
# Queried at every point of the square, the forest uses its members along the border of the
# circle, where the vote is close, and hardly any elsewhere.

ticks = np.linspace(0, 1, 160)
plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
queried = early_decision(forest, plane, confidence=0.99).n_queried.reshape(160, 160)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.0), layout="constrained")
image = left.imshow(queried, origin="lower", extent=(0, 1, 0, 1), cmap="magma_r", vmin=0, vmax=301)
left.set(title="members queried, confidence 0.99", xlabel="first feature", ylabel="second feature")
figure.colorbar(image, ax=left, label="of 301 members")

bins = np.linspace(0, 301, 44)
for name, decided, colour in (("exactly", exact, BLUE), ("confidence 0.99", nearly, VERMILLION)):
    right.hist(decided.n_queried, bins, color=colour, alpha=0.75, label=name)
    right.axvline(decided.mean_queried, color=colour, linestyle="--", linewidth=1)
right.set(title="rows by members queried; dashed: mean", xlabel="members queried", ylabel="rows")
right.legend(frameon=False, loc="center right")
plt.show()

# %%
# Exact decisions need at least half of the votes, which explains the jump in the middle of the
# histogram. The confidence assumes members in random order; use the exact mode for pruned
# ensembles.
