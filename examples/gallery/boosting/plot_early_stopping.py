"""
Gradient boosting that stops in time
====================================

Gradient boosting adds small steps, each of which fits what is left. At some point what is left is
noise, and the test error rises again. Early stopping watches held-out samples, or cross-validates,
and keeps the rounds up to the best one.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import GradientBoostingClassifier
from orfeon.datasets import make_circle

BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7A7A7A"

# %%
# Too many rounds
# ---------------
# A circle in a square, with one label in seven wrong. 300 rounds learn the wrong labels too.

X, y = make_circle(600, label_noise=0.15, random_state=0)
X_test, y_test = make_circle(5000, label_noise=0.15, random_state=1)
options = {"n_estimators": 300, "learning_rate": 0.05, "random_state": 0}
long = GradientBoostingClassifier(early_stopping=False, **options).fit(X, y)


def log_losses(model, X, y):
    return [
        -np.mean(np.log(np.maximum(shares[np.arange(len(y)), y], 1e-300)))
        for shares in model.staged_predict_proba(X)
    ]


# %%
# The right number
# ----------------
# ``n_iter_no_change`` is the patience: boosting stops after that many rounds without improvement.
# By default the number of rounds is found on a fifth of the samples, and with
# ``early_stopping="cv"`` by cross-validation; then all samples are boosted for as many rounds.

aside = GradientBoostingClassifier(n_iter_no_change=20, **options).fit(X, y)
folds = GradientBoostingClassifier(n_iter_no_change=20, early_stopping="cv", **options).fit(X, y)
for name, model in {"300 rounds": long, "a fifth aside": aside, "cross-validated": folds}.items():
    error = 1 - model.score(X_test, y_test)
    print(f"{name:16} {model.n_estimators_:4} rounds, test error {error:.1%}")

# %%
# The curve it could not see
# --------------------------
# The training loss keeps falling. The test loss has a minimum, and both ways of stopping come
# close to it without having seen a test sample.

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
rounds = np.arange(1, 301)
ax.plot(rounds, log_losses(long, X, y), "--", color=GREY, label="training")
test = log_losses(long, X_test, y_test)
ax.plot(rounds, test, color=BLUE, label="test")
for model, name, colour, style in (
    (aside, "stopped by a fifth aside", VERMILLION, "-"),
    (folds, "stopped by cross-validation", GREEN, "--"),
):
    ax.axvline(model.n_estimators_, color=colour, linestyle=style, label=name)
ax.plot(np.argmin(test) + 1, min(test), "o", color=BLUE, markersize=7, label="lowest test loss")
ax.set(xlabel="rounds", ylabel="log-loss", xlim=(0, 300), ylim=(0.2, 0.7))
ax.set_title("A circle with wrong labels: when to stop")
ax.legend(frameon=False, fontsize="small")
plt.show()
