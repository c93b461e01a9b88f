"""
One ensemble, five rules
========================

Three members classify points of three clouds. One sees only the first feature, one only the second,
and the third is a nearest neighbour, which is always certain and often wrong. Their joint decision
depends on the rule that combines them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from orfeon import combine
from orfeon.inspection import ClassificationMapDisplay

# %%
# The members
# -----------

CENTRES = np.array([[-1.3, -0.6], [1.3, -0.6], [0.0, 1.5]])


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return CENTRES[y] + rng.normal(size=(n, 2)), y


def seeing(feature):
    return make_pipeline(make_column_transformer(("passthrough", [feature])), GaussianNB())


X, y = draw(300, seed=0)
X_test, y_test = draw(5000, seed=2)
members = [seeing(0), seeing(1), KNeighborsClassifier(1)]
for name, member in zip(("sees across", "sees up", "neighbour"), members, strict=True):
    print(f"{name:12} alone {1 - member.fit(X, y).score(X_test, y_test):.1%}")

# %%
# The rules
# ---------
# Some use votes, some the members' class probabilities. Naive Bayes also *learns* what a vote of
# each member is worth, from samples that the members were not trained on.

rules = ("majority", "soft", "product", "max", "naive_bayes")
juries = {rule: combine(members, *draw(300, seed=1), rule=rule) for rule in rules}
errors = {rule: 1 - jury.score(X_test, y_test) for rule, jury in juries.items()}
for rule, error in errors.items():
    print(f"{rule:12} {error:.1%}")

# %%
# Where they differ
# -----------------
# Mean, product and maximum follow whichever member is certain, and the nearest neighbour always
# is: its islands show in the map. The majority outvotes it. Naive Bayes has learnt how little its
# votes are worth.

figure, axes = plt.subplots(2, 3, figsize=(9.0, 6.0), layout="constrained")
box = ((-4, 4), (-3.5, 4.5))
for ax, (name, model) in zip(
    axes.flat, {"neighbour alone": members[2], **juries}.items(), strict=True
):
    display = ClassificationMapDisplay.from_estimator(
        model.predict, X[:60], y[:60], box=box, grid_resolution=120, ax=ax
    )
    error = np.mean(model.predict(X_test) != y_test)
    ax.set(title=f"{name.replace('_', ' ')}: {error:.1%}", xlabel="", ylabel="")
    ax.get_legend().remove()
plt.show()

# %%
# Inside a bag or a forest members are alike, and the rules hardly differ. :doc:`/guide/combining`
# describes when to use which.
