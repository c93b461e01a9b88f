"""
Many classes: six ways to boost
===============================

With ten classes a guess is right one time in ten. AdaBoost.M1, the textbook form, needs members
that are right on *more than half* of the weight, and with small trees it soon has to stop. The
others require less, each in its own way.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    CARTClassifier,
)

# %%
# Six boosters
# ------------
# They differ in what is weighted and in what a member has to learn. Where a member separates only
# two classes, a stump is enough; where it has to tell all ten apart, or one half of them from the
# other, it is a tree of depth 4. M1 warns that it ends with fewer members than requested, which
# is the point here.

warnings.filterwarnings("ignore", "AdaBoostClassifier: boosting ended")
tree = CARTClassifier(max_depth=4)
boosters = {  # with the trees of a round
    "M1: right on half of the weight": (AdaBoostClassifier(tree, 40, algorithm="m1"), 1, "#7A7A7A"),
    "SAMME: better than guessing": (AdaBoostClassifier(tree, 40), 1, "#E69F00"),
    "M2: how plausible is each class": (AdaBoostM2Classifier(tree, 40), 1, "#0072B2"),
    "OC: one half of the classes?": (AdaBoostOCClassifier(tree, 40), 1, "#009E73"),
    "MH: each class against the rest": (AdaBoostMHClassifier(n_estimators=40), 10, "#D55E00"),
    "each pair of classes": (AdaBoostPairwiseClassifier(n_estimators=40), 45, "#CC79A7"),
}

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, train_size=600, stratify=y, random_state=0)
curves = {}
for name, (model, per_round, _) in boosters.items():
    model.set_params(random_state=0).fit(X, y)
    curves[name] = 1 - np.array(list(model.staged_score(X_test, y_test)))
    rounds = len(curves[name])
    print(
        f"{name:32} {rounds:3} rounds, {per_round * rounds:5} trees, "
        f"test error {curves[name][-1]:.1%}"
    )

# %%
# Round by round
# --------------
# A round is one tree for the first four, ten stumps (one per class) for MH, and 45 for the pairs.
# M1 ends where a member fails.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
for name, (_, per_round, colour) in boosters.items():
    rounds = np.arange(1, len(curves[name]) + 1)
    style = "-" if per_round == 1 else "--"
    ax.plot(rounds, 100 * curves[name], style, color=colour, label=name)
m1 = curves["M1: right on half of the weight"]
ax.plot([len(m1)], [100 * m1[-1]], "X", color="#7A7A7A", markersize=9)
ax.set(xlabel="rounds", ylabel="test error, %", xlim=(1, 40), ylim=(0, 70))
ax.set_title("Ten digits, 600 training samples; dashed: several stumps a round")
ax.legend(frameon=False)
plt.show()

# %%
# When to use which is described in :doc:`/guide/boosting`.
