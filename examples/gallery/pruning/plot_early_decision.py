"""
Ask fewer members: early decision
=================================

Most rows are easy. When 60 of 100 members have voted for one class, the other 40 cannot change it,
and need not be asked. ``early_decision`` stops with each row as soon as that is so; with a
*confidence* below 1, as soon as a change is improbable.
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
# The exact way never changes an answer. The other one does now and then, and the answers that
# change were close calls, so that the error hardly moves.

answers = forest.predict(X_test)
for name, decided in {"exactly": exact, "at confidence 0.99": nearly}.items():
    changed = np.mean(decided.predictions != answers)
    error = np.mean(decided.predictions != y_test)
    print(f"{name:19} {changed:.2%} of the answers change, test error {error:.2%}")

# %%
# Where the members are needed
# ----------------------------
# Asked about every point of the square, the forest spends its members along the border of the
# circle, where it is in doubt, and hardly any elsewhere.

ticks = np.linspace(0, 1, 160)
plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
queried = early_decision(forest, plane, confidence=0.99).n_queried.reshape(160, 160)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.0), layout="constrained")
image = left.imshow(queried, origin="lower", extent=(0, 1, 0, 1), cmap="magma_r", vmin=0, vmax=301)
left.set(title="members asked, confidence 0.99", xlabel="first feature", ylabel="second feature")
figure.colorbar(image, ax=left, label="of 301 members")

bins = np.linspace(0, 301, 44)
for name, decided, colour in (("exactly", exact, BLUE), ("confidence 0.99", nearly, VERMILLION)):
    right.hist(decided.n_queried, bins, color=colour, alpha=0.75, label=name)
    right.axvline(decided.mean_queried, color=colour, linestyle="--", linewidth=1)
right.set(title="rows by members asked; dashed: the mean", xlabel="members asked", ylabel="rows")
right.legend(frameon=False, loc="center right")
plt.show()

# %%
# Exact decisions come after half of the votes at the earliest, which is the wall in the middle of
# the histogram. The confidence is meant for members in random order; ask the members of a pruned
# ensemble exactly.
