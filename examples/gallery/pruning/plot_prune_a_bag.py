"""
Prune a bag: a fifth of its members, and a lower error
======================================================

The members of a bag come in random order. The more of them vote, the lower the error, until it
levels off. In a better order the error falls faster, drops **below** that of the whole bag, and
climbs back to it with the last members. So you keep the first fifth and discard the rest: the model
is smaller, faster and more accurate.
"""

import matplotlib.pyplot as plt

from orfeon import BaggingClassifier, CARTClassifier, prune
from orfeon.datasets import make_waveform
from orfeon.inspection import ErrorCurveDisplay

# %%
# A bag of two hundred trees
# --------------------------
# Waveform has three classes, 21 features and a lot of noise. Each tree is trained on a bootstrap
# sample of 300 samples and pruned by cross-validation: small trees, each of them weak.

X, y = make_waveform(300, random_state=0)
X_test, y_test = make_waveform(5000, random_state=1)

tree = CARTClassifier(pruning="cv")
bag = BaggingClassifier(tree, n_estimators=200, random_state=0).fit(X, y)

# %%
# Keep forty of them
# ------------------
# ``prune`` orders the members by their votes on the training samples. It needs no new data. It
# leaves the bag as it is, and returns another with the first fifth.

small = prune(bag, X, y, rule="margin_distance", keep=0.2)

for name, model in {"the whole bag": bag, "the first fifth": small}.items():
    error = 1 - model.score(X_test, y_test)
    print(f"{name:16} {len(model):4} members, test error {error:.1%}")

# %%
# Why it works
# ------------
# The picture shows the error as members are added. Dashed: on the training samples, which
# determined the order. Solid: on 5,000 others, which did not. In random order (the mean of
# twenty) the error levels off. In the order of *margin distance*, members that are right where
# the others are wrong come first; the last ones are those that pull the vote back.

display = ErrorCurveDisplay.from_estimator(
    bag,
    X,
    y,
    X_test,
    y_test,
    orders="margin_distance",
    n_random_orders=20,
    on=["training", "test"],
    random_state=0,
    scale="linear",
)
display.ax_.axvline(len(small), color="0.7", linewidth=1, zorder=0)
plt.show()

# %%
# A ring marks the lowest test error. It was found by looking at the test samples, so do not
# choose a size by it; keep a fifth, or use ``keep="auto"``. :doc:`/guide/ordering` describes
# which ensembles gain and which do not.
