"""
The walk of an ensemble
=======================

Why is one order better than another? Give every member a vector with +1 for each sample that it
predicts correctly and -1 for each that it does not. Added up one after the other, these vectors
form a walk in a space with as many dimensions as there are samples. All orders end at the same
point; what differs is the path.
"""

import matplotlib.pyplot as plt

from orfeon import BaggingClassifier, CARTClassifier, order
from orfeon.datasets import make_waveform
from orfeon.inspection import EnsembleWalkDisplay, ensemble_walk

# %%
# Two hundred steps
# -----------------

X, y = make_waveform(300, random_state=0)
bag = BaggingClassifier(CARTClassifier(pruning="cv"), 200, random_state=0).fit(X, y)
walk = ensemble_walk(
    bag, X, y, orders=["orientation", "margin_distance"], n_random_orders=3, random_state=0
)

# %%
# Seen from the side
# ------------------
# Three hundred dimensions are too many to draw, but two of them show what matters: along *c_ens*,
# the mean of all members, where every walk ends; and along *c_ref*, the direction that the
# ensemble lacks to be right on every sample. A random order stays near the straight line. The two
# rules first walk in an arc towards what is lacking, and return with the members that pull the
# other way.

display = EnsembleWalkDisplay(walk).plot()
plt.show()

# %%
# Seen from the end
# -----------------
# Looking along *c_ens*, every walk returns to the origin. A random one is a tangle around it, an
# ordered one a wide loop.

display = EnsembleWalkDisplay(walk).plot(view="ref-third")
plt.show()

# %%
# Where to stop
# -------------
# Beyond its farthest point a walk only leads back. That is late for orientation, which suggests
# its own size: it keeps the members whose angle with *c_ref* is below the mean of the acute ones
# (``keep="rule"``).

for name in ("orientation", "margin distance"):
    print(f"{name:16} farthest out with {walk.farthest(name)} of {len(bag)} members")
print("orientation suggests", order(bag, X, y, rule="orientation").suggestions["rule"])

# %%
# The formulas of both directions, and the same walk in three dimensions, are in
# :doc:`/guide/inspection`.
