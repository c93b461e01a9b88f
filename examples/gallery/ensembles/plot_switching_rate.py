"""
How many labels to switch
=========================

The share of switched labels is the main parameter of class-switching. At 0 all trees are the same;
at one half (with two classes) they learn nothing. In between, a higher rate makes each member less
accurate and the members less alike. How far can you go? That depends on how many members you can
afford.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import BaggingClassifier, ClassSwitchingClassifier
from orfeon.datasets import make_twonorm

COLOURS = {11: "#E69F00", 101: "#D55E00", 1001: "#0072B2"}

# %%
# One ensemble of 1,001 members for each rate. As members are independent, its first 11 are an
# ensemble of 11.

X, y = make_twonorm(300, random_state=0)
X_test, y_test = make_twonorm(1000, random_state=1)
rates = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.44, 0.48)
errors = {size: [] for size in COLOURS}
alone = []
for rate in rates:
    model = ClassSwitchingClassifier(n_estimators=1001, switch_rate=rate, random_state=0).fit(X, y)
    votes = model.votes(X_test)
    alone.append(np.mean(votes != y_test))
    for size in errors:
        errors[size].append(np.mean((votes[:size].mean(axis=0) > 0.5) != y_test))

for size, found in errors.items():
    best = int(np.argmin(found))
    print(f"{size:5} members: lowest error {found[best]:.1%} with {rates[best]:.0%} switched")

# %%
# The more members, the more labels
# ---------------------------------
# The error of one member (grey) rises all the way. The error of the vote first falls. With more
# members the minimum is lower, wider, and farther to the right. The default, 0.6 of the largest
# useful rate, is 0.3 for two classes, and is meant for ensembles of many hundreds.

bag = BaggingClassifier(n_estimators=1001, random_state=0).fit(X, y)
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(rates, np.multiply(100, alone), color="#7A7A7A", label="a single member")
for size, found in errors.items():
    ax.plot(
        rates, np.multiply(100, found), "o-", color=COLOURS[size], label=f"{size} members", ms=4
    )
bagging = 100 * (1 - bag.score(X_test, y_test))
ax.axhline(bagging, color="#222222", linestyle=":", label="bagging, 1,001 members")
ax.set(yscale="log", xlabel="share of the labels that are switched", ylabel="test error, %")
ax.set_yticks([3, 5, 10, 20, 50], ["3", "5", "10", "20", "50"])
ax.minorticks_off()
ax.set_title("Class-switching on twonorm: error against the switching rate")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()
