"""
Class-switching: members that memorise wrong labels
===================================================

Switch three labels in ten at random, and grow an unpruned tree on the result. It memorises the
wrong labels and is a poor classifier. Do this a hundred times, each time with other labels
switched, and let the trees vote. On the training samples their errors are **independent by
construction**, so Condorcet's formula holds exactly: errors and margins follow the binomial
distribution.
"""

import matplotlib.pyplot as plt

from orfeon import ClassSwitchingClassifier
from orfeon.datasets import make_twonorm
from orfeon.inspection import SwitchingTheoryDisplay, error_curves, switching_error

# %%
# The error is known before training
# ----------------------------------
# It depends only on the share of switched labels and the number of members, not on the data or
# the trees.

X, y = make_twonorm(300, random_state=0)
switching = ClassSwitchingClassifier(n_estimators=201, switch_rate=0.3, random_state=0).fit(X, y)
measured = error_curves(switching, X, y, out_of_bag=False)["own order", "training"].errors

print("members   theory  measured")
for n_members in (1, 11, 21, 51, 101):
    theory = switching_error(0.3, n_members)
    print(f"{n_members:7} {theory:8.2%}  {measured[n_members - 1]:8.2%}")

# %%
# Theory and measurement
# ----------------------
# On the left the training error against the number of members, on the right the margins: by how
# much the votes for the right class lead. They concentrate around 1 - 2 · 0.3 = 0.4, more closely
# with more members. No sample is left out and none is singled out, unlike in boosting.

display = SwitchingTheoryDisplay.from_estimator(switching, X, y)
plt.show()

# %%
# The theory does not cover new samples. The ensemble is good on them all the same:

X_test, y_test = make_twonorm(5000, random_state=1)
errors = [1 - score for score in switching.staged_score(X_test, y_test)]
print(
    f"test error: {errors[0]:.1%} with one member, "
    f"{errors[10]:.1%} with 11, {errors[-1]:.1%} with 201"
)
