"""
Ten measures of diversity, and why none of them chooses for you
===============================================================

"Members should be diverse" is good advice that is hard to follow up with numbers. Ten measures are
in use, and six of them are the same number in different units. Nor is diversity worth anything in
itself: this page increases it step by step and watches the error.
"""

import matplotlib.pyplot as plt
import numpy as np

from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier, ClassSwitchingClassifier
from orfeon.datasets import make_twonorm
from orfeon.inspection import DiversityDisplay, diversity

# %%
# Ten measures of three ensembles
# -------------------------------
# Each line is a scale from members that are alike to members that differ.

X, y = make_twonorm(300, random_state=0)
X_test, y_test = make_twonorm(2000, random_state=1)
ensembles = {
    "bagging": BaggingClassifier(n_estimators=100, random_state=0),
    "boosting": AdaBoostClassifier(CARTClassifier(max_depth=3), 100, random_state=0),
    "boosted stumps": AdaBoostClassifier(n_estimators=100, random_state=0),
}
for name, ensemble in ensembles.items():
    print(f"{name:15} test error {1 - ensemble.fit(X, y).score(X_test, y_test):.1%}")
display = DiversityDisplay.from_estimator(ensembles, X_test, y_test)
plt.show()

# %%
# Six are one
# -----------
# Given the mean accuracy *p* of the members, five others follow from the disagreement of pairs.
# Here are three of them:

found = diversity(ensembles["bagging"], X_test, y_test)
bag = ensembles["bagging"]
n, p, disagree = 100, np.mean(bag.classes_[bag.votes(X_test)] == y_test), found.disagreement
np.testing.assert_allclose(found.kohavi_wolpert_variance, disagree * (n - 1) / (2 * n))
np.testing.assert_allclose(found.interrater_kappa, 1 - disagree / (2 * p * (1 - p)))
np.testing.assert_allclose(found.double_fault, (1 - p) - disagree / 2)

# %%
# More is not better
# ------------------
# Class-switching controls diversity directly. The more labels are switched, the less two members
# agree, until they agree only by chance. The error of the vote has its minimum somewhere on the
# way, and the diversity does not show where.

rates = (0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.44, 0.48)
kappas, errors = [], []
for rate in rates:
    model = ClassSwitchingClassifier(n_estimators=300, switch_rate=rate, random_state=0).fit(X, y)
    kappas.append(diversity(model, X_test, y_test).interrater_kappa)
    errors.append(100 * (1 - model.score(X_test, y_test)))
    print(f"{rate:.0%} switched: kappa {kappas[-1]:6.3f}, test error {errors[-1]:.1f}%")

figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
ax.plot(kappas, errors, "o-", color="#0072B2")
for place in (0, 1, 2, 4, 6, 9, 10):
    where = {"xytext": (-4, 8), "textcoords": "offset points", "ha": "right"}
    ax.annotate(f"{rates[place]:.0%}", (kappas[place], errors[place]), **where)
ax.set(xlim=(0.25, -0.02), ylim=(0, 34))
ax.set(xlabel="interrater kappa: the farther right, the more diverse", ylabel="test error, %")
ax.set_title("300 members, by the share of labels that are switched")
plt.show()
