"""
What an error costs
===================

Missing a positive sample costs more than a false alarm; only you can say how much more. Given the
costs and a model with probabilities, the rest is arithmetic: predict the class with the lowest
expected cost. That moves the threshold, and nothing is retrained when the costs change.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import CostThresholdClassifier, RandomForestClassifier
from orfeon.datasets import make_gaussian_clouds
from orfeon.inspection import ClassificationMapDisplay

# %%
# One forest, three costs
# -----------------------
# Leaves of at least ten samples, and ``combine="soft"``, give reliable probabilities.

X, y = make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=0)
X_test, y_test = make_gaussian_clouds(5000, priors=(0.95, 0.05), random_state=1)
forest = RandomForestClassifier(100, min_samples_leaf=10, combine="soft", random_state=0)
prices = (1, 5, 20)
models = {
    price: CostThresholdClassifier(forest, {0: 1.0, 1: float(price)}, random_state=0).fit(X, y)
    for price in prices
}

figure, axes = plt.subplots(1, 3, figsize=(10.4, 4.2), layout="constrained", sharey=True)
for ax, (price, model) in zip(axes, models.items(), strict=True):
    answers = model.predict(X_test)
    missed, alarms = np.sum(y_test > answers), np.sum(y_test < answers)
    print(
        f"a miss costs {price:2}: predicts 1 above {model.threshold_:.3f}; "
        f"{missed} missed, {alarms} alarms"
    )
    display = ClassificationMapDisplay.from_estimator(
        model.predict, X, y, grid_resolution=120, ax=ax
    )
    ax.set(title=f"a miss costs {price}", xlabel="first feature")
    ax.set_ylabel("second feature" if price == 1 else "")
    ax.get_legend().remove()
plt.show()

# %%
# The total cost
# --------------
# The cost of all errors against the threshold, with rings where arithmetic puts it: 1 / (1 + cost
# of a miss). It does not use the test samples, and yet comes close to the lowest cost of each
# curve.

chance = models[1].predict_proba(X_test)[:, 1]
thresholds = np.linspace(0.01, 0.7, 140)
figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
for price, colour in zip(prices, ("#0072B2", "#E69F00", "#D55E00"), strict=True):

    def bill(threshold, price=price):
        answers = chance > threshold
        return (price * np.sum(answers < y_test) + np.sum(answers > y_test)) / len(y_test)

    ax.plot(thresholds, [bill(t) for t in thresholds], color=colour, label=f"a miss costs {price}")
    chosen = 1 / (1 + price)
    ax.plot(chosen, bill(chosen), "o", color=colour, markersize=9, fillstyle="none", mew=2)
ax.set(xlabel="threshold on the probability", ylabel="cost of a row", yscale="log", xlim=(0, 0.7))
ax.set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
ax.minorticks_off()
ax.set_title("Cost against threshold; rings: chosen by arithmetic")
ax.legend(frameon=False)
plt.show()
