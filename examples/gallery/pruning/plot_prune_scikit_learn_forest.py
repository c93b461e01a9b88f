"""
Prune a scikit-learn forest
===========================

``prune`` also takes scikit-learn's ensembles, and returns one of the same type. A random forest is
not a bag of small trees: it makes hardly any training error, so there is less to order by. What
pruning gains here is **size and speed, not accuracy**. This page shows how much.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from orfeon import prune
from orfeon.datasets import make_waveform
from orfeon.ordering import order_votes

BLUE, GREY = "#0072B2", "#7A7A7A"

# %%
# A forest as usual
# -----------------

X, y = make_waveform(300, random_state=0)
X_test, y_test = make_waveform(2000, random_state=1)
forest = RandomForestClassifier(n_estimators=150, random_state=0).fit(X, y)

# %%
# Prune it
# --------
# You can keep any share of it. The result is a ``RandomForestClassifier`` and works wherever the
# old one did.


def nodes(model):
    return sum(tree.tree_.node_count for tree in model.estimators_)


smaller = {keep: prune(forest, X, y, keep=keep) for keep in (0.1, 0.2, 0.4, 0.6)}
for keep, model in {**smaller, 1.0: forest}.items():
    print(
        f"{type(model).__name__} with {len(model.estimators_):3} trees ({keep:4.0%}), "
        f"{nodes(model):6} nodes, test error {1 - model.score(X_test, y_test):.1%}"
    )

# %%
# Against a random part of the forest
# -----------------------------------
# Half of the trees of a forest, whichever you take, are nearly as good as all of them. So the
# fair comparison for an order is a random one. An order needs only votes: ``order_votes`` takes
# them as a matrix, one row per tree, and ``test_curve_votes`` gives the errors of the first members
# on other samples. Three forests, and ten random orders of each:

ordered, chance = [], []
for draw in range(3):
    X, y = make_waveform(300, random_state=draw)
    forest.set_params(random_state=draw).fit(X, y)
    votes, votes_test = (np.array([t.predict(Z) for t in forest.estimators_]) for Z in (X, X_test))
    ordered.append(order_votes(votes, y).test_curve_votes(votes_test, y_test))
    for seed in range(10):
        mixed = order_votes(votes, y, rule="random", random_state=seed)
        chance.append(mixed.test_curve_votes(votes_test, y_test))

ordered, chance = 100 * np.mean(ordered, axis=0), 100 * np.mean(chance, axis=0)
for n in (10, 30, 60, 150):
    print(f"{n:4} trees: ordered {ordered[n - 1]:.1f}%, at random {chance[n - 1]:.1f}%")

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
sizes = np.arange(1, 151)
ax.plot(sizes, chance, color=GREY, label="random order")
ax.plot(sizes, ordered, color=BLUE, label="ordered by margin distance")
ax.axhline(ordered[-1], color=BLUE, linestyle=":", linewidth=1, label="all members")
ax.set(xlim=(1, 150), ylim=(15, 30), xlabel="trees kept", ylabel="test error of the vote, %")
ax.set_title("scikit-learn forests on waveform, means of three")
ax.legend(frameon=False)
plt.show()

# %%
# The order is slightly better than random among the first trees, and its error does not drop
# below that of all members. That is typical of forests. For figures over eighteen data sets see
# :doc:`/guide/ordering`.
