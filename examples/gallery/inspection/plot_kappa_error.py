"""
Accurate or different: the kappa-error diagram
==============================================

The members of an ensemble should be accurate, and they should disagree. You cannot have both: two
members that are always right always agree. The kappa-error diagram shows the trade-off that each
ensemble makes, with one point per pair of members.
"""

import matplotlib.pyplot as plt

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ClassSwitchingClassifier,
)
from orfeon.datasets import make_twonorm
from orfeon.inspection import KappaErrorDisplay, kappa_error

# %%
# Three trade-offs
# ----------------

X, y = make_twonorm(300, random_state=0)
X_test, y_test = make_twonorm(3000, random_state=1)
ensembles = {
    "bagging": BaggingClassifier(n_estimators=100, random_state=0),
    "boosting": AdaBoostClassifier(CARTClassifier(max_depth=3), 100, random_state=0),
    "class-switching": ClassSwitchingClassifier(n_estimators=100, switch_rate=0.3, random_state=0),
}
clouds = {}
print("                 one member        kappa, pairs  the vote")
for name, ensemble in ensembles.items():
    clouds[name] = kappa_error(ensemble.fit(X, y), X_test, y_test)
    kappa, error = clouds[name].centroid
    vote = 1 - ensemble.score(X_test, y_test)
    print(f"{name:16} {error:10.1%} {kappa:18.2f} {vote:9.1%}")

# %%
# Their clouds
# ------------
# To the right: pairs that agree (0 is chance, 1 is always). Up: pairs that err. Bagging is a
# tight cloud at the bottom: its members are alike, and about equally accurate. Those of boosting
# vary in both. Class-switching gives up nearly all agreement, at the price of members that err on
# more than a third of the samples.

display = KappaErrorDisplay(clouds).plot()
plt.show()

# %%
# On which samples
# ----------------
# On the training set trees agree because they have memorised it. That is not a property of the
# problem: use test samples, or out-of-bag votes.

for on, cloud in {
    "training": kappa_error(ensembles["bagging"], X, y),
    "out of bag": kappa_error(ensembles["bagging"], X, y, on="out_of_bag"),
    "test": clouds["bagging"],
}.items():
    print(f"bagging, {on:11} kappa {cloud.centroid[0]:.2f}, error {cloud.centroid[1]:.1%}")
