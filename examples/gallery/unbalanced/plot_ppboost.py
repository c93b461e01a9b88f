"""
PPBoost: boosting that does not chase noise
===========================================

AdaBoost raises the weight of everything that is misclassified, noise above all. PPBoost boosts
parallel perceptrons, which can tell noisy samples from borderline ones, and uses that in the
weights. Its four modes differ in what happens to noisy samples, and to negative ones that draw the
border into the positive class.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import ParallelPerceptronClassifier, PPBoostClassifier
from orfeon.datasets import make_gaussian_clouds
from orfeon.imbalance import negative_accuracy, positive_accuracy

LOOKS = {
    "adaboost": ("#7A7A7A", "o"),
    "negative": ("#E69F00", "v"),
    "positive": ("#D55E00", "^"),
    "balanced": ("#0072B2", "D"),
    "one parallel perceptron": ("#009E73", "s"),
}

# %%
# Four modes, ten training sets
# -----------------------------

X_test, y_test = make_gaussian_clouds(5000, priors=(0.95, 0.05), random_state=1)
found = {name: [] for name in LOOKS}
for draw in range(10):
    X, y = make_gaussian_clouds(600, priors=(0.95, 0.05), random_state=100 + draw)
    for name in found:
        if name == "one parallel perceptron":
            model = ParallelPerceptronClassifier(random_state=draw)
        else:
            model = PPBoostClassifier(mode=name, random_state=draw)
        answers = model.fit(X, y).predict(X_test)
        found[name].append([negative_accuracy(y_test, answers), positive_accuracy(y_test, answers)])

# %%
# Where each mode ends up
# -----------------------
# To the right: negative samples that are predicted negative. Up: positive samples that are found.
# Both should be high; dotted lines have the same geometric mean *g* of the two. Small marks are
# training sets, large ones their means.

figure, ax = plt.subplots(figsize=(6.6, 5.2), layout="constrained")
across = np.linspace(0.55, 1, 200)
for g in (0.6, 0.7, 0.8, 0.9):
    ax.plot(across, np.minimum(g**2 / across, 1.05), ":", color="0.7", linewidth=1)
    at = max(0.605, g**2 / 0.98)
    ax.text(at, g**2 / at + 0.01, f"g = {g}", color="0.45", fontsize="small")
print("mode                      acc-  acc+     g")
for name, (colour, marker) in LOOKS.items():
    points = np.array(found[name])
    ax.scatter(*points.T, s=16, color=colour, marker=marker, alpha=0.45, linewidths=0)
    ax.scatter(*points.mean(axis=0), s=110, color=colour, marker=marker, edgecolors="k", label=name)
    g = np.sqrt(points.prod(axis=1)).mean()
    print(f"{name:24} {points[:, 0].mean():5.2f} {points[:, 1].mean():5.2f} {g:5.2f}")
ax.set(xlabel="acc-, recall of the negative class", ylabel="acc+, recall of the positive class")
ax.set(xlim=(0.6, 1.01), ylim=(0, 1.05), title="One sample in twenty is positive")
ax.legend(frameon=False, loc="lower left")
plt.show()

# %%
# "balanced", the default, gives up a few points of acc- and finds most of the rare class.
# :doc:`/guide/unbalanced` describes which method for unbalanced data suits which problem.
