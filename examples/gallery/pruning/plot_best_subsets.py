"""
The best of all subsets
=======================

An order is a shortcut. With twenty members you can try all subsets, a million of them, and see how
good the shortcut is. Two questions: how far is a greedy order from the best subset of each size,
and does the difference matter on new samples?
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import BaggingClassifier, CARTClassifier
from orfeon.datasets import make_waveform
from orfeon.inspection import CoincidenceDisplay
from orfeon.ordering import order_votes, search_exhaustive_votes

BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#7A7A7A"

# %%
# All subsets of twenty trees
# ---------------------------

X, y = make_waveform(300, random_state=0)
X_test, y_test = make_waveform(5000, random_state=1)
bag = BaggingClassifier(CARTClassifier(pruning="cv"), n_estimators=20, random_state=0).fit(X, y)

votes, votes_test = bag.votes(X), bag.votes(X_test)  # class codes, one row a member
search = search_exhaustive_votes(votes, y)
greedy = order_votes(votes, y, rule="reduce_error")
print(
    f"of {2**20 - 1:,} subsets the best errs on {search.error_curve.min():.1%} of the training set"
)
print(f"the greedy order comes to {greedy.error_curve.min():.1%}")

# %%
# Are the members the same?
# -------------------------
# Each row of the picture shows which members of the greedy order are in the best subset of that
# size. A perfect order fills the staircase and nothing else.

display = CoincidenceDisplay.from_votes(votes, y, rule="reduce_error")
plt.show()

# %%
# Does it matter?
# ---------------
# On the training samples the search is at least as good at every size, by construction. On new
# ones its lead disappears: it has fitted the samples that it searched on.

sizes = np.arange(1, 21)


def error_of(members):
    shares = [(votes_test[members] == code).sum(axis=0) for code in range(3)]
    return np.mean(np.argmax(shares, axis=0) != y_test)


best = np.array([error_of(search.subset(n)) for n in sizes])
figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for name, training, test, colour in (
    ("best subset of each size", search.error_curve, best, VERMILLION),
    ("greedy order", greedy.error_curve, greedy.test_curve_votes(votes_test, y_test), BLUE),
):
    ax.plot(sizes, 100 * test, "o-", color=colour, markersize=3, label=f"{name}, test")
    ax.plot(sizes, 100 * training, "--", color=colour, label=f"{name}, training")
ax.set(xlabel="members", ylabel="error, %", ylim=(0, None), xticks=range(2, 21, 2))
ax.set_title("Search or order: nearly the same on new samples")
ax.legend(frameon=False, ncols=2)
plt.show()
