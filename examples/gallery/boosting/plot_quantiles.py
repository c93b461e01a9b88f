"""
Quantiles: how far off a prediction may be
==========================================

A number without an interval is half an answer. With ``loss="quantile"`` gradient boosting predicts
the value below which a given share of the targets lies. Two such models make a band, which is wide
where the targets vary a lot.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import GradientBoostingRegressor

BLUE, VERMILLION = "#0072B2", "#D55E00"

# %%
# Targets whose spread grows
# --------------------------


def draw(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, n)
    return x[:, None], x * np.sin(x) / 2 + rng.normal(0, 0.2 + 0.2 * x)


X, y = draw(2000, seed=0)
X_test, y_test = draw(3000, seed=1)

# %%
# Three models: the 5% and 95% quantiles, and the median. Leaves of at least fifty samples keep
# single targets from distorting the band.

quantiles = {}
for alpha in (0.05, 0.5, 0.95):
    model = GradientBoostingRegressor(
        loss="quantile", alpha=alpha, n_estimators=100, min_samples_leaf=50, random_state=0
    )
    quantiles[alpha] = model.fit(X, y)

# %%
# Does the band keep its promise?
# -------------------------------
# Nine in ten of the targets should be inside. On the training samples it comes close by
# construction; on new ones, which are what counts, slightly fewer are.

low, high = (quantiles[alpha].predict(X_test) for alpha in (0.05, 0.95))
inside = (low <= y_test) & (y_test <= high)
trained = (quantiles[0.05].predict(X) <= y) & (y <= quantiles[0.95].predict(X))
print(f"inside the band: {trained.mean():.1%} in training, {inside.mean():.1%} of new targets")
for start in (0, 5):
    here = (X_test[:, 0] >= start) & (X_test[:, 0] < start + 5)
    width = (high - low)[here].mean()
    print(
        f"feature from {start} to {start + 5}: "
        f"{inside[here].mean():.1%} inside, mean width {width:.2f}"
    )

grid = np.linspace(0, 10, 500)[:, None]
answers = {alpha: model.predict(grid) for alpha, model in quantiles.items()}
figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
ax.scatter(X[:, 0], y, s=3, color="0.6", linewidths=0, label="training samples")
ax.fill_between(
    grid[:, 0], answers[0.05], answers[0.95], color=BLUE, alpha=0.2, linewidth=0, label="5% to 95%"
)
ax.plot(grid, answers[0.5], color=BLUE, label="median")
ax.plot(grid, grid * np.sin(grid) / 2, "--", color=VERMILLION, linewidth=1.2, label="true median")
ax.set(xlabel="feature", ylabel="target", xlim=(0, 10))
ax.set_title("A band for nine targets in ten")
ax.legend(frameon=False, loc="lower left")
plt.show()
