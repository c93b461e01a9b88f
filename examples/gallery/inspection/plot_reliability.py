"""
Do probabilities come true? Reliability diagrams
================================================

A forest says 0.8. How often is it right then? A reliability diagram shows it: on the diagonal
probabilities come true, above it the model is underconfident, below it overconfident. Calibration
as part of the fit moves the points to the diagonal, with the samples that the trees left out.
"""

import matplotlib.pyplot as plt

from orfeon import AdaBoostClassifier, RandomForestClassifier
from orfeon.datasets import make_ringnorm
from orfeon.inspection import BrierDisplay, ReliabilityDisplay, expected_calibration_error

# %%
# A forest and boosting, before and after
# ---------------------------------------
# The votes of a forest are drawn to the middle, and those of boosting more so. Each point is a
# tenth of the test samples.

X, y = make_ringnorm(500, random_state=0)
X_test, y_test = make_ringnorm(5000, random_state=1)
models = {}
for name, kind in {"forest": RandomForestClassifier, "AdaBoost": AdaBoostClassifier}.items():
    models[name] = kind(random_state=0).fit(X, y)
    models[f"{name}, calibrated"] = kind(calibrate="sigmoid", random_state=0).fit(X, y)
display = ReliabilityDisplay.from_estimator(models, X_test, y_test)
plt.show()

for name, model in models.items():
    error = expected_calibration_error(y_test, model.predict_proba(X_test))
    print(f"{name}: off by {error:.3f} on average")

# %%
# What is lost
# ------------
# The Brier score splits into what the model does not know (uncertainty minus resolution), and what
# is lost because its probabilities do not come true. Calibration removes the second part.

display = BrierDisplay.from_estimator(models, X_test, y_test)
plt.show()

# %%
# Known before any test
# ---------------------
# The fit itself reports the log loss, from the samples that trees left out, each fold of them
# calibrated by the others.

print("log loss by the fit:", round(models["forest, calibrated"].oob_log_loss_, 3))

# %%
# More in :doc:`/guide/trust`.
