"""
What theory promises of AdaBoost
================================

Members of AdaBoost need not be good, only better than a coin, each on the weights that it meets.
How much better is its *edge*. From the edges alone follows a bound of the training error that falls
exponentially. Here the bound and the error are side by side.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import AdaBoostClassifier
from orfeon.datasets import make_nested_spheres
from orfeon.inspection import BoostingBoundsDisplay

# %%
# A problem that is hard for a stump
# ----------------------------------
# Points of a gaussian in ten dimensions; those that are far from the origin are positive. A stump,
# which asks one question about one feature, sees hardly anything of it.

X, y = make_nested_spheres(1000, random_state=0)
stumps = AdaBoostClassifier(n_estimators=200, random_state=0).fit(X, y)
errors = 1 - np.array(list(stumps.staged_score(X, y)))

print("round  weighted error  its vote  training error  at most")
for n in (1, 2, 5, 20, 100, 200):
    print(
        f"{n:5} {stumps.errors_[n - 1]:15.1%} {stumps.member_weights_[n - 1]:9.3f} "
        f"{errors[n - 1]:15.1%} {stumps.error_bounds_[n - 1]:8.1%}"
    )

# %%
# The bound is the product of 2√(e(1 - e)) over the weighted errors e of the members. It holds in
# every round, or the library would be wrong:

assert (errors <= stumps.error_bounds_).all()
assert (stumps.error_bounds_ <= stumps.edge_bounds_).all()

# %%
# Errors and bounds
# -----------------
# The members get worse, as the samples that are left are the hard ones, and come near a coin. The
# bound flattens with them, but never turns up. (The second, simpler bound is hardly looser where
# edges are small.)

display = BoostingBoundsDisplay.from_estimator(stumps, X, y, scale="linear")
plt.show()

# %%
# What is not promised
# --------------------
# The bound is about the training set. For new samples only they can tell:

X_test, y_test = make_nested_spheres(5000, random_state=1)
test = 1 - np.array(list(stumps.staged_score(X_test, y_test)))
print(f"test error: {test[0]:.1%} with one stump, {test[19]:.1%} with 20, {test[-1]:.1%} with 200")
