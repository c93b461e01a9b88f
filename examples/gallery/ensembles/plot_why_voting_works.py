"""
Why voting works, and why not as well as you might hope
=======================================================

In 1785 Condorcet showed: if many judges are right slightly more often than wrong, *and err
independently*, their majority is nearly always right. The members of an ensemble are such judges,
except that they are not independent. The picture shows what that costs.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import BaggingClassifier
from orfeon.datasets import make_twonorm
from orfeon.inspection import CondorcetDisplay, condorcet_error

# %%
# The formula
# -----------
# Members that err on three samples in ten, alone and together:

for n_members in (1, 5, 21, 101):
    print(f"{n_members:4} independent members: {condorcet_error(0.3, n_members):8.4%}")

# %%
# The members of a bag
# --------------------
# Twonorm is two overlapping clouds in twenty dimensions. No classifier can err on less than 2.3%.

X, y = make_twonorm(300, random_state=0)
X_test, y_test = make_twonorm(5000, random_state=1)
bag = BaggingClassifier(n_estimators=101, random_state=0).fit(X, y)
alone = np.mean(bag.classes_[bag.votes(X_test)] != y_test)
print(f"one tree errs on {alone:.1%}, 101 of them on {1 - bag.score(X_test, y_test):.1%}")
print(f"if they were independent: {condorcet_error(alone, 101):.1e}")

# %%
# On the left the theory, for members of different quality: if they err more than half of the
# time, more of them make it worse. On the right the bag, and what independent members of the same
# quality would do. The vote helps a lot; but some samples are hard for every tree, and there the
# trees err together.

figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
CondorcetDisplay.from_member_errors(ax=axes[0])
CondorcetDisplay.from_estimator(bag, X_test, y_test, ax=axes[1])
plt.show()

# %%
# So good ensembles need members that are accurate and err differently. See
# :doc:`/guide/inspection` for ways to measure both.
