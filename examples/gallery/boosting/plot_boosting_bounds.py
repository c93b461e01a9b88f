"""
What theory guarantees for AdaBoost
===================================

The members of AdaBoost need not be good, only better than a coin toss on the weights they are
trained with. How much better is called their *edge*. The edges alone give a bound on the training
error that falls exponentially. This page plots the bound beside the error.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import AdaBoostClassifier
from orfeon.datasets import make_nested_spheres
from orfeon.inspection import BoostingBoundsDisplay

# %%
# A problem that is hard for a stump
# ----------------------------------
# Points from a Gaussian in ten dimensions; those far from the origin are positive. A stump, which
# tests a single feature, captures hardly any of this.

X, y = make_nested_spheres(1000, random_state=0)
stumps = AdaBoostClassifier(n_estimators=200, random_state=0).fit(X, y)
errors = 1 - np.array(list(stumps.staged_score(X, y)))

print("round  weighted error  its vote  training error    bound")
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
# The members get worse, because the remaining samples are the hard ones, and approach a coin
# toss. The bound flattens but never rises. (The second, simpler bound is hardly looser where
# edges are small.)

display = BoostingBoundsDisplay.from_estimator(stumps, X, y, scale="linear")
plt.show()

# %%
# What is not guaranteed
# ----------------------
# The bound concerns the training set. It does not cover new samples:

X_test, y_test = make_nested_spheres(5000, random_state=1)
test = 1 - np.array(list(stumps.staged_score(X_test, y_test)))
print(f"test error: {test[0]:.1%} with one stump, {test[19]:.1%} with 20, {test[-1]:.1%} with 200")
