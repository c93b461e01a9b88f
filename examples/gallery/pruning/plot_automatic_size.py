"""
How many members to keep
========================

A fifth is a good size for bags of pruned trees. ``keep="auto"`` finds the size from the data: it
cross-validates the order. This page shows the curves that it uses.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import BaggingClassifier, CARTClassifier, RandomForestClassifier, order, prune
from orfeon.datasets import make_waveform

BLUE, VERMILLION, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#7A7A7A", "#222222"

# %%
# Two ensembles that need different sizes
# ---------------------------------------
# A bag of pruned trees gains from pruning; a forest of unpruned ones does not.

X, y = make_waveform(300, random_state=0)
X_test, y_test = make_waveform(5000, random_state=1)
ensembles = {
    "bag of pruned trees": BaggingClassifier(CARTClassifier(pruning="cv"), 150, random_state=0),
    "random forest": RandomForestClassifier(150, random_state=0),
}
for name, ensemble in ensembles.items():
    small = prune(ensemble.fit(X, y), X, y, keep="auto")
    errors = [1 - model.score(X_test, y_test) for model in (ensemble, small)]
    print(
        f"{name:20} keeps {len(small):3} of 150: "
        f"error {errors[0]:.1%} before, {errors[1]:.1%} after"
    )

# %%
# What it uses
# ------------
# The samples are divided into ten folds. Members are ordered on nine of them and evaluated on the
# tenth.
#
# - If **all** members vote on it, the curve is too optimistic: they were trained on these
#   samples. It suggests too few members.
# - If only those vote that **did not see** the sample, that is about a third of them. The curve
#   suggests too many.
#
# The size is at the minimum of the slightly smoothed mean of the two. The test curve is drawn to
# judge the choice; it played no part in it.

figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained", sharey=True)
sizes = np.arange(1, 151)
for ax, (name, ensemble) in zip(axes, ensembles.items(), strict=True):
    ordered = order(ensemble, X, y)
    choice = ordered.size_choice()
    test = ordered.test_curve(ensemble, X_test, y_test)
    ax.plot(
        sizes,
        100 * choice.out_of_bag,
        color=VERMILLION,
        lw=1,
        label="only those that did not see it",
    )
    ax.plot(sizes, 100 * choice.with_all_votes, color=GREEN, lw=1, label="all members vote")
    ax.plot(sizes, 100 * choice.curve, color=BLUE, lw=2, label="mean of the two, smoothed")
    ax.plot(sizes, 100 * test, color=INK, lw=1, linestyle="--", label="test samples (not used)")
    ax.axvline(choice.size, color=GREY, linewidth=1, zorder=0)
    ax.text(choice.size, 39, f" {choice.size} kept", color=GREY, va="top")
    ax.set(xlim=(1, 150), ylim=(0, 40), title=name, xlabel="members")
axes[0].set_ylabel("error, %")
figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False
)
plt.show()
