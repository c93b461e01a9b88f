"""
Class-switching: members that learn wrong labels by heart
=========================================================

Switch three labels in ten at random, and grow a tree to the end on the result. It has learnt the
wrong labels by heart, and is a bad classifier. Do it again a hundred times, each time with other
labels, and let them vote. On the training samples the errors of these members are **independent by
construction**, so that Condorcet's sum is not an ideal but a law: errors and margins follow the
binomial distribution.
"""

import matplotlib.pyplot as plt

from orfeon import ClassSwitchingClassifier
from orfeon.datasets import make_twonorm
from orfeon.inspection import SwitchingTheoryDisplay, error_curves, switching_error

# %%
# Theory knows the error before anything is trained
# -------------------------------------------------
# It depends on the share of switched labels and on the number of members only; neither the data nor
# the trees are in it.

X, y = make_twonorm(300, random_state=0)
switching = ClassSwitchingClassifier(n_estimators=201, switch_rate=0.3, random_state=0).fit(X, y)
measured = error_curves(switching, X, y, out_of_bag=False)["own order", "training"].errors

print("members   theory  measured")
for n_members in (1, 11, 21, 51, 101):
    theory = switching_error(0.3, n_members)
    print(f"{n_members:7} {theory:8.2%}  {measured[n_members - 1]:8.2%}")

# %%
# The law in a picture
# --------------------
# On the left the training error against the number of members, on the right the margins: by how
# much the votes for the right class are ahead. They gather at 1 - 2 · 0.3 = 0.4, the more closely
# the more members there are. No sample is left out and none is singled out, which is very unlike
# boosting.

display = SwitchingTheoryDisplay.from_estimator(switching, X, y)
plt.show()

# %%
# The law says nothing of new samples. There the ensemble is good all the same:

X_test, y_test = make_twonorm(5000, random_state=1)
errors = [1 - score for score in switching.staged_score(X_test, y_test)]
print(
    f"test error: {errors[0]:.1%} with one member, "
    f"{errors[10]:.1%} with 11, {errors[-1]:.1%} with 201"
)
