"""
IGP trees: two halves of the data take turns
============================================

A fully grown tree must be pruned, and the samples that decide where cannot be those that it was
grown on. *Iterative growing and pruning* (IGP) wastes none of them. It splits the data into halves:
one grows the tree, the other prunes it; then they change roles, and the remaining tree is grown
further and pruned again, until nothing changes. Each tree of the sequence is nested in the next, so
it ends after a few rounds.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import (
    BaggingClassifier,
    CARTClassifier,
    IGPCommitteesClassifier,
    IGPEnsembleClassifier,
    IGPTreeClassifier,
)
from orfeon.datasets import Diagonal, make_waveform
from orfeon.inspection import MapMosaicDisplay, map_mosaic

BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7A7A7A"

# %%
# The halves make the difference
# ------------------------------
# Another split into halves gives another tree from the same samples. That is all the variation an
# ensemble needs: no bootstrap samples, no sample left out.

X, y = make_waveform(300, random_state=0)
X_test, y_test = make_waveform(5000, random_state=1)
for seed in range(4):
    tree = IGPTreeClassifier(random_state=seed).fit(X, y)
    print(
        f"halves {seed}: {tree.n_rounds_} rounds, {tree.get_n_leaves():2} leaves, "
        f"test error {1 - tree.score(X_test, y_test):.1%}"
    )

# %%
# Staircases that become a line
# -----------------------------
# The classes lie above and below a diagonal. A single tree is a staircase; trees from other
# halves have their steps elsewhere.

diagonal, square = Diagonal(), ((0, 1), (0, 1))
mosaic = map_mosaic(
    IGPEnsembleClassifier(random_state=0),
    [diagonal.sample(300, random_state=0)],
    n_members=[1, 3, 11, 101],
    true_classes=diagonal,
    box=square,
    grid_resolution=200,
)
display = MapMosaicDisplay(mosaic).plot()
plt.show()

# %%
# Against bagging
# ---------------
# This compares an ensemble of IGP trees with bags of pruned trees on waveform. IGP committees go
# a step further: each of eleven committees boosts nine IGP trees, and the committees vote.

models = {
    "bagging of pruned trees": (BaggingClassifier(CARTClassifier(pruning="cv"), 99), GREY),
    "IGP ensemble": (IGPEnsembleClassifier(99), BLUE),
}
figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, (model, colour) in models.items():
    model.set_params(random_state=0).fit(X, y)
    errors = 1 - np.array(list(model.staged_score(X_test, y_test)))
    ax.plot(np.arange(1, 100), 100 * errors, color=colour, label=name)
    print(f"{name:24} {errors[-1]:.1%}")
committees = IGPCommitteesClassifier(random_state=0).fit(X, y)
error = 1 - committees.score(X_test, y_test)
print(f"{'IGP committees, 11 x 9':24} {error:.1%}")
ax.plot([99], [100 * error], "D", color=GREEN, label="IGP committees, 11 of 9 trees", clip_on=False)
ax.set(xlim=(1, 99), ylim=(16, 36), xlabel="trees", ylabel="test error, %")
ax.set_title("Waveform: ensembles of 99 trees")
ax.legend(frameon=False)
plt.show()
