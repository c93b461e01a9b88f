"""
The wisdom of the crowd: an ox, a jury and a quiz audience
==========================================================

Many people who know a little may know more together than any one of them. Three old stories show
when that holds: they are the idea behind every ensemble, without any machine learning. The last
part shows when it fails.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon.inspection import CondorcetDisplay, condorcet_error, switching_error

rng = np.random.default_rng(0)

# %%
# Galton's ox
# -----------
# In 1907 Francis Galton collected 787 guesses of the weight of an ox at a fair, and published
# their percentiles. The dressed ox weighed 1,198 pounds. We draw crowds from these percentiles and
# take the median of each: the more people guess, the closer it gets, up to the error that all
# share, about nine pounds.

weight = 1198
shares = [0.0, *np.arange(0.05, 0.96, 0.05), 1.0]
guesses = [1000, 1074, 1109, 1126, 1148, 1162, 1174, 1181, 1188, 1197, 1207]
guesses += [1214, 1219, 1225, 1230, 1236, 1243, 1254, 1267, 1293, 1350]  # the ends are ours
sizes = [1, 3, 11, 31, 101, 301, 787]
errors = []
for size in sizes:
    crowds = np.interp(rng.random((2000, size)), shares, guesses)
    errors.append(np.abs(np.median(crowds, axis=1) - weight).mean())
    print(f"crowd of {size:3}: off by {errors[-1]:4.1f} pounds on average")

figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
axes[0].hist(np.interp(rng.random(787), shares, guesses), bins=30, color="#9ECAE1")
axes[0].axvline(weight, color="black", linestyle="--", label="the ox, 1,198")
axes[0].axvline(1207, color="#D55E00", label="median guess, 1,207")
axes[0].set(xlabel="guess, pounds", ylabel="people", title="787 guesses with Galton's percentiles")
axes[0].legend(frameon=False)
axes[1].plot(sizes, errors, "o-", color="#0072B2")
axes[1].axhline(9, color="0.6", linestyle=":", label="error of the whole crowd, 9")
axes[1].set(
    xscale="log", ylim=(0, None), xlabel="people", ylabel="mean error of the median, pounds"
)
axes[1].set_title("More people, smaller error")
axes[1].legend(frameon=False)
plt.show()

# %%
# Condorcet's jury
# Condorcet's jury
# ----------------
# Judges who are independent, and right with a probability above one half, decide better together
# than alone, and the more judges the better. Below one half the opposite holds.

for size in (1, 11, 101):
    print(f"{size:3} judges, each wrong on 40%, err together on {condorcet_error(0.4, size):.1%}")
display = CondorcetDisplay.from_member_errors([0.3, 0.4, 0.45, 0.55], max_members=101)
plt.show()

# %%
# The millionaire's audience
# The millionaire's audience
# --------------------------
# A quiz asks an audience: four answers, one right. Suppose that only some people know it and the
# others guess. The guesses spread over all four answers and cancel out, so a few people who know
# are enough. :func:`~orfeon.inspection.switching_error` has the formula: it is the error of
# voters who are wrong at a known rate and then choose any other answer.

knowing = np.linspace(0.01, 0.5, 50)
figure, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
for size, style in ((1, ":"), (11, "--"), (101, "-")):
    right = [1 - switching_error(0.75 * (1 - share), size, n_classes=4) for share in knowing]
    ax.plot(
        100 * knowing, 100 * np.array(right), style, color="#0072B2", label=f"audience of {size}"
    )
ax.set(xlabel="people who know, %", ylabel="the audience is right, %", ylim=(0, 102))
ax.set_title("In a large audience a fifth who know are enough")
ax.legend(frameon=False)
plt.show()

for known in (0.1, 0.2):
    right = 1 - switching_error(0.75 * (1 - known), 101, n_classes=4)
    print(f"101 people of whom {known:.0%} know: right with probability {right:.0%}")

# %%
# When it fails
# When it fails
# -------------
# All this requires errors that differ. If a quarter of the audience has heard the same wrong
# rumour and a fifth knows the answer, A, the rumour wins, however many people are asked.

figure, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
for place, rumour in enumerate((0.0, 0.25)):
    votes = [0.2, rumour, 0.0, 0.0] + (0.8 - rumour) * np.full(4, 0.25)
    label = f"{rumour:.0%} believe B" if rumour else "no rumour"
    ax.bar(np.arange(4) + 0.4 * place, 100 * votes, 0.38, label=label)
ax.set_xticks(np.arange(4) + 0.2, "ABCD")
ax.set(xlabel="answer", ylabel="expected votes, %", title="A shared error wins the vote")
ax.legend(frameon=False)
plt.show()

# %%
# Trees trained on the same samples share errors too. :ref:`Why voting works
# <sphx_glr_gallery_ensembles_plot_why_voting_works.py>` measures how much that costs, and
# :doc:`/guide/ensembles` describes ways to make members differ.
