"""
Wrong labels: where boosting suffers
====================================

Boosting concentrates on what is misclassified, and that includes wrong labels. Here a growing share
of the training labels is made wrong, and three ensembles of the same small trees are tested on
clean samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier, MultiBoostClassifier
from orfeon.datasets import make_twonorm

tree = CARTClassifier(max_leaf_nodes=8)
ensembles = {
    "AdaBoost": (AdaBoostClassifier(tree, 100), "#D55E00", "s--"),
    "MultiBoost": (MultiBoostClassifier(tree, 100), "#009E73", "^-."),
    "bagging": (BaggingClassifier(tree, 100), "#0072B2", "o-"),
}

# %%
# Five training sets of each kind
# -------------------------------
# ``MultiBoostClassifier`` is made for such labels: it boosts ten short committees, each from
# different random weights, and lets them vote. None runs long enough to memorise wrong labels.

X_test, y_test = make_twonorm(2000, random_state=1)
shares = (0.0, 0.05, 0.1, 0.2, 0.3)
errors = {name: np.zeros((5, len(shares))) for name in ensembles}
for draw in range(5):
    X, y = make_twonorm(300, random_state=100 + draw)
    mixed = np.random.default_rng(draw).permutation(300)
    for place, share in enumerate(shares):
        noisy = y.copy()
        wrong = mixed[: int(300 * share)]
        noisy[wrong] = 1 - noisy[wrong]
        for name, (model, _, _) in ensembles.items():
            model.set_params(random_state=draw).fit(X, noisy)
            errors[name][draw, place] = 1 - model.score(X_test, y_test)

# %%
# What wrong labels cost
# ----------------------

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for name, (_, colour, style) in ensembles.items():
    mean = 100 * errors[name].mean(axis=0)
    spread = 100 * errors[name].std(axis=0, ddof=1) / np.sqrt(5)
    ax.errorbar(
        np.multiply(100, shares), mean, spread, fmt=style, color=colour, label=name, capsize=3
    )
    print(f"{name:11}" + "".join(f"{value:7.1f}%" for value in mean))
ax.set(xlabel="wrong labels in training, %", ylabel="test error, %", ylim=(0, None))
ax.set_title("Twonorm, 100 trees of 8 leaves: means of 5 draws, one standard error")
ax.legend(frameon=False)
plt.show()

# %%
# Where the weight goes
# ---------------------
# A fifth of the labels are wrong. They begin with a fifth of the weight, and each round gives
# them more: the next members are trained to repeat the errors. On the last training set:

noisy = y.copy()
noisy[mixed[:60]] = 1 - noisy[mixed[:60]]
for rounds in (1, 5, 20):
    model = AdaBoostClassifier(tree, rounds, random_state=0).fit(X, noisy)
    weights = np.exp(-(2 * noisy - 1) * model.decision_function(X))
    print(f"after {rounds:2} rounds: {weights[mixed[:60]].sum() / weights.sum():.0%} of the weight")
