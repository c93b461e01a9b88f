"""
Why boosting keeps learning
===========================

After a handful of members AdaBoost makes no more training errors. Common sense says to stop, but
the test error keeps falling for a hundred rounds. The *margins* show what is still being learnt: by
how much the votes for the right class lead the others, as a share of all votes.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier
from orfeon.datasets import make_twonorm
from orfeon.inspection import ErrorCurveDisplay, MarginDistributionDisplay, margin_distribution

# %%
# The puzzle
# ----------

X, y = make_twonorm(300, random_state=0)
X_test, y_test = make_twonorm(5000, random_state=1)
boosted = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=300, random_state=0)
boosted.fit(X, y)

training = 1 - np.array(list(boosted.staged_score(X, y)))
test = 1 - np.array(list(boosted.staged_score(X_test, y_test)))
first = int(np.argmax(training == 0)) + 1
print(f"no training error from member {first} on; test error there {test[first - 1]:.1%}")
print(f"test error with all {len(boosted)} members {test[-1]:.1%}")

display = ErrorCurveDisplay.from_estimator(
    {"boosting": boosted}, X, y, X_test, y_test, on=["training", "test"], scale="log"
)
plt.show()

# %%
# What is still being learnt
# --------------------------
# The share of the training samples whose margin is at most the value on the x-axis. Boosting
# raises the smallest margins round after round, at the expense of the large ones: the curve
# becomes a step. Bagging does not aim for this, and its distribution stays the same.

bag = BaggingClassifier(n_estimators=300, random_state=0).fit(X, y)
found = {
    name: margin_distribution(model, X, y, sizes=[10, 100, 300])
    for name, model in {"boosting": boosted, "bagging": bag}.items()
}
display = MarginDistributionDisplay(found).plot()
plt.show()

for name, one in found.items():
    for stage in one.stages:
        print(
            f"{name:9} {stage.n_members:4} members: "
            f"least {stage.minimum:.2f}, mean {stage.mean:.2f}"
        )

# %%
# This is one explanation, not a measure of quality: bagging has the larger mean margin here, and
# the larger error. There is more in :doc:`/guide/boosting` and :doc:`/guide/inspection`.

print(f"test error of the bag {1 - bag.score(X_test, y_test):.1%}")
